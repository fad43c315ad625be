/* SPDX-License-Identifier: MIT */

#include "core/id_map.h"

#include <stdlib.h>
#include <sys/random.h>

enum { FIRST_SLOTS = 16 };

/* The slot of an id, or the free one where it would go. */
static struct tr_id_slot *find(const struct tr_id_map *map, uint64_t id)
{
	size_t i = tr_id_map_home(map, id);
	while (map->slots[i].value && map->slots[i].id != id)
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

static bool grow(struct tr_id_map *map)
{
	struct tr_id_map larger = { NULL, map->count, map->cap ? map->cap * 2 : FIRST_SLOTS,
				    map->seed };
	larger.slots = calloc(larger.cap, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	/* without entropy (a very early boot) the address has to do */
	if (!map->cap && getrandom(&larger.seed, sizeof larger.seed, GRND_NONBLOCK) < 0)
		larger.seed = (uintptr_t)larger.slots;
	for (size_t i = 0; i < map->cap; i++) {
		if (map->slots[i].value)
			*find(&larger, map->slots[i].id) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return true;
}

bool tr_id_map_put(struct tr_id_map *map, uint64_t id, void *value)
{
	if (map->count >= map->cap / 2 && !grow(map))
		return false;
	struct tr_id_slot *slot = find(map, id);
	map->count += !slot->value;
	*slot = (struct tr_id_slot){ id, value };
	return true;
}

/* Closes the gap at i, so that no entry stands behind a free slot that its search would meet. */
static void close_gap(struct tr_id_map *map, size_t i)
{
	size_t mask = map->cap - 1;
	for (size_t j = (i + 1) & mask; map->slots[j].value; j = (j + 1) & mask) {
		size_t home = tr_id_map_home(map, map->slots[j].id);
		/* it may move to i unless its home lies between i and j */
		if (((j - home) & mask) < ((j - i) & mask))
			continue;
		map->slots[i] = map->slots[j];
		i = j;
	}
	map->slots[i] = (struct tr_id_slot){ 0, NULL };
}

void *tr_id_map_take(struct tr_id_map *map, uint64_t id)
{
	if (!map->count)
		return NULL;
	struct tr_id_slot *slot = find(map, id);
	void *value = slot->value;
	if (value) {
		map->count--;
		close_gap(map, (size_t)(slot - map->slots));
	}
	return value;
}

void *tr_id_map_next(const struct tr_id_map *map, size_t *position)
{
	while (*position < map->cap) {
		void *value = map->slots[(*position)++].value;
		if (value)
			return value;
	}
	return NULL;
}

void tr_id_map_free(struct tr_id_map *map)
{
	free(map->slots);
	*map = (struct tr_id_map)TR_ID_MAP_INIT;
}
