/* SPDX-License-Identifier: MIT */
#include "core/map.h"

#include <stdlib.h>

#include "tap.h"

enum { IDS = 3000 };

struct entry {
	uint64_t id;
	bool in;
};

/* The map and the flags agree on what is in. */
static bool agree(const struct tr_id_map *map, const struct entry *entries)
{
	size_t count = 0, position = 0;
	for (int i = 0; i < IDS; i++) {
		if ((tr_id_map_get(map, entries[i].id) == &entries[i]) != entries[i].in)
			return false;
		count += entries[i].in;
	}
	for (const struct entry *entry; (entry = tr_id_map_next(map, &position));)
		count -= entry->in;
	return count == 0 && map->count <= IDS;
}

/* Small ones, huge ones, and such as differ in their highest bits alone. */
static uint64_t id_of(int i)
{
	uint64_t n = (uint64_t)i;
	return i % 3 == 0 ? n : i % 3 == 1 ? UINT64_MAX - n : n << 52 | 7;
}

static uint64_t hash_at(const void *items, uint32_t number)
{
	return ((const struct entry *)items)[number].id;
}

/* True if each item is found by its hash, and nothing else. */
static bool index_agrees(const struct tr_index *index, const struct entry *entries, uint32_t count)
{
	uint32_t found;

	for (uint32_t i = 0; i < IDS; i++) {
		if (tr_index_find(index, entries, entries[i].id, &found) != (i < count) ||
		    (i < count && found != i))
			return false;
	}
	return index->count == count;
}

static void test_index(struct entry *entries)
{
	struct tr_index index = { .hash = hash_at };
	bool fine = index_agrees(&index, entries, 0);
	uint32_t found;

	for (uint32_t i = 0; i + 1 < IDS; i++) {
		fine = fine && tr_index_put(&index, entries, i);
		if (i % 64 == 0)
			fine = fine && index_agrees(&index, entries, i + 1);
	}
	ok(fine && index_agrees(&index, entries, IDS - 1),
	   "an index finds its items, and no others");
	entries[IDS - 1].id = entries[0].id;
	ok(tr_index_put(&index, entries, IDS - 1) && index.count == IDS - 1 &&
		   tr_index_find(&index, entries, entries[0].id, &found) && found == IDS - 1,
	   "of two items with one hash the last one put counts");
	tr_index_free(&index);
}

/* Puts ids, of which some share pages, takes every third one out, and puts these again. */
static void test_numbers(void)
{
	struct tr_number_map map = { .recent = NULL };
	uint32_t number;
	bool fine = !tr_number_map_get(&map, 0, &number);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < IDS; i++)
			fine = fine && tr_number_map_put(&map, id_of(i), (uint32_t)(i + round));
		for (int i = 0; i < IDS; i++)
			fine = fine && tr_number_map_get(&map, id_of(i), &number) &&
			       number == (uint32_t)(i + round);
		for (int i = 0; i < IDS; i += 3)
			tr_number_map_take(&map, id_of(i));
		tr_number_map_take(&map, id_of(0));
		for (int i = 0; i < IDS; i++)
			fine = fine && tr_number_map_get(&map, id_of(i), &number) == (i % 3 != 0);
	}
	ok(fine, "a map of numbers has what was put and not taken");
	for (int i = 0; i < IDS; i++)
		tr_number_map_take(&map, id_of(i));
	ok(map.pages.count == 0 && map.spare, "pages without ids are used again");
	tr_number_map_free(&map);
}

/* An id without neighbours needs no page; one that comes later does not change it. */
static void test_lone_numbers(void)
{
	struct tr_number_map map = { .recent = NULL };
	uint32_t number;
	bool fine = true;

	for (uint32_t i = 0; i < IDS; i++)
		fine = fine && tr_number_map_put(&map, i * UINT64_C(0x10001), UINT32_MAX - 1 - i);
	for (uint32_t i = 0; i < IDS; i++)
		fine = fine && tr_number_map_get(&map, i * UINT64_C(0x10001), &number) &&
		       number == UINT32_MAX - 1 - i &&
		       !tr_number_map_get(&map, i * UINT64_C(0x10001) ^ 1, &number);
	ok(fine && (sizeof(void *) == 4 || !map.arena.blocks), "lone ids need no pages");
	tr_number_map_take(&map, 1);
	for (uint32_t i = 0; i < IDS; i += 2)
		fine = fine && tr_number_map_put(&map, i * UINT64_C(0x10001) ^ 1, i);
	for (uint32_t i = 0; i < IDS; i++)
		fine = fine && tr_number_map_get(&map, i * UINT64_C(0x10001), &number) &&
		       number == UINT32_MAX - 1 - i &&
		       tr_number_map_get(&map, i * UINT64_C(0x10001) ^ 1, &number) == (i % 2 == 0);
	ok(fine, "an id keeps its number when a neighbour comes");
	for (uint32_t i = 0; i < IDS; i++)
		tr_number_map_take(&map, i * UINT64_C(0x10001));
	ok(map.pages.count == (IDS + 1) / 2, "ids without pages are taken");
	tr_number_map_free(&map);
}

int main(void)
{
	struct tr_id_map map = TR_ID_MAP_INIT;
	struct entry *entries = calloc(IDS, sizeof *entries);
	bool fine = true;
	ok(!tr_id_map_get(&map, 0) && !tr_id_map_take(&map, 0), "empty at first");
	for (int i = 0; i < IDS; i++)
		entries[i].id = id_of(i);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct entry *entry = &entries[rand() % IDS];
		if (entry->in)
			fine = fine && tr_id_map_take(&map, entry->id) == entry;
		else
			fine = fine && tr_id_map_put(&map, entry->id, entry);
		entry->in = !entry->in;
		if (i % 1000 == 0)
			fine = fine && agree(&map, entries);
	}
	ok(fine && agree(&map, entries), "what is put is there, what is taken is not");
	ok(tr_id_map_put(&map, 0, entries + 1) && tr_id_map_get(&map, 0) == entries + 1,
	   "the last one put counts");
	tr_id_map_free(&map);
	test_index(entries);
	test_numbers();
	test_lone_numbers();
	free(entries);
	return done_testing();
}
