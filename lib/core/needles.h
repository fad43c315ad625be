/* SPDX-License-Identifier: MIT */
/*
 * Finds any of many texts ("needles") in a text, in time that is linear in both (the algorithm of
 * Aho and Corasick).
 *
 *	tr_needles_new, tr_needles_add -> tr_needles_prepare -> tr_needles_find -> struct tr_covers
 *
 * A hit counts unless it is a part of a longer word: of the bytes before and after each of its
 * ends, at most one is a letter, a digit or "_". After tr_needles_prepare several threads may
 * search.
 */
#ifndef TR_CORE_NEEDLES_H
#define TR_CORE_NEEDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

struct tr_needles;

/* Parts of a text, each from begin up to, but not including, end. */
struct tr_covers {
	struct tr_cover {
		size_t begin, end;
	} * list;
	size_t count, cap;
	bool failed; /* memory was exhausted: the list is incomplete */
};

/*
 * Creates an empty set of needles of max_bytes in total, and 32 bytes of memory for each byte.
 * NULL: memory is exhausted.
 */
struct tr_needles *tr_needles_new(size_t max_bytes);
void tr_needles_free(struct tr_needles *needles);

/*
 * Adds a needle, which is not empty; it may be present already. open: unknown bytes follow the
 * needle, so a hit includes the rest of its word. False: memory is exhausted, or more than
 * max_bytes would be needed; tr_needles_are_full distinguishes the two.
 */
bool tr_needles_add(struct tr_needles *needles, struct tr_text needle, bool open);
bool tr_needles_are_full(const struct tr_needles *needles);
bool tr_needles_are_none(const struct tr_needles *needles);

/*
 * Completes the set: no needle may be added after this call, and no search may precede it. False:
 * memory is exhausted.
 */
bool tr_needles_prepare(struct tr_needles *needles);

/*
 * Adds the hits to covers. parts (may be NULL) gets the last bytes of hits that are parts of longer
 * words and do not count. cut: unknown bytes follow the text, so its end is a hit if at least 8
 * bytes there begin a needle.
 */
void tr_needles_find(const struct tr_needles *needles, struct tr_text text, bool cut,
		     struct tr_covers *covers, struct tr_covers *parts);

/* Returns whether the byte is an ASCII letter, a digit or "_". */
bool tr_is_word_byte(char c);

/* Adds a part; joins it with the last one if they overlap or touch. */
void tr_covers_add(struct tr_covers *covers, size_t begin, size_t end);

/* Sorts the list and joins parts that overlap or touch. */
void tr_covers_merge(struct tr_covers *covers);

/* Counts the parts that are in no cover; both lists are sorted. */
size_t tr_covers_count_outside(const struct tr_covers *parts, const struct tr_covers *covers);

void tr_covers_free(struct tr_covers *covers);

#endif
