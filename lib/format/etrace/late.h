/*
 * Lines of tasks whose fork is not written yet: strace prints a clone when it
 * returns, and the child may be far by then. In a log the fork comes before the
 * child's execution, and readers find the parent there. So from its execution
 * on the lines of such a task wait for the fork, in bounded memory.
 */
#ifndef TR_FORMAT_ETRACE_LATE_H
#define TR_FORMAT_ETRACE_LATE_H

#include "core/buffer.h"
#include "core/id_map.h"
#include "core/output.h"

enum { TR_ETRACE_LATE_MAX = 4 << 20 }; /* bytes; more are written without their fork */

struct tr_etrace_late_task;

/* All zero at first. */
struct tr_etrace_late {
	struct tr_id_map tasks;
	struct tr_etrace_late_task *first, *last; /* in the order in which they began to wait */
	size_t bytes, forked;			  /* forked: tasks whose fork waits, too */
};

/* The task waits already. */
bool tr_etrace_late_waits(const struct tr_etrace_late *late, uint64_t task);

/*
 * The task, a child of parent, waits from now on. forked: its fork is among the lines of parent,
 * which waits itself. False: memory is out.
 */
bool tr_etrace_late_begin(struct tr_etrace_late *late, uint64_t task, uint64_t parent, bool forked);

/* Appends lines of a task that waits. False: memory is out. */
bool tr_etrace_late_add(struct tr_etrace_late *late, uint64_t task, struct tr_text lines);

/* The one that waits for the longest time. False: none does. */
bool tr_etrace_late_first(const struct tr_etrace_late *late, uint64_t *task, uint64_t *parent,
			  bool *forked);

/* The fork of the task is written: what waited for it follows. out NULL: it is dropped. */
void tr_etrace_late_write(struct tr_etrace_late *late, uint64_t task, struct tr_output *out);

void tr_etrace_late_free(struct tr_etrace_late *late);

#endif
