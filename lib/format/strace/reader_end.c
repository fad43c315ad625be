#define _GNU_SOURCE /* memmem */
/*
 * How tasks end. "+++ exited" says so. Where strace was told not to say it (-qq), it is known
 * from exit_group, and from what the parent hears: SIGCHLD, wait4, waitid.
 */
#include "format/strace/reader.h"

#include <stdlib.h>

#include "format/strace/scan.h"
#include "format/strace/value.h"

/* The value of a member of {…}; data NULL: there is none. */
static struct tr_text member(struct tr_text info, struct tr_text key)
{
	const char *end = info.data + info.len;
	const char *p = info.len ? memmem(info.data, info.len, key.data, key.len) : NULL;

	if (!p)
		return (struct tr_text){ NULL, 0 };
	return tr_text_span(p + key.len, tr_strace_item_end(p + key.len, end));
}

/* False: it is none. */
static bool set_signal(struct tr_strace_end *end, struct tr_text name)
{
	if (name.len == 0 || name.len > sizeof end->signal)
		return false;
	end->signal_len = (uint8_t)name.len;
	memcpy(end->signal, name.data, name.len);
	return true;
}

/* "SIGKILL", "9", "9 (comment: SIGKILL)": the name where there is one. */
static struct tr_text signal_of(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	const char *comment = memmem(p, text.len, "/* ", 3);

	if (comment)
		p = comment + 3;
	for (end = p; end < text.data + text.len && tr_strace_is_name(*end);)
		end++;
	return tr_text_span(p, end);
}

/* si_code of a SIGCHLD that the kernel sent. */
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
	/* one that a process sent by kill() has another code, a negative one or 0 */
	if (!text.len || !tr_strace_number(text, &number) || number > LAST)
		return NO_CODE;
	return number > DUMPED ? OTHER_CODE : (enum code)number;
}

/* "[{WIFEXITED(s) && WEXITSTATUS(s) == 1}]", "[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}]". */
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
	return set_signal(end, signal_of(tr_text_span(p, stop)));
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
	bool killed = body->type == TR_STRACE_KILLED;
	struct tr_text none = { NULL, 0 };

	reader->ends_seen |= !killed; /* that one is said whatever -q is */
	stop_leaving(reader, task->tid);
	tr_strace_take_rest_of_exec(reader, task);
	task = tr_strace_abandon(reader, task);
	if (!task)
		return;
	put_exit(reader, task, &reader->here, killed ? body->name : none, body->core, body->number);
	tr_tasks_exit(&reader->tasks, task);
}

void tr_strace_end_leaving(struct tr_strace_reader *reader, uint64_t tid)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, tid);
	struct tr_strace_call *call = task ? task->state : NULL;

	stop_leaving(reader, tid);
	if (!call || !call->leaving)
		return;
	const struct tr_strace_end end = call->end;
	const struct tr_strace_origin_line left = call->left;
	tr_strace_take_rest_of_exec(reader, task);
	task = tr_strace_abandon(reader, task);
	if (!task)
		return;
	struct tr_text signal = { end.signal, end.signal_len };
	put_exit(reader, task, &left, signal, end.core, end.status);
	tr_tasks_exit(&reader->tasks, task);
}

/*
 * How the task ends is known, and will be said again by a +++ line if there are any. Once so many
 * have left without one, nobody is waited for.
 */
static void leave(struct tr_strace_reader *reader, struct tr_task *task,
		  const struct tr_strace_end *end)
{
	struct tr_strace_call *call = tr_strace_state(reader, task);

	if (!call)
		return;
	call->end = *end;
	if (call->leaving)
		return; /* the parent hears of it */
	call->leaving = true;
	call->left = reader->here;
	stop_leaving(reader, task->tid);
	if (reader->ends_seen)
		return; /* a process that lives on till the end of the log is looked at then */
	if (reader->leaving_count == TR_STRACE_LEAVING)
		tr_strace_end_leaving(reader, reader->leaving[0]);
	reader->leaving[reader->leaving_count++] = task->tid;
}

void tr_strace_leave(struct tr_strace_reader *reader, struct tr_task *task, uint64_t status)
{
	struct tr_task *leader = tr_tasks_find(&reader->tasks, task->process->pid);
	struct tr_strace_end end = { .status = status };

	leave(reader, leader ? leader : task, &end);
}

/* A child of the task's is said to have ended so. */
static void bury(struct tr_strace_reader *reader, uint64_t child, const struct tr_strace_end *end)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, child);

	if (task && task->process->pid == child)
		leave(reader, task, end);
}

void tr_strace_claim(struct tr_strace_reader *reader, struct tr_task *task, struct tr_text info)
{
	enum code code = read_code(member(info, TR_TEXT("si_code=")));
	struct tr_text pid = member(info, TR_TEXT("si_pid="));
	struct tr_text status = member(info, TR_TEXT("si_status="));
	struct tr_strace_end end = { .core = code == DUMPED };
	unsigned long long child, number = 0;

	if (code == NO_CODE || !pid.data || !tr_strace_number(pid, &child))
		return;
	reader->out_of_memory |= !tr_tasks_claim(&reader->tasks, task, child);
	if (code == OTHER_CODE || !status.data)
		return;
	bool known = code == EXITED ? tr_strace_number(status, &number)
				    : set_signal(&end, signal_of(status));
	end.status = number;
	if (known)
		bury(reader, child, &end);
}

void tr_strace_waited(struct tr_strace_reader *reader, struct tr_task *task, uint64_t child,
		      struct tr_text status)
{
	struct tr_strace_end end = { 0 };

	reader->out_of_memory |= !tr_tasks_claim(&reader->tasks, task, child);
	if (read_status(status, &end))
		bury(reader, child, &end);
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
		tr_strace_end_leaving(reader, words[i].tid);
	}
	free(words);
}
