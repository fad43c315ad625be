/* SPDX-License-Identifier: MIT */
#include "diff/stream.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/wide.h"
#include "diff/normal.h"
#include "diff/rename.h"

bool tr_streams_begin(struct tr_streams *streams, size_t groups)
{
	*streams = (struct tr_streams){ .places = malloc((groups + 1) * sizeof *streams->places) };
	if (streams->places)
		memset(streams->places, 0xff, (groups + 1) * sizeof *streams->places);
	return streams->places != NULL;
}

bool tr_streams_add(struct tr_streams *streams, uint32_t group, uint64_t key)
{
	if (!tr_array_room(streams->list, streams->count, streams->cap))
		return false;
	streams->places[group] = (uint32_t)streams->count;
	streams->list[streams->count++] =
		(struct tr_diff_record){ .key = key, .group = group, .match = TR_ALIGN_NONE };
	return true;
}

void tr_streams_free(struct tr_streams *streams)
{
	for (unsigned i = 0; i < 2; i++) {
		free(streams[i].list);
		free(streams[i].places);
	}
}

/* Returns the place of the stream of a record; TR_ALIGN_NONE: it is in none that needs a match. */
static uint32_t stream_of(const struct tr_streams *streams, const struct tr_diff_record *record,
			  bool threads)
{
	bool belongs = threads ? record->class == TR_DIFF_THREAD
			       : record->class == TR_DIFF_EXEC || record->class == TR_DIFF_EXIT ||
					 record->class == TR_DIFF_PROCESS;

	return belongs ? streams->places[record->group] : TR_ALIGN_NONE;
}

enum { ROUNDS = 4 /* of votes, by contents and by keys in turn */ };

/*
 * Where a hash occurs on one side: the stream that has the majority of its occurrences, if there is
 * one. The lead rises with each occurrence in this stream and falls with each one in another; at 0
 * the next stream replaces it.
 */
struct occurrences {
	uint32_t stream;
	uint16_t lead, total;
};

/* The occurrences of a hash; without any, the slot is free. */
struct slot {
	uint32_t hash; /* its lower bits */
	struct occurrences sides[2];
};

struct tally {
	struct slot *slots;
	size_t count;
};

static bool begin_tally(struct tally *tally, size_t hashes)
{
	tally->count = hashes + hashes / 4 + 1;
	tally->slots = calloc(tally->count, sizeof *tally->slots);
	return tally->slots != NULL;
}

static struct slot *find_slot(const struct tally *tally, uint64_t hash)
{
	uint64_t spread = hash * 0x9e3779b97f4a7c15;
	size_t i = (size_t)tr_wide_multiply(spread, tally->count).high;

	for (;; i = i + 1 < tally->count ? i + 1 : 0) {
		struct slot *slot = &tally->slots[i];
		if (slot->hash == (uint32_t)hash ||
		    (!slot->sides[0].total && !slot->sides[1].total))
			return slot;
	}
}

static void count_hash(struct tally *tally, unsigned side, uint64_t hash, uint32_t stream)
{
	struct slot *slot = find_slot(tally, hash);
	struct occurrences *at = &slot->sides[side];

	slot->hash = (uint32_t)hash;
	if (at->total == UINT16_MAX)
		return;
	at->total++;
	if (!at->lead)
		at->stream = stream;
	if (at->stream == stream)
		at->lead++;
	else
		at->lead--;
}

/* True if at least three quarters of the occurrences are in one stream. */
static bool has_leader(const struct occurrences *at)
{
	return at->total && 2 * at->lead >= at->total;
}

/* Removes the places of streams whose key allows at most one match, which needs no votes. */
static bool drop_unique(struct tr_streams *streams)
{
	struct tally tally;

	if (!begin_tally(&tally, streams[0].count + streams[1].count))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < streams[i].count; k++)
			count_hash(&tally, i, streams[i].list[k].key, (uint32_t)k);
	}
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < streams[i].count; k++) {
			const struct slot *slot = find_slot(&tally, streams[i].list[k].key);
			uint16_t a = slot->sides[0].total, b = slot->sides[1].total;
			if (!a || !b || (a == 1 && b == 1))
				streams[i].places[streams[i].list[k].group] = TR_ALIGN_NONE;
		}
	}
	free(tally.slots);
	return true;
}

/* True if both sides have streams whose match needs votes. */
static bool are_left(const struct tr_streams *streams)
{
	bool left = true;

	for (unsigned i = 0; i < 2; i++) {
		const struct tr_streams *side = &streams[i];
		size_t k = 0;
		while (k < side->count && side->places[side->list[k].group] == TR_ALIGN_NONE)
			k++;
		left &= k < side->count;
	}
	return left;
}

