/* SPDX-License-Identifier: MIT */
/*
 * Counts how often each text occurs, and sums the durations of what it names.
 * Memory grows with the distinct texts, up to a limit; further new ones are
 * counted together.
 */
#ifndef TR_VIEW_TALLY_H
#define TR_VIEW_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/map.h"
#include "core/text.h"

/* The limits: distinct texts, and their bytes. */
enum { TR_TALLY_MAX = 1 << 20, TR_TALLY_BYTES = 256 << 20 };

struct tr_tally_entry {
	uint64_t count;
	uint64_t timed;		/* how many of them have a duration */
	int64_t total, longest; /* nanoseconds */
	size_t len;
	char bytes[];
};

struct tr_tally {
	struct tr_map map;
	struct tr_arena arena;
	uint64_t total; /* counts of all */
	size_t bytes;	/* of all distinct texts */
	struct tr_tally_entry
		*last; /* of the last tr_tally_count, because the next text is often the same */
	struct tr_tally_entry *beyond; /* counts the texts beyond the limits; NULL: none */
	bool timed;		       /* some of it has a duration */
	bool failed;		       /* memory was exhausted: counts are not complete */
};

#define TR_TALLY_INIT \
	{ \
		TR_MAP_INIT, TR_ARENA_INIT, 0, 0, NULL, NULL, false, false \
	}

/* Counts one more. The entry lives as long as the tally. NULL: memory is exhausted. */
struct tr_tally_entry *tr_tally_count(struct tr_tally *tally, struct tr_text bytes);

/* Adds a duration. entry may be NULL. */
void tr_tally_time(struct tr_tally *tally, struct tr_tally_entry *entry, int64_t duration);

static inline size_t tr_tally_distinct(const struct tr_tally *tally)
{
	return tally->map.count;
}

static inline struct tr_text tr_tally_text(const struct tr_tally_entry *entry)
{
	return (struct tr_text){ entry->bytes, entry->len };
}

/*
 * The first `top` (0: all) by time where there is any, then by count, then by
 * bytes; the caller frees *list. False: memory is exhausted.
 */
bool tr_tally_top(const struct tr_tally *tally, size_t top, struct tr_tally_entry ***list,
		  size_t *count);

void tr_tally_free(struct tr_tally *tally);

#endif
