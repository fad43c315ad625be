/* What a writer counts and tells at the end. All zero: nothing so far. */
#ifndef TR_FORMAT_KLOCWORK_WRITER_TALLY_H
#define TR_FORMAT_KLOCWORK_WRITER_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

struct tr_klocwork_tally {
	uint64_t strangers; /* execs with the difference to a parent that is not in the trace */
	uint64_t unknown;   /* execs whose env-diff could not be computed */
	uint64_t limited;   /* those whose env-diff would take too much */
	uint64_t mistaken;  /* execs that a reader will not take for children of their parent */
	uint64_t untold;    /* execs that say nothing, where the env line is ours */
};

/* One message a call, which takes what it tells out; TR_OK: that was all. */
enum tr_status tr_klocwork_tally_tell(struct tr_klocwork_tally *tally, struct tr_error *err);

#endif
