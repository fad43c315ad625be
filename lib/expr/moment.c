/* SPDX-License-Identifier: MIT */
/*
 * Points in time: tr_moment_read parses them, and tr_moment_write computes the seconds since 1970
 * when the time of the first record is known.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/date.h"
#include "expr/program.h"

enum { FRACTION_DIGITS = 18, DAY = 86400 /* seconds */, LONGEST = 64 /* bytes of a text */ };

static const int64_t units_per_second = INT64_C(1000000000000000000); /* of struct tr_time */

/* The rest of a text. */
struct scan {
	const char *p, *end;
};

/* Skips a byte, if it is this one. */
static bool take(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static bool is_digit(const struct scan *s)
{
	return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

/* Reads exactly that many digits. */
static bool take_digits(struct scan *s, unsigned count, int *number)
{
	*number = 0;
	for (; count; count--) {
		if (!is_digit(s))
			return false;
		*number = *number * 10 + (*s->p++ - '0');
	}
	return true;
}

/* Reads .DIGITS if it is there. False: a point without digits. */
static bool take_fraction(struct scan *s, int64_t *fraction)
{
	int64_t unit = units_per_second;

	*fraction = 0;
	if (!take(s, '.'))
		return true;
	if (!is_digit(s))
		return false;
	for (; is_digit(s); s->p++) {
		unit /= 10;
		*fraction += unit * (*s->p - '0');
	}
	return true;
}

/* Reads DIGITS[.DIGITS], so few that multiplying by a unit does not overflow. */
static bool take_amount(struct scan *s, struct tr_time *amount)
{
	int64_t whole = 0;

	if (!is_digit(s))
		return false;
	for (; is_digit(s); s->p++) {
		whole = whole * 10 + (*s->p - '0');
		if (whole > INT64_MAX / 100)
			return false;
	}
	amount->seconds = whole;
	return take_fraction(s, &amount->fraction);
}

/*
 * Multiplies a time by numerator / denominator; denominator divides 10^9, and numerator is at most
 * 3600. False: it becomes too large.
 */
static bool scale(struct tr_time *time, int64_t numerator, int64_t denominator)
{
	enum { HALF = 1000000000 }; /* of the digits of a fraction */
	int64_t high = time->fraction / HALF * numerator, low = time->fraction % HALF * numerator;
	int64_t whole;

	high += low / HALF;
	if (__builtin_mul_overflow(time->seconds, numerator, &whole) || whole > INT64_MAX / 2)
		return false;
	whole += high / HALF;
	time->fraction = (high % HALF * HALF + low % HALF) / denominator +
			 whole % denominator * (units_per_second / denominator);
	time->seconds = whole / denominator;
	return true;
}

/* +N[UNIT] */
static bool read_after(struct scan *s, struct tr_moment *moment)
{
	static const struct {
		const char *name;
		int64_t numerator, denominator; /* seconds */
	} units[] = {
		{ "", 1, 1 },	{ "s", 1, 1 },		 { "ms", 1, 1000 }, { "us", 1, 1000000 },
		{ "m", 60, 1 }, { "ns", 1, 1000000000 }, { "h", 3600, 1 },
	};

	moment->type = TR_MOMENT_AFTER;
	if (!take_amount(s, &moment->amount))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		if (!tr_text_is(tr_text_span(s->p, s->end), units[i].name))
			continue;
		s->p = s->end;
		return scale(&moment->amount, units[i].numerator, units[i].denominator);
	}
	return false;
}

/* Z, +HH, +HH:MM, +HHMM, or nothing. */
static bool read_zone(struct scan *s, struct tr_moment *moment)
{
	int hours, minutes = 0;

	if (s->p == s->end)
		return true;
	moment->has_zone = true;
	if (take(s, 'Z') || take(s, 'z'))
		return s->p == s->end;
	int sign = take(s, '+') ? 1 : take(s, '-') ? -1 : 0;
	if (!sign || !take_digits(s, 2, &hours) || hours > 23)
		return false;
	if (s->p < s->end) {
		take(s, ':');
		if (!take_digits(s, 2, &minutes) || minutes > 59)
			return false;
	}
	moment->zone = sign * (hours * 60 + minutes) * 60;
	return s->p == s->end;
}

/* HH:MM[:SS[.FRACTION]], in the basic form without colons, and a zone. */
static bool read_clock(struct scan *s, bool basic, struct tr_moment *moment)
{
	int hour, minute, seconds = 0;
	int64_t fraction = 0;

	if (!take_digits(s, 2, &hour) || (!basic && !take(s, ':')) || !take_digits(s, 2, &minute))
		return false;
	bool more = basic ? is_digit(s) : take(s, ':');
	if (more && (!take_digits(s, 2, &seconds) || !take_fraction(s, &fraction)))
		return false;
	/* 24:00 is midnight at the end of a day, 60 a leap second */
	if (hour > 24 || minute > 59 || seconds > 60 ||
	    (hour == 24 && (minute || seconds || fraction)))
		return false;
	moment->amount = (struct tr_time){ (hour * 60 + minute) * 60 + seconds, fraction };
	return read_zone(s, moment);
}

/*
 * Returns the seconds since 1970 of a date and time in the zone of the moment. tm may exceed its
 * ranges.
 */
static int64_t to_seconds(const struct tr_moment *moment, struct tm *tm)
{
	const char *zone = getenv("TZ");

	tm->tm_isdst = -1;
	if (!moment->has_zone && zone && *zone)
		return mktime(tm);
	/* unlike timegm, after 2038 also where time_t has 32 bits */
	struct tr_date date = {
		(unsigned)tm->tm_year + 1900, (unsigned)tm->tm_mon + 1, (unsigned)tm->tm_mday,
		(unsigned)tm->tm_hour,	      (unsigned)tm->tm_min,	(unsigned)tm->tm_sec,
	};
	return tr_date_seconds(&date) - moment->zone;
}

/* YYYY-MM-DD or YYYYMMDD, and T and a time of day. */
static bool read_date(struct scan *s, struct tr_moment *moment)
{
	int year, month, day;

	moment->type = TR_MOMENT_DATE;
	if (!take_digits(s, 4, &year))
		return false;
	bool basic = !take(s, '-');
	if (!take_digits(s, 2, &month) || (!basic && !take(s, '-')) || !take_digits(s, 2, &day) ||
	    !tr_date_is_day((unsigned)year, (unsigned)month, (unsigned)day))
		return false;
	if (s->p < s->end) {
		if ((!take(s, 'T') && !take(s, 't') && !take(s, ' ')) ||
		    !read_clock(s, basic, moment))
			return false;
	}
	int64_t clock = moment->amount.seconds;
	struct tm tm = { .tm_year = year - 1900,
			 .tm_mon = month - 1,
			 .tm_mday = day,
			 .tm_hour = (int)(clock / 3600),
			 .tm_min = (int)(clock / 60 % 60),
			 .tm_sec = (int)(clock % 60) };
	moment->amount.seconds = to_seconds(moment, &tm);
	return true;
}

/* True for a plain number of seconds, which is read like other numbers. */
static bool is_seconds(struct scan s)
{
	struct tr_time ignored;

	take(&s, '-');
	return take_amount(&s, &ignored) && s.p == s.end;
}

bool tr_moment_read(struct tr_text text, struct tr_moment *moment)
{
	struct scan s = { text.data, text.data + text.len };

	*moment = (struct tr_moment){ .type = TR_MOMENT_SECONDS };
	if (text.len == 0 || text.len > LONGEST)
		return false;
	if (is_seconds(s))
		return true;
	if (take(&s, '+'))
		return read_after(&s, moment);
	if (text.len < 3 || text.data[2] != ':')
		return read_date(&s, moment);
	moment->type = TR_MOMENT_OF_DAY;
	return read_clock(&s, false, moment);
}

/* Returns the seconds since 1970 of a time of day (in seconds) on the date of start. */
static int64_t find_day(const struct tr_moment *moment, int64_t clock, int64_t start)
{
	const char *zone = getenv("TZ");
	time_t time = start;
	struct tm tm;

	if (!moment->has_zone && zone && *zone) {
		tzset();
		if (localtime_r(&time, &tm)) {
			tm.tm_hour = (int)(clock / 3600);
			tm.tm_min = (int)(clock / 60 % 60);
			tm.tm_sec = (int)(clock % 60);
			return to_seconds(moment, &tm);
		}
	}
	start += moment->zone;
	return start - (start % DAY + DAY) % DAY + clock - moment->zone;
}

static struct tr_time negate(struct tr_time time)
{
	if (time.fraction == 0)
		return (struct tr_time){ -time.seconds, 0 };
	return (struct tr_time){ -time.seconds - 1, units_per_second - time.fraction };
}

/* Appends seconds as decimal digits, without zeros at the end. */
static void put(struct tr_time amount, struct tr_buffer *to)
{
	char fraction[FRACTION_DIGITS];
	size_t len = FRACTION_DIGITS;

	if (amount.seconds < 0) {
		tr_buffer_put_byte(to, '-');
		amount = negate(amount);
	}
	int64_t rest = amount.fraction;
	tr_buffer_put_decimal(to, (uint64_t)amount.seconds);
	for (size_t i = FRACTION_DIGITS; i > 0; i--, rest /= 10)
		fraction[i - 1] = (char)('0' + rest % 10);
	while (len && fraction[len - 1] == '0')
		len--;
	if (len) {
		tr_buffer_put_byte(to, '.');
		tr_buffer_put(to, fraction, len);
	}
}

bool tr_moment_write(const struct tr_moment *moment, struct tr_text start, struct tr_buffer *to)
{
	struct tr_time amount = moment->amount, begin;

	if (tr_moment_needs_start(moment)) {
		struct scan s = { start.data, start.data + start.len };
		bool negative = take(&s, '-');
		if (!take_amount(&s, &begin) || s.p != s.end)
			return false;
		if (negative)
			begin = negate(begin);
		if (moment->type == TR_MOMENT_AFTER) {
			amount.seconds += begin.seconds;
			amount.fraction += begin.fraction;
			amount.seconds += amount.fraction / units_per_second;
			amount.fraction %= units_per_second;
		} else {
			amount.seconds = find_day(moment, amount.seconds, begin.seconds);
		}
	}
	put(amount, to);
	return true;
}
