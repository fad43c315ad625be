/* SPDX-License-Identifier: MIT */
/*
 * Finds any of many texts in a text, in time that is linear in both (the algorithm of Aho and
 * Corasick). A hit counts where it is no part of a longer word: the bytes on both sides of each
 * of its ends are not both letters, digits or "_".
 */
#ifndef TR_CORE_NEEDLES_H
#define TR_CORE_NEEDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

struct tr_needles;

/* Parts of a text, from begin to before end. */
struct tr_covers {
	struct tr_cover {
		size_t begin, end;
	} * list;
	size_t count, cap;
	bool failed; /* memory was out: the list is not complete */
};

/* Holds up to max_bytes of needles, with 32 bytes of memory for each. NULL: memory is out. */
struct tr_needles *tr_needles_new(size_t max_bytes);
void tr_needles_free(struct tr_needles *needles);

/*
 * Adds a needle that is not empty, which need not be new. open: the needle goes on with bytes
 * that are unknown, so a hit takes the rest of its word. False: memory is out, or more than
 * max_bytes would be needed; tr_needles_are_full says which.
 */
bool tr_needles_add(struct tr_needles *needles, struct tr_text needle, bool open);
bool tr_needles_are_full(const struct tr_needles *needles);
bool tr_needles_are_none(const struct tr_needles *needles);

/* Nothing is added after this, and nothing is found before it. False: memory is out. */
bool tr_needles_prepare(struct tr_needles *needles);

/*
 * Adds the hits that count to covers. parts (may be NULL) gets the last bytes of those that are
 * parts of longer words. cut: the text goes on with bytes that are unknown, so its end is a hit
 * where at least 8 bytes there begin a needle.
 */
void tr_needles_find(const struct tr_needles *needles, struct tr_text text, bool cut,
		     struct tr_covers *covers, struct tr_covers *parts);

/* True for letters of ASCII, digits and "_". */
bool tr_is_word_byte(char c);

/* The part becomes one with the last of the list if they overlap or touch. */
void tr_covers_add(struct tr_covers *covers, size_t begin, size_t end);

/* Sorts the list and makes one of parts that overlap or touch. */
void tr_covers_merge(struct tr_covers *covers);

/* How many parts lie in no cover; both are sorted. */
size_t tr_covers_count_outside(const struct tr_covers *parts, const struct tr_covers *covers);

void tr_covers_free(struct tr_covers *covers);

#endif
