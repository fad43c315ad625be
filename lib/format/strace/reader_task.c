/* Who acts on a line. */
#include "format/strace/reader.h"

/*
 * The first task of a log has no parent in it, and where it is may be known from
 * outside. So has one that comes when nobody lives: of a run that was appended.
 */
static void begin_run(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_directory *directory;
	bool first = !reader->any;

	reader->any = true;
	task->adopted = true;
	tr_origin_give_up(task->process->origin, false);
	if (!reader->cwd.len || !first)
		return;
	directory = tr_directory_new(&reader->tasks.origins, reader->cwd);
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

/* The only task that lives, where there is one. */
static struct tr_task *only_task(const struct tr_strace_reader *reader)
{
	const struct tr_task_list *live = &reader->tasks.live;

	return live->count == 1 ? live->oldest : NULL;
}

/*
 * A number that nobody announced may be that of the task that had none so far.
 * Not while a call of that one is under way: then it has nothing else to say
 * than how that ends, and it is a child of its that speaks.
 */
static bool may_be_bare(const struct tr_task *bare, const struct tr_strace_body *body)
{
	const struct tr_strace_call *call = bare->state;

	return !call || !call->open ||
	       (body->type != TR_STRACE_CALL && body->type != TR_STRACE_BEGUN &&
		body->type != TR_STRACE_PID_CHANGED && body->type != TR_STRACE_DETACHED &&
		(body->type != TR_STRACE_RESUMED ||
		 tr_text_equal(tr_strace_call_name(call), body->name)));
}

/*
 * On stderr a line has a number only while several tasks live: one without is
 * the only one's.
 */
struct tr_task *tr_strace_task(struct tr_strace_reader *reader,
			       const struct tr_strace_prefix *prefix,
			       const struct tr_strace_body *body)
{
	struct tr_task *task;

	if (!prefix->has_pid && reader->file_pid != TR_STRACE_NOBODY)
		return tr_strace_task_by_number(reader, reader->file_pid);
	if (!prefix->has_pid) {
		task = only_task(reader);
		if (!task) /* begun while it was the only one */
			task = tr_tasks_find(&reader->tasks, reader->bare);
		if (!task)
			task = tr_strace_task_by_number(reader, TR_STRACE_NOBODY);
		reader->bare = task ? task->tid : TR_STRACE_NOBODY;
		return task;
	}
	if (prefix->bracketed && !tr_id_map_get(&reader->tasks.map, prefix->pid) &&
	    (task = tr_tasks_find(&reader->tasks, TR_STRACE_NOBODY)) && may_be_bare(task, body)) {
		reader->out_of_memory |= !tr_tasks_rename(&reader->tasks, task, prefix->pid);
		reader->bare = prefix->pid;
		return task;
	}
	return tr_strace_task_by_number(reader, prefix->pid);
}
