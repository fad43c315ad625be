/* SPDX-License-Identifier: MIT */
/*
 * Lists and maps of strings by 64 bytes at a time, for lib/record only.
 *
 * No string is looked at by itself: 64 bytes give one word of bits for each
 * question, and the structure is right when the words fit together. Quotes
 * open and close in turn, so an exclusive or over all quotes up to a byte says
 * whether it is inside a string; outside there is exactly one separator
 * between two strings.
 */
#ifndef TR_RECORD_STRING_BLOCK_H
#define TR_RECORD_STRING_BLOCK_H

#include "core/utf8_block.h"

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
