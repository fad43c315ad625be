#include "format/strace/clock.h"

#include "core/decimal.h"
#include "format/strace/scan.h"

enum { NANO = 1000000000, NANO_DIGITS = 9 };

/* What stands from the point on, as far as there is room. */
static size_t put_fraction(struct tr_text fraction, char *to, size_t room)
{
	size_t len = fraction.len < room ? fraction.len : room;

	memcpy(to, fraction.data, len);
	return len;
}

static uint64_t two(const char *p)
{
	return (uint64_t)(p[0] - '0') * 10 + (uint64_t)(p[1] - '0');
}

uint64_t tr_strace_day_seconds(uint64_t last, struct tr_text time)
{
	enum { LATE = 60 * 60 };
	const char *p = time.data;
	uint64_t now = last - last % TR_STRACE_DAY_SECONDS;

	now += two(p) * 3600 + two(p + 3) * 60 + two(p + 6);
	if (now + TR_STRACE_DAY_SECONDS / 2 < last)
		return now + TR_STRACE_DAY_SECONDS;
	/* a little late: of before the midnight that others have seen */
	if (now >= TR_STRACE_DAY_SECONDS && now > last + TR_STRACE_DAY_SECONDS - LATE)
		return now - TR_STRACE_DAY_SECONDS;
	return now;
}

static size_t day_time(struct tr_strace_clock_state *state, struct tr_text time, char *to)
{
	state->day_time = tr_strace_day_seconds(state->day_time, time);
	size_t len = tr_decimal_write(state->day_time, to);
	struct tr_text fraction = { time.data + 8, time.len - 8 };
	return len + put_fraction(fraction, to + len, TR_STRACE_TIME_MAX - len);
}

static size_t relative_time(struct tr_strace_clock_state *state, struct tr_text time, char *to)
{
	const char *p = time.data, *end = p + time.len;
	unsigned long long seconds = 0;
	size_t digits;

	tr_strace_digits(&p, end, &seconds);
	digits = p < end ? (size_t)(end - p) - 1 : 0;
	if (digits > NANO_DIGITS)
		digits = NANO_DIGITS;
	uint64_t fraction = 0;
	for (size_t i = 0; i < NANO_DIGITS; i++)
		fraction = fraction * 10 + (i < digits ? (uint64_t)(p[1 + i] - '0') : 0);
	state->frac += fraction;
	state->sum += seconds + state->frac / NANO;
	state->frac %= NANO;
	size_t len = tr_decimal_write(state->sum, to);
	to[len++] = '.';
	uint64_t rest = state->frac;
	for (size_t i = NANO_DIGITS; i-- > 0; rest /= 10)
		if (i < digits)
			to[len + i] = (char)('0' + rest % 10);
	return len + digits;
}

size_t tr_strace_time(struct tr_strace_clock_state *state, const struct tr_strace_prefix *prefix,
		      char to[TR_STRACE_TIME_MAX])
{
	switch (prefix->clock) {
	case TR_STRACE_EPOCH:
		return put_fraction(prefix->time, to, TR_STRACE_TIME_MAX);
	case TR_STRACE_DAY:
		return day_time(state, prefix->time, to);
	case TR_STRACE_RELATIVE:
		return relative_time(state, prefix->time, to);
	default:
		return 0;
	}
}
