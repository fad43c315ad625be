/* SPDX-License-Identifier: MIT */
/* The calendar, which the C library offers only for years that fit in its time_t. */
#include "core/date.h"

#include <stdio.h>

enum { SECONDS_END = 19 }; /* of 2012-02-21T08:00:37 */

bool tr_date_is_day(unsigned year, unsigned month, unsigned day)
{
	static const uint8_t days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
		return false;
	return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
}

bool tr_date_is_valid(const struct tr_date *date)
{
	return tr_date_is_day(date->year, date->month, date->day) && date->hour < 24 &&
	       date->minute < 60 && date->second < 60;
}

/*
 * Counts days in years that begin in March, so that a leap day is the last of its year. The first
 * of them begins 400 years before year 0, so that no number is negative.
 */
int64_t tr_date_seconds(const struct tr_date *date)
{
	enum { DAYS_TO_1970 = 719468 + 146097 };
	int64_t year = (int64_t)date->year + 400 - (date->month <= 2);
	int64_t months = (date->month + 9) % 12;
	int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + (months * 153 + 2) / 5 +
		       date->day - 1 - DAYS_TO_1970;

	return ((days * 24 + date->hour) * 60 + date->minute) * 60 + date->second;
}

void tr_date_write(const struct tr_date *date, struct tr_buffer *to)
{
	char text[64];
	int len = snprintf(text, sizeof text, "%04u-%02u-%02uT%02u:%02u:%02uZ", date->year,
			   date->month, date->day, date->hour, date->minute, date->second);

	tr_buffer_put(to, text, (size_t)len);
}

/* Reads the number of `count` digits at p. */
static bool digits(const char *p, unsigned count, unsigned *number)
{
	uint64_t value;
	bool valid = tr_decimal_read((struct tr_text){ p, count }, UINT32_MAX, &value);

	*number = (unsigned)value;
	return valid;
}

bool tr_date_parse(struct tr_text text, struct tr_date *date, struct tr_text *fraction)
{
	const char *p = text.data, *end = p + text.len;

	*date = (struct tr_date){ 0 };
	if (text.len <= SECONDS_END || end[-1] != 'Z')
		return false;
	*fraction = tr_text_span(p + SECONDS_END, end - 1);
	if (fraction->len && (*fraction->data != '.' || fraction->len == 1 ||
			      tr_skip_digits(fraction->data + 1, end) != end - 1))
		return false;
	return digits(p, 4, &date->year) && p[4] == '-' && digits(p + 5, 2, &date->month) &&
	       p[7] == '-' && digits(p + 8, 2, &date->day) && p[10] == 'T' &&
	       digits(p + 11, 2, &date->hour) && p[13] == ':' && digits(p + 14, 2, &date->minute) &&
	       p[16] == ':' && digits(p + 17, 2, &date->second) && tr_date_is_valid(date);
}
