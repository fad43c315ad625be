/* SPDX-License-Identifier: MIT */
/*
 * Pairs the names that the first run chose (addresses, temporary files) with those of the second. A
 * name must mean one thing in the whole trace.
 *
 *	tr_renames_vote     for each pair of names at the same place of two records
 *	tr_renames_decide   each name gets the partner with most votes, of equally many the first
 *	tr_renames_agree    true for names that are partners
 *	tr_renames_partner  the partner of a name of the first trace
 *
 * Memory: 46 to 67 bytes for each pair of names, and up to 26 more in tr_renames_decide. Not thread safe.
 */
#ifndef TR_DIFF_RENAME_H
#define TR_DIFF_RENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/map.h"

struct tr_rename {
	uint64_t a, b; /* hashes */
	uint64_t votes : 62;
	uint64_t contested : 1; /* another pair has one of its names */
	uint64_t chosen : 1;
};

struct tr_renames {
	struct tr_rename *list; /* in the order of the first votes */
	size_t count, cap;
	struct tr_index pairs;	  /* their places in list */
	struct tr_index partners; /* the chosen ones, by the name of the first trace */
	bool conflict;		  /* after tr_renames_decide: some pair was not chosen */
};

/* votes: how much a place counts. False: memory is exhausted. */
bool tr_renames_vote(struct tr_renames *renames, uint64_t a, uint64_t b, uint32_t votes);
bool tr_renames_decide(struct tr_renames *renames);
bool tr_renames_agree(const struct tr_renames *renames, uint64_t a, uint64_t b);

/* Sets *b to the partner of a; false: it has none. */
bool tr_renames_partner(const struct tr_renames *renames, uint64_t a, uint64_t *b);
void tr_renames_free(struct tr_renames *renames);

#endif
