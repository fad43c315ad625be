/* SPDX-License-Identifier: MIT */
/* Numbers in the byte order that their file has, at any address. */
#ifndef TR_CORE_WIRE_H
#define TR_CORE_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns whether bytes have to be swapped on this machine. big: the file is big endian. */
static inline bool tr_wire_swaps(bool big)
{
	return big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Numbers are copied before they are used, because p may have any alignment. */
static inline uint16_t tr_wire_u16(const char *p, bool big)
{
	uint16_t n;

	memcpy(&n, p, sizeof n);
	return tr_wire_swaps(big) ? __builtin_bswap16(n) : n;
}

static inline uint32_t tr_wire_u32(const char *p, bool big)
{
	uint32_t n;

	memcpy(&n, p, sizeof n);
	return tr_wire_swaps(big) ? __builtin_bswap32(n) : n;
}

static inline uint64_t tr_wire_u64(const char *p, bool big)
{
	uint64_t n;

	memcpy(&n, p, sizeof n);
	return tr_wire_swaps(big) ? __builtin_bswap64(n) : n;
}

static inline void tr_wire_put_u16(char *p, bool big, uint16_t n)
{
	n = tr_wire_swaps(big) ? __builtin_bswap16(n) : n;
	memcpy(p, &n, sizeof n);
}

static inline void tr_wire_put_u32(char *p, bool big, uint32_t n)
{
	n = tr_wire_swaps(big) ? __builtin_bswap32(n) : n;
	memcpy(p, &n, sizeof n);
}

static inline void tr_wire_put_u64(char *p, bool big, uint64_t n)
{
	n = tr_wire_swaps(big) ? __builtin_bswap64(n) : n;
	memcpy(p, &n, sizeof n);
}

/* Reads 1 to 5 bytes of padding as a number, first byte highest whatever the order of the file. */
static inline uint64_t tr_wire_pad(const char *p, unsigned size)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < size; i++)
		n = n << 8 | (unsigned char)p[i];
	return n;
}

/* Writes padding that tr_wire_pad has read. */
static inline void tr_wire_put_pad(char *p, unsigned size, uint64_t n)
{
	for (unsigned i = size; i-- > 0; n >>= 8)
		p[i] = (char)n;
}

#endif
