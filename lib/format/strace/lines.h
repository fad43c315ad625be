/* SPDX-License-Identifier: MIT */
/*
 * One line of a log, without state, and the pieces that it consists of:
 *
 *	line   := [pid] [absolute time] [relative time] [call number] [address] body
 *	body   := name(ARGUMENTS) = RESULT
 *		| name(ARGUMENTS <unfinished ...>
 *		| name(ARGUMENTS <pid changed to N ...>
 *		| name(ARGUMENTS <detached ...>
 *		| <... name resumed>ARGUMENTS) = RESULT
 *		| --- SIGNAL {...} ---  |  --- stopped by SIGNAL ---
 *		| +++ exited with N +++  |  +++ killed by SIGNAL (core dumped) +++
 *		| +++ superseded by execve in pid N +++
 *
 * A log may end anywhere, and its lines may be cut: no piece is assumed to be complete.
 */
#ifndef TR_FORMAT_STRACE_LINES_H
#define TR_FORMAT_STRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

enum tr_strace_clock {
	TR_STRACE_NO_CLOCK,
	TR_STRACE_EPOCH,    /* seconds.fraction */
	TR_STRACE_DAY,	    /* HH:MM:SS.fraction */
	TR_STRACE_RELATIVE, /* seconds.fraction since the line before */
};

enum tr_strace_type {
	/* complete, as far as the line goes */
	TR_STRACE_CALL,
	TR_STRACE_BEGUN,       /* <unfinished ...> */
	TR_STRACE_PID_CHANGED, /* begun, and continued under another number */
	TR_STRACE_DETACHED,    /* begun, and strace has detached from the task */
	TR_STRACE_RESUMED,
	/* no calls, or no results */
	TR_STRACE_LEFT, /* resumed, but it never returned */
	TR_STRACE_SIGNAL,
	TR_STRACE_STOPPED,
	TR_STRACE_EXITED,
	TR_STRACE_KILLED,
	TR_STRACE_SUPERSEDED,
	/* about no task that has a number in the prefix */
	TR_STRACE_ATTACHED,
	TR_STRACE_MESSAGE, /* of strace itself */
	TR_STRACE_FRAME,   /* of the stack, or the empty line after it; arguments is its text */
	TR_STRACE_TABLE,   /* the head of a table of -c, or a rule in it */
	TR_STRACE_CUT,	   /* a call without its result */
	TR_STRACE_UNKNOWN,
};

struct tr_strace_result {
	struct tr_text value; /* as printed, with the note of -y; data NULL: "?" or none */
	struct tr_text error; /* ENOENT; data NULL: none */
	struct tr_text info;  /* in parentheses; with them if there are several; data NULL: none */
	struct tr_text time;  /* -T; data NULL: none */
};

struct tr_strace_line {
	/* the prefix */
	bool has_pid;
	bool bracketed; /* "[pid N] ": the form on stderr */
	uint64_t pid;
	enum tr_strace_clock clock;
	struct tr_text time; /* as printed */
	const char *body;    /* the rest of the line */

	/* the body */
	enum tr_strace_type type;
	struct tr_text name;	  /* of the call or signal */
	struct tr_text arguments; /* without the outer parentheses; of a signal its {...} */
	struct tr_strace_result result;
	uint64_t number; /* exit status; pid of PID_CHANGED, SUPERSEDED, ATTACHED */
	bool core;	 /* dumped */
	bool broken;	 /* the call never returned, though the line is complete */
};

/* Reads a line, which has no LF; tr_strace_prefix_read reads no more than its prefix. */
void tr_strace_line_read(struct tr_text text, struct tr_strace_line *line);
void tr_strace_prefix_read(struct tr_text text, struct tr_strace_line *line);

/*
 * Separates the arguments of a call, which begin at rest, from its result. False: the call is cut.
 */
bool tr_strace_body_finish(struct tr_text rest, struct tr_strace_line *line);

/* Reads the result from the ')' on. False: it is cut, or rest begins with more arguments. */
bool tr_strace_body_close(struct tr_text rest, struct tr_strace_line *line);

/* True if the call returned without an error; result NULL: it did not return. */
static inline bool tr_strace_succeeded(const struct tr_strace_result *result)
{
	return result && result->value.data && !result->error.data;
}

/*
 * Returns where a line has the '>' of a stack frame, which has a blank before it; in the files of
 * -ff, a pid and a blank are before that. end: no more bytes are there. NULL: the line has none.
 */
const char *tr_strace_frame_mark(const char *p, const char *end);

/* True if the line is a row of a table of -c: numbers and the name of a call. */
bool tr_strace_is_row(struct tr_text line);

