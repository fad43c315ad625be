/* SPDX-License-Identifier: MIT */
/*
 * The date of an execution trace: eight bytes, two of which are the year. Its byte order is not
 * documented: it is that of the section, or the other one if that gives an implausible year.
 * Thread safe.
 */
#ifndef TR_COVERAGE_DATE_H
#define TR_COVERAGE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

struct tr_trace_date {
	unsigned year, month, day, hour, minute, second; /* UTC */
	bool swapped; /* the year is in the other byte order than the section */
};

/* Reads a date. False: the data are not eight bytes, or not a date. */
bool tr_trace_date_read(struct tr_text data, bool big_endian, struct tr_trace_date *date);

/* Writes the year, the only part with a byte order. */
void tr_trace_date_put_year(unsigned year, bool big_endian, char data[2]);

/* Returns the seconds since 1970 in UTC. */
int64_t tr_trace_date_seconds(const struct tr_trace_date *date);

/* Appends 2012-02-21T08:00:37Z, and parses it (false: it is not a date). */
void tr_trace_date_write(const struct tr_trace_date *date, struct tr_buffer *to);
bool tr_trace_date_parse(struct tr_text text, struct tr_trace_date *date);

/*
 * Parses 2012-02-21T08:00:37.25Z. *fraction: the point and the digits after it, in text; empty:
 * there is none. False: it is not a date.
 */
bool tr_trace_date_parse_fraction(struct tr_text text, struct tr_trace_date *date,
				  struct tr_text *fraction);

#endif