/* Adds the contents of records to those of their streams. Returns the number of these records. */
static size_t add_contents(struct tr_streams *streams, const struct tr_align_side *records,
			   bool threads)
{
	size_t count = 0;

	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < records[i].count; k++) {
			const struct tr_diff_record *record = &records[i].records[k];
			uint32_t place = stream_of(&streams[i], record, threads);
			if (place == TR_ALIGN_NONE)
				continue;
			streams[i].list[place].content += record->content;
			count++;
		}
	}
	return count;
}

/* Pairs streams with equal keys: equal ones, and then the rest in order, unless equal is true. */
static bool pair_set(struct tr_streams *streams, bool equal)
{
	struct tr_align_side sides[2];
	bool fine = true;

	for (unsigned i = 0; i < 2; i++) {
		const struct tr_streams *from = &streams[i];
		sides[i] = (struct tr_align_side){ from->list,
						   malloc((from->count + 1) * sizeof *sides->list),
						   0 };
		fine &= sides[i].list != NULL;
		for (uint32_t k = 0; fine && k < from->count; k++) {
			if (from->list[k].match == TR_ALIGN_NONE)
				sides[i].list[sides[i].count++] = k;
		}
	}
	if (fine)
		tr_align_set(&sides[0], &sides[1], equal);
	free(sides[0].list);
	free(sides[1].list);
	for (unsigned i = 0; fine && i < 2; i++) {
		for (size_t k = 0; k < streams[i].count; k++) {
			if (streams[i].list[k].match != TR_ALIGN_NONE)
				streams[i].places[streams[i].list[k].group] = TR_ALIGN_NONE;
		}
	}
	return fine;
}

/* Sorts by votes, then by place; the order does not change if the sides are exchanged. */
static int by_votes(const void *left, const void *right)
{
	const struct tr_rename *p = left, *q = right;
	uint64_t p_sum = p->a + p->b, q_sum = q->a + q->b;
	uint64_t p_apart = p->a < p->b ? p->b - p->a : p->a - p->b;
	uint64_t q_apart = q->a < q->b ? q->b - q->a : q->a - q->b;

	if (p->votes != q->votes)
		return p->votes > q->votes ? -1 : 1;
	if (p_sum != q_sum)
		return p_sum < q_sum ? -1 : 1;
	return p_apart < q_apart ? -1 : p_apart > q_apart;
}

/* Pairs streams by votes of the contents, or the keys, of their `count` records. */
static bool pair_by_votes(struct tr_streams *streams, const struct tr_align_side *records,
			  bool threads, bool keys, size_t count)
{
	struct tr_renames votes = { .list = NULL };
	struct tally tally;
	bool fine = true;

	if (!begin_tally(&tally, count))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < records[i].count; k++) {
			const struct tr_diff_record *record = &records[i].records[k];
			uint32_t place = stream_of(&streams[i], record, threads);
			if (place != TR_ALIGN_NONE)
				count_hash(&tally, i,
					   tr_number_hash(streams[i].list[place].key,
							  keys ? record->key : record->content),
					   place);
		}
	}
	for (size_t k = 0; fine && k < tally.count; k++) {
		const struct occurrences *at = tally.slots[k].sides;
		if (has_leader(&at[0]) && has_leader(&at[1]) &&
		    streams[0].list[at[0].stream].key == streams[1].list[at[1].stream].key)
			fine = tr_renames_vote(&votes, at[0].stream, at[1].stream, 1, 0);
	}
	free(tally.slots);
	if (votes.count)
		qsort(votes.list, votes.count, sizeof *votes.list, by_votes);
	for (size_t k = 0; fine && k < votes.count; k++) {
		uint32_t a = (uint32_t)votes.list[k].a, b = (uint32_t)votes.list[k].b;
		if (streams[0].list[a].match != TR_ALIGN_NONE ||
		    streams[1].list[b].match != TR_ALIGN_NONE)
			continue;
		tr_align_pair(streams[0].list, a, streams[1].list, b);
		streams[0].places[streams[0].list[a].group] = TR_ALIGN_NONE;
		streams[1].places[streams[1].list[b].group] = TR_ALIGN_NONE;
	}
	tr_renames_free(&votes);
	return fine;
}

bool tr_streams_pair(struct tr_streams *streams, const struct tr_align_side *records, bool threads,
		     bool in_order)
{
	size_t count;

	if (!streams[0].count || !streams[1].count)
		return true;
	if (streams[0].count > 1 || streams[1].count > 1) {
		if (!drop_unique(streams))
			return false;
		if (are_left(streams) && add_contents(streams, records, threads) &&
		    !pair_set(streams, true))
			return false;
		/* each round removes streams, which makes more hashes those of one stream */
		for (unsigned round = 0; round < ROUNDS && are_left(streams); round++) {
			count = add_contents(streams, records, threads);
			if (count && !pair_by_votes(streams, records, threads, round % 2, count))
				return false;
		}
	}
	return !in_order || pair_set(streams, false);
}
