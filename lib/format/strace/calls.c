/* SPDX-License-Identifier: MIT */
/*
 * Calls as they begin, continue and return: their records, and their effects on tasks, directories
 * and descriptors.
 *
 *	tr_strace_call_begin	the first half: its text is kept in the state of the task
 *	tr_strace_resume	the second half: joined with it
 *	tr_strace_call_whole	both on one line
 *	  call_done		an exec, a fork, or a sys record; applies the call to the task
 *
 * The effects matter because later calls of the log name files relative to a directory or a
 * descriptor, and because the parent of a process is known only from the fork that created it.
 */
#include "format/strace/strace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "record/literal.h"
#include "record/record.h"

/* Records. */

/*
 * Returns the names of the last arguments of a call, where only these are in the log. Their number
 * is counted, and as many names are left out at the beginning.
 */
static const char *last_names(const char *names, struct tr_text arguments)
{
	const char *p = arguments.data, *end = p + arguments.len;
	unsigned missing = 1;

	for (const char *c = names; *c; c++)
		missing += *c == ' ';
	for (; missing && (p = tr_strace_skip(p, end)) < end; missing--) {
		p = tr_strace_item_end(p, end);
		p += p < end;
	}
	for (; missing; missing--) {
		names += strcspn(names, " ");
		names += *names == ' ';
	}
	return names;
}

/*
 * Returns the end of the name that strace itself prints with an argument, as for clone:
 * "flags=A|B". NULL: there is none.
 */
static const char *own_name_end(const char *begin, const char *end)
{
	const char *p = begin;

	while (p < end && ((*p >= 'a' && *p <= 'z') || *p == '_' || (p > begin && tr_is_digit(*p))))
		p++;
	return p > begin && p < end && *p == '=' ? p : NULL;
}

/*
 * Puts all arguments as fields. An argument without a name in call_table.c or in the log is a0, a1
 * and so on by its place. *cut is set if strace left out a part.
 */
static void put_arguments(struct tr_buffer *to, const struct tr_strace_done *call, bool *cut)
{
	const char *names = call->syscall->arguments;
	const char *end = call->arguments.data + call->arguments.len;
	const char *p = tr_strace_skip(call->arguments.data, end);

	if (names && call->flags & TR_STRACE_FLAG_BEGIN_LOST)
		names = last_names(names, call->arguments);
	for (unsigned n = 0; p < end; n++) {
		const char *own_end = own_name_end(p, end);
		tr_buffer_put_byte(to, '\t');
		if (own_end) {
			tr_buffer_put_text(to, tr_text_span(p, own_end));
			p = own_end + 1;
		} else if (names && *names) {
			const char *after = strchrnul(names, ' ');
			tr_buffer_put_text(to, tr_text_span(names, after));
			names = after + (*after == ' ');
		} else {
			tr_buffer_put_byte(to, 'a');
			tr_buffer_put_decimal(to, n);
		}
		tr_buffer_put_byte(to, '=');
		const char *stop = tr_strace_copy_value(p, end, to, cut);
		if (!stop) {
			stop = tr_strace_item_end(p, end);
			tr_strace_value(tr_text_span(p, stop), to, cut);
		}
		p = stop < end ? tr_strace_skip(stop + 1, end) : end;
	}
}

/*
 * Puts the duration of -T, "0.000123", as a REAL. The stream has one spelling of it, which may
 * differ. Text that is not such a number is left out.
 */
static void put_duration(struct tr_buffer *to, struct tr_text time)
{
	uint64_t bits;
	char spelled[TR_REAL_MAX];
	const char *p = time.data, *end = p + time.len;
	unsigned dots = 0;

	for (; p < end && (tr_is_digit(*p) || *p == '.'); p++)
		dots += *p == '.';
	if (p < end || dots != 1 || *time.data == '.' || end[-1] == '.' ||
	    !tr_real64_read(time, &bits))
		return;
	tr_buffer_put_literal(to, "\tdur=");
	tr_buffer_put(to, spelled, tr_real64_write(bits, spelled));
}

/*
 * Puts what follows the arrow: an error instead of the returned value, if there is one, because
 * strace prints -1 with every error.
 */
