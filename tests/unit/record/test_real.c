/* SPDX-License-Identifier: MIT */
/*
 * Real numbers: the table in both directions, the powers that it uses, and random numbers compared
 * with libc.
 */
#include <float.h>

#include "record/real.c"

#include "tap.h"
#include "vectors.h"

static size_t spell(bool single, uint64_t bits, char *to)
{
	return single ? tr_real32_write((uint32_t)bits, to) : tr_real64_write(bits, to);
}

static void table(struct tr_arena *arena)
{
	struct vectors v;
	if (!ok(vectors_open(&v, "floats.tsv"), "floats.tsv opens"))
		return;
	while (vectors_next(&v)) {
		struct tr_text wanted = v.column[1];
		bool single = v.column[0].len == 8;
		uint64_t bits = strtoull(v.column[0].data, NULL, 16);
		char spelled[TR_REAL_MAX];
		size_t len = spell(single, bits, spelled);
		struct tr_text text = { spelled, len };
		ok(tr_text_equal(text, wanted), "%.*s is %.*s, spelled %.*s", (int)v.column[0].len,
		   v.column[0].data, (int)wanted.len, wanted.data, (int)len, spelled);
		struct tr_error err;
		tr_error_clear(&err);
		struct tr_value *value = tr_literal_parse(wanted, arena, &err);
		ok(value && value->type == (single ? TR_REAL32 : TR_REAL64) &&
			   value->as.number == bits,
		   "and reads back %s", err.text);
		tr_arena_reset(arena);
	}
	vectors_close(&v);
}

/* A number of any size, for what the powers should be. Lowest limb first. */
enum { WORDS = 40 };

static void multiply5(uint32_t *n)
{
	uint64_t carry = 0;
	for (int i = 0; i < WORDS; i++) {
		carry += (uint64_t)n[i] * 5;
		n[i] = (uint32_t)carry;
		carry >>= 32;
	}
}

static void divide5(uint32_t *n)
{
	uint64_t rest = 0;
	for (int i = WORDS; i-- > 0;) {
		rest = rest << 32 | n[i];
		n[i] = (uint32_t)(rest / 5);
		rest %= 5;
	}
}

/* The 128 bits from the highest one that is set. */
static struct power first_bits(const uint32_t *n)
{
	int top = WORDS * 32 - 1;
	while (!(n[top / 32] >> top % 32 & 1))
		top--;
	struct power power = { 0, 0 };
	for (int i = 0; i < 128; i++) {
		int at = top - i;
		uint64_t bit = at >= 0 ? n[at / 32] >> at % 32 & 1 : 0;
		power.high = power.high << 1 | power.low >> 63;
		power.low = power.low << 1 | bit;
	}
	return power;
}

static bool same_power(int q, const uint32_t *n)
{
	struct power power = power5(q), exact = first_bits(n);
	if (power.high == exact.high && power.low == exact.low)
		return true;
	diag("5^%d is wrong", q);
	return false;
}

static void powers(void)
{
	/* 5^q for q > 0; for q < 0 the whole part of 2^1279 / 5^-q: both have more than 128 bits */
	uint32_t up[WORDS] = { 1 }, down[WORDS] = { 0 };
	down[WORDS - 1] = UINT32_C(1) << 31;
	unsigned wrong = !same_power(0, up);
	for (int q = 1; q <= POWER_MAX; q++) {
		multiply5(up);
		wrong += !same_power(q, up);
	}
	for (int q = -1; q >= POWER_MIN; q--) {
		divide5(down);
		wrong += !same_power(q, down);
	}
	ok(wrong == 0, "all powers of five to 128 bits");
	wrong = 0;
	for (int i = 0; i < POWERS_ABOVE; i++) {
		struct power power = power5(POWER_ABOVE_MIN + i);
		bool whole = !power.low && power5_is_exact(POWER_ABOVE_MIN + i);
		wrong += powers_above[i] != power.high + !whole;
	}
	ok(wrong == 0, "those for 32-bit numbers, rounded up to 64 bits");
}

static uint64_t state = UINT64_C(0x7ec05eed);

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Any exponent; few bits of fraction in some, so that powers of two and denormals come up. */
static uint64_t random_magnitude(int fraction_bits, uint64_t infinity)
{
	uint64_t bits = random_bits() % infinity;
	uint64_t fraction = (UINT64_C(1) << fraction_bits) - 1;
	switch (random_bits() % 4) {
	case 0:
		return bits & ~(fraction >> random_bits() % 8);
	case 1:
		return (bits & fraction) >> random_bits() % (unsigned)fraction_bits;
	default:
		return bits;
	}
}

/* Whole numbers, which are written without a search: all of their digits. */
static void whole_numbers(void)
{
	unsigned wrong = 0;
	for (uint32_t n = 1; n <= 1 << 24; n += 1 + n / 5000) {
		for (uint32_t near = n - (n > 1); near <= n; near++) {
			char want[32], have[TR_REAL_MAX + 1];
			float single = (float)near;
			double twice = (double)near * 536870912 + near % 7; /* up to 2^53 */
			uint32_t bits;
			uint64_t wide;
			memcpy(&bits, &single, sizeof bits);
			memcpy(&wide, &twice, sizeof wide);
			snprintf(want, sizeof want, "%.1ff", (double)single);
			have[tr_real32_write(bits, have)] = '\0';
			wrong += strcmp(want, have) != 0;
			snprintf(want, sizeof want, "%.1f", twice);
			have[tr_real64_write(wide, have)] = '\0';
			wrong += strcmp(want, have) != 0;
		}
	}
	ok(wrong == 0, "whole numbers have all their digits");
}

