/* Text to real numbers, rounded once, in the number's own width. */
#include <float.h>
#include <stddef.h>
#include <string.h>

#include "record/literal.h"
#include "record/real.h"
#include "record/real_exact.h"

typedef unsigned __int128 u128;

enum { FIRST_DIGITS = 19 }; /* what 64 bits hold of any number */

struct decimal {
	bool negative;
	const char *first, *end; /* from the first digit that is not 0 to behind the last */
	uint64_t digits;	 /* the first FIRST_DIGITS of them */
	bool more;		 /* digits behind those that are not 0 */
	int exponent;		 /* of the last one in `digits` */
};

/* The number in a run of digits, no more than limit. */
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

/* False: all digits are 0. */
static bool split(struct tr_text text, struct decimal *d)
{
	/* beyond any text's length, so that zeros in front of the exponent cannot matter */
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
	const char *last = d->first; /* behind the last digit taken */
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

static struct product multiply(struct tr_power power, uint64_t factor, int exponent)
{
	u128 low = (u128)power.low * factor;
	u128 high = (u128)power.high * factor + (uint64_t)(low >> 64);
	return (struct product){ { (uint64_t)(high >> 64), (uint64_t)high, (uint64_t)low },
				 exponent };
}

/* The nearest number's bits, of two equally near the even one's; infinity's beyond the range. */
static uint64_t round_product(const struct tr_real_width *width, const struct product *n)
{
	/* both factors have their highest bit set, or nearly: few zeros stand in front */
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

/* Collects the digits that count; returns how many, and in *exponent that of the last one. */
static unsigned collect(const struct decimal *d, uint8_t *digits, int *exponent)
{
	unsigned count = 0;
	const char *p = d->first;
	for (; p < d->end && count < TR_EXACT_DIGITS; p++)
		if (*p != '.')
			digits[count++] = (uint8_t)(*p - '0');
	while (p < d->end && (*p == '0' || *p == '.'))
		p++;
	if (p < d->end)
		digits[count++] = 1;
	*exponent = d->exponent - (count > FIRST_DIGITS ? (int)count - FIRST_DIGITS : 0);
	return count;
}

/* Whether the decimal rounds to bits + 1 rather than to bits: compared with the middle, exactly. */
static bool rounds_up(const struct tr_real_width *width, const struct decimal *d, uint64_t bits)
{
	uint8_t digits[TR_EXACT_DIGITS + 1];
	int exponent10;
	unsigned count = collect(d, digits, &exponent10);
	uint64_t hidden = UINT64_C(1) << width->fraction_bits;
	int exponent = (int)(bits >> width->fraction_bits);
	uint64_t mantissa = (bits & (hidden - 1)) | (exponent ? hidden : 0);
	int power = (exponent ? exponent : 1) - width->bias - width->fraction_bits;
	int order = tr_real_compare(digits, count, exponent10, 2 * mantissa + 1, power - 1);
	return order > 0 || (order == 0 && (bits & 1));
}

static uint64_t nearest(const struct tr_real_width *width, const struct decimal *d)
{
	uint64_t infinity = (uint64_t)width->exponent_max << width->fraction_bits;
	if (d->exponent > TR_POWER_MAX)
		return infinity;
	if (d->exponent < TR_POWER_MIN)
		return 0;
	/* the decimal is at least `digits` and less than `digits + more`, times a power of ten */
	uint64_t above = d->digits + d->more;
	int shift = __builtin_clzll(above);
	int exponent = tr_log2_power10(d->exponent) - 127 - shift;
	struct tr_power power = tr_power5(d->exponent);
	struct product low = multiply(power, d->digits << shift, exponent);
	uint64_t bits = round_product(width, &low);
	bool exact = tr_power5_is_exact(d->exponent);
	if (exact && !d->more)
		return bits;
	if (!exact) {
		power.low++;
		power.high += power.low == 0;
	}
	struct product high = multiply(power, above << shift, exponent);
	if (round_product(width, &high) == bits)
		return bits;
	return bits + rounds_up(width, d, bits);
}

static bool read(const struct tr_real_width *width, struct tr_text text, uint64_t *bits)
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
 * The short way, for nearly all numbers there are: where the digits and the
 * power of ten are exact in a double, so is their quotient but for one rounding.
 */
enum { EXACT_POWER = 22 };

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
	return digits <= UINT64_C(1) << tr_real64.fraction_bits && *places <= EXACT_POWER;
}

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
	return read(&tr_real64, decimal, bits);
}

bool tr_real32_read(struct tr_text decimal, uint32_t *bits)
{
	uint64_t wide;
	bool negative;
	if (read_plain(decimal, &negative, &wide)) {
		/* rounding it again is right, unless that may have been the middle of two */
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
	bool in_range = read(&tr_real32, decimal, &wide);
	*bits = (uint32_t)wide;
	return in_range;
}
