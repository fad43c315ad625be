/* SPDX-License-Identifier: MIT */
/*
 * How many processes are alive at once, and how many of them run: a process
 * with a live child waits for it (make, sh, gcc), the leaves of the tree do the
 * work. `make -j2` has two leaves at once, and may have seven live processes.
 *
 * Beginnings and ends come in the order of the records, and count in the order
 * of their times; of equal times the one that came first counts first. What is
 * later than its neighbours by more than TR_LOAD_AHEAD of them counts when it
 * comes.
 *
 * Memory is that of the processes that live, and of those events.
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

/* What runs tell (runs.h), of runs with times. False: memory is out. */
bool tr_load_hear(struct tr_load *load, enum tr_run_event event, const struct tr_run *run);

/* Nothing more comes: the most are what they are. */
void tr_load_finish(struct tr_load *load);

void tr_load_free(struct tr_load *load);

#endif
