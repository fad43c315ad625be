/* SPDX-License-Identifier: MIT */
/* The numbers of the stream: LEB128, bounded. */
#ifndef TR_FORMAT_APITRACE_WIRE_H
#define TR_FORMAT_APITRACE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"

enum { TR_WIRE_UINT_MAX = 10 }; /* bytes that 64 bits take */

/*
 * The uint at p. Reads up to TR_WIRE_UINT_MAX bytes, even after the end of the data
 * (a window has TR_INPUT_PAD more bytes): if the result is after that end, the
 * number is cut. Zeros at its top end (`80 00`) are accepted. NULL: more than 64 bits.
 */
static inline const char *tr_wire_uint(const char *p, uint64_t *number)
{
	uint64_t byte = (unsigned char)*p++, n = byte;
	if (byte < 0x80) {
		*number = n;
		return p;
	}
	n &= 0x7f;
	for (unsigned shift = 7; shift < 64; shift += 7) {
		byte = (unsigned char)*p++;
		n |= (byte & 0x7f) << shift;
		if (byte < 0x80) {
			*number = n;
			return shift < 63 || byte <= 1 ? p : NULL;
		}
	}
	return NULL;
}

/* The bytes of the uint in its shortest form. */
static inline size_t tr_wire_uint_size(uint64_t number)
{
	size_t size = 1;
	for (; number >= 0x80; number >>= 7)
		size++;
	return size;
}

/* Writes the shortest form to `to`, which has room for TR_WIRE_UINT_MAX bytes. Returns its end. */
static inline char *tr_wire_put_uint(char *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = (char)(number | 0x80);
	*to++ = (char)number;
	return to;
}

static inline void tr_wire_append_uint(struct tr_buffer *to, uint64_t number)
{
	char *room = tr_buffer_room(to, TR_WIRE_UINT_MAX);
	if (room)
		tr_buffer_used(to, (size_t)(tr_wire_put_uint(room, number) - room));
}

static inline void tr_wire_append_string(struct tr_buffer *to, struct tr_text bytes)
{
	tr_wire_append_uint(to, bytes.len);
	tr_buffer_put_text(to, bytes);
}

/* The bits of a float, a double: `size` bytes, little endian. */
static inline void tr_wire_append_fixed(struct tr_buffer *to, uint64_t bits, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		tr_buffer_put_byte(to, (char)(bits >> 8 * i));
}

#endif
