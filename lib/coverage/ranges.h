/* SPDX-License-Identifier: MIT */
/*
 * Ranges of code and what happened in them, merged from many traces: sorted, and without overlaps.
 * The rules are those of gnatcov's dump-trace-base:
 *
 *  - An op with block or fault applies to what it covers: ranges are divided at its borders, its
 *    bits are added to those inside, and gaps become ranges.
 *  - Any other op (a branch of a known block) is added to the highest range that it overlaps; if
 *    there is none, it becomes a range of its own.
 */
#ifndef TR_COVERAGE_RANGES_H
#define TR_COVERAGE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_range {
	uint64_t first, last;
	uint8_t op;
};

struct tr_ranges;

/* NULL: memory is exhausted. */
struct tr_ranges *tr_ranges_new(void);
void tr_ranges_free(struct tr_ranges *ranges);

/*
 * Loads what tr_ranges_add looks at first, for a range that is added soon: a large program's ranges
 * are too many for the fastest cache.
 */
void tr_ranges_expect(struct tr_ranges *ranges, uint64_t first, uint8_t op);

/* last must not be before first. False: memory is exhausted, and the set is unusable. */
bool tr_ranges_add(struct tr_ranges *ranges, const struct tr_range *range);

/*
 * True if all of a range is in the set, and the bits of its op that are branches (TR_EXEC_BR0, BR1)
 * are those of the last range in it.
 */
bool tr_ranges_has(const struct tr_ranges *ranges, struct tr_range range);

/* Returns the next range in *range; both numbers of the position are 0 at first. False: the end. */
struct tr_ranges_position {
	size_t chunk, item;
};
bool tr_ranges_next(const struct tr_ranges *ranges, struct tr_ranges_position *position,
		    struct tr_range *range);

#endif
