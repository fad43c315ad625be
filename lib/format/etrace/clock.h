/* SPDX-License-Identifier: MIT */
/*
 * The times of the lines that were written, by task. CAS sorts the lines of a task by time with an
 * unstable sort, so these times must increase strictly: a line is at least 1 ns after the line of
 * its task before it.
 *
 * Memory grows with the living tasks. The last tasks that ended are remembered too, because a
 * number can be used again.
 */
#ifndef TR_FORMAT_ETRACE_CLOCK_H
#define TR_FORMAT_ETRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"

struct tr_etrace_moment {
	uint64_t sec, nsec;
};

/* All zero at first. */
struct tr_etrace_clock {
	struct tr_id_map tasks;
	void *recent;			/* the task that was looked up last */
	uint64_t ended;			/* of the tasks in the map */
	struct tr_etrace_moment latest; /* after every line so far */
	struct tr_etrace_moment floor;	/* after every line of tasks that are not in the map */
	bool timed;			/* some record had a time */
};

/*
 * Sets *time to that of the first line of a record: the record's own time, or a later one. timed:
 * the record has one. *back: it is before the time of the task's last record. False: it is so late
 * that nothing can be after it.
 */
bool tr_etrace_clock_start(struct tr_etrace_clock *clock, uint64_t task, bool timed,
			   struct tr_etrace_moment *time, bool *back);

/*
 * The lines of that record were written: own is the record's time, next is 1 ns after its last
 * line. ended: the record is the task's exit. False: memory is out.
 */
bool tr_etrace_clock_stop(struct tr_etrace_clock *clock, uint64_t task, bool timed,
			  struct tr_etrace_moment own, struct tr_etrace_moment next, bool ended);

void tr_etrace_clock_free(struct tr_etrace_clock *clock);

#endif
