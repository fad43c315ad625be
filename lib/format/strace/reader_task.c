#define _GNU_SOURCE /* memmem */
/* Who acts on a line, what they have begun, and how they end. */
#include "format/strace/reader.h"

#include <stdlib.h>

#include "format/strace/scan.h"

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
		body->type != TR_STRACE_PID_CHANGED &&
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

void tr_strace_claim(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text info)
{
	const char *p = info.len ? memmem(info.data, info.len, "si_pid=", 7) : NULL;
	const char *code = info.len ? memmem(info.data, info.len, "si_code=", 8) : NULL;
	const char *end = info.data + info.len;
	unsigned long long child;

	/* one that a process sent by kill() has another code, a negative one or 0 with -X raw */
	if (!p || !code || !(p += 7, tr_strace_digits(&p, end, &child)))
		return;
	code += 8;
	if (tr_strace_take(&code, end, TR_TEXT("CLD_")) ||
	    (tr_strace_take(&code, end, TR_TEXT("0x")) && code < end && *code != '0'))
		reader->out_of_memory |= !tr_tasks_claim(&reader->tasks, task, child);
}

static void put_exit(struct tr_strace_reader *reader, struct tr_task *task,
		     const struct tr_strace_origin_line *from, struct tr_text signal, bool core,
		     uint64_t status)
{
	tr_strace_begin(reader, "exit", &from->time, task->tid);
	if (signal.len) {
		tr_buffer_put_literal(&reader->head, "-\tsignal=");
		tr_buffer_put_text(&reader->head, signal);
		if (core)
			tr_buffer_put_literal(&reader->head, "\tcore=true");
	} else {
		tr_buffer_put_literal(&reader->head, "-\tstatus=");
		tr_buffer_put_decimal(&reader->head, status);
	}
	tr_strace_put_tgid(reader, task);
	tr_strace_emit(reader, from);
}

static void stop_leaving(struct tr_strace_reader *reader, uint64_t tid)
{
	for (size_t i = 0; i < reader->leaving_count; i++) {
		if (reader->leaving[i] != tid)
			continue;
		reader->leaving_count--;
		memmove(reader->leaving + i, reader->leaving + i + 1,
			(reader->leaving_count - i) * sizeof *reader->leaving);
		return;
	}
}

void tr_strace_exit(struct tr_strace_reader *reader, struct tr_task *task,
		    const struct tr_strace_body *body)
{
	struct tr_text none = { NULL, 0 };
	bool killed = body->type == TR_STRACE_KILLED;

	reader->ends_seen = true;
	stop_leaving(reader, task->tid);
	tr_strace_abandon(reader, task);
	put_exit(reader, task, &reader->here, killed ? body->name : none, body->core, body->number);
	tr_tasks_exit(&reader->tasks, task);
}

/* Its end is not in the log: what exit_group said has to do. */
static void end_leaving(struct tr_strace_reader *reader, uint64_t tid)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, tid);
	struct tr_strace_call *call = task ? task->state : NULL;
	struct tr_text none = { NULL, 0 };

	stop_leaving(reader, tid);
	if (!call || !call->leaving)
		return;
	put_exit(reader, task, &call->left, none, false, call->status);
	tr_tasks_exit(&reader->tasks, task);
}

/*
 * The status is said again by the +++ line. With -qqq there is none: once so
 * many processes have left without one, nobody is waited for.
 */
void tr_strace_leave(struct tr_strace_reader *reader, struct tr_task *task, uint64_t status)
{
	uint64_t pid = task->process->pid;
	struct tr_task *leader = tr_tasks_find(&reader->tasks, pid);
	struct tr_strace_call *call = tr_strace_state(reader, leader ? leader : task);

	if (!call)
		return;
	call->leaving = true;
	call->status = status;
	call->left = reader->here;
	stop_leaving(reader, pid);
	if (reader->ends_seen)
		return; /* a process that lives on till the end of the log is looked at then */
	if (reader->leaving_count == TR_STRACE_LEAVING)
		end_leaving(reader, reader->leaving[0]);
	reader->leaving[reader->leaving_count++] = leader ? pid : task->tid;
}

/* A task that has something to say at the end of the log. */
struct last_word {
	uint64_t tid, line;
};

static int by_line(const void *a, const void *b)
{
	const struct last_word *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

void tr_strace_flush(struct tr_strace_reader *reader)
{
	struct tr_tasks *tasks = &reader->tasks;
	struct last_word *words = malloc((tasks->map.count + 1) * sizeof *words);
	struct tr_task *task;
	size_t count = 0, position = 0;

	if (!words) {
		reader->out_of_memory = true;
		return;
	}
	while ((task = tr_id_map_next(&tasks->map, &position))) {
		struct tr_strace_call *call = task->state;
		if (call && !task->ghost && (call->open || call->leaving))
			words[count++] =
				(struct last_word){ task->tid, call->open ? call->begin.line
									  : call->left.line };
	}
	qsort(words, count, sizeof *words, by_line);
	/* one that ends may take others with it: each is looked for again */
	for (size_t i = 0; i < count && !reader->out_of_memory; i++) {
		if ((task = tr_tasks_find(tasks, words[i].tid)))
			tr_strace_abandon(reader, task);
		end_leaving(reader, words[i].tid);
	}
	free(words);
}
