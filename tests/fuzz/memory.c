#include "memory.h"

#include <stdlib.h>
#include <string.h>

struct memory_source {
	struct tr_source source;
	const char *data;
	size_t left, piece;
};

static ssize_t source_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct memory_source *memory = (struct memory_source *)source;
	(void)err;
	size_t n = memory->left;
	if (n > cap)
		n = cap;
	if (n > memory->piece)
		n = memory->piece;
	if (n)
		memcpy(buf, memory->data, n);
	memory->data += n;
	memory->left -= n;
	return (ssize_t)n;
}

static void source_close(struct tr_source *source)
{
	free(source);
}

struct tr_source *memory_source(const void *data, size_t size, size_t piece)
{
	struct memory_source *memory = malloc(sizeof *memory);
	if (!memory)
		return NULL;
	*memory = (struct memory_source){
		.source = { .read = source_read, .close = source_close },
		.data = data,
		.left = size,
		.piece = piece,
	};
	return &memory->source;
}

struct memory_sink {
	struct tr_sink sink;
	struct tr_buffer *buffer;
};

static bool sink_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct tr_buffer *buffer = ((struct memory_sink *)sink)->buffer;
	tr_buffer_put(buffer, data, len);
	if (buffer->failed)
		tr_error_memory(err);
	return !buffer->failed;
}

static bool sink_done(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink;
	(void)err;
	return true;
}

static void sink_close(struct tr_sink *sink)
{
	free(sink);
}

struct tr_sink *memory_sink(struct tr_buffer *buffer)
{
	struct memory_sink *memory = malloc(sizeof *memory);
	if (!memory)
		return NULL;
	*memory = (struct memory_sink){
		.sink = {
			.write = sink_write,
			.flush = sink_done,
			.finish = sink_done,
			.close = sink_close,
		},
		.buffer = buffer,
	};
	return &memory->sink;
}
