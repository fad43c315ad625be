/* SPDX-License-Identifier: MIT */
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

static uint64_t fork_flags(struct tr_record *record)
{
	return (tr_etrace_field_has(record, "flags", "CLONE_FS", TR_FORK_FS) ? TR_FORK_FS : 0) |
	       (tr_etrace_field_has(record, "flags", "CLONE_FILES", TR_FORK_FILES) ? TR_FORK_FILES
										   : 0) |
	       (tr_etrace_field_has(record, "flags", "CLONE_THREAD", TR_FORK_THREAD)
			? TR_FORK_THREAD
			: 0);
}

bool tr_etrace_where_note(struct tr_record *record, const char *key, struct tr_text *path,
			  struct tr_error *err)
{
	const struct tr_value *value;

	*path = (struct tr_text){ NULL, 0 };
	if (!tr_etrace_field_value(record, key, &value, err))
		return false;
	if (!value || value->type != TR_REPR || value->as.items[0].type != TR_STRING)
		return true;
	*path = tr_string_bytes(value->as.items[0].text, record->arena);
	if (!path->data) {
		tr_error_memory(err);
		return false;
	}
	if (!path->len || *path->data != '/')
		path->data = NULL;
	/* -yy: "/dev/null<char 1:3>" */
	for (size_t i = path->len; path->data && path->data[path->len - 1] == '>' && i > 1; i--)
		if (path->data[i - 1] == '<') {
			path->len = i - 1;
			break;
		}
	return true;
}

/* Paths. */

static bool is_cwd(const struct tr_value *value)
{
	const struct tr_value *machine = value ? tr_etrace_machine_form(value) : NULL;

	return !machine ||
	       (machine->type == TR_SYMBOL && machine->as.symbol->count == 1 &&
		tr_text_is(machine->as.symbol->names[0].text, "AT_FDCWD")) ||
	       (machine->type == TR_INT && machine->flags & TR_NEGATIVE &&
		machine->as.number == 100);
}

/* Puts the directory into where->path, or nothing if it is unknown. */
static bool find_directory(struct tr_etrace_where *where, struct tr_record *record, const char *key,
			   struct tr_error *err)
{
	const struct tr_value *value;
	struct tr_text note;
	uint64_t number, fd = 0;
	bool is_new;

	tr_buffer_reset(&where->path);
	if (!tr_etrace_field_value(record, key, &value, err) ||
	    !tr_etrace_where_note(record, key, &note, err))
		return false;
	struct tr_task *task = tr_cell_number(&record->task, &number)
				       ? tr_tasks_get(&where->tasks, number, &is_new)
				       : NULL;
	if (note.data) {
		tr_buffer_put_text(&where->path, note);
		if (is_cwd(value) && task)
			tr_task_is_at(task, note);
	} else if (task && is_cwd(value)) {
		tr_directory_resolve(task->place->directory, &where->path);
	} else if (task && tr_etrace_field_uint(record, key, &fd)) {
		tr_directory_resolve(tr_files_get(task->files, fd), &where->path);
	}
	if (!where->path.failed)
		return true;
	tr_error_memory(err);
	return false;
}

static bool copy_path(struct tr_record *record, const struct tr_buffer *from, struct tr_text *path,
		      struct tr_error *err)
{
	struct tr_text text = from->failed ? (struct tr_text){ NULL, 0 }
					   : tr_arena_copy(record->arena, tr_buffer_text(from));

	if (!text.data) {
		tr_error_memory(err);
		return false;
	}
	*path = text;
	return true;
}

bool tr_etrace_where_join(struct tr_etrace_where *where, struct tr_record *record,
			  const char *directory, struct tr_text *path, struct tr_error *err)
{
	struct tr_buffer *to = &where->path;

	if (path->len && *path->data == '/')
		return true;
	if (!find_directory(where, record, directory, err))
		return false;
	if (!to->len) {
		where->unresolved++;
		return true;
	}
	if (path->len && to->data[to->len - 1] != '/')
		tr_buffer_put_byte(to, '/');
	tr_buffer_put_text(to, *path);
	return copy_path(record, to, path, err);
}

bool tr_etrace_where_clean(struct tr_record *record, struct tr_text *path, struct tr_error *err)
{
	struct tr_buffer clean = TR_BUFFER_INIT;

	if (!path->len || *path->data != '/')
		return true;
	tr_directory_join(TR_TEXT("/"), *path, &clean);
	bool good = copy_path(record, &clean, path, err);
	tr_buffer_free(&clean);
	return good;
}

