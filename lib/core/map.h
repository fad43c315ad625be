/* SPDX-License-Identifier: MIT */
/*
 * A hash map from texts to pointers. It borrows both: a key has to live as
 * long as it is in the map, so keep it in what its value points to.
 * The hash is seeded at random: input cannot make it slow. Not thread safe.
 */
#ifndef TR_CORE_MAP_H
#define TR_CORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

struct tr_map_slot {
	struct tr_text key; /* data NULL: free */
	void *value;
};

struct tr_map {
	struct tr_map_slot *slots; /* cap of them: 0 or a power of two */
	size_t count, cap;
	uint64_t seed;
};

#define TR_MAP_INIT \
	{ \
		NULL, 0, 0, 0 \
	}

/* NULL: not there. */
void *tr_map_get(const struct tr_map *map, struct tr_text key);

/* Adds, or replaces key and value. value is not NULL. False: memory is out, nothing changed. */
bool tr_map_put(struct tr_map *map, struct tr_text key, void *value);

/* Takes it out and returns it; NULL: it was not there. */
void *tr_map_take(struct tr_map *map, struct tr_text key);

/*
 * Steps through the values in no order: *position is 0 at first. NULL at the
 * end. The map must not change meanwhile.
 */
void *tr_map_next(const struct tr_map *map, size_t *position);

/* Forgets all entries, keeps the memory. */
void tr_map_clear(struct tr_map *map);
void tr_map_free(struct tr_map *map);

#endif
