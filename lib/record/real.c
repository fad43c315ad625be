/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes real numbers. Both multiply by powers of ten with 128 bits. Writing is Raffaele
 * Giulietti's Schubfach ("The Schubfach way to render doubles", 2020), with the powers rounded up.
 * Reading treats them as an interval, and uses exact integers of any length if the ends of the
 * interval round to different numbers.
 */

#include "record/literal.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/text.h"
#include "core/wide.h"

/* The layout of IEEE 754; a number is mantissa * 2^(exponent - bias - fraction_bits). */
struct width {
	int fraction_bits;
	int bias;
	unsigned exponent_max; /* of infinity and NaN */
};

static const struct width real64 = { 52, 1023, 0x7ff };
static const struct width real32 = { 23, 127, 0xff };

enum { POWER_MIN = -364, POWER_MAX = 335, STEP = 28 };

/* The first 128 bits of a power of five, with the highest one set; the other bits are truncated. */
struct power {
	uint64_t high, low;
};

/* True if those 128 bits are all of 5^q. */
static inline bool power5_is_exact(int q)
{
	return q >= 0 && q <= 55;
}

/* floor(log2(10^q)) for |q| <= 1233. */
static inline int log2_power10(int q)
{
	return (q * 1741647) >> 19;
}

/* 5^0 to 5^27: all that 64 bits hold. */
static const uint64_t small[STEP] = {
	0x0000000000000001, 0x0000000000000005, 0x0000000000000019, 0x000000000000007d,
	0x0000000000000271, 0x0000000000000c35, 0x0000000000003d09, 0x000000000001312d,
	0x000000000005f5e1, 0x00000000001dcd65, 0x00000000009502f9, 0x0000000002e90edd,
	0x000000000e8d4a51, 0x0000000048c27395, 0x000000016bcc41e9, 0x000000071afd498d,
	0x0000002386f26fc1, 0x000000b1a2bc2ec5, 0x000003782dace9d9, 0x00001158e460913d,
	0x000056bc75e2d631, 0x0001b1ae4d6e2ef5, 0x000878678326eac9, 0x002a5a058fc295ed,
	0x00d3c21bcecceda1, 0x0422ca8b0a00a425, 0x14adf4b7320334b9, 0x6765c793fa10079d,
};

/*
 * The first 192 bits of every 28th power of five, truncated. These are 64 bits more than the result
 * has, so that the first 128 bits of the product with a small power are all right; test_real
 * computes each power again and compares.
 */
