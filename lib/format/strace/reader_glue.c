/*
 * Lines that strace printed into each other, which happens on standard error: a
 * message comes in the middle of a call, and the rest of that on a line of its
 * own, behind more messages and what the traced programs say.
 */
#include "format/strace/reader.h"

#include "format/strace/scan.h"

enum { PIECES = 16 }; /* lines that may be the rest of a call, or what programs say before it */

/* Where strace's name begins, which ends at `name_end`: "strace", "/usr/bin/strace". */
static const char *name_begin(const char *begin, const char *name_end)
{
	const struct tr_text word = TR_TEXT("strace");
	const char *p = name_end;

	if ((size_t)(p - begin) < word.len || memcmp(p - word.len, word.data, word.len) != 0)
		return NULL;
	const char *name = p -= word.len;
	if (p == begin || p[-1] != '/')
		return name;
	/* of the path no more than from its first slash on can be told from what stands before */
	for (; p > begin && (tr_strace_is_name(p[-1]) || memchr("/.+-", p[-1], 4)); p--)
		if (p[-1] == '/')
			name = p - 1;
	while (name > begin && name[-1] == '.')
		name--;
	return name;
}

/* "clone(…strace: Process 7 attached": where the message begins; NULL: it is none. */
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

/* True: a message was printed into the line, which goes on elsewhere. */
static bool take_apart(struct tr_strace_reader *reader, struct tr_text line)
{
	const char *message = find_message(line);

	if (!message || message == line.data)
		return false;
	tr_strace_read_line(reader, tr_text_span(message, line.data + line.len));
	tr_buffer_reset(&reader->glued);
	tr_buffer_put(&reader->glued, line.data, (size_t)(message - line.data));
	reader->out_of_memory |= reader->glued.failed;
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

/* The line is the rest of a call, as the two together are one. */
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

/* Puts the line behind what waits for its rest. False: it is not that. */
static bool join(struct tr_strace_reader *reader, struct tr_text line)
{
	struct tr_buffer *glued = &reader->glued, whole;
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

/* True: the line was taken while something waits for its rest, or is that rest. */
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
		if (numbered || reader->pieces++ == PIECES)
			return false;
		if (!join(reader, line))
			tr_strace_read_line(reader, line); /* what a program says */
		return true;
	default:
		return false; /* strace says itself where a call is interrupted by another one */
	}
}

void tr_strace_take_line(struct tr_strace_reader *reader, struct tr_text line)
{
	if (line.len && line.data[line.len - 1] == '\r')
		line.len--;
	if (reader->glued.len && take_between(reader, line))
		return;
	tr_strace_take_rest(reader);
	reader->pieces = 0;
	if (!take_apart(reader, line))
		tr_strace_read_line(reader, line);
}

void tr_strace_take_rest(struct tr_strace_reader *reader)
{
	if (reader->glued.len)
		tr_strace_read_line(reader, tr_buffer_text(&reader->glued));
	tr_buffer_reset(&reader->glued);
}
