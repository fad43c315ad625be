/* SPDX-License-Identifier: MIT */
/*
 * Errors are filled, never printed. A message that was made from a pattern keeps the address of
 * the pattern, by which tools count messages of one kind.
 */
#include "core/error.h"

#include <stdio.h>
#include <string.h>

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

/* The pattern's address identifies the message, so patterns have to be constant texts. */
void tr_error_set_args(struct tr_error *err, enum tr_cause cause, const char *format, va_list args)
{
	if (!err)
		return;
	/* the text first, because args may quote the text of the error that is replaced */
	char text[TR_ERROR_TEXT];
	vsnprintf(text, sizeof text, format, args);
	tr_error_clear(err);
	err->cause = cause;
	err->pattern = format;
	memcpy(err->text, text, sizeof text);
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
	char text[TR_ERROR_TEXT];
	if (snprintf(text, sizeof text, "%.*s: %s", TR_SHOWN(name, 60), err->text) >= 0)
		memcpy(err->text, text, sizeof text);
}

void tr_error_system(struct tr_error *err, int sys_errno, const char *format, ...)
{
	if (!err)
		return;
	va_list args;
	va_start(args, format);
	tr_error_set_args(err, TR_CAUSE_SYSTEM, format, args);
	va_end(args);
	err->sys_errno = sys_errno;
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof err->text - len, ": %s", strerror(sys_errno));
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
