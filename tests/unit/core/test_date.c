/* SPDX-License-Identifier: MIT */
#include "core/date.h"

#include "tap.h"

/*
 * Parses a date without a fraction, and checks that it is written the same way; -1: it is invalid.
 */
static int64_t seconds(const char *text)
{
	struct tr_date date;
	struct tr_text fraction;
	struct tr_buffer again = TR_BUFFER_INIT;
	if (!tr_date_parse(tr_text_from(text), &date, &fraction) || fraction.len)
		return -1;
	tr_date_write(&date, &again);
	bool same = tr_text_is(tr_buffer_text(&again), text);
	tr_buffer_free(&again);
	return same ? tr_date_seconds(&date) : -1;
}

/* Returns the fraction, which is "invalid" for text that is not a date. */
static struct tr_text fraction_of(const char *text)
{
	struct tr_date date;
	struct tr_text fraction;
	return tr_date_parse(tr_text_from(text), &date, &fraction) ? fraction : TR_TEXT("invalid");
}

int main(void)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} dates[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2000-03-01T00:00:00Z", 951868800 },
		{ "2012-02-21T08:00:37Z", 1329811237 },
		{ "2012-02-29T23:59:59Z", 1330559999 },
		{ "1969-12-31T23:59:58Z", -2 },
		{ "0000-01-01T00:00:00Z", INT64_C(-62167219200) },
		{ "9999-12-31T23:59:59Z", INT64_C(253402300799) },
		{ "2011-02-29T00:00:00Z", -1 },
		{ "1900-02-29T00:00:00Z", -1 },
		{ "2012-02-30T08:00:37Z", -1 },
		{ "2012-00-01T00:00:00Z", -1 },
		{ "2012-13-01T00:00:00Z", -1 },
		{ "2012-01-00T00:00:00Z", -1 },
		{ "2012-01-01T24:00:00Z", -1 },
		{ "2012-01-01T00:60:00Z", -1 },
		{ "2012-01-01T00:00:60Z", -1 },
		{ "2012-02-21 08:00:37Z", -1 },
		{ "2012-02-21T08:00:37.5Z", -1 },
	};
	for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
		ok(seconds(dates[i].text) == dates[i].seconds, "%s", dates[i].text);
	ok(tr_text_is(fraction_of("2012-02-21T08:00:37.25Z"), ".25"), "a fraction");
	static const char *const invalid[] = { "2012-02-21T08:00:37.Z", "2012-02-21T08:00:375Z",
					       "2012-02-21T08:00:37.5", "2012-02-21T08:00:37" };
	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
		ok(tr_text_is(fraction_of(invalid[i]), "invalid"), "%s", invalid[i]);
	return done_testing();
}
