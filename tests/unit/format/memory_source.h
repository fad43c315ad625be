/* A source over memory that gives `piece` bytes at a time, and fails at its end when told so. */
#ifndef TR_TESTS_MEMORY_SOURCE_H
#define TR_TESTS_MEMORY_SOURCE_H

#include <stdlib.h>
#include <string.h>

#include "core/input.h"

struct memory_source {
	struct tr_source base;
	struct tr_text data;
	size_t piece;
	bool fails;
};

static ssize_t memory_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct memory_source *s = (struct memory_source *)source;
	size_t n = s->piece < cap ? s->piece : cap;

	if (n > s->data.len)
		n = s->data.len;
	if (n == 0 && s->fails) {
		tr_error_set(err, TR_CAUSE_INPUT, "broken");
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

static struct tr_input *memory_input(struct tr_text data, size_t piece, bool fails)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct memory_source *s = calloc(1, sizeof *s);

	*s = (struct memory_source){ { .read = memory_read, .close = memory_close },
				     data, piece, fails };
	return tr_input_new(&s->base, &limits, piece);
}

#endif
