/* SPDX-License-Identifier: MIT */
/*
 * Errors: a function returns a status, from which the caller decides whether to go on, and fills
 * the caller's struct tr_error with what happened and where.
 *
 *	tr_error_set ... -> struct tr_error -> tools/cli: message and exit status
 *
 * The library never prints and never exits. Nothing here allocates or fails. Thread safe, because
 * the caller owns the error.
 */
#ifndef TR_CORE_ERROR_H
#define TR_CORE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

enum tr_status {
	TR_OK,	  /* done; the result is valid */
	TR_END,	  /* the end; no error */
	TR_WARN,  /* the error is filled, the source has skipped the damage: call again */
	TR_FATAL, /* the error is filled, and nothing more comes from this source */
};

enum tr_cause {
	TR_CAUSE_NONE,
	TR_CAUSE_INPUT,	   /* the bytes violate the format */
	TR_CAUSE_CUT,	   /* the bytes end early; the missing part is unknown */
	TR_CAUSE_LIMIT,	   /* --max-record, --max-depth, --max-ratio, spool limit */
	TR_CAUSE_MEMORY,   /* an allocation failed */
	TR_CAUSE_SYSTEM,   /* a system call failed; sys_errno has the reason */
	TR_CAUSE_PIPE,	   /* the reader of our output has closed it: stop silently */
	TR_CAUSE_USAGE,	   /* the request is invalid */
	TR_CAUSE_UPSTREAM, /* the tool that wrote this stream reported errors in its trailer */
};

enum tr_severity {
	TR_DAMAGE, /* data were lost or are wrong: the exit status is 2 */
	TR_FLAW,   /* data are wrong but passed on unchanged: the exit status is 2 */
	TR_NOTE,   /* the exit status is unchanged (--strict makes it damage) */
	TR_DETAIL, /* a note that is only printed with --verbose */
};

enum { TR_ERROR_TEXT = 480 };
#define TR_NO_POSITION UINT64_MAX

/*
 * Most functions set at most one of line and offset; the tool prints FILE:LINE if line is set,
 * otherwise FILE:@0xOFFSET. Both count in the decompressed stream of the current file or member:
 * line from 1, offset from 0, record from 0.
 */
struct tr_error {
	enum tr_cause cause;
	enum tr_severity severity;
	int sys_errno;		  /* 0 unless a system call failed */
	uint64_t line;		  /* TR_NO_POSITION where not known */
	uint64_t offset;	  /* TR_NO_POSITION where not known */
	uint64_t record;	  /* TR_NO_POSITION where not known */
	const char *pattern;	  /* the constant format string, which messages of one kind share */
	char text[TR_ERROR_TEXT]; /* the message, NUL-terminated, cut in its middle to fit */
};

/* Clears err: no cause, no position. err may be NULL in all these functions. */
void tr_error_clear(struct tr_error *err);

/* For "%.*s" in a message: a text of which at most `max` bytes are shown. */
#define TR_SHOWN(text, max) \
	(int)((text).len < (max) ? (text).len : (max)), (text).data ? (text).data : ""

/*
 * Fills cause, text and pattern, sets the severity to TR_DAMAGE, and clears the positions. format
 * must be a string constant, because it identifies the kind of message. Never allocates, never
 * fails. A text that is too long loses its middle: the end of a path distinguishes files, and a
 * reason comes last. Quote input with "%.*s" and TR_SHOWN; control bytes are escaped when the message is
 * printed.
 */
void tr_error_set(struct tr_error *err, enum tr_cause cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like tr_error_set, for a message that is a string constant and a kind of its own. */
void tr_error_say(struct tr_error *err, enum tr_cause cause, const char *message);

/*
 * Like tr_error_say, with the message within the words of a frame: the text is that of the frame,
 * and message, a string constant, identifies the kind.
 */
void tr_error_say_in(struct tr_error *err, enum tr_cause cause, const char *message,
		     const char *frame, ...) __attribute__((format(printf, 4, 5)));

/* Prefixes the text of err with "name: ", unless memory is exhausted. */
void tr_error_name(struct tr_error *err, struct tr_text name);

/* Like tr_error_set, with a va_list. */
void tr_error_set_args(struct tr_error *err, enum tr_cause cause, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* Like tr_error_set, for a failed system call: appends ": " and strerror(sys_errno). */
void tr_error_system(struct tr_error *err, int sys_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets "out of memory" with TR_CAUSE_MEMORY, and returns TR_FATAL. */
enum tr_status tr_error_memory(struct tr_error *err);

/* Returns whether memory was exhausted. */
static inline bool tr_error_is_memory(const struct tr_error *err)
{
	return err && err->cause == TR_CAUSE_MEMORY;
}

/* The status for a filled error: exhausted memory is fatal, anything else lets the source go on. */
static inline enum tr_status tr_error_status(const struct tr_error *err)
{
	return tr_error_is_memory(err) ? TR_FATAL : TR_WARN;
}

static inline void tr_error_at_line(struct tr_error *err, uint64_t line)
{
	if (err)
		err->line = line;
}

static inline void tr_error_at_offset(struct tr_error *err, uint64_t offset)
{
	if (err)
		err->offset = offset;
}

static inline void tr_error_is_note(struct tr_error *err)
{
	if (err)
		err->severity = TR_NOTE;
}

#endif
