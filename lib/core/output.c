/* SPDX-License-Identifier: MIT */
#include "core/output.h"

#include <stdlib.h>

enum {
	BUFFER = 256 << 10,
	LARGE = BUFFER / 2, /* from here on copying costs more than a write of its own */
	LENT = 4 << 10,	    /* at least: nearly all lines are shorter */
};
_Static_assert((int)TR_OUTPUT_ROOM <= (int)BUFFER, "room needs memory");

struct tr_output_private {
	struct tr_sink *sink;
	char *base;
	size_t cap;
	uint64_t written; /* bytes that left the buffer: to the sink, after a failure nowhere */
	struct tr_error error;
};

struct tr_output *tr_output_new(struct tr_sink *sink)
{
	struct tr_output *out = malloc(sizeof *out);
	struct tr_output_private *self = malloc(sizeof *self);
	char *base = malloc(BUFFER);
	if (!out || !self || !base) {
		free(out);
		free(self);
		free(base);
		sink->close(sink);
		return NULL;
	}
	*self = (struct tr_output_private){ .sink = sink, .base = base, .cap = BUFFER };
	*out = (struct tr_output){ .pos = base, .end = base + BUFFER, .private = self };
	return out;
}

void tr_output_line_buffered(struct tr_output *out, bool on)
{
	out->line_buffered = on;
}

static size_t buffered(const struct tr_output *out)
{
	return (size_t)(out->pos - out->private->base);
}

static void sink_write(struct tr_output *out, const char *data, size_t len)
{
	struct tr_output_private *self = out->private;
	self->written += len;
	if (!out->failed && len > 0)
		out->failed = !self->sink->write(self->sink, data, len, &self->error);
}

static void write_buffer(struct tr_output *out)
{
	struct tr_output_private *self = out->private;
	size_t len = buffered(out);
	out->pos = self->base;
	sink_write(out, self->base, len);
}

/* Only while the buffer is empty. False: it is as it was. */
static bool resize_buffer(struct tr_output *out, size_t cap)
{
	struct tr_output_private *self = out->private;
	char *base = cap <= PTRDIFF_MAX ? malloc(cap) : NULL;
	if (!base)
		return false;
	free(self->base);
	self->base = base;
	self->cap = cap;
	out->pos = base;
	out->end = base + cap;
	return true;
}

char *tr_output_grow(struct tr_output *out, size_t n)
{
	struct tr_output_private *self = out->private;
	write_buffer(out);
	/* a buffer that was large once goes back when less will do */
	if (n <= BUFFER && self->cap > BUFFER)
		(void)resize_buffer(out, BUFFER);
	if (n <= self->cap || resize_buffer(out, n))
		return out->pos;
	if (!out->failed)
		tr_error_memory(&self->error);
	out->failed = true;
	return NULL;
}

void tr_output_lend(struct tr_output *out, struct tr_buffer *b)
{
	size_t room = (size_t)(out->end - out->pos);
	if (room < LENT) {
		if (b->lent)
			tr_buffer_free(b);
		tr_buffer_reset(b);
		return;
	}
	if (!b->lent)
		free(b->data);
	/* one by one: whole structures are copied in pieces that what was just stored is not in */
	b->data = out->pos;
	b->len = 0;
	b->cap = room;
	b->failed = false;
	b->lent = true;
}

void tr_output_put_large(struct tr_output *out, const char *data, size_t len)
{
	if (len >= LARGE) {
		write_buffer(out);
		sink_write(out, data, len);
		return;
	}
	/* whole blocks, as long as nobody flushes: what is behind us may like them */
	size_t fits = (size_t)(out->end - out->pos);
	if (fits > len)
		fits = len;
	memcpy(out->pos, data, fits);
	out->pos += fits;
	if (fits == len)
		return;
	write_buffer(out);
	memcpy(out->pos, data + fits, len - fits);
	out->pos += len - fits;
}

bool tr_output_flush(struct tr_output *out)
{
	struct tr_output_private *self = out->private;
	write_buffer(out);
	if (!out->failed)
		out->failed = !self->sink->flush(self->sink, &self->error);
	return !out->failed;
}

uint64_t tr_output_count(const struct tr_output *out)
{
	return out->private->written + buffered(out);
}

/* The error that made it fail. */
static void output_error(const struct tr_output *out, struct tr_error *err)
{
	if (err)
		*err = out->private->error;
}

static void free_output(struct tr_output *out)
{
	out->private->sink->close(out->private->sink);
	free(out->private->base);
	free(out->private);
	free(out);
}

bool tr_output_finish(struct tr_output *out, struct tr_error *err)
{
	struct tr_output_private *self = out->private;
	write_buffer(out);
	if (!out->failed)
		out->failed = !self->sink->finish(self->sink, &self->error);
	bool done = !out->failed;
	if (!done)
		output_error(out, err);
	free_output(out);
	return done;
}

void tr_output_discard(struct tr_output *out)
{
	if (out)
		free_output(out);
}
