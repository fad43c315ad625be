/* SPDX-License-Identifier: MIT */
#include "diff/rename.h"

#include <stdlib.h>

#include "core/buffer.h"

/* The slot of a pair, or the free one where it would be. There is a free one. */
static uint32_t *find_slot(const struct tr_renames *r, uint64_t a, uint64_t b)
{
	/* both are equal in equal traces, so only one of them is hashed once more */
	size_t at = (size_t)(tr_number_hash(0, a) ^ b) & (r->slot_count - 1);

	for (;; at = (at + 1) & (r->slot_count - 1)) {
		const struct tr_rename *pair = r->slots[at] ? &r->list[r->slots[at] - 1] : NULL;
		if (!pair || (pair->a == a && pair->b == b))
			return &r->slots[at];
	}
}

static bool grow(struct tr_renames *r)
{
	size_t count = r->slot_count ? 2 * r->slot_count : 256;
	uint32_t *slots = calloc(count, sizeof *slots);

	if (!slots)
		return false;
	free(r->slots);
	r->slots = slots;
	r->slot_count = count;
	for (size_t i = 0; i < r->count; i++)
		*find_slot(r, r->list[i].a, r->list[i].b) = (uint32_t)i + 1;
	return true;
}

bool tr_renames_vote(struct tr_renames *r, uint64_t a, uint64_t b)
{
	if (2 * (r->count + 1) > r->slot_count && !grow(r))
		return false;
	uint32_t *slot = find_slot(r, a, b);
	if (*slot) {
		r->list[*slot - 1].votes++;
		return true;
	}
	if (r->count == UINT32_MAX - 1 || !tr_array_room(r->list, r->count, r->cap))
		return false;
	r->list[r->count++] = (struct tr_rename){ a, b, 1, 0 };
	*slot = (uint32_t)r->count;
	return true;
}

/* Most votes first, then in the order of the list. */
static int by_votes(const void *left, const void *right, void *context)
{
	const struct tr_rename *list = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

	if (list[i].votes != list[j].votes)
		return list[i].votes > list[j].votes ? -1 : 1;
	return i < j ? -1 : i > j;
}

bool tr_renames_decide(struct tr_renames *r)
{
	struct tr_id_map taken = TR_ID_MAP_INIT; /* names of the second trace */
	uint32_t *order = malloc((r->count + 1) * sizeof *order);
	bool fine = order != NULL;

	for (size_t i = 0; fine && i < r->count; i++)
		order[i] = (uint32_t)i;
	if (fine)
		qsort_r(order, r->count, sizeof *order, by_votes, r->list);
	for (size_t i = 0; fine && i < r->count; i++) {
		struct tr_rename *pair = &r->list[order[i]];
		pair->chosen =
			!tr_id_map_get(&r->partners, pair->a) && !tr_id_map_get(&taken, pair->b);
		r->conflict |= !pair->chosen;
		if (pair->chosen)
			fine = tr_id_map_put(&r->partners, pair->a, pair) &&
			       tr_id_map_put(&taken, pair->b, pair);
	}
	free(order);
	tr_id_map_free(&taken);
	return fine;
}

bool tr_renames_partner(const struct tr_renames *r, uint64_t a, uint64_t *b)
{
	const struct tr_rename *pair = tr_id_map_get(&r->partners, a);

	if (pair)
		*b = pair->b;
	return pair != NULL;
}

bool tr_renames_agree(const struct tr_renames *r, uint64_t a, uint64_t b)
{
	if (!r->slot_count)
		return true;
	const uint32_t *slot = find_slot(r, a, b);
	return !*slot || r->list[*slot - 1].chosen;
}

void tr_renames_free(struct tr_renames *r)
{
	free(r->list);
	free(r->slots);
	tr_id_map_free(&r->partners);
	*r = (struct tr_renames){ .list = NULL };
}
