/* SPDX-License-Identifier: MIT */
/*
 * Inside strings, for lib/record only: finding the closing quote, and the one
 * meaning of every escape. literal_*.c, string.c and the checks share it, so
 * that reading, checking and writing cannot disagree on what is canonical.
 */
#ifndef TR_RECORD_STRING_SCAN_H
#define TR_RECORD_STRING_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

#include "core/text.h"

/* What no string body is copied over: controls, quote, backslash, 7f, bytes from 80. */
static inline bool tr_string_is_special(unsigned char c)
{
	return c < 0x20 || c >= 0x7f || c == '"' || c == '\\';
}

#if defined __SSE2__ && !defined TR_PORTABLE
/* Which of sixteen bytes are special, as bits. */
static inline unsigned tr_string_special_mask(__m128i bytes)
{
	/* compared as signed, so bytes from 80 are below the blank too */
	__m128i found = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
	found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
	return (unsigned)_mm_movemask_epi8(found);
}
#endif

/* The first special byte in [p, end), or end. */
static inline const char *tr_string_special(const char *p, const char *end)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	bool sixteen = end - p >= 16;
	while (sixteen && p < end) {
		/* what is left over is seen together with bytes that are known to be none */
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

/* One escape sequence, or several that stand for one thing (a pair, bytes of one character). */
struct tr_escape {
	enum {
		TR_ESCAPE_CHAR,	     /* code is a code point, in a wide string a unit */
		TR_ESCAPE_BYTE,	     /* code is a byte of no valid sequence */
		TR_ESCAPE_SURROGATE, /* code is a lone surrogate of a narrow string */
	} type;
	uint64_t code;
	size_t len;	    /* bytes of spelling it takes */
	const char *reason; /* why it is no escape, or NULL */
	size_t reason_at;   /* where in it */
};

/* Reads the escape whose backslash is at p. False: reason and reason_at are set. */
bool tr_escape_read(const char *p, const char *end, bool wide, struct tr_escape *escape);

enum { TR_ESCAPE_MAX = 24 }; /* bytes a unit's canonical spelling takes at most */

struct tr_string_scan {
	const char *end;    /* at the closing quote; after a failure where the trouble is */
	const char *reason; /* why the string is malformed; NULL: it is not */
	bool plain;	    /* no backslash in it */
	bool canonical;
	bool json; /* the same string in JSON: no `\x`, no lone surrogate */
};

/* Scans from behind the opening quote. False: malformed. */
bool tr_string_scan(const char *p, const char *end, bool wide, struct tr_string_scan *scan);

/*
 * Writes the canonical spelling of a string that was scanned and returns its
 * length: at most that of the spelling, of a wide string at most twice that.
 */
size_t tr_string_respell(struct tr_text spelling, bool wide, char *to);

/* Lists and maps of strings without escapes: most bytes of a build trace are in them. */

#if defined __SSE2__ && !defined TR_PORTABLE
enum { TR_PLAIN_BLOCKS = true };
#else
enum { TR_PLAIN_BLOCKS = false }; /* nothing is found plain here */
#endif

enum { TR_PLAIN_LEAST = 64 + 2 }; /* a block and the brackets */

/*
 * True when [p, end), at least TR_PLAIN_LEAST bytes, is in the one spelling a
 * list of strings or a map of strings, all of them printable ASCII without a
 * backslash. False says nothing.
 */
bool tr_literal_is_plain(const char *p, const char *end);

#endif
