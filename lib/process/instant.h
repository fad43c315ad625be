/* SPDX-License-Identifier: MIT */
/* Points in time and lengths of time, as records state them: whole nanoseconds. */
#ifndef TR_PROCESS_INSTANT_H
#define TR_PROCESS_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "record/record.h"

#define TR_INSTANT_NONE INT64_MIN
#define TR_INSTANT_MAX (INT64_MAX / 2) /* and as far below 0: any two have a difference */
enum { TR_INSTANT_SECOND = 1000000000 };

/*
 * A time cell, or the text of a value: decimal seconds. Digits beyond the
 * ninth are cut. NONE: absent, no such number, or beyond 146 years.
 */
int64_t tr_instant_from_cell(const struct tr_cell *cell);
int64_t tr_instant_from_text(struct tr_text text);

/*
 * A field that holds seconds, as a number of any type; *instant is NONE where
 * it is not there, or is none. False: memory is out.
 */
bool tr_instant_from_field(struct tr_record *record, const char *key, int64_t *instant);

/* Appends seconds with this many digits behind the point (0 to 9), rounded. */
void tr_instant_write(int64_t instant, unsigned digits, struct tr_buffer *to);

/* Appends microseconds, with three digits behind the point where these are not 0. */
void tr_instant_write_micro(int64_t instant, struct tr_buffer *to);

#endif
