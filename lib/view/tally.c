/* SPDX-License-Identifier: MIT */
/*
 * Counts of texts: a map from text to entry, and the entry of the last text, which is often the
 * next one too.
 */
#include "view/tally.h"

#include <stdlib.h>
#include <string.h>

/* An entry for a text, in the arena. NULL: memory is exhausted. */
static struct tr_tally_entry *add(struct tr_tally *tally, struct tr_text bytes)
{
	struct tr_tally_entry *entry = tr_arena_alloc(&tally->arena, sizeof *entry + bytes.len);

	if (!entry)
		return NULL;
	memset(entry, 0, sizeof *entry);
	entry->len = bytes.len;
	if (bytes.len)
		memcpy(entry->bytes, bytes.data, bytes.len);
	return entry;
}

/*
 * Beyond the limits new texts share an entry: a trace with a new name in each record must not
 * exhaust the memory.
 */
static struct tr_tally_entry *find_or_add(struct tr_tally *tally, struct tr_text bytes)
{
	struct tr_tally_entry *entry = tr_map_get(&tally->map, bytes);

	if (entry)
		return entry;
	if (tally->map.count >= TR_TALLY_MAX || bytes.len > TR_TALLY_BYTES - tally->bytes) {
		if (!tally->beyond)
			tally->beyond = add(tally, TR_TEXT(""));
		return tally->beyond;
	}
	entry = add(tally, bytes);
	tally->bytes += bytes.len;
	if (!entry || !tr_map_put(&tally->map, tr_tally_text(entry), entry))
		return NULL;
	return entry;
}

struct tr_tally_entry *tr_tally_count(struct tr_tally *tally, struct tr_text bytes)
{
	struct tr_tally_entry *entry = tally->last;

	tally->total++;
	if (!entry || entry == tally->beyond || !tr_text_equal(tr_tally_text(entry), bytes)) {
		entry = find_or_add(tally, bytes);
		if (!entry) {
			tally->failed = true;
			return NULL;
		}
		tally->last = entry;
	}
	entry->count++;
	return entry;
}

void tr_tally_time(struct tr_tally *tally, struct tr_tally_entry *entry, int64_t duration)
{
	if (!entry)
		return;
	tally->timed = true;
	entry->timed++;
	if (__builtin_add_overflow(entry->total, duration, &entry->total))
		entry->total = INT64_MAX;
	if (duration > entry->longest)
		entry->longest = duration;
}

/*
 * The order of a table: the longest total time first, then the highest count, then by bytes, so
 * that the same trace always gives the same table.
 */
static int compare(const void *a, const void *b)
{
	const struct tr_tally_entry *x = *(struct tr_tally_entry *const *)a;
	const struct tr_tally_entry *y = *(struct tr_tally_entry *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	int order = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

bool tr_tally_top(const struct tr_tally *tally, size_t top, struct tr_tally_entry ***list,
		  size_t *count)
{
	size_t position = 0;
	struct tr_tally_entry *entry;

	*count = 0;
	*list = malloc((tally->map.count + 1) * sizeof **list);
	if (!*list)
		return false;
	while ((entry = tr_map_next(&tally->map, &position)))
		(*list)[(*count)++] = entry;
	qsort(*list, *count, sizeof **list, compare);
	if (top && *count > top)
		*count = top;
	return true;
}

void tr_tally_free(struct tr_tally *tally)
{
	tr_map_free(&tally->map);
	tr_arena_free(&tally->arena);
}
