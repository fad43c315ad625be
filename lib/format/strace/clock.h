/*
 * Times as the stream has them: seconds, with as many digits as the log gives.
 * A time of day counts from the midnight before the log, and goes on over the
 * next; times between lines add up.
 */
#ifndef TR_FORMAT_STRACE_CLOCK_H
#define TR_FORMAT_STRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "format/strace/prefix.h"

enum { TR_STRACE_TIME_MAX = 48 };

struct tr_strace_clock_state {
	uint64_t days;	    /* midnights that have passed */
	uint64_t last;	    /* second of the day */
	uint64_t sum, frac; /* of relative times; frac in 10^-9 seconds */
};

/* The line's time into `to`; returns its length, 0 where it has none. */
size_t tr_strace_time(struct tr_strace_clock_state *state, const struct tr_strace_prefix *prefix,
		      char to[TR_STRACE_TIME_MAX]);

#endif
