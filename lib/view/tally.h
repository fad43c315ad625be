/* SPDX-License-Identifier: MIT */
/*
 * Counts how often each text occurs, and sums the durations of what it names. An entry is the
 * number of a text, from 0 in the order in which the texts came.
 *
 * Memory grows with the distinct texts, about 50 bytes for a short one, up to a limit; further new
 * ones are counted together. Not thread safe.
 */
#ifndef TR_VIEW_TALLY_H
#define TR_VIEW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/map.h"
#include "core/text.h"

/* The limits: distinct texts, and their bytes. */
enum { TR_TALLY_MAX = 1 << 20, TR_TALLY_BYTES = 256 << 20 };

#define TR_TALLY_NONE UINT32_MAX	 /* no entry */
#define TR_TALLY_BEYOND (UINT32_MAX - 1) /* the entry of all texts beyond the limits */

struct tr_tally_entry {
	uint64_t hash, count;
	uint32_t offset, len; /* of the text, in texts */
};

struct tr_tally_time {
	uint64_t count; /* how many of an entry have a duration */
	int64_t total, longest;
};

/* All zero at first. */
struct tr_tally {
	struct tr_index index;	      /* of the texts that are no numbers */
	struct tr_number_map numbers; /* entries of the others */
	struct tr_tally_entry *entries;
	struct tr_tally_time *times; /* of the entries below time_count */
	size_t count, cap, time_count, time_cap;
	struct tr_buffer texts; /* one after the other */
	uint64_t seed;		/* 0: the tally is empty */
	uint64_t total;		/* counts of all */
	uint64_t beyond;	/* counts of the texts beyond the limits */
	uint32_t recent[64];	/* entries of texts that were counted recently; 0: any */
	bool timed;		/* some of it has a duration */
	bool failed;		/* memory was exhausted: counts are not complete */
};

/* Counts one more. NONE: memory is exhausted. */
uint32_t tr_tally_count(struct tr_tally *tally, struct tr_text bytes);

/* Adds a duration. entry may be NONE. */
void tr_tally_time(struct tr_tally *tally, uint32_t entry, int64_t duration);

/* The text of an entry, until the next one is counted. */
static inline struct tr_text tr_tally_text(const struct tr_tally *tally, uint32_t entry)
{
	const struct tr_tally_entry *e = &tally->entries[entry];

	return (struct tr_text){ tally->texts.data + e->offset, e->len };
}

/* The durations of an entry; all zero if it has none. */
struct tr_tally_time tr_tally_times(const struct tr_tally *tally, uint32_t entry);

/*
 * The first `top` (0: all) by time where there is any, then by count, then by bytes; the caller
 * frees *list. False: memory is exhausted.
 */
bool tr_tally_top(const struct tr_tally *tally, size_t top, uint32_t **list, size_t *count);

void tr_tally_free(struct tr_tally *tally);

#endif
