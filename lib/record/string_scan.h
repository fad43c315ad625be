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

#include "core/text.h"
#include "core/utf8.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

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

/*
 * Lists and maps of strings by 64 bytes at a time, for lib/record only.
 *
 * No string is looked at by itself: 64 bytes give one word of bits for each
 * question, and the structure is right when the words fit together. Quotes
 * open and close in turn, so an exclusive or over all quotes up to a byte says
 * whether it is inside a string; outside there is exactly one separator
 * between two strings.
 */

#if defined __SSE2__ && !defined TR_PORTABLE

/* Words that stay in registers, and `map` known when it is compiled. */
#define TR_INLINED static inline __attribute__((always_inline))

/* Bit i: an odd number of bits is set in [0, i]. */
TR_INLINED uint64_t tr_parity_up_to(uint64_t bits)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

/* The top bit in all bits: what the next block has to know of the last byte. */
TR_INLINED uint64_t tr_carry(uint64_t bits)
{
	return 0 - (bits >> 63);
}

/* The bytes that matter; one bit a byte. */
struct tr_marks {
	uint64_t quotes, commas, colons;
	uint64_t special; /* what no plain string holds */
};

/* Compared as signed numbers, bytes from 80 on are below the blank as well. */
TR_INLINED __m128i tr_special_bytes(__m128i bytes)
{
	return _mm_or_si128(_mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
					 _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))),
			    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}

TR_INLINED uint64_t tr_special_marks(struct tr_block block)
{
	return tr_block_bits((struct tr_block){
		{ tr_special_bytes(block.part[0]), tr_special_bytes(block.part[1]),
		  tr_special_bytes(block.part[2]), tr_special_bytes(block.part[3]) } });
}

TR_INLINED struct tr_marks tr_find_marks(const char *p, bool map)
{
	struct tr_block block = tr_block_load(p);
	return (struct tr_marks){
		.quotes = tr_block_equal(block, '"'),
		.commas = tr_block_equal(block, ','),
		.colons = map ? tr_block_equal(block, ':') : 0,
		.special = tr_special_marks(block),
	};
}

/* What a block is made of, and what the next one has to know of it. */
struct tr_view {
	uint64_t inside;  /* in a string, or its opening quote */
	uint64_t closing; /* a closing quote */
	uint64_t between; /* neither: a separator, if all is well */
	uint64_t odd;	  /* of separators up to here there is an odd number */
	uint64_t bad;	  /* not what stands here in a list or map of plain strings */
};

TR_INLINED struct tr_view tr_view_look(struct tr_marks marks, bool map,
				       const struct tr_view *before)
{
	struct tr_view v;
	v.inside = tr_parity_up_to(marks.quotes) ^ tr_carry(before->inside);
	v.closing = marks.quotes & ~v.inside;
	v.between = ~(v.inside | marks.quotes);
	v.odd = map ? tr_parity_up_to(v.between) ^ tr_carry(before->odd) : 0;
	uint64_t opening = marks.quotes & v.inside;
	uint64_t separators = (marks.commas & ~v.odd) | (marks.colons & v.odd);
	v.bad = (v.closing << 1 | before->closing >> 63) ^ v.between;
	v.bad |= (v.between << 1 | before->between >> 63) ^ opening;
	v.bad |= (v.between & ~separators) | marks.special;
	return v;
}

#endif

#endif
