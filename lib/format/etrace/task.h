/*
 * The tasks that are alive: what a task inherits from the one that forked it,
 * and the events it is in the middle of. One is known from its fork, or its
 * first line, to its exit; so memory grows with them and not with the log.
 */
#ifndef TR_FORMAT_ETRACE_TASK_H
#define TR_FORMAT_ETRACE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/id_map.h"

struct tr_etrace_event;

struct tr_etrace_task {
	uint64_t upid;
	uint64_t ppid;	  /* TR_NO_POSITION: not known */
	uint64_t parent;  /* seq of the exec that was current in the parent; TR_NO_POSITION: none */
	uint64_t current; /* seq of the exec that is current here, inherited or not */
	struct tr_etrace_event *half; /* waits for its second half */
	struct tr_etrace_event *open; /* waits for its texts */
	bool forked;
	bool execed;
	bool stray; /* texts of no event came since the last event began */
};

struct tr_etrace_tasks {
	struct tr_id_map map;
	struct tr_etrace_task *recent; /* of the last lookup, or NULL */
};

/* The task, made where it is not there yet. NULL: memory is out. */
struct tr_etrace_task *tr_etrace_task_get(struct tr_etrace_tasks *tasks, uint64_t upid);

/* It has ended. Not while it is in the middle of an event. */
void tr_etrace_task_end(struct tr_etrace_tasks *tasks, struct tr_etrace_task *task);

void tr_etrace_tasks_free(struct tr_etrace_tasks *tasks);

#endif
