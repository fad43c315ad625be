/* SPDX-License-Identifier: MIT */
/*
 * Tasks: which one a line is about, execs in threads, and how processes end. process/tree.h has the
 * tree of processes and what their tasks share; the rules here are about what only strace prints,
 * or leaves out.
 */
#include "format/strace/strace.h"

#include <stdlib.h>

enum {
	KEEP = 256, /* bytes of text that a task keeps for its next call: it may live for hours */
	THREADS = 4096, /* that are searched for an open exec */
};

struct tr_strace_call *tr_strace_state(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_strace_call *call = task->state;

	if (!call) {
		call = task->state = calloc(1, sizeof *call);
		if (call)
			call->held = &reader->held;
	}
	reader->out_of_memory |= !call;
	return call;
}

/* Frees the text of a call and subtracts it from the sum of the open calls. */
static void free_text(struct tr_strace_call *call)
{
	free(call->text);
	call->text = NULL;
	*call->held -= call->cap;
	call->cap = 0;
}

void tr_strace_state_release(void *state)
{
	struct tr_strace_call *call = state;

	tr_strace_call_close(call);
	free_text(call);
	free(call);
}

void tr_strace_call_close(struct tr_strace_call *call)
{
	call->open = call->proven = call->closed = false;
	tr_directory_release(call->directory);
	tr_directory_release(call->seen_from);
	call->directory = call->seen_from = NULL;
	if (call->cap > KEEP)
		free_text(call);
}

/*
 * Begins a run with its first task, which has no parent in the log; its directory may be known from
 * -O cwd. The same is true of a task that begins when none lives, apart from the directory: a run
 * was appended to the file.
 */
static void begin_run(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_directory *directory;
	bool first = !reader->any;

	reader->any = true;
	task->parent_known = true;
	tr_origin_give_up(task->process->origin, false);
	if (!reader->cwd.len || !first)
		return;
	directory = tr_directory_new(&reader->tasks.origins, tr_buffer_text(&reader->cwd));
	tr_origin_place(task->process->origin, directory, false);
	tr_directory_release(directory);
}

struct tr_task *tr_strace_task_by_number(struct tr_strace_reader *reader, uint64_t tid)
{
	bool is_new;
	struct tr_task *task = tr_tasks_get(&reader->tasks, tid, &is_new);

	reader->out_of_memory |= !task;
	if (task && is_new && reader->tasks.live.count == 1)
		begin_run(reader, task);
	return task;
}

/*
 * True if a number that appears for the first time may belong to the task that had none: strace
 * prints numbers on stderr only when it follows more than one task. If a call of that task is open,
 * the line must be about the end of this call, or else a child prints it.
 */
static bool may_be_bare(const struct tr_task *bare, const struct tr_strace_line *line)
{
	const struct tr_strace_call *call = bare->state;

	return !call || !call->open || line->type > TR_STRACE_RESUMED ||
	       (line->type == TR_STRACE_RESUMED &&
		tr_text_equal(tr_strace_call_name(call), line->name));
}

struct tr_task *tr_strace_task(struct tr_strace_reader *reader, const struct tr_strace_line *line)
{
	const struct tr_task_list *live = &reader->tasks.live;
	struct tr_task *task;

	if (!line->has_pid && reader->file_pid != TR_STRACE_NO_PID)
		return tr_strace_task_by_number(reader, reader->file_pid);
	if (!line->has_pid) {
		task = live->count == 1 ? live->oldest : NULL;
		/* or it was the only one when strace began to print the line */
		if (!task)
			task = tr_tasks_find(&reader->tasks, reader->bare);
		if (!task)
			task = tr_strace_task_by_number(reader, TR_STRACE_NO_PID);
		reader->bare = task ? task->tid : TR_STRACE_NO_PID;
		return task;
	}
	if (line->bracketed && !tr_id_map_get(&reader->tasks.map, line->pid) &&
	    (task = tr_tasks_find(&reader->tasks, TR_STRACE_NO_PID)) && may_be_bare(task, line)) {
		reader->out_of_memory |= !tr_tasks_rename(&reader->tasks, task, line->pid);
		reader->bare = line->pid;
		return task;
	}
	return tr_strace_task_by_number(reader, line->pid);
}

/*
 * Execs in threads. One that succeeds ends all other threads, and continues under the number of the
 * process. So the log has the beginning of the call under one number and its end under another one,
 * that of the leader. Which beginning belongs to the end is known from <pid changed to N ...> in
 * the files of -ff, from "+++ superseded by execve in pid N +++", or is inferred (match_exec).
 */

