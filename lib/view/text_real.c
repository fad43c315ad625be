/*
 * Most numbers of a trace are whole, or a few digits behind the point: those
 * are scaled by an exact power of ten, and rounded where the error of that is
 * far from mattering. The rest is left to printf.
 */
#include "view/text_real.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 7, EXACT_POWER = 22 };

/* All that a double holds exactly. */
static const double powers[EXACT_POWER + 1] = {
	1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static size_t put_digits(uint64_t n, char *to)
{
	char digits[20];
	char *p = digits + sizeof digits;

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	size_t len = (size_t)(digits + sizeof digits - p);
	memcpy(to, p, len);
	return len;
}

/* %g of mantissa * 10^(exponent - DIGITS + 1); the mantissa has DIGITS digits. */
static size_t put_general(uint32_t mantissa, int exponent, char *to)
{
	char digits[20], *p = to;
	size_t len = put_digits(mantissa, digits);

	while (len > 1 && digits[len - 1] == '0')
		len--;
	if (exponent < -4 || exponent >= DIGITS) {
		*p++ = digits[0];
		if (len > 1) {
			*p++ = '.';
			memcpy(p, digits + 1, len - 1);
			p += len - 1;
		}
		*p++ = 'e';
		*p++ = exponent < 0 ? '-' : '+';
		unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
		if (magnitude < 10)
			*p++ = '0';
		return (size_t)(p - to) + put_digits(magnitude, p);
	}
	if (exponent < 0) {
		memcpy(p, "0.000", 5);
		p += 1 - exponent;
		memcpy(p, digits, len);
		return (size_t)(p - to) + len;
	}
	size_t whole = (size_t)exponent + 1; /* digits before the point */
	if (len <= whole) {
		memset(p, '0', whole);
		memcpy(p, digits, len);
		return whole;
	}
	memcpy(p, digits, whole);
	p[whole] = '.';
	memcpy(p + whole + 1, digits + whole, len - whole);
	return len + 1;
}

/*
 * A number that is no whole one, positive. 0: rounding it needs more precision
 * than there is here.
 */
static size_t put_fraction(double number, char *to)
{
	int exponent;

	frexp(number, &exponent);
	/* floor(log10(number)), perhaps one too small */
	exponent = (exponent - 1) * 30103 / 100000 - (exponent < 1);
	for (;; exponent++) {
		int shift = DIGITS - 1 - exponent;
		if (shift > EXACT_POWER || shift < -EXACT_POWER)
			return 0;
		/* one rounding, so the error is below 1e-9 */
		double scaled = shift < 0 ? number / powers[-shift] : number * powers[shift];
		if (scaled >= powers[DIGITS])
			continue;
		uint32_t mantissa = (uint32_t)scaled;
		double rest = scaled - mantissa;
		if (fabs(rest - 0.5) < 1e-6)
			return 0;
		mantissa += rest > 0.5;
		if (mantissa == 10000000) {
			mantissa /= 10;
			exponent++;
		}
		return put_general(mantissa, exponent, to);
	}
}

/* What printf says, which is exact whatever the number. */
static size_t put_exactly(double number, int digits, char *to)
{
	char text[TR_TEXT_REAL_MAX];
	int len = snprintf(text, sizeof text, "%.*g", digits, number);

	memcpy(to, text, (size_t)len);
	return (size_t)len;
}

/* A whole number below 10^digits; 0: it is none. */
static size_t put_whole(double number, int digits, char *to)
{
	double magnitude = fabs(number);

	if (!(magnitude < powers[digits]))
		return 0;
	uint64_t whole = (uint64_t)magnitude;
	if ((double)whole != magnitude)
		return 0;
	*to = '-';
	size_t sign = signbit(number) != 0;
	return sign + put_digits(whole, to + sign);
}

size_t tr_text_real32(uint32_t bits, char *to)
{
	float number;

	memcpy(&number, &bits, sizeof number);
	size_t len = put_whole(number, DIGITS, to);
	if (len || !isfinite(number))
		return len ? len : put_exactly(number, DIGITS, to);
	*to = '-';
	size_t sign = number < 0;
	len = put_fraction(fabs((double)number), to + sign);
	return len ? sign + len : put_exactly(number, DIGITS, to);
}

size_t tr_text_real64(uint64_t bits, char *to)
{
	double number;

	memcpy(&number, &bits, sizeof number);
	size_t len = put_whole(number, 16, to);
	return len ? len : put_exactly(number, 16, to);
}
