/* SPDX-License-Identifier: MIT */
/*
 * The rules of the graph: the effects of system calls.
 *
 *	tr_deps_put_sys		reads the arguments of a call (file_call.h)
 *	  tr_deps_put_call	finds its paths; do_call applies it by the function for its kind
 */
#include "deps/tracker_private.h"

#include <string.h>

#include "deps/file_call.h"
#include "process/command.h"
#include "record/ask.h"

/* The effect of a call: what the functions below need to apply it to the graph. */
struct effect {
	struct tr_deps_tracker *tracker;
	struct tr_deps_graph *graph;
	struct tr_deps_task *task;
	struct tr_deps_command *command;
	const struct tr_record *record;
	const struct tr_file_call *call;
	struct tr_deps_event *event;
	struct tr_deps_path *path[2], *spelled[2];
	bool own; /* path[0] is a descriptor of a task, in /proc or /dev/fd */
	const struct tr_deps_slot *slot; /* of that descriptor; NULL: unknown */
};

static struct tr_deps_use *touch(struct effect *e, struct tr_deps_file *file,
				 struct tr_deps_path *path, unsigned does)
{
	struct tr_deps_use *use =
		tr_deps_get_use(e->graph, e->command, file ? file->version : NULL, path);

	tr_deps_count_use(e->tracker, use, does, e->record);
	e->event->does |= does;
	return use;
}

static void set_spelled(struct tr_deps_use *use, struct tr_deps_path *spelled)
{
	if (use->details)
		use->details->spelled = spelled;
}

/*
 * Returns the node of a path that the tracer has resolved; it begins in the tracer's root
 * directory.
 */
static struct tr_deps_path *real_path(struct effect *e, struct tr_text text)
{
	struct tr_deps_paths *paths = &e->graph->paths;
	struct tr_deps_path *top = paths->top;

	paths->top = NULL;
	struct tr_deps_path *path = tr_deps_paths_spelled(paths, NULL, text);
	paths->top = top;
	return path;
}

/* Finds both nodes of a path argument; they stay NULL if it is unknown. */
static void find_path(struct effect *e, int which, const struct tr_file_path *from)
{
	struct tr_deps_paths *paths = &e->graph->paths;
	struct tr_deps_path *base = e->task->directory->path;
	struct tr_text text = from->text;
	uint64_t too_long = paths->too_long;
	bool follow = !(e->call->flags & TR_FILE_NOFOLLOW) || e->call->flags & TR_FILE_FOLLOW;

	if (!text.data)
		return;
	bool in_root = e->call->flags & TR_FILE_IN_ROOT;
	bool relative = !text.len || *text.data != '/' || in_root;
	if (text.len > 8 && !in_root &&
	    (memcmp(text.data, "/proc/", 6) == 0 || memcmp(text.data, "/dev/", 5) == 0)) {
		const struct tr_deps_slot *slot = NULL;
		struct tr_text rest = text;
		bool own = false;
		bool known = tr_deps_read_proc(e->tracker, e->task, &rest, &base, &slot, &own);
		if (which == 0) {
			e->own = own;
			e->slot = slot;
		}
		if (known && base && (rest.len || follow)) {
			e->path[which] = base;
			e->spelled[which] = tr_deps_paths_spelled(paths, base, text);
			if (rest.len)
				e->path[which] =
					tr_deps_paths_resolved(paths, base, rest, follow, NULL);
			return;
		}
		base = NULL;
	}
	if (relative && from->dir != TR_FD_CWD) {
		const struct tr_deps_slot *slot = tr_deps_slot(e->task, from->dir);
		base = slot ? slot->open->path : NULL;
		e->slot = text.len || which ? e->slot : slot;
		if (from->dir_text.data)
			base = real_path(e, from->dir_text);
	} else if (relative && from->dir_text.data) {
		base = real_path(e, from->dir_text);
	}
	if (!text.len) {
		e->path[which] = e->spelled[which] =
			e->call->flags & TR_FILE_EMPTY_PATH ? base : NULL;
		return;
	}
	struct tr_deps_path *top = paths->top;
	if (in_root)
		paths->top = base;
	if (!in_root || base)
		e->path[which] =
			tr_deps_paths_resolved(paths, base, text, follow, &e->spelled[which]);
	paths->top = top;
	if (which == 0 && e->call->original.data)
		e->spelled[which] = tr_deps_paths_spelled(paths, base, e->call->original);
	if (!e->path[which] && paths->too_long == too_long && !paths->failed)
		e->tracker->unknown++;
}

