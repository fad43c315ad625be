/* SPDX-License-Identifier: MIT */
#include "deps/task.h"

#include <stdlib.h>
#include <string.h>

#include "deps/file_call.h"

void tr_deps_open_release(struct tr_deps_open *open)
{
	if (open && --open->references == 0)
		free(open);
}

struct tr_deps_open *tr_deps_message_take(struct tr_deps_tracker *tracker, unsigned at)
{
	struct tr_deps_message taken = tracker->sent[at];

	memmove(tracker->sent + at, tracker->sent + at + 1,
		(--tracker->sent_count - at) * sizeof *tracker->sent);
	tr_deps_open_release(taken.socket);
	return taken.open;
}

struct tr_deps_open *tr_deps_open_new(struct tr_deps_tracker *tracker,
				      struct tr_deps_command *command,
				      struct tr_deps_version *version, struct tr_deps_path *path,
				      unsigned mode)
{
	struct tr_deps_open *open = malloc(sizeof *open);

	if (open)
		*open = (struct tr_deps_open){ .references = 1,
					       .version = version,
					       .path = path,
					       .spelled = path,
					       .opener = command,
					       .mode = mode };
	else
		tracker->graph->failed = true;
	return open;
}

static struct tr_deps_descriptors *descriptors_new(const struct tr_deps_descriptors *from)
{
	struct tr_deps_descriptors *new = calloc(1, sizeof *new);

	if (!new)
		return NULL;
	new->references = 1;
	if (!from || !from->count)
		return new;
	new->slots = malloc(from->count * sizeof *new->slots);
	if (!new->slots) {
		free(new);
		return NULL;
	}
	new->count = from->count;
	for (size_t i = 0; i < new->count; i++) {
		new->slots[i] = from->slots[i];
		new->slots[i].use = NULL;
		if (new->slots[i].open)
			new->slots[i].open->references++;
	}
	return new;
}

static void descriptors_release(struct tr_deps_descriptors *descriptors)
{
	if (!descriptors || --descriptors->references)
		return;
	for (size_t i = 0; i < descriptors->count; i++)
		tr_deps_open_release(descriptors->slots[i].open);
	free(descriptors->slots);
	free(descriptors);
}

struct tr_deps_slot *tr_deps_slot(const struct tr_deps_task *task, int64_t fd)
{
	struct tr_deps_descriptors *descriptors = task->descriptors;

	return fd >= 0 && (uint64_t)fd < descriptors->count && descriptors->slots[fd].open
		       ? &descriptors->slots[fd]
		       : NULL;
}

/* True if another descriptor of the task has the version, open for any of these modes. */
bool tr_deps_task_holds(const struct tr_deps_task *task, const struct tr_deps_version *version,
			unsigned mode, const struct tr_deps_slot *except)
{
	for (size_t i = 0; i < task->descriptors->count; i++) {
		const struct tr_deps_slot *slot = &task->descriptors->slots[i];
		if (slot != except && slot->open && slot->open->version == version &&
		    slot->open->mode & mode)
			return true;
	}
	return false;
}

struct tr_deps_use *tr_deps_slot_use(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
				     struct tr_deps_slot *slot)
{
	struct tr_deps_command *command = task->process->command;
	struct tr_deps_use *use = slot->use;

	if (use && use->command == command && use->version == slot->open->version)
		return use;
	use = tr_deps_get_use(tracker->graph, command, slot->open->version, slot->open->path);
	if (use && use->details)
		use->details->spelled = slot->open->spelled;
	return slot->use = use;
}

