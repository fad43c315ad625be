/* Sources and sinks in memory, for the tests of codecs and archives. */
#ifndef TR_TESTS_MEMORY_H
#define TR_TESTS_MEMORY_H

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/input.h"
#include "core/source.h"

/* Gives borrowed data, at most `most` bytes a read; then fails where told so. */
struct memory_source {
	struct tr_source base;
	struct tr_text data;
	size_t most;
	bool fails;
};

static ssize_t memory_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct memory_source *s = (struct memory_source *)source;
	size_t n = s->data.len < cap ? s->data.len : cap;
	if (n > s->most)
		n = s->most;
	if (n == 0 && s->fails) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "the disk is broken");
		return -1;
	}
	memcpy(buf, s->data.data, n);
	s->data.data += n;
	s->data.len -= n;
	return (ssize_t)n;
}

static void memory_close(struct tr_source *source)
{
	free(source);
}

static struct tr_source *memory_source(struct tr_text data, size_t most)
{
	struct memory_source *s = malloc(sizeof *s);
	*s = (struct memory_source){
		.base = { .read = memory_read, .close = memory_close },
		.data = data,
		.most = most ? most : SIZE_MAX,
	};
	return &s->base;
}

/* A window over borrowed data; most 1: a window of one byte, too. */
__attribute__((unused)) static struct tr_input *memory_input(struct tr_text data, size_t most)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	return tr_input_new(memory_source(data, most), &limits, most);
}

/* Everything source has, in reads of `piece` bytes; false: it ended in *err. Closes it. */
__attribute__((unused)) static bool drain(struct tr_source *source, size_t piece,
					  struct tr_buffer *to, struct tr_error *err)
{
	ssize_t n = 1;
	while (n > 0) {
		char *room = tr_buffer_room(to, piece);
		n = source->read(source, room, piece, err);
		if (n > 0)
			tr_buffer_used(to, (size_t)n);
	}
	source->close(source);
	return n == 0;
}

/* Appends to a buffer; counts what it was asked for. */
struct memory_sink {
	struct tr_sink base;
	struct tr_buffer *to;
	int *finished;
	size_t room; /* fails when more than this was written */
};

static bool memory_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct memory_sink *s = (struct memory_sink *)sink;
	if (len > s->room) {
		tr_error_set(err, TR_CAUSE_SYSTEM, "the disk is full");
		return false;
	}
	s->room -= len;
	tr_buffer_put(s->to, data, len);
	return true;
}

static bool memory_flush(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink, (void)err;
	return true;
}

static bool memory_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct memory_sink *s = (struct memory_sink *)sink;
	(void)err;
	if (s->finished)
		++*s->finished;
	return true;
}

static void memory_close_sink(struct tr_sink *sink)
{
	free(sink);
}

__attribute__((unused)) static struct tr_sink *memory_sink(struct tr_buffer *to, int *finished)
{
	struct memory_sink *s = malloc(sizeof *s);
	*s = (struct memory_sink){
		.base = { memory_write, memory_flush, memory_finish, memory_close_sink },
		.to = to,
		.finished = finished,
		.room = SIZE_MAX,
	};
	return &s->base;
}

/* len bytes of text that compresses well but is not trivial. */
__attribute__((unused)) static void put_lines(struct tr_buffer *to, size_t len)
{
	for (unsigned i = 0; to->len < len; i++) {
		tr_buffer_put_literal(to, "{\"exec\":{\"seq\":");
		tr_buffer_put_decimal(to, i * 7919u % 10007);
		tr_buffer_put_literal(to, ",\"argv\":[\"gcc\",\"-O2\",\"-c\"]}}\n");
	}
	to->len = len;
}

/* len bytes that nothing compresses, the same in every run. */
__attribute__((unused)) static void put_noise(struct tr_buffer *to, size_t len)
{
	uint64_t x = 88172645463325252u;
	char *room = tr_buffer_room(to, len);
	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		room[i] = (char)(x >> 32);
	}
	tr_buffer_used(to, len);
}

#endif