static const uint64_t large[][3] = {
	{ 0xe1afa13afbd14d6d, 0x82189c09a3a1ec21, 0x7a43516213c7e04c }, /* -364 */
	{ 0xe3e27a444d8d98b7, 0xfd1b1b2308169b25, 0x363b1f2c568dc3e2 }, /* -336 */
	{ 0xe61acf033d1a45df, 0x6fb92487298e33bd, 0xadd7728c20b99bd1 }, /* -308 */
	{ 0xe858ad248f5c22c9, 0xd1b3400f8f9cff68, 0xf910f9f648232f14 }, /* -280 */
	{ 0xea9c227723ee8bcb, 0x465e15a979c1cadc, 0x0a0ce827eac11f2d }, /* -252 */
	{ 0xece53cec4a314ebd, 0xa4f8bf5635246428, 0x4609ac5c7899ca36 }, /* -224 */
	{ 0xef340a98172aace4, 0x86fb897116c87c34, 0x9c39c1da4c49278d }, /* -196 */
	{ 0xf18899b1bc3f8ca1, 0xdc44e6c3cb279ac1, 0xf80f36174730ca34 }, /* -168 */
	{ 0xf3e2f893dec3f126, 0x5a89dba3c3efccfa, 0xd8ecb58659be9c90 }, /* -140 */
	{ 0xf64335bcf065d37d, 0x4d4617b5ff4a16d5, 0xaa09501d5954a559 }, /* -112 */
	{ 0xf8a95fcf88747d94, 0x75a44c6397ce912a, 0x33cca6c06b07b74d }, /* -84 */
	{ 0xfb158592be068d2e, 0xeed6e2f0f0d56712, 0xac2e4f162cfad40a }, /* -56 */
	{ 0xfd87b5f28300ca0d, 0x8bca9d6e188853fc, 0x76dcb60081ce0fa5 }, /* -28 */
	{ 0x8000000000000000, 0x0000000000000000, 0x0000000000000000 }, /* 0 */
	{ 0x813f3978f8940984, 0x4000000000000000, 0x0000000000000000 }, /* 28 */
	{ 0x82818f1281ed449f, 0xbff8f10e7a8921a4, 0x2000000000000000 }, /* 56 */
	{ 0x83c7088e1aab65db, 0x792667c6da79e0fa, 0x0861d3ee22d1cc53 }, /* 84 */
	{ 0x850fadc09923329e, 0x03e2cf6bc604ddb0, 0x74a7ef0198791097 }, /* 112 */
	{ 0x865b86925b9bc5c2, 0x0b8a2392ba45a9b2, 0x5c6658d409fb8bf7 }, /* 140 */
	{ 0x87aa9aff79042286, 0x90fb44d2f05d0842, 0xfb118fc9c217a1d2 }, /* 168 */
	{ 0x88fcf317f22241e2, 0x441fece3bdf81f03, 0x12f274928400100d }, /* 196 */
	{ 0x8a5296ffe33cc92f, 0x82bd6b70d99aaa6f, 0xbc10c5c5cda97c8d }, /* 224 */
	{ 0x8bab8eefb6409c1a, 0x1ad089b6c2f7548e, 0x25c7b885ba466e37 }, /* 252 */
	{ 0x8d07e33455637eb2, 0xdb0b487b6423e1e8, 0x7ec63730f500b406 }, /* 280 */
	{ 0x8e679c2f5e44ff8f, 0x570f09eaa7ea7648, 0x5961db50c6d2b886 }, /* 308 */
};

/* 5^q for POWER_MIN <= q <= POWER_MAX: power * 2^(log2_power10(q) - q - 127). */
static struct power power5(int q)
{
	unsigned index = (unsigned)(q - POWER_MIN);
	const uint64_t *row = large[index / STEP];
	uint64_t factor = small[index % STEP];
	struct tr_wide p0 = tr_wide_multiply(row[2], factor);
	struct tr_wide p1 = tr_wide_multiply_add(row[1], factor, p0.high);
	struct tr_wide p2 = tr_wide_multiply_add(row[0], factor, p1.high);
	uint64_t a = p2.high, b = p2.low, c = p1.low;
	if (a == 0) /* factor 1 */
		return (struct power){ b, c };
	int zeros = __builtin_clzll(a);
	if (zeros == 0)
		return (struct power){ a, b };
	return (struct power){ a << zeros | b >> (64 - zeros), b << zeros | c >> (64 - zeros) };
}

/*
 * 64 bits of 5^-31 to 5^45, rounded up, which are enough to write 32-bit numbers; test_real
 * computes each one again and compares.
 */
