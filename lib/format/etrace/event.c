#include "format/etrace/event.h"

#include <stdlib.h>
#include <string.h>

#include "core/input.h"

enum {
	ENV = 0,	/* the slot of an envset's text */
	GAP_MAX = 1024, /* empty arguments in a row: more are no gap but damage */
	ARGUMENTS_MAX =
		8 << 20, /* each takes a byte at least, and the kernel has no room for more */
	KEPT_BYTES = 1 << 20,
	KEPT = 4096, /* arguments that an event keeps space for */
};

/* Most are small and fine: no call for those. */
static inline void forget(struct tr_buffer *buffer)
{
	if (buffer->cap > KEPT_BYTES || buffer->failed)
		tr_buffer_reset(buffer);
	buffer->len = 0;
}

void tr_etrace_event_begin(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			   const struct tr_etrace_line *line)
{
	event->type = tag->type;
	event->role = tag->role;
	event->phase = TR_ETRACE_GATHERING;
	event->upid = line->upid;
	event->cpu = line->cpu;
	event->sec = event->begun_sec = event->last_sec = line->sec;
	event->nsec = event->begun_nsec = event->last_nsec = line->nsec;
	event->source_line = line->number;
	event->failed = event->cut = event->unfinished = false;
	event->disorder = event->beginless = false;
	event->given = event->awaited = 0;
	/* what the last event left; most have few */
	for (unsigned i = 0; event->used >> i; i++)
		event->strings[i] = (struct tr_etrace_string){ 0 };
	event->used = 0;
	event->last = NULL;
	event->in_arguments = false;
	forget(&event->bytes);
	forget(&event->extra);
	event->argument_count = 0;
	if (event->argument_cap > KEPT) {
		free(event->arguments);
		event->arguments = NULL;
		event->argument_cap = 0;
	}
}

void tr_etrace_event_go_on(struct tr_etrace_event *event, const struct tr_etrace_tag *tag,
			   const struct tr_etrace_line *line)
{
	event->phase = TR_ETRACE_GATHERING;
	event->role = tag->role;
	event->last = NULL;
	event->begun_sec = line->sec;
	event->begun_nsec = line->nsec;
}

void tr_etrace_event_free(struct tr_etrace_event *event)
{
	tr_buffer_free(&event->bytes);
	tr_buffer_free(&event->extra);
	free(event->arguments);
	free(event);
}

/* Lines of one string are printed one after the other: a later one cannot be older. */
static bool is_older(struct tr_etrace_event *event, const struct tr_etrace_line *line)
{
	bool older = line->sec != event->last_sec ? line->sec < event->last_sec
						  : line->nsec < event->last_nsec;

	event->last_sec = line->sec;
	event->last_nsec = line->nsec;
	return older;
}

static void end_string(struct tr_etrace_event *event, struct tr_etrace_string *string)
{
	event->awaited -= string->expected && !string->done;
	string->done = true;
}

/* The text of a line, which has TR_INPUT_PAD readable bytes behind it: short ones take no call. */
static void put_text(struct tr_buffer *to, struct tr_text text)
{
	char *room = tr_buffer_room(to, text.len + TR_INPUT_PAD);

	if (!room)
		return;
	if (text.len <= TR_INPUT_PAD)
		memcpy(room, text.data, TR_INPUT_PAD);
	else
		memcpy(room, text.data, text.len);
	tr_buffer_used(to, text.len);
}

/* A text behind a bar is done as soon as it is as long as it should be. */
static void append(struct tr_etrace_event *event, struct tr_etrace_string *string,
		   struct tr_text text)
{
	put_text(&event->bytes, text);
	string->len += text.len;
	if (string->form == TR_ETRACE_SHORT && string->len >= string->size)
		end_string(event, string);
}

static enum tr_etrace_fit result(const struct tr_etrace_event *event)
{
	return event->bytes.failed ? TR_ETRACE_MEMORY : TR_ETRACE_FITS;
}

static void begin_string(struct tr_etrace_event *event, struct tr_etrace_string *string,
			 bool in_parts)
{
	string->form = in_parts ? TR_ETRACE_LONG : TR_ETRACE_SHORT;
	event->used |= (uint8_t)(1u << (string - event->strings));
	string->begin = event->bytes.len;
	string->index = 0;
	event->last = string;
	event->in_arguments = false;
}

