/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out: the allocation that countdown selects fails. For one
 * program, linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc, so that
 * it works under sanitizers, too.
 */
#ifndef TR_TESTS_FAILING_ALLOC_H
#define TR_TESTS_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int countdown; /* the allocation that fails; 0: none */
static bool failed;

static bool fails(void)
{
	if (countdown == 0 || --countdown > 0)
		return false;
	failed = true;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

#endif
