/* SPDX-License-Identifier: MIT */
/*
 * The byte layer of the stream: one fast pass over a window that finds line
 * ends and whatever may not stand in a trec stream.
 */
#ifndef TR_RECORD_LINE_H
#define TR_RECORD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first byte in [p, end) that no trec line may hold raw: 00-1f except TAB
 * and LF, 7f, or no valid UTF-8. end when there is none. A sequence that is
 * cut by end counts as invalid, so pass whole lines. Reads up to
 * TR_INPUT_PAD bytes behind end.
 */
const char *tr_line_scan(const char *p, const char *end);

/*
 * False when a line surely refers to no definition: it has no "@", and no column that
 * begins with "." as .sig and .bt do. Reads up to TR_INPUT_PAD bytes behind it.
 */
bool tr_line_may_refer(const char *p, const char *end);

enum {
	TR_LINE_BLOCK = 64,  /* bytes */
	TR_LINE_GROUP = 64,  /* blocks */
	TR_LINE_BLOCKS = 256 /* so few that what was checked is yet near when it is read */
};
_Static_assert(TR_LINE_BLOCKS % TR_LINE_GROUP == 0, "groups are whole");

/*
 * Where lines end in a run of blocks: a bit for every byte, and one for every
 * block that has any, because of the others there are many.
 */
struct tr_line_ends {
	bool clean;	   /* tr_line_scan would find nothing in the blocks */
	const char *last;  /* of all line ends; NULL: there is none */
	const char *base;  /* the first byte */
	const char *block; /* the one whose line ends are being given */
	uint64_t left;	   /* those that were not given yet */
	size_t group;
	uint64_t used[TR_LINE_BLOCKS / TR_LINE_GROUP];
	uint64_t bits[TR_LINE_BLOCKS];
};

/*
 * Finds them in `blocks` blocks at p, TR_LINE_BLOCKS at most. Where something
 * is not clean, there may yet be no more than legal bytes beyond ASCII.
 */
void tr_line_ends(const char *p, size_t blocks, struct tr_line_ends *ends);

/* The next of them. There has to be one. */
static inline const char *tr_line_ends_next(struct tr_line_ends *ends)
{
	if (!ends->left) {
		while (!ends->used[ends->group])
			ends->group++;
		uint64_t *used = &ends->used[ends->group];
		size_t block = ends->group * TR_LINE_GROUP + (unsigned)__builtin_ctzll(*used);
		*used &= *used - 1;
		ends->left = ends->bits[block];
		ends->block = ends->base + block * TR_LINE_BLOCK;
	}
	const char *end = ends->block + (unsigned)__builtin_ctzll(ends->left);
	ends->left &= ends->left - 1;
	return end;
}

#endif
