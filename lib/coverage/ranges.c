/* SPDX-License-Identifier: MIT */
/*
 * The ranges are in sorted chunks of a few hundred, so a range is found by bisection and inserted
 * with a short memmove. A trace repeats itself, so ranges that were added recently are remembered
 * and not added again. The range of a branch is remembered only until another range is inserted,
 * because its bits are added to a single range, and the insertion may change which one.
 *
 * There may be very many sets with few ranges each, so a set begins with a small chunk, and
 * has a table to remember ranges only after many additions.
 *
 * A chunk records which bits all its ranges have, and whether there is no gap between them. A walk
 * skips a chunk that has all the bits already, so that a hostile trace cannot cause thousands of
 * steps for each of its entries.
 */
#include "coverage/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "coverage/block.h"

enum { FIRST_CHUNK = 4, CHUNK = 256, LATELY = 1 << 15, MANY = LATELY / 4 };

struct chunk {
	size_t count;
	uint16_t cap;
	uint8_t common; /* bits that all ranges are known to have */
	bool dense;	/* true: there is no gap; false: not known */
	struct tr_range items[];
};

/* A range that was added. */
struct added {
	uint64_t first, last;
	uint8_t op;	   /* 0: a free place */
	uint32_t inserted; /* how many ranges had been inserted before */
};

struct tr_ranges {
	struct chunk **chunks; /* no chunk is empty */
	size_t count, cap;
	uint32_t inserted;	   /* ranges */
	uint32_t added;		   /* ranges, until there is a table */
	struct added (*lately)[2]; /* LATELY of them; NULL: there is no table yet */
};

struct tr_ranges *tr_ranges_new(void)
{
	return calloc(1, sizeof(struct tr_ranges));
}

void tr_ranges_free(struct tr_ranges *ranges)
{
	if (!ranges)
		return;
	for (size_t i = 0; i < ranges->count; i++)
		free(ranges->chunks[i]);
	free(ranges->chunks);
	free(ranges->lately);
	free(ranges);
}

/* True if the op applies to all that its range covers, and not to one range only. */
static bool covers(const struct tr_range *range)
{
	return range->op & (TR_EXEC_BLOCK | TR_EXEC_FAULT);
}

/* True if this is how the range was added, and adding it again changes nothing. */
static bool is_same(const struct tr_ranges *ranges, const struct added *added,
		    const struct tr_range *range)
{
	return added->first == range->first && added->last == range->last &&
	       added->op == range->op && (covers(range) || added->inserted == ranges->inserted);
}

/*
 * Returns the places for a range. Ranges that are close in the program are close in the table,
 * because most code is executed in the order of its addresses. There are two places, and the first
 * one holds the range that came last.
 */
static struct added *places_of(struct tr_ranges *ranges, uint64_t first, uint8_t op)
{
	return ranges->lately[(first >> 4 ^ op) % LATELY];
}

void tr_ranges_expect(struct tr_ranges *ranges, uint64_t first, uint8_t op)
{
	if (ranges->lately)
		__builtin_prefetch(places_of(ranges, first, op));
}

/* True if the range was added recently. */
static bool was_added(struct tr_ranges *ranges, const struct tr_range *range)
{
	if (!ranges->lately || !range->op)
		return false;
	const struct added *places = places_of(ranges, range->first, range->op);
	return is_same(ranges, &places[0], range) || is_same(ranges, &places[1], range);
}

/* Remembers a range that was added. Without memory for a table, adding it again takes longer. */
static void remember(struct tr_ranges *ranges, const struct tr_range *range)
{
	if (!ranges->lately && ++ranges->added >= MANY)
		ranges->lately = calloc(LATELY, sizeof *ranges->lately);
	if (!ranges->lately)
		return;
	struct added *places = places_of(ranges, range->first, range->op);
	places[1] = places[0];
	places[0] = (struct added){ range->first, range->last, range->op, ranges->inserted };
}

/* Finds the first range that ends at or after the address; chunk == count: there is none. */
static struct tr_ranges_position lower_bound(const struct tr_ranges *ranges, uint64_t address)
{
	struct chunk *const *chunks = ranges->chunks;
	struct tr_ranges_position position = { 0, 0 };
	position.chunk = tr_array_search(i, 0, ranges->count,
					 chunks[i]->items[chunks[i]->count - 1].last < address);
	if (position.chunk == ranges->count)
		return position;
	const struct chunk *chunk = chunks[position.chunk];
	position.item = tr_array_search(i, 0, chunk->count, chunk->items[i].last < address);
	return position;
}