static void put_result(struct tr_buffer *to, const struct tr_strace_result *result)
{
	tr_buffer_put_literal(to, "\t->");
	if (result->error.data) {
		tr_buffer_put_literal(to, "\terror=");
		tr_strace_value(result->error, to, NULL);
	} else if (result->value.data) {
		tr_buffer_put_literal(to, "\treturn=");
		tr_strace_value(result->value, to, NULL);
	}
	if (result->info.data) {
		tr_buffer_put_literal(to, "\tinfo=");
		tr_string_quote(result->info, to);
	}
	if (result->time.data)
		put_duration(to, result->time);
}

/* Emits a sys record. A call without a result is flagged as unfinished. */
static void put_sys(struct tr_strace_reader *reader, struct tr_task *task,
		    const struct tr_strace_done *call)
{
	struct tr_buffer *to = &reader->out.head;
	bool cut = false;

	tr_strace_begin(reader, "sys", call->from, task);
	tr_buffer_put_text(to, call->name);
	put_arguments(to, call, &cut);
	tr_strace_put_frames(reader, call);
	if (call->result)
		put_result(to, call->result);
	tr_strace_emit(reader, task,
		       call->flags | (cut ? TR_STRACE_FLAG_CUT : 0) |
			       (call->result ? 0 : TR_STRACE_FLAG_UNFINISHED));
}

/*
 * Emits the fork that created `child`, and makes the child a task that inherits from this one. The
 * directory is the one that the task had when the call began: another thread of it may have moved
 * before the call returned.
 */
static void put_fork(struct tr_strace_reader *reader, struct tr_task *task,
		     const struct tr_strace_done *call, uint64_t child)
{
	const struct tr_strace_call *begun = task->state;
	uint64_t flags = tr_strace_clone_flags(call->name, call->arguments);
	struct tr_directory *directory =
		begun && begun->directory ? begun->directory : task->place->directory;
	struct tr_task *last = tr_tasks_find(&reader->tasks, child);

	if (last && last != task && last->parent_known) /* it has ended: its number is used again */
		tr_strace_end_task(reader, child, task);
	tr_strace_begin(reader, "fork", call->from, task);
	tr_buffer_put_literal(&reader->out.head, "-\tchild=");
	tr_buffer_put_decimal(&reader->out.head, child);
	tr_strace_put_clone_flags(flags, &reader->out.head);
	tr_strace_put_frames(reader, call);
	tr_strace_emit(reader, task, 0);
	reader->out_of_memory |= !tr_tasks_fork(&reader->tasks, task, directory, child, flags);
}

/* Directories and descriptors. */

/* Decodes the bytes of a string into reader->bytes. False: memory is exhausted. */
static bool decode(struct tr_strace_reader *reader, struct tr_text body)
{
	tr_buffer_reset(&reader->bytes);
	tr_strace_bytes(body, &reader->bytes);
	reader->out_of_memory |= reader->bytes.failed;
	return !reader->bytes.failed;
}

/* Reads the bytes of a string argument into reader->bytes. False: it is none, or cut. */
static bool read_path(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_text body;
	bool cut;

	return tr_strace_is_string(text, &body, &cut) && !cut && decode(reader, body);
}

/* True if the bytes of a path begin with a slash. */
static bool is_absolute(const struct tr_buffer *path)
{
	return path->len && *path->data == '/';
}

/* Reads the path that -y prints with a descriptor into reader->bytes. False: there is none. */
static bool read_note(struct tr_strace_reader *reader, struct tr_text text)
{
	struct tr_text note;

	return tr_strace_note(text, &note) && decode(reader, note) && is_absolute(&reader->bytes);
}

/*
 * Returns a directory that is still unknown, for a descriptor that a child has inherited while its
 * parent is unknown: strace may print the child's calls before the fork returns in the parent. It
 * becomes known with the parent. NULL: nothing more will be known, or memory is exhausted.
 */
static struct tr_directory *await_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
					     uint64_t fd)
{
	if (task->parent_known || task->process->origin->settled)
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
	if (tr_text_starts(fd, TR_TEXT("AT_FDCWD")) || tr_text_starts(fd, TR_TEXT("-100")))
		return tr_directory_retain(task->place->directory);
	if (!tr_strace_number(fd, &number))
		return NULL;
	struct tr_directory *known = tr_files_get(task->files, number);
	return known ? tr_directory_retain(known) : await_descriptor(reader, task, number);
}

