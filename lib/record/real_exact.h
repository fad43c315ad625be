/* Comparing a decimal with a binary number exactly, for lib/record/real_read.c only. */
#ifndef TR_RECORD_REAL_EXACT_H
#define TR_RECORD_REAL_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * More digits than any number half way between two of 64 bits has (767). What
 * follows them can only break a tie, so one digit more stands for all of it.
 */
enum { TR_EXACT_DIGITS = 768 };

/* -1, 0, 1: how digits * 10^exponent10 compares with mantissa * 2^exponent2; digits are 0 to 9. */
int tr_real_compare(const uint8_t *digits, unsigned count, int exponent10, uint64_t mantissa,
		    int exponent2);

#endif
