/* SPDX-License-Identifier: MIT */
/*
 * Shared by reading and writing real numbers, for lib/record only.
 *
 * Both multiply by powers of ten with 128 bits. Writing is Raffaele Giulietti's Schubfach ("The
 * Schubfach way to render doubles", 2020), with the powers rounded up. Reading treats them as an
 * interval, and uses exact integers of any length if the ends of the interval round to different
 * numbers.
 */
#ifndef TR_RECORD_REAL_H
#define TR_RECORD_REAL_H

#include <stdbool.h>
#include <stdint.h>

/* The layout of IEEE 754; a number is mantissa * 2^(exponent - bias - fraction_bits). */
struct tr_real_width {
	int fraction_bits;
	int bias;
	unsigned exponent_max; /* of infinity and NaN */
};

extern const struct tr_real_width tr_real64, tr_real32;

enum { TR_POWER_MIN = -364, TR_POWER_MAX = 335 };

/* The first 128 bits of a power of five, with the highest one set; the other bits are truncated. */
struct tr_power {
	uint64_t high, low;
};

/* 5^q for TR_POWER_MIN <= q <= TR_POWER_MAX: power * 2^(tr_log2_power10(q) - q - 127). */
struct tr_power tr_power5(int q);

/* True if those 128 bits are all of 5^q. */
static inline bool tr_power5_is_exact(int q)
{
	return q >= 0 && q <= 55;
}

/* 5^-31 to 5^45, as needed for 32-bit numbers: 64 bits of each, rounded up. */
enum { TR_POWER_ABOVE_MIN = -31, TR_POWERS_ABOVE = 77 };
extern const uint64_t tr_powers_above[TR_POWERS_ABOVE];

/* floor(log2(10^q)) for |q| <= 1233. */
static inline int tr_log2_power10(int q)
{
	return (q * 1741647) >> 19;
}

#endif