enum { POWER_ABOVE_MIN = -31, POWERS_ABOVE = 77 };
static const uint64_t powers_above[POWERS_ABOVE] = {
	0x81ceb32c4b43fcf5, 0xa2425ff75e14fc32, 0xcad2f7f5359a3b3f, 0xfd87b5f28300ca0e,
	0x9e74d1b791e07e49, 0xc612062576589ddb, 0xf79687aed3eec552, 0x9abe14cd44753b53,
	0xc16d9a0095928a28, 0xf1c90080baf72cb2, 0x971da05074da7bef, 0xbce5086492111aeb,
	0xec1e4a7db69561a6, 0x9392ee8e921d5d08, 0xb877aa3236a4b44a, 0xe69594bec44de15c,
	0x901d7cf73ab0acda, 0xb424dc35095cd810, 0xe12e13424bb40e14, 0x8cbccc096f5088cc,
	0xafebff0bcb24aaff, 0xdbe6fecebdedd5bf, 0x89705f4136b4a598, 0xabcc77118461cefd,
	0xd6bf94d5e57a42bd, 0x8637bd05af6c69b6, 0xa7c5ac471b478424, 0xd1b71758e219652c,
	0x83126e978d4fdf3c, 0xa3d70a3d70a3d70b, 0xcccccccccccccccd, 0x8000000000000000,
	0xa000000000000000, 0xc800000000000000, 0xfa00000000000000, 0x9c40000000000000,
	0xc350000000000000, 0xf424000000000000, 0x9896800000000000, 0xbebc200000000000,
	0xee6b280000000000, 0x9502f90000000000, 0xba43b74000000000, 0xe8d4a51000000000,
	0x9184e72a00000000, 0xb5e620f480000000, 0xe35fa931a0000000, 0x8e1bc9bf04000000,
	0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000, 0xad78ebc5ac620000,
	0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400, 0xd3c21bcecceda100,
	0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a, 0x813f3978f8940985,
	0xa18f07d736b90be6, 0xc9f2c9cd04674edf, 0xfc6f7c4045812297, 0x9dc5ada82b70b59e,
	0xc5371912364ce306, 0xf684df56c3e01bc7, 0x9a130b963a6c115d, 0xc097ce7bc90715b4,
	0xf0bdc21abb48db21, 0x96769950b50d88f5, 0xbc143fa4e250eb32, 0xeb194f8e1ae525fe,
	0x92efd1b8d0cf37bf, 0xb7abc627050305ae, 0xe596b7b0c643c71a, 0x8f7e32ce7bea5c70,
	0xb35dbf821ae4f38c,
};

/* The smallest number of 128 bits that is not below 5^q. */
static struct power power5_above(int q)
{
	struct power power = power5(q);
	if (!power5_is_exact(q)) {
		power.low++;
		power.high += power.low == 0;
	}
	return power;
}

/* Comparing a decimal with a binary number exactly. */

/*
 * More digits than any number half way between two of 64 bits has (767). The digits after them can
 * only break a tie, so one further digit represents all of them.
 */
enum { EXACT_DIGITS = 768 };

/*
 * This is enough: the two numbers that are compared are almost equal, and the longest of them is a
 * mantissa times 5^1133 (for the last of 769 digits of the smallest numbers): less than 2700 bits.
 */
enum { LIMBS = 128 };

struct natural {
	uint32_t limbs[LIMBS]; /* lowest first */
	unsigned count;
};

/* Multiplies a number by a factor, and adds a carry. */
static void multiply_add(struct natural *n, uint32_t factor, uint32_t carry)
{
	for (unsigned i = 0; i < n->count; i++) {
		uint64_t product = (uint64_t)n->limbs[i] * factor + carry;
		n->limbs[i] = (uint32_t)product;
		carry = (uint32_t)(product >> 32);
	}
	if (carry && n->count < LIMBS)
		n->limbs[n->count++] = carry;
}

/* Multiplies a number by a power of five, in steps that fit a limb. */
static void multiply_power5(struct natural *n, int power)
{
	enum { AT_ONCE = 13, POWER = 1220703125 }; /* 5^13: the last within 32 bits */
	for (; power >= AT_ONCE; power -= AT_ONCE)
		multiply_add(n, POWER, 0);
	for (; power > 0; power--)
		multiply_add(n, 5, 0);
}

/* Multiplies a number by a power of two. */
static void shift_left(struct natural *n, int bits)
{
	unsigned whole = (unsigned)bits / 32;
	if (n->count && whole && n->count + whole <= LIMBS) {
		memmove(n->limbs + whole, n->limbs, n->count * sizeof *n->limbs);
		memset(n->limbs, 0, whole * sizeof *n->limbs);
		n->count += whole;
	}
	multiply_add(n, UINT32_C(1) << (bits % 32), 0);
}

/* Compares two numbers of any length. */
static int compare(const struct natural *a, const struct natural *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (unsigned i = a->count; i-- > 0;)
		if (a->limbs[i] != b->limbs[i])
			return a->limbs[i] < b->limbs[i] ? -1 : 1;
	return 0;
}

