/* SPDX-License-Identifier: MIT */
/*
 * Converts whole groups of three bytes and four digits in large steps if the processor has AVX2
 * (write_wide, read_wide), the other ones one by one, and the last one with its padding.
 */
#include "record/base64.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * write_wide and read_wide return how many groups they converted, from the first one on. All tables
 * have 16 bytes, one for each half of a vector.
 */
#if defined __x86_64__ && defined __GNUC__ && !defined TR_NARROW && !defined TR_PORTABLE
#include <immintrin.h>

#define WIDE __attribute__((target("avx2"))) static inline

enum {
	WIDE_GROUPS = 8,
	WIDE_BYTES = 3 * WIDE_GROUPS,
	WIDE_DIGITS = 4 * WIDE_GROUPS,
	WIDE_BEYOND = 4, /* bytes after a step that it also reads or writes */
};

WIDE __m256i table(__m128i half)
{
	return _mm256_set_m128i(half, half);
}

/* Puts four groups of three bytes into each half, each group as its bytes 1 0 2 1. */
WIDE __m256i spread(const unsigned char *p)
{
	const __m128i order = _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
	__m128i low = _mm_loadu_si128((const __m128i *)p);
	__m128i high = _mm_loadu_si128((const __m128i *)(p + WIDE_BYTES / 2));
	return _mm256_shuffle_epi8(_mm256_set_m128i(high, low), table(order));
}

/*
 * Puts the six bits of each digit into a byte. A group has two 16-bit words: the bits of digits 0
 * and 1 are the upper 12 bits of the first one, those of 2 and 3 the lower 12 bits of the second
 * one. Multiplications shift the words by different amounts.
 */
WIDE __m256i split(__m256i groups)
{
	const __m256i even = _mm256_set1_epi32(0x0fc0fc00), odd = _mm256_set1_epi32(0x003f03f0);
	const __m256i right = _mm256_set1_epi32(0x04000040); /* by 10, by 6 */
	const __m256i left = _mm256_set1_epi32(0x01000010);  /* by 4, by 8 */
	return _mm256_or_si256(_mm256_mulhi_epu16(_mm256_and_si256(groups, even), right),
			       _mm256_mullo_epi16(_mm256_and_si256(groups, odd), left));
}

/* Converts values to digits: all digits of a range have the same distance from their values. */
WIDE __m256i spell(__m256i values)
{
	enum { SMALL = 'a' - 26, NUMERAL = '0' - 52, CAPITAL = 'A' };
	/* index 0: small letters; 1 to 10: numerals; 11 and 12: the signs; 13: capitals */
	const __m128i ways =
		_mm_setr_epi8(SMALL, NUMERAL, NUMERAL, NUMERAL, NUMERAL, NUMERAL, NUMERAL, NUMERAL,
			      NUMERAL, NUMERAL, NUMERAL, '+' - 62, '/' - 63, CAPITAL, 0, 0);
	__m256i capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), values);
	__m256i range = _mm256_or_si256(_mm256_subs_epu8(values, _mm256_set1_epi8(51)),
					_mm256_and_si256(capital, _mm256_set1_epi8(13)));
	return _mm256_add_epi8(values, _mm256_shuffle_epi8(table(ways), range));
}

WIDE size_t write_avx2(const unsigned char *p, size_t len, char *to)
{
	size_t groups = 0;
	for (; len - 3 * groups >= WIDE_BYTES + WIDE_BEYOND; groups += WIDE_GROUPS) {
		__m256i letters = spell(split(spread(p + 3 * groups)));
		_mm256_storeu_si256((__m256i *)(to + 4 * groups), letters);
	}
	return groups;
}

/* The upper and the lower half of each byte. */
WIDE __m256i upper(__m256i bytes)
{
	return _mm256_and_si256(_mm256_srli_epi32(bytes, 4), _mm256_set1_epi8(0xf));
}

WIDE __m256i lower(__m256i bytes)
{
	return _mm256_and_si256(bytes, _mm256_set1_epi8(0xf));
}

