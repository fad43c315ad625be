/* SPDX-License-Identifier: MIT */
/*
 * The window. Bytes are read into a buffer that slides, or grows while a record needs more of it,
 * up to --max-record. An error of the source ends the input, but the bytes before it stay
 * readable.
 */
#include "core/input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/utf8.h"

enum { FIRST_WINDOW = 256 << 10 };

struct tr_input_private {
	struct tr_source *source;
	struct tr_limits limits;
	char *base; /* cap + TR_INPUT_PAD bytes */
	size_t cap;
	size_t first;	/* cap unless a record is larger; also the size of one read */
	uint64_t count; /* bytes read from source */
	void (*on_wait)(void *context);
	void *on_wait_context;
	/* Known by tr_input_line: [offset, searched) has no LF, and whether one follows. */
	uint64_t searched;
	bool lf_at_searched;
	struct tr_error error;
};

struct tr_input *tr_input_new(struct tr_source *source, const struct tr_limits *limits,
			      size_t first_window)
{
	size_t first = first_window ? first_window : FIRST_WINDOW;
	struct tr_input *in = calloc(1, sizeof *in);
	struct tr_input_private *self = calloc(1, sizeof *self);
	char *base = malloc(first + TR_INPUT_PAD);
	if (!in || !self || !base) {
		free(in);
		free(self);
		free(base);
		source->close(source);
		return NULL;
	}
	memset(base, 0, TR_INPUT_PAD);
	*self = (struct tr_input_private){
		.source = source,
		.limits = *limits,
		.base = base,
		.cap = first,
		.first = first,
	};
	in->private = self;
	in->pos = in->end = base;
	return in;
}

void tr_input_free(struct tr_input *in)
{
	if (!in)
		return;
	in->private->source->close(in->private->source);
	free(in->private->base);
	free(in->private);
	free(in);
}

void tr_input_on_wait(struct tr_input *in, void (*call)(void *context), void *context)
{
	in->private->on_wait = call;
	in->private->on_wait_context = context;
}

/* Moves the window into a buffer of cap bytes. */
static bool move_window(struct tr_input *in, size_t cap)
{
	struct tr_input_private *self = in->private;
	size_t available = tr_input_available(in);
	if (cap > SIZE_MAX - TR_INPUT_PAD)
		return false;
	char *base = malloc(cap + TR_INPUT_PAD);
	if (!base)
		return false;
	memcpy(base, in->pos, available);
	free(self->base);
	self->base = base;
	self->cap = cap;
	in->pos = base;
	in->end = base + available;
	return true;
}

/*
 * Makes free space after end. The window slides when a quarter of it or more was consumed,
 * otherwise it doubles: so moving bytes costs at most three times as much as reading them.
 */
static bool make_room(struct tr_input *in)
{
	struct tr_input_private *self = in->private;
	size_t available = tr_input_available(in);
	size_t consumed = (size_t)(in->pos - self->base);
	if (consumed > 0 && consumed >= self->cap / 4) {
		memmove(self->base, in->pos, available);
		in->pos = self->base;
		in->end = self->base + available;
		return true;
	}
	return self->cap <= SIZE_MAX / 2 && move_window(in, self->cap * 2);
}

/* Reduces the window after a large record; if that fails, the large one stays. */
static void shrink(struct tr_input *in, size_t want)
{
	struct tr_input_private *self = in->private;
	if (self->cap / 4 > self->first && want <= self->first &&
	    tr_input_available(in) < self->first)
		(void)move_window(in, self->first);
}

/* Records an error, unless there is one: later ones are consequences of the first. */
static void damage(struct tr_input *in, const struct tr_error *err)
{
	if (!in->damaged)
		in->private->error = *err;
	in->damaged = true;
}

/* Ends the input because memory is exhausted. False. */
static bool out_of_memory(struct tr_input *in)
{
	struct tr_error err;
	tr_error_memory(&err);
	damage(in, &err);
	return false;
}

