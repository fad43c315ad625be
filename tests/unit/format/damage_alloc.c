/* SPDX-License-Identifier: MIT */
/*
 * Wraps the allocator (-Wl,--wrap=malloc and so on): the biggest request is
 * remembered, so that a length that was believed shows, sanitizer or not.
 */
#include "damage_alloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

size_t damage_biggest;

static void note(size_t size)
{
	if (size > damage_biggest)
		damage_biggest = size;
}

void *__wrap_malloc(size_t size)
{
	note(size);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	note(size && count > (size_t)-1 / size ? (size_t)-1 : count * size);
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	note(size);
	return __real_realloc(old, size);
}
