/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <string.h>

#include "tap.h"

static const char reason[] = "no number";

int main(void)
{
	struct tr_error err, other;
	char name[200], want[TR_ERROR_TEXT];
	tr_error_say(&err, TR_CAUSE_INPUT, reason);
	ok(err.pattern == reason && strcmp(err.text, reason) == 0, "a message by itself");
	tr_error_say_in(&err, TR_CAUSE_CUT, reason, "%d: %s", 7, err.text);
	ok(err.cause == TR_CAUSE_CUT && err.pattern == reason &&
		   strcmp(err.text, "7: no number") == 0,
	   "in a frame, which may quote the error that it replaces");
	tr_error_at_line(&err, 3);
	tr_error_is_note(&err);
	tr_error_name(&err, TR_TEXT("argv"));
	ok(strcmp(err.text, "argv: 7: no number") == 0 && err.pattern == reason && err.line == 3 &&
		   err.severity == TR_NOTE && err.cause == TR_CAUSE_CUT,
	   "a name in front changes nothing else");
	memset(name, 'x', sizeof name);
	tr_error_say(&err, TR_CAUSE_INPUT, reason);
	tr_error_name(&err, (struct tr_text){ name, sizeof name });
	snprintf(want, sizeof want, "%.60s: no number", name);
	ok(strcmp(err.text, want) == 0, "a long name is cut");
	tr_error_memory(&err);
	other = err;
	tr_error_name(&err, TR_TEXT("argv"));
	ok(strcmp(err.text, other.text) == 0, "exhausted memory belongs to no file");
	tr_error_say_in(NULL, TR_CAUSE_INPUT, reason, "%s", reason);
	tr_error_name(NULL, TR_TEXT("argv"));
	ok(true, "err may be NULL");
	return done_testing();
}
