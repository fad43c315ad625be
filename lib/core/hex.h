/* Hex digits, without a locale. */
#ifndef TR_CORE_HEX_H
#define TR_CORE_HEX_H

#include <stdint.h>
#include <string.h>

/* The value of a hex digit of either case; -1: c is none. */
static inline int tr_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Eight lower-case digits, all of them at once: each nibble in a byte of its own. */
static inline void tr_hex_write8(uint32_t n, char *to)
{
	uint64_t x = n;

	x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
	x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
	x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	x += UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	memcpy(to, &x, sizeof x);
}

static inline void tr_hex_write16(uint64_t n, char *to)
{
	tr_hex_write8((uint32_t)(n >> 32), to);
	tr_hex_write8((uint32_t)n, to + 8);
}

/* How many digits n has. */
static inline unsigned tr_hex_length(uint64_t n)
{
	return n ? (67 - (unsigned)__builtin_clzll(n)) / 4 : 1;
}

/* The last len digits of n, 1 to 16 of them; there has to be room for 16. */
static inline void tr_hex_write(uint64_t n, unsigned len, char *to)
{
	tr_hex_write16(n << (64 - 4 * len), to);
}

#endif