bool tr_etrace_where_next(const struct tr_etrace_where *where, uint64_t number, uint64_t *fd)
{
	const struct tr_task *task = tr_tasks_find(&where->tasks, number);

	return task && tr_files_next(task->files, fd);
}

/* Records. */

/* The descriptor is open from now on; directory NULL: unknown, or it is no directory. */
static bool open_as(struct tr_task *task, uint64_t fd, struct tr_directory *directory, bool cloexec)
{
	if (!task->files)
		task->files = tr_files_new();
	return task->files && tr_files_open(task->files, fd, directory, cloexec);
}

/* The same for a path; data NULL: none. */
static bool opens(struct tr_etrace_where *where, struct tr_task *task, uint64_t fd, bool cloexec,
		  struct tr_text path)
{
	struct tr_directory *directory =
		path.data ? tr_directory_new(&where->tasks.origins, path) : NULL;
	bool good = open_as(task, fd, directory, cloexec);

	tr_directory_release(directory);
	return good && !where->tasks.origins.failed;
}

static bool open_file(struct tr_etrace_where *where, struct tr_task *task, struct tr_record *record)
{
	struct tr_field *how = tr_record_field(record, "how");
	struct tr_text path;
	struct tr_error err;
	uint64_t fd;
	bool there;

	if (!tr_etrace_field_uint(record, "return", &fd))
		return true;
	if (!tr_etrace_where_note(record, "return", &path, &err))
		return false;
	if (!path.data) {
		if (!tr_etrace_field_string(record, "path", &there, &path, &err) || !there ||
		    !tr_etrace_where_join(where, record, "dirfd", &path, &err) || *path.data != '/')
			path.data = NULL;
	}
	bool cloexec = tr_etrace_field_has(record, "flags", "O_CLOEXEC", TR_ETRACE_O_CLOEXEC);
	if (how && how->text.data && memmem(how->text.data, how->text.len, "O_CLOEXEC", 9))
		cloexec = true;
	return opens(where, task, fd, cloexec, path);
}

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

static bool open_pipe(struct tr_etrace_where *where, struct tr_task *task, struct tr_record *record)
{
	bool cloexec = tr_etrace_field_has(record, "flags", "O_CLOEXEC", TR_ETRACE_O_CLOEXEC);
	const struct tr_value *fds;
	struct tr_error ignored;

	if (!tr_etrace_field_value(record, "fds", &fds, &ignored) || !fds || fds->type != TR_LIST)
		return true;
	for (size_t i = 0; i < fds->count; i++) {
		const struct tr_value *fd = tr_etrace_machine_form(&fds->as.items[i]);
		if (fd->type == TR_UINT &&
		    !opens(where, task, fd->as.number, cloexec, (struct tr_text){ NULL, 0 }))
			return false;
	}
	return true;
}

static bool set_cloexec(struct tr_task *task, struct tr_record *record)
{
	uint64_t fd;

	return !task->files || !tr_etrace_field_uint(record, "fd", &fd) ||
	       tr_files_set_cloexec(task->files, fd, fd,
				    tr_etrace_field_has(record, "arg", "FD_CLOEXEC", 1));
}

static bool closes(struct tr_task *task, struct tr_record *record, bool range)
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

static bool moves(struct tr_etrace_where *where, struct tr_task *task, struct tr_record *record)
{
	struct tr_text path;
	struct tr_error err;
	uint64_t fd;
	bool there;

	if (tr_text_is(record->name.text, "chdir")) {
		if (tr_etrace_field_string(record, "path", &there, &path, &err) && there)
			tr_task_chdir(task, path);
		else
			tr_task_moves(task, NULL);
	} else if (!tr_etrace_where_note(record, "fd", &path, &err)) {
		return false;
	} else if (path.data) {
		tr_task_is_at(task, path);
	} else {
		tr_task_moves(task, tr_etrace_field_uint(record, "fd", &fd)
					    ? tr_files_get(task->files, fd)
					    : NULL);
	}
	return !where->tasks.origins.failed;
}

static bool gets_cwd(struct tr_task *task, struct tr_record *record)
{
	struct tr_text path;
	struct tr_error ignored;
	bool there;

	if (tr_etrace_field_string(record, "buf", &there, &path, &ignored) && there && path.len &&
	    *path.data == '/')
		tr_task_is_at(task, path);
	return true;
}

