#include "core/source.h"

#include <stdlib.h>

struct memory {
	struct tr_source source; /* first: this is what the caller holds */
	struct tr_text left;
};

static ssize_t read_memory(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct memory *memory = (struct memory *)source;
	size_t n = memory->left.len < cap ? memory->left.len : cap;

	(void)err;
	if (n)
		memcpy(buf, memory->left.data, n);
	memory->left.data += n;
	memory->left.len -= n;
	return (ssize_t)n;
}

static bool memory_would_wait(struct tr_source *source)
{
	(void)source;
	return false;
}

static void close_memory(struct tr_source *source)
{
	free(source);
}

struct tr_source *tr_source_memory(struct tr_text bytes)
{
	struct memory *memory = malloc(sizeof *memory);

	if (!memory)
		return NULL;
	*memory = (struct memory){
		.source = {
			.read = read_memory,
			.would_wait = memory_would_wait,
			.close = close_memory,
		},
		.left = bytes,
	};
	return &memory->source;
}
