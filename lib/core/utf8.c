/* SPDX-License-Identifier: MIT */
/* UTF-8, one sequence at a time, and blocks where SSE2 is available. */
#include "core/utf8.h"

#include <stdbool.h>
#include <string.h>

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/*
 * The Unicode standard, table 3-7: the second byte shows overlong, surrogate and too large codes.
 */
unsigned tr_utf8_length(const char *p, const char *end)
{
	unsigned char lead = (unsigned char)p[0];
	size_t left = (size_t)(end - p);
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || left < 2 || !tr_utf8_is_inside(p[1]))
		return 0;
	if (lead < 0xe0)
		return 2;
	unsigned char second = (unsigned char)p[1];
	if (left < 3 || !tr_utf8_is_inside(p[2]))
		return 0;
	if (lead < 0xf0) {
		if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0))
			return 0;
		return 3;
	}
	if (lead > 0xf4 || left < 4 || !tr_utf8_is_inside(p[3]) ||
	    (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90))
		return 0;
	return 4;
}

/* Returns the first byte from p on that is not ASCII, or end. */
static const char *skip_ascii(const char *p, const char *end)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	for (; end - p >= 16; p += 16) {
		int mask = _mm_movemask_epi8(_mm_loadu_si128((const __m128i *)p));
		if (mask)
			return p + __builtin_ctz((unsigned)mask);
	}
#else
	for (uint64_t word; end - p >= 8; p += 8) {
		memcpy(&word, p, 8);
		if (word & UINT64_C(0x8080808080808080))
			break;
	}
#endif
	while (p < end && (unsigned char)*p < 0x80)
		p++;
	return p;
}

/* Checks words of ASCII or blocks of SSE2 first, and single sequences only where those end. */
const char *tr_utf8_check(const char *p, const char *end)
{
	for (;;) {
		p = skip_ascii(p, end);
		if (p == end)
			return end;
		if (TR_UTF8_BLOCK > 0 && end - p >= TR_UTF8_BLOCK) {
			unsigned valid = tr_utf8_block(p);
			p += valid;
			if (valid)
				continue;
		}
		/* letters of other scripts usually follow each other */
		while (p < end && (unsigned char)*p >= 0x80) {
			unsigned length = tr_utf8_length(p, end);
			if (length == 0)
				return p;
			p += length;
		}
	}
}

uint32_t tr_utf8_decode(const char *p, unsigned length)
{
	const unsigned char *b = (const unsigned char *)p;
	switch (length) {
	case 1:
		return b[0];
	case 2:
		return (b[0] & 0x1fu) << 6 | (b[1] & 0x3fu);
	case 3:
		return (b[0] & 0x0fu) << 12 | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
	default:
		return (b[0] & 0x07u) << 18 | (b[1] & 0x3fu) << 12 | (b[2] & 0x3fu) << 6 |
		       (b[3] & 0x3fu);
	}
}

/* Returns a byte that continues a character. */
static char tail(uint32_t code, unsigned shift)
{
	return (char)(0x80 | (code >> shift & 0x3f));
}

unsigned tr_utf8_encode(uint32_t code, char *to)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = tail(code, 0);
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = tail(code, 6);
		to[2] = tail(code, 0);
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = tail(code, 12);
	to[2] = tail(code, 6);
	to[3] = tail(code, 0);
	return 4;
}
