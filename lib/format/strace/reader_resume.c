/* "<... name resumed>": the second half of a call. */
#include "format/strace/reader.h"

static void complain(struct tr_strace_reader *reader, const char *what)
{
	tr_error_say(&reader->trouble, TR_CAUSE_INPUT, what);
	tr_error_at_line(&reader->trouble, reader->here.line);
}

void tr_strace_resume(struct tr_strace_reader *reader, struct tr_task *task,
		      struct tr_strace_body *body, struct tr_text line)
{
	bool exec = tr_strace_is_exec(body->name);
	struct tr_text nothing = { NULL, 0 };

	if (exec)
		tr_strace_take_exec(reader, task);
	struct tr_strace_call *call = task->state;
	bool mine = call && call->open && tr_text_equal(tr_strace_call_name(call), body->name);
	if (!mine) {
		/* its beginning is not in the log */
		if (call)
			task = tr_strace_abandon(reader, task);
		if (!task)
			return;
		if (!tr_strace_body_finish(body->arguments, body))
			tr_strace_put_raw(reader, line, "a call that is cut");
		else if (!exec)
			tr_strace_call_done(reader, task, body->name, body->arguments,
					    body->broken ? NULL : &body->result, &reader->here,
					    TR_STRACE_FLAG_BEGIN_LOST);
		else if (body->result.value.data)
			tr_strace_exec_done(reader, task, body->name, nothing, &reader->here);
		return;
	}
	size_t length = call->len + body->arguments.len;
	if (!tr_strace_call_reserve(call, length)) {
		reader->out_of_memory = true;
		return;
	}
	memcpy(call->text + call->len, body->arguments.data, body->arguments.len);
	call->len = length;
	struct tr_text text = { call->text, length };
	struct tr_text name = { text.data, call->name_len };
	body->name = name; /* it may have been in the text before that moved */
	struct tr_text rest = { text.data + name.len, text.len - name.len };
	struct tr_text more = body->arguments;
	bool whole = tr_strace_body_close(more, body);
	if (whole)
		body->arguments = (struct tr_text){ rest.data, rest.len - more.len };
	else
		whole = tr_strace_body_finish(rest, body);
	if (!whole)
		complain(reader, "a call without its end");
	call->open = false;
	if (call->proven)
		tr_strace_exec_done(reader, task, name, whole ? body->arguments : rest,
				    &call->begin);
	else
		tr_strace_call_done(reader, task, name, whole ? body->arguments : rest,
				    whole && !body->broken ? &body->result : NULL, &call->begin, 0);
	/* the task may be gone, but not after an exec or a fork of its own */
	tr_strace_call_close(call);
}
