/* SPDX-License-Identifier: MIT */
/*
 * Lines that strace printed wrong, and how they should be.
 *
 * On standard error a message may be printed into a line, whose rest comes on a line of its own
 *after more messages and output of the traced programs:
 *
 *	clone(child_stack=NULL, flags=SIGCHLDstrace: Process 7 attached
 *	) = 7
 *
 * A call that another thread's exec interrupted has no end and perhaps not all arguments; the next
 * line of the process follows on the same line:
 *
 *	7 ???(7 +++ superseded by execve in pid 8 +++
 *
 * With -z a call is printed once it is known to have succeeded. If other tasks printed lines
 *meanwhile, it is complete, but on two lines:
 *
 *	7 close(3 <unfinished ...>
 *	)                                = 0
 */
#include "format/strace/strace.h"
#include "format/strace/text.h"

enum { PIECES = 16 }; /* lines that may come before the rest of a call */

/* The beginning of strace's name, which ends at name_end: "strace", "/usr/bin/strace". */
static const char *name_begin(const char *begin, const char *name_end)
{
	const struct tr_text word = TR_TEXT("strace");
	const char *p = name_end;

	if ((size_t)(p - begin) < word.len || memcmp(p - word.len, word.data, word.len) != 0)
		return NULL;
	const char *name = p -= word.len;
	if (p == begin || p[-1] != '/')
		return name;
	/* the path is known from its first slash on only */
	for (; p > begin && (tr_strace_is_name(p[-1]) || memchr("/.+-", p[-1], 4)); p--)
		if (p[-1] == '/')
			name = p - 1;
	while (name > begin && name[-1] == '.')
		name--;
	return name;
}

/* The beginning of a message in "clone(...strace: Process 7 attached"; NULL: there is none. */
static const char *find_message(struct tr_text line)
{
	struct tr_text head = line;

	if (!tr_strace_chop(&head, TR_TEXT(" attached")))
		return NULL;
	while (head.len && head.data[head.len - 1] >= '0' && head.data[head.len - 1] <= '9')
		head.len--;
	if (!tr_strace_chop(&head, TR_TEXT(": Process ")))
		return NULL;
	return name_begin(head.data, head.data + head.len);
}

/* Reads a message that was printed into the line, and keeps the rest. False: there is none. */
static bool take_apart(struct tr_strace_reader *reader, struct tr_text line)
{
	const char *message = find_message(line);

	if (!message || message == line.data)
		return false;
	tr_strace_read_line(reader, tr_text_span(message, line.data + line.len));
	tr_buffer_reset(&reader->repair.glued);
	tr_buffer_put(&reader->repair.glued, line.data, (size_t)(message - line.data));
	reader->out_of_memory |= reader->repair.glued.failed;
	return true;
}

static enum tr_strace_body_type type_of(struct tr_text line, bool *numbered)
{
	struct tr_strace_prefix prefix;
	struct tr_strace_body body;

	tr_strace_prefix_read(line, &prefix);
	tr_strace_body_read(tr_text_span(prefix.body, line.data + line.len), &body);
	*numbered = prefix.has_pid;
	return body.type;
}

/* Whether the text is a complete call. */
static bool completes(struct tr_text whole)
{
	bool numbered;

	switch (type_of(whole, &numbered)) {
	case TR_STRACE_CALL:
	case TR_STRACE_BEGUN:
	case TR_STRACE_PID_CHANGED:
	case TR_STRACE_DETACHED:
	case TR_STRACE_RESUMED:
		return true;
	default:
		return find_message(whole) != NULL;
	}
}

/* Appends the line to the one that lacks its rest. False: it is not the rest. */
static bool join(struct tr_strace_reader *reader, struct tr_text line)
{
	struct tr_buffer *glued = &reader->repair.glued, whole;
	size_t before = glued->len;

	tr_buffer_put_text(glued, line);
	reader->out_of_memory |= glued->failed;
	if (glued->failed || !completes(tr_buffer_text(glued))) {
		glued->len = before;
		return false;
	}
	whole = *glued;
	*glued = (struct tr_buffer)TR_BUFFER_INIT;
	if (!take_apart(reader, tr_buffer_text(&whole)))
		tr_strace_read_line(reader, tr_buffer_text(&whole));
	tr_buffer_free(&whole);
	return true;
}

