/* SPDX-License-Identifier: MIT */
/*
 * Values of fields, for writers and views: tr_ask_... returns the value of a field if it has the
 * wanted type, and treats a field of another type as absent. If memory is exhausted, err gets
 * TR_CAUSE_MEMORY, and later calls keep it, so one check after several calls is enough; the caller
 * clears err first. tr_field_... is for readers of records, which report wrong fields. Values are
 * valid as long as the record. Not thread safe.
 */
#ifndef TR_RECORD_ASK_H
#define TR_RECORD_ASK_H

#include "core/arena.h"
#include "record/record.h"

/* Returns the value of a field if it has this type, or NULL. */
const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err);

/* Like tr_ask, for a value of any type, and for a field that the caller has. */
const struct tr_value *tr_ask_any(struct tr_record *record, const char *key, struct tr_error *err);
const struct tr_value *tr_ask_field(struct tr_record *record, struct tr_field *field,
				    struct tr_error *err);

/* True if the record has such a field, with any value. */
bool tr_ask_has(struct tr_record *record, const char *key, struct tr_error *err);

/*
 * The bytes of a cell, or its spelling if that is malformed or the cell is a number. data is NULL
 * if memory is exhausted.
 */
struct tr_text tr_ask_cell(const struct tr_cell *cell, struct tr_arena *arena,
			   struct tr_error *err);

/* Returns the bytes of a string; data is NULL if there is none. */
struct tr_text tr_ask_string(struct tr_record *record, const char *key, struct tr_error *err);

/* An unsigned number. */
uint64_t tr_ask_number(struct tr_record *record, const char *key, uint64_t otherwise,
		       struct tr_error *err);

/* True if the value is the symbol with this one name. */
bool tr_ask_is(struct tr_record *record, const char *key, const char *word, struct tr_error *err);

/*
 * For consumers to which a wrong or missing field is an error. TR_OK; TR_WARN: err names the field;
 * TR_FATAL: memory is exhausted.
 */
enum tr_status tr_field_need(struct tr_record *record, const char *key, enum tr_type type,
			     const struct tr_value **value, struct tr_error *err);

/*
 * Like tr_field_need, for a field that may be missing; *value is NULL then. TR_OK; TR_WARN: it is malformed;
 * TR_FATAL.
 */
enum tr_status tr_field_find(struct tr_record *record, const char *key,
			     const struct tr_value **value, struct tr_error *err);

/*
 * The numbers of a list, one after the other. A list of a million bits has a few megabytes of text
 * and would need fifty as values, so the text itself is read if it is canonical.
 */

struct tr_numbers {
	const char *pos, *end; /* in the text; NULL: the list has values */
	const struct tr_value *values;
	size_t left;
};

/*
 * Begins. TR_OK; TR_WARN: the field is not a complete list, err has the reason; TR_FATAL: memory is
 * exhausted.
 */
enum tr_status tr_numbers_begin(struct tr_numbers *numbers, struct tr_record *record,
				struct tr_field *field, struct tr_error *err);

/*
 * Returns TR_OK and sets *number to the next one. TR_END. TR_WARN: an element is not an unsigned
 * number; err is unchanged.
 */
enum tr_status tr_numbers_next(struct tr_numbers *numbers, uint64_t *number);

#endif