/*
 * Begins a version for what the command writes. Keeps the old one if no other has used it, unless
 * the command has read what it discards now, as sort does if its output is also its input.
 */
static struct tr_deps_version *begin_version(struct effect *e, struct tr_deps_file *file,
					     bool keeps)
{
	struct tr_deps_version *version = file->version;
	const struct tr_deps_use *use = version->uses;
	bool discards = !keeps && version->older;

	while (use && use->command == e->command && use->written && !(discards && use->read))
		use = use->next_of_version;
	if (use || version->dropped || (!version->uses && !file->created && keeps))
		return tr_deps_add_version(e->graph, file, keeps);
	if (!keeps)
		version->older = NULL; /* and no other version is newer than that */
	return version;
}

/* Opens a named pipe: its content comes from other commands, and nothing is truncated. */
static unsigned open_pipe(struct effect *e, struct tr_deps_file *file)
{
	unsigned flags = e->call->flags & ~(unsigned)(TR_FILE_TRUNCATES | TR_FILE_APPENDS);
	unsigned modes = flags & (TR_FILE_READS | TR_FILE_WRITES);
	const struct tr_deps_use *use = file->version->uses;
	bool idle = use;

	/* of many uses only the newest are looked at, to bound the time */
	for (int i = 0; use && !file->both_ends && i < 64; i++, use = use->next_of_version) {
		idle = idle &&
		       (use->command->ended != TR_DEPS_NEVER || !(use->read || use->written));
		if (use->command == e->command)
			modes |= (use->read ? TR_FILE_READS : 0) |
				 (use->written ? TR_FILE_WRITES : 0);
	}
	if (file->path && modes == (TR_FILE_READS | TR_FILE_WRITES))
		file->both_ends = true;
	if (file->path && idle && !use) /* it is empty, because all its users have ended */
		tr_deps_add_version(e->graph, file, false);
	return flags;
}

