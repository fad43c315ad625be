/* SPDX-License-Identifier: MIT */
/*
 * Finds which name of the second run (an address, a temporary file) each name of the first run
 * became. This is a bijection: a name must be the same one throughout a trace.
 *
 *	tr_renames_vote    once for each pair of names at the same place of two matching records
 *	tr_renames_index   marks pairs that share a name with another pair; the caller marks those
 *	                   of them that are spelled alike
 *	tr_renames_decide  pairs names, the pairs with most votes first, of equal ones those that
 *	                   are spelled alike, then those whose first vote was earlier
 *	tr_renames_agree   true for two names that were paired
 *	tr_renames_find    the new name of a name of the first trace
 *
 * The first three return false if memory is exhausted. Memory: 46 to 67 bytes for each pair of
 * names, and up to 26 more from tr_renames_index on. Not thread safe.
 */
#ifndef TR_DIFF_RENAME_H
#define TR_DIFF_RENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/map.h"

struct tr_rename {
	uint64_t a, b;	/* hashes */
	uint32_t place; /* of the first vote, as the caller numbers places */
	uint32_t votes : 29;
	uint32_t contested : 1; /* another pair has one of its names */
	uint32_t alike : 1;	/* both names are spelled alike; set by the caller */
	uint32_t chosen : 1;	/* tr_renames_decide paired its names */
};

struct tr_renames {
	struct tr_rename *list; /* in the order of the first votes */
	size_t count, cap;
	struct tr_index pairs;	   /* their places in list */
	struct tr_index old_names; /* chosen pairs, by the name of the first trace */
	struct tr_index new_names; /* by the name of the second trace */
	bool conflict;		   /* after tr_renames_decide: some pair was not chosen */
};

enum { TR_RENAME_VOTES_MAX = (1 << 29) - 1 };

/* votes: the weight of this place; more than TR_RENAME_VOTES_MAX are not counted. */
bool tr_renames_vote(struct tr_renames *renames, uint64_t a, uint64_t b, uint32_t votes,
		     uint32_t place);
bool tr_renames_index(struct tr_renames *renames);
bool tr_renames_decide(struct tr_renames *renames);

/* True if two names were paired, or if no vote was for them and neither was paired with another. */
bool tr_renames_agree(const struct tr_renames *renames, uint64_t a, uint64_t b);

/* Sets *b to the new name of a; false: it has none. */
bool tr_renames_find(const struct tr_renames *renames, uint64_t a, uint64_t *b);
void tr_renames_free(struct tr_renames *renames);

#endif
