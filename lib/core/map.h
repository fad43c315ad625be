/* SPDX-License-Identifier: MIT */
/*
 * Hashes of texts and of 64-bit numbers, and maps from these to pointers.
 *
 * A map borrows keys and values: a text must stay valid as long as it is in the map, so keep it in
 * the struct that the value points to. The hashes are seeded at random, so no input can make them
 * slow. Not thread safe.
 */
#ifndef TR_CORE_MAP_H
#define TR_CORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/text.h"
#include "core/wide.h"

/* Returns a random seed for hashes. address: any address, used if there is no entropy yet. */
uint64_t tr_hash_seed(const void *address);

/* Returns a hash of the bytes. The seed may be the hash of what comes before them. */
uint64_t tr_text_hash(uint64_t seed, struct tr_text text);

/* Returns a hash of a number. The seed may be the hash of what comes before it. */
static inline uint64_t tr_number_hash(uint64_t seed, uint64_t number)
{
	/* both halves of the product: every bit of the number reaches every bit of the result */
	struct tr_wide product = tr_wide_multiply(number ^ seed, 0x9e3779b97f4a7c15);
	return product.low ^ product.high;
}

/*
 * As tr_number_hash, but eight numbers in a row have hashes in a row, so that numbers that are used
 * together are in the same lines of the processor's cache.
 */
static inline uint64_t tr_near_hash(uint64_t seed, uint64_t number)
{
	return (tr_number_hash(seed, number / 8) & ~UINT64_C(7)) | number % 8;
}

struct tr_map_slot {
	const char *key; /* NULL: the slot is free */
	uint32_t len;
	uint32_t hash; /* of the key, which is compared only if this is equal */
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

/* Returns the value, or NULL. */
void *tr_map_get(const struct tr_map *map, struct tr_text key);

/*
 * Adds a key of less than 4 GiB, or replaces key and value. value is not NULL. False: memory is
 * exhausted, and nothing changed.
 */
bool tr_map_put(struct tr_map *map, struct tr_text key, void *value);

/* Removes an entry and returns its value; NULL: there was none. */
void *tr_map_take(struct tr_map *map, struct tr_text key);

/*
 * Returns the next value, in no particular order; NULL: there are no more. *position is 0 at first.
 * The map must not change meanwhile.
 */
void *tr_map_next(const struct tr_map *map, size_t *position);

/* Removes all entries and keeps the memory. */
void tr_map_clear(struct tr_map *map);
void tr_map_free(struct tr_map *map);

/* Maps from ids and ordinals in an input. Sparse and hostile ids take no more time than others. */

struct tr_id_slot {
	uint64_t id;
	void *value; /* NULL: the slot is free */
};

struct tr_id_map {
	struct tr_id_slot *slots; /* cap of them: 0 or a power of two */
	size_t count, cap;
	uint64_t seed; /* 0: a random one is chosen; many small maps can share one */
};

#define TR_ID_MAP_INIT \
	{ \
		NULL, 0, 0, 0 \
	}

/*
 * Returns the slot at which the search for an id starts; the map is not empty. Most ids are counted
 * up, so eight ids in a row have slots in a row.
 */
static inline size_t tr_id_map_home(const struct tr_id_map *map, uint64_t id)
{
	return (size_t)tr_near_hash(map->seed, id) & (map->cap - 1);
}

/* Returns the value, or NULL. */
static inline void *tr_id_map_get(const struct tr_id_map *map, uint64_t id)
{
	if (!map->count)
		return NULL;
	for (size_t i = tr_id_map_home(map, id);; i = (i + 1) & (map->cap - 1)) {
		const struct tr_id_slot *slot = &map->slots[i];
		if (slot->id == id || !slot->value)
			return slot->value;
	}
}

/*
 * Adds an id, or replaces its value. value is not NULL. False: memory is exhausted, and nothing
 * changed.
 */
bool tr_id_map_put(struct tr_id_map *map, uint64_t id, void *value);

/* Removes an entry and returns its value; NULL: there was none. */
void *tr_id_map_take(struct tr_id_map *map, uint64_t id);

/*
 * Returns the next value, in no particular order; NULL: there are no more. *position is 0 at first.
 * The map must not change meanwhile.
 */
void *tr_id_map_next(const struct tr_id_map *map, size_t *position);

void tr_id_map_free(struct tr_id_map *map);

/*
 * A map from ids to numbers below UINT32_MAX, such as places in an array, for ids that are mostly
 * counted up: eight ids in a row share a page, so that each takes 8 to 12 bytes, and those that are
 * used together are in the same lines of the processor's cache. An id without neighbours has no
 * page, and takes as much as in a map of pointers. All zero at first.
 */
struct tr_number_page;

struct tr_number_map {
	struct tr_id_map pages; /* by id / 8: a page, or the number of the only id */
	struct tr_arena arena;
	struct tr_number_page *spare;
	void *recent;	    /* the value that was used last, or NULL */
	uint64_t recent_id; /* its key */
};

/* Sets *number to that of the id. False: it is not in the map. */
bool tr_number_map_get(struct tr_number_map *map, uint64_t id, uint32_t *number);

/* Adds an id, or replaces its number. False: memory is exhausted, and nothing changed. */
bool tr_number_map_put(struct tr_number_map *map, uint64_t id, uint32_t number);

/* Removes an id, if it is in the map. */
void tr_number_map_take(struct tr_number_map *map, uint64_t id);

/* Removes all ids, and frees the memory. */
void tr_number_map_free(struct tr_number_map *map);

struct tr_index_slot {
	uint32_t item; /* 1 + its number; 0: the slot is free */
	uint32_t hash; /* its lower bits; only if these are equal, the item is compared */
};

/*
 * Finds items of an array by a hash that the caller keeps for each; needs 11 to 22 bytes for an
 * item. Items with equal hashes count as equal, so all 64 bits must be good ones. Set `hash`, the
 * rest zero.
 */
struct tr_index {
	uint64_t (*hash)(const void *items, uint32_t number);
	struct tr_index_slot *slots; /* cap of them: 0 or a power of two */
	size_t count, cap;
};

/* Sets *number to that of the item with this hash. False: there is none. */
bool tr_index_find(const struct tr_index *index, const void *items, uint64_t hash,
		   uint32_t *number);

/*
 * Adds an item, whose hash the caller has set, unless there is one with the same hash. Sets *first
 * to the number of the item that the index has. False: memory is exhausted.
 */
bool tr_index_add(struct tr_index *index, const void *items, uint32_t number, uint32_t *first);

/* Adds an item, which replaces one with the same hash. False: memory is exhausted. */
bool tr_index_put(struct tr_index *index, const void *items, uint32_t number);

/* Removes all items, and frees the memory. */
void tr_index_free(struct tr_index *index);

/*
 * A map from numbers to values in bounded memory: it keeps the 131072 numbers that were used last,
 * so that memory does not grow with the trace. A user must be correct without the others.
 */
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