static unsigned significant(const char *text)
{
	unsigned count = 0, zeros = 0;
	for (; *text && *text != 'e'; text++) {
		if (*text == '0')
			zeros += count > 0;
		else if (*text != '.') {
			count += zeros + 1;
			zeros = 0;
		}
	}
	return count;
}

/* What libc reads in the number's own width. */
static uint64_t libc_read(bool single, const char *text)
{
	if (single) {
		float f = strtof(text, NULL);
		uint32_t bits;
		memcpy(&bits, &f, sizeof bits);
		return bits;
	}
	double d = strtod(text, NULL);
	uint64_t bits;
	memcpy(&bits, &d, sizeof bits);
	return bits;
}

static bool own_read(bool single, const char *text, uint64_t *bits)
{
	uint32_t narrow = 0;
	if (!single)
		return tr_real64_read(tr_text_from(text), bits);
	bool in_range = tr_real32_read(tr_text_from(text), &narrow);
	*bits = narrow;
	return in_range;
}

static long double number(bool single, uint64_t bits)
{
	double d;
	float f;
	uint32_t narrow = (uint32_t)bits;
	memcpy(&f, &narrow, sizeof f);
	memcpy(&d, &bits, sizeof d);
	return single ? (long double)f : (long double)d;
}

/* Reads back the same, also in libc; no spelling of printf with one digit less does. */
static bool is_shortest(bool single, uint64_t bits)
{
	char text[TR_REAL_MAX + 1], shorter[64];
	size_t len = spell(single, bits, text) - single;
	text[len] = 0;
	uint64_t back = 0;
	unsigned digits = significant(text);
	if (digits > 1)
		snprintf(shorter, sizeof shorter, "%.*Le", (int)digits - 2, number(single, bits));
	bool right = own_read(single, text, &back) && back == bits &&
		     libc_read(single, text) == bits &&
		     (digits <= 1 || libc_read(single, shorter) != bits);
	if (!right)
		diag("%llx is spelled %s", (unsigned long long)bits, text);
	return right;
}

static void random_numbers(void)
{
	enum { ROUNDS = 50000 };
	unsigned wrong = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t single = random_magnitude(23, UINT64_C(0xff) << 23);
		uint64_t wide = random_magnitude(52, UINT64_C(0x7ff) << 52);
		wrong += single && !is_shortest(true, single);
		wrong += wide && !is_shortest(false, wide);
	}
	ok(wrong == 0, "%d random numbers of each width have the fewest digits", ROUNDS);
}

/* The decimal of the middle between two neighbours, all its digits, and in some one changed. */
static void print_middle(bool single, uint64_t bits, char *to, size_t size)
{
	/* long double holds one bit more than a double: the middle is exact */
	long double middle = (number(single, bits) + number(single, bits + 1)) / 2;
	snprintf(to, size, "%.780Le", middle);
	char *last = strchr(to, 'e') - 1;
	if (random_bits() % 3 == 0)
		last[-(int)(random_bits() % 700)] = '9';
}

static void random_middles(void)
{
	enum { ROUNDS = 3000, LENGTH = 900 };
	unsigned wrong = 0;
	for (int i = 0; i < 2 * ROUNDS; i++) {
		bool single = i & 1;
		uint64_t bits = single ? random_magnitude(23, (UINT64_C(0xff) << 23) - 1)
				       : random_magnitude(52, (UINT64_C(0x7ff) << 52) - 1);
		char text[LENGTH];
		uint64_t own = 0;
		print_middle(single, bits, text, sizeof text);
		bool in_range = own_read(single, text, &own);
		if (own != libc_read(single, text) || in_range != (own != 0)) {
			wrong++;
			diag("read %llx from %s", (unsigned long long)own, text);
		}
	}
	ok(wrong == 0, "%d decimals half way between numbers of each width are read right", ROUNDS);
}

static void ranges(void)
{
	static const struct {
		const char *text;
		bool in64, in32;
	} rows[] = {
		{ "1.7976931348623157e308", true, false },
		{ "1.7976931348623158e308", true, false },
		{ "1.7976931348623159e308", false, false },
		{ "3.4028235677973367e38", true, false },
		{ "3.4028235677973366e38", true, true },
		{ "2.4703282292062328e-324", true, false },
		{ "2.4703282292062327e-324", false, false },
		{ "7.0064923216240853e-46", true, false },
		{ "7.0064923216240854e-46", true, true },
		{ "0.0e999999999999999999999", true, true },
		{ "-0e-99999999999999999999", true, true },
		{ "1e99999999999999999999999", false, false },
		{ "1e-99999999999999999999999", false, false },
		{ "0.00000000000000000000000001e26", true, true },
		{ "100000000000000000000000000e-26", true, true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint64_t wide;
		uint32_t single;
		struct tr_text text = tr_text_from(rows[i].text);
		ok(tr_real64_read(text, &wide) == rows[i].in64 &&
			   tr_real32_read(text, &single) == rows[i].in32,
		   "%s is in range or not", rows[i].text);
	}
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	table(&arena);
	powers();
	whole_numbers();
	random_numbers();
	if (LDBL_MANT_DIG > DBL_MANT_DIG)
		random_middles();
	ranges();
	tr_arena_free(&arena);
	return done_testing();
}
