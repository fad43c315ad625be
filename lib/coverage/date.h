/* SPDX-License-Identifier: MIT */
/*
 * The date of an execution trace: eight bytes, of which two are a year whose
 * byte order nobody states. It is the section's; where that gives no year that
 * anyone lives in, it is the other one.
 */
#ifndef TR_COVERAGE_DATE_H
#define TR_COVERAGE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

struct tr_trace_date {
	unsigned year, month, day, hour, minute, second; /* UTC */
	bool swapped;					 /* the year is in the other byte order */
};

/* False: the data is not eight bytes, or no date. */
bool tr_trace_date_read(struct tr_text data, bool big_endian, struct tr_trace_date *date);

/* The year where it belongs; the other bytes know no order. */
void tr_trace_date_put_year(unsigned year, bool big_endian, char data[2]);

/* Seconds since 1970. */
int64_t tr_trace_date_seconds(const struct tr_trace_date *date);

/* Appends 2012-02-21T08:00:37Z, and reads it back (false: it is none). */
void tr_trace_date_write(const struct tr_trace_date *date, struct tr_buffer *to);
bool tr_trace_date_parse(struct tr_text text, struct tr_trace_date *date);

#endif
