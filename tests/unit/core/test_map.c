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

enum { KEPT = 131072, FEW = KEPT / 8 };

/* Puts that many numbers with a distance, and returns how many of the last `kept` are found. */
static size_t found(uint64_t first, uint64_t distance, size_t count, size_t kept)
{
	struct tr_recent recent = TR_RECENT_INIT;
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		tr_recent_put(&recent, first + i * distance, i + 1);
	for (size_t i = count - kept; i < count; i++) {
		uint64_t value = 0;
		found += tr_recent_find(&recent, first + i * distance, &value) && value == i + 1;
	}
	tr_recent_free(&recent);
	return found;
}

static void test_recent(void)
{
	struct tr_recent recent = TR_RECENT_INIT;
	uint64_t value;
	ok(!tr_recent_find(&recent, 1, &value), "nothing yet");
	bool there = tr_recent_put(&recent, 1, 10) && tr_recent_put(&recent, UINT64_MAX, 11) &&
		     tr_recent_put(&recent, 1, 12);
	ok(there && tr_recent_find(&recent, 1, &value) && value == 12, "the last counts");
	ok(tr_recent_find(&recent, UINT64_MAX, &value) && value == 11, "any number");
	for (uint64_t i = 2; i < 2000000; i++) {
		there &= tr_recent_put(&recent, i, i);
		/* what is used stays */
		there &= i % 1000 || (tr_recent_find(&recent, 1, &value) && value == 12);
		there &= tr_recent_find(&recent, i - i % 1000 / 10, &value);
	}
	ok(there, "what was used last is there, of however many");
	tr_recent_free(&recent);
	ok(!tr_recent_find(&recent, 1, &value), "and forgotten");
	ok(found(0, 1, 3 * KEPT, KEPT) > KEPT / 100 * 99, "the last numbers are kept");
	ok(found(4567, 1, 2 * KEPT, KEPT) > KEPT / 100 * 99, "of others, too");
	ok(found(UINT64_MAX - KEPT, 1, KEPT, KEPT) > KEPT / 100 * 99, "and the largest ones");
	for (unsigned bits = 1; bits < 48; bits++)
		ok(found(0, UINT64_C(1) << bits, FEW, FEW) > FEW / 10 * 9,
		   "nearly all of fewer with a distance of 2^%u are kept", bits);
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
	test_recent();
	return done_testing();
}