/*
 * Times in the stream are seconds, with as many digits as the log has. A time of day counts from
 * the midnight before the log begins. Relative times are added up.
 */
enum { TR_STRACE_TIME_MAX = 48, TR_STRACE_DAY_SECONDS = 24 * 60 * 60 };

struct tr_strace_clock_state {
	uint64_t day_time;  /* the last one that was a time of day, in seconds */
	uint64_t sum, frac; /* of relative times; frac in 10^-9 seconds */
};

/*
 * Seconds since the midnight before the log begins, of a time of day (HH:MM:SS) that was printed
 * after one of `last` seconds. Half a day back means that a midnight has passed; a time that is up
 * to an hour late belongs to the day before.
 */
uint64_t tr_strace_day_seconds(uint64_t last, struct tr_text time);

/* The fraction of a time, whose '.' is at p, in 10^-9 seconds; 0: it has none. */
uint64_t tr_strace_nanoseconds(const char *p, const char *end);

/* Writes the time of a line to `to`. Returns its length, 0 if the line has none. */
size_t tr_strace_time(struct tr_strace_clock_state *state, const struct tr_strace_line *line,
		      char to[TR_STRACE_TIME_MAX]);

/* Ends of pieces. NULL: the text ends first. */

/* From after an opening quote to after the closing one. */
const char *tr_strace_string_end(const char *p, const char *end);

/* From a '<' to after the '>' that closes it: <path>, <TCP:[a->b]>, </dev/null<char 1:3>>. */
const char *tr_strace_note_end(const char *p, const char *end);

/* From the first byte of an argument, item or member to the ',' or closing bracket after it. */
const char *tr_strace_item_end(const char *p, const char *end);

/* From after the '(' of a call to the ')' that closes it. */
const char *tr_strace_arguments_end(const char *p, const char *end);

/* The n-th argument, from 0; empty if there are fewer. */
struct tr_text tr_strace_argument(struct tr_text arguments, unsigned n);

/* True if c may be part of the name of a call, flag or signal. */
static inline bool tr_strace_is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || tr_is_digit(c) || c == '_';
}

/* Skips blanks. */
static inline const char *tr_strace_skip(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* Moves *p over word. False: the text at *p begins otherwise. */
static inline bool tr_strace_take(const char **p, const char *end, struct tr_text word)
{
	if ((size_t)(end - *p) < word.len || memcmp(*p, word.data, word.len) != 0)
		return false;
	*p += word.len;
	return true;
}

/* Removes word from the end of text. False: the text ends otherwise. */
static inline bool tr_strace_chop(struct tr_text *text, struct tr_text word)
{
	if (text->len < word.len ||
	    memcmp(text->data + text->len - word.len, word.data, word.len) != 0)
		return false;
	text->len -= word.len;
	return true;
}

/* Reads decimal digits and moves *p over them. False: there are none, or too many for 64 bits. */
bool tr_strace_digits(const char **p, const char *end, unsigned long long *number);

/* The length of the longest name or number of a signal. */
enum { TR_STRACE_SIGNAL_MAX = 15 };

/* True for a name of a signal, or a number, in the spelling of the stream. */
bool tr_strace_is_signal(struct tr_text text);

/* Reads the decimal or hexadecimal number at the beginning of text. */
bool tr_strace_number(struct tr_text text, unsigned long long *number);

/*
 * Appends the stream's spelling of the string that begins at p, after its quote. Returns the
 * closing quote, or end if there is none.
 */
const char *tr_strace_spell(const char *p, const char *end, struct tr_buffer *to);

/* Appends the bytes that the body of a string represents. */
void tr_strace_bytes(struct tr_text body, struct tr_buffer *to);

/* True if text is one string, whose body is returned; cut: "..." follows it. */
bool tr_strace_is_string(struct tr_text text, struct tr_text *body, bool *cut);

/* The path or name that -y prints in angle brackets: 3</path>. False: there is none. */
bool tr_strace_note(struct tr_text text, struct tr_text *note);

/*
 * Appends the value at p if it is spelled as in the stream, or is a string: such values, which are
 * most, are copied while their end is searched. Returns the ',' after it, or end. NULL: it is
 * another value, and nothing is appended. *cut: as below.
 */
const char *tr_strace_copy_value(const char *p, const char *end, struct tr_buffer *to, bool *cut);

/*
 * Appends the literal of a value, or a string of its text if the stream has no literal for it
 * (shifts, makedev(), sets in ~[ ]). *cut is set if strace left out a part of it; it may be NULL.
 */
void tr_strace_value(struct tr_text text, struct tr_buffer *to, bool *cut);

#endif
