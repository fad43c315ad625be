/* SPDX-License-Identifier: MIT */
/* Hex digits, without a locale. */
#ifndef TR_CORE_HEX_H
#define TR_CORE_HEX_H

#include <stdint.h>
#include <string.h>

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/* The value of a hex digit of either case; -1: c is none. */
static inline int tr_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Sixteen lower-case digits, all at once. */
#if defined __SSE2__ && !defined TR_PORTABLE
static inline void tr_hex_write16(uint64_t n, char *to)
{
	__m128i bytes = _mm_cvtsi64_si128((long long)__builtin_bswap64(n));
	__m128i low = _mm_set1_epi8(0x0f);
	__m128i nibbles = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi64(bytes, 4), low),
					    _mm_and_si128(bytes, low));
	__m128i letters = _mm_and_si128(_mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9)),
					_mm_set1_epi8('a' - '0' - 10));
	nibbles = _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8('0')), letters);
	_mm_storeu_si128((__m128i *)(void *)to, nibbles);
}

static inline void tr_hex_write8(uint32_t n, char *to)
{
	char digits[16];

	tr_hex_write16((uint64_t)n << 32, digits);
	memcpy(to, digits, 8);
}
#else
/* Each nibble in a byte of its own. */
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
#endif

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
