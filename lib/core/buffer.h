/* SPDX-License-Identifier: MIT */
/*
 * A growing run of bytes that text is put together in. Errors stick: after a
 * failed allocation `failed` is set, further puts do nothing, and the caller
 * checks once at the end. Owned by its declarer; free with tr_buffer_free.
 * Not NUL-terminated.
 */
#ifndef TR_CORE_BUFFER_H
#define TR_CORE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/text.h"

struct tr_buffer {
	char *data;
	size_t len, cap;
	bool failed;  /* an allocation failed: content is not complete */
	bool lent;    /* data is somebody else's: who needs more than cap gets memory of its own */
	bool limited; /* it failed because of the limit */
	size_t limit; /* at most this many bytes; 0: any number */
};

#define TR_BUFFER_INIT \
	{ \
		NULL, 0, 0, false, false, false, 0 \
	}

/* One that begins in memory of the caller's. */
static inline struct tr_buffer tr_buffer_over(char *memory, size_t size)
{
	return (struct tr_buffer){ .data = memory, .cap = size, .lent = true };
}

/* Slow path of tr_buffer_room. Use that. */
bool tr_buffer_grow(struct tr_buffer *b, size_t more);

/* Where the next `more` bytes may be written, NULL when memory is out; then tr_buffer_used. */
static inline char *tr_buffer_room(struct tr_buffer *b, size_t more)
{
	if (more > b->cap - b->len && !tr_buffer_grow(b, more))
		return NULL;
	return b->data + b->len;
}

static inline void tr_buffer_used(struct tr_buffer *b, size_t n)
{
	b->len += n;
}

static inline void tr_buffer_put(struct tr_buffer *b, const char *data, size_t len)
{
	if (len == 0)
		return;
	char *to = tr_buffer_room(b, len);
	if (to) {
		memcpy(to, data, len);
		b->len += len;
	}
}

static inline void tr_buffer_put_text(struct tr_buffer *b, struct tr_text t)
{
	tr_buffer_put(b, t.data, t.len);
}

static inline void tr_buffer_put_byte(struct tr_buffer *b, char c)
{
	char *to = tr_buffer_room(b, 1);
	if (to) {
		*to = c;
		b->len++;
	}
}

#define tr_buffer_put_literal(b, literal) tr_buffer_put((b), "" literal, sizeof(literal) - 1)

/* Decimal digits of n. */
void tr_buffer_put_decimal(struct tr_buffer *b, uint64_t n);

/* Lower-case hex digits of n, at least `width` of them (zeros in front). */
void tr_buffer_put_hex(struct tr_buffer *b, uint64_t n, unsigned width);

static inline struct tr_text tr_buffer_text(const struct tr_buffer *b)
{
	return (struct tr_text){ b->data ? b->data : "", b->len };
}

/*
 * Limits the buffer to a line of at most max_record bytes, as --max-record allows, and what
 * tr_record_from_buffer needs after it.
 */
void tr_buffer_limit(struct tr_buffer *b, uint64_t max_record);

/* Opens a gap of n bytes at offset `at`, for the caller to fill. NULL when memory is out. */
char *tr_buffer_insert(struct tr_buffer *b, size_t at, size_t n);

/* Forgets the content and a failure; keeps the limit, and the memory unless it is above 1 MiB. */
void tr_buffer_reset(struct tr_buffer *b);

/* Gives back what is not used, for one of many that are kept. */
void tr_buffer_trim(struct tr_buffer *b);

/* Gives the memory back; the buffer is empty and usable afterwards, its limit stays. */
void tr_buffer_free(struct tr_buffer *b);

/*
 * Arrays that grow: items are allocated with malloc(3), count says how many are in use and cap how
 * many there is room for. An empty array is NULL, 0, 0. free(3) it.
 */

/*
 * Makes room for one more item. items is a pointer variable, cap a size_t variable; both are
 * changed. False: memory is exhausted, and the array is as it was.
 */
#define tr_array_room(items, count, cap) \
	((count) < (cap) || tr_array_grow(&(items), &(cap), (count) + 1, sizeof *(items)))

/* As above, for a total of needed items, at least doubled. items is the address of the pointer. */
bool tr_array_grow(void *items, size_t *cap, size_t needed, size_t item_size);

#endif
