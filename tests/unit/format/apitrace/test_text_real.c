/* SPDX-License-Identifier: MIT */
/* Real numbers against printf: edges, ties, and as many random ones as a second takes. */
#include "format/apitrace/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static unsigned long long state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static bool same32(uint32_t bits)
{
	char ours[TR_TEXT_REAL_MAX + 1], wanted[64];
	float number;
	memcpy(&number, &bits, sizeof number);
	ours[tr_text_real32(bits, ours)] = '\0';
	snprintf(wanted, sizeof wanted, "%.7g", (double)number);
	if (strcmp(ours, wanted) == 0)
		return true;
	diag("%08x: %s, not %s", (unsigned)bits, ours, wanted);
	return false;
}

static bool same64(uint64_t bits)
{
	char ours[TR_TEXT_REAL_MAX + 1], wanted[64];
	double number;
	memcpy(&number, &bits, sizeof number);
	ours[tr_text_real64(bits, ours)] = '\0';
	snprintf(wanted, sizeof wanted, "%.16g", number);
	if (strcmp(ours, wanted) == 0)
		return true;
	diag("%016llx: %s, not %s", (unsigned long long)bits, ours, wanted);
	return false;
}

static bool same_decimal(double number)
{
	float small = (float)number;
	uint32_t bits32;
	uint64_t bits64;
	memcpy(&bits32, &small, sizeof bits32);
	memcpy(&bits64, &number, sizeof bits64);
	return same32(bits32) && same64(bits64);
}

static void edges(void)
{
	static const uint32_t narrow[] = { 0,	       0x80000000, 1,	       0x807fffff,
					   0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000,
					   0x7fc00000, 0xffc00000, 0x7f800001, 0x3a000000,
					   0x4b189680, 0x4b18967f, 0xcb189680 };
	static const uint64_t wide[] = { 0,
					 0x8000000000000000,
					 1,
					 0x7fefffffffffffff,
					 0x7ff0000000000000,
					 0xfff0000000000000,
					 0x7ff8000000000000,
					 0xfff8000000000001,
					 0x4341c37937e08000,
					 0x4341c37937e07fff };
	bool good = true;
	for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
		good &= same32(narrow[i]);
	for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
		good &= same64(wide[i]);
	ok(good, "edges");
}

/* Powers of two have many digits and end in 5: where half of them is cut off, it is a tie. */
static void ties(void)
{
	bool good = true;
	for (uint32_t exponent = 0; exponent < 255; exponent++) {
		for (uint32_t fraction = 0; fraction < 1 << 23; fraction += 1 << 19)
			good &= same32(exponent << 23 | fraction);
	}
	ok(good, "powers of two");
	good = true;
	for (int n = 0; n < 200000; n++)
		good &= same_decimal(n / 64.0) && same_decimal(-n / 8192.0);
	ok(good, "halves");
}

static void decimals(void)
{
	bool good = true;
	double power = 1e-12;
	for (int i = 0; i < 30; i++, power *= 10) {
		for (int n = 1; n < 2000; n++)
			good &= same_decimal(n * power) && same_decimal(-1 / (n * power));
	}
	for (double n = 9999990; n < 10000010; n += 0.5)
		good &= same_decimal(n) && same_decimal(n / 1e7) && same_decimal(n * 1e9);
	ok(good, "decimals");
}

static void at_random(void)
{
	bool good = true;
	for (int i = 0; i < 300000 && good; i++) {
		uint64_t bits = random_bits();
		/* the exponents that numbers of a trace have, and all */
		uint32_t common =
			((uint32_t)(bits >> 32) & 0x807fffff) | (uint32_t)(100 + bits % 50) << 23;
		good = same32((uint32_t)bits) && same32(common) && same64(bits);
	}
	ok(good, "random numbers");
}

int main(void)
{
	edges();
	ties();
	decimals();
	at_random();
	return done_testing();
}
