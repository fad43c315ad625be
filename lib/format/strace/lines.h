/* SPDX-License-Identifier: MIT */
/*
 * One line of a log, without state:
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
 */
#ifndef TR_FORMAT_STRACE_LINES_H
#define TR_FORMAT_STRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

enum tr_strace_clock {
	TR_STRACE_NO_CLOCK,
	TR_STRACE_EPOCH,    /* seconds.fraction */
	TR_STRACE_DAY,	    /* HH:MM:SS.fraction */
	TR_STRACE_RELATIVE, /* seconds.fraction since the line before */
};

struct tr_strace_prefix {
	bool has_pid;
	bool bracketed; /* "[pid N] ": the form on stderr */
	uint64_t pid;
	enum tr_strace_clock clock;
	struct tr_text time; /* as printed */
	const char *body;    /* the rest of the line */
};

void tr_strace_prefix_read(struct tr_text line, struct tr_strace_prefix *prefix);

enum tr_strace_body_type {
	TR_STRACE_CALL,
	TR_STRACE_BEGUN,       /* <unfinished ...> */
	TR_STRACE_PID_CHANGED, /* begun, and continued under another number */
	TR_STRACE_DETACHED,    /* begun, and strace has detached from the task */
	TR_STRACE_RESUMED,
	TR_STRACE_LEFT, /* resumed, but it never returned */
	TR_STRACE_SIGNAL,
	TR_STRACE_STOPPED,
	TR_STRACE_EXITED,
	TR_STRACE_KILLED,
	TR_STRACE_SUPERSEDED,
	TR_STRACE_ATTACHED,
	TR_STRACE_MESSAGE, /* of strace itself, or a stack frame */
	TR_STRACE_TABLE,   /* the head of a table of -c, or a rule in it */
	TR_STRACE_CUT,	   /* a call without its result */
	TR_STRACE_UNKNOWN,
};

struct tr_strace_result {
	struct tr_text value; /* as printed, with the note of -y; data NULL: "?" or none */
	struct tr_text error; /* ENOENT; data NULL: none */
	struct tr_text info;  /* other text in parentheses; data NULL: none */
	struct tr_text time;  /* -T; data NULL: none */
};

struct tr_strace_body {
	enum tr_strace_body_type type;
	struct tr_text name;	  /* of the call or signal */
	struct tr_text arguments; /* without the outer parentheses; of a signal its {…} */
	struct tr_strace_result result;
	uint64_t number; /* exit status; pid of PID_CHANGED, SUPERSEDED, ATTACHED */
	bool core;	 /* dumped */
	bool broken;	 /* the call never returned, though the line is complete */
};

/* Reads what follows the prefix; text has no LF. */
void tr_strace_body_read(struct tr_text text, struct tr_strace_body *body);

/*
 * Separates the arguments of a call, which begin at rest, from its result. False: the call is cut.
 */
bool tr_strace_body_finish(struct tr_text rest, struct tr_strace_body *body);

/* Reads the result from the ')' on. False: it is cut, or rest begins with more arguments. */
bool tr_strace_body_close(struct tr_text rest, struct tr_strace_body *body);

/* Whether the call returned without an error; result NULL: it did not return. */
static inline bool tr_strace_succeeded(const struct tr_strace_result *result)
{
	return result && result->value.data && !result->error.data;
}

/* Whether the line is a row of a table of -c: numbers and the name of a call. */
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

/* Writes the time of a line to `to`. Returns its length, 0 if the line has none. */
size_t tr_strace_time(struct tr_strace_clock_state *state, const struct tr_strace_prefix *prefix,
		      char to[TR_STRACE_TIME_MAX]);

#endif
