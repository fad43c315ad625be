/* SPDX-License-Identifier: MIT */
/* Real numbers to text: the shortest digits, and how they are laid out. */
#include <string.h>

#include "core/decimal.h"
#include "record/literal.h"
#include "record/real.h"

typedef unsigned __int128 u128;

/* digits * 10^exponent; digits has no zero at its end unless it is 0. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/* A power of ten as Schubfach wants it: rounded up. */
static struct tr_power power_above(int q)
{
	struct tr_power power = tr_power5(q);
	if (!tr_power5_is_exact(q)) {
		power.low++;
		power.high += power.low == 0;
	}
	return power;
}

/*
 * power * factor / 2^128, rounded to odd: the last bit also says that the
 * result is not whole. The power is too large by less than one unit, so that
 * what is left behind the point of a whole result is 0 or 1.
 */
static uint64_t scale64(struct tr_power power, uint64_t factor)
{
	u128 low = (u128)power.low * factor;
	u128 high = (u128)power.high * factor + (uint64_t)(low >> 64);
	return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The same with 64 bits of the power, which are enough for 32-bit numbers. */
static uint64_t scale32(uint64_t power, uint64_t factor)
{
	u128 product = (u128)power * factor;
	return (uint64_t)(product >> 64) | ((uint32_t)(product >> 32) > 1);
}

/* The interval that rounds to a number, its ends and the number itself times 4 / 10^exponent. */
struct interval {
	uint64_t lower, value, upper;
	bool open; /* the ends themselves round to a neighbour */
	int exponent;
};

static struct interval interval_of(const struct tr_real_width *width, uint64_t mantissa,
				   int exponent, bool uneven)
{
	/* floor(log10(2^exponent)); the interval is narrower below a power of two: 3/4 of it */
	int k = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22;
	int shift = exponent + tr_log2_power10(-k) + 1;
	uint64_t value = 4 * mantissa, lower = value - (uneven ? 1 : 2), upper = value + 2;
	struct interval in = { .open = mantissa & 1, .exponent = k };
	if (width == &tr_real64) {
		struct tr_power power = power_above(-k);
		in.lower = scale64(power, lower << shift);
		in.value = scale64(power, value << shift);
		in.upper = scale64(power, upper << shift);
	} else {
		uint64_t first = tr_powers_above[-k - TR_POWER_ABOVE_MIN];
		in.lower = scale32(first, lower << shift);
		in.value = scale32(first, value << shift);
		in.upper = scale32(first, upper << shift);
	}
	return in;
}

static bool is_inside(const struct interval *in, uint64_t n)
{
	return in->lower + in->open <= 4 * n && 4 * n + in->open <= in->upper;
}

/* Takes the zeros off the end of n, which is not 0; by halves, as their number is unforeseeable. */
static struct decimal strip_zeros(uint64_t n, int exponent)
{
	while (n % 100000000 == 0) {
		n /= 100000000;
		exponent += 8;
	}
	if (n % 10000 == 0) {
		n /= 10000;
		exponent += 4;
	}
	if (n % 100 == 0) {
		n /= 100;
		exponent += 2;
	}
	if (n % 10 == 0) {
		n /= 10;
		exponent += 1;
	}
	return (struct decimal){ n, exponent };
}

/*
 * The fewest digits inside the interval, the nearest of those. The interval is
 * wide enough for a whole number and too narrow for two multiples of ten.
 */
static struct decimal shortest(const struct interval *in)
{
	uint64_t below = in->value / 4, above = below + 1;
	uint64_t tens = below / 10 * 10;
	if (tens && is_inside(in, tens))
		return strip_zeros(tens, in->exponent);
	if (is_inside(in, tens + 10))
		return strip_zeros(tens + 10, in->exponent);
	bool below_inside = is_inside(in, below);
	if (below_inside && is_inside(in, above)) {
		/* the middle between the two, in quarters */
		uint64_t middle = 4 * below + 2;
		bool down = in->value < middle || (in->value == middle && below % 2 == 0);
		return (struct decimal){ down ? below : above, in->exponent };
	}
	return (struct decimal){ below_inside ? below : above, in->exponent };
}

static unsigned digit_count(uint64_t n)
{
	static const uint64_t powers[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
	};
	/* log10(2) is 1233 / 4096 as far as 18 digits go */
	unsigned guess = (unsigned)(64 - __builtin_clzll(n)) * 1233 >> 12;
	return guess + (n >= powers[guess]);
}

/* n, which has count digits. */
static void put_digits(uint64_t n, unsigned count, char *to)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	for (; count >= 2; count -= 2, n /= 100)
		memcpy(to + count - 2, pairs + 2 * (n % 100), 2);
	if (count)
		*to = (char)('0' + n);
}

/*
 * The layouts move digits in blocks of fixed size, which is faster than just
 * as many as there are: digits has 40 readable bytes, to has TR_REAL_MAX
 * writable ones less a sign. Neither block ends behind that: see the sums.
 */
enum { BLOCK = 16, HALF = 8 };

