/* What writers take out of records. */
#ifndef TR_FORMAT_ETRACE_FIELDS_H
#define TR_FORMAT_ETRACE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/etrace/clock.h"
#include "record/record.h"

/* What the value is for machines: the descriptor of <"/path";3>, others themselves. */
const struct tr_value *tr_etrace_machine_form(const struct tr_value *value);

/*
 * The last field of the key. *there is false where there is none. False: it is
 * not of the type, and err says so, or memory is out.
 */
bool tr_etrace_field_string(struct tr_record *record, const char *key, bool *there,
			    struct tr_text *bytes, struct tr_error *err);
/* The same; a number may come with a form for people. */
bool tr_etrace_field_number(struct tr_record *record, const char *key, bool *there, int64_t *number,
			    struct tr_error *err);
/* The same without an error: false where the field is not there, or is no such number. */
bool tr_etrace_field_uint(struct tr_record *record, const char *key, uint64_t *number);
/* The field has the word as one of its flags, or a number with that bit. */
bool tr_etrace_field_has(struct tr_record *record, const char *key, const char *word, uint64_t bit);
bool tr_etrace_field_true(struct tr_record *record, const char *key, bool *truth,
			  struct tr_error *err);

/* "time" as seconds and nanoseconds, both 0 where it is absent. */
bool tr_etrace_field_time(const struct tr_record *record, struct tr_etrace_moment *time,
			  struct tr_error *err);

/* "task" as a number. */
bool tr_etrace_field_task(const struct tr_record *record, uint64_t *task, struct tr_error *err);

#endif
