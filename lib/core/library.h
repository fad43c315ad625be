/* SPDX-License-Identifier: MIT */
/*
 * Shared libraries that few runs need, loaded when one does. What libarchive
 * and libsnappy bring with them (ICU, libstdc++ …) takes the dynamic loader
 * longer than a small trace takes us.
 *
 *	struct functions {
 *		__typeof__(foo_open) *open;
 *	};
 *	static const struct tr_symbol symbols[] = {
 *		TR_SYMBOL(struct functions, open, foo_open),
 *		{ NULL, 0 },
 *	};
 *	tr_library_load("libfoo.so.1", symbols, &functions, err)
 */
#ifndef TR_CORE_LIBRARY_H
#define TR_CORE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"

/* A function by its name, and where in a struct of pointers it goes to. */
struct tr_symbol {
	const char *name;
	size_t offset;
};

#define TR_SYMBOL(table, member, name) \
	{ \
#name, offsetof(table, member) \
	}

/*
 * Fills the struct; symbols end in a NULL name. Once loaded the library stays,
 * so there is nothing to give back, and the next time costs little. False: err
 * is filled.
 */
bool tr_library_load(const char *file, const struct tr_symbol *symbols, void *functions,
		     struct tr_error *err);

#endif
