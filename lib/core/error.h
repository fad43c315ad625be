/* SPDX-License-Identifier: MIT */
/*
 * How the library reports trouble: a status that says whether to go on, and a
 * caller-owned struct tr_error that says what happened and where. The library
 * never prints and never exits; tools/cli turns errors into messages and the
 * exit status.
 */
#ifndef TR_CORE_ERROR_H
#define TR_CORE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

enum tr_status {
	TR_OK,	  /* here it is */
	TR_END,	  /* nothing more; no error */
	TR_WARN,  /* the error is filled, the source is in step again: call again */
	TR_FATAL, /* the error is filled, nothing more can come from this source */
};

enum tr_cause {
	TR_CAUSE_NONE,
	TR_CAUSE_INPUT,	   /* the bytes are not what the format says */
	TR_CAUSE_CUT,	   /* they end before they should: what is missing is not known */
	TR_CAUSE_LIMIT,	   /* --max-record, --max-depth, --max-ratio, spool limit */
	TR_CAUSE_MEMORY,   /* an allocation failed */
	TR_CAUSE_SYSTEM,   /* a system call failed; sys_errno says why */
	TR_CAUSE_PIPE,	   /* the reader of our output went away: stop quietly */
	TR_CAUSE_USAGE,	   /* what was asked for makes no sense */
	TR_CAUSE_UPSTREAM, /* the tool that wrote this stream reported trouble in its trailer */
};

enum tr_severity {
	TR_DAMAGE, /* something was lost or is wrong: the exit status is 2 */
	TR_FLAW,   /* wrong, but passed on as it is: nothing is lost, the exit status is 2 */
	TR_NOTE,   /* worth saying; the exit status stays (--strict makes it damage) */
	TR_DETAIL, /* a note for those who ask (--verbose) */
};

enum { TR_ERROR_TEXT = 480 };
#define TR_NO_POSITION UINT64_MAX

/*
 * Position: at most one of line and offset is set by most reporters; the tool
 * prints FILE:LINE where line is set, else FILE:@0xOFFSET. Both count in the
 * decompressed stream of the current file or member; line counts from 1,
 * offset from 0, record from 0.
 */
struct tr_error {
	enum tr_cause cause;
	enum tr_severity severity;
	int sys_errno;		  /* 0 where no system call failed */
	uint64_t line;		  /* TR_NO_POSITION where not known */
	uint64_t offset;	  /* TR_NO_POSITION where not known */
	uint64_t record;	  /* TR_NO_POSITION where not known */
	const char *pattern;	  /* the constant format string: alike errors share it */
	char text[TR_ERROR_TEXT]; /* the message, NUL-terminated, cut to fit */
};

/* Empties err: no cause, no position. err may be NULL in all these functions. */
void tr_error_clear(struct tr_error *err);

/*
 * Fills cause, text and pattern; severity becomes TR_DAMAGE; positions are
 * cleared. format has to be a string constant (it identifies the message).
 * Never allocates, never fails. Quoted input goes through "%.*s": control
 * bytes are escaped by whoever prints.
 */
void tr_error_set(struct tr_error *err, enum tr_cause cause, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same for one message of several, a string constant that is told by itself: others that
 * the caller has are not alike.
 */
void tr_error_say(struct tr_error *err, enum tr_cause cause, const char *message);

/*
 * The same for one of several messages within the words of a frame: these are the text, and
 * message, a string constant, is what alike errors share.
 */
void tr_error_say_in(struct tr_error *err, enum tr_cause cause, const char *message,
		     const char *frame, ...) __attribute__((format(printf, 4, 5)));

/* Puts "name: " in front of what err says, unless memory is out. */
void tr_error_name(struct tr_error *err, struct tr_text name);

/* The same as tr_error_set for who has arguments of its own. */
void tr_error_set_args(struct tr_error *err, enum tr_cause cause, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/* The same for a failed system call: appends ": " and strerror(sys_errno). */
void tr_error_system(struct tr_error *err, int sys_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "out of memory", TR_CAUSE_MEMORY. TR_FATAL, for the caller to return. */
enum tr_status tr_error_memory(struct tr_error *err);

/* Whether memory was exhausted. */
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
