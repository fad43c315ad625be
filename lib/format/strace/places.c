/* SPDX-License-Identifier: MIT */
/* The directories and descriptors of tasks, from the calls that print or change them. */
#include "format/strace/strace.h"
#include "format/strace/text.h"

/* Reads the bytes of a string argument into reader->bytes. False: it is none, or cut. */
static bool read_path(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_text body;
	bool cut;

	tr_buffer_reset(&reader->bytes);
	if (!tr_strace_is_string(text, &body, &cut) || cut)
		return false;
	tr_strace_bytes(body, &reader->bytes);
	reader->out_of_memory |= reader->bytes.failed;
	return !reader->bytes.failed;
}

static bool is_absolute(const struct tr_buffer *path)
{
	return path->len && *path->data == '/';
}

/* Reads the path that -y prints with a descriptor into reader->bytes. False: there is none. */
static bool read_note(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_text note;

	tr_buffer_reset(&reader->bytes);
	if (!tr_strace_note(text, &note))
		return false;
	tr_strace_bytes(note, &reader->bytes);
	reader->out_of_memory |= reader->bytes.failed;
	return !reader->bytes.failed && is_absolute(&reader->bytes);
}

static bool is_cwd(struct tr_text fd)
{
	return tr_text_starts(fd, TR_TEXT("AT_FDCWD")) || tr_text_starts(fd, TR_TEXT("-100"));
}

/* The directory of a descriptor that a child has inherited, while its parent is unknown. */
static struct tr_directory *await_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
					     uint64_t fd)
{
	if (task->adopted || task->process->origin->settled)
		return NULL;
	if (!task->files)
		task->files = tr_files_new();
	struct tr_origin *origin = tr_origin_new(&reader->tasks.origins);
	struct tr_directory *directory = origin ? tr_directory_of(origin) : NULL;
	tr_origin_release(origin);
	if (directory && task->files && tr_files_hold(task->files, fd, directory))
		return directory;
	reader->out_of_memory = true;
	tr_directory_release(directory);
	return NULL;
}

struct tr_directory *tr_strace_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
					  struct tr_text fd)
{
	unsigned long long number;

	if (read_note(reader, fd))
		return tr_directory_new(&reader->tasks.origins, tr_buffer_text(&reader->bytes));
	if (is_cwd(fd))
		return tr_directory_retain(task->place->directory);
	if (!tr_strace_number(fd, &number))
		return NULL;
	struct tr_directory *known = tr_files_get(task->files, number);
	return known ? tr_directory_retain(known) : await_descriptor(reader, task, number);
}

void tr_strace_infer_cwd(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text name,
			 struct tr_text arguments, const struct tr_strace_result *result)
{
	bool known = tr_text_starts(arguments, TR_TEXT("AT_FDCWD<"))
			     ? read_note(reader, tr_strace_argument(arguments, 0))
			     : tr_text_is(name, "getcwd") && tr_strace_succeeded(result) &&
				       read_path(reader, tr_strace_argument(arguments, 0)) &&
				       is_absolute(&reader->bytes);

	if (known)
		tr_task_is_at(task, tr_buffer_text(&reader->bytes));
}

/* Whether a file is opened for reading: no other can be a directory. -X raw prints numbers. */
static bool may_be_directory(struct tr_text flags)
{
	enum { WRITES = 3, CREATES = 0100 };
	unsigned long long number;

	if (flags.len && *flags.data >= '0' && *flags.data <= '9')
		return tr_strace_number(flags, &number) && !(number & (WRITES | CREATES));
	return tr_text_starts(flags, TR_TEXT("O_RDONLY")) &&
	       !memmem(flags.data, flags.len, "O_CREAT", 7);
}

/* The flags of openat2: "{flags=O_RDONLY, ...}". */
static struct tr_text open_flags(struct tr_text argument)
{
	const char *p = argument.data, *end = p + argument.len;

	if (tr_strace_take(&p, end, TR_TEXT("{flags=")))
		return tr_text_span(p, tr_strace_item_end(p, end));
	return argument;
}

