/* SPDX-License-Identifier: MIT */
/*
 * Maps with open addressing, at most half full. The hash has a random seed, so that a hostile
 * trace cannot choose keys that fall into one slot. A slot of a map of texts holds the hash of its
 * key, because keys are spread over the memory.
 */

#include "core/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

enum { FIRST_SLOTS = 16 };

uint64_t tr_hash_seed(const void *address)
{
	uint64_t seed;

	/* very early after boot there is no entropy */
	return getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0 ? (uintptr_t)address : seed;
}

/*
 * As calloc, but writes all slots, because a map fills all its pages: of those that calloc gets
 * from the system, each would take two faults, when it is first read and when it is first written.
 * Large pages take fewer.
 */
static void *alloc_slots(size_t count, size_t size)
{
	enum { LARGE_PAGE = 2 << 20 };
	size_t bytes = count * size;
	void *slots;

	if (count > SIZE_MAX / size)
		return NULL;
#ifdef MADV_HUGEPAGE
	if (bytes > 0 && bytes % LARGE_PAGE == 0) {
		slots = aligned_alloc(LARGE_PAGE, bytes);
		if (slots)
			(void)madvise(slots, bytes, MADV_HUGEPAGE);
	} else
#endif
		slots = malloc(bytes);
	return slots ? memset(slots, 0, bytes) : NULL;
}

/* Every bit of either factor reaches every bit of the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	struct tr_wide product = tr_wide_multiply(a, b);
	return product.low ^ product.high;
}

uint64_t tr_text_hash(uint64_t seed, struct tr_text text)
{
	static const uint64_t odd = 0x9e3779b97f4a7c15;
	/* the length changes all bits, so that no byte can have the same effect */
	uint64_t hash = seed ^ text.len * odd, word;
	const char *p = text.data;
	size_t left = text.len;

	for (; left > 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = mix(hash ^ word, odd ^ seed);
	}
	/* the rest in one or two reads, which may overlap: the length is in the hash already */
	if (text.len >= 8) {
		memcpy(&word, p + left - 8, 8);
	} else if (left >= 4) {
		uint32_t low, high;
		memcpy(&low, p, 4);
		memcpy(&high, p + left - 4, 4);
		word = (uint64_t)high << 32 | low;
	} else if (left) {
		word = (unsigned char)p[0] | (unsigned)(unsigned char)p[left / 2] << 8 |
		       (unsigned)(unsigned char)p[left - 1] << 16;
	} else {
		word = 0;
	}
	return mix(hash ^ word, odd);
}

/* Returns the hash of a key, as slots hold it. */
static uint32_t hash_of(const struct tr_map *map, struct tr_text key)
{
	return (uint32_t)tr_text_hash(map->seed, key);
}

/* Returns the slot of the key with this hash, or the free slot where it would go. */
static struct tr_map_slot *find(const struct tr_map *map, struct tr_text key, uint32_t hash)
{
	size_t mask = map->cap - 1;
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct tr_map_slot *slot = &map->slots[i];
		if (!slot->key || (slot->hash == hash && slot->len == key.len &&
				   memcmp(slot->key, key.data, key.len) == 0))
			return slot;
	}
}

void *tr_map_get(const struct tr_map *map, struct tr_text key)
{
	return map->count ? find(map, key, hash_of(map, key))->value : NULL;
}

/* Returns the free slot where a key with this hash goes, which is not in the map. */
static struct tr_map_slot *free_slot(const struct tr_map *map, uint32_t hash)
{
	size_t mask = map->cap - 1, i = hash & mask;
	while (map->slots[i].key)
		i = (i + 1) & mask;
	return &map->slots[i];
}

