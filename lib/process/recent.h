/* SPDX-License-Identifier: MIT */
/*
 * What belongs to a number, for those numbers that were used last, in bounded
 * memory: a trace of any length must not grow who reads it. Not thread safe.
 */
#ifndef TR_PROCESS_RECENT_H
#define TR_PROCESS_RECENT_H

#include <stdbool.h>
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

/* Of a number that is put again the last counts. False: memory is out. */
bool tr_recent_put(struct tr_recent *recent, uint64_t number, uint64_t value);

/* False: it was never put, or others were used since. To find it is a use. */
bool tr_recent_find(struct tr_recent *recent, uint64_t number, uint64_t *value);

/* Forgets everything and gives the memory back. */
void tr_recent_free(struct tr_recent *recent);

#endif