static void put_open(struct effect *e)
{
	const struct tr_file_call *call = e->call;
	unsigned flags = call->flags;
	struct tr_deps_path *path = e->path[0];
	struct tr_deps_file *file = path ? path->file : NULL;
	struct tr_deps_version *version;

	if (e->own) {
		if (!e->slot)
			return;
		path = e->slot->open->path;
		version = e->slot->open->version;
		file = version ? version->file : NULL;
	} else if (!path && !(flags & TR_FILE_UNNAMED)) {
		return;
	} else if (flags & TR_FILE_UNNAMED) {
		path = NULL;
		file = tr_deps_add_file(e->graph, NULL);
		if (file)
			file->created = true;
	} else if (flags & TR_FILE_PATH_ONLY || flags & TR_FILE_DIRECTORY ||
		   (path->directory && !(flags & TR_FILE_WRITES)) ||
		   (path->special && !(file && file->pipe))) {
		path->directory |= (flags & TR_FILE_DIRECTORY) != 0;
		touch(e, NULL, path,
		      flags & TR_FILE_PATH_ONLY ? TR_DOES_STAT
		      : path->directory		? TR_DOES_LIST
		      : flags & TR_FILE_WRITES	? TR_DOES_WRITE
						: TR_DOES_READ);
		file = NULL;
	} else if (!file) {
		bool fresh =
			flags & TR_FILE_CREATES && (flags & TR_FILE_EXCLUSIVE || !path->exists);
		file = tr_deps_file_at(e->graph, path);
		if (file && fresh) {
			file->created = true;
			file->created_assumed = !(flags & TR_FILE_EXCLUSIVE);
			e->event->does |= TR_DOES_CREATE;
		}
	}
	if (file && file->pipe)
		flags = open_pipe(e, file);
	struct tr_deps_open *open =
		tr_deps_open_new(e->tracker, e->command, file ? file->version : NULL, path,
				 flags & (TR_FILE_READS | TR_FILE_WRITES));
	if (!open || e->graph->failed)
		return;
	open->spelled = e->spelled[0] ? e->spelled[0] : path;
	if (file && flags & TR_FILE_READS &&
	    !(flags & (TR_FILE_TRUNCATES | TR_FILE_UNNAMED) || e->event->does & TR_DOES_CREATE)) {
		if (path && !file->pipe)
			path->input |= !file->used && !file->created;
		struct tr_deps_use *use = touch(e, file, path, TR_DOES_READ);
		if (use) {
			set_spelled(use, open->spelled);
			tr_deps_mark_read(e->graph, use, TR_EVIDENCE_OPENED);
		}
	}
	if (file && flags & TR_FILE_WRITES && !e->graph->failed) {
		unsigned does = TR_DOES_WRITE | (e->event->does & TR_DOES_CREATE);
		does |= flags & TR_FILE_TRUNCATES ? TR_DOES_TRUNCATE : 0;
		does |= flags & TR_FILE_APPENDS ? TR_DOES_APPEND : 0;
		if (!file->pipe)
			open->version = begin_version(e, file, !(flags & TR_FILE_TRUNCATES));
		struct tr_deps_use *use = open->version ? touch(e, file, path, does) : NULL;
		if (use) {
			set_spelled(use, open->spelled);
			tr_deps_mark_written(use, TR_EVIDENCE_OPENED);
		}
	}
	if (file)
		file->used = true;
	tr_deps_slot_set(e->tracker, e->task, call->result, open, flags & TR_FILE_CLOEXEC);
}

static void add_bytes(uint64_t *sum, int64_t bytes, bool *known)
{
	if (bytes < 0) /* the trace does not contain the result of the call */
		return;
	*known = true;
	if (__builtin_add_overflow(*sum, (uint64_t)bytes, sum))
		*sum = UINT64_MAX;
}

/* Adds the bytes that read(2), write(2) or a similar call moved through any descriptor. */
static void count_bytes(const struct effect *e)
{
	struct tr_deps_graph *graph = e->graph;
	enum tr_file_op op = e->call->op;

	if (tr_text_is(e->record->name.text, "fallocate") || /* its result is not a size */
	    tr_text_is(e->record->name.text, "ioctl"))
		return;
	if (op == TR_FILE_READ || op == TR_FILE_COPY || op == TR_FILE_RECEIVE)
		add_bytes(&e->command->bytes_read, e->call->result, &graph->has_reads);
	if (op == TR_FILE_WRITE || op == TR_FILE_COPY || op == TR_FILE_SEND)
		add_bytes(&e->command->bytes_written, e->call->result, &graph->has_writes);
}

/* Adds a transfer of data through a descriptor: read(2), write(2) and similar calls. */
static void put_transfer(struct effect *e, int64_t fd, bool writes, unsigned does)
{
	struct tr_deps_slot *slot = tr_deps_slot(e->task, fd);
	struct tr_deps_use *use;

	if (!slot || !slot->open->version || !(use = tr_deps_slot_use(e->tracker, e->task, slot)))
		return;
	if (writes)
		tr_deps_mark_written(use, TR_EVIDENCE_SEEN);
	else
		tr_deps_mark_read(e->graph, use, TR_EVIDENCE_SEEN);
	use->version->transferred |= !writes;
	struct tr_deps_file *file = use->version->file;
	/* no command of the trace has written these data: the file is older than the trace */
	if (!writes && file->created_assumed && e->call->result > 0 && !(does & TR_DOES_MAP) &&
	    use->path && use->version->written != TR_EVIDENCE_SEEN && !use->version->older) {
		file->created = file->created_assumed = false;
		use->path->input = true;
	}
	tr_deps_count_use(e->tracker, use, does, e->record);
	e->event->does |= does;
	if (!e->event->path[0])
		e->event->path[0] = slot->open->path;
}