/*
 * Moves the open exec of one task to another one, whose own open call will not return. The states
 * are exchanged, because the text of the call is in them.
 */
static void move_call(struct tr_strace_reader *reader, struct tr_task *from, struct tr_task *to)
{
	void *state = to->state;

	if (from == to)
		return;
	tr_strace_abandon(reader, to);
	to->state = from->state;
	from->state = state;
}

/* True if the open call of the task is an exec. */
static bool is_execing(const struct tr_task *task)
{
	const struct tr_strace_call *call = task->state;

	return call && call->open && tr_strace_is_exec(call->syscall);
}

/*
 * With -ff and without times, all lines of the thread come before those that its leader printed
 * meanwhile, and these may change the directory and descriptors that both share. So those that the
 * exec started with are kept.
 */
void tr_strace_change_pid(struct tr_strace_reader *reader, struct tr_task *task, uint64_t pid)
{
	struct tr_task *leader = tr_strace_task_by_number(reader, pid);
	struct tr_strace_call *call = task->state;

	if (!leader || !is_execing(task))
		return;
	reader->out_of_memory |= !tr_tasks_join(task, leader);
	call->proven = true;
	tr_directory_release(call->directory);
	call->directory = tr_directory_retain(task->place->directory);
	call->moves = task->place->moves;
	tr_directory_release(call->seen_from);
	call->seen_from = call->syscall->effect == TR_STRACE_EXECVEAT
				  ? tr_strace_descriptor(
					    reader, task,
					    tr_strace_argument(tr_strace_call_arguments(call), 0))
				  : NULL;
}

void tr_strace_move_exec(struct tr_strace_reader *reader, struct tr_task *thread,
			 struct tr_task *leader)
{
	struct tr_strace_call *call = leader->state;

	if (thread == leader || (is_execing(leader) && call->proven))
		return;
	reader->out_of_memory |= !tr_tasks_join(thread, leader);
	if (!is_execing(thread))
		return;
	move_call(reader, thread, leader);
	call = leader->state;
	call->proven = true;
}

/*
 * Returns a thread of the leader's process with an open exec; NULL: there is none. The search is
 * bounded, as a hostile log may have any number of threads.
 */
static struct tr_task *find_thread(const struct tr_task *leader)
{
	struct tr_task *task = leader->process->first;

	for (int looked = 0; task && looked < THREADS; task = task->next, looked++)
		if (task != leader && is_execing(task))
			return task;
	return NULL;
}

/*
 * Returns the only task without a parent that has an open exec; NULL: there are none or several,
 * and a choice between them would be a guess.
 */
static struct tr_task *find_lost_thread(const struct tr_strace_reader *reader)
{
	struct tr_task *task = reader->tasks.live.newest, *found = NULL;

	for (int looked = 0; task && looked < THREADS; task = task->older, looked++) {
		if (task->parent_known || !is_execing(task))
			continue;
		if (found)
			return NULL;
		found = task;
	}
	return found;
}

/*
 * Without a +++ line, the thread with an open exec is the one that succeeded. If the call that
 * created the thread never returned, nothing in the log says whose thread it is; then the only task
 * with an open exec and without a parent must be it.
 */
void tr_strace_match_exec(struct tr_strace_reader *reader, struct tr_task *leader)
{
	const struct tr_strace_call *call = leader->state;
	struct tr_task *task;

	if (is_execing(leader))
		return;
	task = find_thread(leader);
	if (!task && call && call->lost_thread && (task = find_lost_thread(reader)))
		reader->out_of_memory |= !tr_tasks_join(task, leader);
	if (task)
		move_call(reader, task, leader);
}

/*
 * Ends. "+++ exited" prints them. Without it (-qq), they are known from exit_group and from what
 * the parent receives: SIGCHLD, wait4, waitid.
 */

/* Returns the value of a member of {...}; key ends with its '='. data NULL: there is none. */
static struct tr_text member(struct tr_text info, struct tr_text key)
{
	const char *end = info.data + info.len;
	const char *p = info.len ? memmem(info.data, info.len, key.data, key.len) : NULL;

	if (!p)
		return (struct tr_text){ NULL, 0 };
	return tr_text_span(p + key.len, tr_strace_item_end(p + key.len, end));
}

/*
 * Takes the signal in "SIGKILL", "9" or, where a comment has the name of the 9, from that comment.
 * False: there is none.
 */
