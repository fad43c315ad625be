/* A line: whose it is, and what it makes of the task. */
#include "format/strace/reader.h"

#include "format/strace/value.h"

static void put_signal(struct tr_strace_reader *reader, const struct tr_task *task,
		       const struct tr_strace_body *body)
{
	bool cut = false;

	tr_strace_begin(reader, "signal", &reader->here.time, task->tid);
	tr_buffer_put_text(&reader->head, body->name);
	if (body->type == TR_STRACE_STOPPED) {
		tr_buffer_put_literal(&reader->head, "\tstopped=true");
	} else if (body->arguments.len) {
		tr_buffer_put_literal(&reader->head, "\tinfo=");
		tr_strace_value(body->arguments, &reader->head, &cut);
	}
	tr_strace_put_tgid(reader, task);
	tr_strace_emit(reader, &reader->here);
}

static void act(struct tr_strace_reader *reader, struct tr_task *task, struct tr_strace_body *body,
		struct tr_text line)
{
	switch (body->type) {
	case TR_STRACE_CALL:
		task = tr_strace_abandon(reader, task);
		if (!task)
			break;
		tr_strace_call_done(reader, task, body->name, body->arguments,
				    body->broken ? NULL : &body->result, &reader->here, 0);
		break;
	case TR_STRACE_BEGUN:
		tr_strace_call_begin(reader, task, body);
		break;
	case TR_STRACE_PID_CHANGED:
		task = tr_strace_call_begin(reader, task, body);
		if (task)
			tr_strace_change_pid(reader, task, body->number);
		break;
	case TR_STRACE_DETACHED:
		task = tr_strace_abandon(reader, task);
		if (task)
			tr_strace_detached(reader, task, body->name, body->arguments);
		break;
	case TR_STRACE_RESUMED:
		tr_strace_resume(reader, task, body, line);
		break;
	case TR_STRACE_LEFT:
		tr_strace_abandon(reader, task);
		break;
	case TR_STRACE_SUPERSEDED: {
		struct tr_task *thread = tr_tasks_find(&reader->tasks, body->number);
		if (thread)
			tr_strace_take_over(reader, thread, task);
		break;
	}
	case TR_STRACE_EXITED:
	case TR_STRACE_KILLED:
		tr_strace_exit(reader, task, body);
		break;
	default:
		if (tr_text_is(body->name, "SIGCHLD"))
			tr_strace_claim(reader, task, body->arguments);
		put_signal(reader, task, body);
	}
}

void tr_strace_read_line(struct tr_strace_reader *reader, struct tr_text line)
{
	struct tr_strace_prefix prefix;
	struct tr_strace_body body;
	const char *end = line.data + line.len;

	if (reader->in_table && tr_strace_is_row(line))
		return;
	tr_strace_prefix_read(line, &prefix);
	reader->here.time.len = tr_strace_time(&reader->clock, &prefix, reader->here.time.text);
	tr_strace_body_read(tr_text_span(prefix.body, end), &body);
	reader->in_table = body.type == TR_STRACE_TABLE;
	if (tr_strace_mend(reader, &line, &prefix, &body)) {
		if (line.len)
			tr_strace_read_line(reader, line); /* it ends a call: nothing to mend */
		return;
	}
	switch (body.type) {
	case TR_STRACE_MESSAGE:
	case TR_STRACE_TABLE:
		return;
	case TR_STRACE_ATTACHED:
		tr_strace_task_by_number(reader, body.number);
		return;
	case TR_STRACE_CUT:
		tr_strace_put_raw(reader, line, "a call that is cut");
		return;
	case TR_STRACE_UNKNOWN:
		tr_strace_put_raw(reader, line, "no line of strace's");
		return;
	default:
		break;
	}
	struct tr_task *task = tr_strace_task(reader, &prefix, &body);
	if (!task)
		return;
	if (body.type == TR_STRACE_BEGUN)
		reader->begun = (struct tr_strace_begun){ task->tid, reader->here.line };
	act(reader, task, &body, line);
}
