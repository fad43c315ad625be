/* SPDX-License-Identifier: MIT */
/* Loads a library and finds its functions when they are first needed. */

#include "core/library.h"

#include <dlfcn.h>
#include <string.h>

/* Fills err with the reason that the loader gives. False. */
static bool failed(const char *file, struct tr_error *err)
{
	const char *why = dlerror();
	tr_error_set(err, TR_CAUSE_SYSTEM, "%s cannot be used: %s", file,
		     why ? why : "unknown reason");
	return false;
}

bool tr_library_load(const char *file, const struct tr_library_function *symbols, void *functions,
		     struct tr_error *err)
{
	void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return failed(file, err);
	bool whole = true;
	for (; symbols->name && whole; symbols++) {
		void *function = dlsym(library, symbols->name);
		memcpy((char *)functions + symbols->offset, &function, sizeof function);
		whole = function != NULL;
	}
	if (!whole)
		failed(file, err);
	dlclose(library);
	return whole;
}