void tr_deps_slot_close(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			struct tr_deps_slot *slot)
{
	struct tr_deps_open *open = slot->open;

	if (!open)
		return;
	struct tr_deps_version *version = open->version;
	if (version && open->mode & TR_FILE_WRITES &&
	    !tr_deps_task_holds(task, version, TR_FILE_WRITES, slot)) {
		struct tr_deps_use *use = tr_deps_slot_use(tracker, task, slot);
		if (use && use->written && !use->mapped)
			tr_deps_mark_closed(tracker->graph, use);
		/* a command that holds only the read end of a pipe reads what others write */
		if (use && version->file->pipe &&
		    tr_deps_task_holds(task, version, TR_FILE_READS, slot))
			tr_deps_mark_read(tracker->graph, use, TR_EVIDENCE_OPENED);
	}
	/* one that holds only the write end writes, as tar does to the gzip that it has started */
	if (version && version->file->pipe && open->mode == TR_FILE_READS &&
	    tr_deps_task_holds(task, version, TR_FILE_WRITES, slot) &&
	    !tr_deps_task_holds(task, version, TR_FILE_READS, slot)) {
		struct tr_deps_use *use = tr_deps_slot_use(tracker, task, slot);
		if (use)
			tr_deps_mark_written(use, TR_EVIDENCE_OPENED);
	}
	slot->open = NULL;
	slot->use = NULL;
	tr_deps_open_release(open);
}

/* Takes over the reference to open. */
void tr_deps_slot_set(struct tr_deps_tracker *tracker, struct tr_deps_task *task, int64_t fd,
		      struct tr_deps_open *open, bool cloexec)
{
	struct tr_deps_descriptors *descriptors = task->descriptors;

	if (!open || fd < 0 || fd >= TR_DEPS_FDS_MAX) {
		tr_deps_open_release(open);
		return;
	}
	if ((uint64_t)fd >= descriptors->count) {
		size_t count = (size_t)fd + 8;
		struct tr_deps_slot *slots = realloc(descriptors->slots, count * sizeof *slots);
		if (!slots) {
			tracker->graph->failed = true;
			tr_deps_open_release(open);
			return;
		}
		memset(slots + descriptors->count, 0, (count - descriptors->count) * sizeof *slots);
		descriptors->slots = slots;
		descriptors->count = count;
	}
	struct tr_deps_slot *slot = &descriptors->slots[fd];
	tr_deps_slot_close(tracker, task, slot);
	*slot = (struct tr_deps_slot){ open, cloexec, NULL };
	/* a command that makes a pipe its descriptor 0, 1 or 2 will use it */
	if (fd > 2 || !open->version || !open->version->file->pipe)
		return;
	struct tr_deps_use *use = tr_deps_slot_use(tracker, task, slot);
	if (use && fd == 0 && open->mode & TR_FILE_READS)
		tr_deps_mark_read(tracker->graph, use, TR_EVIDENCE_OPENED);
	else if (use && fd && open->mode & TR_FILE_WRITES)
		tr_deps_mark_written(use, TR_EVIDENCE_OPENED);
}

struct tr_deps_task *tr_deps_task_find(struct tr_deps_tracker *tracker, struct tr_text id)
{
	const struct tr_deps_task *recent = tracker->recent;

	if (!recent || !tr_text_equal(id, (struct tr_text){ recent->id, recent->len }))
		tracker->recent = tr_map_get(&tracker->tasks, id);
	return tracker->recent;
}

void tr_deps_task_remove(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	tracker->recent = NULL;
	tr_map_take(&tracker->tasks, (struct tr_text){ task->id, task->len });
	free(task);
}

struct tr_deps_task *tr_deps_task_add(struct tr_deps_tracker *tracker, struct tr_text id)
{
	struct tr_deps_task *task = calloc(1, sizeof *task + id.len + 1);

	if (task) {
		task->number = tracker->task_count++;
		task->len = id.len;
		memcpy(task->id, id.data, id.len);
	}
	if (!task || !tr_map_put(&tracker->tasks, (struct tr_text){ task->id, id.len }, task)) {
		free(task);
		tracker->graph->failed = true;
		return NULL;
	}
	return task;
}

void tr_deps_end_command(struct tr_deps_tracker *tracker, struct tr_deps_command *command)
{
	command->ended = tracker->graph->now;
	for (struct tr_deps_use *use = command->uses; use; use = use->next_of_command)
		if (use->written && use->written_until == TR_DEPS_NEVER)
			tr_deps_mark_closed(tracker->graph, use);
	if (--command->owner->running == 0 && command->owner->program && tracker->program_ended)
		tracker->program_ended(tracker->context, command->owner);
}

