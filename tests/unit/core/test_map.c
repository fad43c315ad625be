/* SPDX-License-Identifier: MIT */
#include "core/map.h"

#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

enum { KEYS = 3000 };

struct entry {
	char key[12];
	bool in;
};

static struct tr_text key_of(const struct entry *entry)
{
	return tr_text_from(entry->key);
}

/* The map and the flags agree on what is in. */
static bool agree(const struct tr_map *map, struct entry *entries)
{
	size_t count = 0, position = 0;
	for (int i = 0; i < KEYS; i++) {
		if ((tr_map_get(map, key_of(&entries[i])) == &entries[i]) != entries[i].in)
			return false;
		count += entries[i].in;
	}
	for (struct entry *entry; (entry = tr_map_next(map, &position));)
		count -= entry->in;
	return count == 0;
}

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Hashes of 64 bits are used in place of texts: similar texts must have different hashes. */
static void test_hashes(const char *format)
{
	enum { TEXTS = 300000, APART = 4700000 };
	uint64_t *hashes = malloc(TEXTS * sizeof *hashes);
	size_t equal = 0;

	for (int i = 0; hashes && i < TEXTS; i++) {
		char text[40];
		int number = i < TEXTS / 2 ? i : i + APART;
		int len = snprintf(text, sizeof text, format, number, number);
		hashes[i] = tr_text_hash(0x1234567, (struct tr_text){ text, (size_t)len });
	}
	if (hashes)
		qsort(hashes, TEXTS, sizeof *hashes, by_value);
	for (int i = 1; hashes && i < TEXTS; i++)
		equal += hashes[i] == hashes[i - 1];
	ok(hashes && equal == 0, "texts like %s have hashes of their own", format);
	free(hashes);
}

int main(void)
{
	static const char *const formats[] = { "%d", "%x", "/obj%d.o", "0x%08x", "%d/build/%d.o" };
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		test_hashes(formats[i]);

	struct tr_map map = TR_MAP_INIT;
	struct entry *entries = calloc(KEYS, sizeof *entries);
	bool fine = true;
	ok(!tr_map_get(&map, TR_TEXT("a")) && !tr_map_take(&map, TR_TEXT("a")), "empty at first");
	for (int i = 0; i < KEYS; i++)
		snprintf(entries[i].key, sizeof entries[i].key, "%d", i);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct entry *entry = &entries[rand() % KEYS];
		if (entry->in)
			fine = fine && tr_map_take(&map, key_of(entry)) == entry;
		else
			fine = fine && tr_map_put(&map, key_of(entry), entry);
		entry->in = !entry->in;
		if (i % 1000 == 0)
			fine = fine && agree(&map, entries);
	}
	ok(fine && agree(&map, entries), "what is put is there, what is taken is not");
	ok(tr_map_put(&map, TR_TEXT(""), entries) && tr_map_get(&map, TR_TEXT("")) == entries,
	   "an empty key is a key");
	ok(tr_map_put(&map, TR_TEXT(""), entries + 1) &&
		   tr_map_get(&map, TR_TEXT("")) == entries + 1,
	   "the last one put counts");
	tr_map_clear(&map);
	ok(map.count == 0 && !tr_map_get(&map, TR_TEXT("")), "cleared");
	tr_map_free(&map);
	free(entries);
	return done_testing();
}
