/* Calls that have begun and not come back: what was printed of them waits here. */
#include "format/strace/reader.h"

#include <inttypes.h>
#include <string.h>

/* False: with this call those that have begun would take more memory than a record may. */
static bool fits(struct tr_strace_reader *reader, const struct tr_strace_body *body)
{
	uint64_t limit = reader->limits.max_record;

	if (reader->held + body->name.len + body->arguments.len <= limit)
		return true;
	tr_error_set(&reader->trouble, TR_CAUSE_LIMIT,
		     "calls that have not returned take more than %" PRIu64
		     " bytes: this one is recorded as unfinished (--max-record raises it)",
		     limit);
	tr_error_at_line(&reader->trouble, reader->here.line);
	return false;
}

struct tr_task *tr_strace_call_begin(struct tr_strace_reader *reader, struct tr_task *task,
				     const struct tr_strace_body *body)
{
	task = tr_strace_abandon(reader, task);
	struct tr_strace_call *call = task ? tr_strace_state(reader, task) : NULL;

	if (!call)
		return NULL;
	if (!fits(reader, body)) {
		tr_strace_call_done(reader, task, body->name, body->arguments, NULL, &reader->here,
				    0);
		return task;
	}
	call->len = body->name.len + body->arguments.len;
	if (!tr_strace_call_reserve(call, call->len)) {
		reader->out_of_memory = true;
		return NULL;
	}
	call->name_len = body->name.len;
	memcpy(call->text, body->name.data, body->name.len);
	if (body->arguments.len)
		memcpy(call->text + body->name.len, body->arguments.data, body->arguments.len);
	call->open = true;
	call->begin = reader->here;
	/* another thread may be given the number before this one is told so */
	call->closed = tr_text_is(body->name, "close");
	if (call->closed)
		tr_strace_close_descriptor(reader, task, body->arguments);
	if (tr_strace_is_fork(body->name))
		call->directory = tr_directory_retain(task->place->directory);
	return task;
}

struct tr_task *tr_strace_abandon(struct tr_strace_reader *reader, struct tr_task *task)
{
	struct tr_strace_call *call = task->state;
	uint64_t tid = task->tid;

	if (!call || !call->open)
		return task;
	struct tr_task *leader =
		call->proven ? tr_tasks_find(&reader->tasks, task->process->pid) : NULL;
	bool is_thread = leader && leader != task;
	if (is_thread) {
		tr_strace_take_over(reader, task, leader);
		task = leader;
		call = task->state;
	}
	struct tr_text name = tr_strace_call_name(call);
	struct tr_text arguments = { call->text + call->name_len, call->len - call->name_len };
	call->open = false;
	if (call->proven)
		tr_strace_exec_done(reader, task, name, arguments, &call->begin);
	else
		tr_strace_call_done(reader, task, name, arguments, NULL, &call->begin, 0);
	tr_strace_call_close(call);
	/* an exec has ended the thread, so the number is another one's now */
	return is_thread ? tr_strace_task_by_number(reader, tid) : task;
}
