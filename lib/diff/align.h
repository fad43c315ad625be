/* SPDX-License-Identifier: MIT */
/*
 * Aligns the records of two traces by their hashes.
 *
 *	tr_align_set       for records whose order does not matter: pairs equal records, then
 *	                   records with equal keys
 *	tr_align_sequence  for records whose order matters: pairs equal records in the same order,
 *	                   then equal records that have moved, then, between two pairs, records with
 *	                   equal keys; or records at the same place, if their keys are equal and
 *	                   this pairs more equal records
 *
 * The time is never quadratic. A sequence is divided at records that are unique on both sides
 * (anchors). Between anchors, Myers' algorithm finds the shortest difference of up to 256 edits;
 * beyond that it starts again from the point that 256 edits reached. Therefore the time is at most
 * 64 * 256 * (a + b), and for traces with many unique records it is that of sorting.
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
	uint64_t content;     /* hash of all that is compared */
	uint64_t key;	      /* hash of what identifies the record, even if it has changed */
	uint64_t offset : 48; /* of its line in the spool; of a block tr_block_rest */
	uint64_t class : 4;   /* enum tr_diff_class */
	uint64_t named : 1;   /* it has names that the run chose, in a spool of their own */
	uint64_t late : 1;    /* its names became known later: they are found by reading its line */
	uint64_t moved : 1;   /* its match is at another place */
	uint64_t implied : 1; /* its process is in one trace only, and another record shows this */
	uint64_t alone : 1;   /* its process is in one trace only, and this record shows it */
	uint64_t keyed : 1;   /* it has the key that the user chose */
	uint64_t wanted : 1;  /* it is needed for programs without a match (side.c) */
	uint64_t segment : 1; /* it is the first one of a segment */
	uint64_t rewritten : 1; /* its environment was replaced (side.c) */
	uint64_t block : 1;	/* it is a block that has no line (side.c) */
	uint64_t spare : 1;	/* left out if it may use a pipe of make (compare.c) */
	uint64_t tool : 1;	/* a program that may make a file (process/makes.h) */
	uint32_t group;		/* its image, thread or kind, later its sequence (compare.c); of a
				 * block its seq */
	uint32_t match;		/* the number of the matching record; TR_ALIGN_NONE: none */
};

/* Some records of one side. */
struct tr_align_side {
	struct tr_diff_record *records;
	uint32_t *list; /* their numbers, in the order of the trace; tr_align_set sorts it */
	size_t count;
};

/*
 * Both functions set match and moved of the listed records. equal: only equal records are paired.
 * Where a sequence leaves a choice, the result depends on which side is a. False: memory is
 * exhausted.
 */
void tr_align_set(struct tr_align_side *a, struct tr_align_side *b, bool equal);
bool tr_align_sequence(struct tr_align_side *a, struct tr_align_side *b);

/*
 * Sorts hashes for tr_hashes_common, which counts those that are in both lists, and returns 0 if
 * they are fewer than `least`.
 */
void tr_hashes_sort(uint64_t *list, size_t count);
size_t tr_hashes_common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
			size_t least);

/* Makes two records match. */
static inline void tr_align_pair(struct tr_diff_record *a, uint32_t i, struct tr_diff_record *b,
				 uint32_t j)
{
	a[i].match = j;
	b[j].match = i;
}

#endif