/* Sets a number to decimal digits. */
static void set_digits(struct natural *n, const uint8_t *digits, unsigned count)
{
	n->count = 0;
	for (unsigned i = 0; i < count; i++)
		multiply_add(n, 10, digits[i]);
}

/* Sets a number to 64 bits. */
static void set_bits(struct natural *n, uint64_t bits)
{
	n->count = 0;
	for (; bits; bits >>= 32)
		n->limbs[n->count++] = (uint32_t)bits;
}

/* Compares digits * 10^exponent10 with mantissa * 2^exponent2: -1, 0 or 1. Digits are 0 to 9. */
static int real_compare(const uint8_t *digits, unsigned count, int exponent10, uint64_t mantissa,
			int exponent2)
{
	struct natural decimal, binary;
	set_digits(&decimal, digits, count);
	set_bits(&binary, mantissa);
	/* 10^e is 5^e * 2^e; each factor goes to the side where its exponent is positive */
	if (exponent10 >= 0)
		multiply_power5(&decimal, exponent10);
	else
		multiply_power5(&binary, -exponent10);
	int twos = exponent10 - exponent2;
	if (twos >= 0)
		shift_left(&decimal, twos);
	else
		shift_left(&binary, -twos);
	return compare(&decimal, &binary);
}

/* Text to real numbers, rounded once, in the width of the number. */

enum { FIRST_DIGITS = 19 }; /* any number of so many digits fits into 64 bits */

struct decimal {
	bool negative;
	const char *first, *end; /* from the first digit that is not 0 to after the last */
	uint64_t digits;	 /* the first FIRST_DIGITS of them */
	bool more;		 /* digits after those that are not 0 */
	int exponent;		 /* of the last one in `digits` */
};

/* Returns the number that the digits spell, but at most limit. */
static int64_t saturated(const char *p, const char *end, int64_t limit)
{
	int64_t n = 0;
	for (; p < end; p++) {
		n = n * 10 + (*p - '0');
		if (n > limit)
			n = limit;
	}
	return n;
}

/* Takes a text apart. False: all digits are 0, and only `negative` and `end` are set. */
static bool split(struct tr_text text, struct decimal *d)
{
	/* more than any text has digits, so that digits before or after the point do not matter */
	const int64_t limit = (int64_t)1 << 58;
	const char *p = text.data, *end = p + text.len;
	d->negative = *p == '-';
	p += d->negative;
	const char *mark = p, *point = NULL;
	d->first = NULL;
	for (; mark < end && (*mark | 0x20) != 'e'; mark++) {
		if (*mark == '.')
			point = mark;
		else if (*mark != '0' && !d->first)
			d->first = mark;
	}
	d->end = mark;
	if (!d->first)
		return false;
	int64_t exponent = 0;
	if (mark < end) {
		bool negative = mark[1] == '-';
		exponent = saturated(mark + 1 + (negative || mark[1] == '+'), end, limit);
		if (negative)
			exponent = -exponent;
	}
	unsigned count = 0;
	d->digits = 0;
	d->more = false;
	const char *last = d->first; /* after the last digit taken */
	for (p = d->first; p < mark; p++) {
		if (*p == '.')
			continue;
		if (count < FIRST_DIGITS) {
			d->digits = d->digits * 10 + (uint64_t)(*p - '0');
			count++;
			last = p + 1;
		} else if (*p != '0') {
			d->more = true;
			break;
		}
	}
	/* digits between the last one taken and the point */
	const char *ones = point ? point : mark;
	exponent += last <= ones ? ones - last : ones + 1 - last;
	d->exponent = exponent > 10000 ? 10000 : exponent < -10000 ? -10000 : (int)exponent;
	return true;
}

/* mantissa * 2^exponent, 192 bits of mantissa, lowest limb last. */
struct product {
	uint64_t limbs[3];
	int exponent;
};

/* The product of a power of 128 bits and a factor of 64 bits, in 192 bits. */
static struct product multiply(struct power power, uint64_t factor, int exponent)
{
	struct tr_wide low = tr_wide_multiply(power.low, factor);
	struct tr_wide high = tr_wide_multiply_add(power.high, factor, low.high);
	return (struct product){ { high.high, high.low, low.low }, exponent };
}

