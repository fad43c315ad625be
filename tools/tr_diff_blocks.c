/* SPDX-License-Identifier: MIT */
/*
 * Blocks of execution traces that are compared without a record (coverage/block.h). A trace executes
 * the same blocks again and again. So the numbers of the records of the latest blocks are kept, and a
 * block becomes a record of its own only if there is no equal one among them.
 */

#include "tr_diff.h"

#include <stdlib.h>
#include <string.h>

enum { SET_BITS = 13, SET_SIZE = 4 };

struct known_block {
	uint64_t address;
	uint32_t rest;	 /* tr_block_rest; 0: there is no block */
	uint32_t number; /* of its record */
};

struct tr_diff_blocks {
	unsigned side;					  /* of all records */
	struct known_block sets[1 << SET_BITS][SET_SIZE]; /* by tr_block_hash; the last one first */
};

struct tr_diff_blocks *tr_diff_blocks_new(void)
{
	return calloc(1, sizeof(struct tr_diff_blocks));
}

/* Returns the record of an equal block; NULL: there is none. */
static inline const struct known_block *find(const struct tr_diff_blocks *blocks,
					     const struct tr_block *block)
{
	uint32_t rest = tr_block_rest(block);
	const struct known_block *set = blocks->sets[tr_block_hash(block->address, rest, SET_BITS)];

	for (size_t i = 0; i < SET_SIZE; i++)
		if (set[i].address == block->address && set[i].rest == rest)
			return &set[i];
	return NULL;
}

void tr_diff_blocks_keep(struct tr_diff_blocks *blocks, const struct tr_block *block,
			 const struct tr_diff_side *side)
{
	uint32_t rest = tr_block_rest(block), number = (uint32_t)side->count - 1;
	struct known_block *set = blocks->sets[tr_block_hash(block->address, rest, SET_BITS)];
	const struct tr_diff_record *record = &side->records[number];

	if (block->pad || record->class != TR_DIFF_SET || record->named || find(blocks, block))
		return;
	memmove(set + 1, set, (SET_SIZE - 1) * sizeof *set);
	*set = (struct known_block){ block->address, rest, number };
}

size_t tr_diff_blocks_put(struct tr_diff_blocks *blocks, struct tr_diff *diff, unsigned side,
			  const struct tr_block *list, size_t count, uint64_t seq)
{
	const struct known_block *known;
	size_t taken = 0;

	if (blocks->side != side)
		memset(blocks, 0, sizeof *blocks);
	blocks->side = side;
	if (seq > UINT32_MAX - count)
		return 0;
	while (taken < count && (known = find(blocks, &list[taken])) &&
	       tr_diff_put_again(diff, side, known->number, (uint32_t)(seq + taken)))
		taken++;
	return taken;
}