enum action { OPENS, PIPES, COPIES, CONTROLS, CLOSES, CLOSES_RANGE, MOVES, GETS_CWD, UNSHARES };

static const struct {
	const char *call;
	enum action action;
} actions[] = {
	{ "open", OPENS },	 { "openat", OPENS }, { "openat2", OPENS },
	{ "creat", OPENS },	 { "pipe", PIPES },   { "pipe2", PIPES },
	{ "dup", COPIES },	 { "dup2", COPIES },  { "dup3", COPIES },
	{ "fcntl", CONTROLS },	 { "close", CLOSES }, { "close_range", CLOSES_RANGE },
	{ "chdir", MOVES },	 { "fchdir", MOVES }, { "getcwd", GETS_CWD },
	{ "unshare", UNSHARES },
};

static bool controls(struct tr_task *task, struct tr_record *record)
{
	enum tr_etrace_control control = tr_etrace_where_control(record);

	if (control == TR_ETRACE_DUPFD || control == TR_ETRACE_DUPFD_CLOEXEC)
		return copy_file(task, record, control == TR_ETRACE_DUPFD_CLOEXEC);
	return control != TR_ETRACE_SETFD || set_cloexec(task, record);
}

static bool follow_call(struct tr_etrace_where *where, struct tr_task *task,
			struct tr_record *record, enum action action)
{
	switch (action) {
	case OPENS:
		return open_file(where, task, record);
	case PIPES:
		return open_pipe(where, task, record);
	case COPIES:
		return copy_file(
			task, record,
			tr_etrace_field_has(record, "flags", "O_CLOEXEC", TR_ETRACE_O_CLOEXEC));
	case CONTROLS:
		return controls(task, record);
	case CLOSES:
	case CLOSES_RANGE:
		return closes(task, record, action == CLOSES_RANGE);
	case MOVES:
		return moves(where, task, record);
	case GETS_CWD:
		return gets_cwd(task, record);
	default:
		return tr_task_unshare(task, fork_flags(record));
	}
}

static bool follow_exec(struct tr_task *task, struct tr_tasks *tasks, struct tr_record *record)
{
	struct tr_text cwd;
	struct tr_error ignored;
	bool there;

	tr_tasks_exec(tasks, task);
	if (tr_etrace_field_string(record, "cwd", &there, &cwd, &ignored) && there && cwd.len &&
	    *cwd.data == '/')
		tr_task_is_at(task, cwd);
	return !task->files || (tr_task_unshare(task, TR_FORK_FILES) && tr_files_exec(task->files));
}

static bool follow_fork(struct tr_task *task, struct tr_tasks *tasks, struct tr_record *record)
{
	uint64_t child, flags = fork_flags(record);

	if (!tr_etrace_field_uint(record, "child", &child) || child == task->tid)
		return true;
	return tr_tasks_fork(tasks, task, task->place->directory, child, flags);
}

enum tr_status tr_etrace_where_follow(struct tr_etrace_where *where, struct tr_record *record,
				      struct tr_error *err)
{
	bool sys = tr_text_is(record->kind, "sys"), is_exec = tr_text_is(record->kind, "exec");
	bool fork = tr_text_is(record->kind, "fork"), exit = tr_text_is(record->kind, "exit");
	size_t i = 0, count = sizeof actions / sizeof *actions;
	uint64_t number;
	bool is_new;

	if (sys && record->name.type == TR_CELL_TEXT)
		while (i < count && !tr_text_is(record->name.text, actions[i].call))
			i++;
	if ((sys && (record->name.type != TR_CELL_TEXT || i == count)) ||
	    !(sys || is_exec || fork || exit) || !tr_cell_number(&record->task, &number))
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (!exit && (tr_record_field(record, "error") || tr_record_field(record, "failed")))
		return TR_OK;
	struct tr_task *task = exit ? tr_tasks_find(&where->tasks, number)
				    : tr_tasks_get(&where->tasks, number, &is_new);
	if (!task)
		return exit ? TR_OK : tr_error_memory(err);
	if (exit) {
		tr_tasks_exit(&where->tasks, task);
		return TR_OK;
	}
	bool good = sys	      ? follow_call(where, task, record, actions[i].action)
		    : is_exec ? follow_exec(task, &where->tasks, record)
			      : follow_fork(task, &where->tasks, record);
	return good ? TR_OK : tr_error_memory(err);
}
