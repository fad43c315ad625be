/* SPDX-License-Identifier: MIT */
#include "diff/rename.h"

#include <stdlib.h>

#include "core/buffer.h"

/* Hashes a pair. In equal traces both names are equal, so only one of them is hashed again. */
static uint64_t pair_hash(uint64_t a, uint64_t b)
{
	return tr_number_hash(0, a) ^ b;
}

static uint64_t hash_at(const void *items, uint32_t number)
{
	const struct tr_rename *list = items;

	return pair_hash(list[number].a, list[number].b);
}

bool tr_renames_vote(struct tr_renames *r, uint64_t a, uint64_t b, uint32_t votes, uint32_t place)
{
	uint32_t first;

	if (r->count == UINT32_MAX - 1 || !tr_array_room(r->list, r->count, r->cap))
		return false;
	r->list[r->count] = (struct tr_rename){ a, b, place, 0, 0, 0, 0 };
	r->pairs.hash = hash_at;
	if (!tr_index_add(&r->pairs, r->list, (uint32_t)r->count, &first))
		return false;
	r->count += first == r->count;
	uint32_t room = TR_RENAME_VOTES_MAX - r->list[first].votes;
	r->list[first].votes += votes < room ? votes : room;
	return true;
}

/* Sorts by votes, the highest first, then names that are alike, then in the order of the list. */
static int by_votes(const void *left, const void *right, void *context)
{
	const struct tr_rename *list = context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;

	if (list[i].votes != list[j].votes)
		return list[i].votes > list[j].votes ? -1 : 1;
	if (list[i].alike != list[j].alike)
		return list[i].alike ? -1 : 1;
	return i < j ? -1 : i > j;
}

static uint64_t a_at(const void *items, uint32_t number)
{
	return ((const struct tr_rename *)items)[number].a;
}

static uint64_t b_at(const void *items, uint32_t number)
{
	return ((const struct tr_rename *)items)[number].b;
}

/* Adds a pair to an index of its names, and marks pairs that share a name. */
static bool add_pair(struct tr_renames *r, struct tr_index *index, uint32_t number)
{
	uint32_t first;

	if (!tr_index_add(index, r->list, number, &first))
		return false;
	if (first != number)
		r->list[number].contested = r->list[first].contested = 1;
	return true;
}

/* True if a pair with this name was chosen. */
static bool is_taken(const struct tr_renames *r, const struct tr_index *index, uint64_t name)
{
	uint32_t place;

	return tr_index_find(index, r->list, name, &place) && r->list[place].chosen;
}

bool tr_renames_index(struct tr_renames *r)
{
	bool fine = true;

	r->old_names.hash = a_at;
	r->new_names.hash = b_at;
	for (uint32_t i = 0; fine && i < r->count; i++)
		fine = add_pair(r, &r->old_names, i) && add_pair(r, &r->new_names, i);
	return fine;
}

bool tr_renames_decide(struct tr_renames *r)
{
	uint32_t *order = malloc((r->count + 1) * sizeof *order);
	bool fine = order != NULL;
	size_t contested = 0;

	for (uint32_t i = 0; fine && i < r->count; i++) {
		if (r->list[i].contested)
			order[contested++] = i;
		else
			r->list[i].chosen = 1;
	}
	if (fine)
		qsort_r(order, contested, sizeof *order, by_votes, r->list);
	for (size_t i = 0; fine && i < contested; i++) {
		struct tr_rename *pair = &r->list[order[i]];
		pair->chosen = !is_taken(r, &r->old_names, pair->a) &&
			       !is_taken(r, &r->new_names, pair->b);
		r->conflict |= !pair->chosen;
		/* replace pairs with the same names that are not chosen */
		if (pair->chosen)
			fine = tr_index_put(&r->old_names, r->list, order[i]) &&
			       tr_index_put(&r->new_names, r->list, order[i]);
	}
	free(order);
	return fine;
}

bool tr_renames_find(const struct tr_renames *r, uint64_t a, uint64_t *b)
{
	uint32_t place;
	bool found = tr_index_find(&r->old_names, r->list, a, &place) && r->list[place].chosen;

	if (found)
		*b = r->list[place].b;
	return found;
}

bool tr_renames_agree(const struct tr_renames *r, uint64_t a, uint64_t b)
{
	uint32_t place;

	if (tr_index_find(&r->pairs, r->list, pair_hash(a, b), &place))
		return r->list[place].chosen;
	return !is_taken(r, &r->old_names, a) && !is_taken(r, &r->new_names, b);
}

void tr_renames_free(struct tr_renames *r)
{
	free(r->list);
	tr_index_free(&r->pairs);
	tr_index_free(&r->old_names);
	tr_index_free(&r->new_names);
	*r = (struct tr_renames){ .list = NULL };
}