/* True for a device, socket or pipe; false for another file in a directory of such files. */
static bool has_type(const struct tr_deps_path *path)
{
	return path->special && !(path->parent && (!path->parent->parent || path->parent->special));
}

/* A directory loses its name. The name stays hidden, unless it has also been that of a file. */
static void leave_directory(struct tr_deps_path *path)
{
	path->was_directory = !path->last || path->last == path->file;
	path->directory = false;
}

/* Moves the file, link or directory that a path names to its new path. */
static void move_one(struct effect *e, struct tr_deps_path *from, struct tr_deps_path *to)
{
	struct tr_deps_file *file = from->file;
	bool type = has_type(from);

	to->exists |= from->exists;
	from->exists = false;
	if (type || has_type(to)) {
		to->special = type;
		from->special = false;
	}
	to->directory |= from->directory;
	if (from->directory)
		leave_directory(from);
	if (from->link.data) {
		if (to->file)
			to->file->replaced = true;
		tr_deps_unbind(to);
		tr_deps_paths_set_link(&e->graph->paths, to, from->link);
		from->link.data = NULL;
	}
	if (!file)
		return;
	tr_deps_bind(to, file);
	tr_deps_unbind(from);
	from->moved = true;
	file->path = to;
}

/* Returns the first of these siblings that has something to move. */
static struct tr_deps_path *movable(struct tr_deps_path *path)
{
	while (path && !path->file && !path->children && !path->link.data && !path->exists)
		path = path->next;
	return path;
}

/* Moves the names of all files below a directory, without recursion: a path can be very deep. */
static void move_below(struct effect *e, struct tr_deps_path *from, struct tr_deps_path *to)
{
	struct tr_deps_path *path = from, *there = to;

	for (;;) {
		struct tr_deps_path *next = movable(path->children);
		for (; !next && path != from; path = path->parent) {
			next = movable(path->next);
			there = there->parent;
		}
		if (!next)
			break;
		path = next;
		there = tr_deps_paths_spelled(&e->graph->paths, there, path->name);
		if (!there)
			return;
		move_one(e, path, there);
	}
	to->directory = true;
	leave_directory(from);
}

static void move_held(struct effect *e, struct tr_deps_path **held, const struct tr_deps_path *from,
		      struct tr_deps_path *to)
{
	struct tr_buffer *text = &e->tracker->line;
	size_t skipped;

	if (!*held || !tr_deps_path_is_below(*held, from))
		return;
	if (*held == from) {
		*held = to;
		return;
	}
	tr_buffer_reset(text);
	tr_deps_path_write(from, text);
	skipped = text->len + (from->parent ? 1 : 0);
	tr_buffer_reset(text);
	tr_deps_path_write(*held, text);
	struct tr_deps_path *path = NULL;
	if (!text->failed)
		path = tr_deps_paths_spelled(
			&e->graph->paths, to,
			(struct tr_text){ text->data + skipped, text->len - skipped });
	*held = path ? path : *held;
}

/* Updates the working directories and directory descriptors of tasks that a rename moves. */
static void move_holders(struct effect *e, const struct tr_deps_path *from, struct tr_deps_path *to)
{
	const struct tr_deps_task *task;
	size_t position = 0;

	while ((task = tr_map_next(&e->tracker->tasks, &position))) {
		if (!task->process)
			continue;
		move_held(e, &task->directory->path, from, to);
		for (size_t fd = 0; fd < task->descriptors->count; fd++) {
			struct tr_deps_open *open = task->descriptors->slots[fd].open;
			if (open && !open->version)
				move_held(e, &open->path, from, to);
		}
	}
}

static bool is_directory(const struct tr_deps_path *path)
{
	const struct tr_deps_path *child = path->children;

	while (child && !child->exists)
		child = child->next;
	return path->directory || child;
}

/* Moves a name and, if it is a directory, everything below it. */
static void move(struct effect *e, struct tr_deps_path *from, struct tr_deps_path *to)
{
	if (from->file || !is_directory(from)) {
		if (!from->link.data)
			tr_deps_file_at(e->graph, from);
		move_one(e, from, to);
	} else if (!tr_deps_path_is_below(to, from)) {
		move_below(e, from, to);
		move_holders(e, from, to);
	}
}

