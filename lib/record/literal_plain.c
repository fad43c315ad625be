/*
 * No string is looked at by itself: 64 bytes give one word of bits for each
 * question, and the structure is right when the words fit together. Quotes
 * open and close in turn, so an exclusive or over all quotes up to a byte says
 * whether it is inside a string; outside there is exactly one separator
 * between two strings.
 */
#include "record/literal_plain.h"

#include <stddef.h>
#include <string.h>

#include "core/utf8_block.h"

#if defined __SSE2__ && !defined TR_PORTABLE

/* Words that stay in registers, and `map` known when it is compiled. */
#define INLINED static inline __attribute__((always_inline))

/* Bit i: an odd number of bits is set in [0, i]. */
INLINED uint64_t parity_up_to(uint64_t bits)
{
	for (unsigned shift = 1; shift < 64; shift *= 2)
		bits ^= bits << shift;
	return bits;
}

/* The top bit in all bits: what the next block has to know of the last byte. */
INLINED uint64_t carry(uint64_t bits)
{
	return 0 - (bits >> 63);
}

/* The bytes that matter; one bit a byte. */
struct marks {
	uint64_t quotes, commas, colons;
	uint64_t special; /* what no plain string holds */
};

/* Compared as signed numbers, bytes from 80 on are below the blank as well. */
INLINED __m128i special_bytes(__m128i bytes)
{
	return _mm_or_si128(_mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
					 _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))),
			    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
}

INLINED uint64_t special_marks(struct tr_block block)
{
	return tr_block_bits((struct tr_block){
		{ special_bytes(block.part[0]), special_bytes(block.part[1]),
		  special_bytes(block.part[2]), special_bytes(block.part[3]) } });
}

INLINED struct marks find_marks(const char *p, bool map)
{
	struct tr_block block = tr_block_load(p);
	return (struct marks){
		.quotes = tr_block_equal(block, '"'),
		.commas = tr_block_equal(block, ','),
		.colons = map ? tr_block_equal(block, ':') : 0,
		.special = special_marks(block),
	};
}

/* What a block is made of, and what the next one has to know of it. */
struct view {
	uint64_t inside;  /* in a string, or its opening quote */
	uint64_t closing; /* a closing quote */
	uint64_t between; /* neither: a separator, if all is well */
	uint64_t odd;     /* of separators up to here there is an odd number */
	uint64_t bad;     /* not what stands here in a list or map of plain strings */
};

INLINED struct view look(struct marks marks, bool map, const struct view *before)
{
	struct view v;
	v.inside = parity_up_to(marks.quotes) ^ carry(before->inside);
	v.closing = marks.quotes & ~v.inside;
	v.between = ~(v.inside | marks.quotes);
	v.odd = map ? parity_up_to(v.between) ^ carry(before->odd) : 0;
	uint64_t opening = marks.quotes & v.inside;
	uint64_t separators = (marks.commas & ~v.odd) | (marks.colons & v.odd);
	v.bad = (v.closing << 1 | before->closing >> 63) ^ v.between;
	v.bad |= (v.between << 1 | before->between >> 63) ^ opening;
	v.bad |= (v.between & ~separators) | marks.special;
	return v;
}

/* From the first quote to behind the last, TR_UTF8_BLOCK bytes or more. */
INLINED bool is_plain(const char *p, const char *end, bool map)
{
	/* the bracket is as good as a separator: a string has to follow */
	struct view v = { .between = UINT64_MAX };
	for (; end - p > TR_UTF8_BLOCK; p += TR_UTF8_BLOCK) {
		v = look(find_marks(p, map), map, &v);
		if (v.bad)
			return false;
	}
	/* the last block is loaded with bytes that are done, which are shifted out */
	unsigned done = (unsigned)(TR_UTF8_BLOCK - (end - p));
	struct marks marks = find_marks(end - TR_UTF8_BLOCK, map);
	marks = (struct marks){ marks.quotes >> done, marks.commas >> done, marks.colons >> done,
				marks.special >> done };
	v = look(marks, map, &v);
	uint64_t last = (uint64_t)1 << (TR_UTF8_BLOCK - 1 - done);
	return !(v.bad << done) && (v.closing & last) && (!map || (v.odd & last));
}

bool tr_literal_is_plain(const char *p, const char *end)
{
	if (*p == '[' && end[-1] == ']')
		return is_plain(p + 1, end - 1, false);
	if (*p == '{' && end[-1] == '}')
		return is_plain(p + 1, end - 1, true);
	return false;
}

#else

bool tr_literal_is_plain(const char *p, const char *end)
{
	(void)p;
	(void)end;
	return false;
}

#endif