/* The effect of open, openat and openat2; first: the index of the path. */
static void open_file(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_text arguments, unsigned first, struct tr_text fd)
{
	struct tr_directory *directory = NULL, *from;
	unsigned long long number;

	/* -y prints the path again when the descriptor is used */
	if (!tr_strace_number(fd, &number) || memchr(fd.data, '<', fd.len))
		return;
	from = first ? tr_strace_descriptor(reader, task, tr_strace_argument(arguments, 0))
		     : tr_directory_retain(task->place->directory);
	if (may_be_directory(open_flags(tr_strace_argument(arguments, first + 1))) &&
	    read_path(reader, tr_strace_argument(arguments, first)))
		directory = tr_directory_enter(&reader->tasks.origins, from,
					       tr_buffer_text(&reader->bytes));
	reader->out_of_memory |= !tr_task_opens(task, number, directory);
	tr_directory_release(directory);
	tr_directory_release(from);
}

static void copy_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
			    struct tr_text from, struct tr_text to)
{
	unsigned long long number;
	struct tr_directory *directory;

	if (!tr_strace_number(to, &number) || memchr(to.data, '<', to.len))
		return;
	directory = tr_strace_descriptor(reader, task, from);
	reader->out_of_memory |= !tr_task_opens(task, number, directory);
	tr_directory_release(directory);
}

static void change_directory(struct tr_strace_reader *reader, struct tr_task *task,
			     struct tr_text to, bool descriptor)
{
	if (descriptor) {
		struct tr_directory *directory = tr_strace_descriptor(reader, task, to);
		tr_task_moves(task, directory);
		tr_directory_release(directory);
	} else if (read_path(reader, to)) {
		tr_task_chdir(task, tr_buffer_text(&reader->bytes));
	} else {
		tr_task_moves(task, NULL);
	}
}

static void unshare(struct tr_strace_reader *reader, struct tr_task *task, uint64_t flags)
{
	enum { NEW_MOUNTS = 0x20000, NEW_USERS = 0x10000000 };

	/* these namespaces imply a directory of its own */
	if (flags & (NEW_MOUNTS | NEW_USERS))
		flags |= TR_FORK_FS;
	reader->out_of_memory |= !tr_task_unshare(task, flags);
}

/* Whether a command of fcntl copies the descriptor, in any style of -X. */
static bool copies(struct tr_text command)
{
	enum { DUPFD = 0, DUPFD_CLOEXEC = 1030 };
	unsigned long long number;

	if (tr_strace_number(command, &number))
		return number == DUPFD || number == DUPFD_CLOEXEC;
	return tr_text_starts(command, TR_TEXT("F_DUPFD"));
}

void tr_strace_close_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
				struct tr_text arguments)
{
	unsigned long long fd;

	if (tr_strace_number(arguments, &fd))
		reader->out_of_memory |= !tr_task_opens(task, fd, NULL);
}

void tr_strace_track_files(struct tr_strace_reader *reader, struct tr_task *task,
			   struct tr_text name, struct tr_text arguments,
			   const struct tr_strace_result *result)
{
	const struct tr_strace_call *call = task->state;

	if (!tr_strace_succeeded(result))
		return;
	if (tr_text_is(name, "openat") || tr_text_is(name, "openat2"))
		open_file(reader, task, arguments, 1, result->value);
	else if (tr_text_is(name, "open"))
		open_file(reader, task, arguments, 0, result->value);
	else if (tr_text_is(name, "close") && !(call && call->closed))
		tr_strace_close_descriptor(reader, task, arguments);
	else if (tr_text_starts(name, TR_TEXT("dup")) ||
		 (tr_text_is(name, "fcntl") && copies(tr_strace_argument(arguments, 1))))
		copy_descriptor(reader, task, tr_strace_argument(arguments, 0), result->value);
	else if (tr_text_is(name, "chdir") || tr_text_is(name, "fchdir"))
		change_directory(reader, task, tr_strace_argument(arguments, 0), *name.data == 'f');
	else if (tr_text_is(name, "unshare"))
		unshare(reader, task, tr_strace_clone_flags(name, arguments));
}

void tr_strace_place_exec(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_strace_call *call = task->state;
	struct tr_directory *directory = call ? call->directory : NULL;

	if (!directory || tr_directory_same(directory, task->place->directory))
		return;
	if (call->moves == task->place->moves) {
		tr_task_moves(task, directory);
		return;
	}
	/* other threads have moved it, before or after */
	struct tr_origin *origin = tr_origin_new(&reader->tasks.origins);
	struct tr_directory *guess = origin ? tr_directory_of(origin) : NULL;
	reader->out_of_memory |= !guess;
	if (guess) {
		origin->guessed = true;
		tr_directory_follow(guess, directory);
		tr_task_moves(task, guess);
	}
	tr_directory_release(guess);
	tr_origin_release(origin);
}