/* Reads a line that comes before the rest of another one, or is that rest. False: neither. */
static bool take_between(struct tr_strace_reader *reader, struct tr_text line)
{
	bool numbered;

	switch (type_of(line, &numbered)) {
	case TR_STRACE_MESSAGE:
	case TR_STRACE_ATTACHED:
		tr_strace_read_line(reader, line);
		return true;
	case TR_STRACE_UNKNOWN:
	case TR_STRACE_CUT:
		if (numbered || reader->repair.pieces++ == PIECES)
			return false;
		if (!join(reader, line))
			tr_strace_read_line(reader, line); /* output of a program */
		return true;
	default:
		return false; /* strace marks calls that are interrupted by others */
	}
}

void tr_strace_take_line(struct tr_strace_reader *reader, struct tr_text line)
{
	if (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	if (reader->repair.glued.len && take_between(reader, line))
		return;
	tr_strace_end_lines(reader);
	reader->repair.pieces = 0;
	if (!take_apart(reader, line))
		tr_strace_read_line(reader, line);
}

void tr_strace_end_lines(struct tr_strace_reader *reader)
{
	if (reader->repair.glued.len)
		tr_strace_read_line(reader, tr_buffer_text(&reader->repair.glued));
	tr_buffer_reset(&reader->repair.glued);
}

/* Whether the line ends a call of its task. */
static bool is_end(enum tr_strace_body_type type)
{
	return type == TR_STRACE_RESUMED || type == TR_STRACE_LEFT ||
	       type == TR_STRACE_SUPERSEDED || type == TR_STRACE_EXITED || type == TR_STRACE_KILLED;
}

/* The beginning of the second line: its prefix, which begins as that of the whole line. */
static const char *find_glued(struct tr_text line, const struct tr_strace_prefix *prefix,
			      const char *arguments)
{
	const struct tr_text ends = TR_TEXT("+++ superseded by execve in pid ");
	const char *end = line.data + line.len, *p = line.data, *found = arguments;
	const char *mark = memmem(arguments, (size_t)(end - arguments), ends.data, ends.len);

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

/* Takes the call if a line of the same task follows on the same line, which *line is then. */
static bool take_glued(struct tr_strace_reader *reader, struct tr_text *line,
		       const struct tr_strace_prefix *prefix, const struct tr_strace_body *body)
{
	const char *arguments = body->name.data + body->name.len + 1;
	const char *glued = find_glued(*line, prefix, arguments);
	struct tr_text inner = tr_text_span(glued, line->data + line->len);

	struct tr_strace_prefix next;
	struct tr_strace_body body_of_next;

	tr_strace_prefix_read(inner, &next);
	if (next.has_pid != prefix->has_pid || next.pid != prefix->pid)
		return false;
	tr_strace_body_read(tr_text_span(next.body, inner.data + inner.len), &body_of_next);
	if (!is_end(body_of_next.type))
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

/* Takes the line as the end of the call on the line before. */
static bool take_second_half(struct tr_strace_reader *reader, struct tr_text *line)
{
	struct tr_task *task = tr_tasks_find(&reader->tasks, reader->repair.begun_tid);
	struct tr_strace_call *call = task ? task->state : NULL;

	if (!call || !call->open)
		return false;
	size_t before = call->len;
	if (!tr_strace_call_append(reader, call, *line))
		return false;
	struct tr_text text = { call->text + call->name_len, call->len - call->name_len };
	struct tr_strace_body body = { .type = TR_STRACE_RESUMED,
				       .name = tr_strace_call_name(call) };
	bool whole = tr_strace_body_finish(text, &body);
	call->len = before;
	if (!whole)
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
	return bad && !prefix->has_pid && reader->repair.begun_line &&
	       reader->repair.begun_line + 1 == reader->here.line && take_second_half(reader, line);
}
