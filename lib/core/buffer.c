/* SPDX-License-Identifier: MIT */
/* The slow path of a buffer: growth by doubling, the limit, and memory that the caller lent. */

#include "core/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

enum { FIRST_SIZE = 4 << 10, KEPT_SIZE = 1 << 20 };

/* Sums are checked against the limit before they are made, so none overflows. */
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
	/* no more room than needed, because the memory of the caller may have exactly this size */
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
	/*
	 * into new memory: the rest that realloc would cut off is just too short for the next
	 * buffer
	 */
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

enum { FIRST_ITEMS = 16 };

bool tr_array_grow(void *items, size_t *cap, size_t needed, size_t item_size)
{
	void *old, *larger;
	size_t count = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;

	if (needed <= *cap)
		return true;
	if (count < FIRST_ITEMS)
		count = FIRST_ITEMS;
	if (count < needed)
		count = needed;
	if (count > PTRDIFF_MAX / item_size)
		return false;
	/*
	 * pointers to all types of objects have the same representation, but only char may alias
	 * them
	 */
	memcpy(&old, items, sizeof old);
	larger = realloc(old, count * item_size);
	if (!larger)
		return false;
	memcpy(items, &larger, sizeof larger);
	*cap = count;
	return true;
}