static void put_rename(struct effect *e)
{
	struct tr_deps_path *from = e->path[0], *to = e->path[1];

	if (!from || !to || from == to)
		return;
	if (from->file && from->file == to->file) /* two names of one file: rename does nothing */
		return;
	if (e->call->flags & TR_FILE_EXCHANGE) {
		struct tr_deps_path *aside = tr_deps_paths_detached(&e->graph->paths);
		if (!aside)
			return;
		move(e, from, aside);
		move(e, to, from);
		move(e, aside, to);
		from->exists = true;
	} else {
		move(e, from, to);
		from->exists = false;
	}
	to->exists = true;
	struct tr_deps_use *use = touch(e, to->file, to, TR_DOES_RENAME);
	if (use && use->details)
		use->details->from = from;
}

static void put_delete(struct effect *e)
{
	struct tr_deps_path *path = e->path[0];

	path->exists = false;
	if (has_type(path))
		path->special = false;
	if (path->link.data) {
		path->link.data = NULL;
		touch(e, NULL, path, TR_DOES_DELETE);
		return;
	}
	if (path->directory || e->call->flags & TR_FILE_DIRECTORY) {
		leave_directory(path);
		tr_deps_unbind(path); /* open(2) need not show that it opened a directory */
		touch(e, NULL, path, TR_DOES_DELETE);
		return;
	}
	struct tr_deps_file *file = tr_deps_file_at(e->graph, path);
	if (!file)
		return;
	touch(e, file, path, TR_DOES_DELETE);
	tr_deps_unbind(path);
}

static void put_truncate(struct effect *e)
{
	struct tr_deps_slot *slot = tr_deps_slot(e->task, e->call->fd);
	struct tr_deps_path *path = e->path[0];
	struct tr_deps_file *file = NULL;

	if (path)
		file = tr_deps_file_at(e->graph, path);
	else if (slot && slot->open->version)
		file = slot->open->version->file;
	if (!file || !begin_version(e, file, !e->call->empty))
		return;
	path = path ? path : slot->open->path;
	if (slot)
		slot->open->version = file->version;
	file->used = true;
	struct tr_deps_use *use = touch(e, file, path, TR_DOES_TRUNCATE | TR_DOES_WRITE);
	if (use)
		tr_deps_mark_written(use, TR_EVIDENCE_SEEN);
	if (use && !slot)
		tr_deps_mark_closed(e->graph, use);
	e->event->path[0] = path;
}

static void put_pipe(struct effect *e)
{
	bool sockets = e->call->op == TR_FILE_SOCKETS;
	bool known = e->call->fd_count == 2 && e->call->fds[1] >= 0;
	struct tr_deps_file *file = known ? tr_deps_add_file(e->graph, NULL) : NULL;

	e->tracker->cut_pipes += !known;

	if (!file)
		return;
	file->pipe = file->created = true;
	for (int end = 0; end < 2; end++) {
		unsigned mode = end == 0 ? TR_FILE_READS : TR_FILE_WRITES;
		mode = sockets ? TR_FILE_READS | TR_FILE_WRITES : mode;
		struct tr_deps_open *open =
			tr_deps_open_new(e->tracker, e->command, file->version, NULL, mode);
		tr_deps_slot_set(e->tracker, e->task, e->call->fds[end], open,
				 e->call->flags & TR_FILE_CLOEXEC);
	}
	struct tr_deps_use *use =
		sockets ? NULL : tr_deps_get_use(e->graph, e->command, file->version, NULL);
	const struct tr_deps_command *program = tr_deps_program(e->command);
	/* the standard input that make passes to parallel commands is a pipe without a writer */
	if (use && program && program->shell)
		tr_deps_mark_written(use, TR_EVIDENCE_HELD);
}

