/* SPDX-License-Identifier: MIT */
/* Libraries that are loaded when they are needed, and those that cannot be. */

#include "core/library.h"

#include <snappy-c.h>
#include <string.h>

#include "tap.h"

struct functions {
	__typeof__(snappy_max_compressed_length) *length;
	void (*other)(void);
};

int main(void)
{
	static const struct tr_library_function good[] = {
		TR_LIBRARY_FUNCTION(struct functions, length, snappy_max_compressed_length),
		{ NULL, 0 },
	};
	static const struct tr_library_function bad[] = {
		TR_LIBRARY_FUNCTION(struct functions, length, snappy_max_compressed_length),
		TR_LIBRARY_FUNCTION(struct functions, other, no_such_function),
		{ NULL, 0 },
	};
	struct functions functions;
	struct tr_error err;

	for (int i = 0; i < 2; i++) {
		functions = (struct functions){ NULL, NULL };
		ok(tr_library_load(TREC_LIBSNAPPY, good, &functions, &err), "loaded");
		ok(functions.length && functions.length(1000) >= 1000, "and works");
		ok(!functions.other, "nothing else is touched");
	}
	ok(!tr_library_load(TREC_LIBSNAPPY, bad, &functions, &err), "a function is missing");
	ok(err.cause == TR_CAUSE_SYSTEM && strstr(err.text, "no_such_function"), "%s", err.text);
	ok(!tr_library_load("libno-such-thing.so.7", good, &functions, &err), "no such library");
	ok(err.cause == TR_CAUSE_SYSTEM && strstr(err.text, "libno-such-thing.so.7"), "%s",
	   err.text);
	ok(!tr_library_load("libno-such-thing.so.7", good, &functions, NULL), "err may be NULL");
	return done_testing();
}
