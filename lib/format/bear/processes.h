/* Who is who in a trace: a pid's latest execution, and an execution's pid by its rid. */
#ifndef TR_FORMAT_BEAR_PROCESSES_H
#define TR_FORMAT_BEAR_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "core/text.h"

struct tr_bear_process;

struct tr_bear_processes {
	struct tr_map by_rid, by_pid;
	/* those that have ended: an event of before may come late, so a few are kept */
	struct tr_bear_process *first_dead, *last_dead;
	unsigned dead;
};

#define TR_BEAR_PROCESSES_INIT \
	{ \
		TR_MAP_INIT, TR_MAP_INIT, NULL, NULL, 0 \
	}

/* An execution begins; rid may be empty (then it never ends). False: memory is out. */
bool tr_bear_processes_start(struct tr_bear_processes *processes, struct tr_text rid,
			     struct tr_text pid, uint64_t seq);

/*
 * The seq of what the pid runs at that time (seconds; empty: not known); false:
 * nothing that is known of. Numbers come again, so one that has ended is nobody's.
 */
bool tr_bear_processes_find(const struct tr_bear_processes *processes, struct tr_text pid,
			    struct tr_text time, uint64_t *seq);

/* It ends at that time; its pid, good until the next call. False: no such execution. */
bool tr_bear_processes_end(struct tr_bear_processes *processes, struct tr_text rid,
			   struct tr_text time, struct tr_text *pid);

void tr_bear_processes_free(struct tr_bear_processes *processes);

#endif