static void put_dup(struct effect *e)
{
	const struct tr_file_call *call = e->call;
	const struct tr_deps_slot *slot = tr_deps_slot(e->task, call->fd);
	int64_t to = call->result >= 0 ? call->result : call->other_fd;
	struct tr_deps_slot *old = tr_deps_slot(e->task, to);

	if (to == call->fd)
		return;
	if (!slot) { /* the file is unknown, but dup2 closes the descriptor with the new number */
		if (old)
			tr_deps_slot_close(e->tracker, e->task, old);
		return;
	}
	slot->open->references++;
	tr_deps_slot_set(e->tracker, e->task, to, slot->open, call->flags & TR_FILE_CLOEXEC);
}

static void close_range(struct effect *e)
{
	struct tr_deps_task *task = e->task;
	int64_t last = e->call->other_fd;

	if (e->call->flags & TR_FILE_FILES && !tr_deps_task_unshare(e->tracker, task))
		return;
	for (size_t fd = 0; fd < task->descriptors->count; fd++) {
		struct tr_deps_slot *slot = &task->descriptors->slots[fd];
		if ((int64_t)fd < e->call->fd || (last >= 0 && (int64_t)fd > last))
			continue;
		if (e->call->flags & TR_FILE_CLOEXEC)
			slot->cloexec = true;
		else
			tr_deps_slot_close(e->tracker, task, slot);
	}
}

/* Keeps a descriptor in a message until it is received; if there are too many, drops the oldest. */
static void send_one(struct tr_deps_tracker *tracker, struct tr_deps_open *open,
		     struct tr_deps_open *socket)
{
	if (tracker->sent_count == TR_DEPS_SENT_MAX)
		tr_deps_open_release(tr_deps_message_take(tracker, 0));
	open->references++;
	if (socket)
		socket->references++;
	tracker->sent[tracker->sent_count++] = (struct tr_deps_message){ open, socket };
}

/*
 * Receives descriptors, in the order in which they were sent, at the other end of their socket
 * pair. The ends of other sockets are unknown, so all of these count as one pair.
 */
static void put_message(struct effect *e)
{
	struct tr_deps_tracker *tracker = e->tracker;
	const struct tr_deps_slot *slot = tr_deps_slot(e->task, e->call->fd);
	struct tr_deps_open *socket = slot && slot->open->version ? slot->open : NULL;
	bool sends = e->call->op == TR_FILE_SEND;

	put_transfer(e, e->call->fd, sends, sends ? TR_DOES_WRITE : TR_DOES_READ);
	for (unsigned i = 0; i < e->call->fd_count; i++) {
		slot = tr_deps_slot(e->task, e->call->fds[i]);
		if (sends && slot)
			send_one(tracker, slot->open, socket);
		for (unsigned k = 0; !sends && k < tracker->sent_count; k++) {
			const struct tr_deps_open *from = tracker->sent[k].socket;
			if (!from != !socket ||
			    (from &&
			     (from == socket || from->version->file != socket->version->file)))
				continue;
			tr_deps_slot_set(tracker, e->task, e->call->fds[i],
					 tr_deps_message_take(tracker, k),
					 e->call->flags & TR_FILE_CLOEXEC);
			break;
		}
	}
}

/* Sets the type of a path to the one that stat or mknod shows. */
static void set_type(struct effect *e, struct tr_deps_path *path)
{
	if (e->call->type == TR_FILE_IS_PIPE && !path->special) {
		struct tr_deps_file *file = tr_deps_file_at(e->graph, path);
		if (file)
			file->pipe = file->created = true;
	}
	path->special |= e->call->type == TR_FILE_IS_SPECIAL || e->call->type == TR_FILE_IS_PIPE;
}

static void put_stat(struct effect *e)
{
	struct tr_deps_path *path = e->path[0];
	const struct tr_deps_slot *slot = tr_deps_slot(e->task, e->call->fd);

	if (!path && slot)
		path = slot->open->path;
	if (!path)
		return;
	path->exists = true;
	path->directory |= e->call->type == TR_FILE_IS_DIRECTORY;
	set_type(e, path);
	struct tr_deps_use *use = touch(e, path->file, path, TR_DOES_STAT);
	if (use && e->spelled[0])
		set_spelled(use, e->spelled[0]);
	e->event->path[0] = path;
}