/*
 * Returns the bits of the nearest number, of two equally near ones the even one, and those of
 * infinity beyond the range.
 */
static uint64_t round_product(const struct width *width, const struct product *n)
{
	/* the highest bit of both factors is set, or nearly so: there are few leading zeros */
	int zeros = __builtin_clzll(n->limbs[0]);
	uint64_t first = n->limbs[0] << zeros;
	if (zeros)
		first |= n->limbs[1] >> (64 - zeros);
	bool rest = (n->limbs[1] << zeros) != 0 || n->limbs[2] != 0;
	/* of the highest bit: value = first.rest * 2^(top - 63) */
	int top = n->exponent + 191 - zeros;
	int least = 1 - width->bias;
	int drop = 63 - width->fraction_bits + (top < least ? least - top : 0);
	if (drop > 64)
		return 0;
	uint64_t kept = drop < 64 ? first >> drop : 0;
	uint64_t half = UINT64_C(1) << (drop - 1);
	uint64_t below = first & (half - 1);
	if ((first & half) && (below || rest || (kept & 1)))
		kept++;
	/* the hidden bit adds one to the exponent, and so does a carry out of the fraction */
	uint64_t biased = top < least ? 0 : (uint64_t)(top - least);
	uint64_t infinity = (uint64_t)width->exponent_max << width->fraction_bits;
	uint64_t bits = (biased << width->fraction_bits) + kept;
	return biased >= width->exponent_max || bits > infinity ? infinity : bits;
}

/* Collects the digits that count and returns their number; *exponent is that of the last one. */
static unsigned collect(const struct decimal *d, uint8_t *digits, int *exponent)
{
	unsigned count = 0;
	const char *p = d->first;
	for (; p < d->end && count < EXACT_DIGITS; p++)
		if (*p != '.')
			digits[count++] = (uint8_t)(*p - '0');
	while (p < d->end && (*p == '0' || *p == '.'))
		p++;
	if (p < d->end)
		digits[count++] = 1;
	*exponent = d->exponent - (count > FIRST_DIGITS ? (int)count - FIRST_DIGITS : 0);
	return count;
}

/* True if the decimal rounds to bits + 1 rather than to bits: it is compared with the middle. */
static bool rounds_up(const struct width *width, const struct decimal *d, uint64_t bits)
{
	uint8_t digits[EXACT_DIGITS + 1];
	int exponent10;
	unsigned count = collect(d, digits, &exponent10);
	uint64_t hidden = UINT64_C(1) << width->fraction_bits;
	int exponent = (int)(bits >> width->fraction_bits);
	uint64_t mantissa = (bits & (hidden - 1)) | (exponent ? hidden : 0);
	int power = (exponent ? exponent : 1) - width->bias - width->fraction_bits;
	int order = real_compare(digits, count, exponent10, 2 * mantissa + 1, power - 1);
	return order > 0 || (order == 0 && (bits & 1));
}

/*
 * The bits of the number that is nearest to a decimal. If both ends of the interval round to the
 * same number, that is the result; otherwise exact integers decide.
 */
static uint64_t nearest(const struct width *width, const struct decimal *d)
{
	uint64_t infinity = (uint64_t)width->exponent_max << width->fraction_bits;
	if (d->exponent > POWER_MAX)
		return infinity;
	if (d->exponent < POWER_MIN)
		return 0;
	/* the decimal is at least `digits` and less than `digits + more`, times a power of ten */
	uint64_t above = d->digits + d->more;
	int shift = __builtin_clzll(above);
	int exponent = log2_power10(d->exponent) - 127 - shift;
	struct product low = multiply(power5(d->exponent), d->digits << shift, exponent);
	uint64_t bits = round_product(width, &low);
	if (power5_is_exact(d->exponent) && !d->more)
		return bits;
	struct product high = multiply(power5_above(d->exponent), above << shift, exponent);
	if (round_product(width, &high) == bits)
		return bits;
	return bits + rounds_up(width, d, bits);
}

