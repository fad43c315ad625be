/* SPDX-License-Identifier: MIT */
/*
 * Pairs the records of one trace with those of the other, by their hashes.
 *
 *	tr_align_set        records whose order does not matter: equal ones, then those of one key
 *	tr_align_sequence   records whose order matters: equal ones in the same order, then between
 *	                    these those of one key, then equal ones that have moved; or those of
 *	                    the same place if more of these are equal and the keys are the same
 *
 * Neither is ever quadratic. A sequence is divided at records that are unique on both sides. Where
 * there is none left, Myers' algorithm finds the shortest difference of up to 256 records; beyond
 * that it begins anew where 256 edits got farthest. So the time is at most 64 * 256 * (a + b), and
 * for traces with many unique records it is that of sorting.
 *
 * Not thread safe.
 */
#ifndef TR_DIFF_ALIGN_H
#define TR_DIFF_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TR_ALIGN_NONE UINT32_MAX

/* The maximum number of records of a side. */
#define TR_ALIGN_MOST (INT32_MAX - 1)

struct tr_diff_record {
	uint64_t content; /* hash of all that is compared */
	uint64_t key;	  /* hash of what makes it the same record, though it may have changed */
	uint64_t offset : 48;	/* in the spool, of its names and its line */
	uint64_t class : 4;	/* diff.h */
	uint64_t named : 1;	/* the spool has names before its line that the run chose */
	uint64_t late : 1;	/* what its names are was known only later: they are in its line */
	uint64_t moved : 1;	/* its partner is at another place */
	uint64_t implied : 1;	/* the process it belongs to is in one trace only, which another
				 * record says */
	uint64_t alone : 1;	/* the process it belongs to is in one trace only, which no other
				 * record says */
	uint64_t keyed : 1;	/* it has the key that the user chose */
	uint64_t wanted : 1;	/* it is needed for those that have no partner (side.c) */
	uint64_t segment : 1;	/* it is the first one of a segment */
	uint64_t rewritten : 1; /* its line was changed (side.c) */
	uint32_t group;		/* diff.h */
	uint32_t match;		/* its partner; TR_ALIGN_NONE: it has none */
};

/* Records of one side: `list` has the numbers of `count` of them. */
struct tr_align_side {
	struct tr_diff_record *records;
	uint32_t *list; /* in the order of the trace; tr_align_set sorts it */
	size_t count;
};

/*
 * Both functions set match and moved of the listed records; a record has changed if its content
 * differs from that of its partner. equal: only equal records become partners. False: memory is
 * exhausted.
 */
void tr_align_set(struct tr_align_side *a, struct tr_align_side *b, bool equal);
bool tr_align_sequence(struct tr_align_side *a, struct tr_align_side *b);

/* Sorts hashes for tr_hashes_common, which counts those that both lists have. */
void tr_hashes_sort(uint64_t *list, size_t count);
size_t tr_hashes_common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* Makes two records partners. */
static inline void tr_align_pair(struct tr_diff_record *a, uint32_t i, struct tr_diff_record *b,
				 uint32_t j)
{
	a[i].match = j;
	b[j].match = i;
}

#endif