static void change_directory(struct effect *e)
{
	const struct tr_deps_slot *slot = tr_deps_slot(e->task, e->call->fd);
	struct tr_deps_path *path = e->path[0];

	if (e->call->fd != TR_FD_NONE) {
		path = slot ? slot->open->path : NULL;
		if (e->call->fd_text.data)
			path = real_path(e, e->call->fd_text);
	}
	e->task->directory->path = path;
	if (!path)
		return;
	path->directory = true;
	if (!e->command->children) /* later changes, as at the end of make -C, do not count */
		e->command->moved_to = path;
	touch(e, NULL, path, TR_DOES_STAT);
	e->event->path[0] = path;
}

static void add_node(struct effect *e)
{
	struct tr_deps_path *path = e->path[0], *to = e->path[1];
	struct tr_deps_use *use;

	switch (e->call->op) {
	case TR_FILE_MKDIR:
		path->directory = true;
		path->exists = true;
		touch(e, NULL, path, TR_DOES_CREATE);
		return;
	case TR_FILE_MKNOD:
		set_type(e, path);
		path->exists = true;
		if (!path->special && tr_deps_file_at(e->graph, path))
			path->file->created = true;
		touch(e, path->file, path, TR_DOES_CREATE);
		return;
	case TR_FILE_SYMLINK:
		if (to->file)
			tr_deps_unbind(to);
		to->exists = true;
		tr_deps_paths_set_link(&e->graph->paths, to, e->call->path[0].text);
		touch(e, NULL, to, TR_DOES_CREATE | TR_DOES_LINK);
		e->event->path[0] = to;
		e->event->path[1] = NULL;
		return;
	default: /* TR_FILE_LINK */
		if (e->slot && e->slot->open->version && !e->slot->open->path) {
			/* a file that was opened without a name gets a name */
			e->slot->open->path = e->slot->open->spelled = to;
			tr_deps_bind(to, e->slot->open->version->file);
			bool written = e->slot->open->opener == e->command &&
				       e->slot->open->mode & TR_FILE_WRITES;
			touch(e, to->file, to,
			      TR_DOES_CREATE | TR_DOES_LINK | (written ? TR_DOES_WRITE : 0));
			return;
		}
		if (!path || !tr_deps_file_at(e->graph, path))
			return;
		struct tr_deps_path *first = path->file->path;
		tr_deps_bind(to, path->file);
		path->file->path = first;
		use = touch(e, to->file, to, TR_DOES_LINK);
		if (use && use->details)
			use->details->from = path;
	}
}

