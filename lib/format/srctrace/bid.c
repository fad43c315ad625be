#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "format/srctrace/srctrace.h"

enum {
	LEAST = 8,	    /* bytes of a cut magic that tell it from other things */
	SEARCH = 4 << 20,   /* so much of a log may stand before the first trace */
	BITS_MARKER = 8 * (sizeof TR_SRCTRACE_BEGIN - 1),
};

int tr_srctrace_magic_bits(const char *p, size_t available)
{
	size_t n = available < TR_SRCTRACE_MAGIC_SIZE ? available : TR_SRCTRACE_MAGIC_SIZE;
	return n >= LEAST && memcmp(p, TR_SRCTRACE_MAGIC, n) == 0 ? (int)n * 8 : 0;
}

int tr_srctrace_bid(struct tr_input *in)
{
	tr_input_more(in, TR_SRCTRACE_MAGIC_SIZE);
	return tr_srctrace_magic_bits(in->pos, tr_input_available(in));
}

/* A console log is text: what holds a NUL is not looked through to the end. */
int tr_srctrace_search(struct tr_input *in)
{
	size_t marker = sizeof TR_SRCTRACE_BEGIN - 1, seen = 0;
	for (;;) {
		size_t available = tr_input_available(in);
		size_t limit = available < SEARCH ? available : SEARCH;
		size_t from = seen < marker ? 0 : seen - marker;
		if (memmem(in->pos + from, limit - from, TR_SRCTRACE_BEGIN, marker))
			return BITS_MARKER;
		if (limit == SEARCH || (limit > seen && memchr(in->pos + seen, 0, limit - seen)))
			return 0;
		seen = limit;
		if (!tr_input_more(in, available + 1))
			return 0;
	}
}
