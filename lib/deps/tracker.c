/* SPDX-License-Identifier: MIT */
#include "deps/tracker.h"

#include <stdlib.h>
#include <string.h>

#include "deps/task.h"
#include "record/literal.h"

enum {
	/*
	 * Records that are pending on a fork, which follows after a few records of its task. If the
	 * log lacks it, they must not be pending for long, because the order of uses matters.
	 */
	HELD_MAX = 1024,
	HELD_BYTES = 64 << 20,
};

void tr_deps_tracker_init(struct tr_deps_tracker *tracker, struct tr_deps_graph *graph)
{
	*tracker = (struct tr_deps_tracker){ .graph = graph,
					     .tasks = TR_MAP_INIT,
					     .held = TR_PENDING_INIT(uint64_t),
					     .line = TR_BUFFER_INIT };
}
static bool has_flag(struct tr_text flags, const char *word)
{
	return flags.len && memmem(flags.data, flags.len, word, strlen(word));
}

static enum tr_status put_known(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
				struct tr_record *record, struct tr_deps_event *event,
				struct tr_error *err);

/* Writes the line of a record, with what its call did, to tracker->line. */
static void annotate(struct tr_deps_tracker *tracker, struct tr_record *record,
		     const struct tr_deps_event *event, const struct tr_deps_command *program)
{
	struct tr_buffer *to = &tracker->line;
	char memory[512];
	struct tr_buffer path = tr_buffer_over(memory, sizeof memory);
	struct tr_error err;

	tr_buffer_reset(to);
	if (tr_record_write(record, to, &err) != TR_OK) {
		tr_buffer_reset(to);
		tr_buffer_put_text(to, record->line);
	}
	if (!event->path[0] && !event->does)
		return;
	static const char *const keys[] = { "path1", "path2" };
	struct tr_buffer more = TR_BUFFER_INIT;
	for (int i = 0; i < 2; i++) {
		if (!event->path[i] || tr_record_field(record, keys[i]))
			continue;
		tr_buffer_reset(&path);
		tr_deps_path_write(event->path[i], &path);
		tr_buffer_put_byte(&more, '\t');
		tr_buffer_put(&more, keys[i], 5);
		tr_buffer_put_literal(&more, "=");
		tr_string_quote(tr_buffer_text(&path), &more);
	}
	if (event->does && !tr_record_field(record, "does")) {
		tr_buffer_put_literal(&more, "\tdoes=[");
		tr_deps_put_does(event->does, ",", &more);
		tr_buffer_put_byte(&more, ']');
	}
	if (program && program->seq != TR_DEPS_NO_SEQ && !tr_record_field(record, "by")) {
		tr_buffer_put_literal(&more, "\tby=");
		tr_buffer_put_decimal(&more, program->seq);
	}
	const char *arrow = to->failed ? NULL : memmem(to->data, to->len, "\t->", 3);
	size_t at = arrow ? (size_t)(arrow - to->data) : to->len - 1;
	char *room = to->failed || more.failed ? NULL : tr_buffer_insert(to, at, more.len);
	if (room)
		memcpy(room, more.data, more.len);
	else
		tracker->graph->failed = true;
	tr_buffer_free(&more);
	tr_buffer_free(&path);
}

/* Returns the number of a pending record, counted from the first one that was ever pending. */
static uint64_t number_of(const struct tr_pending_item *item)
{
	return *(const uint64_t *)item->data;
}

/* Resolves the records that are pending on a task, which is known now. */
static void make_ready(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	struct tr_pending_item *first = tr_pending_resolve(&tracker->held, task->number);

	if (!first)
		return;
	task->pending = first;
	task->ready = tracker->ready;
	tracker->ready = task;
}

/* Applies a record that was pending on a task. */
static enum tr_status put_item(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			       struct tr_pending_item *item, struct tr_error *err)
{
	struct tr_record record;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_deps_event event = { .does = 0 };
	enum tr_status status = TR_OK;

	tr_record_init(&record, &arena);
	if (tr_record_from_line(&record, item->text, err)) {
		const struct tr_deps_command *program = NULL;
		if (task->process || /* NULL: the task has ended, and its number is used again */
		    tr_deps_task_begin(tracker, task, NULL, false, false, false)) {
			program = tr_deps_program(task->process->command);
			status = put_known(tracker, task, &record, &event, err);
		}
		if (tracker->emit && !tracker->graph->failed) {
			annotate(tracker, &record, &event, program);
			if (!tr_pending_replace(&tracker->held, item,
						tr_buffer_text(&tracker->line)))
				tracker->graph->failed = true;
		}
	}
	tr_arena_free(&arena);
	if (!tracker->emit) {
		tr_pending_remove(&tracker->held, item);
		tr_pending_free_item(item);
	}
	return tracker->graph->failed ? tr_error_memory(err) : status;
}

/*
 * Applies the pending records of all tasks that have become known, in their order. This may make
 * further tasks known.
 */
static enum tr_status put_held(struct tr_deps_tracker *tracker, struct tr_error *err)
{
	enum tr_status worst = TR_OK;

