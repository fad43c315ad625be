#include "record/real_exact.h"

#include <string.h>

/*
 * Large enough: the two that are compared are almost equal, and the longest
 * either gets is a mantissa times 5^1133 (the last of 769 digits of the
 * smallest numbers): less than 2700 bits.
 */
enum { LIMBS = 128 };

struct natural {
	uint32_t limbs[LIMBS]; /* lowest first */
	unsigned count;
};

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

static void multiply_power5(struct natural *n, int power)
{
	enum { STEP = 13, POWER = 1220703125 }; /* 5^13: the last within 32 bits */
	for (; power >= STEP; power -= STEP)
		multiply_add(n, POWER, 0);
	for (; power > 0; power--)
		multiply_add(n, 5, 0);
}

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

static int compare(const struct natural *a, const struct natural *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (unsigned i = a->count; i-- > 0;)
		if (a->limbs[i] != b->limbs[i])
			return a->limbs[i] < b->limbs[i] ? -1 : 1;
	return 0;
}

static void set_digits(struct natural *n, const uint8_t *digits, unsigned count)
{
	n->count = 0;
	for (unsigned i = 0; i < count; i++)
		multiply_add(n, 10, digits[i]);
}

static void set_bits(struct natural *n, uint64_t bits)
{
	n->count = 0;
	for (; bits; bits >>= 32)
		n->limbs[n->count++] = (uint32_t)bits;
}

int tr_real_compare(const uint8_t *digits, unsigned count, int exponent10, uint64_t mantissa,
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
