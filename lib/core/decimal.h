/* SPDX-License-Identifier: MIT */
/* Decimal digits, without a locale. */
#ifndef TR_CORE_DECIMAL_H
#define TR_CORE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TR_DECIMAL_MAX = 20 }; /* digits that 64 bits have at most */

/* How many digits n has. */
static inline size_t tr_decimal_length(uint64_t n)
{
	static const uint64_t powers[] = {
		UINT64_C(1),
		UINT64_C(10),
		UINT64_C(100),
		UINT64_C(1000),
		UINT64_C(10000),
		UINT64_C(100000),
		UINT64_C(1000000),
		UINT64_C(10000000),
		UINT64_C(100000000),
		UINT64_C(1000000000),
		UINT64_C(10000000000),
		UINT64_C(100000000000),
		UINT64_C(1000000000000),
		UINT64_C(10000000000000),
		UINT64_C(100000000000000),
		UINT64_C(1000000000000000),
		UINT64_C(10000000000000000),
		UINT64_C(100000000000000000),
		UINT64_C(1000000000000000000),
		UINT64_C(10000000000000000000),
	};
	/* log2(10) is 4096 / 1233, nearly, so this is right or one too small */
	unsigned below = (64u - (unsigned)__builtin_clzll(n | 1)) * 1233 >> 12;

	return below + (below < TR_DECIMAL_MAX && n >= powers[below]) + (n == 0);
}

/* The digits of n, two at a time from the back; returns how many. */
static inline size_t tr_decimal_write(uint64_t n, char *to)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	size_t len = tr_decimal_length(n);
	char *p = to + len;

	for (; n >= 100; n /= 100) {
		p -= 2;
		memcpy(p, pairs + n % 100 * 2, 2);
	}
	if (n >= 10)
		memcpy(p - 2, pairs + n * 2, 2);
	else
		p[-1] = (char)('0' + n);
	return len;
}

/*
 * A number that is mostly one more than the one before: all of its digits but
 * the last two are kept. Those are written anew each time, because what was
 * just stored by bytes is slow to be loaded in blocks.
 */
struct tr_counter {
	uint64_t hundreds;
	char digits[TR_DECIMAL_MAX]; /* of the hundreds */
	uint8_t len;		     /* 0: of none */
};

/* The digits of number; to has room for TR_DECIMAL_MAX + 2, whatever they are. Returns how many. */
static inline size_t tr_counter_write(struct tr_counter *counter, uint64_t number, char *to)
{
	uint64_t hundreds = number / 100;
	if (hundreds == 0)
		return tr_decimal_write(number, to);
	if (hundreds != counter->hundreds || !counter->len) {
		counter->hundreds = hundreds;
		counter->len = (uint8_t)tr_decimal_write(hundreds, counter->digits);
	}
	memcpy(to, counter->digits, TR_DECIMAL_MAX);
	uint64_t rest = number - 100 * hundreds;
	to[counter->len] = (char)('0' + rest / 10);
	to[counter->len + 1] = (char)('0' + rest % 10);
	return (size_t)counter->len + 2;
}

#endif