	while (tracker->ready && worst != TR_FATAL) {
		struct tr_deps_task **oldest = &tracker->ready, **place;
		for (place = oldest; *place; place = &(*place)->ready)
			if (number_of((*place)->pending) < number_of((*oldest)->pending))
				oldest = place;
		struct tr_deps_task *task = *oldest;
		struct tr_pending_item *item = task->pending;
		task->pending = item->sibling;
		if (!task->pending)
			*oldest = task->ready;
		enum tr_status status = put_item(tracker, task, item, err);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static enum tr_status put_fork(struct tr_deps_tracker *tracker, struct tr_deps_task *parent,
			       struct tr_record *record, struct tr_error *err)
{
	struct tr_text child = tr_deps_argument(record, "child"),
		       flags = tr_deps_argument(record, "flags");
	bool thread = has_flag(flags, "CLONE_THREAD");

	if (!child.data)
		return TR_OK;
	struct tr_deps_task *task = tr_deps_task_find(tracker, child);
	if (task == parent) /* the log is damaged: no process forks itself */
		return TR_OK;
	if (task && task->process) { /* its number is used again, and its end is not in the log */
		tr_deps_task_end(tracker, task);
	} else if (!task && !(task = tr_deps_task_add(tracker, child))) {
		return tr_error_memory(err);
	}
	if (!tr_deps_task_begin(tracker, task, parent, thread, has_flag(flags, "CLONE_FS"),
				has_flag(flags, "CLONE_FILES")))
		return tr_error_memory(err);
	if (!thread && !tr_cell_number(&record->seq, &task->process->command->fork_seq))
		task->process->command->fork_seq = TR_DEPS_NO_SEQ;
	make_ready(tracker, task);
	return TR_OK;
}

/* Begins the next event: sets its moment and time. */
static void begin_event(struct tr_deps_tracker *tracker, const struct tr_deps_task *task,
			const struct tr_record *record)
{
	struct tr_deps_graph *graph = tracker->graph;

	graph->now += graph->now < TR_DEPS_NEVER - 1;
	if (tracker->times)
		graph->instant = tr_instant_from_cell(&record->time);
	graph->paths.top = task->directory->root;
}

static enum tr_status put_known(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
				struct tr_record *record, struct tr_deps_event *event,
				struct tr_error *err)
{
	struct tr_deps_graph *graph = tracker->graph;
	enum tr_status status = TR_OK;

	begin_event(tracker, task, record);
	if (tr_text_is(record->kind, "sys")) {
		status = tr_deps_put_sys(tracker, task, record, event, err);
	} else if (tr_text_is(record->kind, "exec")) {
		tr_deps_put_exec(tracker, task, record, event);
	} else if (tr_text_is(record->kind, "fork")) {
		status = put_fork(tracker, task, record, err);
	} else if (tr_text_is(record->kind, "exit")) {
		tr_deps_task_end(tracker, task);
		if (!task->pending)
			tr_deps_task_remove(tracker, task);
	}
	graph->failed |= graph->paths.failed;
	return graph->failed ? tr_error_memory(err) : status;
}

static bool emit(struct tr_deps_tracker *tracker, struct tr_text line)
{
	return !tracker->emit || tracker->emit(tracker->context, line);
}

/* Emits the records that are no longer pending. */
static enum tr_status emit_resolved(struct tr_deps_tracker *tracker, struct tr_error *err)
{
	const struct tr_pending_item *item;
	enum tr_status status;

	while ((status = tr_pending_next(&tracker->held, &item, err)) == TR_OK)
		if (!emit(tracker, item->text)) {
			tr_error_clear(err);
			return TR_FATAL;
		}
	return status == TR_END ? TR_OK : status;
}

/* Expires the oldest pending task: it is treated as one without a parent. */
static enum tr_status expire_oldest(struct tr_deps_tracker *tracker, struct tr_error *err)
{
	struct tr_pending_item *item = tracker->held.first;
	struct tr_record record;
	struct tr_arena arena = TR_ARENA_INIT;
	enum tr_status status = TR_OK;

	while (item && !item->pending)
		item = item->next;
	if (!item)
		return TR_OK;
	tr_record_init(&record, &arena);
	if (tr_record_from_line(&record, item->text, err)) {
		struct tr_deps_task *task = tr_deps_task_find(tracker, record.task.text);
		if (!task || !tr_deps_task_begin(tracker, task, NULL, false, false, false)) {
			status = tr_error_memory(err);
		} else {
			make_ready(tracker, task);
			status = put_held(tracker, err);
		}
	} else { /* an item that is no line of a record would otherwise expire again and again */
		tr_pending_release(&tracker->held, item);
	}
	tr_arena_free(&arena);
	return status;
}

/* Returns the text of a task cell, which the field child spells in the same way. */
static struct tr_text task_of(struct tr_record *record, char *digits)
{
	if (record->task.type == TR_CELL_NUMBER)
		return (struct tr_text){ digits, tr_decimal_write(record->task.number, digits) };
	return record->task.type == TR_CELL_TEXT ? record->task.text : (struct tr_text){ NULL, 0 };
}

enum tr_status tr_deps_put(struct tr_deps_tracker *tracker, struct tr_record *record,
			   struct tr_error *err)
{
	char digits[TR_DECIMAL_MAX];
	struct tr_deps_event event = { .does = 0 };
	enum tr_status status = TR_OK;
	const struct tr_deps_command *program = NULL;
	struct tr_text id = { NULL, 0 };

	if (record->type == TR_HEADER || record->type == TR_TRAILER) {
		status = tr_deps_finish(tracker, err);
		if (status == TR_FATAL)
			return status;
	} else if (record->type == TR_RECORD) {
		id = task_of(record, digits);
	}
	struct tr_deps_task *task = id.data ? tr_deps_task_find(tracker, id) : NULL;
	if (id.data && (!task || !task->process) &&
	    (tr_text_is(record->kind, "sys") || tr_text_is(record->kind, "exec") ||
	     tr_text_is(record->kind, "fork") || tr_text_is(record->kind, "exit"))) {
		bool first = !tracker->tasks.count;
		if (!task && !(task = tr_deps_task_add(tracker, id)))
			return tr_error_memory(err);
		if (first && !tr_deps_task_begin(tracker, task, NULL, false, false, false))
			return tr_error_memory(err);
	}
	if (task && !task->process) {
		struct tr_error why;
		tr_buffer_reset(&tracker->line);
		enum tr_status written = tr_record_write(record, &tracker->line, &why);
		if (written == TR_FATAL)
			return tr_error_memory(err);
		if (written != TR_OK) { /* a field is malformed */
			tr_buffer_reset(&tracker->line);
			tr_buffer_put_text(&tracker->line, record->line);
		}
		struct tr_pending_item *item =
			tr_pending_add(&tracker->held, &tracker->held_count,
				       tr_buffer_text(&tracker->line), tracker->line.len);
		tracker->held_count++;
		if (!item || !tr_pending_hold(&tracker->held, item, task->number))
			return tr_error_memory(err);
		if (tracker->held.count > HELD_MAX || tracker->held.weight > HELD_BYTES)
			status = expire_oldest(tracker, err);
		return status;
	}
	if (task) {
		if (tracker->emit)
			program = tr_deps_program(task->process->command);
		status = put_known(tracker, task, record, &event, err);
	}
	if (!tracker->emit && status != TR_FATAL)
		return tracker->ready ? put_held(tracker, err) : status;
	if (status == TR_FATAL)
		return status;
	annotate(tracker, record, &event, program);
	if (tracker->graph->failed || tracker->line.failed)
		return tr_error_memory(err);
	if (!tracker->held.count) {
		tr_error_clear(err);
		return emit(tracker, tr_buffer_text(&tracker->line)) ? status : TR_FATAL;
	}
	if (!tr_pending_put(&tracker->held, &tracker->held_count, tr_buffer_text(&tracker->line), 0,
			    err) ||
	    put_held(tracker, err) == TR_FATAL)
		return TR_FATAL;
	return emit_resolved(tracker, err) == TR_FATAL ? TR_FATAL : status;
}

bool tr_deps_take(struct tr_deps_tracker *tracker, const struct tr_record *columns,
		  const struct tr_file_call *call)
{
	struct tr_deps_task *task = tr_deps_task_find(tracker, columns->task.text);
	struct tr_deps_event event = { .does = 0 };

	if (tracker->emit || !task || !task->process)
		return false;
	begin_event(tracker, task, columns);
	tr_deps_put_call(tracker, task, columns, call, &event);
	tracker->graph->failed |= tracker->graph->paths.failed;
	return true;
}

enum tr_status tr_deps_finish(struct tr_deps_tracker *tracker, struct tr_error *err)
{
	size_t position = 0;
	struct tr_deps_task *task;
	enum tr_status worst = TR_OK;

	while (tracker->held.first && worst != TR_FATAL) {
		bool pending = false;
		for (struct tr_pending_item *item = tracker->held.first; item; item = item->next)
			pending |= item->pending;
		enum tr_status status = pending ? expire_oldest(tracker, err) : TR_OK;
		worst = status > worst ? status : worst;
		if (worst != TR_FATAL && (status = emit_resolved(tracker, err)) > worst)
			worst = status;
	}
	while ((task = tr_map_next(&tracker->tasks, &position))) {
		tr_deps_task_end(tracker, task);
		free(task);
	}
	tr_map_clear(&tracker->tasks);
	tracker->recent = NULL;
	tracker->graph->paths.top = NULL;
	while (tracker->sent_count)
		tr_deps_open_release(tr_deps_message_take(tracker, 0));
	return tracker->graph->failed ? tr_error_memory(err) : worst;
}

void tr_deps_tracker_free(struct tr_deps_tracker *tracker)
{
	size_t position = 0;
	struct tr_deps_task *task;

	while ((task = tr_map_next(&tracker->tasks, &position))) {
		tr_deps_task_end(tracker, task);
		free(task);
	}
	tr_map_free(&tracker->tasks);
	while (tracker->sent_count)
		tr_deps_open_release(tr_deps_message_take(tracker, 0));
	tr_pending_free(&tracker->held);
	tr_buffer_free(&tracker->line);
}
