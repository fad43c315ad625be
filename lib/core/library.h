/* SPDX-License-Identifier: MIT */
/*
 * Loads shared libraries that few runs need. The dynamic loader takes a tenth of a millisecond for
 * most of them, and longer than a tool takes to read a small trace for ICU and libstdc++, on which
 * libarchive and libsnappy depend.
 *
 *	struct functions {
 *		__typeof__(foo_open) *open;
 *	};
 *	static const struct tr_library_function symbols[] = {
 *		TR_LIBRARY_FUNCTION(struct functions, open, foo_open),
 *		{ NULL, 0 },
 *	};
 *	tr_library_load("libfoo.so.1", symbols, &functions, err)
 *
 * Thread safe, as dlopen(3) is.
 */
#ifndef TR_CORE_LIBRARY_H
#define TR_CORE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

/* The name of a function, and its offset in a struct of function pointers. */
struct tr_library_function {
	const char *name;
	size_t offset;
};

#define TR_LIBRARY_FUNCTION(table, member, name) \
	{ \
#name, offsetof(table, member) \
	}

/*
 * Fills the struct; the array ends with a NULL name. A loaded library is never unloaded, so the
 * caller frees nothing, and another call is cheap. False: err is filled.
 */
bool tr_library_load(const char *file, const struct tr_library_function *symbols, void *functions,
		     struct tr_error *err);

#endif
