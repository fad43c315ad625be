/* SPDX-License-Identifier: MIT */
/*
 * Counts of texts: an array of entries, how to find them, and the entries of recent texts, of which
 * one is often the next one too.
 */
#include "view/tally.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const void *entries, uint32_t number)
{
	return ((const struct tr_tally_entry *)entries)[number].hash;
}

/* Adds an entry, as the next one of the array. False: memory is exhausted. */
static bool add(struct tr_tally *tally, struct tr_text bytes, uint64_t hash)
{
	if (!tr_array_room(tally->entries, tally->count, tally->cap))
		return false;
	tally->entries[tally->count] = (struct tr_tally_entry){
		.hash = hash,
		.offset = (uint32_t)tally->texts.len,
		.len = (uint32_t)bytes.len,
	};
	tr_buffer_put_text(&tally->texts, bytes);
	return !tally->texts.failed;
}

/*
 * Finds a text that is a number, such as the id of a task, in a map of numbers, and others by their
 * hash. Beyond the limits, new texts share an entry: a trace with a new name in each record must
 * not exhaust the memory.
 */
static uint32_t find_or_add(struct tr_tally *tally, struct tr_text bytes)
{
	uint32_t entry, first;
	uint64_t number = 0, hash = 0;
	bool is_number = tr_decimal_id(bytes, &number);

	if (!tally->seed) {
		tally->seed = tr_hash_seed(tally) | 1;
		tally->index.hash = hash_of;
		tr_buffer_put_byte(&tally->texts, '\0'); /* an empty text has an address, too */
	}
	if (!is_number)
		hash = tr_text_hash(tally->seed, bytes);
	if (is_number ? tr_number_map_get(&tally->numbers, number, &entry)
		      : tr_index_find(&tally->index, tally->entries, hash, &entry))
		return entry;
	if (tally->count >= TR_TALLY_MAX || bytes.len > TR_TALLY_BYTES - tally->texts.len)
		return TR_TALLY_BEYOND;
	entry = (uint32_t)tally->count;
	if (!add(tally, bytes, hash) ||
	    !(is_number ? tr_number_map_put(&tally->numbers, number, entry)
			: tr_index_add(&tally->index, tally->entries, entry, &first)))
		return TR_TALLY_NONE;
	tally->count++;
	return entry;
}

/* Returns the place in `recent` for a text; texts that come shortly after it seldom share it. */
static uint32_t *recent_of(struct tr_tally *tally, struct tr_text bytes)
{
	enum { PLACES = sizeof tally->recent / sizeof *tally->recent };
	const unsigned char *p = (const unsigned char *)bytes.data;
	size_t place = bytes.len;

	if (bytes.len > 1)
		place += p[bytes.len - 1] + 10u * p[bytes.len - 2] + p[0];
	return &tally->recent[place % PLACES];
}

uint32_t tr_tally_count(struct tr_tally *tally, struct tr_text bytes)
{
	uint32_t *recent = recent_of(tally, bytes), entry = *recent;

	tally->total++;
	if (!tally->count || !tr_text_equal(tr_tally_text(tally, entry), bytes)) {
		entry = find_or_add(tally, bytes);
		if (entry == TR_TALLY_NONE)
			tally->failed = true;
		tally->beyond += entry == TR_TALLY_BEYOND;
		if (entry == TR_TALLY_NONE || entry == TR_TALLY_BEYOND)
			return entry;
		*recent = entry;
	}
	tally->entries[entry].count++;
	return entry;
}

void tr_tally_time(struct tr_tally *tally, uint32_t entry, int64_t duration)
{
	if (entry == TR_TALLY_NONE)
		return;
	tally->timed = true;
	if (entry == TR_TALLY_BEYOND)
		return;
	if (entry >= tally->time_count) {
		if (!tr_array_grow(&tally->times, &tally->time_cap, entry + 1,
				   sizeof *tally->times)) {
			tally->failed = true;
			return;
		}
		memset(tally->times + tally->time_count, 0,
		       (entry + 1 - tally->time_count) * sizeof *tally->times);
		tally->time_count = entry + 1;
	}
	struct tr_tally_time *time = &tally->times[entry];
	time->count++;
	if (__builtin_add_overflow(time->total, duration, &time->total))
		time->total = INT64_MAX;
	if (duration > time->longest)
		time->longest = duration;
}

struct tr_tally_time tr_tally_times(const struct tr_tally *tally, uint32_t entry)
{
	return entry < tally->time_count ? tally->times[entry] : (struct tr_tally_time){ 0 };
}

/*
 * The order of a table: the longest total time first, then the highest count, then by bytes, so
 * that the same trace always gives the same table.
 */
static int compare(const void *a, const void *b, void *context)
{
	const struct tr_tally *tally = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t time = tr_tally_times(tally, x).total, other = tr_tally_times(tally, y).total;

	if (time != other)
		return time < other ? 1 : -1;
	if (tally->entries[x].count != tally->entries[y].count)
		return tally->entries[x].count < tally->entries[y].count ? 1 : -1;
	return tr_text_compare(tr_tally_text(tally, x), tr_tally_text(tally, y));
}

/*
 * Inserts an entry into the first `room` ones of a sorted list, of which the last one may drop out.
 */
static void insert(const struct tr_tally *tally, uint32_t *list, size_t *count, size_t room,
		   uint32_t entry)
{
	size_t at = *count;

	while (at && compare(&entry, &list[at - 1], (void *)tally) < 0)
		at--;
	if (at == room)
		return;
	*count += *count < room;
	memmove(list + at + 1, list + at, (*count - at - 1) * sizeof *list);
	list[at] = entry;
}

bool tr_tally_top(const struct tr_tally *tally, size_t top, uint32_t **list, size_t *count)
{
	enum { FEW = 64 }; /* are inserted one by one, so that not all are sorted */
	bool few = top && top <= FEW;

	*count = 0;
	*list = malloc(((few ? top : tally->count) + 1) * sizeof **list);
	if (!*list)
		return false;
	for (uint32_t i = 0; i < tally->count; i++) {
		if (few)
			insert(tally, *list, count, top, i);
		else
			(*list)[(*count)++] = i;
	}
	if (!few)
		qsort_r(*list, *count, sizeof **list, compare, (void *)tally);
	if (top && *count > top)
		*count = top;
	return true;
}

void tr_tally_free(struct tr_tally *tally)
{
	tr_number_map_free(&tally->numbers);
	tr_index_free(&tally->index);
	free(tally->entries);
	free(tally->times);
	tr_buffer_free(&tally->texts);
}
