/* SPDX-License-Identifier: MIT */
/* Points in time, and durations, of records: whole nanoseconds. */
#ifndef TR_PROCESS_INSTANT_H
#define TR_PROCESS_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "record/record.h"

#define TR_INSTANT_NONE INT64_MIN
#define TR_INSTANT_MAX (INT64_MAX / 2) /* the least is -MAX, so differences do not overflow */
enum { TR_INSTANT_SECOND = 1000000000 };

/*
 * A time cell, or the text of a value: decimal seconds, of which digits after the ninth are cut.
 * NONE: it is absent, is no such number, or exceeds 146 years.
 */
int64_t tr_instant_from_cell(const struct tr_cell *cell);
int64_t tr_instant_from_text(struct tr_text text);

/*
 * Reads a field of seconds, which may have any numeric type; *instant is NONE if it is absent or no
 * number. False: memory is exhausted.
 */
bool tr_instant_from_field(struct tr_record *record, const char *key, int64_t *instant);

/* The time from begin to end; NONE if one of them is unknown, or end is before begin. */
static inline int64_t tr_instant_between(int64_t begin, int64_t end)
{
	bool known = begin != TR_INSTANT_NONE && end != TR_INSTANT_NONE;

	return known && end >= begin ? end - begin : TR_INSTANT_NONE;
}

/* Appends seconds with this many digits after the point (0 to 9), rounded. */
void tr_instant_write(int64_t instant, unsigned digits, struct tr_buffer *to);

/* Appends microseconds, with three digits after the point unless these are 0. */
void tr_instant_write_micro(int64_t instant, struct tr_buffer *to);

#endif
