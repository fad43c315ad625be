#include "format/etrace/progress.h"

#include <stdlib.h>

enum { UNUSED_MAX = 64 }; /* kept for the next ones */

static struct tr_etrace_event *take(struct tr_etrace_group *group)
{
	struct tr_etrace_event *event = group->unused;

	if (!event)
		return calloc(1, sizeof *event);
	group->unused = event->next;
	group->unused_count--;
	return event;
}

static void give_back(struct tr_etrace_group *group, struct tr_etrace_event *event)
{
	if (group->unused_count >= UNUSED_MAX) {
		tr_etrace_event_free(event);
		return;
	}
	event->next = group->unused;
	group->unused = event;
	group->unused_count++;
}

struct tr_etrace_event *tr_etrace_progress_spare(struct tr_etrace_group *group)
{
	if (!group->unused) {
		struct tr_etrace_event *event = take(group);
		if (event)
			give_back(group, event);
	}
	return group->unused;
}

static void enlist(struct tr_etrace_group *group, struct tr_etrace_event *event)
{
	event->next = NULL;
	event->previous = group->newest;
	*(group->newest ? &group->newest->next : &group->oldest) = event;
	group->newest = event;
	group->in_progress++;
}

static void delist(struct tr_etrace_group *group, struct tr_etrace_event *event)
{
	*(event->previous ? &event->previous->next : &group->oldest) = event->next;
	*(event->next ? &event->next->previous : &group->newest) = event->previous;
	group->in_progress--;
	group->held -= tr_etrace_event_held(event);
}

bool tr_etrace_progress_begin(struct tr_etrace_group *group, struct tr_etrace_task *task,
			      const struct tr_etrace_tag *tag, const struct tr_etrace_line *line)
{
	struct tr_etrace_event *event = take(group);

	if (!event)
		return false;
	tr_etrace_event_begin(event, tag, line);
	enlist(group, event);
	task->open = event;
	return true;
}

void tr_etrace_progress_drop(struct tr_etrace_group *group, struct tr_etrace_task *task)
{
	delist(group, task->open);
	give_back(group, task->open);
	task->open = NULL;
}

bool tr_etrace_progress_finish(struct tr_etrace_group *group, struct tr_etrace_task *task,
			       struct tr_etrace_event *event)
{
	if (task->half == event)
		task->half = NULL;
	if (task->open == event)
		task->open = NULL;
	delist(group, event);
	bool fine = tr_etrace_render(group, event, task);
	bool exit = event->type == TR_ETRACE_EXIT;
	give_back(group, event);
	if (exit && !task->half && !task->open)
		tr_etrace_task_end(&group->tasks, task);
	return fine;
}

/* Nothing follows a half. */
bool tr_etrace_progress_finish_half(struct tr_etrace_group *group, struct tr_etrace_task *task)
{
	if (!task->half)
		return true;
	task->half->unfinished = task->half->role == TR_ETRACE_FIRST;
	return tr_etrace_progress_finish(group, task, task->half);
}

bool tr_etrace_progress_finish_open(struct tr_etrace_group *group, struct tr_etrace_task *task)
{
	return !task->open || tr_etrace_progress_finish(group, task, task->open);
}

bool tr_etrace_progress_complete(struct tr_etrace_group *group, struct tr_etrace_task *task)
{
	struct tr_etrace_event *event = task->open;

	if (event->role != TR_ETRACE_FIRST && event->role != TR_ETRACE_MAYBE)
		return tr_etrace_progress_finish(group, task, event);
	/* a Comm may have come between, and a half that waits has lost its end */
	if (!tr_etrace_progress_finish_half(group, task))
		return false;
	event->phase = TR_ETRACE_HALF;
	event->last = NULL;
	task->half = event;
	task->open = NULL;
	return true;
}

bool tr_etrace_progress_bound(struct tr_etrace_group *group)
{
	while (tr_etrace_progress_is_full(group) && group->in_progress) {
		struct tr_etrace_event *event = group->oldest;
		struct tr_etrace_task *task = tr_etrace_task_get(&group->tasks, event->upid);
		event->cut = true;
		if (!task || !tr_etrace_progress_finish(group, task, event))
			return false;
		/* of so many tasks those are forgotten that nothing is known of */
		if (!task->forked && !task->execed && !task->half && !task->open)
			tr_etrace_task_end(&group->tasks, task);
	}
	return true;
}

bool tr_etrace_progress_end_oldest(struct tr_etrace_group *group)
{
	struct tr_etrace_event *event = group->oldest;
	struct tr_etrace_task *task = tr_etrace_task_get(&group->tasks, event->upid);

	if (!task)
		return false;
	if (task->half == event) {
		/* whether it failed would have been told later */
		event->cut = event->role == TR_ETRACE_MAYBE;
		return tr_etrace_progress_finish_half(group, task);
	}
	event->cut = event->cut || event->type != TR_ETRACE_ENVSET;
	return tr_etrace_progress_finish(group, task, event);
}

static void free_list(struct tr_etrace_event *event)
{
	for (struct tr_etrace_event *next; event; event = next) {
		next = event->next;
		tr_etrace_event_free(event);
	}
}

void tr_etrace_progress_free(struct tr_etrace_group *group)
{
	free_list(group->oldest);
	free_list(group->unused);
}
