/* SPDX-License-Identifier: MIT */
/*
 * UTF-8 as defined by Unicode: no surrogates, no overlong forms, no code point above U+10FFFF.
 * Thread safe.
 */
#ifndef TR_CORE_UTF8_H
#define TR_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True for any byte of a sequence but the first: text must not be cut before such a byte. */
static inline bool tr_utf8_is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * Returns the length of the valid sequence at p < end (1 to 4), or 0. An invalid byte counts as one
 * byte: skip it and continue with the next.
 */
unsigned tr_utf8_length(const char *p, const char *end);

/*
 * Returns the first byte in [p, end) that is not part of a valid sequence, or end. Fast on ASCII.
 */
const char *tr_utf8_check(const char *p, const char *end);

/* Returns the code point of a sequence that tr_utf8_length accepted. */
uint32_t tr_utf8_decode(const char *p, unsigned length);

/* Writes 1 to 4 bytes and returns their number; code is at most 0x10ffff and not a surrogate. */
unsigned tr_utf8_encode(uint32_t code, char *to);

/*
 * UTF-8 in blocks of 64 bytes: a property of the bytes is a word with a bit for each byte, and the
 * sequences are verified with shifts of whole words. Requires SSE2. TR_UTF8_BLOCK is 0 without it,
 * or with -DTR_PORTABLE.
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

struct tr_block64 {
	__m128i part[4];
};

static inline struct tr_block64 tr_block64_load(const char *p)
{
	const __m128i *from = (const __m128i *)p;
	return (struct tr_block64){ { _mm_loadu_si128(from), _mm_loadu_si128(from + 1),
				      _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3) } };
}

/* Returns the top bits of all bytes; bit 0 is that of the first byte. */
static inline uint64_t tr_block64_bits(struct tr_block64 b)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(b.part[0]) |
	       (uint64_t)(unsigned)_mm_movemask_epi8(b.part[1]) << 16 |
	       (uint64_t)(unsigned)_mm_movemask_epi8(b.part[2]) << 32 |
	       (uint64_t)(unsigned)_mm_movemask_epi8(b.part[3]) << 48;
}

/*
 * Returns which bytes are in [0x80, limit). SSE2 compares signed numbers, so bytes below 0x80 do
 * not count.
 */
static inline uint64_t tr_block64_below(struct tr_block64 b, unsigned char limit)
{
	__m128i limits = _mm_set1_epi8((char)limit);
	return tr_block64_bits((struct tr_block64){
		{ _mm_cmplt_epi8(b.part[0], limits), _mm_cmplt_epi8(b.part[1], limits),
		  _mm_cmplt_epi8(b.part[2], limits), _mm_cmplt_epi8(b.part[3], limits) } });
}

static inline uint64_t tr_block64_equal(struct tr_block64 b, unsigned char byte)
{
	__m128i bytes = _mm_set1_epi8((char)byte);
	return tr_block64_bits((struct tr_block64){
		{ _mm_cmpeq_epi8(b.part[0], bytes), _mm_cmpeq_epi8(b.part[1], bytes),
		  _mm_cmpeq_epi8(b.part[2], bytes), _mm_cmpeq_epi8(b.part[3], bytes) } });
}

/* Returns for each bit whether the number of bits that are set up to it is odd. */
static inline uint64_t tr_block64_parity(uint64_t bits)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

#if defined __x86_64__ && defined __GNUC__ && !defined TR_NARROW

/*
 * Steps of 32 bytes, for functions with the attribute TR_WIDE. Call them only if tr_wide_runs() is
 * true.
 */
#include <immintrin.h>
#define TR_WIDE __attribute__((target("avx2,bmi,pclmul")))

struct tr_block64_wide {
	__m256i low, high;
};

static inline bool tr_wide_runs(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("pclmul");
}

TR_WIDE static inline struct tr_block64_wide tr_block64_wide_load(const char *p)
{
	return (struct tr_block64_wide){ _mm256_loadu_si256((const __m256i *)p),
					 _mm256_loadu_si256((const __m256i *)(p + 32)) };
}

TR_WIDE static inline uint64_t tr_block64_wide_equal(struct tr_block64_wide b, char byte)
{
	__m256i bytes = _mm256_set1_epi8(byte);

	return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b.low, bytes)) |
	       (uint64_t)(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b.high, bytes)) << 32;
}

/* A product without carries is a sum of shifted numbers: here, of all shifts. */
TR_WIDE static inline uint64_t tr_block64_wide_parity(uint64_t bits)
{
	__m128i product =
		_mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)bits), _mm_set1_epi8(-1), 0);

	return (uint64_t)_mm_cvtsi128_si64(product);
}

#endif

/* Returns second bytes that their first byte does not allow (the Unicode standard, table 3-7). */
static inline uint64_t tr_block64_bad_second(struct tr_block64 b)
{
	uint64_t below_90 = tr_block64_below(b, 0x90), below_a0 = tr_block64_below(b, 0xa0);
	return (tr_block64_equal(b, 0xe0) << 1 & below_a0) |
	       (tr_block64_equal(b, 0xed) << 1 & ~below_a0) |
	       (tr_block64_equal(b, 0xf0) << 1 & below_90) |
	       (tr_block64_equal(b, 0xf4) << 1 & ~below_90);
}

/*
 * Returns how many of the TR_UTF8_BLOCK bytes at p, where a sequence begins, are complete valid
 * sequences: all but up to three bytes of one that continues after the block. 0: some byte is
 * invalid.
 */
static inline unsigned tr_utf8_block(const char *p)
{
	struct tr_block64 b = tr_block64_load(p);
	uint64_t high = tr_block64_bits(b);
	uint64_t tails = tr_block64_below(b, 0xc0);
	uint64_t leads = high & ~tails;
	uint64_t threes = high & ~tr_block64_below(b, 0xe0); /* and more than three */
	uint64_t fours = high & ~tr_block64_below(b, 0xf0);
	uint64_t never =
		(tr_block64_below(b, 0xc2) & ~tails) | (fours & ~tr_block64_below(b, 0xf5));
	if (tails != (leads << 1 | threes << 2 | fours << 3) || never)
		return 0;
	if ((fours | tr_block64_equal(b, 0xe0) | tr_block64_equal(b, 0xed)) &&
	    tr_block64_bad_second(b))
		return 0;
	return TR_UTF8_BLOCK - (leads >> 63 ? 1 : threes >> 62 ? 2 : fours >> 61 ? 3 : 0);
}

#endif

#endif
