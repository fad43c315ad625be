/* SPDX-License-Identifier: MIT */
/*
 * Makes paths absolute, as the tracer prints them. The directory that a path is relative to comes
 * from the record itself, if strace -y stated it, or from the task's earlier calls: chdir, open,
 * dup, fork and exec change what a task's directory and descriptors are (process/tree.h).
 *
 *	tr_etrace_where_follow	a record changes its task: one action for each call
 *	tr_etrace_where_join	a relative path and its directory -> an absolute path
 *	tr_etrace_where_clean	without "." and ".."; links are not resolved, as no disk is read
 */
#include "format/etrace/writer.h"

#include "format/etrace/line.h"

void tr_etrace_where_free(struct tr_etrace_where *where)
{
	tr_tasks_free(&where->tasks);
	tr_buffer_free(&where->path);
	*where = (struct tr_etrace_where){ 0 };
}

enum tr_etrace_control tr_etrace_where_control(struct tr_record *record)
{
	static const struct {
		const char *word;
		uint64_t number;
	} commands[] = {
		[TR_ETRACE_DUPFD] = { "F_DUPFD", 0 },
		[TR_ETRACE_DUPFD_CLOEXEC] = { "F_DUPFD_CLOEXEC", 1030 },
		[TR_ETRACE_SETFD] = { "F_SETFD", 2 },
	};
	uint64_t number;
	bool numbered = tr_etrace_field_uint(record, "cmd", &number);

	for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
		if (numbered ? number == commands[i].number
			     : tr_etrace_field_has(record, "cmd", commands[i].word, 0))
			return i;
	return TR_ETRACE_OTHER_CONTROL;
}

/* Returns the flags that decide what parent and child share, from words or from a number. */
static uint64_t fork_flags(struct tr_record *record)
{
	return (tr_etrace_field_has(record, "flags", "CLONE_FS", TR_FORK_FS) ? TR_FORK_FS : 0) |
	       (tr_etrace_field_has(record, "flags", "CLONE_FILES", TR_FORK_FILES) ? TR_FORK_FILES
										   : 0) |
	       (tr_etrace_field_has(record, "flags", "CLONE_THREAD", TR_FORK_THREAD)
			? TR_FORK_THREAD
			: 0);
}

struct tr_text tr_etrace_where_note(struct tr_record *record, const char *key, struct tr_error *err)
{
	const struct tr_value *value = tr_etrace_field(record, key, err);
	struct tr_text path = { NULL, 0 };

	if (!value || value->type != TR_REPR || value->as.items[0].type != TR_STRING)
		return path;
	path = tr_value_bytes(&value->as.items[0], record->arena);
	if (!path.data)
		tr_error_memory(err);
	if (!path.len || *path.data != '/')
		return (struct tr_text){ NULL, 0 };
	/* -yy: "/dev/null<char 1:3>" */
	for (size_t i = path.len; path.data[path.len - 1] == '>' && i > 1; i--)
		if (path.data[i - 1] == '<') {
			path.len = i - 1;
			break;
		}
	return path;
}

/* Paths. */

/* True if the value means the working directory: AT_FDCWD, its number -100, or no value. */
static bool is_cwd(const struct tr_value *value)
{
	const struct tr_value *machine = tr_etrace_machine_form(value);

	return !machine ||
	       (machine->type == TR_SYMBOL && machine->as.symbol->count == 1 &&
		tr_text_is(machine->as.symbol->names[0].text, "AT_FDCWD")) ||
	       (machine->type == TR_INT && machine->flags & TR_NEGATIVE &&
		machine->as.number == 100);
}

/*
 * Puts the directory of a descriptor into where->path, or nothing if it is unknown. A note of -y
 * with AT_FDCWD also shows where the task is.
 */
