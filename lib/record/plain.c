/* SPDX-License-Identifier: MIT */
/*
 * Lists and maps of strings without escapes, which make up most of a build trace, 64 bytes at a
 * time.
 *
 * Strings are not examined one by one. Each question about 64 bytes is answered by one word of 64
 * bits, and the structure is valid if these words fit together. Quotes open and close in turn, so
 * a byte is inside a string if the number of quotes up to it is odd. Outside of strings, there is
 * exactly one separator between two of them.
 */

#include <string.h>

#include "core/buffer.h"
#include "core/utf8.h"
#include "record/json.h"
#include "record/string_scan.h"

#if defined __SSE2__ && !defined TR_PORTABLE

/* Always inlined, so that words stay in registers and `map` is a constant. */
#define INLINED static inline __attribute__((always_inline))

/* The relevant bytes of a block, one bit each. */
struct marks {
	uint64_t quotes, commas, colons;
	uint64_t special; /* bytes that a plain string does not contain */
};

/* The functions that exist for each kind of machine: with and without AVX2. */
struct machine {
	struct marks (*mark)(const char *p, bool map);
	uint64_t (*parity)(uint64_t bits); /* see tr_block64_parity */
};

/* As signed numbers, 7f + 1 and bytes from 80 on are below those of printable bytes. */
INLINED __m128i special_bytes(__m128i bytes)
{
	__m128i next = _mm_add_epi8(bytes, _mm_set1_epi8(1));
	return _mm_or_si128(_mm_cmplt_epi8(next, _mm_set1_epi8(' ' + 1)),
			    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}

static inline struct marks mark(const char *p, bool map)
{
	struct tr_block64 block = tr_block64_load(p);
	struct tr_block64 special = { { special_bytes(block.part[0]), special_bytes(block.part[1]),
					special_bytes(block.part[2]),
					special_bytes(block.part[3]) } };
	return (struct marks){
		.quotes = tr_block64_equal(block, '"'),
		.commas = tr_block64_equal(block, ','),
		.colons = map ? tr_block64_equal(block, ':') : 0,
		.special = tr_block64_bits(special),
	};
}

/*
 * The structure of a block, one bit for each byte; the last bits are the state for the next block.
 */
struct layout {
	uint64_t inside;  /* in a string, or its opening quote */
	uint64_t closing; /* a closing quote */
	uint64_t between; /* neither: a separator, if the text is valid */
	uint64_t odd;	  /* the number of separators up to here is odd */
	uint64_t bad;	  /* not valid here in a list or map of plain strings */
};

/* The state before the first string: the bracket or comma before it counts as a separator. */
#define LAYOUT_INIT \
	{ \
		.between = UINT64_MAX \
	}

/* Copies the top bit to all bits: the state after the last byte, for the next block. */
INLINED uint64_t carry(uint64_t bits)
{
	return 0 - (bits >> 63);
}

/* Finds the layout of a block from its marks and the layout of the block before it. */
INLINED struct layout find_layout(const struct machine *machine, struct marks marks, bool map,
				  const struct layout *before)
{
	struct layout v;
	v.inside = machine->parity(marks.quotes) ^ carry(before->inside);
	v.closing = marks.quotes & ~v.inside;
	v.between = ~(v.inside | marks.quotes);
	v.odd = map ? machine->parity(v.between) ^ carry(before->odd) : 0;
	uint64_t opening = marks.quotes & v.inside;
	uint64_t separators = (marks.commas & ~v.odd) | (marks.colons & v.odd);
	v.bad = (v.closing << 1 | before->closing >> 63) ^ v.between;
	v.bad |= (v.between << 1 | before->between >> 63) ^ opening;
	v.bad |= (v.between & ~separators) | marks.special;
	return v;
}

/*
 * The marks of the last block of a text, from p to end, which has TR_UTF8_BLOCK bytes or more: the
 * block is loaded with bytes that are done, which are shifted out.
 */
INLINED struct marks mark_last(const struct machine *machine, const char *p, const char *end,
			       bool map)
{
	unsigned done = (unsigned)(TR_UTF8_BLOCK - (end - p));
	struct marks marks = machine->mark(end - TR_UTF8_BLOCK, map);
	return (struct marks){ marks.quotes >> done, marks.commas >> done, marks.colons >> done,
			       marks.special >> done };
}

/* True if the block is the valid end of a text; the last `done` bits of its layout are ignored. */
INLINED bool is_end(const struct layout *v, unsigned done, bool map)
{
	uint64_t last = (uint64_t)1 << (TR_UTF8_BLOCK - 1 - done);
	return !(v->bad << done) && (v->closing & last) && (!map || (v->odd & last));
}

/*
 * True if [p, end), TR_UTF8_BLOCK bytes or more, is the inside of a list or map of plain strings.
 */
INLINED bool is_plain(const struct machine *machine, const char *p, const char *end, bool map)
{
	struct layout v = LAYOUT_INIT;
	for (; end - p > TR_UTF8_BLOCK; p += TR_UTF8_BLOCK) {
		v = find_layout(machine, machine->mark(p, map), map, &v);
		if (v.bad)
			return false;
	}
	v = find_layout(machine, mark_last(machine, p, end, map), map, &v);
	return is_end(&v, (unsigned)(TR_UTF8_BLOCK - (end - p)), map);
}

/* True for a list or map of plain strings, with its brackets. */
INLINED bool is_container(const struct machine *machine, const char *p, const char *end)
{
	if (*p == '[' && end[-1] == ']')
		return is_plain(machine, p + 1, end - 1, false);
	if (*p == '{' && end[-1] == '}')
		return is_plain(machine, p + 1, end - 1, true);
	return false;
}

/* As tr_json_plain_items. */
INLINED const char *skip_items(const struct machine *machine, const char *p, const char *end,
			       bool map)
{
	const char *after = p;
	struct layout v = LAYOUT_INIT;
	for (; p < end; p += TR_UTF8_BLOCK) {
		v = find_layout(machine, machine->mark(p, map), map, &v);
		if (end - p < TR_UTF8_BLOCK)
			v.bad |= UINT64_MAX << (end - p);
		uint64_t before_bad = v.bad ? (v.bad & (0 - v.bad)) - 1 : UINT64_MAX;
		uint64_t ends = v.closing & before_bad & (map ? v.odd : UINT64_MAX);
		if (ends)
			after = p + TR_UTF8_BLOCK - __builtin_clzll(ends);
		if (v.bad)
			break;
	}
	return after;
}

static inline char *copy(char *to, const char *from, const char *end)
{
	memcpy(to, from, (size_t)(end - from));
	return to + (end - from);
}

/*
 * Replaces the separators in the text of a map, from the first quote to after the last. Returns the
 * end of what was written. NULL: the map is not plain.
 */
INLINED char *put_pairs(const struct machine *machine, const char *p, const char *end, char *to)
{
	struct layout v = LAYOUT_INIT;
	const char *from = p;
	bool last;

	*to++ = '[';
	do {
		last = end - p <= TR_UTF8_BLOCK;
		unsigned done = last ? (unsigned)(TR_UTF8_BLOCK - (end - p)) : 0;
		struct marks marks =
			last ? mark_last(machine, p, end, true) : machine->mark(p, true);
		v = find_layout(machine, marks, true, &v);
		if (last ? !is_end(&v, done, true) : v.bad)
			return NULL;
		for (uint64_t left = v.between & UINT64_MAX >> done; left; left &= left - 1) {
			const char *separator = p + __builtin_ctzll(left);
			bool colon = v.odd & left & (0 - left);
			to = copy(to, from, separator);
			memcpy(to, colon ? ",  " : "],[", 3); /* a constant size is faster */
			to += colon ? 1 : 3;
			from = separator + 1;
		}
		p += TR_UTF8_BLOCK;
	} while (!last);
	to = copy(to, from, end);
	*to++ = ']';
	return to;
}

static const struct machine narrow = { mark, tr_block64_parity };

#ifdef TR_WIDE
TR_WIDE static inline uint64_t special_wide(__m256i bytes)
{
	__m256i next = _mm256_add_epi8(bytes, _mm256_set1_epi8(1));
	__m256i outside = _mm256_cmpgt_epi8(_mm256_set1_epi8(' ' + 1), next);
	__m256i escape = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
	return (unsigned)_mm256_movemask_epi8(_mm256_or_si256(outside, escape));
}

TR_WIDE static inline struct marks mark_wide(const char *p, bool map)
{
	struct tr_block64_wide block = tr_block64_wide_load(p);
	return (struct marks){
		.quotes = tr_block64_wide_equal(block, '"'),
		.commas = tr_block64_wide_equal(block, ','),
		.colons = map ? tr_block64_wide_equal(block, ':') : 0,
		.special = special_wide(block.low) | special_wide(block.high) << 32,
	};
}

static const struct machine wide = { mark_wide, tr_block64_wide_parity };

TR_WIDE static bool is_container_wide(const char *p, const char *end)
{
	return is_container(&wide, p, end);
}

TR_WIDE static char *put_pairs_wide(const char *p, const char *end, char *to)
{
	return put_pairs(&wide, p, end, to);
}

TR_WIDE static const char *skip_items_wide(const char *p, const char *end, bool map)
{
	return map ? skip_items(&wide, p, end, true) : skip_items(&wide, p, end, false);
}
#endif

bool tr_literal_is_plain(const char *p, const char *end)
{
#ifdef TR_WIDE
	if (tr_wide_runs())
		return is_container_wide(p, end);
#endif
	return is_container(&narrow, p, end);
}

bool tr_literal_put_plain_pairs(struct tr_text map, struct tr_buffer *to)
{
	const char *p = map.data + 1, *end = map.data + map.len - 1;
	char *room, *after;

	if (map.len < TR_PLAIN_LEAST || p[-1] != '{' || *end != '}')
		return false;
	/* a pair of 6 bytes, with its comma, becomes 8 */
	room = tr_buffer_room(to, map.len + map.len / 2);
	if (!room)
		return false;
#ifdef TR_WIDE
	if (tr_wide_runs())
		after = put_pairs_wide(p, end, room);
	else
#endif
		after = put_pairs(&narrow, p, end, room);
	if (after)
		tr_buffer_used(to, (size_t)(after - room));
	return after;
}

const char *tr_json_plain_items(const char *p, const char *end, bool map)
{
#ifdef TR_WIDE
	if (tr_wide_runs())
		return skip_items_wide(p, end, map);
#endif
	return map ? skip_items(&narrow, p, end, true) : skip_items(&narrow, p, end, false);
}

#else

bool tr_literal_is_plain(const char *p, const char *end)
{
	(void)p, (void)end;
	return false;
}

bool tr_literal_put_plain_pairs(struct tr_text map, struct tr_buffer *to)
{
	(void)map, (void)to;
	return false;
}

const char *tr_json_plain_items(const char *p, const char *end, bool map)
{
	(void)end, (void)map;
	return p;
}

#endif
