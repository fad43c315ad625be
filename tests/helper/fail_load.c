/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library: dlopen(3) of a library whose name begins with
 * TREC_FAIL_LOAD fails, as if it were not installed.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *dlopen(const char *file, int flags)
{
	void *(*next)(const char *file, int flags);
	const char *name = getenv("TREC_FAIL_LOAD");
	void *symbol = dlsym(RTLD_NEXT, "dlopen");

	memcpy(&next, &symbol, sizeof next);
	if (file && name && !strncmp(file, name, strlen(name)))
		file = "libthat-is-not-installed.so";
	return next(file, flags);
}