/* Reads once, with room for at least `least` bytes if there is so much space. */
static bool read_more(struct tr_input *in, size_t least)
{
	struct tr_input_private *self = in->private;
	struct tr_source *source = self->source;
	if (self->on_wait && (!source->would_wait || source->would_wait(source)))
		self->on_wait(self->on_wait_context);

	size_t space = self->cap - (size_t)(in->end - self->base);
	size_t ask = least > self->first ? least : self->first;
	char *to = self->base + (in->end - self->base);
	struct tr_error err;
	tr_error_clear(&err);
	ssize_t n = source->read(source, to, ask < space ? ask : space, &err);
	if (n <= 0) {
		in->at_end = true;
		if (n < 0)
			damage(in, &err);
		return false;
	}
	in->end += n;
	self->count += (uint64_t)n;
	memset(to + n, 0, TR_INPUT_PAD);
	return true;
}

/* Like tr_input_more, without the limit. */
static bool fill(struct tr_input *in, size_t want)
{
	struct tr_input_private *self = in->private;
	while (tr_input_available(in) < want) {
		if (in->at_end)
			return false;
		if (in->pos == in->end)
			in->pos = in->end = self->base;
		shrink(in, want);
		/* no small reads just because little space is left */
		size_t space = self->cap - (size_t)(in->end - self->base);
		if (space <= self->first / 4 && !make_room(in) && space == 0)
			return out_of_memory(in);
		if (!read_more(in, want - tr_input_available(in)))
			return false;
	}
	return true;
}

bool tr_input_more(struct tr_input *in, size_t want)
{
	struct tr_input_private *self = in->private;
	if (tr_input_available(in) >= want)
		return true;
	if (want > self->limits.max_record) {
		struct tr_error err;
		if (in->bidding)
			return false;
		tr_error_set(&err, TR_CAUSE_LIMIT,
			     "a record of %zu bytes is larger than the limit of %" PRIu64
			     " (--max-record raises it)",
			     want, self->limits.max_record);
		tr_error_at_offset(&err, in->offset);
		damage(in, &err);
		return false;
	}
	return fill(in, want);
}

struct tr_text tr_input_look(struct tr_input *in)
{
	struct tr_source *source = in->private->source;
	if (!source->look || in->at_end)
		return (struct tr_text){ NULL, 0 };
	return source->look(source, tr_input_available(in));
}

bool tr_input_pass(struct tr_input *in, size_t n)
{
	struct tr_input_private *self = in->private;
	size_t available = tr_input_available(in);
	if (n <= available) {
		tr_input_skip(in, n);
		return true;
	}
	if (!self->source->pass(self->source, n - available))
		return false;
	self->count += n - available;
	in->offset += n;
	in->pos = in->end = self->base;
	return true;
}

uint64_t tr_input_raw_offset(const struct tr_input *in)
{
	struct tr_source *source = in->private->source;
	return source->raw_offset ? source->raw_offset(source) : in->private->count;
}

bool tr_input_would_wait(const struct tr_input *in)
{
	struct tr_source *source = in->private->source;
	return in->pos == in->end && !in->at_end &&
	       (!source->would_wait || source->would_wait(source));
}

bool tr_input_idle(struct tr_input *in, unsigned milliseconds)
{
	enum { MICROSECOND = 1000, MILLISECOND = 1000 * MICROSECOND, LONGEST = 100 * MILLISECOND };
	struct tr_source *source = in->private->source;
	if (in->at_end || !source->would_wait || !source->would_wait(source))
		return false;
	if (in->private->on_wait)
		in->private->on_wait(in->private->on_wait_context);
	/*
	 * a source can only be polled; each pause is as long as all before together, so little time
	 * is lost
	 */
	uint64_t waited = 0, limit = (uint64_t)milliseconds * MILLISECOND;
	for (uint64_t pause = 50 * MICROSECOND; waited < limit; waited += pause) {
		if (waited > pause)
			pause = waited < LONGEST ? waited : LONGEST;
		struct timespec time = { .tv_sec = 0, .tv_nsec = (long)pause };
		nanosleep(&time, NULL);
		if (!source->would_wait(source))
			return false;
	}
	return true;
}

