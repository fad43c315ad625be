/* SPDX-License-Identifier: MIT */
/*
 * Growing memory: a buffer of bytes in which text is composed, and arrays of items.
 *
 *	tr_buffer_room, tr_buffer_put... -> tr_buffer_text -> tr_buffer_reset or tr_buffer_free
 *
 * Errors are kept: after a failed allocation `failed` is set, further puts do nothing, and the
 * caller checks once at the end. A buffer is owned by its declarer and freed with tr_buffer_free.
 * It is not NUL-terminated. Not thread safe.
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
	bool failed;  /* an allocation failed: the content is incomplete */
	bool lent;    /* data belongs to the caller; a larger buffer gets memory of its own */
	bool limited; /* the allocation failed because of the limit */
	size_t limit; /* maximum length in bytes; 0: unlimited */
};

#define TR_BUFFER_INIT \
	{ \
		NULL, 0, 0, false, false, false, 0 \
	}

/* Returns an empty buffer that uses memory of the caller until it needs more than size. */
static inline struct tr_buffer tr_buffer_over(char *memory, size_t size)
{
	return (struct tr_buffer){ .data = memory, .cap = size, .lent = true };
}

/* The slow path of tr_buffer_room, which callers use instead. */
bool tr_buffer_grow(struct tr_buffer *b, size_t more);

/*
 * Returns where the next `more` bytes may be written, before tr_buffer_used. NULL: memory is
 * exhausted.
 */
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

/* Appends a text that needs no escapes, between quotes. Room for all of it is made once. */
static inline void tr_buffer_put_quoted(struct tr_buffer *b, struct tr_text t)
{
	char *to = tr_buffer_room(b, t.len + 2);
	if (!to)
		return;
	*to = '"';
	if (t.len)
		memcpy(to + 1, t.data, t.len);
	to[t.len + 1] = '"';
	b->len += t.len + 2;
}

#define tr_buffer_put_literal(b, literal) tr_buffer_put((b), "" literal, sizeof(literal) - 1)

/* Appends n in decimal digits. */
void tr_buffer_put_decimal(struct tr_buffer *b, uint64_t n);

/* Appends n in lower-case hex digits, padded with zeros to `width`. */
void tr_buffer_put_hex(struct tr_buffer *b, uint64_t n, unsigned width);

static inline struct tr_text tr_buffer_text(const struct tr_buffer *b)
{
	return (struct tr_text){ b->data ? b->data : "", b->len };
}

/*
 * Limits the buffer to a line of max_record bytes (--max-record), plus the bytes that
 * tr_record_from_buffer appends to it.
 */
void tr_buffer_limit(struct tr_buffer *b, uint64_t max_record);

/*
 * Inserts n uninitialised bytes at offset `at` and returns their address. NULL: memory is
 * exhausted.
 */
char *tr_buffer_insert(struct tr_buffer *b, size_t at, size_t n);

/* Empties the buffer and clears a failure. Keeps the limit, and memory of up to 1 MiB. */
void tr_buffer_reset(struct tr_buffer *b);

/* Frees the unused part of the memory, for a buffer that is kept among many. */
void tr_buffer_trim(struct tr_buffer *b);

/* Frees the memory. The buffer is empty and usable afterwards, and keeps its limit. */
void tr_buffer_free(struct tr_buffer *b);

/*
 * Arrays that grow. Their items are allocated with malloc(3); count is the number of items in use,
 * cap the number of items that fit. An empty array is NULL, 0, 0. The owner frees it with free(3).
 */

/*
 * Makes room for one more item. items is a pointer variable, cap a size_t variable; both are
 * changed. False: memory is exhausted, and the array is as it was.
 */
#define tr_array_room(items, count, cap) \
	((count) < (cap) || tr_array_grow(&(items), &(cap), (count) + 1, sizeof *(items)))

/*
 * Makes room for a total of needed items, and at least doubles the array. items is the address of
 * the pointer.
 */
bool tr_array_grow(void *items, size_t *cap, size_t needed, size_t item_size);

/*
 * Returns the first index from low to high for which `below`, an expression in i, is false; high if
 * it is true for all of them. The items are sorted so that it is true for the first ones only.
 */
#define tr_array_search(i, low, high, below) \
	({ \
		size_t low_ = (low), high_ = (high); \
		while (low_ < high_) { \
			size_t i = low_ + (high_ - low_) / 2; \
			if (below) \
				low_ = i + 1; \
			else \
				high_ = i; \
		} \
		low_; \
	})

#endif