/*
 * The upper half of a byte is its column in the table of ASCII, the lower half its row. There are
 * five kinds of columns: 2 has the signs, 3 the numerals, 4 and 6 letters from row 1 on, 5 and 7
 * letters up to row 10, and the others have no digits. The table of rows has the kinds of columns
 * that have no digit in that row.
 */
WIDE bool are_digits(__m256i text)
{
	enum { SIGNS = 1, NUMERALS = 2, FROM_1 = 4, TO_10 = 8, NEVER = 16 };
	enum { LATE = SIGNS | NUMERALS | TO_10 | NEVER }; /* row 12 and after it */
	const __m128i columns =
		_mm_setr_epi8(NEVER, NEVER, SIGNS, NUMERALS, FROM_1, TO_10, FROM_1, TO_10, NEVER,
			      NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER);
	enum { EARLY = SIGNS | NEVER, SIGN_ROW = LATE & ~SIGNS };
	const __m128i rows =
		_mm_setr_epi8(EARLY | FROM_1, EARLY, EARLY, EARLY, EARLY, EARLY, EARLY, EARLY,
			      EARLY, EARLY, EARLY | NUMERALS, SIGN_ROW, LATE, LATE, LATE, SIGN_ROW);
	__m256i column = _mm256_shuffle_epi8(table(columns), upper(text));
	__m256i row = _mm256_shuffle_epi8(table(rows), lower(text));
	return _mm256_testz_si256(column, row);
}

/* Converts digits to values by their column; the slash gets a column that has no digits. */
WIDE __m256i values(__m256i text)
{
	enum { SMALL = 26 - 'a', NUMERAL = 52 - '0', CAPITAL = -'A' };
	const __m128i ways = _mm_setr_epi8(0, 63 - '/', 62 - '+', NUMERAL, CAPITAL, CAPITAL, SMALL,
					   SMALL, 0, 0, 0, 0, 0, 0, 0, 0);
	__m256i slash = _mm256_cmpeq_epi8(text, _mm256_set1_epi8('/')); /* -1 for each slash */
	__m256i column = _mm256_add_epi8(upper(text), slash);
	return _mm256_add_epi8(text, _mm256_shuffle_epi8(table(ways), column));
}

/* Joins four values of six bits to three bytes, which move to the beginning of each half. */
WIDE __m256i join(__m256i values)
{
	const __m128i order = _mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1);
	/* multiplies neighbours by 64 and 1, then by 4096 and 1, and adds them */
	__m256i pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
	__m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
	return _mm256_shuffle_epi8(groups, table(order));
}

/* Stops before anything that is not a digit, and before the last groups. to may be NULL. */
WIDE size_t read_avx2(const unsigned char *p, size_t count, char *to)
{
	size_t groups = 0;
	for (; count - groups > WIDE_GROUPS; groups += WIDE_GROUPS) {
		__m256i text = _mm256_loadu_si256((const __m256i *)(p + 4 * groups));
		if (!are_digits(text))
			break;
		if (!to)
			continue;
		__m256i bytes = join(values(text));
		__m128i *half = (__m128i *)(to + 3 * groups);
		_mm_storeu_si128(half, _mm256_castsi256_si128(bytes));
		half = (__m128i *)(to + 3 * groups + WIDE_BYTES / 2);
		_mm_storeu_si128(half, _mm256_extracti128_si256(bytes, 1));
	}
	return groups;
}
#undef WIDE

static inline size_t write_wide(const unsigned char *p, size_t len, char *to)
{
	return __builtin_cpu_supports("avx2") ? write_avx2(p, len, to) : 0;
}

/* There is room for one more group after the count groups at to, which may be NULL. */
static inline size_t read_wide(const unsigned char *p, size_t count, char *to)
{
	return __builtin_cpu_supports("avx2") ? read_avx2(p, count, to) : 0;
}

#else

static inline size_t write_wide(const unsigned char *p, size_t len, char *to)
{
	(void)p, (void)len, (void)to;
	return 0;
}

static inline size_t read_wide(const unsigned char *p, size_t count, char *to)
{
	(void)p, (void)count, (void)to;
	return 0;
}