static void find_directory(struct tr_etrace_where *where, struct tr_record *record, const char *key,
			   struct tr_error *err)
{
	const struct tr_value *value = key ? tr_etrace_field(record, key, err) : NULL;
	struct tr_text note = { NULL, 0 };
	struct tr_task *task = NULL;
	uint64_t number, fd = 0;
	bool is_new;

	if (key)
		note = tr_etrace_where_note(record, key, err);
	if (tr_cell_number(&record->task, &number))
		task = tr_tasks_get(&where->tasks, number, &is_new);
	tr_buffer_reset(&where->path);
	if (note.data) {
		tr_buffer_put_text(&where->path, note);
		if (is_cwd(value) && task)
			tr_task_is_at(task, note);
	} else if (task && is_cwd(value)) {
		tr_directory_resolve(task->place->directory, &where->path);
	} else if (task && tr_etrace_field_uint(record, key, &fd)) {
		tr_directory_resolve(tr_files_get(task->files, fd), &where->path);
	}
}

/* Keeps a path in the arena of the record. */
static void copy_path(struct tr_record *record, const struct tr_buffer *from, struct tr_text *path,
		      struct tr_error *err)
{
	struct tr_text text = tr_arena_copy(record->arena, tr_buffer_text(from));

	if (from->failed || !text.data)
		tr_error_memory(err);
	else
		*path = text;
}

void tr_etrace_where_join(struct tr_etrace_where *where, struct tr_record *record,
			  const char *directory, struct tr_text *path, struct tr_error *err)
{
	struct tr_buffer *to = &where->path;

	if (path->len && *path->data == '/')
		return;
	find_directory(where, record, directory, err);
	if (err && err->cause)
		return;
	if (!to->len && !to->failed) {
		where->unresolved++;
		return;
	}
	if (path->len && to->len && to->data[to->len - 1] != '/')
		tr_buffer_put_byte(to, '/');
	tr_buffer_put_text(to, *path);
	copy_path(record, to, path, err);
}

void tr_etrace_where_clean(struct tr_record *record, struct tr_text *path, struct tr_error *err)
{
	struct tr_buffer clean = TR_BUFFER_INIT;

	if (!path->len || *path->data != '/')
		return;
	tr_directory_join(TR_TEXT("/"), *path, &clean);
	copy_path(record, &clean, path, err);
	tr_buffer_free(&clean);
}

bool tr_etrace_where_next(const struct tr_etrace_where *where, uint64_t number, uint64_t *fd)
{
	const struct tr_task *task = tr_tasks_find(&where->tasks, number);

	return task && tr_files_next(task->files, fd);
}

/* Records. */

/*
 * Notes that a descriptor is open from now on; directory NULL: unknown, or it is no directory. All
 * descriptors are noted, as close_range needs to know which ones are open. False: memory is
 * exhausted.
 */
static bool open_as(struct tr_task *task, uint64_t fd, struct tr_directory *directory, bool cloexec)
{
	if (!task->files)
		task->files = tr_files_new();
	return task->files && tr_files_open(task->files, fd, directory, cloexec);
}

/* Applies a call that opens a file. Whether it is a directory is unknown, so every path is kept. */
static bool open_file(struct tr_etrace_where *where, struct tr_task *task, struct tr_record *record,
		      bool cloexec)
{
	struct tr_field *how = tr_record_field(record, "how");
	struct tr_directory *directory = NULL;
	struct tr_error ignored;
	uint64_t fd;

	tr_error_clear(&ignored);
	if (!tr_etrace_field_uint(record, "return", &fd))
		return true;
	struct tr_text path = tr_etrace_where_note(record, "return", NULL);
	if (!path.data) {
		path = tr_etrace_field_text(record, "path", NULL);
		if (path.data)
			tr_etrace_where_join(where, record, "dirfd", &path, &ignored);
	}
	if (path.data && *path.data == '/')
		directory = tr_directory_new(&where->tasks.origins, path);
	if (how && how->text.data && memmem(how->text.data, how->text.len, "O_CLOEXEC", 9))
		cloexec = true;
	bool good = open_as(task, fd, directory, cloexec);
	tr_directory_release(directory);
	return good;
}

