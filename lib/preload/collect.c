/* SPDX-License-Identifier: MIT */
/*
 * Collects the file calls of all lanes: see decode.h. A record that is reserved in a lane but not
 * yet complete, which its sum shows, ends the pass over this lane, because its length is unknown.
 * If its writer has died, the bytes up to the next record that is complete are skipped after a
 * while.
 */
#include "preload/decode.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/journal.h"

/* Nanoseconds after which the writer of an incomplete record is assumed to be dead. */
static const uint64_t writer_timeout = UINT64_C(2000000000);

static bool add(struct tr_collect *collect, uint64_t time, size_t place)
{
	if (!tr_array_room(collect->list, collect->count, collect->cap)) {
		collect->failed = true;
		return false;
	}
	collect->list[collect->count++] = (struct tr_collected){ time, place };
	return true;
}

/* Returns the length of the record at p; 0: it is not complete. place: as in tr_call_sum. */
static uint32_t complete_length(const struct tr_collect *collect, const char *p, size_t len,
				uint64_t place)
{
	const struct tr_call_record *record = (const void *)p;
	unsigned strings = 0;

	if (len < sizeof *record || record->length < sizeof *record || record->length > len ||
	    record->length % 8 || record->sum != tr_call_sum(collect->mark, place, record))
		return 0;
	for (const char *s = p + sizeof *record, *end = p + record->length;
	     strings < record->strings; strings++, s++)
		if (!(s = memchr(s, '\0', (size_t)(end - s))))
			return 0;
	return record->kind && record->kind < TR_CALLS ? record->length : 0;
}

/* Reads a lane. skip: bytes that are no record are skipped. False: it has an incomplete record. */
static bool read_lane(struct tr_collect *collect, unsigned lane, bool skip)
{
	_Atomic uint64_t *used = &collect->page->used[lane];
	uint64_t reserved = atomic_load_explicit(used, memory_order_acquire);
	uint32_t end = (uint32_t)reserved, at = collect->at[lane];
	bool complete = true, torn = false; /* torn: the bytes before are no record */

	if (end > TR_LANE_SIZE || end <= at)
		return true;
	size_t begin = collect->bytes.len, len = end - at;
	char *room = tr_buffer_room(&collect->bytes, len);
	ssize_t got = room ? pread(collect->fd, room, len,
				   TR_LANES_PAGE + (off_t)lane * TR_LANE_SIZE + at)
			   : -1;
	if (got != (ssize_t)len) {
		collect->failed = true;
		return true;
	}
	size_t done = 0;
	while (done < len) {
		uint64_t place = (reserved & ~(uint64_t)UINT32_MAX) | (at + done);
		uint32_t size = complete_length(collect, room + done, len - done, place);
		const struct tr_call_record *record = (const void *)(room + done);
		complete = size || skip;
		if (!complete || (size && !add(collect, record->time, begin + done)))
			break;
		if (!size && !torn) {
			collect->torn++;
			collect->torn_in[lane] = true;
		}
		torn = !size;
		done += size ? size : 8; /* records begin at multiples of eight bytes */
	}
	tr_buffer_used(&collect->bytes, done);
	collect->at[lane] = at + (uint32_t)done;
	if (collect->at[lane] == end && !collect->torn_in[lane] &&
	    atomic_compare_exchange_strong(used, &reserved, ((reserved >> 32) + 1) << 32))
		collect->at[lane] = 0;
	return complete;
}

static int by_time(const void *a, const void *b)
{
	const struct tr_collected *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Removes the records that tr_collect_next has returned, and their bytes. */
static void compact(struct tr_collect *collect)
{
	size_t first = collect->bytes.len;

	collect->count -= collect->next;
	memmove(collect->list, collect->list + collect->next,
		collect->count * sizeof *collect->list);
	collect->next = 0;
	for (size_t i = 0; i < collect->count; i++)
		if (collect->list[i].place < first)
			first = collect->list[i].place;
	for (size_t i = 0; i < collect->count; i++)
		collect->list[i].place -= first;
	collect->bytes.len -= first;
	memmove(collect->bytes.data, collect->bytes.data + first, collect->bytes.len);
}

static bool read_lanes(struct tr_collect *collect, bool skip)
{
	uint32_t count = atomic_load_explicit(&collect->page->count, memory_order_acquire);
	bool complete = true;

	for (uint32_t lane = 0; lane < count && lane < TR_LANES; lane++)
		complete &= read_lane(collect, lane, skip);
	return complete;
}

void tr_collect_pass(struct tr_collect *collect, uint64_t now, bool final)
{
	bool sorted = true;

	if (collect->next)
		compact(collect);
	bool complete = read_lanes(collect, final);
	if (!complete && collect->stuck && now - collect->stuck > writer_timeout)
		complete = read_lanes(collect, true);
	if (complete) {
		collect->stuck = 0;
		collect->horizon = final ? UINT64_MAX : now;
	} else if (!collect->stuck) {
		collect->stuck = now;
	}
	for (size_t i = 1; i < collect->count && sorted; i++)
		sorted = collect->list[i - 1].time <= collect->list[i].time;
	if (!sorted)
		qsort(collect->list, collect->count, sizeof *collect->list, by_time);
}

const struct tr_call_record *tr_collect_next(struct tr_collect *collect, uint64_t until)
{
	if (collect->next == collect->count || collect->list[collect->next].time > until)
		return NULL;
	return (const void *)(collect->bytes.data + collect->list[collect->next++].place);
}

const char *tr_call_string(const struct tr_call_record *call, unsigned number)
{
	const char *string = (const char *)(call + 1);

	if (number >= call->strings)
		return NULL;
	while (number--)
		string += strlen(string) + 1;
	return string;
}

void tr_collect_free(struct tr_collect *collect)
{
	free(collect->list);
	tr_buffer_free(&collect->bytes);
}
