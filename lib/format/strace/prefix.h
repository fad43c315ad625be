/*
 * What stands in front of a call on a line: who, when, and what -n and -i add.
 *
 *	line := [pid] [absolute time] [relative time] [call number] [address] body
 */
#ifndef TR_FORMAT_STRACE_PREFIX_H
#define TR_FORMAT_STRACE_PREFIX_H

#include <stdbool.h>
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
	struct tr_text time; /* as written */
	const char *body;    /* what follows */
};

void tr_strace_prefix_read(struct tr_text line, struct tr_strace_prefix *prefix);

#endif
