#include "expr/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hex.h"

enum {
	DECIMAL_ROOM = 24, /* digits of 2^64, with room */
	REAL_ROOM = 400,   /* digits of the largest double */
};

/* An exponent beyond this decides every comparison already. */
static const int64_t exponent_limit = (int64_t)1 << 40;

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

/* [eE][+-]DIGITS up to the very end; false when it is anything else. */
static bool read_exponent(const char *p, const char *end, int64_t *exponent)
{
	bool negative = false;
	int64_t n = 0;
	if (p == end || (*p | 0x20) != 'e')
		return false;
	p++;
	if (p < end && (*p == '-' || *p == '+'))
		negative = *p++ == '-';
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (!is_digit(*p))
			return false;
		if (n < exponent_limit)
			n = n * 10 + (*p - '0');
	}
	*exponent = negative ? -n : n;
	return true;
}

/* DIGITS[.DIGITS][eE[+-]DIGITS], all of it. */
static bool read_decimal(const char *p, const char *end, struct tr_decimal *decimal)
{
	const char *point = skip_digits(p, end), *mantissa = point;
	int64_t shift = 0;
	if (p == point)
		return false;
	if (point < end && *point == '.') {
		mantissa = skip_digits(point + 1, end);
		if (mantissa == point + 1)
			return false;
	}
	if (mantissa < end && !read_exponent(mantissa, end, &shift))
		return false;
	while (p < mantissa && (*p == '0' || *p == '.'))
		p++;
	decimal->digits = tr_text_span(p, mantissa);
	decimal->exponent = shift + (p < point ? point - p - 1 : point - p);
	return true;
}

