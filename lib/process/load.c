/* SPDX-License-Identifier: MIT */
#include "process/load.h"

#include <stdlib.h>
#include "core/buffer.h"

struct process {
	struct process *parent;	     /* NULL: not known; holds a reference */
	size_t references, children; /* children: that are alive */
	bool alive, is_parent;	     /* is_parent: another one's parent points here */
};

struct tr_load_event {
	int64_t time;
	uint64_t order;
	struct process *process; /* holds a reference */
	bool begins;
};

static void release(struct process *process)
{
	while (process && --process->references == 0) {
		struct process *parent = process->parent;
		free(process);
		process = parent;
	}
}

static bool before(const struct tr_load_event *a, const struct tr_load_event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void swap(struct tr_load_event *a, struct tr_load_event *b)
{
	struct tr_load_event kept = *a;

	*a = *b;
	*b = kept;
}

static bool push(struct tr_load *load, struct tr_load_event event)
{
	if (!tr_array_room(load->events, load->count, load->cap))
		return false;
	size_t i = load->count++;
	load->events[i] = event;
	for (; i && before(&load->events[i], &load->events[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&load->events[i], &load->events[(i - 1) / 2]);
	return true;
}

static struct tr_load_event pop(struct tr_load *load)
{
	struct tr_load_event first = load->events[0];

	load->events[0] = load->events[--load->count];
	for (size_t i = 0;;) {
		size_t child = 2 * i + 1;
		if (child + 1 < load->count &&
		    before(&load->events[child + 1], &load->events[child]))
			child++;
		if (child >= load->count || !before(&load->events[child], &load->events[i]))
			return first;
		swap(&load->events[i], &load->events[child]);
		i = child;
	}
}

/* A child of the process begins or ends. */
static void count_child(struct tr_load *load, struct process *parent, bool begins)
{
	if (!parent)
		return;
	parent->children += begins ? 1 : (size_t)-1;
	if (!parent->alive)
		return;
	if (begins && parent->children == 1)
		load->running--;
	if (!begins && parent->children == 0)
		load->running++;
}

static void apply(struct tr_load *load, struct tr_load_event event)
{
	struct process *process = event.process;

	if (process->alive != event.begins) {
		process->alive = event.begins;
		load->alive += event.begins ? 1 : (uint64_t)-1;
		if (!process->children)
			load->running += event.begins ? 1 : (uint64_t)-1;
		count_child(load, process->parent, event.begins);
	}
	if (load->alive > load->most_alive)
		load->most_alive = load->alive;
	if (load->running > load->most_running)
		load->most_running = load->running;
	release(process);
}

static bool add_event(struct tr_load *load, struct process *process, int64_t time, bool begins)
{
	struct tr_load_event event = { time, load->order++, process, begins };

	process->references++;
	if (!push(load, event)) {
		release(process);
		return false;
	}
	if (load->count > TR_LOAD_AHEAD && load->events[0].time != INT64_MAX)
		apply(load, pop(load));
	return true;
}

static void set_parent(struct tr_load *load, struct process *process, uint64_t number)
{
	struct process *parent = tr_id_map_get(&load->processes, number);

	if (process->parent || !parent)
		return;
	/* no process is its own ancestor, whatever a trace says; one without children cannot be */
	if (parent == process)
		return;
	for (const struct process *above = parent; process->is_parent && above;
	     above = above->parent)
		if (above == process)
			return;
	parent->is_parent = true;
	parent->references++;
	process->parent = parent;
	if (process->alive)
		count_child(load, parent, true);
}

static bool begin(struct tr_load *load, const struct tr_run *run)
{
	struct process *process;

	/* a program that is replaced by another one stays the same process */
	if (run->replaces != TR_RUN_NONE) {
		process = tr_id_map_take(&load->processes, run->replaces);
		if (!process || tr_id_map_put(&load->processes, run->number, process))
			return true;
		release(process);
		return false;
	}
	if (run->began == TR_INSTANT_NONE)
		return true;
	process = calloc(1, sizeof *process);
	if (!process)
		return false;
	process->references = 1; /* of the map */
	if (!tr_id_map_put(&load->processes, run->number, process)) {
		free(process);
		return false;
	}
	set_parent(load, process, run->parent);
	return add_event(load, process, run->began, true);
}

static bool end(struct tr_load *load, const struct tr_run *run)
{
	struct process *process =
		run->fate == TR_RUN_REPLACED ? NULL : tr_id_map_take(&load->processes, run->number);

	if (!process)
		return true;
	int64_t time = run->ended == TR_INSTANT_NONE ? INT64_MAX : run->ended;
	bool good = add_event(load, process, time < run->began ? run->began : time, false);
	release(process);
	return good;
}

bool tr_load_count(struct tr_load *load, enum tr_run_event event, const struct tr_run *run)
{
	struct process *process;

	switch (event) {
	case TR_RUN_BEGAN:
		return begin(load, run);
	case TR_RUN_ENDED:
		return end(load, run);
	case TR_RUN_ADOPTED:
		process = tr_id_map_get(&load->processes, run->number);
		if (process)
			set_parent(load, process, run->parent);
		return true;
	case TR_RUN_PROGRAM:
		break;
	}
	return true;
}

void tr_load_finish(struct tr_load *load)
{
	while (load->count)
		apply(load, pop(load));
}

void tr_load_free(struct tr_load *load)
{
	void *process;

	tr_load_finish(load);
	for (size_t i = 0; (process = tr_id_map_next(&load->processes, &i));)
		release(process);
	tr_id_map_free(&load->processes);
	free(load->events);
	*load = (struct tr_load){ 0 };
}
