/* SPDX-License-Identifier: MIT */
/*
 * Shared by json.c and json_spell.c: classes of bytes, wide scans over string bodies, and single
 * elements of strings.
 *
 * The wide scans read up to 16 bytes after `end`, which TR_INPUT_PAD guarantees, and ignore them,
 * so that they need no loop for the last bytes.
 */
#ifndef TR_RECORD_JSON_SCAN_H
#define TR_RECORD_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "record/json.h"
#include "record/string_scan.h"

enum { TR_JSON_WIDE = 16 };

/* The escapes of two bytes that are canonical in trec too: all but \/ . */
static inline bool tr_json_is_short_escape(char c)
{
	return c == '"' || c == '\\' || c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f';
}

#if defined __SSE2__ && !defined TR_PORTABLE

/*
 * Copies bytes that need no escape, from p to *to. Returns the first one that does (or a place at
 * or after end). Writes up to 16 bytes more than it copies: *to needs room for end - p + 16.
 */
static inline const char *tr_json_copy_plain(const char *p, const char *end, char **to)
{
	char *t = *to;
	while (p < end) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)p);
		unsigned special = tr_string_special_mask(block);
		_mm_storeu_si128((__m128i *)(void *)t, block);
		if (special) {
			unsigned n = (unsigned)__builtin_ctz(special);
			*to = t + n;
			return p + n;
		}
		p += TR_JSON_WIDE;
		t += TR_JSON_WIDE;
	}
	*to = t;
	return p;
}

/* Returns the first quote, backslash or LF at or after p (or a place at or after end). */
static inline const char *tr_json_find_special(const char *p, const char *end)
{
	for (; p < end; p += TR_JSON_WIDE) {
		__m128i block = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i found = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
		found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
		found = _mm_or_si128(found, _mm_cmpeq_epi8(block, _mm_set1_epi8('\n')));
		unsigned mask = (unsigned)_mm_movemask_epi8(found);
		if (mask)
			return p + __builtin_ctz(mask);
	}
	return p;
}

#else

/* Not 0 if the word has such a byte. */
static inline uint64_t tr_json_has(uint64_t word, unsigned char byte)
{
	uint64_t differences = word ^ TR_EIGHT(byte);
	return (differences - TR_EIGHT(1)) & ~differences & TR_EIGHT(0x80);
}

static inline const char *tr_json_copy_plain(const char *p, const char *end, char **to)
{
	char *t = *to;
	while (p < end) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		uint64_t special = ((word - TR_EIGHT(0x20)) & ~word & TR_EIGHT(0x80)) |
				   (word & TR_EIGHT(0x80)) | tr_json_has(word, 0x7f) |
				   tr_json_has(word, '"') | tr_json_has(word, '\\');
		if (special)
			break;
		memcpy(t, &word, sizeof word);
		p += sizeof word;
		t += sizeof word;
	}
	while (p < end && !tr_string_is_special((unsigned char)*p))
		*t++ = *p++;
	*to = t;
	return p;
}

static inline const char *tr_json_find_special(const char *p, const char *end)
{
	while (p < end) {
		uint64_t word;
		memcpy(&word, p, sizeof word);
		if (tr_json_has(word, '"') | tr_json_has(word, '\\') | tr_json_has(word, '\n'))
			break;
		p += sizeof word;
	}
	while (p < end && *p != '"' && *p != '\\' && *p != '\n')
		p++;
	return p;
}

#endif

/*
 * Reads the element of a string body at p < end: an escape, a character, or a byte that belongs to
 * no valid UTF-8 sequence. TR_JSON_STRING; TR_JSON_CUT: the text ends inside an escape;
 * TR_JSON_BAD: JSON does not define this escape.
 */
enum tr_json_token tr_json_element(const char *p, const char *end, struct tr_escape *element);

#endif