/* Doubles the slots; the first time, chooses the seed. False: memory is exhausted. */
static bool grow(struct tr_map *map)
{
	struct tr_map larger = { NULL, map->count, map->cap ? map->cap * 2 : FIRST_SLOTS,
				 map->seed };
	larger.slots = alloc_slots(larger.cap, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	if (!map->cap)
		larger.seed = tr_hash_seed(larger.slots);
	for (size_t i = 0; i < map->cap; i++) {
		if (map->slots[i].key)
			*free_slot(&larger, map->slots[i].hash) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return true;
}

bool tr_map_put(struct tr_map *map, struct tr_text key, void *value)
{
	if (key.len > UINT32_MAX || (map->count >= map->cap / 2 && !grow(map)))
		return false;
	uint32_t hash = hash_of(map, key);
	struct tr_map_slot *slot = find(map, key, hash);
	map->count += !slot->key;
	*slot = (struct tr_map_slot){ key.data, (uint32_t)key.len, hash, value };
	return true;
}

/* Closes the gap at i, so that no search for an entry meets a free slot before it. */
static void close_gap(struct tr_map *map, size_t i)
{
	size_t mask = map->cap - 1;
	for (size_t j = (i + 1) & mask; map->slots[j].key; j = (j + 1) & mask) {
		size_t home = map->slots[j].hash & mask;
		/* it may move to i unless its home lies between i and j */
		if (((j - home) & mask) < ((j - i) & mask))
			continue;
		map->slots[i] = map->slots[j];
		i = j;
	}
	map->slots[i] = (struct tr_map_slot){ NULL, 0, 0, NULL };
}

void *tr_map_take(struct tr_map *map, struct tr_text key)
{
	if (!map->count)
		return NULL;
	struct tr_map_slot *slot = find(map, key, hash_of(map, key));
	void *value = slot->value;
	if (slot->key) {
		map->count--;
		close_gap(map, (size_t)(slot - map->slots));
	}
	return value;
}

void *tr_map_next(const struct tr_map *map, size_t *position)
{
	while (*position < map->cap) {
		const struct tr_map_slot *slot = &map->slots[(*position)++];
		if (slot->key)
			return slot->value;
	}
	return NULL;
}

void tr_map_clear(struct tr_map *map)
{
	if (map->count)
		memset(map->slots, 0, map->cap * sizeof *map->slots);
	map->count = 0;
}

void tr_map_free(struct tr_map *map)
{
	free(map->slots);
	*map = (struct tr_map)TR_MAP_INIT;
}

/* Returns the slot of an id, or the free slot where it would go. */
static struct tr_id_slot *find_id(const struct tr_id_map *map, uint64_t id)
{
	size_t i = tr_id_map_home(map, id);
	while (map->slots[i].value && map->slots[i].id != id)
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

/* Doubles the slots of a map of numbers, as grow does. */
static bool grow_ids(struct tr_id_map *map)
{
	struct tr_id_map larger = { NULL, map->count, map->cap ? map->cap * 2 : FIRST_SLOTS,
				    map->seed };
	larger.slots = alloc_slots(larger.cap, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	if (!map->seed)
		larger.seed = tr_hash_seed(larger.slots);
	for (size_t i = 0; i < map->cap; i++) {
		if (map->slots[i].value)
			*find_id(&larger, map->slots[i].id) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return true;
}

bool tr_id_map_put(struct tr_id_map *map, uint64_t id, void *value)
{
	if (map->count >= map->cap / 2 && !grow_ids(map))
		return false;
	struct tr_id_slot *slot = find_id(map, id);
	map->count += !slot->value;
	*slot = (struct tr_id_slot){ id, value };
	return true;
}

/* Closes the gap at i, so that no search for an entry meets a free slot before it. */
static void close_id_gap(struct tr_id_map *map, size_t i)
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
	struct tr_id_slot *slot = find_id(map, id);
	void *value = slot->value;
	if (value) {
		map->count--;
		close_id_gap(map, (size_t)(slot - map->slots));
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

enum { PAGE_IDS = 8 };

struct tr_number_page {
	union {
		uint32_t numbers[PAGE_IDS];  /* 1 + the number; 0: the id is not in the map */
		struct tr_number_page *next; /* of a spare page */
	};
};

/*
 * In place of a page, a value of the map of pages can have an id that has no neighbours and its
 * number: pointers to pages are even. Pointers of 32 bits have no room for that.
 */
static void *lone_value(uint64_t id, uint32_t number)
{
	return (void *)(uintptr_t)(((uint64_t)number + 1) << 4 | id % PAGE_IDS << 1 | 1);
}

static bool is_lone(const void *value)
{
	return (uintptr_t)value & 1;
}

static uint32_t lone_id(const void *value)
{
	return (uintptr_t)value >> 1 & (PAGE_IDS - 1);
}

/* Returns the page of an id, or the value in place of it. NULL: there is none. */
static void *find_page(struct tr_number_map *map, uint64_t id)
{
	if (!map->recent || map->recent_id != id / PAGE_IDS) {
		map->recent = tr_id_map_get(&map->pages, id / PAGE_IDS);
		map->recent_id = id / PAGE_IDS;
	}
	return map->recent;
}

bool tr_number_map_get(struct tr_number_map *map, uint64_t id, uint32_t *number)
{
	const void *value = find_page(map, id);
	uint32_t found = 0; /* 1 + the number */

	if (!value)
		return false;
	if (!is_lone(value))
		found = ((const struct tr_number_page *)value)->numbers[id % PAGE_IDS];
	else if (lone_id(value) == id % PAGE_IDS)
		found = (uint32_t)((uint64_t)(uintptr_t)value >> 4);
	*number = found - 1;
	return found;
}

/* Sets the value of the map of pages for an id. False: memory is exhausted. */
static bool set_page(struct tr_number_map *map, uint64_t id, void *value)
{
	if (!tr_id_map_put(&map->pages, id / PAGE_IDS, value))
		return false;
	map->recent = value;
	return true;
}

/*
 * Makes a page for an id. value: what the map has in its place, or NULL. NULL: memory is exhausted.
 */
static struct tr_number_page *add_page(struct tr_number_map *map, uint64_t id, const void *value)
{
	struct tr_number_page *page = map->spare, *next = page ? page->next : NULL;

	if (!page)
		page = tr_arena_alloc(&map->arena, sizeof *page);
	if (!page || !set_page(map, id, page))
		return NULL; /* the memory of the page stays with the arena */
	map->spare = next;
	memset(page, 0, sizeof *page);
	if (value)
		page->numbers[lone_id(value)] = (uint32_t)((uint64_t)(uintptr_t)value >> 4);
	return page;
}

bool tr_number_map_put(struct tr_number_map *map, uint64_t id, uint32_t number)
{
	void *value = find_page(map, id);
	struct tr_number_page *page = value;

	if (sizeof value > sizeof number &&
	    (!value || (is_lone(value) && lone_id(value) == id % PAGE_IDS)))
		return set_page(map, id, lone_value(id, number));
	if (!value || is_lone(value))
		page = add_page(map, id, value);
	if (!page)
		return false;
	page->numbers[id % PAGE_IDS] = number + 1;
	return true;
}

void tr_number_map_take(struct tr_number_map *map, uint64_t id)
{
	void *value = find_page(map, id);
	struct tr_number_page *page = value;
	uint32_t used = 0;

	if (!value || (is_lone(value) && lone_id(value) != id % PAGE_IDS))
		return;
	if (!is_lone(value)) {
		page->numbers[id % PAGE_IDS] = 0;
		for (unsigned i = 0; i < PAGE_IDS; i++)
			used |= page->numbers[i];
		if (used)
			return;
		page->next = map->spare;
		map->spare = page;
	}
	tr_id_map_take(&map->pages, id / PAGE_IDS);
	map->recent = NULL;
}

void tr_number_map_free(struct tr_number_map *map)
{
	tr_id_map_free(&map->pages);
	tr_arena_free(&map->arena);
	*map = (struct tr_number_map){ .recent = NULL };
}

/* Returns the slot of the item with this hash, or the free slot where it would go. */
static struct tr_index_slot *find_item(const struct tr_index *index, const void *items,
				       uint64_t hash)
{
	size_t mask = index->cap - 1;
	for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
		struct tr_index_slot *slot = &index->slots[i];
		if (!slot->item ||
		    (slot->hash == (uint32_t)hash && index->hash(items, slot->item - 1) == hash))
			return slot;
	}
}

bool tr_index_find(const struct tr_index *index, const void *items, uint64_t hash, uint32_t *number)
{
	const struct tr_index_slot *slot = index->count ? find_item(index, items, hash) : NULL;

	if (!slot || !slot->item)
		return false;
	*number = slot->item - 1;
	return true;
}

/* Doubles the slots, of which three quarters are used. False: memory is exhausted. */
static bool grow_index(struct tr_index *index)
{
	struct tr_index larger = { index->hash, NULL, index->count,
				   index->cap ? index->cap * 2 : FIRST_SLOTS };
	size_t mask = larger.cap - 1;

	larger.slots = alloc_slots(larger.cap, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < index->cap; i++) {
		size_t to = index->slots[i].hash & mask;
		if (!index->slots[i].item)
			continue;
		while (larger.slots[to].item)
			to = (to + 1) & mask;
		larger.slots[to] = index->slots[i];
	}
	free(index->slots);
	*index = larger;
	return true;
}

bool tr_index_add(struct tr_index *index, const void *items, uint32_t number, uint32_t *first)
{
	uint64_t hash = index->hash(items, number);

	if (index->count >= index->cap / 4 * 3 && !grow_index(index))
		return false;
	struct tr_index_slot *slot = find_item(index, items, hash);
	if (!slot->item) {
		index->count++;
		*slot = (struct tr_index_slot){ number + 1, (uint32_t)hash };
	}
	*first = slot->item - 1;
	return true;
}

bool tr_index_put(struct tr_index *index, const void *items, uint32_t number)
{
	uint32_t first;

	if (!tr_index_add(index, items, number, &first))
		return false;
	if (first != number)
		find_item(index, items, index->hash(items, number))->item = number + 1;
	return true;
}

void tr_index_free(struct tr_index *index)
{
	free(index->slots);
	*index = (struct tr_index){ .hash = index->hash };
}

/*
 * A recent map has sets of WAYS entries. Each number belongs to a set, in which a new number
 * replaces the least recently used one.
 */
enum { SET_BITS = 14, WAYS = 8, IN_A_ROW = WAYS / 2 };

struct tr_recent_entry {
	uint64_t number, value;
	uint64_t used; /* 0: free */
};

/*
 * Returns the set of a number. Most numbers are counted up, so IN_A_ROW of them share a set, and
 * the next ones have the set after it, which the processor loads ahead. The other half of the set
 * is left to older numbers that are still in use. The rest of the sum distributes numbers that have
 * a distance from each other.
 */
static struct tr_recent_entry *set_of(const struct tr_recent *recent, uint64_t number)
{
	uint64_t row = number / IN_A_ROW, round = row >> SET_BITS;
	uint64_t hash = (round >> SET_BITS) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t set = row + round + (hash >> (64 - SET_BITS));

	return recent->entries + set % (1u << SET_BITS) * WAYS;
}

bool tr_recent_swap(struct tr_recent *recent, uint64_t number, uint64_t *value)
{
	if (!recent->entries)
		recent->entries = calloc((size_t)WAYS << SET_BITS, sizeof *recent->entries);
	if (!recent->entries)
		return false;
	struct tr_recent_entry *set = set_of(recent, number), *place = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].used && set[i].number == number) {
			place = &set[i];
			break;
		}
		if (set[i].used < place->used)
			place = &set[i];
	}
	uint64_t before = place->value;
	*place = (struct tr_recent_entry){ number, *value, ++recent->clock };
	*value = before;
	return true;
}

bool tr_recent_find(struct tr_recent *recent, uint64_t number, uint64_t *value)
{
	struct tr_recent_entry *set = recent->entries ? set_of(recent, number) : NULL;

	for (unsigned i = 0; set && i < WAYS; i++) {
		if (!set[i].used || set[i].number != number)
			continue;
		set[i].used = ++recent->clock;
		*value = set[i].value;
		return true;
	}
	return false;
}

bool tr_recent_next(const struct tr_recent *recent, size_t *position, uint64_t *value)
{
	size_t end = recent->entries ? (size_t)WAYS << SET_BITS : 0;

	for (*value = 0; *position < end && !*value; ++*position)
		*value = recent->entries[*position].value;
	return *value;
}

void tr_recent_free(struct tr_recent *recent)
{
	free(recent->entries);
	*recent = (struct tr_recent)TR_RECENT_INIT;
}
