/* SPDX-License-Identifier: MIT */
/*
 * Real numbers as apitrace prints them. Most numbers of a trace are whole, or have a few
 * decimals: those are scaled by an exact power of ten, and rounded if the error cannot change a
 * digit. The others are printed by snprintf.
 */
#include "format/apitrace/text_real.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

enum { DIGITS = 7, EXACT_POWER = 22 };

/* All that a double holds exactly. */
static const double powers[EXACT_POWER + 1] = {
	1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* The eight digits of a number as values, the first in the lowest byte: all of them at once. */
static uint64_t split_digits(uint32_t n)
{
	uint64_t halves = n / 10000 | (uint64_t)(n % 10000) << 32;
	uint64_t tops = (halves * 10486 >> 20) & UINT64_C(0x0000007f0000007f); /* by 100 */
	uint64_t pairs = tops | (halves - 100 * tops) << 16;
	uint64_t tens = (pairs * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* by 10 */

	return tens | (pairs - 10 * tens) << 8;
}

/* Writes eight digits from the skip-th on, and zeros after them. */
static void put_digits(uint64_t digits, unsigned skip, char *to)
{
	digits = (digits >> 8 * skip) + UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	digits = __builtin_bswap64(digits);
#endif
	memcpy(to, &digits, sizeof digits);
}

/* %g of mantissa * 10^(exponent - DIGITS + 1); the mantissa has DIGITS digits. */
static size_t put_general(uint32_t mantissa, int exponent, char *to)
{
	uint64_t digits = split_digits(mantissa * 10);
	/* without the zeros at the end */
	size_t len = 8 - (size_t)__builtin_clzll(digits) / 8;

	if (exponent < -4 || exponent >= DIGITS) {
		put_digits(digits, 1, to + 2);
		to[0] = (char)('0' + (digits & 0xf));
		to[1] = '.';
		size_t at = len > 1 ? len + 1 : 1;
		unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
		to[at++] = 'e';
		to[at++] = exponent < 0 ? '-' : '+';
		to[at++] = (char)('0' + magnitude / 10);
		to[at++] = (char)('0' + magnitude % 10);
		return at;
	}
	if (exponent < 0) {
		size_t at = (size_t)(1 - exponent);
		memcpy(to, "0.000", 5);
		put_digits(digits, 0, to + at);
		return at + len;
	}
	unsigned whole = (unsigned)exponent + 1; /* digits before the point */
	put_digits(digits, 0, to);
	if (len <= whole)
		return whole;
	put_digits(digits, whole, to + whole + 1);
	to[whole] = '.';
	return len + 1;
}

/*
 * A number that is not whole: its magnitude, at least 2^binary and less than twice that. 0:
 * rounding needs more precision than is available.
 */
static size_t put_fraction(double number, int binary, char *to)
{
	/* floor(log10(number)), or one less */
	for (int exponent = (binary * 1233 - (binary < 0 ? 4095 : 0)) / 4096;; exponent++) {
		int shift = DIGITS - 1 - exponent;
		if (shift > EXACT_POWER || shift < -EXACT_POWER)
			return 0;
		/* one rounding, so the error is below 1e-9 */
		double scaled = shift < 0 ? number / powers[-shift] : number * powers[shift];
		if (scaled >= powers[DIGITS])
			continue;
		uint32_t mantissa = (uint32_t)scaled;
		double rest = scaled - mantissa - 0.5;
		if (rest < 1e-6 && rest > -1e-6)
			return 0;
		mantissa += rest > 0;
		if (mantissa == 10000000) {
			mantissa /= 10;
			exponent++;
		}
		return put_general(mantissa, exponent, to);
	}
}

/* Prints the number with snprintf, which is exact for all. */
static size_t put_exactly(double number, int digits, char *to)
{
	char text[TR_TEXT_REAL_MAX];
	int len = snprintf(text, sizeof text, "%.*g", digits, number);

	memcpy(to, text, (size_t)len);
	return (size_t)len;
}

size_t tr_text_real32(uint32_t bits, char *to)
{
	unsigned exponent = bits >> 23 & 0xff;
	size_t sign = bits >> 31;
	float number;

	memcpy(&number, &bits, sizeof number);
	if (exponent == 0xff)
		return put_exactly(number, DIGITS, to);
	*to = '-';
	double magnitude = sign ? -(double)number : (double)number;
	if (magnitude < powers[DIGITS]) {
		uint32_t whole = (uint32_t)magnitude;
		if (whole == magnitude)
			return sign + tr_decimal_write(whole, to + sign);
	}
	size_t len = exponent ? put_fraction(magnitude, (int)exponent - 127, to + sign) : 0;
	return len ? sign + len : put_exactly(number, DIGITS, to);
}

size_t tr_text_real64(uint64_t bits, char *to)
{
	enum { PRECISION = 16 };
	size_t sign = bits >> 63;
	double number;

	memcpy(&number, &bits, sizeof number);
	double magnitude = fabs(number);
	if (magnitude < powers[PRECISION]) {
		uint64_t whole = (uint64_t)magnitude;
		*to = '-';
		if ((double)whole == magnitude)
			return sign + tr_decimal_write(whole, to + sign);
	}
	return put_exactly(number, PRECISION, to);
}
