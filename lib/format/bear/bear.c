/* SPDX-License-Identifier: MIT */
#include <time.h>

#include "coverage/date.h"
#include "format/bear/bear.h"

enum { WHOLE = sizeof "2026-11-21T00:29:13" - 1, MOST_DIGITS = 18 };

static bool all_digits(struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len > 0;
}

bool tr_bear_time_read(struct tr_text timestamp, struct tr_buffer *seconds)
{
	struct tr_trace_date date;
	char whole[WHOLE + 1];
	size_t len = timestamp.len;

	if (len < WHOLE + 1 || timestamp.data[len - 1] != 'Z')
		return false;
	struct tr_text rest = { timestamp.data + WHOLE, len - WHOLE - 1 };
	if (rest.len &&
	    (rest.data[0] != '.' || !all_digits((struct tr_text){ rest.data + 1, rest.len - 1 })))
		return false;
	memcpy(whole, timestamp.data, WHOLE);
	whole[WHOLE] = 'Z';
	if (!tr_trace_date_parse((struct tr_text){ whole, sizeof whole }, &date))
		return false;
	int64_t number = tr_trace_date_seconds(&date);
	if (number < 0)
		return false;
	tr_buffer_put_decimal(seconds, (uint64_t)number);
	tr_buffer_put_text(seconds, rest);
	return true;
}

bool tr_bear_time_write(struct tr_text seconds, struct tr_buffer *timestamp)
{
	const char *point = seconds.len ? memchr(seconds.data, '.', seconds.len) : NULL;
	const char *end = seconds.data + seconds.len;
	struct tr_text whole = tr_text_span(seconds.data, point ? point : end);
	struct tr_text digits = point ? tr_text_span(point + 1, end) : TR_TEXT("");
	time_t number = 0;
	struct tm tm;

	if (!all_digits(whole) || whole.len > MOST_DIGITS || (point && !all_digits(digits)))
		return false;
	for (size_t i = 0; i < whole.len; i++)
		number = number * 10 + (whole.data[i] - '0');
	if (!gmtime_r(&number, &tm) || tm.tm_year + 1900 > 9999)
		return false;
	struct tr_trace_date date = {
		(unsigned)tm.tm_year + 1900,
		(unsigned)tm.tm_mon + 1,
		(unsigned)tm.tm_mday,
		(unsigned)tm.tm_hour,
		(unsigned)tm.tm_min,
		(unsigned)tm.tm_sec,
		false,
	};
	tr_trace_date_write(&date, timestamp);
	if (timestamp->len && !timestamp->failed)
		timestamp->len--; /* the Z */
	if (point) {
		tr_buffer_put_byte(timestamp, '.');
		tr_buffer_put_text(timestamp, digits);
	}
	tr_buffer_put_byte(timestamp, 'Z');
	return true;
}

static const char *const extensions[] = { ".bear.json", ".events.json", NULL };

static const struct tr_format_option options[] = {
	{ "version", "3|4", false, true, "write events as this version of Bear (default 3)" },
	{ "intercept", "strip|keep", true, false,
	  "variables that Bear puts into the environment: left out (default), or kept" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_bear = {
	.name = "bear",
	.summary = "Bear's intercepted executions, JSON lines",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_HEADS |
		 TR_FORMAT_FORKLESS,
	.extensions = extensions,
	.options = options,
	.bid = tr_bear_bid,
	.open = tr_bear_open,
	.create = tr_bear_create,
	.default_style = "tree",
};
