/* SPDX-License-Identifier: MIT */
/*
 * How many processes are alive at once, and how many of them run: a process
 * with a live child waits for it (make, sh, gcc), the leaves of the tree do the
 * work. `make -j2` has two leaves at once, and may have seven live processes.
 *
 * Beginnings and ends come in the order of the records, and are counted in the order of their
 * times; of equal times, the one that came first is counted first. An event that comes more than
 * TR_LOAD_AHEAD events late is counted when it comes.
 *
 * Memory grows with the processes that are alive, and holds TR_LOAD_AHEAD events.
 */
#ifndef TR_PROCESS_LOAD_H
#define TR_PROCESS_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "process/runs.h"

enum { TR_LOAD_AHEAD = 1 << 16 };

struct tr_load_event;

/* All zero at first. */
struct tr_load {
	uint64_t most_alive, most_running;

	struct tr_id_map processes;   /* by the number of the run that is theirs now: private */
	struct tr_load_event *events; /* a heap, the earliest first */
	size_t count, cap;
	uint64_t order, alive, running;
};

/* Counts an event of runs.h, of runs with times. False: memory is exhausted. */
bool tr_load_count(struct tr_load *load, enum tr_run_event event, const struct tr_run *run);

/* Counts what is pending, after the last event: most_alive and most_running are final. */
void tr_load_finish(struct tr_load *load);

void tr_load_free(struct tr_load *load);

#endif
