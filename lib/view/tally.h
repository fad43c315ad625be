/* SPDX-License-Identifier: MIT */
/*
 * How often each of many texts occurred, and how long what it stands for took.
 * Memory grows with the texts that differ, up to a limit; further new ones are
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

/* How many are told apart, and how many bytes they may have together. */
enum { TR_TALLY_MAX = 1 << 20, TR_TALLY_BYTES = 256 << 20 };

struct tr_tally_entry {
	uint64_t count;
	uint64_t timed;		/* of these, how many have a duration */
	int64_t total, longest; /* nanoseconds */
	size_t len;
	char bytes[];
};

struct tr_tally {
	struct tr_map map;
	struct tr_arena arena;
	uint64_t total;		       /* counts of all */
	size_t bytes;		       /* of all that are told apart */
	struct tr_tally_entry *last;   /* of the last tr_tally_count: the next is often the same */
	struct tr_tally_entry *beyond; /* of all that found no place; NULL: none */
	bool timed;		       /* some of it has a duration */
	bool failed;		       /* memory was out: counts are not complete */
};

#define TR_TALLY_INIT \
	{ \
		TR_MAP_INIT, TR_ARENA_INIT, 0, 0, NULL, NULL, false, false \
	}

/* Counts one more. The entry lives as long as the tally. NULL: memory is out. */
struct tr_tally_entry *tr_tally_count(struct tr_tally *tally, struct tr_text bytes);

/* What one of them took. entry may be NULL. */
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
 * bytes: *list is to be freed. False: memory is out.
 */
bool tr_tally_top(const struct tr_tally *tally, size_t top, struct tr_tally_entry ***list,
		  size_t *count);

void tr_tally_free(struct tr_tally *tally);

#endif
