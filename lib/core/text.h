/* SPDX-License-Identifier: MIT */
/*
 * A borrowed run of bytes. Never NUL-terminated by contract, never owned:
 * whoever hands one out says how long it lives. data is NULL where "absent"
 * has to differ from "empty".
 */
#ifndef TR_CORE_TEXT_H
#define TR_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tr_text {
	const char *data;
	size_t len;
};

#define TR_TEXT(literal) ((struct tr_text){ "" literal, sizeof(literal) - 1 })

static inline struct tr_text tr_text_from(const char *string)
{
	return (struct tr_text){ string, string ? strlen(string) : 0 };
}

static inline struct tr_text tr_text_span(const char *begin, const char *end)
{
	return (struct tr_text){ begin, (size_t)(end - begin) };
}

static inline bool tr_text_equal(struct tr_text a, struct tr_text b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* True when t spells exactly the NUL-terminated word. */
static inline bool tr_text_is(struct tr_text t, const char *word)
{
	return tr_text_equal(t, tr_text_from(word));
}

static inline bool tr_text_starts(struct tr_text t, struct tr_text prefix)
{
	return t.len >= prefix.len && memcmp(t.data, prefix.data, prefix.len) == 0;
}

static inline bool tr_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Without blanks and line ends before and behind. */
static inline struct tr_text tr_text_trimmed(struct tr_text t)
{
	while (t.len && tr_is_blank(*t.data)) {
		t.data++;
		t.len--;
	}
	while (t.len && tr_is_blank(t.data[t.len - 1]))
		t.len--;
	return t;
}

/* Decimal digits, without a locale. */

enum { TR_DECIMAL_MAX = 20 }; /* digits that 64 bits have at most */

/* How many digits n has. */
static inline size_t tr_decimal_length(uint64_t n)
{
	static const uint64_t powers[] = {
		UINT64_C(1),
		UINT64_C(10),
		UINT64_C(100),
		UINT64_C(1000),
		UINT64_C(10000),
		UINT64_C(100000),
		UINT64_C(1000000),
		UINT64_C(10000000),
		UINT64_C(100000000),
		UINT64_C(1000000000),
		UINT64_C(10000000000),
		UINT64_C(100000000000),
		UINT64_C(1000000000000),
		UINT64_C(10000000000000),
		UINT64_C(100000000000000),
		UINT64_C(1000000000000000),
		UINT64_C(10000000000000000),
		UINT64_C(100000000000000000),
		UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	/* log2(10) is 4096 / 1233, nearly, so this is right or one too small */
	unsigned below = (64u - (unsigned)__builtin_clzll(n | 1)) * 1233 >> 12;

	return below + (below < TR_DECIMAL_MAX && n >= powers[below]) + (n == 0);
}

/* The digits of n, two at a time from the back; returns how many. */
static inline size_t tr_decimal_write(uint64_t n, char *to)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	size_t len = tr_decimal_length(n);
	char *p = to + len;

	for (; n >= 100; n /= 100) {
		p -= 2;
		memcpy(p, pairs + n % 100 * 2, 2);
	}
	if (n >= 10)
		memcpy(p - 2, pairs + n * 2, 2);
	else
		p[-1] = (char)('0' + n);
	return len;
}

/*
 * A number that is mostly one more than the one before: all of its digits but
 * the last two are kept. Those are written anew each time, because what was
 * just stored by bytes is slow to be loaded in blocks.
 */
struct tr_counter {
	uint64_t hundreds;
	char digits[TR_DECIMAL_MAX]; /* of the hundreds */
	uint8_t len;		     /* 0: of none */
};

/* The digits of number; to has room for TR_DECIMAL_MAX + 2, whatever they are. Returns how many. */
static inline size_t tr_counter_write(struct tr_counter *counter, uint64_t number, char *to)
{
	uint64_t hundreds = number / 100;
	if (hundreds == 0)
		return tr_decimal_write(number, to);
	if (hundreds != counter->hundreds || !counter->len) {
		counter->hundreds = hundreds;
		counter->len = (uint8_t)tr_decimal_write(hundreds, counter->digits);
	}
	memcpy(to, counter->digits, TR_DECIMAL_MAX);
	uint64_t rest = number - 100 * hundreds;
	to[counter->len] = (char)('0' + rest / 10);
	to[counter->len + 1] = (char)('0' + rest % 10);
	return (size_t)counter->len + 2;
}

/* Hex digits, without a locale. */

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

/* Words that resemble each other, for messages that end in "did you mean". */

/* A search for the word that resembles `word` most. */
struct tr_similar {
	struct tr_text word;
	struct tr_text found; /* data NULL: nothing so far comes near enough */
	unsigned distance;    /* of found, or the first that is too much */
};

/* Up to a third of the letters, but at least one, may differ. */
void tr_similar_begin(struct tr_similar *similar, struct tr_text word);

/* The first of two equally near candidates wins. Borrows the candidate. */
void tr_similar_offer(struct tr_similar *similar, struct tr_text candidate);

#endif
