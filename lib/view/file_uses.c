/* SPDX-License-Identifier: MIT */
/*
 * The uses of files in a trace. Following them takes memory and time, so it begins with the first
 * file call; records that came before, and that the graph needs (processes, and calls that change
 * descriptors or directories), are kept in a buffer until then.
 */
#include "view/file_uses.h"

#include <stdlib.h>
#include <string.h>

#include "core/input.h"
#include "deps/file_call.h"

enum { HELD_BYTES = 1 << 20 };

void tr_file_uses_init(struct tr_file_uses *uses, bool times)
{
	*uses = (struct tr_file_uses){ .times = times, .held = TR_BUFFER_INIT };
}

/*
 * Follows a record. One with a malformed field (TR_WARN) has no uses. False: memory is exhausted.
 */
static bool follow(struct tr_file_uses *uses, struct tr_record *record)
{
	struct tr_error err;

	return tr_deps_put(&uses->tracker, record, &err) != TR_FATAL;
}

/* Starts the graph with the records that came before the first file call. */
static bool start(struct tr_file_uses *uses)
{
	struct tr_error err;
	bool fine;

	/* scanners of lines read beyond the end of the last line */
	if (uses->held.len && !tr_buffer_room(&uses->held, TR_INPUT_PAD))
		return false;
	const char *p = uses->held.data, *end = p ? p + uses->held.len : NULL;
	tr_deps_graph_init(&uses->graph);
	tr_deps_tracker_init(&uses->tracker, &uses->graph);
	uses->tracker.times = uses->graph.details = uses->times;
	uses->tracker.program_ended = uses->program_ended;
	uses->tracker.context = uses->context;
	uses->following = true;
	fine = !uses->graph.failed;
	while (fine && p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct tr_arena arena = TR_ARENA_INIT;
		struct tr_record record;
		tr_record_init(&record, &arena);
		if (tr_record_from_line(&record, tr_text_span(p, stop + 1), &err))
			fine = follow(uses, &record);
		tr_arena_free(&arena);
		p = stop + 1;
	}
	tr_buffer_free(&uses->held);
	return fine && !uses->graph.failed;
}

/*
 * Keeps the line of a record until the first file call. Beyond HELD_BYTES all lines are dropped,
 * and the graph will lack their records. False: memory is exhausted.
 */
static bool hold(struct tr_file_uses *uses, struct tr_record *record)
{
	struct tr_error err;
	size_t from = uses->held.len;

	if (record->line.data)
		tr_buffer_put_text(&uses->held, record->line);
	else if (tr_record_write(record, &uses->held, &err) != TR_OK)
		uses->held.len = from; /* a record that cannot be written does not start a task */
	if (uses->held.len > HELD_BYTES) {
		uses->full = true;
		tr_buffer_free(&uses->held);
	}
	return !uses->held.failed;
}

bool tr_file_uses_put(struct tr_file_uses *uses, struct tr_record *record)
{
	bool needed;

	if (uses->following)
		return follow(uses, record);
	if (tr_text_is(record->kind, "sys")) {
		bool named = record->name.type == TR_CELL_TEXT;
		if (named && tr_file_call_uses(record->name.text))
			return start(uses) && follow(uses, record);
		needed = named && tr_file_call_concerns(record->name.text);
	} else {
		needed = tr_text_is(record->kind, "exec") || tr_text_is(record->kind, "fork") ||
			 tr_text_is(record->kind, "exit");
	}
	return !needed || uses->full || hold(uses, record);
}

bool tr_file_uses_finish(struct tr_file_uses *uses)
{
	struct tr_error err;

	return !uses->following ||
	       (tr_deps_finish(&uses->tracker, &err) != TR_FATAL && !uses->graph.failed);
}

/*
 * The order of uses for qsort in which those of a program, and of one file in it, are neighbours.
 */
static int by_program(const void *a, const void *b)
{
	const struct tr_file_use *x = a, *y = b;

	if (x->program != y->program)
		return (uintptr_t)x->program < (uintptr_t)y->program ? -1 : 1;
	if (x->path != y->path)
		return (uintptr_t)x->path < (uintptr_t)y->path ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* The order of uses for qsort: by program, then by the time of the first use. */
static int by_first(const void *a, const void *b)
{
	const struct tr_file_use *x = a, *y = b;

	if (x->program != y->program)
		return by_program(a, b);
	return x->first < y->first ? -1 : x->first > y->first;
}

bool tr_file_use_counts(const struct tr_deps_use *use, bool *reads, bool *writes)
{
	*reads = tr_deps_is_reader(use);
	/* a rename or link makes the path, as a write does */
	*writes = tr_deps_is_writer(use) || use->does & (TR_DOES_RENAME | TR_DOES_LINK);
	return use->path && !use->path->directory && !use->path->special && (*reads || *writes);
}

/* A program may have several uses of a file, one for each version of it; these become one. */
bool tr_file_uses_list(const struct tr_file_uses *uses, struct tr_file_use **list, size_t *count)
{
	size_t n = 0, kept = 0;

	*count = 0;
	*list = calloc(uses->graph.use_count + 1, sizeof **list);
	if (!*list)
		return false;
	for (const struct tr_deps_command *c = uses->graph.first_command; c; c = c->next) {
		for (const struct tr_deps_use *use = c->uses; use; use = use->next_of_command) {
			bool reads, writes;
			if (!tr_file_use_counts(use, &reads, &writes))
				continue;
			(*list)[n++] = (struct tr_file_use){ tr_deps_program(c), use->path, reads,
							     writes, use->first };
		}
	}
	qsort(*list, n, sizeof **list, by_program);
	for (size_t i = 0; i < n; i++) {
		struct tr_file_use *last = kept ? &(*list)[kept - 1] : NULL;
		if (last && last->program == (*list)[i].program && last->path == (*list)[i].path) {
			last->reads |= (*list)[i].reads;
			last->writes |= (*list)[i].writes;
		} else {
			(*list)[kept++] = (*list)[i];
		}
	}
	qsort(*list, kept, sizeof **list, by_first);
	*count = kept;
	return true;
}

void tr_file_uses_clear(struct tr_file_uses *uses)
{
	struct tr_file_uses old = *uses;

	tr_file_uses_free(uses);
	tr_file_uses_init(uses, old.times);
	uses->program_ended = old.program_ended;
	uses->context = old.context;
}

void tr_file_uses_free(struct tr_file_uses *uses)
{
	if (uses->following) {
		tr_deps_tracker_free(&uses->tracker);
		tr_deps_graph_free(&uses->graph);
	}
	tr_buffer_free(&uses->held);
}
