/* SPDX-License-Identifier: MIT */
/*
 * Demangles the names of functions: C++ (_ZN1a1fEv is a::f()) with libstdc++, which is loaded here
 * and nowhere else, and Ada (pkg__sub is pkg.sub). The results are those of c++filt(1), except that
 * it expands some names of the standard library: std::string, std::istream.
 *
 * Names may be hostile, so call it in a process of its own. All zero at first. Not thread safe.
 */
#ifndef TR_SYMBOL_DEMANGLE_H
#define TR_SYMBOL_DEMANGLE_H

#include "core/buffer.h"
#include "core/error.h"

struct tr_demangle {
	char *(*cxx)(const char *name, char *room, size_t *size, int *status);
	char *room; /* of the last C++ name */
	size_t size;
	struct tr_buffer text; /* of the last Ada name */
	bool failed;	       /* memory is exhausted */
};

/* Loads libstdc++. False: err is filled. */
bool tr_demangle_begin(struct tr_demangle *demangle, struct tr_error *err);

/*
 * Returns the demangled name, which is valid until the next call, or the name itself if it is not
 * mangled. ada: the name is Ada's; otherwise only those of main programs (_ada_) are treated so.
 */
const char *tr_demangle(struct tr_demangle *demangle, const char *name, bool ada);

void tr_demangle_free(struct tr_demangle *demangle);

#endif
