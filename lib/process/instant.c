/* SPDX-License-Identifier: MIT */
/*
 * Times as numbers of nanoseconds. Cells are read digit by digit, because a double does not hold
 * today's times in nanoseconds.
 */
#include "process/instant.h"

#include "record/ask.h"

/*
 * Reads eight digits at once, because a log has a time of about twenty digits in each record.
 * False: one of the bytes is not a digit.
 */
static bool read_eight(const char *p, const char *end, int64_t *value)
{
	uint64_t x;

	if (end - p < 8)
		return false;
	memcpy(&x, p, sizeof x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	x -= UINT64_C(0x3030303030303030);
	if ((x | (x + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080))
		return false;
	/* pairs of digits, then fours of them, then all */
	x = x * 10 + (x >> 8);
	x = (x & UINT64_C(0x000000ff000000ff)) * (100 + (UINT64_C(1000000) << 32)) +
	    (x >> 16 & UINT64_C(0x000000ff000000ff)) * (1 + (UINT64_C(10000) << 32));
	*value = (int64_t)(x >> 32);
	return true;
}

/* Digits beyond the nanosecond are dropped. A text that is no decimal number is NONE. */
int64_t tr_instant_from_text(struct tr_text text)
{
	const char *p = text.data, *end = text.data + text.len;
	int64_t value = 0, fraction = 0;
	bool negative = p < end && *p == '-';

	p += negative;
	if (p == end || !tr_is_digit(*p))
		return TR_INSTANT_NONE;
	if (read_eight(p, end, &value))
		p += 8;
	for (; p < end && tr_is_digit(*p); p++) {
		value = value * 10 + (*p - '0');
		if (value > TR_INSTANT_MAX / TR_INSTANT_SECOND)
			return TR_INSTANT_NONE;
	}
	if (p < end && *p++ != '.')
		return TR_INSTANT_NONE;
	unsigned missing = 9;
	if (read_eight(p, end, &fraction)) {
		p += 8;
		missing = 1;
	}
	for (; missing && p < end && tr_is_digit(*p); missing--)
		fraction = fraction * 10 + (*p++ - '0');
	for (; missing; missing--)
		fraction *= 10;
	value = value * TR_INSTANT_SECOND + fraction;
	p = tr_skip_digits(p, end);
	if (p < end || value > TR_INSTANT_MAX)
		return TR_INSTANT_NONE;
	return negative ? -value : value;
}

int64_t tr_instant_from_cell(const struct tr_cell *cell)
{
	if (cell->type == TR_CELL_NUMBER)
		return cell->number <= TR_INSTANT_MAX / TR_INSTANT_SECOND
			       ? (int64_t)cell->number * TR_INSTANT_SECOND
			       : TR_INSTANT_NONE;
	return cell->type == TR_CELL_TEXT ? tr_instant_from_text(cell->text) : TR_INSTANT_NONE;
}

/* Seconds as a REAL in nanoseconds; NONE: out of range. */
static int64_t from_real(double seconds)
{
	double limit = (double)TR_INSTANT_MAX / TR_INSTANT_SECOND;

	if (!(seconds > -limit && seconds < limit))
		return TR_INSTANT_NONE;
	double scaled = seconds * TR_INSTANT_SECOND;
	return (int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5));
}

/* Reads values whose text is no plain decimal (1e-5), or which have no text. */
static int64_t from_value(const struct tr_value *value)
{
	struct tr_cell number = { .type = TR_CELL_NUMBER };
	double real;

	switch (value->type) {
	case TR_UINT:
		number.number = value->as.number;
		return tr_instant_from_cell(&number);
	case TR_STRING:
		return tr_instant_from_text(value->text);
	case TR_REAL64:
		memcpy(&real, &value->as.number, sizeof real);
		return from_real(real);
	default:
		return TR_INSTANT_NONE;
	}
}

/*
 * The text of the field is read if it is a plain decimal, as it is nearly always; otherwise its
 * value.
 */
bool tr_instant_from_field(struct tr_record *record, const char *key, int64_t *instant)
{
	struct tr_error err;

	*instant = TR_INSTANT_NONE;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return false;
	struct tr_field *field = tr_record_field(record, key);
	if (!field)
		return true;
	if (field->text.data)
		*instant = tr_instant_from_text(field->text);
	if (*instant != TR_INSTANT_NONE)
		return true;
	tr_error_clear(&err);
	const struct tr_value *value = tr_ask_field(record, field, &err);
	if (value)
		*instant = from_value(value);
	return err.cause != TR_CAUSE_MEMORY;
}

/* Appends a number with this many digits after the point; unit: the weight of the first in part. */
static void put(bool negative, uint64_t whole, uint64_t part, uint64_t unit, unsigned digits,
		struct tr_buffer *to)
{
	if (negative)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, whole);
	if (digits)
		tr_buffer_put_byte(to, '.');
	for (; digits > 0; digits--, unit /= 10)
		tr_buffer_put_byte(to, (char)('0' + part / unit % 10));
}

/* The magnitude of a time; that of the least number does not overflow. */
static uint64_t magnitude_of(int64_t instant)
{
	return instant < 0 ? 0 - (uint64_t)instant : (uint64_t)instant;
}

/* Rounds to the last digit, away from zero in the middle. */
void tr_instant_write(int64_t instant, unsigned digits, struct tr_buffer *to)
{
	uint64_t magnitude = magnitude_of(instant), last = TR_INSTANT_SECOND;

	for (unsigned i = 0; i < digits; i++)
		last /= 10;
	magnitude += last / 2;
	put(instant < 0, magnitude / TR_INSTANT_SECOND, magnitude % TR_INSTANT_SECOND,
	    TR_INSTANT_SECOND / 10, digits, to);
}

/* Microseconds with a fraction only where there is one, for Chrome's timeline. */
void tr_instant_write_micro(int64_t instant, struct tr_buffer *to)
{
	uint64_t magnitude = magnitude_of(instant), part = magnitude % 1000;

	char text[1 + TR_DECIMAL_MAX + 4], *p = text;

	if (instant < 0)
		*p++ = '-';
	p += tr_decimal_write(magnitude / 1000, p);
	if (part) {
		*p++ = '.';
		*p++ = (char)('0' + part / 100);
		*p++ = (char)('0' + part / 10 % 10);
		*p++ = (char)('0' + part % 10);
	}
	tr_buffer_put(to, text, (size_t)(p - text));
}
