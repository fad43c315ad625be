/* SPDX-License-Identifier: MIT */
/*
 * The code that a trace has covered, for comparison with another trace: addresses, bits of source
 * units, or lines, functions and branches of source files.
 *
 *	a trace -> tr_covered_add for each line -> tr_covered_end
 *	another -> tr_covered_test for each line
 *
 * Code is identified by its address in its own file. A block is covered if all of its bytes and the
 * outcomes of its branch are. Memory grows with the distinct items. Not thread safe.
 */
#ifndef TR_COVERAGE_COVERED_H
#define TR_COVERAGE_COVERED_H

#include "core/error.h"
#include "record/record.h"

struct tr_covered;

/* NULL: memory is exhausted. */
struct tr_covered *tr_covered_new(void);
void tr_covered_free(struct tr_covered *covered);

/*
 * Takes a line of the trace. TR_OK; TR_WARN: the record is malformed, and adds nothing; TR_FATAL:
 * memory is exhausted.
 */
enum tr_status tr_covered_add(struct tr_covered *covered, struct tr_record *record,
			      struct tr_error *err);

/* Ends the trace: tests may follow. False: it contains nothing that can be covered. */
bool tr_covered_end(struct tr_covered *covered);

/*
 * True if the trace has anything with which such a record can be compared: code (block), source
 * units (unit) or source lines (all others).
 */
bool tr_covered_has_kind(const struct tr_covered *covered, const struct tr_record *record);

enum tr_covered_answer {
	TR_COVERED_NO,	  /* the trace has not covered it */
	TR_COVERED_YES,	  /* the trace has covered all of it */
	TR_COVERED_NEVER, /* the record itself says that it was not executed */
	TR_COVERED_OTHER, /* the record is not about coverage */
};

/*
 * Compares a line of another trace. The bits that the trace has covered (common: has not covered)
 * are removed from a record of kind unit; the answer states whether there are bits left. TR_OK,
 * TR_WARN and TR_FATAL are as above.
 */
enum tr_status tr_covered_test(struct tr_covered *covered, struct tr_record *record, bool common,
			       enum tr_covered_answer *answer, struct tr_error *err);

#endif