/*
 * Takes the directory of the task from a call that prints it: the note of -y with AT_FDCWD, or
 * getcwd. That is the only source for a process to which strace attached.
 */
static void infer_cwd(struct tr_strace_reader *reader, struct tr_task *task,
		      const struct tr_strace_done *call)
{
	bool noted = tr_text_starts(call->arguments, TR_TEXT("AT_FDCWD<"));

	if (!noted &&
	    !(call->syscall->effect == TR_STRACE_GETCWD && tr_strace_succeeded(call->result)))
		return;
	struct tr_text first = tr_strace_argument(call->arguments, 0);
	if (noted ? read_note(reader, first)
		  : read_path(reader, first) && is_absolute(&reader->bytes))
		tr_task_is_at(task, tr_buffer_text(&reader->bytes));
}

/*
 * True if a file is opened for reading only and not created: no other can be a directory. -X raw
 * prints the flags as numbers.
 */
static bool may_be_directory(struct tr_text flags)
{
	enum { WRITES = 3, CREATES = 0100 };
	const char *p = flags.data, *end = p + flags.len;
	unsigned long long number;

	if (tr_strace_take(&p, end, TR_TEXT("{flags="))) /* of openat2 */
		flags = tr_text_span(p, tr_strace_item_end(p, end));
	if (flags.len && tr_is_digit(*flags.data))
		return tr_strace_number(flags, &number) && !(number & (WRITES | CREATES));
	return tr_text_starts(flags, TR_TEXT("O_RDONLY")) &&
	       !memmem(flags.data, flags.len, "O_CREAT", 7);
}

/*
 * Applies a call that returned a new descriptor. path: which argument is the path, relative to the
 * descriptor in argument 0 if it is not the first; -1: the new descriptor is a copy of argument 0.
 * Only directories are remembered, because no call is relative to another file.
 */
static void open_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
			    const struct tr_strace_done *call, int path)
{
	struct tr_text fd = call->result->value;
	struct tr_directory *directory, *from;
	unsigned long long number;

	/* -y prints the path again when the descriptor is used */
	if (!tr_strace_number(fd, &number) || memchr(fd.data, '<', fd.len))
		return;
	directory = from =
		path ? tr_strace_descriptor(reader, task, tr_strace_argument(call->arguments, 0))
		     : tr_directory_retain(task->place->directory);
	if (path >= 0) {
		unsigned first = (unsigned)path;
		directory = may_be_directory(tr_strace_argument(call->arguments, first + 1)) &&
					    read_path(reader,
						      tr_strace_argument(call->arguments, first))
				    ? tr_directory_enter(&reader->tasks.origins, from,
							 tr_buffer_text(&reader->bytes))
				    : NULL;
		tr_directory_release(from);
	}
	reader->out_of_memory |= !tr_task_opens(task, number, directory);
	tr_directory_release(directory);
}

/* True if a command of fcntl copies the descriptor, in any style of -X. */
static bool copies(struct tr_text command)
{
	enum { DUPFD = 0, DUPFD_CLOEXEC = 1030 };
	unsigned long long number;

	if (tr_strace_number(command, &number))
		return number == DUPFD || number == DUPFD_CLOEXEC;
	return tr_text_starts(command, TR_TEXT("F_DUPFD"));
}

/* Forgets the directory of a descriptor that is closed. */
static void close_descriptor(struct tr_strace_reader *reader, struct tr_task *task,
			     struct tr_text arguments)
{
	unsigned long long fd;

	if (tr_strace_number(arguments, &fd))
		reader->out_of_memory |= !tr_task_opens(task, fd, NULL);
}

