/* SPDX-License-Identifier: MIT */
#include "format/etrace/clock.h"

#include <stdlib.h>

enum {
	ENDED_MAX = 1 << 16,
	TASKS_MAX = 4 << 20, /* Linux has no more pids */
};

struct task {
	uint64_t number;
	struct tr_etrace_moment own, next;
	bool ended;
};

static bool before(struct tr_etrace_moment a, struct tr_etrace_moment b)
{
	return a.sec != b.sec ? a.sec < b.sec : a.nsec < b.nsec;
}

/* Finds the task, most often that of the last call; NULL: it is unknown. */
static struct task *find(struct tr_etrace_clock *clock, uint64_t number)
{
	struct task *task = clock->recent;

	if (task && task->number == number)
		return task;
	return clock->recent = tr_id_map_get(&clock->tasks, number);
}

bool tr_etrace_clock_start(struct tr_etrace_clock *clock, uint64_t number, bool timed,
			   struct tr_etrace_moment *time, bool *back)
{
	const struct task *task = find(clock, number);

	*back = timed && task && before(*time, task->own);
	if (!timed)
		*time = clock->latest;
	if (before(*time, task ? task->next : clock->floor))
		*time = task ? task->next : clock->floor;
	return time->sec <= INT64_MAX;
}

/* Forgets the tasks that ended, and all of them if too many live. */
static bool sweep(struct tr_etrace_clock *clock)
{
	bool all = clock->tasks.count >= TASKS_MAX;
	struct tr_id_map living = TR_ID_MAP_INIT;
	struct task *task;

	for (size_t i = 0; !all && (task = tr_id_map_next(&clock->tasks, &i));)
		if (!task->ended && !tr_id_map_put(&living, task->number, task)) {
			tr_id_map_free(&living);
			return false;
		}
	for (size_t i = 0; (task = tr_id_map_next(&clock->tasks, &i));)
		if (all || task->ended)
			free(task);
	tr_id_map_free(&clock->tasks);
	clock->tasks = living;
	clock->recent = NULL;
	clock->ended = 0;
	return true;
}

static struct task *get(struct tr_etrace_clock *clock, uint64_t number)
{
	struct task *task = find(clock, number);

	if (task)
		return task;
	if ((clock->ended >= ENDED_MAX || clock->tasks.count >= TASKS_MAX) && !sweep(clock))
		return NULL;
	task = calloc(1, sizeof *task);
	if (!task || !tr_id_map_put(&clock->tasks, number, task)) {
		free(task);
		return NULL;
	}
	task->number = number;
	return task;
}

bool tr_etrace_clock_stop(struct tr_etrace_clock *clock, uint64_t number, bool timed,
			  struct tr_etrace_moment own, struct tr_etrace_moment next, bool ended)
{
	if (before(clock->latest, next))
		clock->latest = next;
	clock->timed |= timed;
	if (!clock->timed) {
		/* without times the lines of all tasks have one order: no task is remembered */
		clock->floor = clock->latest;
		return true;
	}
	struct task *task = get(clock, number);
	if (!task)
		return false;
	clock->ended += ended;
	clock->ended -= task->ended;
	task->ended = ended;
	task->own = timed ? own : next;
	task->next = next;
	return true;
}

void tr_etrace_clock_free(struct tr_etrace_clock *clock)
{
	struct task *task;

	for (size_t i = 0; (task = tr_id_map_next(&clock->tasks, &i));)
		free(task);
	tr_id_map_free(&clock->tasks);
}
