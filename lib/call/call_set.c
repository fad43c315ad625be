/*
 * Ranges that have all their numbers are merged and found by bisection. The
 * others are looked at from the last one that begins in time, backwards, for
 * as long as one before can reach the number.
 */
#include "call/call_set.h"

#include <stdlib.h>

static bool append(struct tr_call_ranges *ranges, const struct tr_call_range *range)
{
	if (ranges->count == ranges->cap) {
		size_t cap = ranges->cap ? ranges->cap * 2 : 8;
		struct tr_call_range *larger = reallocarray(ranges->list, cap, sizeof *larger);
		if (!larger)
			return false;
		ranges->list = larger;
		ranges->cap = cap;
	}
	ranges->list[ranges->count++] = *range;
	return true;
}

bool tr_call_set_put(struct tr_call_set *set, const struct tr_call_range *range)
{
	bool whole = !range->kinds && (range->step == 1 || range->first == range->last);

	return append(whole ? &set->whole : &set->filtered, range);
}

static int by_first(const void *a, const void *b)
{
	const struct tr_call_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static void sort(struct tr_call_ranges *ranges)
{
	uint64_t reach = 0;

	if (ranges->count > 1)
		qsort(ranges->list, ranges->count, sizeof *ranges->list, by_first);
	for (size_t i = 0; i < ranges->count; i++) {
		struct tr_call_range *range = &ranges->list[i];
		range->reach = reach = range->last > reach ? range->last : reach;
	}
}

/* Makes one of those that overlap or follow one another. */
static void merge(struct tr_call_ranges *ranges)
{
	size_t kept = 0;

	for (size_t i = 0; i < ranges->count; i++) {
		struct tr_call_range range = ranges->list[i];
		struct tr_call_range *before = kept ? &ranges->list[kept - 1] : NULL;
		if (before && (range.first <= before->last || range.first - before->last == 1))
			before->last = before->last > range.last ? before->last : range.last;
		else
			ranges->list[kept++] = range;
	}
	ranges->count = kept;
}

void tr_call_set_sort(struct tr_call_set *set)
{
	sort(&set->whole);
	merge(&set->whole);
	sort(&set->filtered);
}

/* How many begin at or before number. */
static size_t begun(const struct tr_call_ranges *ranges, uint64_t number)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->list[middle].first <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tr_call_set_has(const struct tr_call_set *set, uint64_t number, unsigned kinds)
{
	size_t count = begun(&set->whole, number);

	if (count && number <= set->whole.list[count - 1].last)
		return true;
	for (count = begun(&set->filtered, number); count; count--) {
		const struct tr_call_range *range = &set->filtered.list[count - 1];
		if (range->reach < number)
			break;
		if (number <= range->last && (number - range->first) % range->step == 0 &&
		    (!range->kinds || (range->kinds & kinds)))
			return true;
	}
	return false;
}

enum tr_call_set_rest tr_call_set_rest(const struct tr_call_set *set, uint64_t number)
{
	const struct tr_call_ranges *whole = &set->whole, *filtered = &set->filtered;

	if (whole->count) {
		const struct tr_call_range *last = &whole->list[whole->count - 1];
		if (last->last == UINT64_MAX && last->first <= number)
			return TR_CALL_SET_ALL;
		if (last->last >= number)
			return TR_CALL_SET_SOME;
	}
	if (filtered->count && filtered->list[filtered->count - 1].reach >= number)
		return TR_CALL_SET_SOME;
	return TR_CALL_SET_NONE;
}

void tr_call_set_free(struct tr_call_set *set)
{
	free(set->whole.list);
	free(set->filtered.list);
	*set = (struct tr_call_set){ 0 };
}
