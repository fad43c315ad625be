/* SPDX-License-Identifier: MIT */
/* The biggest allocation so far of a program that is linked with damage_alloc.c. */
#ifndef TR_TESTS_DAMAGE_ALLOC_H
#define TR_TESTS_DAMAGE_ALLOC_H

#include <stddef.h>

extern size_t damage_biggest;

/* What a reader or a writer may ask for at once when the file is a few hundred bytes. */
enum { DAMAGE_ALLOC_MAX = 4 << 20 };

#endif