void tr_input_interrupt(struct tr_input *in)
{
	struct tr_source *source = in->private->source;
	if (source->interrupt)
		source->interrupt(source);
}

void tr_input_error(const struct tr_input *in, struct tr_error *err)
{
	if (err)
		*err = in->private->error;
}

/* Returns the length of the line with its LF if the window has all of it, else 0. */
static size_t find_lf(struct tr_input *in)
{
	struct tr_input_private *self = in->private;
	size_t available = tr_input_available(in);
	size_t known = 0;
	if (self->searched >= in->offset) {
		known = (size_t)(self->searched - in->offset);
		if (self->lf_at_searched)
			return known + 1;
	}
	const char *lf =
		available > known ? memchr(in->pos + known, '\n', available - known) : NULL;
	size_t clean = lf ? (size_t)(lf - in->pos) : available;
	self->searched = in->offset + clean;
	self->lf_at_searched = lf != NULL;
	return lf ? clean + 1 : 0;
}

/*
 * True if the line takes at most `limit` bytes in the stream, where a control character takes 6
 * bytes and an invalid byte takes 4. Lines that are short enough anyway are not examined.
 */
static bool fits_as_spelled(const char *p, size_t len, uint64_t limit)
{
	enum { CONTROL = 6, BYTE = 4 };
	const char *end = p + len;
	uint64_t spelled = 0;
	if (len <= limit / CONTROL)
		return true;
	while (p < end && spelled <= limit) {
		unsigned char c = (unsigned char)*p;
		unsigned length = c < 0x80 ? 1 : tr_utf8_length(p, end);
		if (c == 0x7f || (c < ' ' && c != '\t' && c != '\n'))
			spelled += CONTROL;
		else
			spelled += length ? length : BYTE;
		p += length ? length : 1;
	}
	return spelled <= limit;
}

/* Skips a line that is too long when it is spelled as a record, although its bytes fit. TR_WARN. */
static enum tr_status skip_spelled(struct tr_input *in, size_t length, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "a line of %zu bytes is, with its escapes, longer than the limit of %" PRIu64
		     " (--max-record raises it)",
		     length, in->private->limits.max_record);
	tr_error_at_offset(err, in->offset);
	tr_input_skip(in, length);
	return TR_WARN;
}

/* Skips the rest of a long line in constant memory. */
static enum tr_status skip_long_line(struct tr_input *in, struct tr_error *err)
{
	uint64_t start = in->offset;
	size_t length;
	while ((length = find_lf(in)) == 0) {
		tr_input_skip(in, tr_input_available(in));
		if (!fill(in, 1))
			break;
	}
	tr_input_skip(in, length);
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "a line of %" PRIu64 " bytes is longer than the limit of %" PRIu64
		     " (--max-record raises it)",
		     in->offset - start, in->private->limits.max_record);
	tr_error_at_offset(err, start);
	return TR_WARN;
}

enum tr_status tr_input_line(struct tr_input *in, struct tr_text *line, struct tr_error *err)
{
	uint64_t limit = in->private->limits.max_record;
	size_t length;
	while ((length = find_lf(in)) == 0) {
		size_t available = tr_input_available(in);
		if (available > limit)
			return skip_long_line(in, err);
		if (fill(in, available + 1))
			continue;
		if (!in->at_end)
			return tr_error_memory(err);
		if (available == 0)
			return TR_END;
		length = available;
		break;
	}
	if (length > limit)
		return skip_long_line(in, err);
	if (!fits_as_spelled(in->pos, length, limit))
		return skip_spelled(in, length, err);
	*line = (struct tr_text){ in->pos, length };
	return TR_OK;
}
