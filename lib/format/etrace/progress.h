/*
 * The events that tasks are in the middle of: begun, gathered, finished into the
 * queue. A task has one open event at most, and a half that waits for its second
 * one. What nobody finishes is bounded: beyond that the oldest are given as they are.
 */
#ifndef TR_FORMAT_ETRACE_PROGRESS_H
#define TR_FORMAT_ETRACE_PROGRESS_H

#include "format/etrace/group.h"

/* An event that is in progress nowhere, for what one line is all of. NULL: memory is out. */
struct tr_etrace_event *tr_etrace_progress_spare(struct tr_etrace_group *group);

/* The task has a new open event; it had none. False: memory is out. */
bool tr_etrace_progress_begin(struct tr_etrace_group *group, struct tr_etrace_task *task,
			      const struct tr_etrace_tag *tag, const struct tr_etrace_line *line);

/* The open event was none: nothing becomes of it. */
void tr_etrace_progress_drop(struct tr_etrace_group *group, struct tr_etrace_task *task);

/*
 * These give false where memory is out. An event of a task is finished, whatever it lacks; the
 * half or the open one, where there is one.
 */
bool tr_etrace_progress_finish(struct tr_etrace_group *group, struct tr_etrace_task *task,
			       struct tr_etrace_event *event);
bool tr_etrace_progress_finish_half(struct tr_etrace_group *group, struct tr_etrace_task *task);
bool tr_etrace_progress_finish_open(struct tr_etrace_group *group, struct tr_etrace_task *task);

/* The open event has all its texts: either it is whole now, or half of it is. */
bool tr_etrace_progress_complete(struct tr_etrace_group *group, struct tr_etrace_task *task);

/* events in progress: real ones are as many as tasks can be interrupted while printing */
enum { TR_ETRACE_PROGRESS_MAX = 16384 };

/* A log of nothing but beginnings makes us hold too much. */
static inline bool tr_etrace_progress_is_full(const struct tr_etrace_group *group)
{
	return group->in_progress > TR_ETRACE_PROGRESS_MAX || group->held > group->max_held;
}

/* Finishes the oldest until it is not so. */
bool tr_etrace_progress_bound(struct tr_etrace_group *group);

/* The log ends, and with it the oldest event, which there is. */
bool tr_etrace_progress_end_oldest(struct tr_etrace_group *group);

void tr_etrace_progress_free(struct tr_etrace_group *group);

#endif
