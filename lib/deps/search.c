/* SPDX-License-Identifier: MIT */
#include "deps/search.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "process/command.h"

/* A version to visit; or a command, up to a moment (forward: from a moment). */
struct tr_deps_step {
	struct tr_deps_version *version;
	struct tr_deps_command *command;
	uint32_t moment;
};

void tr_deps_search_begin(struct tr_deps_search *search)
{
	search->mark = ++search->graph->searches;
	search->count = 0;
}

static bool push(struct tr_deps_search *search, struct tr_deps_version *version,
		 struct tr_deps_command *command, uint32_t moment)
{
	if (!tr_array_room(search->steps, search->count, search->cap))
		return false;
	search->steps[search->count++] = (struct tr_deps_step){ version, command, moment };
	return true;
}

/* Returns the moment of a use by which a search in this direction sorts uses. */
static uint32_t moment_of(const struct tr_deps_use *use, bool forward)
{
	if (forward)
		return tr_deps_is_writer(use) ? use->written_until : 0;
	return tr_deps_is_reader(use) ? use->read_at : TR_DEPS_NEVER;
}

static int compare_reads(const void *a, const void *b)
{
	uint32_t x = moment_of(*(struct tr_deps_use *const *)a, false);
	uint32_t y = moment_of(*(struct tr_deps_use *const *)b, false);

	return x < y ? -1 : x > y;
}

static int compare_writes(const void *a, const void *b)
{
	uint32_t x = moment_of(*(struct tr_deps_use *const *)a, true);
	uint32_t y = moment_of(*(struct tr_deps_use *const *)b, true);

	return x > y ? -1 : x < y;
}

/*
 * Sorts the uses of a command: reads by ascending moments, writes by descending ones. So another
 * visit of the command continues where the first one stopped. False: memory is exhausted.
 */
static bool sort_uses(struct tr_deps_search *search, struct tr_deps_command *command)
{
	size_t n = 0;

	if (!command->sorted)
		command->sorted = tr_arena_alloc(
			&search->graph->arena, (command->use_count + 1) * sizeof *command->sorted);
	if (!command->sorted)
		return false;
	command->at = 0;
	if (command->sorted_count == command->use_count &&
	    command->sorted_forward == search->forward)
		return true; /* an earlier search sorted them; there may be a search for each file */
	for (struct tr_deps_use *use = command->uses; use; use = use->next_of_command)
		command->sorted[n++] = use;
	qsort(command->sorted, n, sizeof *command->sorted,
	      search->forward ? compare_writes : compare_reads);
	command->sorted_count = n;
	command->sorted_forward = search->forward;
	return true;
}

/* True if what the parent had read when it started the command counts as read by the command. */
static bool inherits(const struct tr_deps_search *search, const struct tr_deps_command *command)
{
	if (!command->parent)
		return false;
	if (!command->program)
		return true;
	const struct tr_deps_command *above = tr_deps_program(command->parent);
	return search->through == TR_THROUGH_ALL ||
	       (search->through == TR_THROUGH_WRAPPERS && above &&
		!tr_command_is_build_tool(above->name));
}

/*
 * Goes from a content of a file to the one that it continues, and to its writers; forward: to the
 * one that continues it, and to its readers.
 */
static bool visit_version(struct tr_deps_search *search, struct tr_deps_version *version)
{
	struct tr_deps_version *next = search->forward ? version->newer : version->older;

	if (version->mark == search->mark)
		return true;
	version->mark = search->mark;
	if (search->reached)
		search->reached(search->context, version);
	if (next && (!search->forward || next->older == version) && !push(search, next, NULL, 0))
		return false;
	/* each of many searches may reach the same library, which many commands have read */
	if (!(search->forward ? version->read : version->written))
		return true;
	for (struct tr_deps_use *use = version->uses; use; use = use->next_of_version) {
		if (search->forward ? !tr_deps_is_reader(use) : !tr_deps_is_writer(use))
			continue;
		if (!push(search, NULL, use->command,
			  search->forward ? use->read_at : use->written_until))
			return false;
	}
	return true;
}

/* Finds the files that a command looked for before the moment, and that were not there. */
static void find_missing(struct tr_deps_search *search, const struct tr_deps_command *command,
			 uint32_t moment)
{
	for (struct tr_deps_use *use = command->uses; use; use = use->next_of_command)
		if (!use->read && !use->written && use->first < moment)
			search->found(search->context, use);
}

/*
 * Goes through the uses of a command up to a moment that no earlier visit reached, then to its
 * parent; forward: through those from the moment on, then to its children.
 */
static bool visit_command(struct tr_deps_search *search, struct tr_deps_command *command,
			  uint32_t moment)
{
	if (command->mark != search->mark) {
		command->mark = search->mark;
		if (!sort_uses(search, command))
			return false;
		if (search->missing && !search->forward)
			find_missing(search, command, moment);
	} else if (search->forward ? moment >= command->moment : moment <= command->moment) {
		return true;
	}
	command->moment = moment;
	if (search->visited)
		search->visited(search->context, command);
	for (; command->at < command->use_count; command->at++) {
		struct tr_deps_use *use = command->sorted[command->at];
		uint32_t when = moment_of(use, search->forward);
		if (search->forward ? when <= moment : when >= moment)
			break;
		if (search->found(search->context, use) && !push(search, use->version, NULL, 0))
			return false;
	}
	if (!search->forward)
		return !inherits(search, command) ||
		       push(search, NULL, command->parent,
			    moment < command->began ? moment : command->began);
	for (struct tr_deps_command *child = command->children; child; child = child->sibling)
		if (child->began >= moment && inherits(search, child) &&
		    !push(search, NULL, child, child->began))
			return false;
	return true;
}

static bool run(struct tr_deps_search *search)
{
	while (search->count) {
		struct tr_deps_step step = search->steps[--search->count];
		if (step.version ? !visit_version(search, step.version)
				 : !visit_command(search, step.command, step.moment))
			return false;
	}
	return true;
}

bool tr_deps_search(struct tr_deps_search *search, struct tr_deps_version *version)
{
	return push(search, version, NULL, 0) && run(search);
}

void tr_deps_search_free(struct tr_deps_search *search)
{
	free(search->steps);
	search->steps = NULL;
	search->count = search->cap = 0;
}
