/* SPDX-License-Identifier: MIT */
#include "coverage/date.h"

#include "tap.h"

static bool reads(const char *bytes, bool big, const char *want, bool swapped)
{
	struct tr_trace_date date, again;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text data = { bytes, 8 };
	if (!tr_trace_date_read(data, big, &date))
		return want == NULL;
	tr_trace_date_write(&date, &text);
	bool good = want && tr_text_is(tr_buffer_text(&text), want) && date.swapped == swapped &&
		    tr_trace_date_parse(tr_buffer_text(&text), &again) &&
		    tr_trace_date_seconds(&again) == tr_trace_date_seconds(&date);
	tr_buffer_free(&text);
	return good;
}

static int64_t seconds(const char *text)
{
	struct tr_trace_date date;
	return tr_trace_date_parse(tr_text_from(text), &date) ? tr_trace_date_seconds(&date) : -1;
}

int main(void)
{
	ok(reads("\xdc\7\2\x15\x8\0\x25\0", false, "2012-02-21T08:00:37Z", false), "little");
	ok(reads("\7\xdc\2\x15\x8\0\x25\0", true, "2012-02-21T08:00:37Z", false), "big");
	ok(reads("\xdc\7\2\x15\x8\0\x25\0", true, "2012-02-21T08:00:37Z", true), "swapped");
	ok(reads("\xdc\7\2\x1d\x17\x3b\x3b\0", false, "2012-02-29T23:59:59Z", false), "leap day");
	ok(reads("\xdb\7\2\x1d\x17\x3b\x3b\0", false, NULL, false), "no leap year");
	ok(reads("\xdc\7\xd\1\0\0\0\0", false, NULL, false), "month 13");
	ok(reads("\xdc\7\0\1\0\0\0\0", false, NULL, false), "month 0");
	ok(reads("\xdc\7\1\1\x18\0\0\0", false, NULL, false), "hour 24");
	ok(reads("\0\0\1\1\0\0\0\0", false, NULL, false), "year 0");
	struct tr_trace_date date;
	ok(!tr_trace_date_read((struct tr_text){ "1234567", 7 }, false, &date), "seven bytes");
	ok(seconds("1970-01-01T00:00:00Z") == 0, "the epoch");
	ok(seconds("2000-03-01T00:00:00Z") == 951868800, "after a leap day");
	ok(seconds("2012-02-21T08:00:37Z") == 1329811237, "the page's example");
	ok(seconds("1969-12-31T23:59:59Z") == -1, "before the epoch");
	ok(!tr_trace_date_parse(TR_TEXT("2012-02-30T08:00:37Z"), &date), "February 30");
	ok(!tr_trace_date_parse(TR_TEXT("2012-02-21 08:00:37Z"), &date), "no T");
	struct tr_text fraction;
	ok(tr_trace_date_parse_fraction(TR_TEXT("2012-02-21T08:00:37.25Z"), &date, &fraction) &&
		   tr_text_is(fraction, ".25") && date.second == 37,
	   "a fraction");
	ok(!tr_trace_date_parse_fraction(TR_TEXT("2012-02-21T08:00:37.Z"), &date, &fraction),
	   "a point without digits");
	ok(!tr_trace_date_parse_fraction(TR_TEXT("2012-02-21T08:00:375Z"), &date, &fraction),
	   "digits without a point");
	ok(!tr_trace_date_parse_fraction(TR_TEXT("2012-02-21T08:00:37.5"), &date, &fraction),
	   "no Z");
	ok(!tr_trace_date_parse(TR_TEXT("2012-02-21T08:00:37.5Z"), &date), "no fraction is wanted");
	char year[2];
	tr_trace_date_put_year(2012, true, year);
	ok(memcmp(year, "\7\xdc", 2) == 0, "a year, big");
	tr_trace_date_put_year(2012, false, year);
	ok(memcmp(year, "\xdc\7", 2) == 0, "and little");
	return done_testing();
}