/* d[.ddd]e[-]dd: 2 + BLOCK */
static size_t put_scientific(const char *digits, unsigned count, int exponent, char *to)
{
	size_t len = count > 1 ? count + 1 : 1;
	to[0] = digits[0];
	to[1] = '.';
	memcpy(to + 2, digits + 1, BLOCK);
	to[len++] = 'e';
	if (exponent < 0)
		to[len++] = '-';
	unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
	unsigned width = digit_count(magnitude);
	put_digits(magnitude, width, to + len);
	return len + width;
}

/* With a digit on both sides of the point. */
static size_t put_fixed(const char *digits, unsigned count, int exponent, char *to)
{
	if (exponent < 0) { /* at most 0.0000 and 17 digits: 6 + BLOCK + 1 */
		unsigned zeros = (unsigned)-exponent;
		memcpy(to, "0.0000", 6);
		memcpy(to + 1 + zeros, digits, BLOCK + 1);
		return 1 + zeros + count;
	}
	unsigned whole = (unsigned)exponent + 1;
	if (count <= whole) { /* of at most 16: HALF + BLOCK, or 15 + HALF */
		memcpy(to, digits, BLOCK);
		memset(to + count, '0', count < HALF ? BLOCK : HALF);
		memcpy(to + whole, ".0", 2);
		return whole + 2;
	}
	memcpy(to, digits, BLOCK); /* HALF + 1 + BLOCK, or 16 + 1 + HALF */
	to[whole] = '.';
	memcpy(to + whole + 1, digits + whole, whole <= HALF ? BLOCK : HALF);
	return count + 1;
}

static size_t put_decimal(struct decimal d, char *to)
{
	char digits[40];
	unsigned count = digit_count(d.digits);
	put_digits(d.digits, count, digits);
	int exponent = d.exponent + (int)count - 1;
	if (exponent < -5 || exponent >= 16)
		return put_scientific(digits, count, exponent, to);
	return put_fixed(digits, count, exponent, to);
}

static size_t put_word(const char *word, char *to)
{
	size_t len = strlen(word);
	memcpy(to, word, len);
	return len;
}

/*
 * Whole numbers that all their neighbours are at least 1 away from have all of
 * their digits in front of the point. 0: it is another one.
 */
static inline size_t put_whole(const struct tr_real_width *width, uint64_t bits, char *to)
{
	unsigned shift = (unsigned)(width->bias + width->fraction_bits) -
			 (unsigned)(bits >> width->fraction_bits);
	if (shift > (unsigned)width->fraction_bits)
		return 0;
	uint64_t hidden = UINT64_C(1) << width->fraction_bits;
	uint64_t mantissa = (bits & (hidden - 1)) | hidden;
	if (mantissa & ((UINT64_C(1) << shift) - 1))
		return 0;
	size_t len = tr_decimal_write(mantissa >> shift, to);
	memcpy(to + len, ".0", 2);
	return len + 2;
}

/* Without sign and suffix; NaN and infinity are not the business of this. */
static size_t put_magnitude(const struct tr_real_width *width, uint64_t bits, char *to)
{
	if (bits == 0)
		return put_word("0.0", to);
	size_t whole = put_whole(width, bits, to);
	if (whole)
		return whole;
	uint64_t hidden = UINT64_C(1) << width->fraction_bits;
	uint64_t fraction = bits & (hidden - 1);
	int exponent = (int)(bits >> width->fraction_bits);
	bool uneven = fraction == 0 && exponent > 1;
	uint64_t mantissa = exponent ? fraction | hidden : fraction;
	int power = (exponent ? exponent : 1) - width->bias - width->fraction_bits;
	struct interval in = interval_of(width, mantissa, power, uneven);
	return put_decimal(shortest(&in), to);
}

static size_t put_nan(const char *prefix, uint64_t bits, int digits, char *to)
{
	size_t len = put_word(prefix, to);
	for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
		to[len++] = "0123456789abcdef"[bits >> shift & 15];
	return len;
}

size_t tr_real64_write(uint64_t bits, char *to)
{
	uint64_t magnitude = bits & (UINT64_MAX >> 1), infinity = UINT64_C(0x7ff) << 52;
	if (magnitude > infinity)
		return bits == UINT64_C(0x7ff8000000000000) ? put_word("nan", to)
							    : put_nan("nan:", bits, 16, to);
	size_t len = 0;
	if (bits != magnitude)
		to[len++] = '-';
	if (magnitude == infinity)
		return len + put_word("inf", to + len);
	return len + put_magnitude(&tr_real64, magnitude, to + len);
}

size_t tr_real32_write(uint32_t bits, char *to)
{
	uint32_t magnitude = bits & (UINT32_MAX >> 1), infinity = UINT32_C(0xff) << 23;
	if (magnitude > infinity)
		return bits == 0x7fc00000 ? put_word("nanf", to) : put_nan("nanf:", bits, 8, to);
	size_t len = 0;
	if (bits != magnitude)
		to[len++] = '-';
	if (magnitude == infinity)
		return len + put_word("inff", to + len);
	len += put_magnitude(&tr_real32, magnitude, to + len);
	to[len] = 'f';
	return len + 1;
}
