/* SPDX-License-Identifier: MIT */
/*
 * What writers and views ask a record: the value of a field, if it is of the
 * type that they want. A field of another type, or of none, is as good as no
 * field. Memory that is out is not: then err gets TR_CAUSE_MEMORY, which the
 * next question leaves as it is, so that one look after several is enough;
 * whoever asks clears err first.
 */
#ifndef TR_RECORD_ASK_H
#define TR_RECORD_ASK_H

#include "core/arena.h"
#include "record/record.h"

/* NULL: there is no such value. */
const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err);

/* Of any type; of a field that the caller has. */
const struct tr_value *tr_ask_any(struct tr_record *record, const char *key, struct tr_error *err);
const struct tr_value *tr_ask_field(struct tr_record *record, struct tr_field *field,
				    struct tr_error *err);

/* Whether there is such a field, whatever its value. */
bool tr_ask_has(struct tr_record *record, const char *key, struct tr_error *err);

/*
 * What a cell stands for: its bytes, or its spelling where that is misspelled or
 * the cell holds a number; data NULL: memory is out.
 */
struct tr_text tr_ask_cell(const struct tr_cell *cell, struct tr_arena *arena,
			   struct tr_error *err);

/* The bytes of a string; data NULL: there is none. */
struct tr_text tr_ask_string(struct tr_record *record, const char *key, struct tr_error *err);

/* An unsigned number. */
uint64_t tr_ask_number(struct tr_record *record, const char *key, uint64_t otherwise,
		       struct tr_error *err);

/* Whether it is that word alone. */
bool tr_ask_is(struct tr_record *record, const char *key, const char *word, struct tr_error *err);

/*
 * What a reader of records requires: here a field that is wrong is an error. TR_OK; TR_END: there
 * is no such field, err is untouched; TR_WARN: it is wrong, err names it; TR_FATAL: memory is
 * exhausted.
 */
enum tr_status tr_field_read(struct tr_record *record, const char *key,
			     const struct tr_value **value, struct tr_error *err);

/* The same for a value of one type; never TR_END: a field that is missing is an error as well. */
enum tr_status tr_field_need(struct tr_record *record, const char *key, enum tr_type type,
			     const struct tr_value **value, struct tr_error *err);

/* The same for a number or a pointer, at most max. */
enum tr_status tr_field_number(struct tr_record *record, const char *key, uint64_t max,
			       uint64_t *number, struct tr_error *err);

/*
 * The numbers of a list one after the other. A list of a million bits is a few
 * megabytes of text and would be fifty of values: of a line that is spelled as
 * we spell it, the text itself is read.
 */

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