/*
 * Reads any decimal in a width. False: it overflows, or rounds to zero although a digit is not 0.
 */
static bool read_any(const struct width *width, struct tr_text text, uint64_t *bits)
{
	struct decimal d;
	bool zero = !split(text, &d);
	uint64_t infinity = (uint64_t)width->exponent_max << width->fraction_bits;
	*bits = zero ? 0 : nearest(width, &d);
	bool in_range = *bits != infinity && (zero || *bits != 0);
	if (d.negative)
		*bits |= (infinity + (UINT64_C(1) << width->fraction_bits));
	return in_range;
}

/*
 * A fast path for nearly all numbers: if a double holds the digits and the power of ten exactly,
 * their quotient is rounded only once.
 */
enum { EXACT_POWER = 22 };

/* Splits a decimal of few digits and without an exponent, as most are. False: it is none. */
static bool split_plain(struct tr_text text, struct decimal *d, unsigned *places)
{
	const char *p = text.data, *end = p + text.len, *point = NULL;
	uint64_t digits = 0;
	d->negative = p < end && *p == '-';
	p += d->negative;
	if (end - p > FIRST_DIGITS)
		return false;
	for (; p < end; p++) {
		unsigned digit = (unsigned char)*p - (unsigned)'0';
		if (digit <= 9)
			digits = digits * 10 + digit;
		else if (*p == '.')
			point = p;
		else
			return false;
	}
	*places = point ? (unsigned)(end - point) - 1 : 0;
	d->digits = digits;
	return digits <= UINT64_C(1) << real64.fraction_bits && *places <= EXACT_POWER;
}

/*
 * Reads such a decimal by one division: digits and power are exact doubles, so the quotient is
 * rounded once.
 */
static bool read_plain(struct tr_text text, bool *negative, uint64_t *bits)
{
	static const double powers[EXACT_POWER + 1] = {
		1e0,  1e1,  1e2,  1e3,	1e4,  1e5,  1e6,  1e7,	1e8,  1e9,  1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	};
	struct decimal d;
	unsigned places;
	if (FLT_EVAL_METHOD != 0 || !split_plain(text, &d, &places))
		return false;
	double quotient = (double)d.digits / powers[places];
	memcpy(bits, &quotient, sizeof quotient);
	*negative = d.negative;
	return true;
}

bool tr_real64_read(struct tr_text decimal, uint64_t *bits)
{
	bool negative;
	if (read_plain(decimal, &negative, bits)) {
		*bits |= (uint64_t)negative << 63;
		return true;
	}
	return read_any(&real64, decimal, bits);
}

bool tr_real32_read(struct tr_text decimal, uint32_t *bits)
{
	uint64_t wide;
	bool negative;
	if (read_plain(decimal, &negative, &wide)) {
		/*
		 * rounding the double again is right, unless it is at the middle between two floats
		 * or next to it: then the first rounding may have changed the side
		 */
		enum { MIDDLE = 1 << 28, BELOW = 2 * MIDDLE - 1 };
		double number;
		memcpy(&number, &wide, sizeof number);
		float single = (float)number;
		if ((wide & BELOW) - (MIDDLE - 1) > 2) {
			memcpy(bits, &single, sizeof *bits);
			*bits |= (uint32_t)negative << 31;
			return true;
		}
	}
	bool in_range = read_any(&real32, decimal, &wide);
	*bits = (uint32_t)wide;
	return in_range;
}

/* Real numbers to text: the shortest digits, and their layout. */

/* digits * 10^exponent; digits has no zero at its end unless it is 0. */
struct shortest {
	uint64_t digits;
	int exponent;
};

/*
 * power * factor / 2^128, rounded to odd: the last bit is also set if the result is not whole. The
 * power is too large by less than one unit, so that the fraction of a whole result is 0 or 1.
 */
static uint64_t scale64(struct power power, uint64_t factor)
{
	struct tr_wide low = tr_wide_multiply(power.low, factor);
	struct tr_wide high = tr_wide_multiply_add(power.high, factor, low.high);
	return high.high | (high.low > 1);
}

