/* SPDX-License-Identifier: MIT */
/*
 * Names of functions as the source has them: C++ (_ZN1a1fEv is a::f()) by libstdc++, which is loaded
 * here and nowhere else, and Ada (pkg__sub is pkg.sub). The results are those of c++filt(1), which
 * only writes some names of the standard library in full: std::string, std::istream.
 *
 * Names are hostile, so call it in a process of its own. All zero at first. Not thread safe.
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
 * Returns the name of the source, which is valid until the next call, or the name itself if it is no
 * mangled one. ada: the function is one of Ada; otherwise only names of main programs (_ada_) are.
 */
const char *tr_demangle(struct tr_demangle *demangle, const char *name, bool ada);

void tr_demangle_free(struct tr_demangle *demangle);

#endif