/* Applies dup and its variants. The copy has the directory of the original, and its own cloexec. */
static bool copy_file(struct tr_task *task, struct tr_record *record, bool cloexec)
{
	uint64_t from, to;

	if (!tr_etrace_field_uint(record, "return", &to))
		return true;
	bool known = tr_etrace_field_uint(record, "oldfd", &from) ||
		     tr_etrace_field_uint(record, "fd", &from);
	struct tr_directory *directory =
		known ? tr_directory_retain(tr_files_get(task->files, from)) : NULL;
	bool good = open_as(task, to, directory, cloexec);
	tr_directory_release(directory);
	return good;
}

/* Applies pipe and pipe2. */
static bool open_pipe(struct tr_task *task, struct tr_record *record, bool cloexec)
{
	const struct tr_value *fds = tr_etrace_field(record, "fds", NULL);

	for (size_t i = 0; fds && fds->type == TR_LIST && i < fds->count; i++) {
		const struct tr_value *fd = tr_etrace_machine_form(&fds->as.items[i]);
		if (fd->type == TR_UINT && !open_as(task, fd->as.number, NULL, cloexec))
			return false;
	}
	return true;
}

/* Applies fcntl: it copies a descriptor, or sets whether an exec closes it. */
static bool control_file(struct tr_task *task, struct tr_record *record)
{
	enum tr_etrace_control control = tr_etrace_where_control(record);
	uint64_t fd;

	if (control == TR_ETRACE_DUPFD || control == TR_ETRACE_DUPFD_CLOEXEC)
		return copy_file(task, record, control == TR_ETRACE_DUPFD_CLOEXEC);
	return control != TR_ETRACE_SETFD || !task->files ||
	       !tr_etrace_field_uint(record, "fd", &fd) ||
	       tr_files_set_cloexec(task->files, fd, fd,
				    tr_etrace_field_has(record, "arg", "FD_CLOEXEC", 1));
}

/* Applies close and close_range, which may close, mark for the next exec, or first stop sharing. */
static bool close_files(struct tr_task *task, struct tr_record *record, bool range)
{
	uint64_t first, last, fd;

	if (!tr_etrace_field_uint(record, range ? "first" : "fd", &first))
		return true;
	last = first;
	if (range && !tr_etrace_field_uint(record, "last", &last))
		return true;
	if (range && tr_etrace_field_has(record, "flags", "CLOSE_RANGE_UNSHARE", 2) &&
	    !tr_task_unshare(task, TR_FORK_FILES))
		return false;
	if (!task->files)
		return true;
	if (range && tr_etrace_field_has(record, "flags", "CLOSE_RANGE_CLOEXEC", 4))
		return tr_files_set_cloexec(task->files, first, last, true);
	for (fd = first; tr_files_next(task->files, &fd) && fd <= last; fd++)
		if (!tr_files_put(task->files, fd, NULL))
			return false;
	return true;
}

/* Applies chdir and fchdir. If the new directory is unknown, so are relative paths from now on. */
static void change_directory(struct tr_task *task, struct tr_record *record)
{
	bool by_path = tr_text_is(record->name.text, "chdir");
	struct tr_text path = by_path ? tr_etrace_field_text(record, "path", NULL)
				      : tr_etrace_where_note(record, "fd", NULL);
	uint64_t fd;

	if (by_path && path.data)
		tr_task_chdir(task, path);
	else if (path.data)
		tr_task_is_at(task, path);
	else
		tr_task_moves(task, !by_path && tr_etrace_field_uint(record, "fd", &fd)
					    ? tr_files_get(task->files, fd)
					    : NULL);
}

/* Moves the task to the path in that field, if it is absolute. */
static void set_directory(struct tr_task *task, struct tr_record *record, const char *key)
{
	struct tr_text path = tr_etrace_field_text(record, key, NULL);

	if (path.len && *path.data == '/')
		tr_task_is_at(task, path);
}