/* The range at a position; NULL: it is the end. */
static struct tr_range *range_at(const struct tr_ranges *ranges, struct tr_ranges_position position)
{
	return position.chunk < ranges->count
		       ? &ranges->chunks[position.chunk]->items[position.item]
		       : NULL;
}

/* Moves to the next range. */
static void step(const struct tr_ranges *ranges, struct tr_ranges_position *position)
{
	if (++position->item == ranges->chunks[position->chunk]->count) {
		position->chunk++;
		position->item = 0;
	}
}

/* Changes the room of a chunk; NULL: there was none. Returns NULL if memory is exhausted. */
static struct chunk *resize_chunk(struct chunk *chunk, uint16_t cap)
{
	struct chunk *resized = realloc(chunk, sizeof *chunk + cap * sizeof *chunk->items);
	if (resized)
		resized->cap = cap;
	return resized;
}

/* Adds an empty chunk before the one at `at`. NULL: memory is exhausted. */
static struct chunk *add_chunk(struct tr_ranges *ranges, size_t at)
{
	if (!tr_array_room(ranges->chunks, ranges->count, ranges->cap))
		return NULL;
	struct chunk *chunk = resize_chunk(NULL, ranges->count ? CHUNK : FIRST_CHUNK);
	if (!chunk)
		return NULL;
	memmove(ranges->chunks + at + 1, ranges->chunks + at,
		(ranges->count - at) * sizeof(struct chunk *));
	ranges->chunks[at] = chunk;
	ranges->count++;
	chunk->count = 0;
	chunk->common = UINT8_MAX;
	chunk->dense = true;
	return chunk;
}

/* Moves the upper half of a full chunk to a new one; position stays at its range. */
static bool split_chunk(struct tr_ranges *ranges, struct tr_ranges_position *position)
{
	struct chunk *high = add_chunk(ranges, position->chunk + 1);

	if (!high)
		return false;
	struct chunk *low = ranges->chunks[position->chunk];
	low->count = CHUNK / 2;
	high->count = CHUNK - CHUNK / 2;
	high->common = low->common;
	high->dense = low->dense;
	memcpy(high->items, low->items + CHUNK / 2, high->count * sizeof *high->items);
	if (position->item > low->count) {
		position->chunk++;
		position->item -= low->count;
	}
	return true;
}

/* Makes room for a range at the position. False: memory is exhausted. */
static bool make_room(struct tr_ranges *ranges, struct tr_ranges_position *position)
{
	struct chunk **chunk = &ranges->chunks[position->chunk];
	if ((*chunk)->count < (*chunk)->cap)
		return true;
	if ((*chunk)->cap == CHUNK)
		return split_chunk(ranges, position);
	struct chunk *grown = resize_chunk(*chunk, (uint16_t)((*chunk)->cap * 4));
	if (grown)
		*chunk = grown;
	return grown;
}

/* Inserts the range at position. dense: no new gap is next to it. False: memory is exhausted. */
static bool insert(struct tr_ranges *ranges, struct tr_ranges_position *position,
		   struct tr_range range, bool dense)
{
	if (position->chunk == ranges->count && position->chunk > 0) {
		position->chunk--;
		position->item = ranges->chunks[position->chunk]->count;
	}
	if (ranges->count == 0 && !add_chunk(ranges, 0))
		return false;
	if (!make_room(ranges, position))
		return false;
	struct chunk *chunk = ranges->chunks[position->chunk];
	struct tr_range *place = chunk->items + position->item;
	memmove(place + 1, place, (chunk->count++ - position->item) * sizeof *place);
	*place = range;
	ranges->inserted++;
	chunk->common &= range.op;
	chunk->dense = chunk->dense && dense;
	return true;
}

/* Divides the range that contains both the address and the one before it. */
static bool cut_before(struct tr_ranges *ranges, uint64_t address)
{
	struct tr_ranges_position position = lower_bound(ranges, address);
	struct tr_range *range = range_at(ranges, position);

	if (!range || range->first >= address)
		return true;
	struct tr_range low = { range->first, address - 1, range->op };
	range->first = address;
	return insert(ranges, &position, low, true);
}

