/* Execs in threads: one that succeeds goes on under the number of its process. */
#include "format/strace/reader.h"

#include "format/strace/scan.h"

enum { THREADS = 4096 }; /* that are looked at for an exec under way */

/* What a task has begun goes on as another one's: that of an exec in a thread. */
static void hand_over(struct tr_strace_reader *reader, struct tr_task *from, struct tr_task *to)
{
	void *state = to->state;

	if (from == to)
		return;
	tr_strace_abandon(reader, to);
	to->state = from->state;
	from->state = state;
}

static bool is_execing(const struct tr_task *task)
{
	const struct tr_strace_call *call = task->state;

	return call && call->open && tr_strace_is_exec(tr_strace_call_name(call));
}

static bool is_proven(const struct tr_task *task)
{
	return ((const struct tr_strace_call *)task->state)->proven;
}

/*
 * With -ff, where no times say what came before what, all that the thread did is told before what
 * its leader did meanwhile: what the thread knew of its directory is kept.
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
	struct tr_text name = tr_strace_call_name(call);
	struct tr_text arguments = { call->text + name.len, call->len - name.len };
	tr_directory_release(call->seen_from);
	call->seen_from =
		tr_text_is(name, "execveat")
			? tr_strace_descriptor(reader, task, tr_strace_argument(arguments, 0))
			: NULL;
}

void tr_strace_take_over(struct tr_strace_reader *reader, struct tr_task *thread,
			 struct tr_task *leader)
{
	if (thread == leader || (is_execing(leader) && is_proven(leader)))
		return;
	reader->out_of_memory |= !tr_tasks_join(thread, leader);
	if (!is_execing(thread))
		return;
	hand_over(reader, thread, leader);
	((struct tr_strace_call *)leader->state)->proven = true;
}

/* A thread of the leader's process with an exec under way; NULL: there is none. */
static struct tr_task *find_thread(const struct tr_task *leader)
{
	struct tr_task *task = leader->process->first;

	for (int looked = 0; task && looked < THREADS; task = task->next, looked++)
		if (task != leader && is_execing(task))
			return task;
	return NULL;
}

/* The only task without a parent that has an exec under way; NULL: none, or several. */
static struct tr_task *find_stray(const struct tr_strace_reader *reader)
{
	struct tr_task *task = reader->tasks.live.newest, *found = NULL;

	for (int looked = 0; task && looked < THREADS; task = task->older, looked++) {
		if (task->adopted || !is_execing(task))
			continue;
		if (found)
			return NULL;
		found = task;
	}
	return found;
}

/*
 * Without a +++ line: the only thread with an exec under way is the one that took over. It may
 * have been so quick that the call that made it never came back.
 */
void tr_strace_take_exec(struct tr_strace_reader *reader, struct tr_task *leader)
{
	const struct tr_strace_call *call = leader->state;
	struct tr_task *task;

	if (is_execing(leader))
		return;
	task = find_thread(leader);
	if (!task && call && call->lost_thread && (task = find_stray(reader)))
		reader->out_of_memory |= !tr_tasks_join(task, leader);
	if (task)
		hand_over(reader, task, leader);
}

void tr_strace_take_rest_of_exec(struct tr_strace_reader *reader, struct tr_task *leader)
{
	struct tr_task *task = find_thread(leader);

	if (leader->tid == leader->process->pid && task && is_proven(task))
		tr_strace_take_over(reader, task, leader);
}
