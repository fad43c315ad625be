/* SPDX-License-Identifier: MIT */
/*
 * Tasks with their descriptors and commands, and the order of records: a record of a known task is
 * applied at once (put_known), others are pending until the fork record of their task is read
 * (put_fork), or until it is clear that the trace lacks it (expire_oldest).
 */
#include "deps/tracker.h"

#include <stdlib.h>
#include <string.h>

#include "deps/tracker_private.h"
#include "process/command.h"
#include "record/ask.h"
#include "record/literal.h"

enum {
	/*
	 * Records that are pending on a fork, which follows after a few records of its task. If the
	 * log lacks it, they must not be pending for long, because the order of uses matters.
	 */
	HELD_MAX = 1024,
	HELD_BYTES = 64 << 20,
};

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

/* True if another descriptor of the task has the version open in any of these modes. */
static bool task_holds(const struct tr_deps_task *task, const struct tr_deps_version *version,
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
	    !task_holds(task, version, TR_FILE_WRITES, slot)) {
		struct tr_deps_use *use = tr_deps_slot_use(tracker, task, slot);
		if (use && use->written && !use->mapped)
			tr_deps_mark_closed(tracker->graph, use);
		/* a command that holds only the read end of a pipe reads what others write */
		if (use && version->file->pipe && task_holds(task, version, TR_FILE_READS, slot))
			tr_deps_mark_read(tracker->graph, use, TR_EVIDENCE_OPENED);
	}
	/* one that holds only the write end writes, as tar does to the gzip that it has started */
	if (version && version->file->pipe && open->mode == TR_FILE_READS &&
	    task_holds(task, version, TR_FILE_WRITES, slot) &&
	    !task_holds(task, version, TR_FILE_READS, slot)) {
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

/* Finds a task by its id as trec spells it. NULL: unknown. */
static struct tr_deps_task *find_task(struct tr_deps_tracker *tracker, struct tr_text id)
{
	const struct tr_deps_task *recent = tracker->recent;

	if (!recent || !tr_text_equal(id, (struct tr_text){ recent->id, recent->len }))
		tracker->recent = tr_map_get(&tracker->tasks, id);
	return tracker->recent;
}

/* Frees a task that has ended. */
static void remove_task(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	tracker->recent = NULL;
	tr_map_take(&tracker->tasks, (struct tr_text){ task->id, task->len });
	free(task);
}

/* Adds a task. NULL: memory is exhausted. */
static struct tr_deps_task *add_task(struct tr_deps_tracker *tracker, struct tr_text id)
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

/* Ends a command, which completes what it wrote. */
static void end_command(struct tr_deps_tracker *tracker, struct tr_deps_command *command)
{
	command->ended = tracker->graph->now;
	for (struct tr_deps_use *use = command->uses; use; use = use->next_of_command)
		if (use->written && use->written_until == TR_DEPS_NEVER)
			tr_deps_mark_closed(tracker->graph, use);
	if (--command->owner->running == 0 && command->owner->program && tracker->program_ended)
		tracker->program_ended(tracker->context, command->owner);
}

/* Ends a task: drops its state, and ends its command if no other task runs it. */
static void end_task(struct tr_deps_tracker *tracker, struct tr_deps_task *task)
{
	if (task->process && --task->process->references == 0) {
		if (task->process->command) /* NULL if memory was exhausted when it began */
			end_command(tracker, task->process->command);
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

/*
 * Gives a task its state: a copy of the parent's, except for what it shares with the parent
 * (thread: the process; fs: the directory; files: the descriptors). parent NULL: unknown. False:
 * memory is exhausted.
 */
static bool begin_task(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
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

/* Copies a text, which is valid as long as the graph. graph->failed: memory is exhausted. */
static struct tr_text keep_text(struct tr_deps_tracker *tracker, struct tr_text text)
{
	struct tr_text own = tr_arena_copy(&tracker->graph->arena, text);

	tracker->graph->failed |= !own.data;
	return own;
}

/* Copies the text of a cell; the copy is valid as long as the graph. */
static struct tr_text keep_cell(struct tr_deps_tracker *tracker, const struct tr_cell *cell)
{
	char memory[64];
	struct tr_buffer to = tr_buffer_over(memory, sizeof memory);

	if (cell->type == TR_CELL_TEXT)
		return keep_text(tracker, cell->text);
	tr_cell_write(cell, &to);
	struct tr_text own = tr_arena_copy(&tracker->graph->arena, tr_buffer_text(&to));
	tracker->graph->failed |= to.failed || !own.data;
	tr_buffer_free(&to);
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
	details->time = keep_cell(tracker, &record->time);
	const struct tr_deps_command *program = tr_deps_program(use->command);
	if (program && record->task.type == TR_CELL_TEXT &&
	    tr_text_equal(record->task.text, program->task))
		details->task = program->task;
	else
		details->task = keep_cell(tracker, &record->task);
}

unsigned tr_deps_failed_use(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			    struct tr_deps_path *path, struct tr_text error,
			    const struct tr_record *record)
{
	/* other errors show that the file exists */
	bool missing = tr_text_is(error, "ENOENT") || tr_text_is(error, "ENOTDIR");
	struct tr_deps_use *use;

	use = tr_deps_get_use(tracker->graph, task->process->command, NULL, path);
	if (!use)
		return 0;
	tr_deps_count_use(tracker, use, missing ? TR_DOES_MISSING : TR_DOES_STAT, record);
	if (use->details && !use->details->error.data && error.len)
		use->details->error = keep_text(tracker, error);
	return missing ? TR_DOES_MISSING : TR_DOES_STAT;
}

/* Takes the first component from a text, with the slashes after it. */
static struct tr_text take_component(struct tr_text *text)
{
	struct tr_text first = { text->data, 0 };

	while (first.len < text->len && text->data[first.len] != '/')
		first.len++;
	text->data += first.len;
	text->len -= first.len;
	while (text->len && *text->data == '/')
		tr_text_skip(text, TR_TEXT("/"));
	return first;
}

bool tr_deps_read_proc(const struct tr_deps_tracker *tracker, const struct tr_deps_task *task,
		       struct tr_text *text, struct tr_deps_path **base,
		       const struct tr_deps_slot **slot, bool *own)
{
	static const char *const streams[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	struct tr_text rest = *text, name = TR_TEXT("fd");
	uint64_t fd = 0;

	if (tr_text_skip(&rest, TR_TEXT("/proc/"))) {
		name = take_component(&rest);
		if (!tr_text_is(name, "self") && !tr_text_is(name, "thread-self"))
			task = tr_map_get(&tracker->tasks, name);
		name = take_component(&rest);
		if (tr_text_is(name, "task")) {
			task = tr_map_get(&tracker->tasks, take_component(&rest));
			name = take_component(&rest);
		}
		if (!task || !task->process)
			return false;
	} else if (!tr_text_skip(&rest, TR_TEXT("/dev/fd/"))) {
		while (fd < 3 && !tr_text_is(rest, streams[fd]))
			fd++;
		rest.len = 0;
		name.len = fd < 3 ? 0 : name.len;
	}
	if (tr_text_is(name, "fd") && tr_decimal_read(take_component(&rest), TR_DEPS_FDS_MAX, &fd))
		name.len = 0;
	if (!name.len) {
		const struct tr_deps_slot *there = tr_deps_slot(task, (int64_t)fd);
		*own = !rest.len;
		*slot = *own ? there : NULL;
		*base = there ? there->open->path : NULL;
	} else if (tr_text_is(name, "cwd")) {
		*base = task->directory->path;
	} else if (tr_text_is(name, "root")) {
		*base = task->directory->root ? task->directory->root : tracker->graph->paths.root;
	} else if (tr_text_is(name, "exe") && tr_deps_program(task->process->command)) {
		*base = tr_deps_program(task->process->command)->executable;
	} else {
		return false;
	}
	*text = rest;
	return true;
}

/* Returns the field with that key as trec spells it; data NULL: there is none. */
static struct tr_text argument(struct tr_record *record, const char *key)
{
	const struct tr_field *field = tr_record_field(record, key);

	return field && !field->bad ? field->text : (struct tr_text){ NULL, 0 };
}

/*
 * Applies exec to the descriptors of a task: those without close-on-exec are inherited. The program
 * is assumed to use its standard streams, files that the shell has opened for it (3>file), and the
 * read ends of pipes to which it holds no write end.
 */
static void inherit(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
		    const struct tr_deps_command *before, const struct tr_record *record)
{
	for (size_t fd = 0; fd < task->descriptors->count; fd++) {
		struct tr_deps_slot *slot = &task->descriptors->slots[fd];
		struct tr_deps_open *open = slot->open;
		if (open && slot->cloexec) {
			slot->open = NULL;
			tr_deps_open_release(open);
		}
		slot->use = NULL;
	}
	for (size_t fd = 0; fd < task->descriptors->count; fd++) {
		struct tr_deps_slot *slot = &task->descriptors->slots[fd];
		struct tr_deps_open *open = slot->open;
		if (!open || !open->version)
			continue;
		bool pipe = open->version->file->pipe;
		bool redirected = fd > 2 && !pipe && open->opener == before && !before->program;
		bool end = fd > 2 && pipe && !task_holds(task, open->version, TR_FILE_WRITES, NULL);
		bool reads = open->mode & TR_FILE_READS && (fd == 0 || redirected || end);
		bool writes = open->mode & TR_FILE_WRITES && (fd == 1 || fd == 2 || redirected);
		if (!reads && !writes)
			continue;
		struct tr_deps_use *use = tr_deps_slot_use(tracker, task, slot);
		if (!use)
			return;
		if (reads)
			tr_deps_mark_read(tracker->graph, use, TR_EVIDENCE_PASSED);
		if (writes)
			tr_deps_mark_written(use, TR_EVIDENCE_PASSED);
		tr_deps_count_use(tracker, use,
				  (reads ? TR_DOES_READ : 0) | (writes ? TR_DOES_WRITE : 0),
				  record);
		if (use->details)
			use->details->count = 0; /* no call of the program used it */
	}
}

/* Applies an exec record of the task. Sets graph->failed if memory is exhausted. */
static void put_exec(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
		     struct tr_record *record, struct tr_deps_event *event)
{
	struct tr_deps_graph *graph = tracker->graph;
	struct tr_error err;
	struct tr_text name, cwd;

	tr_error_clear(&err);
	cwd = tr_ask_string(record, "cwd", &err);
	/*
	 * cwd does not begin in the root of a task that called chroot: the tracked directory is
	 * right
	 */
	if (cwd.data && cwd.len && *cwd.data == '/' &&
	    !(task->directory->root && task->directory->path))
		task->directory->path = tr_deps_paths_spelled(&graph->paths, NULL, cwd);
	name = tr_ask_cell(&record->name, record->arena, &err);
	if (err.cause == TR_CAUSE_MEMORY) {
		graph->failed = true;
		return;
	}
	struct tr_text error = argument(record, "error");
	struct tr_deps_path *path = NULL, *base = NULL;
	const struct tr_deps_slot *slot = NULL;
	struct tr_text rest = name;
	bool own = false;
	if (record->name.type == TR_CELL_TEXT && tr_text_starts(name, TR_TEXT("/proc/")) &&
	    tr_deps_read_proc(tracker, task, &rest, &base, &slot, &own) && base && !rest.len)
		path = base;
	else if (record->name.type == TR_CELL_TEXT)
		path = tr_deps_paths_resolved(&graph->paths, task->directory->path, name, true,
					      NULL);
	struct tr_deps_version *program = slot ? slot->open->version : NULL;
	if (program)
		path = base;
	event->path[0] = path;
	if (error.data) {
		if (path)
			event->does = tr_deps_failed_use(tracker, task, path, error, record);
		return;
	}
	struct tr_deps_command *before = task->process->command;
	struct tr_deps_command *command = tr_deps_add_command(graph, before);
	if (!command || !tr_deps_task_unshare(tracker, task))
		return;
	end_command(tracker, before);
	task->process->command = command;
	command->program = true;
	command->owner = command;
	command->running = 1;
	before->became = command;
	if (!tr_cell_number(&record->seq, &command->seq))
		command->seq = TR_DEPS_NO_SEQ;
	command->time = keep_cell(tracker, &record->time);
	command->task = keep_cell(tracker, &record->task);
	command->name = keep_cell(tracker, &record->name);
	command->shell = tr_command_is_shell(command->name);
	struct tr_text argv = argument(record, "argv");
	if (argv.data && !graph->without_arguments)
		command->argv = keep_text(tracker, argv);
	command->directory = task->directory->path;
	command->executable = path;
	if (!tracker->directory)
		tracker->directory = task->directory->path;
	for (int i = 0; i < 2 && !graph->failed; i++) {
		struct tr_text text = name;
		if (i == 1) { /* the interpreter of a script */
			text = tr_ask_string(record, "interp", &err);
			if (!text.data || tr_text_equal(text, name))
				break;
			path = tr_deps_paths_resolved(&graph->paths, task->directory->path, text,
						      true, NULL);
		}
		struct tr_deps_file *file = path ? tr_deps_file_at(graph, path) : NULL;
		if (program && i == 0) /* a program that fexecve starts may have no name */
			file = program->file;
		if (!file)
			continue;
		struct tr_deps_use *use = tr_deps_get_use(graph, command, file->version, path);
		if (!use)
			return;
		if (path)
			path->input |= !file->used && !file->created;
		file->used = true;
		tr_deps_mark_read(graph, use, TR_EVIDENCE_SEEN);
		tr_deps_count_use(tracker, use, TR_DOES_EXEC, record);
	}
	inherit(tracker, task, before, record);
	event->does = TR_DOES_EXEC;
}

/* Records. */

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
		    begin_task(tracker, task, NULL, false, false, false)) {
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
	struct tr_text child = argument(record, "child"), flags = argument(record, "flags");
	bool thread = has_flag(flags, "CLONE_THREAD");

	if (!child.data)
		return TR_OK;
	struct tr_deps_task *task = find_task(tracker, child);
	if (task == parent) /* the log is damaged: no process forks itself */
		return TR_OK;
	if (task && task->process) { /* its number is used again, and its end is not in the log */
		end_task(tracker, task);
	} else if (!task && !(task = add_task(tracker, child))) {
		return tr_error_memory(err);
	}
	if (!begin_task(tracker, task, parent, thread, has_flag(flags, "CLONE_FS"),
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
		put_exec(tracker, task, record, event);
	} else if (tr_text_is(record->kind, "fork")) {
		status = put_fork(tracker, task, record, err);
	} else if (tr_text_is(record->kind, "exit")) {
		end_task(tracker, task);
		if (!task->pending)
			remove_task(tracker, task);
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
		struct tr_deps_task *task = find_task(tracker, record.task.text);
		if (!task || !begin_task(tracker, task, NULL, false, false, false)) {
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
	struct tr_deps_task *task = id.data ? find_task(tracker, id) : NULL;
	if (id.data && (!task || !task->process) &&
	    (tr_text_is(record->kind, "sys") || tr_text_is(record->kind, "exec") ||
	     tr_text_is(record->kind, "fork") || tr_text_is(record->kind, "exit"))) {
		bool first = !tracker->tasks.count;
		if (!task && !(task = add_task(tracker, id)))
			return tr_error_memory(err);
		if (first && !begin_task(tracker, task, NULL, false, false, false))
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
	struct tr_deps_task *task = find_task(tracker, columns->task.text);
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
		end_task(tracker, task);
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
		end_task(tracker, task);
		free(task);
	}
	tr_map_free(&tracker->tasks);
	while (tracker->sent_count)
		tr_deps_open_release(tr_deps_message_take(tracker, 0));
	tr_pending_free(&tracker->held);
	tr_buffer_free(&tracker->line);
}
