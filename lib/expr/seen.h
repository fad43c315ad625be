/*
 * Which of the fields that an expression or a list of fields uses were in any record. What was
 * in none is reported at the end, with the nearest name that the records do have.
 */
#ifndef TR_EXPR_SEEN_H
#define TR_EXPR_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/map.h"
#include "expr/expr.h"
#include "expr/program.h"

/* One use of a field. */
struct tr_use {
	const struct tr_path *path;
	bool found;
	uint64_t misses; /* records that it was tested on and that lack it */
};

struct tr_seen_key {
	struct tr_text key;
	struct tr_seen_key *next;
};

struct tr_seen {
	struct tr_use *uses;
	size_t count;
	/* keys of records without the field, as many as are worth keeping */
	struct tr_arena arena;
	struct tr_map keys;
	struct tr_seen_key *first, *last;
};

/* Room for the uses. False: memory is out. */
bool tr_seen_begin(struct tr_seen *seen, size_t count);
void tr_seen_free(struct tr_seen *seen);

/* So many misses are all looked at, and then each whose number is a power of 2. */
enum { TR_SEEN_MISSES = 64 };

/* Keeps the keys of the record. */
void tr_seen_keep_keys(struct tr_seen *seen, const struct tr_record *record,
		       const struct tr_record *leave);

static inline void tr_seen_hit(struct tr_seen *seen, size_t use)
{
	seen->uses[use].found = true;
}

/* The record (NULL where it is about a column) and its leave (NULL: none) have no such field. */
static inline void tr_seen_miss(struct tr_seen *seen, size_t use, const struct tr_record *record,
				const struct tr_record *leave)
{
	struct tr_use *missed = &seen->uses[use];
	uint64_t miss = missed->misses++;

	if (record && !missed->found && (miss < TR_SEEN_MISSES || !(miss & (miss - 1))))
		tr_seen_keep_keys(seen, record, leave);
}

/* The next use from *position on whose field no record had, once for each field. */
bool tr_seen_next(const struct tr_seen *seen, size_t *position, struct tr_unseen *unseen);

#endif