static void do_call(struct effect *e)
{
	const struct tr_file_call *call = e->call;
	struct tr_deps_slot *slot = tr_deps_slot(e->task, call->fd);

	count_bytes(e);
	switch (call->op) {
	case TR_FILE_OPEN:
	case TR_FILE_MEMORY:
		put_open(e);
		break;
	case TR_FILE_CLOSE:
		if (slot)
			tr_deps_slot_close(e->tracker, e->task, slot);
		break;
	case TR_FILE_CLOSE_RANGE:
		close_range(e);
		break;
	case TR_FILE_CONTROL:
		if (!(call->flags & TR_FILE_DUPLICATES)) {
			if (slot)
				slot->cloexec = call->flags & TR_FILE_CLOEXEC;
			break;
		} /* fall through */
	case TR_FILE_DUP:
		put_dup(e);
		break;
	case TR_FILE_PIPE:
	case TR_FILE_SOCKETS:
		put_pipe(e);
		break;
	case TR_FILE_RENAME:
		put_rename(e);
		break;
	case TR_FILE_DELETE:
		if (e->path[0])
			put_delete(e);
		break;
	case TR_FILE_LINK:
	case TR_FILE_SYMLINK:
		if (e->path[1])
			add_node(e);
		break;
	case TR_FILE_MKDIR:
	case TR_FILE_MKNOD:
		if (e->path[0])
			add_node(e);
		break;
	case TR_FILE_TRUNCATE:
		put_truncate(e);
		break;
	case TR_FILE_READLINK:
		if (e->path[0] && !e->path[0]->special && call->path[1].text.data &&
		    !e->path[0]->file && call->result == (int64_t)call->path[1].text.len)
			tr_deps_paths_set_link(&e->graph->paths, e->path[0], call->path[1].text);
		put_stat(e);
		break;
	case TR_FILE_STAT:
		put_stat(e);
		break;
	case TR_FILE_LIST:
		if (slot && slot->open->path) {
			slot->open->path->directory = true;
			touch(e, NULL, slot->open->path, TR_DOES_LIST);
			e->event->path[0] = slot->open->path;
		}
		break;
	case TR_FILE_CHDIR:
		change_directory(e);
		break;
	case TR_FILE_READ:
		put_transfer(e, call->fd, false, TR_DOES_READ);
		break;
	case TR_FILE_WRITE:
		put_transfer(e, call->fd, true, TR_DOES_WRITE);
		break;
	case TR_FILE_COPY:
		put_transfer(e, call->fd, false, TR_DOES_READ);
		put_transfer(e, call->other_fd, true, TR_DOES_WRITE);
		break;
	case TR_FILE_MAP:
		if (slot && slot->open->mode & TR_FILE_READS)
			put_transfer(e, call->fd, false, TR_DOES_READ | TR_DOES_MAP);
		if (slot && call->flags & TR_FILE_SHARED && call->flags & TR_FILE_WRITES &&
		    slot->open->mode & TR_FILE_WRITES) {
			put_transfer(e, call->fd, true, TR_DOES_WRITE | TR_DOES_MAP);
			if (slot->use && slot->use->written)
				slot->use->mapped = true;
		}
		break;
	case TR_FILE_SEND:
	case TR_FILE_RECEIVE:
		put_message(e);
		break;
	case TR_FILE_UNSHARE:
		if (call->flags & TR_FILE_FILES)
			tr_deps_task_unshare(e->tracker, e->task);
		if (call->flags & TR_FILE_FS)
			tr_deps_task_unshare_fs(e->tracker, e->task);
		break;
	case TR_FILE_CHROOT:
		e->task->directory->root = e->path[0];
		put_stat(e);
		break;
	case TR_FILE_MOUNT:
		e->tracker->mounts++;
		break;
	case TR_FILE_EXEC:
		break;
	}
}

void tr_deps_put_call(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
		      const struct tr_record *record, const struct tr_file_call *call,
		      struct tr_deps_event *event)
{
	struct effect e = { .tracker = tracker,
			    .graph = tracker->graph,
			    .task = task,
			    .command = task->process->command,
			    .record = record,
			    .call = call,
			    .event = event };
	/* logs without file calls also have these */
	tracker->calls += call->op != TR_FILE_CHDIR && call->op != TR_FILE_EXEC &&
			  call->op != TR_FILE_UNSHARE && call->op != TR_FILE_CHROOT &&
			  call->op != TR_FILE_MOUNT;
	if (call->op != TR_FILE_SYMLINK)
		find_path(&e, 0, &call->path[0]);
	if (call->op != TR_FILE_READLINK)
		find_path(&e, 1, &call->path[1]);
	if (call->op == TR_FILE_OPEN && call->result_text.data)
		e.path[0] = real_path(&e, call->result_text);
	event->path[0] = e.path[0];
	event->path[1] = e.path[1];
	if (!call->error.data)
		do_call(&e);
	else if (e.path[0])
		event->does = tr_deps_failed_use(tracker, task, e.path[0], call->error, record);
}

enum tr_status tr_deps_put_sys(struct tr_deps_tracker *tracker, struct tr_deps_task *task,
			       struct tr_record *record, struct tr_deps_event *event,
			       struct tr_error *err)
{
	struct tr_file_call call;
	enum tr_status status = tr_file_call_read(record, &call, err);

	if (status != TR_OK)
		return status == TR_END ? TR_OK : status;
	tr_deps_put_call(tracker, task, record, &call, event);
	return TR_OK;
}
