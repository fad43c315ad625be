/* SPDX-License-Identifier: MIT */
/*
 * A map of numbers to values that remembers those that were used last, in bounded memory, because
 * memory must not grow with the trace. Not thread safe.
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
 * Sets the value of a number. *value becomes the value that this replaces, of the same number or of
 * one that is displaced; 0: none. False: memory is exhausted.
 */
bool tr_recent_swap(struct tr_recent *recent, uint64_t number, uint64_t *value);

static inline bool tr_recent_put(struct tr_recent *recent, uint64_t number, uint64_t value)
{
	return tr_recent_swap(recent, number, &value);
}

/* Finds, and uses, a number. False: it was never put, or was displaced by others. */
bool tr_recent_find(struct tr_recent *recent, uint64_t number, uint64_t *value);

/* Steps through the values other than 0: *position is 0 at first. False: no more. */
bool tr_recent_next(const struct tr_recent *recent, size_t *position, uint64_t *value);

/* Frees all; the map is empty. */
void tr_recent_free(struct tr_recent *recent);

#endif
