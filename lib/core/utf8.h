/* SPDX-License-Identifier: MIT */
/* UTF-8 as Unicode has it: no surrogates, no overlong forms, nothing beyond U+10FFFF. */
#ifndef TR_CORE_UTF8_H
#define TR_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not the first byte of a sequence: where bytes are cut, not before this one. */
static inline bool tr_utf8_is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * Length of the valid sequence at p (1 to 4), 0 where none begins there; p < end.
 * An invalid byte is one byte: step over it and try again from the next.
 */
unsigned tr_utf8_length(const char *p, const char *end);

/* First byte in [p, end) that belongs to no valid sequence; end when all is valid. Fast on ASCII.
 */
const char *tr_utf8_check(const char *p, const char *end);

/* The code point of a sequence that tr_utf8_length accepted. */
uint32_t tr_utf8_decode(const char *p, unsigned length);

/* 1 to 4 bytes into to; code is at most 0x10ffff and no surrogate. */
unsigned tr_utf8_encode(uint32_t code, char *to);

/*
 * UTF-8 by 64 bytes at a time: one bit a byte for each question, then the
 * sequences are checked with shifts of whole words. Needs nothing above SSE2.
 * TR_UTF8_BLOCK is 0 where there is no such thing (or with -DTR_PORTABLE).
 */

#if !defined __SSE2__ || defined TR_PORTABLE
enum { TR_UTF8_BLOCK = 0 };
static inline unsigned tr_utf8_block(const char *p)
{
	(void)p;
	return 0;
}
#else

#include <emmintrin.h>

enum { TR_UTF8_BLOCK = 64 };

struct tr_block {
	__m128i part[4];
};

static inline struct tr_block tr_block_load(const char *p)
{
	const __m128i *from = (const __m128i *)p;
	return (struct tr_block){ { _mm_loadu_si128(from), _mm_loadu_si128(from + 1),
				    _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3) } };
}

/* The top bits of all bytes; the first byte's is bit 0. */
static inline uint64_t tr_block_bits(struct tr_block b)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(b.part[0]) |
	       (uint64_t)(unsigned)_mm_movemask_epi8(b.part[1]) << 16 |
	       (uint64_t)(unsigned)_mm_movemask_epi8(b.part[2]) << 32 |
	       (uint64_t)(unsigned)_mm_movemask_epi8(b.part[3]) << 48;
}

/* Which bytes are in [0x80, limit): SSE2 compares signed, and that is what is wanted. */
static inline uint64_t tr_block_below(struct tr_block b, unsigned char limit)
{
	__m128i limits = _mm_set1_epi8((char)limit);
	return tr_block_bits((struct tr_block){
		{ _mm_cmplt_epi8(b.part[0], limits), _mm_cmplt_epi8(b.part[1], limits),
		  _mm_cmplt_epi8(b.part[2], limits), _mm_cmplt_epi8(b.part[3], limits) } });
}

static inline uint64_t tr_block_equal(struct tr_block b, unsigned char byte)
{
	__m128i bytes = _mm_set1_epi8((char)byte);
	return tr_block_bits((struct tr_block){
		{ _mm_cmpeq_epi8(b.part[0], bytes), _mm_cmpeq_epi8(b.part[1], bytes),
		  _mm_cmpeq_epi8(b.part[2], bytes), _mm_cmpeq_epi8(b.part[3], bytes) } });
}

/* Second bytes that their lead does not allow (the Unicode standard, table 3-7). */
static inline uint64_t tr_block_bad_second(struct tr_block b)
{
	uint64_t below_90 = tr_block_below(b, 0x90), below_a0 = tr_block_below(b, 0xa0);
	return (tr_block_equal(b, 0xe0) << 1 & below_a0) |
	       (tr_block_equal(b, 0xed) << 1 & ~below_a0) |
	       (tr_block_equal(b, 0xf0) << 1 & below_90) |
	       (tr_block_equal(b, 0xf4) << 1 & ~below_90);
}

/*
 * How many of the TR_UTF8_BLOCK bytes at p, where a sequence begins, are whole
 * valid sequences: all but the up to three of one that goes on behind them. 0
 * when something is not valid.
 */
static inline unsigned tr_utf8_block(const char *p)
{
	struct tr_block b = tr_block_load(p);
	uint64_t high = tr_block_bits(b);
	uint64_t tails = tr_block_below(b, 0xc0);
	uint64_t leads = high & ~tails;
	uint64_t threes = high & ~tr_block_below(b, 0xe0); /* and more than three */
	uint64_t fours = high & ~tr_block_below(b, 0xf0);
	uint64_t never = (tr_block_below(b, 0xc2) & ~tails) | (fours & ~tr_block_below(b, 0xf5));
	if (tails != (leads << 1 | threes << 2 | fours << 3) || never)
		return 0;
	if ((fours | tr_block_equal(b, 0xe0) | tr_block_equal(b, 0xed)) && tr_block_bad_second(b))
		return 0;
	return TR_UTF8_BLOCK - (leads >> 63 ? 1 : threes >> 62 ? 2 : fours >> 61 ? 3 : 0);
}

#endif

#endif
