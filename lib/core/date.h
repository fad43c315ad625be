/* SPDX-License-Identifier: MIT */
/* Dates and times of day in UTC. Thread safe. */
#ifndef TR_CORE_DATE_H
#define TR_CORE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

struct tr_date {
	unsigned year, month, day, hour, minute, second;
};

/* Returns whether the calendar has this day. */
bool tr_date_is_day(unsigned year, unsigned month, unsigned day);

/* Returns whether the calendar has this day, and the day this time. It has no leap second. */
bool tr_date_is_valid(const struct tr_date *date);

/* Returns the seconds since 1970. The time may exceed its ranges. */
int64_t tr_date_seconds(const struct tr_date *date);

/* Appends 2012-02-21T08:00:37Z. */
void tr_date_write(const struct tr_date *date, struct tr_buffer *to);

/*
 * Parses 2012-02-21T08:00:37.25Z. *fraction: the point and the digits after it, in text; empty:
 * there is none. False: it is not a valid date.
 */
bool tr_date_parse(struct tr_text text, struct tr_date *date, struct tr_text *fraction);

#endif
