/* SPDX-License-Identifier: MIT */
/*
 * Coverage by source line of any trace that has it: the blocks of execution traces and the debug
 * information of the programs, or records that state lines.
 *
 *	-O exe, base, path -> programs
 *	tr_coverage_begin, tr_coverage_put -> tr_coverage_finish -> sources
 *
 * All zero at first; the owner frees it with tr_coverage_free. Memory grows with the programs and
 * not with the blocks. Not thread safe.
 */
#ifndef TR_COVERAGE_COVERAGE_H
#define TR_COVERAGE_COVERAGE_H

#include "coverage/programs.h"
#include "coverage/sources.h"

struct tr_coverage {
	struct tr_programs programs;
	struct tr_sources sources;
	bool entries; /* some record was counted */
	bool counted; /* some trace has counts, so the output has counts, not just 0 and 1 */
	bool history; /* each entry of this section is an execution */
	bool map;     /* this section is a decision map */
	bool bare;    /* the remark about programs without lines was made */
	bool remarked;
};

/* Begins a segment: forgets what was loaded. */
void tr_coverage_begin(struct tr_coverage *coverage);

/*
 * Takes a record. TR_OK; TR_END: it is of another kind; TR_WARN: it is malformed, or the program of
 * a module cannot be read; TR_FATAL: memory is exhausted, or there is a block and no program.
 */
enum tr_status tr_coverage_put(struct tr_coverage *coverage, struct tr_record *record,
			       struct tr_error *err);

/*
 * Takes blocks without records (block.h) that have been executed once each, and returns how many.
 * The next one must come as a record; so must all if they belong to modules.
 */
size_t tr_coverage_put_blocks(struct tr_coverage *coverage, const struct tr_block *blocks,
			      size_t count);

/* Completes sources, once, after the last record. False: memory is exhausted. */
bool tr_coverage_finish(struct tr_coverage *coverage);

/* Fills err with the next remark on the programs. False: there is no other. */
bool tr_coverage_remark(struct tr_coverage *coverage, struct tr_error *err);

void tr_coverage_free(struct tr_coverage *coverage);

/* Frees the counts of programs that the caller frees itself. */
void tr_coverage_free_counts(struct tr_programs *programs);

#endif