/*
 * The effects of calls on the directory and descriptors of their task. OTHER has none and has to be
 * 0; those up to COPY open descriptors and may have O_CLOEXEC.
 */
enum action { OTHER, OPEN, PIPE, COPY, CONTROL, CLOSE, CLOSE_RANGE, MOVE, GET_CWD, UNSHARE };

/* Returns the effect of the call of a record. */
static enum action find_action(const struct tr_record *record)
{
	static const struct {
		const char *call;
		enum action action;
	} actions[] = {
		{ "open", OPEN },	{ "openat", OPEN }, { "openat2", OPEN },
		{ "creat", OPEN },	{ "pipe", PIPE },   { "pipe2", PIPE },
		{ "dup", COPY },	{ "dup2", COPY },   { "dup3", COPY },
		{ "fcntl", CONTROL },	{ "close", CLOSE }, { "close_range", CLOSE_RANGE },
		{ "chdir", MOVE },	{ "fchdir", MOVE }, { "getcwd", GET_CWD },
		{ "unshare", UNSHARE },
	};

	if (record->name.type == TR_CELL_TEXT)
		for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
			if (tr_text_is(record->name.text, actions[i].call))
				return actions[i].action;
	return OTHER;
}

/* Applies a call that succeeded. False: memory is exhausted. */
static bool follow_call(struct tr_etrace_where *where, struct tr_task *task,
			struct tr_record *record, enum action action)
{
	bool cloexec = action <= COPY &&
		       tr_etrace_field_has(record, "flags", "O_CLOEXEC", TR_ETRACE_O_CLOEXEC);

	switch (action) {
	case OPEN:
		return open_file(where, task, record, cloexec);
	case PIPE:
		return open_pipe(task, record, cloexec);
	case COPY:
		return copy_file(task, record, cloexec);
	case CONTROL:
		return control_file(task, record);
	case CLOSE:
	case CLOSE_RANGE:
		return close_files(task, record, action == CLOSE_RANGE);
	case MOVE:
		change_directory(task, record);
		return true;
	case GET_CWD:
		set_directory(task, record, "buf");
		return true;
	default:
		return tr_task_unshare(task, fork_flags(record));
	}
}

enum tr_status tr_etrace_where_follow(struct tr_etrace_where *where, struct tr_record *record,
				      struct tr_error *err)
{
	bool sys = tr_text_is(record->kind, "sys"), is_exec = tr_text_is(record->kind, "exec");
	bool fork = tr_text_is(record->kind, "fork"), exit = tr_text_is(record->kind, "exit");
	enum action action = sys ? find_action(record) : OTHER;
	uint64_t number, child;
	bool is_new, good = true;

	if (!(action || is_exec || fork || exit) || !tr_cell_number(&record->task, &number))
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (exit) {
		struct tr_task *ended = tr_tasks_find(&where->tasks, number);
		if (ended)
			tr_tasks_exit(&where->tasks, ended);
		return TR_OK;
	}
	if (tr_record_field(record, "error") || tr_record_field(record, "failed"))
		return TR_OK;
	struct tr_task *task = tr_tasks_get(&where->tasks, number, &is_new);
	if (!task)
		return tr_error_memory(err);
	if (sys) {
		good = follow_call(where, task, record, action);
	} else if (is_exec) {
		tr_tasks_exec(&where->tasks, task);
		set_directory(task, record, "cwd");
		good = !task->files ||
		       (tr_task_unshare(task, TR_FORK_FILES) && tr_files_exec(task->files));
	} else if (tr_etrace_field_uint(record, "child", &child) && child != task->tid) {
		good = tr_tasks_fork(&where->tasks, task, task->place->directory, child,
				     fork_flags(record));
	}
	return good && !where->tasks.origins.failed ? TR_OK : tr_error_memory(err);
}
