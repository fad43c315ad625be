/*
 * What a line says, behind its prefix.
 *
 *	name(ARGUMENTS) = RESULT
 *	name(ARGUMENTS <unfinished ...>
 *	name(ARGUMENTS <pid changed to N ...>
 *	name(ARGUMENTS <detached ...>
 *	<... name resumed>ARGUMENTS) = RESULT
 *	--- SIGNAL {…} ---        --- stopped by SIGNAL ---
 *	+++ exited with N +++     +++ killed by SIGNAL (core dumped) +++
 *	+++ superseded by execve in pid N +++
 */
#ifndef TR_FORMAT_STRACE_BODY_H
#define TR_FORMAT_STRACE_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

enum tr_strace_body_type {
	TR_STRACE_CALL,
	TR_STRACE_BEGUN,       /* <unfinished ...> */
	TR_STRACE_PID_CHANGED, /* begun, and goes on under another number */
	TR_STRACE_DETACHED,    /* begun, and strace looks no more */
	TR_STRACE_RESUMED,
	TR_STRACE_LEFT, /* resumed only to say that it never came back */
	TR_STRACE_SIGNAL,
	TR_STRACE_STOPPED,
	TR_STRACE_EXITED,
	TR_STRACE_KILLED,
	TR_STRACE_SUPERSEDED,
	TR_STRACE_ATTACHED,
	TR_STRACE_MESSAGE, /* strace's own words, stack frames: nothing that happened */
	TR_STRACE_TABLE,   /* the head of a table of -c, or a rule in it */
	TR_STRACE_CUT,	   /* it begins as a call does, and ends before its result */
	TR_STRACE_UNKNOWN,
};

struct tr_strace_result {
	struct tr_text value; /* as written, with what -y adds; data NULL: "?" or none */
	struct tr_text error; /* ENOENT; data NULL: none */
	struct tr_text info;  /* other words in parentheses; data NULL: none */
	struct tr_text time;  /* -T; data NULL: none */
};

struct tr_strace_body {
	enum tr_strace_body_type type;
	struct tr_text name;	  /* of the call or signal */
	struct tr_text arguments; /* without the outer parentheses; of a signal its {…} */
	struct tr_strace_result result;
	uint64_t number; /* exit status; pid of PID_CHANGED, SUPERSEDED, ATTACHED */
	bool core;	 /* dumped */
	bool broken;	 /* the call never came back, though the line is whole */
};

/* True when it came back without an error; result NULL: it did not come back. */
bool tr_strace_succeeded(const struct tr_strace_result *result);

/* text has no LF. */
void tr_strace_body_read(struct tr_text text, struct tr_strace_body *body);

/* The line is of a table of -c, where one has begun: numbers and the name of a call. */
bool tr_strace_is_row(struct tr_text line);

/*
 * Takes the arguments of a call apart from its result; rest begins behind the
 * opening parenthesis. False: it is cut.
 */
bool tr_strace_body_finish(struct tr_text rest, struct tr_strace_body *body);

/*
 * The same where the arguments were whole before: behind them, from the closing
 * parenthesis on. False: it is cut, or there are more of them.
 */
bool tr_strace_body_close(struct tr_text rest, struct tr_strace_body *body);

#endif
