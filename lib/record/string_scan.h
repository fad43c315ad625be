/* SPDX-License-Identifier: MIT */
/*
 * The inside of strings: the search for the bytes that end a fast copy, and the single definition
 * of every escape, which reading, checking and writing share, so that they agree on what is
 * canonical. Thread safe; no state.
 */
#ifndef TR_RECORD_STRING_SCAN_H
#define TR_RECORD_STRING_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"
#include "core/utf8.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

struct tr_buffer;

/* True for bytes that end a fast copy: controls, quote, backslash, 7f, bytes from 80 on. */
static inline bool tr_string_is_special(unsigned char c)
{
	return c < 0x20 || c >= 0x7f || c == '"' || c == '\\';
}

#if defined __SSE2__ && !defined TR_PORTABLE
/* Returns which of sixteen bytes are special, one bit each. */
static inline unsigned tr_string_special_mask(__m128i bytes)
{
	/* as signed numbers, 7f + 1 and bytes from 80 on are below those of printable bytes */
	__m128i next = _mm_add_epi8(bytes, _mm_set1_epi8(1));
	__m128i found = _mm_cmplt_epi8(next, _mm_set1_epi8(' ' + 1));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
	return (unsigned)_mm_movemask_epi8(found);
}

/*
 * Returns the first special byte of a text of 4 to 15 bytes, or end: its first half and its last
 * half, which may overlap, are examined together.
 */
static inline const char *tr_string_special_of_few(const char *p, const char *end)
{
	unsigned half = end - p >= 8 ? 8 : 4, used = (1u << 2 * half) - 1;
	__m128i halves;
	if (half == 8) {
		halves = _mm_unpacklo_epi64(
			_mm_loadl_epi64((const __m128i *)(const void *)p),
			_mm_loadl_epi64((const __m128i *)(const void *)(end - 8)));
	} else {
		int first, last;
		memcpy(&first, p, sizeof first);
		memcpy(&last, end - 4, sizeof last);
		halves = _mm_unpacklo_epi32(_mm_cvtsi32_si128(first), _mm_cvtsi32_si128(last));
	}
	unsigned mask = tr_string_special_mask(halves) & used;
	if (!mask)
		return end;
	unsigned at = (unsigned)__builtin_ctz(mask);
	return at < half ? p + at : end - half + (at - half);
}
#endif

/* Returns the first special byte in [p, end), or end. */
static inline const char *tr_string_special(const char *p, const char *end)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	bool sixteen = end - p >= 16;
	if (!sixteen && end - p >= 4)
		return tr_string_special_of_few(p, end);
	while (sixteen && p < end) {
		/* the rest is examined together with bytes that are known not to be special */
		if (end - p < 16)
			p = end - 16;
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
		unsigned mask = tr_string_special_mask(bytes);
		if (mask)
			return p + __builtin_ctz(mask);
		p += 16;
	}
#endif
	while (p < end && !tr_string_is_special((unsigned char)*p))
		p++;
	return p;
}

/*
 * Returns the place after the closing quote of the string whose opening quote is at p; or end. A
 * quote after an odd number of backslashes is part of the string.
 */
static inline const char *tr_string_end(const char *p, const char *end)
{
	const char *from = p + 1;
	for (;;) {
		const char *quote = memchr(from, '"', (size_t)(end - from));
		if (!quote)
			return end;
		const char *run = quote;
		while (run > from && run[-1] == '\\')
			run--;
		if ((quote - run) % 2 == 0)
			return quote + 1;
		from = quote + 1;
	}
}

/*
 * An escape sequence, or several that form one unit (a pair of surrogates, the bytes of a
 * character).
 */
struct tr_escape {
	enum {
		TR_ESCAPE_CHAR,	     /* code is a code point; in a wide string, a unit */
		TR_ESCAPE_BYTE,	     /* code is a byte of no valid sequence */
		TR_ESCAPE_SURROGATE, /* code is a lone surrogate of a narrow string */
	} type;
	uint64_t code;
	size_t len;	    /* length in the spelling */
	const char *reason; /* why it is invalid, or NULL */
	size_t reason_at;   /* offset of the error */
};

/* Reads the escape whose backslash is at p. False: reason and reason_at are set. */
bool tr_escape_read(const char *p, const char *end, bool wide, struct tr_escape *escape);

enum { TR_ESCAPE_MAX = 24 }; /* maximum length of the canonical spelling of a unit */

/* Writes the canonical spelling of a unit, escaped or not, and returns its length. */
size_t tr_escape_write(const struct tr_escape *escape, bool wide, char *to);

/* Lists and maps of strings without escapes (plain.c). */

#if defined __SSE2__ && !defined TR_PORTABLE
enum { TR_PLAIN_BLOCKS = true };
#else
enum { TR_PLAIN_BLOCKS = false }; /* tr_literal_is_plain always returns false */
#endif

enum { TR_PLAIN_LEAST = 64 + 2 }; /* a block and the brackets */

/*
 * True if [p, end), at least TR_PLAIN_LEAST bytes, is a canonical list or map of strings, all of
 * printable ASCII without a backslash. False: it is something else, or cannot be decided here.
 */
bool tr_literal_is_plain(const char *p, const char *end);

/*
 * Appends the members of a map as JSON lists, ["key","value"] with commas between them, if
 * tr_literal_is_plain accepts it. False: nothing was appended.
 */
bool tr_literal_put_plain_pairs(struct tr_text map, struct tr_buffer *to);

/*
 * Steps over items of a compact list, or members of a map, that are strings (or pairs of them) with
 * the same spelling in JSON and trec. p is at an item or key that is a string. Returns the place
 * after the last such item, or p. TR_INPUT_PAD bytes after end are readable.
 */
const char *tr_json_plain_items(const char *p, const char *end, bool map);

#endif
