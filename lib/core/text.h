/* SPDX-License-Identifier: MIT */
/*
 * Text: borrowed bytes, and the conversion of numbers to digits without a locale.
 *
 * A struct tr_text is not NUL-terminated and never owns its bytes; each function that returns one
 * documents how long it is valid. data is NULL if an absent text differs from an empty one. Thread
 * safe.
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
	/* where b is a literal, its length is a constant, and no function is called */
	return a.len == b.len && (b.len == 0 || memcmp(a.data, b.data, b.len) == 0);
}

/* Returns whether t consists of the NUL-terminated word. */
static inline bool tr_text_is(struct tr_text t, const char *word)
{
	return tr_text_equal(t, tr_text_from(word));
}

/* True if t is one of the words; the list ends with NULL. */
static inline bool tr_text_is_among(struct tr_text t, const char *const *words)
{
	for (; t.len && *words; words++)
		if (**words == *t.data && tr_text_is(t, *words))
			return true;
	return false;
}

/* Compares by bytes, as strcmp does; a text comes after those that it begins with. */
static inline int tr_text_compare(struct tr_text a, struct tr_text b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.data, b.data, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* As tr_text_is_among, for a long list: its words are in the order of tr_text_compare. */
static inline bool tr_text_is_among_sorted(struct tr_text t, const char *const *words, size_t count)
{
	while (count) {
		size_t half = count / 2;
		int order = tr_text_compare(t, tr_text_from(words[half]));
		if (order == 0)
			return true;
		words += order > 0 ? half + 1 : 0;
		count = order > 0 ? count - half - 1 : half;
	}
	return false;
}

static inline bool tr_text_starts(struct tr_text t, struct tr_text prefix)
{
	return t.len >= prefix.len && memcmp(t.data, prefix.data, prefix.len) == 0;
}

/* Removes a prefix. False: t does not begin with it, and is unchanged. */
static inline bool tr_text_skip(struct tr_text *t, struct tr_text prefix)
{
	if (!tr_text_starts(*t, prefix))
		return false;
	*t = (struct tr_text){ t->data + prefix.len, t->len - prefix.len };
	return true;
}

/* The lower case of an ASCII letter; any other byte unchanged. */
static inline char tr_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* True if the texts are equal apart from the case of ASCII letters. */
static inline bool tr_text_equal_in_any_case(struct tr_text a, struct tr_text b)
{
	if (a.len != b.len)
		return false;
	for (size_t i = 0; i < a.len; i++)
		if (tr_lower(a.data[i]) != tr_lower(b.data[i]))
			return false;
	return true;
}

static inline bool tr_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* True for the characters of isspace() in the C locale, in any locale. */
static inline bool tr_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns t without blanks and line ends at its beginning and end. */
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

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

/* Returns the number of bytes that two texts of this length have in common at their beginning. */
static inline size_t tr_text_common(const char *a, const char *b, size_t len)
{
	size_t i = 0;

#if defined __SSE2__ && !defined TR_PORTABLE
	for (; i + sizeof(__m128i) <= len; i += sizeof(__m128i)) {
		__m128i x = _mm_loadu_si128((const __m128i *)(const void *)(a + i));
		__m128i y = _mm_loadu_si128((const __m128i *)(const void *)(b + i));
		unsigned same = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
		if (same != 0xffff)
			return i + (size_t)__builtin_ctz(~same);
	}
#endif
	while (i < len && a[i] == b[i])
		i++;
	return i;
}

/* Decimal digits. */

/* True for the ten digits of ASCII, in any locale. */
static inline bool tr_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of eight bytes that are all the same. */
#define TR_EIGHT(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * The bytes of a number that are above 9, as their top bits. Those after the first one may be
 * wrong.
 */
static inline uint64_t tr_eight_above_9(uint64_t bytes)
{
	return ((bytes + TR_EIGHT(0x76)) | bytes) & TR_EIGHT(0x80);
}

/* Returns the end of the digits at p; there may be none. */
static inline const char *tr_skip_digits(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t bytes, others;
	for (; (size_t)(end - p) >= sizeof bytes; p += sizeof bytes) {
		memcpy(&bytes, p, sizeof bytes);
		others = tr_eight_above_9(bytes ^ TR_EIGHT('0'));
		if (others)
			return p + (unsigned)__builtin_ctzll(others) / 8;
	}
#endif
	while (p < end && tr_is_digit(*p))
		p++;
	return p;
}

/* True if the text consists of digits, and is not empty. */
static inline bool tr_text_is_digits(struct tr_text t)
{
	return t.len && tr_skip_digits(t.data, t.data + t.len) == t.data + t.len;
}

enum { TR_DECIMAL_MAX = 20 }; /* maximum number of digits of 64 bits */

/* Returns the number of digits of n. */
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
	/* log2(10) is about 4096 / 1233, so this is exact or one too small */
	unsigned below = (64u - (unsigned)__builtin_clzll(n | 1)) * 1233 >> 12;

	return below + (below < TR_DECIMAL_MAX && n >= powers[below]) + (n == 0);
}

/* Writes the digits of n, two at a time from the end; returns their number. */
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

/* Reads a number up to max of decimal digits, all of the text. False: it is not one. */
static inline bool tr_decimal_read(struct tr_text text, uint64_t max, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)text.data[i] - (unsigned)'0';
		if (digit > 9 || digit > max || *number > (max - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return text.len > 0;
}

/*
 * Reads a number below 10^18 in its only spelling, which has no zero in front. False: it is not
 * one.
 */
static inline bool tr_decimal_id(struct tr_text text, uint64_t *number)
{
	uint64_t value = 0;

	if (!text.len || text.len > 18 || (*text.data == '0' && text.len > 1))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned)(unsigned char)text.data[i] - '0';
		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return true;
}

/*
 * A number that is usually one more than the one before: all digits but the last two are kept. The
 * last two are written each time, because loading bytes that were just stored one by one as a block
 * is slow.
 */
struct tr_counter {
	uint64_t hundreds;
	char digits[TR_DECIMAL_MAX]; /* digits of the hundreds */
	uint8_t len;		     /* 0: there are none */
};

/*
 * Writes the digits of number; to always needs room for TR_DECIMAL_MAX + 2 bytes. Returns their
 * number.
 */
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

/* Hex digits. */

/* Returns the value of a hex digit of either case; -1: c is not one. */
static inline int tr_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Writes sixteen lower-case digits at once. */
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
/* Moves each group of four bits to a byte of its own, then writes their digits. */
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

/* Returns the number of digits of n. */
static inline unsigned tr_hex_length(uint64_t n)
{
	return n ? (67 - (unsigned)__builtin_clzll(n)) / 4 : 1;
}

/* Writes the last len digits of n, 1 to 16; to always needs room for 16 bytes. */
static inline void tr_hex_write(uint64_t n, unsigned len, char *to)
{
	tr_hex_write16(n << (64 - 4 * len), to);
}

/* Similar words, for messages that end with "did you mean". */

/* A search for the candidate that is most similar to `word`. */
struct tr_similar {
	struct tr_text word;
	struct tr_text found; /* data NULL: no candidate is similar enough so far */
	unsigned distance;    /* of found, or the smallest that is too large */
};

/* Begins a search. Up to a third of the letters, but at least one, may differ. */
void tr_similar_begin(struct tr_similar *similar, struct tr_text word);

/* Offers a candidate, which is borrowed. Of two that are equally similar the first wins. */
void tr_similar_offer(struct tr_similar *similar, struct tr_text candidate);

#endif
