/*
 * Objects that go over several lines: where one ends. What does not end is
 * garbage line by line, and each of these lines may open an object that goes
 * as far; so a search that failed is gone on with where it stopped.
 */
#ifndef TR_FORMAT_KLOCWORK_SPREAD_H
#define TR_FORMAT_KLOCWORK_SPREAD_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/input.h"
#include "record/json.h"

/* The search that failed last; zero: none did. */
struct tr_klocwork_spread {
	struct tr_json_walk walk;
	uint64_t behind;		    /* offset in the stream of what was not walked */
	uint64_t opened[TR_JSON_MAX_DEPTH]; /* offsets of the brackets that were open there */
};

/*
 * The object that begins `begin` bytes behind the window's pos does not end on
 * its line. OBJECT_END: it ends at *end. BAD, CUT: it does not, or memory is
 * out; err says which.
 */
enum tr_json_token tr_klocwork_spread_end(struct tr_klocwork_spread *spread, struct tr_input *in,
					  const struct tr_limits *limits, size_t begin, size_t *end,
					  struct tr_error *err);

#endif