/* Applies a call that succeeded to the directory and descriptors of the task. */
static void track_files(struct tr_strace_reader *reader, struct tr_task *task,
			const struct tr_strace_done *call)
{
	enum { NEW_MOUNTS = 0x20000, NEW_USERS = 0x10000000 };
	const struct tr_strace_call *begun = task->state;
	struct tr_text arguments = call->arguments;
	struct tr_directory *directory;
	uint64_t flags;

	switch (call->syscall->effect) {
	case TR_STRACE_OPENAT:
		open_descriptor(reader, task, call, 1);
		break;
	case TR_STRACE_OPEN:
		open_descriptor(reader, task, call, 0);
		break;
	case TR_STRACE_CLOSE:
		if (!begun || !begun->closed)
			close_descriptor(reader, task, arguments);
		break;
	case TR_STRACE_FCNTL:
		if (!copies(tr_strace_argument(arguments, 1)))
			break;
		open_descriptor(reader, task, call, -1);
		break;
	case TR_STRACE_DUP:
		open_descriptor(reader, task, call, -1);
		break;
	case TR_STRACE_FCHDIR:
		directory = tr_strace_descriptor(reader, task, tr_strace_argument(arguments, 0));
		tr_task_moves(task, directory);
		tr_directory_release(directory);
		break;
	case TR_STRACE_CHDIR:
		if (read_path(reader, tr_strace_argument(arguments, 0)))
			tr_task_chdir(task, tr_buffer_text(&reader->bytes));
		else
			tr_task_moves(task, NULL);
		break;
	case TR_STRACE_UNSHARE:
		flags = tr_strace_clone_flags(call->name, arguments);
		/* these namespaces imply a directory of its own */
		if (flags & (NEW_MOUNTS | NEW_USERS))
			flags |= TR_FORK_FS;
		reader->out_of_memory |= !tr_task_unshare(task, flags);
		break;
	default:
		break;
	}
}

/*
 * Sets the directory of an exec in a thread, which has just succeeded, to that of the thread. If
 * other threads have moved meanwhile, it is a guess, because without times the order of both is
 * unknown.
 */
