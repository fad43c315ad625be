/* SPDX-License-Identifier: MIT */
/* Dates: days since an epoch, weekdays, moving holidays and the page of a month; inline functions. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct date {
	int year, month, day;
};

static const char *const month_names[] = { "January",	"February", "March",	"April",
					   "May",	"June",	    "July",	"August",
					   "September", "October",  "November", "December" };

static inline bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline __attribute__((always_inline)) int divide_down(int a, int b)
{
	return a / b - (a % b < 0);
}

static inline __attribute__((always_inline)) int remainder_down(int a, int b)
{
	return a - b * divide_down(a, b);
}

static int days_in_month(int year, int month)
{
	switch (month) {
	case 2:
		return is_leap(year) ? 29 : 28;
	case 4:
	case 6:
	case 9:
	case 11:
		return 30;
	default:
		return 31;
	}
}

/* Returns the days since 1970-01-01. */
static int to_days(struct date date)
{
	int y = date.month <= 2 ? date.year - 1 : date.year;
	int m = date.month <= 2 ? date.month + 9 : date.month - 3;
	int era = divide_down(y, 400);
	int in_era = y - era * 400;
	int in_year = (153 * m + 2) / 5 + date.day - 1;

	return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

static struct date from_days(int days)
{
	struct date date;
	int shifted = days + 719468;
	int era = divide_down(shifted, 146097);
	int in_era = remainder_down(shifted, 146097);
	int y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	int in_year = in_era - (365 * y + y / 4 - y / 100);
	int m = (5 * in_year + 2) / 153;

	date.day = in_year - (153 * m + 2) / 5 + 1;
	date.month = m < 10 ? m + 3 : m - 9;
	date.year = y + era * 400 + (date.month <= 2);
	return date;
}

/* Monday is 0. */
static inline int weekday(struct date date)
{
	return remainder_down(to_days(date) + 3, 7);
}

static struct date easter(int year)
{
	int a = year % 19, b = year / 100, c = year % 100;
	int d = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
	int e = (32 + 2 * (b % 4) + 2 * (c / 4) - d - c % 4) % 7;
	int f = d + e - 7 * ((a + 11 * d + 22 * e) / 451) + 114;
	struct date date = { year, f / 31, f % 31 + 1 };

	return date;
}

/* Returns the week of ISO 8601: that of January 4 is the first one. */
static int week(struct date date)
{
	struct date fourth = { date.year, 1, 4 };
	int monday = to_days(fourth) - weekday(fourth);
	int days = to_days(date);

	if (days < monday) {
		fourth.year--;
		monday = to_days(fourth) - weekday(fourth);
	} else {
		struct date next = { date.year + 1, 1, 4 };
		int next_monday = to_days(next) - weekday(next);
		if (days >= next_monday)
			monday = next_monday;
	}
	return (days - monday) / 7 + 1;
}

static bool parse(const char *text, struct date *date)
{
	if (sscanf(text, "%d-%d-%d", &date->year, &date->month, &date->day) != 3)
		return false;
	if (date->month < 1 || date->month > 12)
		return false;
	return date->day >= 1 && date->day <= days_in_month(date->year, date->month);
}

static void print_month(int year, int month)
{
	struct date first = { year, month, 1 };
	int column = weekday(first), days = days_in_month(year, month);

	printf("%s %d\n%*s", month_names[month - 1], year, 3 * column, "");
	for (int day = 1; day <= days; day++) {
		printf("%2d%c", day, column == 6 || day == days ? '\n' : ' ');
		column = column == 6 ? 0 : column + 1;
	}
}

int main(void)
{
	static const char *const dates[] = { "1970-01-01", "2000-02-29", "1900-02-29", "2026-11-23",
					     "2021-01-03", "2024-12-30", "1583-13-01", "soon" };
	int bad = 0;

	for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
		struct date date;
		if (!parse(dates[i], &date)) {
			printf("%s: no date\n", dates[i]);
			bad++;
			continue;
		}
		struct date back = from_days(to_days(date));
		if (memcmp(&back, &date, sizeof date) != 0)
			return 1;
		printf("%s: day %d, weekday %d, week %d\n", dates[i], to_days(date), weekday(date),
		       week(date));
	}
	for (int year = 2024; year < 2028; year++) {
		struct date day = easter(year);
		printf("Easter %d: %s %d\n", year, month_names[day.month - 1], day.day);
	}
	print_month(2024, 2);
	return bad != 3;
}
