/*
 * Many traces made one. All are of the kind that the first one is: source traces
 * (merge_units.h), drcov (merge_modules.h), or execution traces. These follow the
 * rule of ranges.h: what was executed in any of them, each range once, sorted, at
 * the address that it has in its own file. Records in, lines of the stream out:
 *
 *  - The information is that of the first trace, less the kernel's name, whose
 *    load address is taken off.
 *  - Shared objects stay apart: each is loaded once, at its first address, has
 *    its blocks, and is unloaded. Objects are the same where all that is said
 *    of them is.
 *  - Traces of another machine or width are left out, and decision maps, which
 *    are no executions.
 *
 * Not thread safe. Memory grows with what is different in the traces.
 */
#ifndef TR_COVERAGE_MERGE_H
#define TR_COVERAGE_MERGE_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_merge;

/* NULL: memory is out. */
struct tr_merge *tr_merge_new(void);
void tr_merge_free(struct tr_merge *merge);

/*
 * Takes a line of the stream; kinds that say nothing of executions are passed
 * over. TR_WARN: err says what was left out, or remarks on something. TR_FATAL:
 * memory, nothing more can be done with it.
 */
enum tr_status tr_merge_put(struct tr_merge *merge, struct tr_record *record,
			    struct tr_error *err);

/* Writes the segment: header, records, and trailer with these errors. False: memory. */
bool tr_merge_write(struct tr_merge *merge, uint64_t errors, bool truncated,
		    struct tr_output *out);

#endif