static bool set_signal(struct tr_strace_end *end, struct tr_text text)
{
	const char *comment = memmem(text.data, text.len, "/* ", 3);
	const char *begin = comment ? comment + 3 : text.data, *p = begin;

	while (p < text.data + text.len && tr_strace_is_name(*p))
		p++;
	struct tr_text signal = tr_text_span(begin, p);
	if (!tr_strace_is_signal(signal))
		return false;
	end->signal_len = (uint8_t)signal.len;
	memcpy(end->signal, signal.data, signal.len);
	return true;
}

/* The si_code of a SIGCHLD from the kernel. */
enum code { NO_CODE, EXITED, KILLED, DUMPED, OTHER_CODE };

static enum code read_code(struct tr_text text)
{
	enum { LAST = 6 }; /* CLD_CONTINUED */
	unsigned long long number;

	if (tr_text_starts(text, TR_TEXT("CLD_")))
		return tr_text_is(text, "CLD_EXITED")	? EXITED
		       : tr_text_is(text, "CLD_KILLED") ? KILLED
		       : tr_text_is(text, "CLD_DUMPED") ? DUMPED
							: OTHER_CODE;
	/*
	 * if a process sent SIGCHLD with kill(), the code is negative or 0, and no child has ended
	 */
	if (!text.len || !tr_strace_number(text, &number) || number > LAST)
		return NO_CODE;
	return number > DUMPED ? OTHER_CODE : (enum code)number;
}

/*
 * Reads "[{WIFEXITED(s) && WEXITSTATUS(s) == 1}]" or "[{WIFSIGNALED(s) && WTERMSIG(s) ==
 * SIGKILL}]". False: the status says something else, as that the child has stopped.
 */
static bool read_status(struct tr_text text, struct tr_strace_end *end)
{
	const char *p = text.data, *stop = p + text.len;
	unsigned long long status;

	if (tr_strace_take(&p, stop, TR_TEXT("[{WIFEXITED(s) && WEXITSTATUS(s) == "))) {
		if (!tr_strace_digits(&p, stop, &status))
			return false;
		end->status = status;
		return true;
	}
	if (!tr_strace_take(&p, stop, TR_TEXT("[{WIFSIGNALED(s) && WTERMSIG(s) == ")))
		return false;
	end->core = memmem(p, (size_t)(stop - p), "WCOREDUMP", 9);
	return set_signal(end, tr_text_span(p, stop));
}

/* Removes a task from those whose +++ line may come. */
static void unmark_ending(struct tr_strace_reader *reader, uint64_t tid)
{
	for (size_t i = 0; i < reader->ending_count; i++) {
		if (reader->ending[i] != tid)
			continue;
		reader->ending_count--;
		memmove(reader->ending + i, reader->ending + i + 1,
			(reader->ending_count - i) * sizeof *reader->ending);
		return;
	}
}

/*
 * Closes the open call of the task and ends it, as printed in the line `from`, with an exit record.
 */
static void end_task(struct tr_strace_reader *reader, struct tr_task *task,
		     const struct tr_strace_origin *from, const struct tr_strace_end *end)
{
	struct tr_buffer *to = &reader->out.head;
	struct tr_task *thread = find_thread(task);

	unmark_ending(reader, task->tid);
	/* with the leader ends an exec in a thread that succeeded but was not resumed */
	if (thread && task->tid == task->process->pid &&
	    ((const struct tr_strace_call *)thread->state)->proven)
		tr_strace_move_exec(reader, thread, task);
	task = tr_strace_abandon(reader, task);
	if (!task)
		return;
	tr_strace_begin(reader, "exit", from, task);
	if (end->signal_len) {
		tr_buffer_put_literal(to, "-\tsignal=");
		tr_buffer_put(to, end->signal, end->signal_len);
		if (end->core)
			tr_buffer_put_literal(to, "\tcore=true");
	} else {
		tr_buffer_put_literal(to, "-\tstatus=");
		tr_buffer_put_decimal(to, end->status);
	}
	bool unknown = task->process->exec == TR_EXEC_NONE;
	tr_strace_emit(reader, task, unknown ? TR_STRACE_FLAG_ORPHAN : 0);
	tr_tasks_exit(&reader->tasks, task);
}

void tr_strace_exit(struct tr_strace_reader *reader, struct tr_task *task,
		    const struct tr_strace_line *line)
{
	struct tr_strace_end end = { .core = line->core, .status = line->number };

	if (line->type == TR_STRACE_KILLED)
		set_signal(&end, line->name);
	else
		reader->ends_printed = true; /* killed is printed with every -q */
	end_task(reader, task, &reader->here, &end);
}

