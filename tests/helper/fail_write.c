/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: the N-th write(2) fails as TREC_FAIL_WRITE says, those
 * after it succeed again, which reveals code that continues to write.
 *
 *	N:ENOSPC N:EPIPE N:EIO N:EINTR N:EAGAIN
 *	N:short		the N-th and all after it write a part of their bytes
 *	0		none fails
 *
 * Counted from 1. stderr is left alone. At the end the number of writes is
 * written to the file TREC_FAIL_WRITE_COUNT, where one is named.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ulong writes;
static unsigned long first_to_fail;
static int failure; /* 0: short writes */

__attribute__((constructor)) static void arm(void)
{
	static const struct {
		const char *name;
		int number;
	} failures[] = {
		{ ":ENOSPC", ENOSPC }, { ":EPIPE", EPIPE },   { ":EIO", EIO },
		{ ":EINTR", EINTR },   { ":EAGAIN", EAGAIN },
	};
	const char *text = getenv("TREC_FAIL_WRITE");
	char *end = NULL;
	if (!text)
		return;
	first_to_fail = strtoul(text, &end, 10);
	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
		if (!strcmp(end, failures[i].name))
			failure = failures[i].number;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("TREC_FAIL_WRITE_COUNT");
	FILE *file = path ? fopen(path, "w") : NULL;
	if (file) {
		fprintf(file, "%lu\n", (unsigned long)writes);
		fclose(file);
	}
}

ssize_t write(int fd, const void *data, size_t len)
{
	if (fd != STDERR_FILENO) {
		unsigned long number = atomic_fetch_add(&writes, 1) + 1;
		if (first_to_fail && failure && number == first_to_fail) {
			errno = failure;
			return -1;
		}
		if (first_to_fail && !failure && number >= first_to_fail && len > 1)
			len = 1 + len / 3;
	}
	return syscall(SYS_write, fd, data, len);
}
