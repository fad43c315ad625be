/* SPDX-License-Identifier: MIT */
/*
 * Errors are filled, never printed. A message that was made from a pattern keeps the address of
 * the pattern, by which tools count messages of one kind.
 */
#include "core/error.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
	WHOLE_TEXT = PATH_MAX + TR_ERROR_TEXT, /* of a message, before it is cut */
	CUT_AT = 100,			       /* bytes before the cut */
};

void tr_error_clear(struct tr_error *err)
{
	if (!err)
		return;
	/* member by member, because this is called for each record, and the text is long */
	err->cause = TR_CAUSE_NONE;
	err->severity = TR_DAMAGE;
	err->sys_errno = 0;
	err->line = TR_NO_POSITION;
	err->offset = TR_NO_POSITION;
	err->record = TR_NO_POSITION;
	err->pattern = NULL;
	err->text[0] = 0;
}

/*
 * Writes a text, with a NUL, to a place of size bytes (more than CUT_AT). One that does not fit is
 * cut after its beginning, because the names of files differ in their ends, and a reason is last.
 */
static void put_cut(char *to, size_t size, struct tr_text text)
{
	size_t begin = text.len < size ? text.len : CUT_AT;

	if (begin)
		memcpy(to, text.data, begin);
	to[begin] = 0;
	if (text.len < size)
		return;
	size_t end = size - begin - sizeof "...";
	memcpy(to + begin, "...", 3);
	memcpy(to + begin + 3, text.data + text.len - end, end);
	to[size - 1] = 0;
}

/* The pattern's address identifies the message, so patterns have to be constant texts. */
void tr_error_set_args(struct tr_error *err, enum tr_cause cause, const char *format, va_list args)
{
	if (!err)
		return;
	/* the text first, because args may quote the text of the error that is replaced */
	char text[WHOLE_TEXT];
	vsnprintf(text, sizeof text, format, args);
	tr_error_clear(err);
	err->cause = cause;
	err->pattern = format;
	put_cut(err->text, sizeof err->text, tr_text_from(text));
}

void tr_error_set(struct tr_error *err, enum tr_cause cause, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	tr_error_set_args(err, cause, format, args);
	va_end(args);
}

void tr_error_say(struct tr_error *err, enum tr_cause cause, const char *message)
{
	tr_error_say_in(err, cause, message, "%s", message);
}

void tr_error_say_in(struct tr_error *err, enum tr_cause cause, const char *message,
		     const char *frame, ...)
{
	va_list args;
	va_start(args, frame);
	tr_error_set_args(err, cause, frame, args);
	va_end(args);
	if (err)
		err->pattern = message;
}

void tr_error_name(struct tr_error *err, struct tr_text name)
{
	if (!err || err->cause == TR_CAUSE_MEMORY)
		return;
	char shown[TR_ERROR_TEXT], text[WHOLE_TEXT];
	put_cut(shown, sizeof shown, name);
	snprintf(text, sizeof text, "%s: %s", shown, err->text);
	put_cut(err->text, sizeof err->text, tr_text_from(text));
}

void tr_error_system(struct tr_error *err, int sys_errno, const char *format, ...)
{
	if (!err)
		return;
	va_list args;
	char text[WHOLE_TEXT];
	va_start(args, format);
	tr_error_set_args(err, TR_CAUSE_SYSTEM, format, args);
	va_end(args);
	err->sys_errno = sys_errno;
	snprintf(text, sizeof text, "%s: %s", err->text, strerror(sys_errno));
	put_cut(err->text, sizeof err->text, tr_text_from(text));
}

/* Does not call tr_error_set, because some views fill err with this error before each record. */
enum tr_status tr_error_memory(struct tr_error *err)
{
	static const char text[] = "out of memory";

	tr_error_clear(err);
	if (err) {
		err->cause = TR_CAUSE_MEMORY;
		err->pattern = text;
		memcpy(err->text, text, sizeof text);
	}
	return TR_FATAL;
}
