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

enum { TR_STRACE_TIME_MAX = 48, TR_STRACE_DAY_SECONDS = 24 * 60 * 60 };

struct tr_strace_clock_state {
	uint64_t day_time;  /* the last one that was a time of day, in seconds */
	uint64_t sum, frac; /* of relative times; frac in 10^-9 seconds */
};

/*
 * Seconds since the midnight before the log, of a time of day (HH:MM:SS) that was printed behind
 * one of `last` seconds: half a day back is a midnight that has passed,
 * and what is up to an hour late is of the day before.
 */
uint64_t tr_strace_day_seconds(uint64_t last, struct tr_text time);

/* The line's time into `to`; returns its length, 0 where it has none. */
size_t tr_strace_time(struct tr_strace_clock_state *state, const struct tr_strace_prefix *prefix,
		      char to[TR_STRACE_TIME_MAX]);

#endif
