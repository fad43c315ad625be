/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: makes the allocations fail that TREC_FAIL_ALLOC selects.
 *
 *	N	the N-th fails, those after it succeed again
 *	N+	the N-th and all after it fail
 *	0	none fails
 *
 * Counted from 1 and from this library's constructor on. At the end the number
 * of allocations is written to the file TREC_FAIL_ALLOC_COUNT, where one is
 * named. Programs that a tool runs, such as objdump, are left alone. glibc only: it calls through
 * these names itself, and keeps the real ones under __libc_.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_ulong allocations;
static unsigned long first_to_fail;
static bool fail_on;
static bool armed;

__attribute__((constructor)) static void arm(void)
{
	const char *text = getenv("TREC_FAIL_ALLOC");
	char *end = NULL;
	if (strncmp(program_invocation_short_name, "tr-", 3) != 0)
		return;
	if (text)
		first_to_fail = strtoul(text, &end, 10);
	fail_on = end && *end == '+';
	armed = true;
}

__attribute__((destructor)) static void report(void)
{
	unsigned long count = allocations;
	const char *path = armed ? getenv("TREC_FAIL_ALLOC_COUNT") : NULL;
	armed = false;
	FILE *file = path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%lu\n", count);
		fclose(file);
	}
}

static bool fails(void)
{
	if (!armed)
		return false;
	unsigned long number = atomic_fetch_add(&allocations, 1) + 1;
	bool result =
		first_to_fail && (number == first_to_fail || (fail_on && number > first_to_fail));
	if (result)
		errno = ENOMEM;
	return result;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
	return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size)
{
	void *memory = memalign(alignment, size);
	if (!memory)
		return ENOMEM;
	*result = memory;
	return 0;
}
