/* SPDX-License-Identifier: MIT */
/*
 * Dates of traces: eight bytes, whose year is in the byte order of the machine. The bytes are
 * swapped if the year is impossible in the expected order and possible in the other one.
 */
#include "coverage/date.h"

#include <stdio.h>

enum { DATE_BYTES = 8, FIRST_YEAR = 1901, LAST_YEAR = 2399, WRITTEN = 20 };

/* The range of Ada.Calendar, which wrote the date. */
static bool is_year(unsigned year)
{
	return year >= FIRST_YEAR && year <= LAST_YEAR;
}

static bool is_leap(unsigned year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* True if the calendar has this date. A leap second is not accepted. */
static bool is_date(const struct tr_trace_date *date)
{
	static const uint8_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	if (!is_year(date->year) || date->month < 1 || date->month > 12)
		return false;
	unsigned last = days[date->month - 1] + (date->month == 2 && is_leap(date->year));
	return date->day >= 1 && date->day <= last && date->hour < 24 && date->minute < 60 &&
	       date->second < 60;
}

bool tr_trace_date_read(struct tr_text data, bool big_endian, struct tr_trace_date *date)
{
	const uint8_t *p = (const uint8_t *)data.data;

	if (data.len != DATE_BYTES)
		return false;
	unsigned big = (unsigned)p[0] << 8 | p[1], little = (unsigned)p[1] << 8 | p[0];
	unsigned year = big_endian ? big : little;
	*date = (struct tr_trace_date){ year, p[2], p[3], p[4], p[5], p[6], false };
	if (!is_year(year)) {
		date->year = big_endian ? little : big;
		date->swapped = true;
	}
	return is_date(date);
}

void tr_trace_date_put_year(unsigned year, bool big_endian, char data[2])
{
	data[big_endian ? 0 : 1] = (char)(year >> 8);
	data[big_endian ? 1 : 0] = (char)year;
}

/* Counts days in years that begin in March, so that a leap day is the last of its year. */
int64_t tr_trace_date_seconds(const struct tr_trace_date *date)
{
	enum { DAYS_TO_1970 = 719468 };
	int64_t year = (int64_t)date->year - (date->month <= 2);
	int64_t months = (date->month + 9) % 12;
	int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + (months * 153 + 2) / 5 +
		       date->day - 1 - DAYS_TO_1970;

	return ((days * 24 + date->hour) * 60 + date->minute) * 60 + date->second;
}

void tr_trace_date_write(const struct tr_trace_date *date, struct tr_buffer *to)
{
	char text[64];
	int len = snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02uZ", date->year,
			   date->month, date->day, date->hour, date->minute, date->second);

	tr_buffer_put(to, text, (size_t)len);
}

/* Reads the number of `count` digits at p. */
static bool digits(const char *p, unsigned count, unsigned *number)
{
	*number = 0;
	for (unsigned i = 0; i < count; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		*number = *number * 10 + (unsigned)(p[i] - '0');
	}
	return true;
}

bool tr_trace_date_parse_fraction(struct tr_text text, struct tr_trace_date *date,
				  struct tr_text *fraction)
{
	const char *p = text.data, *end = p + text.len;

	*date = (struct tr_trace_date){ 0 };
	if (text.len < WRITTEN || end[-1] != 'Z')
		return false;
	*fraction = tr_text_span(p + WRITTEN - 1, end - 1);
	if (fraction->len && (*fraction->data != '.' || fraction->len == 1 ||
			      tr_skip_digits(fraction->data + 1, end) != end - 1))
		return false;
	return digits(p, 4, &date->year) && p[4] == '-' && digits(p + 5, 2, &date->month) &&
	       p[7] == '-' && digits(p + 8, 2, &date->day) && p[10] == 'T' &&
	       digits(p + 11, 2, &date->hour) && p[13] == ':' && digits(p + 14, 2, &date->minute) &&
	       p[16] == ':' && digits(p + 17, 2, &date->second) && is_date(date);
}

bool tr_trace_date_parse(struct tr_text text, struct tr_trace_date *date)
{
	struct tr_text fraction;

	return tr_trace_date_parse_fraction(text, date, &fraction) && !fraction.len;
}
