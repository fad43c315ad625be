#include "core/buffer.h"

#include <stdlib.h>

enum { FIRST_SIZE = 4 << 10, KEPT_SIZE = 1 << 20, MAX_DIGITS = 20 };

bool tr_buffer_grow(struct tr_buffer *b, size_t more)
{
	if (b->failed || more > PTRDIFF_MAX - b->len) {
		b->failed = true;
		return false;
	}
	size_t cap = b->cap ? b->cap : FIRST_SIZE;
	while (cap < b->len + more)
		cap = cap > PTRDIFF_MAX / 2 ? PTRDIFF_MAX : cap * 2;
	char *data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void tr_buffer_put_decimal(struct tr_buffer *b, uint64_t n)
{
	char digits[MAX_DIGITS];
	char *p = digits + sizeof digits;
	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	tr_buffer_put(b, p, (size_t)(digits + sizeof digits - p));
}

void tr_buffer_put_hex(struct tr_buffer *b, uint64_t n, unsigned width)
{
	char digits[16];
	char *p = digits + sizeof digits;
	do {
		*--p = "0123456789abcdef"[n & 15];
		n >>= 4;
	} while (n);
	while (p > digits && (size_t)(digits + sizeof digits - p) < width)
		*--p = '0';
	tr_buffer_put(b, p, (size_t)(digits + sizeof digits - p));
}

void tr_buffer_reset(struct tr_buffer *b)
{
	if (b->cap > KEPT_SIZE)
		tr_buffer_free(b);
	b->len = 0;
	b->failed = false;
}

void tr_buffer_free(struct tr_buffer *b)
{
	free(b->data);
	*b = (struct tr_buffer)TR_BUFFER_INIT;
}