static bool read_hex(const char *p, const char *end, uint64_t *number)
{
	if (end - p < 3 || p[0] != '0' || p[1] != 'x')
		return false;
	*number = 0;
	for (p += 2; p < end; p++) {
		int digit = tr_hex_digit(*p);
		if (digit < 0 || *number >> 60)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	return true;
}

/* DIGITS up to 2^64-1. */
static bool read_integer(const char *p, const char *end, uint64_t *number)
{
	uint64_t n = 0;
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (!is_digit(*p) || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	}
	*number = n;
	return true;
}

bool tr_number_from_cell(struct tr_text cell, struct tr_number *number)
{
	const char *p = cell.data, *end = p + cell.len;
	number->negative = false;
	if (p < end && (*p == '-' || *p == '+'))
		number->negative = *p++ == '-';
	if (p == end || !is_digit(*p))
		return false;
	number->type = TR_NUMBER_INTEGER;
	if (read_integer(p, end, &number->magnitude) || read_hex(p, end, &number->magnitude))
		return true;
	number->type = TR_NUMBER_DECIMAL;
	number->decimal.negative = number->negative;
	return read_decimal(p, end, &number->decimal);
}

static struct tr_number integer(bool negative, uint64_t magnitude)
{
	return (struct tr_number){ .type = TR_NUMBER_INTEGER,
				   .negative = negative,
				   .magnitude = magnitude };
}

struct tr_number tr_number_from_count(uint64_t count)
{
	return integer(false, count);
}

static struct tr_number real64(uint64_t bits)
{
	struct tr_number number = { .type = TR_NUMBER_REAL64 };
	memcpy(&number.real, &bits, sizeof number.real);
	return number;
}

static struct tr_number real32(uint64_t bits)
{
	uint32_t narrow = (uint32_t)bits;
	float real;
	memcpy(&real, &narrow, sizeof real);
	return (struct tr_number){ .type = TR_NUMBER_REAL32, .real = real };
}

bool tr_number_from_value(const struct tr_value *value, struct tr_number *number)
{
	switch (value->type) {
	case TR_UINT:
	case TR_POINTER:
		*number = integer(false, value->as.number);
		return true;
	case TR_INT:
		*number = integer(value->flags & TR_NEGATIVE, value->as.number);
		return true;
	case TR_REAL64:
		*number = real64(value->as.number);
		return true;
	case TR_REAL32:
		*number = real32(value->as.number);
		return true;
	case TR_SYMBOL:
		*number = integer(value->flags & TR_NEGATIVE, value->as.symbol->number);
		return value->as.symbol->numbered != TR_SYMBOL_WORDS;
	default:
		return false;
	}
}

static struct tr_text put_decimal(uint64_t n, char room[static DECIMAL_ROOM])
{
	char *end = room + DECIMAL_ROOM, *p = end;
	for (; n; n /= 10)
		*--p = (char)('0' + n % 10);
	return tr_text_span(p, end);
}

/*
 * The literal rounded to either width. strtod gets "314e-2" for 3.14: without
 * a decimal point its result cannot depend on the locale.
 */
static bool round_literal(struct tr_number_literal *literal, struct tr_arena *arena)
{
	const struct tr_decimal *decimal = &literal->decimal;
	size_t cap = decimal->digits.len + 32, len = 0;
	char *text = tr_arena_alloc(arena, cap);
	if (!text)
		return false;
	if (literal->negative)
		text[len++] = '-';
	text[len++] = '0';
	size_t first = len;
	for (size_t i = 0; i < decimal->digits.len; i++) {
		if (decimal->digits.data[i] != '.')
			text[len++] = decimal->digits.data[i];
	}
	int64_t exponent = decimal->exponent - (int64_t)(len - first) + 1;
	snprintf(text + len, cap - len, "e%lld", (long long)exponent);
	literal->real64 = strtod(text, NULL);
	literal->real32 = strtof(text, NULL);
	return true;
}

bool tr_number_literal_read(struct tr_text token, struct tr_arena *arena,
			    struct tr_number_literal *literal, bool *fits)
{
	struct tr_text copy = tr_arena_copy(arena, token);
	*literal = (struct tr_number_literal){ 0 };
	*fits = true;
	if (!copy.data)
		return false;
	const char *p = copy.data, *end = p + copy.len;
	if (*p == '-') {
		literal->negative = true;
		p++;
	}
	if (end - p > 2 && p[1] == 'x') {
		char *room = tr_arena_alloc(arena, DECIMAL_ROOM);
		*fits = read_hex(p, end, &literal->magnitude);
		if (!room || !*fits)
			return false;
		literal->is_integer = true;
		literal->decimal.digits = put_decimal(literal->magnitude, room);
		literal->decimal.exponent = (int64_t)literal->decimal.digits.len - 1;
	} else {
		read_decimal(p, end, &literal->decimal);
		literal->is_integer = read_integer(p, end, &literal->magnitude);
		literal->is_real = skip_digits(p, end) != end;
	}
	literal->decimal.negative = literal->negative;
	return round_literal(literal, arena);
}

static enum tr_order reversed(enum tr_order order)
{
	return order == TR_LESS ? TR_GREATER : order == TR_GREATER ? TR_LESS : order;
}

static enum tr_order order_of(bool less, bool greater)
{
	return less ? TR_LESS : greater ? TR_GREATER : TR_EQUAL;
}

/* Steps over the point; '0' behind the end: 1.5 and 1.50 are the same. */
static char next_digit(const char **p, const char *end)
{
	if (*p < end && **p == '.')
		++*p;
	return *p < end ? *(*p)++ : '0';
}

static enum tr_order compare_magnitudes(const struct tr_decimal *a, const struct tr_decimal *b)
{
	if (!a->digits.len || !b->digits.len)
		return order_of(b->digits.len != 0, a->digits.len != 0);
	if (a->exponent != b->exponent)
		return order_of(a->exponent < b->exponent, true);
	const char *p = a->digits.data, *p_end = p + a->digits.len;
	const char *q = b->digits.data, *q_end = q + b->digits.len;
	while (p < p_end || q < q_end) {
		char x = next_digit(&p, p_end), y = next_digit(&q, q_end);
		if (x != y)
			return order_of(x < y, true);
	}
	return TR_EQUAL;
}

static enum tr_order compare_decimals(const struct tr_decimal *a, const struct tr_decimal *b)
{
	bool a_negative = a->negative && a->digits.len, b_negative = b->negative && b->digits.len;
	if (a_negative != b_negative)
		return a_negative ? TR_LESS : TR_GREATER;
	enum tr_order order = compare_magnitudes(a, b);
	return a_negative ? reversed(order) : order;
}

static enum tr_order compare_integers(bool a_negative, uint64_t a, bool b_negative, uint64_t b)
{
	a_negative = a_negative && a; /* there is one zero */
	b_negative = b_negative && b;
	if (a_negative != b_negative)
		return a_negative ? TR_LESS : TR_GREATER;
	enum tr_order order = order_of(a<b, a> b);
	return a_negative ? reversed(order) : order;
}

static enum tr_order compare_integer(const struct tr_number *number,
				     const struct tr_number_literal *literal)
{
	if (literal->is_integer)
		return compare_integers(number->negative, number->magnitude, literal->negative,
					literal->magnitude);
	char room[DECIMAL_ROOM];
	struct tr_decimal decimal = { .digits = put_decimal(number->magnitude, room),
				      .negative = number->negative };
	decimal.exponent = (int64_t)decimal.digits.len - 1;
	return compare_decimals(&decimal, &literal->decimal);
}

/* Exactly, although a double cannot hold every integer. real is no NaN. */
static enum tr_order compare_real_to_integer(double real, const struct tr_number_literal *literal)
{
	double magnitude = fabs(real);
	bool negative = real < 0;
	if (isinf(real))
		return negative ? TR_LESS : TR_GREATER;
	if (literal->is_integer && magnitude < 0x1p64) {
		uint64_t whole = (uint64_t)magnitude;
		enum tr_order order =
			compare_integers(negative, whole, literal->negative, literal->magnitude);
		/* the fraction decides only where the whole parts are the same */
		if (order == TR_EQUAL && magnitude > (double)whole)
			order = negative ? TR_LESS : TR_GREATER;
		return order;
	}
	/* whole numbers on either side from here on, or the literal is beyond 64 bits */
	char room[REAL_ROOM];
	snprintf(room, sizeof room, "%.0f", magnitude);
	struct tr_decimal decimal;
	read_decimal(room, room + strlen(room), &decimal);
	decimal.negative = negative;
	return compare_decimals(&decimal, &literal->decimal);
}

enum tr_order tr_number_compare(const struct tr_number *number,
				const struct tr_number_literal *literal)
{
	switch (number->type) {
	case TR_NUMBER_INTEGER:
		return compare_integer(number, literal);
	case TR_NUMBER_DECIMAL:
		return compare_decimals(&number->decimal, &literal->decimal);
	default:
		break;
	}
	if (isnan(number->real))
		return TR_UNORDERED;
	if (!literal->is_real)
		return compare_real_to_integer(number->real, literal);
	double wanted = number->type == TR_NUMBER_REAL32 ? literal->real32 : literal->real64;
	return order_of(number->real<wanted, number->real> wanted);
}

enum tr_order tr_number_literal_compare(const struct tr_number_literal *a,
					const struct tr_number_literal *b)
{
	return compare_decimals(&a->decimal, &b->decimal);
}
