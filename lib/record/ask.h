/* SPDX-License-Identifier: MIT */
/*
 * The value of a field by its key, in one call. There are two conventions:
 *
 * - tr_ask_... is for writers and views, which show what they can. A field of another type, or with
 *   a malformed value, counts as absent. Only exhausted memory is an error: err then gets
 *   TR_CAUSE_MEMORY, and later calls keep it, so that one check after several calls is enough.
 *
 *	tr_error_clear(&err);
 *	pid = tr_ask_number(record, "child", 0, &err);
 *	cwd = tr_ask_string(record, "cwd", &err);
 *	if (tr_error_is_memory(&err))
 *		return TR_FATAL;
 *
 * - tr_field_... is for consumers to which a wrong field is an error, which they report.
 *
 * Values belong to the arena of the record and are valid as long as the record. Not thread safe.
 */
#ifndef TR_RECORD_ASK_H
#define TR_RECORD_ASK_H

#include "core/arena.h"
#include "record/record.h"

/* Returns the value of the field if it has this type. NULL: it does not, or there is none. */
const struct tr_value *tr_ask(struct tr_record *record, const char *key, enum tr_type type,
			      struct tr_error *err);

/* As tr_ask, for a value of any type, and for a field that the caller has found. */
const struct tr_value *tr_ask_any(struct tr_record *record, const char *key, struct tr_error *err);
const struct tr_value *tr_ask_field(struct tr_record *record, struct tr_field *field,
				    struct tr_error *err);

/* True if the record has such a field, whatever its value is. */
bool tr_ask_has(struct tr_record *record, const char *key, struct tr_error *err);

/*
 * Returns the bytes of a cell, in the arena if they differ from its text. A number is spelled, and
 * a malformed cell is returned as it is. data NULL: memory is exhausted.
 */
struct tr_text tr_ask_cell(const struct tr_cell *cell, struct tr_arena *arena,
			   struct tr_error *err);

/* Returns the bytes of a string. data NULL: the field is no string, or there is none. */
struct tr_text tr_ask_string(struct tr_record *record, const char *key, struct tr_error *err);

/* Returns an unsigned number, or `otherwise`. */
uint64_t tr_ask_number(struct tr_record *record, const char *key, uint64_t otherwise,
		       struct tr_error *err);

/* True if the value is a symbol that consists of this one word, without a number. */
bool tr_ask_is(struct tr_record *record, const char *key, const char *word, struct tr_error *err);

/*
 * Sets *value to that of a field that has to be there. TR_OK; TR_WARN: it is missing, malformed, of
 * another type, or a cut string or list, and err names it; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_field_need(struct tr_record *record, const char *key, enum tr_type type,
			     const struct tr_value **value, struct tr_error *err);

/*
 * As tr_field_need, for a field of any type that may be missing: *value is then NULL. TR_OK;
 * TR_WARN: it is malformed, and err has the reason; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_field_find(struct tr_record *record, const char *key,
			     const struct tr_value **value, struct tr_error *err);

/*
 * Sets *bytes to those of a string that may be missing: data is then NULL. Otherwise as
 * tr_field_need.
 */
enum tr_status tr_field_string(struct tr_record *record, const char *key, struct tr_text *bytes,
			       struct tr_error *err);

/*
 * Sets *number to an unsigned number that may be missing: *number is then unchanged. A number above
 * the limit `most` is TR_WARN, too. Otherwise as tr_field_need.
 */
enum tr_status tr_field_number(struct tr_record *record, const char *key, uint64_t most,
			       uint64_t *number, struct tr_error *err);

/*
 * Steps through a list of unsigned numbers. A canonical list is read from its text, because values
 * would take about ten times as much memory: fifty megabytes for a million numbers.
 *
 *	status = tr_numbers_begin(&numbers, record, field, err);
 *	while (status == TR_OK && (status = tr_numbers_next(&numbers, &number)) == TR_OK)
 *		use(number);
 */

struct tr_numbers {
	const char *pos, *end; /* in the text; NULL: the list has values */
	const struct tr_value *values;
	size_t left;
};

/*
 * Begins with the first number. TR_OK; TR_WARN: the field is no list, or the list was cut, and err
 * has the reason; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_numbers_begin(struct tr_numbers *numbers, struct tr_record *record,
				struct tr_field *field, struct tr_error *err);

/*
 * TR_OK: *number is the next one; TR_END: there is none; TR_WARN: the next item is no such number.
 */
enum tr_status tr_numbers_next(struct tr_numbers *numbers, uint64_t *number);

#endif
