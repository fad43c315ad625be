#include "core/buffer.h"

#include "core/decimal.h"
#include "core/hex.h"

#include <stdlib.h>

enum { FIRST_SIZE = 4 << 10, KEPT_SIZE = 1 << 20 };

bool tr_buffer_grow(struct tr_buffer *b, size_t more)
{
	if (b->failed || more > PTRDIFF_MAX - b->len) {
		b->failed = true;
		return false;
	}
	size_t cap = b->cap ? b->cap : FIRST_SIZE;
	while (cap < b->len + more)
		cap = cap > PTRDIFF_MAX / 2 ? PTRDIFF_MAX : cap * 2;
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

void tr_buffer_reset(struct tr_buffer *b)
{
	if (b->cap > KEPT_SIZE)
		tr_buffer_free(b);
	b->len = 0;
	b->failed = false;
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
	*b = (struct tr_buffer)TR_BUFFER_INIT;
}