/* One more part of a string in parts, whose last line was the one before this one. */
static enum tr_etrace_fit add_part(struct tr_etrace_event *event, struct tr_etrace_string *string,
				   const struct tr_etrace_line *line, bool first)
{
	bool older = is_older(event, line);

	if (first ? line->index != 0 : line->index <= string->index || older)
		string->disorder = true;
	string->index = line->index;
	append(event, string, line->text);
	return result(event);
}

enum tr_etrace_fit tr_etrace_event_string(struct tr_etrace_event *event,
					  const struct tr_etrace_tag *tag, bool ended,
					  const struct tr_etrace_line *line)
{
	struct tr_etrace_string *string = &event->strings[tag->slot];

	bool in_halves = event->type == TR_ETRACE_RENAME || event->type == TR_ETRACE_LINK;

	if (event->phase != TR_ETRACE_GATHERING || !(tag->types >> event->type & 1) ||
	    (in_halves && !string->expected))
		return TR_ETRACE_STRANGE;
	if (ended) {
		/* both ends are printed with a bar; their published description has none */
		if (string->form != TR_ETRACE_LONG || string->done || line->text.len)
			return TR_ETRACE_STRANGE;
		end_string(event, string);
		return TR_ETRACE_FITS;
	}
	if (line->form == TR_ETRACE_BARE)
		return TR_ETRACE_STRANGE;
	bool in_parts = line->form == TR_ETRACE_PART;
	if (string->form == TR_ETRACE_UNSEEN) {
		begin_string(event, string, in_parts);
		if (in_parts)
			return add_part(event, string, line, true);
		is_older(event, line);
		append(event, string, line->text);
		return result(event);
	}
	if (!in_parts || string->form != TR_ETRACE_LONG || event->last != string)
		return TR_ETRACE_STRANGE;
	/* the text may begin with a line end: then there was a Cont before the first part */
	return add_part(event, string, line, false);
}

static struct tr_etrace_argument *add_argument(struct tr_etrace_event *event, uint64_t index)
{
	if (event->argument_count == event->argument_cap) {
		size_t cap = event->argument_cap ? event->argument_cap * 2 : 16;
		struct tr_etrace_argument *larger =
			reallocarray(event->arguments, cap, sizeof *larger);
		if (!larger)
			return NULL;
		event->arguments = larger;
		event->argument_cap = cap;
	}
	struct tr_etrace_argument *argument = &event->arguments[event->argument_count++];
	*argument = (struct tr_etrace_argument){ index, event->bytes.len, 0 };
	return argument;
}

enum tr_etrace_fit tr_etrace_event_argument(struct tr_etrace_event *event,
					    const struct tr_etrace_line *line)
{
	struct tr_etrace_argument *last =
		event->argument_count ? &event->arguments[event->argument_count - 1] : NULL;

	if (event->type != TR_ETRACE_EXEC || line->form != TR_ETRACE_PART)
		return TR_ETRACE_STRANGE;
	/* numbers count what is printed and what is empty: a gap that is no such is damage */
	uint64_t next = last ? last->index + 1 : 0;
	if (line->index >= ARGUMENTS_MAX || (line->index > next && line->index - next > GAP_MAX))
		return TR_ETRACE_STRANGE;
	bool older = is_older(event, line);
	bool goes_on = last && last->index == line->index && event->in_arguments;
	if ((event->in_arguments && older) || (last && !goes_on && line->index <= last->index))
		event->disorder = true;
	if (!goes_on)
		last = add_argument(event, line->index);
	if (!last)
		return TR_ETRACE_MEMORY;
	put_text(&event->bytes, line->text);
	last->len += line->text.len;
	event->in_arguments = true;
	event->last = NULL;
	return result(event);
}

bool tr_etrace_event_is_upid(const struct tr_etrace_line *line)
{
	uint64_t upid;
	bool padded;

	return line->form == TR_ETRACE_BAR && tr_etrace_number(line->text, &upid, &padded);
}

enum tr_etrace_fit tr_etrace_event_upid(struct tr_etrace_event *event,
					const struct tr_etrace_line *line)
{
	uint64_t upid = 0;
	bool padded;

	if (event->type != TR_ETRACE_ENVSET || line->form != TR_ETRACE_BAR ||
	    !tr_etrace_number(line->text, &upid, &padded))
		return TR_ETRACE_STRANGE;
	if (event->strings[ENV].form != TR_ETRACE_UNSEEN)
		event->disorder = true;
	if (event->strings[0].form == TR_ETRACE_UNSEEN) {
		event->last_sec = line->sec;
		event->last_nsec = line->nsec;
	}
	return add_argument(event, upid) ? TR_ETRACE_FITS : TR_ETRACE_MEMORY;
}