void tr_strace_end_task(struct tr_strace_reader *reader, uint64_t tid, const struct tr_task *user)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, tid);
	struct tr_strace_call *call = task ? task->state : NULL;

	unmark_ending(reader, tid);
	if (!call || !call->ending)
		return;
	/* a leader ends with all threads of its process */
	if (user && user->process == task->process && task->tid == task->process->pid)
		return;
	/* the state may be gone before they are used */
	const struct tr_strace_end end = call->end;
	const struct tr_strace_origin end_line = call->end_line;
	end_task(reader, task, &end_line, &end);
}

/*
 * Keeps the end of a task that is known from a call or from its parent. A +++ line may repeat it,
 * so the exit record is held back until then. If 16 ends were not repeated, the log has no such
 * lines, and the oldest one is recorded. user: the task whose line is read.
 */
static void mark_ending(struct tr_strace_reader *reader, const struct tr_task *user,
			struct tr_task *task, const struct tr_strace_end *end)
{
	struct tr_strace_call *call = tr_strace_state(reader, task);

	if (!call)
		return;
	call->end = *end;
	if (call->ending)
		return; /* the second time from the parent */
	call->ending = true;
	call->end_line = reader->here;
	unmark_ending(reader, task->tid);
	if (reader->ends_printed)
		return; /* tr_strace_flush ends it if no line does */
	if (reader->ending_count == TR_STRACE_ENDING)
		tr_strace_end_task(reader, reader->ending[0], user);
	reader->ending[reader->ending_count++] = task->tid;
}

void tr_strace_exit_group(struct tr_strace_reader *reader, struct tr_task *task, uint64_t status)
{
	struct tr_task *leader = tr_tasks_find(&reader->tasks, task->process->pid);
	struct tr_strace_end end = { .status = status };

	mark_ending(reader, task, leader ? leader : task, &end);
}

/*
 * Notes that a child has ended, which also shows whose child it is; end NULL: it is not known how.
 */
static void end_child(struct tr_strace_reader *reader, struct tr_task *parent, uint64_t child,
		      const struct tr_strace_end *end)
{
	reader->out_of_memory |= !tr_tasks_guess_fork(&reader->tasks, parent, child);
	struct tr_task *task = end ? tr_tasks_find(&reader->tasks, child) : NULL;
	if (task && task->process->pid == child)
		mark_ending(reader, parent, task, end);
}

void tr_strace_child_info(struct tr_strace_reader *reader, struct tr_task *task,
			  struct tr_text info)
{
	enum code code = read_code(member(info, TR_TEXT("si_code=")));
	struct tr_text pid = member(info, TR_TEXT("si_pid="));
	struct tr_text status = member(info, TR_TEXT("si_status="));
	struct tr_strace_end end = { .core = code == DUMPED };
	unsigned long long child, number = 0;
	bool known = false;

	if (code == NO_CODE || !pid.data || !tr_strace_number(pid, &child))
		return;
	if (code != OTHER_CODE && status.data)
		known = code == EXITED ? tr_strace_number(status, &number)
				       : set_signal(&end, status);
	end.status = number;
	end_child(reader, task, child, known ? &end : NULL);
}

void tr_strace_child_status(struct tr_strace_reader *reader, struct tr_task *task, uint64_t child,
			    struct tr_text status)
{
	struct tr_strace_end end = { 0 };

	end_child(reader, task, child, read_status(status, &end) ? &end : NULL);
}

/* A task that has an open call or a known end when the log ends. */
struct open_end {
	uint64_t tid, line;
};

/* In the order in which the calls began, or the ends were printed. */
static int by_line(const void *a, const void *b)
{
	const struct open_end *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

/*
 * The order is that of the log and not that of the hash table, so that the same log always gives
 * the same records.
 */
void tr_strace_flush(struct tr_strace_reader *reader)
{
	struct tr_tasks *tasks = &reader->tasks;
	struct open_end *ends = malloc((tasks->map.count + 1) * sizeof *ends);
	struct tr_task *task;
	size_t count = 0, position = 0;

	if (!ends) {
		reader->out_of_memory = true;
		return;
	}
	while ((task = tr_id_map_next(&tasks->map, &position))) {
		struct tr_strace_call *call = task->state;
		if (call && !task->has_ended && (call->open || call->ending))
			ends[count++] =
				(struct open_end){ task->tid, call->open ? call->begin.line
									 : call->end_line.line };
	}
	qsort(ends, count, sizeof *ends, by_line);
	/* a task that ends may end others, so each is searched again */
	for (size_t i = 0; i < count && !reader->out_of_memory; i++) {
		if ((task = tr_tasks_find(tasks, ends[i].tid)))
			tr_strace_abandon(reader, task);
		tr_strace_end_task(reader, ends[i].tid, NULL);
	}
	free(ends);
}
