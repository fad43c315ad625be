/* SPDX-License-Identifier: MIT */
/*
 * A cache of fixed size: each number belongs to a set of WAYS entries, of which a new number
 * replaces the least recently used one.
 */
#include "process/recent.h"

#include <stdlib.h>

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