#endif

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a digit plus one; 0: not a digit. */
static const uint8_t digits[256] = {
	['A'] = 1,  ['B'] = 2,	['C'] = 3,  ['D'] = 4,	['E'] = 5,  ['F'] = 6,	['G'] = 7,
	['H'] = 8,  ['I'] = 9,	['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64,
};

/* The text is written in pieces, so that no blob needs room for all of it at once. */
enum { PIECE = 3 << 16 };

/*
 * Writes the whole groups of a piece, with AVX2 where the processor has it, and then the rest with
 * padding. Returns the number of characters.
 */
static size_t write_piece(const unsigned char *p, size_t len, char *to)
{
	char *start = to;
	size_t groups = write_wide(p, len, to);
	p += 3 * groups;
	len -= 3 * groups;
	to += 4 * groups;
	for (; len >= 3; len -= 3, p += 3, to += 4) {
		uint32_t bits = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		to[0] = alphabet[bits >> 18];
		to[1] = alphabet[bits >> 12 & 63];
		to[2] = alphabet[bits >> 6 & 63];
		to[3] = alphabet[bits & 63];
	}
	if (len > 0) {
		uint32_t bits = (uint32_t)p[0] << 16 | (len > 1 ? (uint32_t)p[1] << 8 : 0);
		to[0] = alphabet[bits >> 18];
		to[1] = alphabet[bits >> 12 & 63];
		to[2] = len > 1 ? alphabet[bits >> 6 & 63] : '=';
		to[3] = '=';
		to += 4;
	}
	return (size_t)(to - start);
}

void tr_base64_write(struct tr_text bytes, struct tr_buffer *to)
{
	const unsigned char *p = (const unsigned char *)bytes.data;
	for (size_t left = bytes.len; left > 0;) {
		size_t piece = left < PIECE ? left : PIECE;
		char *room = tr_buffer_room(to, piece / 3 * 4 + 4);
		if (!room)
			return;
		tr_buffer_used(to, write_piece(p, piece, room));
		p += piece;
		left -= piece;
	}
}

static const char not_base64[] = "not padded standard base64";

/* Reads the last group, which may be padded. */
static const char *read_last(const unsigned char *p, char *to, size_t *size)
{
	unsigned a = digits[p[0]], b = digits[p[1]], c = digits[p[2]], d = digits[p[3]];
	size_t count = d ? 3 : c ? 2 : 1;
	if (!a || !b || (!c && (p[2] != '=' || d)) || (!d && p[3] != '='))
		return not_base64;
	uint32_t bits = (a - 1) << 18 | (b - 1) << 12 | (c ? c - 1 : 0) << 6 | (d ? d - 1 : 0);
	if (bits & (0xffffffu >> (8 * count)))
		return "bits left over in base64";
	for (size_t i = 0; i < count && to; i++)
		to[i] = (char)(bits >> (16 - 8 * i));
	*size += count;
	return NULL;
}

const char *tr_base64_read(struct tr_text text, char *to, size_t *size)
{
	const unsigned char *p = (const unsigned char *)text.data;
	*size = 0;
	if (text.len % 4)
		return not_base64;
	if (text.len == 0)
		return NULL;
	size_t groups = text.len / 4 - 1, wide = read_wide(p, groups, to), at = 3 * wide;
	p += 4 * wide;
	for (size_t i = wide; i < groups; i++, p += 4, at += 3) {
		uint32_t a = digits[p[0]] - 1u, b = digits[p[1]] - 1u;
		uint32_t c = digits[p[2]] - 1u, d = digits[p[3]] - 1u;
		if ((a | b | c | d) > 63)
			return not_base64;
		if (to) {
			/* the fourth byte belongs to the next group, which overwrites it */
			uint32_t bits = htobe32(a << 26 | b << 20 | c << 14 | d << 8);
			memcpy(to + at, &bits, i + 1 < groups ? 4 : 3);
		}
	}
	*size = at;
	return read_last(p, to ? to + at : NULL, size);
}
