/*
 * Many source traces made one: the units of all of them, each with the bits that are set in
 * any trace. A unit is its file name and the fingerprint of its source coverage obligations
 * (scos), as gnatcov has it, so one trace may have several units of one name. A later trace
 * whose unit of a known name has other fingerprints, or other numbers of bits, was made of
 * another version of the source: that unit is left out with a message.
 *
 * Header and information entries are those of the first trace; units come in the order in
 * which they appear first. Memory grows with the distinct units and the bits set in them.
 */
#ifndef TR_COVERAGE_MERGE_UNITS_H
#define TR_COVERAGE_MERGE_UNITS_H

#include "core/error.h"
#include "core/output.h"
#include "record/record.h"

struct tr_merge_units;

/* NULL: memory is out. */
struct tr_merge_units *tr_merge_units_new(void);
void tr_merge_units_free(struct tr_merge_units *units);

/* The next trace begins; header may be NULL. TR_OK, TR_WARN or TR_FATAL. */
enum tr_status tr_merge_units_begin(struct tr_merge_units *units, struct tr_record *header,
				    struct tr_error *err);

/* A record of kind info or unit; others are passed over. */
enum tr_status tr_merge_units_put(struct tr_merge_units *units, struct tr_record *record,
				  struct tr_error *err);

/* Writes header and records, counting these in *seq. False: memory is out. */
bool tr_merge_units_write(struct tr_merge_units *units, uint64_t *seq, struct tr_output *out);

#endif
