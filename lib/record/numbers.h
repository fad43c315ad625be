/*
 * The numbers of a list one after the other. A list of a million bits is a few
 * megabytes of text and would be fifty of values: of a line that is spelled as
 * we spell it, the text itself is read.
 */
#ifndef TR_RECORD_NUMBERS_H
#define TR_RECORD_NUMBERS_H

#include "record/record.h"

struct tr_numbers {
	const char *pos, *end; /* of the text; NULL: there are values */
	const struct tr_value *values;
	size_t left;
};

/* TR_OK; TR_WARN: the field is no whole list, err says why; TR_FATAL: memory. */
enum tr_status tr_numbers_begin(struct tr_numbers *numbers, struct tr_record *record,
				struct tr_field *field, struct tr_error *err);

/* TR_OK: *number is the next. TR_END. TR_WARN: an element is no unsigned number; err is untouched.
 */
enum tr_status tr_numbers_next(struct tr_numbers *numbers, uint64_t *number);

#endif
