#define _GNU_SOURCE /* memmem */
/*
 * Lines that strace itself printed wrong, in a file of its own, and what they should be.
 *
 * A call that strace could not look at, because another thread's exec ended its process, is left
 * without an end, or even without all of its arguments, and the next line of the process follows
 * on the same one:
 *
 *	7 ???(7 +++ superseded by execve in pid 8 +++
 *
 * With -z a call is printed when it is known to have succeeded. Where others spoke meanwhile it
 * is whole, but on two lines:
 *
 *	7 close(3 <unfinished ...>
 *	)                                = 0
 */
#include "format/strace/reader.h"

#include "format/strace/scan.h"

/* Lines that end what a task was doing. */
static bool is_end(enum tr_strace_body_type type)
{
	return type == TR_STRACE_RESUMED || type == TR_STRACE_LEFT ||
	       type == TR_STRACE_SUPERSEDED || type == TR_STRACE_EXITED || type == TR_STRACE_KILLED;
}

/* Where the other line begins: with its prefix, which begins as that of the whole one does. */
static const char *find_glued(struct tr_text line, const struct tr_strace_prefix *prefix,
			      const char *arguments)
{
	const struct tr_text words = TR_TEXT("+++ superseded by execve in pid ");
	const char *end = line.data + line.len, *p = line.data, *found = arguments;
	const char *mark = memmem(arguments, (size_t)(end - arguments), words.data, words.len);

	if (!mark || !prefix->has_pid)
		return mark ? mark : arguments;
	while (p < mark && *p != ' ')
		p++;
	if (prefix->bracketed)
		p = tr_strace_skip(p, mark);
	const struct tr_text own = tr_text_span(line.data, p);
	for (p = arguments; (p = memmem(p, (size_t)(mark - p), own.data, own.len)); p++)
		found = p;
	return found;
}

/*
 * What stands behind the beginning of a call is a line of the same task: the call is taken, and
 * the other line is left.
 */
static bool take_glued(struct tr_strace_reader *reader, struct tr_text *line,
		       const struct tr_strace_prefix *prefix, const struct tr_strace_body *body)
{
	const char *arguments = body->name.data + body->name.len + 1;
	const char *glued = find_glued(*line, prefix, arguments);
	struct tr_text inner = tr_text_span(glued, line->data + line->len);

	struct tr_strace_prefix next;
	struct tr_strace_body what;

	tr_strace_prefix_read(inner, &next);
	if (next.has_pid != prefix->has_pid || next.pid != prefix->pid)
		return false;
	tr_strace_body_read(tr_text_span(next.body, inner.data + inner.len), &what);
	if (!is_end(what.type))
		return false;
	const struct tr_strace_body begun = { .type = TR_STRACE_BEGUN,
					      .name = body->name,
					      .arguments = tr_text_span(arguments, glued) };
	struct tr_task *task = tr_strace_task(reader, prefix, &begun);
	if (task)
		tr_strace_call_begin(reader, task, &begun);
	*line = inner;
	return true;
}

/* The line is the end of the call on the line before. */
static bool take_second_half(struct tr_strace_reader *reader, struct tr_text *line)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, reader->begun.tid);
	struct tr_strace_call *call = task ? task->state : NULL;

	if (!call || !call->open)
		return false;
	size_t length = call->len + line->len;
	if (!tr_strace_call_reserve(call, length)) {
		reader->out_of_memory = true;
		return false;
	}
	memcpy(call->text + call->len, line->data, line->len);
	struct tr_strace_body body = { .type = TR_STRACE_RESUMED,
				       .name = tr_strace_call_name(call) };
	if (!tr_strace_body_finish(tr_text_span(call->text + call->name_len, call->text + length),
				   &body))
		return false;
	body.arguments = *line;
	tr_strace_resume(reader, task, &body, *line);
	line->len = 0;
	return true;
}

bool tr_strace_mend(struct tr_strace_reader *reader, struct tr_text *line,
		    const struct tr_strace_prefix *prefix, struct tr_strace_body *body)
{
	bool bad = body->type == TR_STRACE_CUT || body->type == TR_STRACE_UNKNOWN;
	bool unseen = body->type == TR_STRACE_CALL && *body->name.data == '?';

	if ((body->type == TR_STRACE_CUT || unseen) && take_glued(reader, line, prefix, body))
		return true;
	return bad && !prefix->has_pid && reader->begun.line &&
	       reader->begun.line + 1 == reader->here.line && take_second_half(reader, line);
}
