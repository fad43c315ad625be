/* SPDX-License-Identifier: MIT */
/* Products of 64-bit numbers in 128 bits, also where the compiler has no such type. */
#ifndef TR_CORE_WIDE_H
#define TR_CORE_WIDE_H

#include <stdint.h>

struct tr_wide {
	uint64_t high, low;
};

static inline struct tr_wide tr_wide_multiply(uint64_t a, uint64_t b)
{
#if defined __SIZEOF_INT128__ && !defined TR_PORTABLE
	unsigned __int128 product = (unsigned __int128)a * b;
	return (struct tr_wide){ (uint64_t)(product >> 64), (uint64_t)product };
#else
	/* four products of halves; no sum exceeds 64 bits */
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
	uint64_t other = a0 * b1 + (uint32_t)middle;
	return (struct tr_wide){ a1 * b1 + (middle >> 32) + (other >> 32), a * b };
#endif
}

/* Returns the product plus another number, which never exceeds 128 bits. */
static inline struct tr_wide tr_wide_multiply_add(uint64_t a, uint64_t b, uint64_t number)
{
	struct tr_wide product = tr_wide_multiply(a, b);
	product.low += number;
	product.high += product.low < number;
	return product;
}

#endif
