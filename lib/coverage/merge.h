/* SPDX-License-Identifier: MIT */
/*
 * Merges many traces into one. The first one determines the form of all: execution traces
 * (merge_blocks.c), source traces (merge_units.c), drcov (merge_modules.c) or coverage by source
 * line (merge_sources.c).
 *
 *	records -> tr_merge_put -> the form's begin, put -> write -> lines of the stream
 *
 * Not thread safe. Memory grows with the differences between the traces.
 */
#ifndef TR_COVERAGE_MERGE_H
#define TR_COVERAGE_MERGE_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_merge;

/* Creates a merge; the caller frees it with tr_merge_free. NULL: memory is exhausted. */
struct tr_merge *tr_merge_new(void);
void tr_merge_free(struct tr_merge *merge);

/*
 * Adds a line of the stream; kinds that the form does not hold are skipped. TR_WARN: err describes
 * what was left out, or is a note. TR_FATAL: memory is exhausted, and merge must be freed.
 */
enum tr_status tr_merge_put(struct tr_merge *merge, struct tr_record *record, struct tr_error *err);

/*
 * Writes the segment: header, records, and a trailer with this number of errors. False: memory is
 * exhausted.
 */
bool tr_merge_write(struct tr_merge *merge, uint64_t errors, bool truncated, struct tr_output *out);

#endif