static void place_exec(struct tr_strace_reader *reader, struct tr_task *task)
{
	const struct tr_strace_call *call = task->state;
	struct tr_directory *directory = call ? call->directory : NULL;

	if (!directory || tr_directory_same(directory, task->place->directory))
		return;
	if (call->moves == task->place->moves) {
		tr_task_moves(task, directory);
		return;
	}
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

/* Calls that are known as a whole. */

/*
 * Emits the record of an exec that succeeded; from now on it is the parent of what the process
 * creates.
 */
static void exec_done(struct tr_strace_reader *reader, struct tr_task *task,
		      const struct tr_strace_done *call)
{
	uint64_t seq = reader->base.seq;

	place_exec(reader, task);
	tr_tasks_exec(&reader->tasks, task);
	tr_strace_put_exec(reader, task, call, false);
	task->process->exec = seq;
	if (task->state)
		((struct tr_strace_call *)task->state)->lost_thread = false;
}

/* Returns the status in exit_group(N), of which the kernel keeps eight bits. */
static uint64_t exit_status(struct tr_text arguments)
{
	unsigned long long status;
	bool negative = arguments.len && *arguments.data == '-';

	arguments.data += negative;
	arguments.len -= negative;
	if (!tr_strace_number(arguments, &status))
		return 0;
	return (negative ? 0 - status : status) & 0xff;
}

/*
 * Handles a call whose arguments and result are known as far as the log has them. An exec counts
 * only with the result 0. exit_group is not a record: the exit record of the process follows from
 * it.
 */
static void call_done(struct tr_strace_reader *reader, struct tr_task *task,
		      const struct tr_strace_done *call)
{
	const struct tr_strace_result *result = call->result;
	enum tr_strace_effect effect = call->syscall->effect;
	struct tr_text arguments = call->arguments;
	bool succeeded = tr_strace_succeeded(result);
	unsigned long long child;

	infer_cwd(reader, task, call);
	if (result && tr_strace_is_exec(call->syscall)) {
		if (succeeded && tr_text_is(result->value, "0")) {
			exec_done(reader, task, call);
		} else if (result->error.data && reader->keep_failed) {
			tr_strace_put_exec(reader, task, call, true);
		} else if (!result->error.data) {
			struct tr_strace_done unfinished = *call;
			unfinished.result = NULL;
			put_sys(reader, task, &unfinished);
		}
		return;
	}
	if (effect == TR_STRACE_FORK) {
		if (succeeded && tr_strace_number(result->value, &child) && child > 0) {
			put_fork(reader, task, call, child);
			return;
		}
		if (!succeeded && !(result && result->error.data)) {
			/* it may have created a thread, but did not return its number */
			struct tr_strace_call *state = tr_strace_state(reader, task);
			if (state)
				state->lost_thread |= tr_strace_clone_flags(call->name, arguments) &
						      TR_FORK_THREAD;
		}
	}
	if (result && !result->error.data && effect == TR_STRACE_EXIT_GROUP) {
		tr_strace_exit_group(reader, task, exit_status(arguments));
		return;
	}
	if (succeeded)
		track_files(reader, task, call);
	put_sys(reader, task, call);
	if (succeeded && effect == TR_STRACE_WAITID)
		tr_strace_child_info(reader, task, tr_strace_argument(arguments, 2));
	else if (succeeded && effect == TR_STRACE_WAIT && tr_strace_number(result->value, &child) &&
		 child > 0)
		tr_strace_child_status(reader, task, child, tr_strace_argument(arguments, 1));
}

void tr_strace_call_whole(struct tr_strace_reader *reader, struct tr_task *task,
			  const struct tr_strace_line *line)
{
	bool detached = line->type == TR_STRACE_DETACHED;
	struct tr_strace_done call = { .syscall =
					       tr_strace_syscall_again(&reader->recent, line->name),
				       .name = line->name,
				       .arguments = line->arguments,
				       .result = line->broken || detached ? NULL : &line->result,
				       .from = &reader->here };

	task = tr_strace_abandon(reader, task);
	if (task && detached && tr_strace_is_exec(call.syscall)) {
		/* -b execve detaches from those that succeed */
		call.flags = TR_STRACE_FLAG_UNFINISHED;
		exec_done(reader, task, &call);
	} else if (task) {
		call_done(reader, task, &call);
	}
}

/* Calls that begin on one line and return on another. */

/* reader->held counts the memory of all open calls for the limit in tr_strace_call_begin. */
bool tr_strace_call_append(struct tr_strace_reader *reader, struct tr_strace_call *call,
			   struct tr_text text)
{
	size_t len = call->len + text.len;

	if (len > call->cap) { /* no spare room: there may be as many calls as there are tasks */
		char *memory = realloc(call->text, len);
		if (!memory) {
			reader->out_of_memory = true;
			return false;
		}
		*call->held += len - call->cap;
		call->text = memory;
		call->cap = len;
	}
	if (text.len)
		memcpy(call->text + call->len, text.data, text.len);
	call->len = len;
	return true;
}

/*
 * All open calls together are limited to the size of one record, so that a log of first halves does
 * not fill the memory. A call beyond the limit is recorded as unfinished at once.
 */
struct tr_task *tr_strace_call_begin(struct tr_strace_reader *reader, struct tr_task *task,
				     const struct tr_strace_line *line)
{
	const struct tr_strace_syscall *syscall =
		tr_strace_syscall_again(&reader->recent, line->name);
	uint64_t limit = reader->base.max_record;

	task = tr_strace_abandon(reader, task);
	struct tr_strace_call *call = task ? tr_strace_state(reader, task) : NULL;
	if (!call)
		return NULL;
	if (reader->held + line->name.len + line->arguments.len > limit) {
		tr_error_set(&reader->base.remark, TR_CAUSE_LIMIT,
			     "calls that have not returned take more than %" PRIu64
			     " bytes: this one is recorded as unfinished (--max-record raises it)",
			     limit);
		tr_error_at_line(&reader->base.remark, reader->here.line);
		call_done(reader, task,
			  &(struct tr_strace_done){ .syscall = syscall,
						    .name = line->name,
						    .arguments = line->arguments,
						    .from = &reader->here });
		return task;
	}
	call->syscall = syscall;
	call->len = 0;
	call->name_len = line->name.len;
	/* the parenthesis is between them */
	if (!tr_strace_call_append(
		    reader, call,
		    tr_text_span(line->name.data, line->arguments.data + line->arguments.len)))
		return NULL;
	call->open = true;
	call->begin = reader->here;
	/* another thread may get the number before this call returns */
	call->closed = syscall->effect == TR_STRACE_CLOSE;
	if (call->closed)
		close_descriptor(reader, task, line->arguments);
	if (syscall->effect == TR_STRACE_FORK)
		call->directory = tr_directory_retain(task->place->directory);
	return task;
}

/*
 * Ends the open call of the task with these arguments; result NULL: it did not return. A proven
 * exec succeeded even if its result is not in the log.
 */
static void finish(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text arguments,
		   const struct tr_strace_result *result)
{
	struct tr_strace_call *call = task->state;
	const struct tr_strace_done done = { .syscall = call->syscall,
					     .name = tr_strace_call_name(call),
					     .arguments = arguments,
					     .result = result,
					     .from = &call->begin };

	call->open = false;
	if (call->proven)
		exec_done(reader, task, &done);
	else
		call_done(reader, task, &done);
	/* neither an exec nor a fork of its own ends the task */
	tr_strace_call_close(call);
}

/* An exec that is known to have succeeded in a thread is not lost: it becomes one of the leader. */
struct tr_task *tr_strace_abandon(struct tr_strace_reader *reader, struct tr_task *task)
{
	const struct tr_strace_call *call = task->state;
	uint64_t tid = task->tid;

	if (!call || !call->open)
		return task;
	struct tr_task *leader =
		call->proven ? tr_tasks_find(&reader->tasks, task->process->pid) : NULL;
	bool is_thread = leader && leader != task;
	if (is_thread) {
		tr_strace_move_exec(reader, task, leader);
		task = leader;
		call = task->state;
	}
	finish(reader, task, tr_strace_call_arguments(call), NULL);
	/* an exec has ended the thread: another task may have its number now */
	return is_thread ? tr_strace_task_by_number(reader, tid) : task;
}

/*
 * Takes the second half of a call whose first half is not in the log, as strace -p begins in the
 * middle of calls. Only the last arguments are known, which the record is flagged with.
 */
static void take_second_half(struct tr_strace_reader *reader, struct tr_task *task,
			     struct tr_strace_line *line, struct tr_text text)
{
	struct tr_strace_done call = { .syscall =
					       tr_strace_syscall_again(&reader->recent, line->name),
				       .name = line->name,
				       .arguments = TR_TEXT(""),
				       .from = &reader->here,
				       .flags = TR_STRACE_FLAG_BEGIN_LOST };

	if (!tr_strace_body_finish(line->arguments, line)) {
		tr_strace_put_raw(reader, text, "an incomplete call");
		return;
	}
	if (!tr_strace_is_exec(call.syscall))
		call.arguments = line->arguments;
	call.result = line->broken ? NULL : &line->result;
	call_done(reader, task, &call);
}

/*
 * The end of the arguments depends on both halves, because a string or bracket may be open at the
 * end of the first one. The usual case, where the second half begins with the parenthesis, is tried
 * first.
 */
void tr_strace_resume(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_strace_line *line, struct tr_text text)
{
	if (tr_strace_is_exec(tr_strace_syscall_again(&reader->recent, line->name)))
		tr_strace_match_exec(reader, task);
	struct tr_strace_call *call = task->state;
	if (!call || !call->open || !tr_text_equal(tr_strace_call_name(call), line->name)) {
		task = tr_strace_abandon(reader, task);
		if (task)
			take_second_half(reader, task, line, text);
		return;
	}
	struct tr_text more = line->arguments;
	if (!tr_strace_call_append(reader, call, more))
		return;
	line->name = tr_strace_call_name(call); /* it may have been in the text, which moves */
	struct tr_text all = tr_strace_call_arguments(call);
	bool whole = tr_strace_body_close(more, line);
	if (whole)
		all.len -= more.len;
	else if ((whole = tr_strace_body_finish(all, line)))
		all = line->arguments;
	if (!whole) {
		tr_error_say(&reader->base.remark, tr_strace_cause(reader),
			     "a call without its end");
		tr_error_at_line(&reader->base.remark, reader->here.line);
	}
	finish(reader, task, all, whole && !line->broken ? &line->result : NULL);
}
