/* SPDX-License-Identifier: MIT */
#include "core/buffer.h"

#include "core/decimal.h"
#include "core/hex.h"

#include <stdlib.h>

enum { FIRST_SIZE = 4 << 10, KEPT_SIZE = 1 << 20 };

bool tr_buffer_grow(struct tr_buffer *b, size_t more)
{
	size_t limit = b->limit ? b->limit : PTRDIFF_MAX;
	if (b->failed || b->len > limit || more > limit - b->len) {
		b->limited |= !b->failed && b->limit;
		b->failed = true;
		return false;
	}
	size_t cap = b->cap ? b->cap : FIRST_SIZE;
	while (cap < b->len + more)
		cap = cap > limit / 2 ? limit : cap * 2;
	if (cap > limit)
		cap = limit;
	char *data = realloc(b->lent ? NULL : b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	if (b->lent)
		memcpy(data, b->data, b->len);
	b->lent = false;
	b->data = data;
	b->cap = cap;
	return true;
}

void tr_buffer_put_decimal(struct tr_buffer *b, uint64_t n)
{
	/* no more than is needed: the buffer may be an array of just the size */
	char *to = tr_buffer_room(b, tr_decimal_length(n));
	if (to)
		b->len += tr_decimal_write(n, to);
}

void tr_buffer_put_hex(struct tr_buffer *b, uint64_t n, unsigned width)
{
	char digits[16];
	unsigned len = tr_hex_length(n);
	if (len < width)
		len = width < sizeof digits ? width : sizeof digits;
	tr_hex_write(n, len, digits);
	tr_buffer_put(b, digits, len);
}

void tr_buffer_limit(struct tr_buffer *b, uint64_t max_record)
{
	enum { AFTER = 128 };

	b->limit = max_record < PTRDIFF_MAX - AFTER ? (size_t)max_record + AFTER : 0;
}

char *tr_buffer_insert(struct tr_buffer *b, size_t at, size_t n)
{
	if (!tr_buffer_room(b, n))
		return NULL;
	memmove(b->data + at + n, b->data + at, b->len - at);
	b->len += n;
	return b->data + at;
}

void tr_buffer_reset(struct tr_buffer *b)
{
	if (b->cap > KEPT_SIZE)
		tr_buffer_free(b);
	b->len = 0;
	b->failed = b->limited = false;
}

void tr_buffer_trim(struct tr_buffer *b)
{
	/* to another place: what is cut off would be just too short for the next one */
	char *data = b->len && b->len < b->cap && !b->lent ? malloc(b->len) : NULL;
	if (!data)
		return;
	memcpy(data, b->data, b->len);
	free(b->data);
	b->data = data;
	b->cap = b->len;
}

void tr_buffer_free(struct tr_buffer *b)
{
	if (!b->lent)
		free(b->data);
	*b = (struct tr_buffer){ .limit = b->limit };
}
