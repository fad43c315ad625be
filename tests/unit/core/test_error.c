/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static const char reason[] = "no number";

/* True for a text that begins and ends so, has no middle, and uses all of its room. */
static bool is_cut(const struct tr_error *err, const char *begin, const char *end)
{
	size_t len = strlen(err->text);
	const char *cut = strstr(err->text, "...");

	return len == TR_ERROR_TEXT - 1 && cut && !strstr(cut + 3, "...") &&
	       strncmp(err->text, begin, strlen(begin)) == 0 &&
	       strcmp(err->text + len - strlen(end), end) == 0;
}

int main(void)
{
	struct tr_error err, other;
	char name[2000], want[TR_ERROR_TEXT];
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
	memcpy(name, "/home", 5);
	memcpy(name + sizeof name - 9, "m002.json", 9);
	tr_error_say(&err, TR_CAUSE_INPUT, reason);
	tr_error_name(&err, (struct tr_text){ name + sizeof name - 400, 400 });
	snprintf(want, sizeof want, "%.400s: no number", name + sizeof name - 400);
	ok(strcmp(err.text, want) == 0, "a name that fits is whole");
	tr_error_say(&err, TR_CAUSE_INPUT, reason);
	tr_error_name(&err, (struct tr_text){ name, sizeof name });
	ok(is_cut(&err, "/home", "m002.json: no number"), "a longer one is cut in its middle");
	name[sizeof name - 1] = '\0';
	for (size_t len = 455; len < 480; len++) {
		tr_error_system(&err, ENOTDIR, "cannot create %s", name + sizeof name - 1 - len);
		if (!is_cut(&err, "cannot create x", "m002.jso: Not a directory"))
			break;
	}
	ok(is_cut(&err, "cannot create x", "m002.jso: Not a directory"),
	   "the reason of a system call is whole, and the end of the path before it");
	tr_error_set(&err, TR_CAUSE_INPUT, "%s: %s", name, reason);
	ok(is_cut(&err, "/home", "m002.jso: no number"), "so is the end of any message");
	tr_error_memory(&err);
	other = err;
	tr_error_name(&err, TR_TEXT("argv"));
	ok(strcmp(err.text, other.text) == 0, "exhausted memory belongs to no file");
	tr_error_say_in(NULL, TR_CAUSE_INPUT, reason, "%s", reason);
	tr_error_name(NULL, TR_TEXT("argv"));
	ok(true, "err may be NULL");
	return done_testing();
}