/* Skips a whole chunk if all of it has the bits already, and begins at *next. */
static bool skip_chunk(const struct tr_ranges *ranges, struct tr_ranges_position *position,
		       uint64_t *next, const struct tr_range *added)
{
	const struct chunk *chunk = ranges->chunks[position->chunk];
	uint64_t last = chunk->items[chunk->count - 1].last;

	if (position->item != 0 || !chunk->dense || (chunk->common & added->op) != added->op ||
	    chunk->items[0].first != *next || last > added->last)
		return false;
	*next = last + 1;
	position->chunk++;
	return true;
}

/* Computes what the ranges of a chunk have in common, after all of it was walked. */
static void summarize(struct chunk *chunk)
{
	uint8_t common = UINT8_MAX;
	bool dense = true;

	for (size_t i = 0; i < chunk->count; i++) {
		common &= chunk->items[i].op;
		dense = dense && (i == 0 || chunk->items[i].first == chunk->items[i - 1].last + 1);
	}
	chunk->common = common;
	chunk->dense = dense;
}

/*
 * Adds the bits to the ranges and fills the gaps; no range crosses the borders of `added` any more.
 */
static bool cover(struct tr_ranges *ranges, const struct tr_range *added)
{
	struct tr_ranges_position position = lower_bound(ranges, added->first);
	uint64_t next = added->first;
	bool more = true;

	while (more) {
		struct tr_range *range = range_at(ranges, position);
		if (range && skip_chunk(ranges, &position, &next, added)) {
			more = next - 1 < added->last;
			continue;
		}
		if (range && range->first == next) {
			range->op |= added->op;
		} else {
			bool last = !range || range->first > added->last;
			struct tr_range gap = { next, last ? added->last : range->first - 1,
						added->op };
			if (!insert(ranges, &position, gap, false))
				return false;
			range = range_at(ranges, position);
		}
		more = range->last < added->last;
		next = range->last + 1;
		struct chunk *chunk = ranges->chunks[position.chunk];
		step(ranges, &position);
		if (position.item == 0 && chunk->items[0].first >= added->first)
			summarize(chunk);
	}
	return true;
}

/* Adds a branch to the highest range that it overlaps. */
static bool add_branch(struct tr_ranges *ranges, struct tr_range added)
{
	struct tr_ranges_position position = lower_bound(ranges, added.first);
	struct tr_range *range = range_at(ranges, position), *highest = NULL;

	if (range && range->first <= added.last) {
		/* the range with the last byte, or the one before it */
		struct tr_ranges_position above = lower_bound(ranges, added.last);
		highest = range_at(ranges, above);
		if (!highest || highest->first > added.last) {
			if (above.item == 0)
				above.item = ranges->chunks[--above.chunk]->count;
			above.item--;
			highest = range_at(ranges, above);
		}
	}
	if (!highest)
		return insert(ranges, &position, added, false);
	highest->op |= added.op;
	return true;
}

/* Adds the bits if exactly this range exists: no range is divided, and no gap is filled. */
static bool add_to_same(struct tr_ranges *ranges, const struct tr_range *added)
{
	struct tr_range *range = range_at(ranges, lower_bound(ranges, added->first));

	if (!range || range->first != added->first || range->last != added->last)
		return false;
	range->op |= added->op;
	return true;
}

/* Adds a range that was not added recently. */
static __attribute__((noinline)) bool add(struct tr_ranges *ranges, const struct tr_range *range)
{
	bool added = add_to_same(ranges, range) ||
		     (covers(range) ? cut_before(ranges, range->first) &&
					      (range->last == UINT64_MAX ||
					       cut_before(ranges, range->last + 1)) &&
					      cover(ranges, range)
				    : add_branch(ranges, *range));
	if (added)
		remember(ranges, range);
	return added;
}

bool tr_ranges_add(struct tr_ranges *ranges, const struct tr_range *range)
{
	return was_added(ranges, range) || add(ranges, range);
}

bool tr_ranges_has(const struct tr_ranges *ranges, struct tr_range range)
{
	enum { BRANCHES = TR_EXEC_BR0 | TR_EXEC_BR1 };
	struct tr_ranges_position position = lower_bound(ranges, range.first);
	uint64_t at = range.first;
	struct tr_range here;

	while (tr_ranges_next(ranges, &position, &here) && here.first <= at) {
		if (here.last >= range.last)
			return !(range.op & ~here.op & BRANCHES);
		at = here.last + 1;
	}
	return false;
}

bool tr_ranges_next(const struct tr_ranges *ranges, struct tr_ranges_position *position,
		    struct tr_range *range)
{
	const struct tr_range *here = range_at(ranges, *position);

	if (!here)
		return false;
	*range = *here;
	step(ranges, position);
	return true;
}
