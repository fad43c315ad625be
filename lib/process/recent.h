/* SPDX-License-Identifier: MIT */
/*
 * A map from numbers to values in bounded memory: it keeps the 131072 numbers that were used last,
 * so that memory does not grow with the trace. A user must be correct without the others. Not
 * thread safe.
 */
#ifndef TR_PROCESS_RECENT_H
#define TR_PROCESS_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_recent_entry;

struct tr_recent {
	struct tr_recent_entry *entries; /* NULL until the first is put */
	uint64_t clock;
};

#define TR_RECENT_INIT \
	{ \
		NULL, 0 \
	}

/*
 * Sets the value of a number, and *value to the value that it replaces: the previous one of the
 * same number, or that of a number that is dropped; 0: none. False: memory is exhausted.
 */
bool tr_recent_swap(struct tr_recent *recent, uint64_t number, uint64_t *value);

static inline bool tr_recent_put(struct tr_recent *recent, uint64_t number, uint64_t value)
{
	return tr_recent_swap(recent, number, &value);
}

/* Finds the value of a number, and marks it as used. False: it was never put, or was dropped. */
bool tr_recent_find(struct tr_recent *recent, uint64_t number, uint64_t *value);

/* Steps through the values other than 0: *position is 0 at first. False: there are no more. */
bool tr_recent_next(const struct tr_recent *recent, size_t *position, uint64_t *value);

/* Frees all; the map is empty. */
void tr_recent_free(struct tr_recent *recent);

#endif
