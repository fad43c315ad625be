/* SPDX-License-Identifier: MIT */
/*
 * Ranges of code and what happened there, of many traces made one: sorted, no
 * two overlap. This is how gnatcov puts traces together (its dump-trace-base),
 * to the letter:
 *
 *  - An op with block or fault applies to what it covers: ranges are cut at its
 *    borders, what was there gets its bits added, gaps become ranges.
 *  - Any other op (a branch of a block that is known) is added to the highest
 *    range that it overlaps; where there is none it is a range of its own.
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

/* last is not before first. False: memory is exhausted, and the set means nothing any more. */
bool tr_ranges_add(struct tr_ranges *ranges, struct tr_range range);

/* Steps through them in order: both numbers are 0 at first. False at the end. */
struct tr_ranges_position {
	size_t chunk, item;
};
bool tr_ranges_next(const struct tr_ranges *ranges, struct tr_ranges_position *position,
		    struct tr_range *range);

#endif