/* Releases the process, directory and descriptors of the task. */
void tr_deps_task_end(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	if (task->process && --task->process->references == 0) {
		if (task->process->command) /* NULL if memory was exhausted when it began */
			tr_deps_end_command(tracker, task->process->command);
		free(task->process);
	}
	if (task->directory && --task->directory->references == 0)
		free(task->directory);
	descriptors_release(task->descriptors);
	task->process = NULL;
	task->directory = NULL;
	task->descriptors = NULL;
}

static struct tr_deps_directory *directory_new(const struct tr_deps_directory *from)
{
	struct tr_deps_directory *directory = malloc(sizeof *directory);

	if (directory)
		*directory = from ? *from : (struct tr_deps_directory){ .path = NULL };
	if (directory)
		directory->references = 1;
	return directory;
}

/* Gives a task its state, shared with or copied from the parent, or an unknown one. */
bool tr_deps_task_begin(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			const struct tr_deps_task *parent, bool thread, bool fs, bool files)
{
	struct tr_deps_graph *graph = tracker->graph;

	if (thread) {
		task->process = parent->process;
		task->process->references++;
	} else {
		struct tr_deps_command *command =
			tr_deps_add_command(graph, parent ? parent->process->command : NULL);
		task->process = malloc(sizeof *task->process);
		if (task->process)
			*task->process = (struct tr_deps_process){ 1, command };
		if (command)
			command->owner->running++;
	}
	if (parent && fs) {
		task->directory = parent->directory;
		task->directory->references++;
	} else {
		task->directory = directory_new(parent ? parent->directory : NULL);
	}
	if (parent && files) {
		task->descriptors = parent->descriptors;
		task->descriptors->references++;
	} else {
		task->descriptors = descriptors_new(parent ? parent->descriptors : NULL);
	}
	if (task->process && task->process->command && task->directory && task->descriptors)
		return true;
	graph->failed = true;
	return false;
}

/* Makes the descriptors of a task its own. False: memory is exhausted. */
bool tr_deps_task_unshare(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	if (task->descriptors->references == 1)
		return true;
	struct tr_deps_descriptors *own = descriptors_new(task->descriptors);
	if (!own)
		return !(tracker->graph->failed = true);
	task->descriptors->references--;
	task->descriptors = own;
	return true;
}

bool tr_deps_task_unshare_fs(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	if (task->directory->references == 1)
		return true;
	struct tr_deps_directory *own = directory_new(task->directory);
	if (!own)
		return !(tracker->graph->failed = true);
	task->directory->references--;
	task->directory = own;
	return true;
}

/* Copies the text of a cell; the copy is valid as long as the graph. */
struct tr_text tr_deps_keep_cell(struct tr_deps_tracker *tracker, const struct tr_cell *cell)
{
	char memory[64];
	struct tr_buffer to = tr_buffer_over(memory, sizeof memory);

	if (cell->type == TR_CELL_TEXT)
		return tr_deps_keep_text(tracker, cell->text);
	tr_cell_write(cell, &to);
	struct tr_text own = tr_arena_copy(&tracker->graph->arena, tr_buffer_text(&to));
	tracker->graph->failed |= to.failed || !own.data;
	tr_buffer_free(&to);
	return own;
}

struct tr_text tr_deps_keep_text(struct tr_deps_tracker *tracker, struct tr_text text)
{
	struct tr_text own = tr_arena_copy(&tracker->graph->arena, text);

	tracker->graph->failed |= !own.data;
	return own;
}

/* Counts an event of a use; the first one is kept with its record. */
void tr_deps_count_use(struct tr_deps_tracker *tracker, struct tr_deps_use *use, unsigned does,
		       const struct tr_record *record)
{
	if (!use)
		return;
	use->does |= (uint16_t)does;
	if (use->path)
		use->path->does |= (uint16_t)does;
	struct tr_deps_details *details = use->details;
	if (!details || details->count++ || details->task.data)
		return;
	tr_cell_number(&record->seq, &details->seq);
	details->time = tr_deps_keep_cell(tracker, &record->time);
	const struct tr_deps_command *program = tr_deps_program(use->command);
	if (program && record->task.type == TR_CELL_TEXT &&
	    tr_text_equal(record->task.text, program->task))
		details->task = program->task;
	else
		details->task = tr_deps_keep_cell(tracker, &record->task);
}
