/*
 * --tree: a task and all that comes of it. A task is known by the text of its
 * cell; fork brings a child in, exec one whose parent is in, exit takes it out
 * again, for ids are used anew. So memory is that of the live tasks.
 */
#include "config.h"

#include "tr_filter.h"

#include <stdlib.h>

#include "record/literal.h"

struct task {
	struct tr_text seq; /* of its current exec record: owned, key of tree->seqs; NULL: none */
	char name[];
};

static bool add_task(struct tr_task_tree *tree, struct tr_text name)
{
	if (tr_map_get(&tree->tasks, name))
		return true;
	struct task *task = malloc(sizeof *task + name.len);
	if (!task)
		return false;
	task->seq = (struct tr_text){ NULL, 0 };
	if (name.len)
		memcpy(task->name, name.data, name.len);
	if (tr_map_put(&tree->tasks, (struct tr_text){ task->name, name.len }, task))
		return true;
	free(task);
	return false;
}

static void forget_seq(struct tr_task_tree *tree, struct task *task)
{
	if (!task->seq.data)
		return;
	tr_map_take(&tree->seqs, task->seq);
	free((char *)task->seq.data);
	task->seq.data = NULL;
}

/* The exec record that is current in the task from now on: children name it as their parent. */
static bool set_seq(struct tr_task_tree *tree, struct task *task, struct tr_text seq)
{
	forget_seq(tree, task);
	/* a number that came before (a mangled stream) stays with its first task */
	if (tr_map_get(&tree->seqs, seq))
		return true;
	char *copy = malloc(seq.len + 1);
	if (!copy)
		return false;
	if (seq.len)
		memcpy(copy, seq.data, seq.len);
	seq.data = copy;
	if (!tr_map_put(&tree->seqs, seq, task)) {
		free(copy);
		return false;
	}
	task->seq = seq;
	return true;
}

static void remove_task(struct tr_task_tree *tree, struct tr_text name)
{
	struct task *task = tr_map_take(&tree->tasks, name);

	if (!task)
		return;
	forget_seq(tree, task);
	free(task);
}

/*
 * The decoded text of a cell, which lives as long as the record; data NULL:
 * there is none. False: memory is out.
 */
static bool cell_text(struct tr_task_tree *tree, struct tr_record *record,
		      const struct tr_cell *cell, struct tr_text *text)
{
	struct tr_error err;

	text->data = NULL;
	if (cell->type == TR_CELL_ABSENT)
		return true;
	if (cell->type == TR_CELL_TEXT) {
		if (tr_cell_bytes(cell->text, record->arena, text, &err))
			return true;
		text->data = NULL;
		return err.cause != TR_CAUSE_MEMORY;
	}
	tr_buffer_reset(&tree->scratch);
	tr_cell_write(cell, &tree->scratch);
	*text = tr_arena_copy(record->arena, tr_buffer_text(&tree->scratch));
	return text->data && !tree->scratch.failed;
}

/*
 * The text of a value as it stands: what a task cell of the same source says.
 * data NULL: there is none. False: memory is out.
 */
static bool field_text(struct tr_task_tree *tree, struct tr_record *record, const char *key,
		       struct tr_text *text)
{
	text->data = NULL;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	const struct tr_field *field = tr_record_field(record, key);
	if (!field || field->text.data) {
		*text = field ? field->text : *text;
		return true;
	}
	tr_buffer_reset(&tree->scratch);
	tr_literal_write(field->value, &tree->scratch);
	*text = tr_arena_copy(record->arena, tr_buffer_text(&tree->scratch));
	return text->data && !tree->scratch.failed;
}

/* Whether a program belongs to the tree because its parent does. False: memory is out. */
static bool has_parent(struct tr_task_tree *tree, struct tr_record *record, bool *inside)
{
	struct tr_text parent;

	if (!field_text(tree, record, "parent", &parent))
		return false;
	/* the number of the parent's record is exact, its id may have been used anew */
	if (parent.data) {
		*inside = tr_map_get(&tree->seqs, parent) != NULL;
		return true;
	}
	if (!field_text(tree, record, "ppid", &parent))
		return false;
	*inside = parent.data && tr_map_get(&tree->tasks, parent);
	return true;
}

static bool follow_exec(struct tr_task_tree *tree, struct tr_record *record, struct tr_text task,
			bool *inside)
{
	struct tr_text seq;

	if (!*inside && !has_parent(tree, record, inside))
		return false;
	if (!*inside)
		return true;
	return add_task(tree, task) && cell_text(tree, record, &record->seq, &seq) &&
	       (!seq.data || set_seq(tree, tr_map_get(&tree->tasks, task), seq));
}

bool tr_task_tree_follow(struct tr_task_tree *tree, struct tr_record *record, bool *inside)
{
	struct tr_text task, child;

	if (!cell_text(tree, record, &record->task, &task))
		return false;
	*inside = task.data && tr_map_get(&tree->tasks, task);
	if (task.data && tr_text_equal(record->kind, TR_TEXT("exec")))
		return follow_exec(tree, record, task, inside);
	if (!*inside)
		return true;
	if (tr_text_equal(record->kind, TR_TEXT("fork")))
		return field_text(tree, record, "child", &child) &&
		       (!child.data || add_task(tree, child));
	if (tr_text_equal(record->kind, TR_TEXT("exit")))
		remove_task(tree, task);
	return true;
}

bool tr_task_tree_begin(struct tr_task_tree *tree, struct tr_text root)
{
	struct tr_buffer quoted = TR_BUFFER_INIT;

	tr_task_tree_free(tree);
	/* ids that are strings in the source keep their quotes: nobody types them */
	tr_buffer_put_byte(&quoted, '"');
	tr_buffer_put_text(&quoted, root);
	tr_buffer_put_byte(&quoted, '"');
	bool fine =
		!quoted.failed && add_task(tree, root) && add_task(tree, tr_buffer_text(&quoted));
	tr_buffer_free(&quoted);
	return fine;
}

void tr_task_tree_free(struct tr_task_tree *tree)
{
	size_t position = 0;
	struct task *task;

	while ((task = tr_map_next(&tree->tasks, &position))) {
		free((char *)task->seq.data);
		free(task);
	}
	tr_map_free(&tree->tasks);
	tr_map_free(&tree->seqs);
	tr_buffer_free(&tree->scratch);
}