/* Like scale64, with 64 bits of the power, which are enough for 32-bit numbers. */
static uint64_t scale32(uint64_t power, uint64_t factor)
{
	struct tr_wide product = tr_wide_multiply(power, factor);
	return product.high | (product.low >> 32 > 1);
}

/* The interval that rounds to a number: its ends and the number, times 4 / 10^exponent. */
struct interval {
	uint64_t lower, value, upper;
	bool open; /* the ends themselves round to a neighbour */
	int exponent;
};

/*
 * The interval of the decimals that round to a number. uneven: the number is a power of two, below
 * which numbers are closer.
 */
static struct interval interval_of(const struct width *width, uint64_t mantissa, int exponent,
				   bool uneven)
{
	/* floor(log10(2^exponent)); the interval is narrower below a power of two: 3/4 of it */
	int k = (exponent * 1262611 - (uneven ? 524031 : 0)) >> 22;
	int shift = exponent + log2_power10(-k) + 1;
	uint64_t value = 4 * mantissa, lower = value - (uneven ? 1 : 2), upper = value + 2;
	struct interval in = { .open = mantissa & 1, .exponent = k };
	if (width == &real64) {
		struct power power = power5_above(-k);
		in.lower = scale64(power, lower << shift);
		in.value = scale64(power, value << shift);
		in.upper = scale64(power, upper << shift);
	} else {
		uint64_t first = powers_above[-k - POWER_ABOVE_MIN];
		in.lower = scale32(first, lower << shift);
		in.value = scale32(first, value << shift);
		in.upper = scale32(first, upper << shift);
	}
	return in;
}

/*
 * Whether a decimal is in the interval. Its ends belong to it if the mantissa is even, because
 * halves round to even.
 */
static bool is_inside(const struct interval *in, uint64_t n)
{
	return in->lower + in->open <= 4 * n && 4 * n + in->open <= in->upper;
}

/* Removes the zeros at the end of n, which is not 0; by halves, because there may be many. */
static struct shortest strip_zeros(uint64_t n, int exponent)
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
	return (struct shortest){ n, exponent };
}

/*
 * The fewest digits inside the interval, the nearest of those. The interval is
 * wide enough for a whole number and too narrow for two multiples of ten.
 */
static struct shortest shortest(const struct interval *in)
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
		return (struct shortest){ down ? below : above, in->exponent };
	}
	return (struct shortest){ below_inside ? below : above, in->exponent };
}

/*
 * The layouts copy digits in blocks of fixed size, which is faster than a copy of the exact length:
 * digits has 40 readable bytes, and to has TR_REAL_MAX writable bytes, less a sign. The sums in the
 * comments show that no block ends after that.
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
	return len + tr_decimal_write((uint64_t)(exponent < 0 ? -exponent : exponent), to + len);
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

/* Writes the shortest decimal in the notation that its exponent asks for. */
static size_t put_decimal(struct shortest d, char *to)
{
	char digits[40];
	unsigned count = (unsigned)tr_decimal_write(d.digits, digits);
	int exponent = d.exponent + (int)count - 1;
	if (exponent < -5 || exponent >= 16)
		return put_scientific(digits, count, exponent, to);
	return put_fixed(digits, count, exponent, to);
}

/* Writes a word, and returns its length. */
static size_t put_word(const char *word, char *to)
{
	size_t len = strlen(word);
	memcpy(to, word, len);
	return len;
}

/*
 * Writes a whole number whose neighbours are at least 1 away: all of its digits are before the
 * point. 0: it is another number.
 */
static inline size_t put_whole(const struct width *width, uint64_t bits, char *to)
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

/* Writes a finite number without its sign and suffix. */
static size_t put_magnitude(const struct width *width, uint64_t bits, char *to)
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

/* Writes a NaN with all its bits. */
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
	return len + put_magnitude(&real64, magnitude, to + len);
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
	len += put_magnitude(&real32, magnitude, to + len);
	to[len] = 'f';
	return len + 1;
}
