#include "format/etrace/late.h"

#include <stdlib.h>

struct tr_etrace_late_task {
	uint64_t number, parent;
	bool forked;
	struct tr_buffer lines;
	struct tr_etrace_late_task *older, *newer;
};

bool tr_etrace_late_waits(const struct tr_etrace_late *late, uint64_t task)
{
	return tr_id_map_get(&late->tasks, task) != NULL;
}

bool tr_etrace_late_begin(struct tr_etrace_late *late, uint64_t number, uint64_t parent,
			  bool forked)
{
	struct tr_etrace_late_task *task = tr_id_map_get(&late->tasks, number);

	if (task) {
		task->parent = parent;
		late->forked += forked && !task->forked;
		task->forked |= forked;
		return true;
	}
	task = calloc(1, sizeof *task);

	if (!task || !tr_id_map_put(&late->tasks, number, task)) {
		free(task);
		return false;
	}
	task->number = number;
	task->parent = parent;
	task->forked = forked;
	late->forked += forked;
	task->older = late->last;
	*(late->last ? &late->last->newer : &late->first) = task;
	late->last = task;
	return true;
}

bool tr_etrace_late_first(const struct tr_etrace_late *late, uint64_t *task, uint64_t *parent,
			  bool *forked)
{
	if (!late->first)
		return false;
	*task = late->first->number;
	*parent = late->first->parent;
	*forked = late->first->forked;
	return true;
}

bool tr_etrace_late_add(struct tr_etrace_late *late, uint64_t number, struct tr_text lines)
{
	struct tr_etrace_late_task *task = tr_id_map_get(&late->tasks, number);

	tr_buffer_put_text(&task->lines, lines);
	late->bytes += lines.len;
	return !task->lines.failed;
}

static void write_one(struct tr_etrace_late *late, uint64_t number, struct tr_output *out)
{
	struct tr_etrace_late_task *task = tr_id_map_take(&late->tasks, number);

	if (!task)
		return;
	if (out)
		tr_output_put_text(out, tr_buffer_text(&task->lines));
	late->bytes -= task->lines.len;
	late->forked -= task->forked;
	*(task->older ? &task->older->newer : &late->first) = task->newer;
	*(task->newer ? &task->newer->older : &late->last) = task->older;
	tr_buffer_free(&task->lines);
	free(task);
}

/* Some task whose fork was among the lines of a task that is written. */
static const struct tr_etrace_late_task *next_child(const struct tr_etrace_late *late)
{
	const struct tr_etrace_late_task *task = late->forked ? late->first : NULL;

	while (task && !(task->forked && !tr_etrace_late_waits(late, task->parent)))
		task = task->newer;
	return task;
}

void tr_etrace_late_write(struct tr_etrace_late *late, uint64_t number, struct tr_output *out)
{
	const struct tr_etrace_late_task *child;

	if (!tr_etrace_late_waits(late, number))
		return;
	write_one(late, number, out);
	while ((child = next_child(late)))
		write_one(late, child->number, out);
}

void tr_etrace_late_free(struct tr_etrace_late *late)
{
	while (late->first)
		write_one(late, late->first->number, NULL);
	tr_id_map_free(&late->tasks);
}
