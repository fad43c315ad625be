/* SPDX-License-Identifier: MIT */
/* Sources and sinks in memory, for tests of streams and for fuzz targets. */
#ifndef TR_TESTS_MEMORY_H
#define TR_TESTS_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/input.h"
#include "core/source.h"

/* Returns borrowed data, at most `most` bytes at a time; then fails if that is set. */
struct memory_source {
	struct tr_source base;
	struct tr_text data;
	size_t most;
	bool fails;
};

static inline ssize_t memory_read(struct tr_source *source, char *buf, size_t cap,
				  struct tr_error *err)
{
	struct memory_source *s = (struct memory_source *)source;
	size_t n = s->data.len < cap ? s->data.len : cap;

	if (n > s->most)
		n = s->most;
	if (n == 0 && s->fails) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "the disk is broken");
		return -1;
	}
	if (n)
		memcpy(buf, s->data.data, n);
	s->data.data += n;
	s->data.len -= n;
	return (ssize_t)n;
}

static inline void memory_close(struct tr_source *source)
{
	free(source);
}

/* most 0: no bound. NULL: memory is out. */
static inline struct tr_source *memory_source(struct tr_text data, size_t most)
{
	struct memory_source *s = malloc(sizeof *s);

	if (!s)
		return NULL;
	*s = (struct memory_source){
		.base = { .read = memory_read, .close = memory_close },
		.data = data,
		.most = most ? most : SIZE_MAX,
	};
	return &s->base;
}

/* A window over borrowed data; most 1: a window of one byte, too. */
static inline struct tr_input *memory_input(struct tr_text data, size_t most, bool fails)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct tr_source *source = memory_source(data, most);

	if (!source)
		return NULL;
	((struct memory_source *)source)->fails = fails;
	return tr_input_new(source, &limits, most);
}

/* Appends to a buffer, and counts its calls. */
struct memory_sink {
	struct tr_sink base;
	struct tr_buffer *to;
	int *finished;
	size_t room; /* fails when more than this was written */
};

static inline bool memory_write(struct tr_sink *sink, const char *data, size_t len,
				struct tr_error *err)
{
	struct memory_sink *s = (struct memory_sink *)sink;

	if (len > s->room) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "the disk is full");
		return false;
	}
	s->room -= len;
	tr_buffer_put(s->to, data, len);
	if (s->to->failed)
		tr_error_memory(err);
	return !s->to->failed;
}

static inline bool memory_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true;
}

static inline bool memory_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct memory_sink *s = (struct memory_sink *)sink;

	(void)err;
	if (s->finished)
		++*s->finished;
	return true;
}

static inline void memory_close_sink(struct tr_sink *sink)
{
	free(sink);
}

/* finished: how often it was finished; may be NULL. NULL: memory is exhausted. */
static inline struct tr_sink *memory_sink(struct tr_buffer *to, int *finished)
{
	struct memory_sink *s = malloc(sizeof *s);

	if (!s)
		return NULL;
	*s = (struct memory_sink){
		.base = { memory_write, memory_flush, memory_finish, memory_close_sink },
		.to = to,
		.finished = finished,
		.room = SIZE_MAX,
	};
	return &s->base;
}

#endif