/* Parts of a variable are counted, and so are its lines. */
enum tr_etrace_fit tr_etrace_event_env(struct tr_etrace_event *event,
				       const struct tr_etrace_line *line)
{
	struct tr_etrace_string *string = &event->strings[ENV];

	if (event->type != TR_ETRACE_ENVSET || line->form == TR_ETRACE_BARE)
		return TR_ETRACE_STRANGE;
	if (string->form == TR_ETRACE_UNSEEN) {
		begin_string(event, string, true);
		event->beginless = line->index != 0;
		is_older(event, line);
	} else if (is_older(event, line) || line->index <= string->index) {
		string->disorder = true;
	} else if (line->index != string->index + 1) {
		event->beginless = true;
	}
	string->index = line->index;
	append(event, string, line->text);
	return result(event);
}

/* Only a text in parts may begin with a line end and have its Cont before its first part. */
static struct tr_etrace_string *begins_with_lf(struct tr_etrace_event *event)
{
	struct tr_etrace_string *string = event->strings;

	if (event->last && !event->last->done)
		return NULL;
	while (string < event->strings + TR_ETRACE_STRINGS &&
	       (!string->expected || string->form != TR_ETRACE_UNSEEN))
		string++;
	if (string == event->strings + TR_ETRACE_STRINGS || string->size < TR_ETRACE_PIECE)
		return NULL;
	begin_string(event, string, true);
	return string;
}

enum tr_etrace_fit tr_etrace_event_cont(struct tr_etrace_event *event,
					const struct tr_etrace_line *line)
{
	if (line->form != TR_ETRACE_BAR || event->phase != TR_ETRACE_GATHERING)
		return TR_ETRACE_STRANGE;
	if (event->in_arguments) {
		struct tr_etrace_argument *last = &event->arguments[event->argument_count - 1];
		event->disorder = is_older(event, line) || event->disorder;
		tr_buffer_put_byte(&event->bytes, '\n');
		tr_buffer_put_text(&event->bytes, line->text);
		last->len += 1 + line->text.len;
		return result(event);
	}
	struct tr_etrace_string *string = event->last;
	if (!string || string->done)
		string = begins_with_lf(event);
	if (!string)
		return TR_ETRACE_STRANGE;
	string->disorder = is_older(event, line) || string->disorder;
	string->index += event->type == TR_ETRACE_ENVSET;
	tr_buffer_put_byte(&event->bytes, '\n');
	string->len++;
	append(event, string, line->text);
	return result(event);
}

static int by_index(const void *a, const void *b)
{
	const struct tr_etrace_argument *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Appends the bytes of those from one to end, `len` in all. */
static bool join(struct tr_buffer *bytes, const struct tr_etrace_argument *one,
		 const struct tr_etrace_argument *end, size_t len)
{
	char *to = tr_buffer_room(bytes, len);

	if (!to)
		return false;
	for (; one < end; one++) {
		memcpy(to, bytes->data + one->begin, one->len);
		to += one->len;
	}
	tr_buffer_used(bytes, len);
	return true;
}

/* Parts of one argument that others came between are put together anew, behind all bytes. */
bool tr_etrace_event_sort(struct tr_etrace_event *event)
{
	struct tr_buffer *bytes = &event->bytes;
	struct tr_etrace_argument *list = event->arguments;
	size_t count = 0;

	if (!event->disorder || event->type != TR_ETRACE_EXEC || event->argument_count < 2)
		return true;
	qsort(list, event->argument_count, sizeof *list, by_index);
	for (size_t i = 0, end; i < event->argument_count; i = end) {
		size_t len = list[i].len, begin = bytes->len;
		for (end = i + 1; end < event->argument_count && list[end].index == list[i].index;
		     end++)
			len += list[end].len;
		struct tr_etrace_argument whole = { list[i].index, begin, len };
		if (end == i + 1)
			whole = list[i];
		else if (!join(bytes, list + i, list + end, len))
			return false;
		list[count++] = whole;
	}
	event->argument_count = count;
	return true;
}

uint64_t tr_etrace_event_argsize(const struct tr_etrace_event *event)
{
	uint64_t size = 0;

	for (size_t i = 0; i < event->argument_count; i++)
		size += event->arguments[i].len;
	if (event->argument_count)
		size += event->arguments[event->argument_count - 1].index + 1;
	return size;
}
