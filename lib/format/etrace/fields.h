/* SPDX-License-Identifier: MIT */
/* Reads the fields of a record for the writer. */
#ifndef TR_FORMAT_ETRACE_FIELDS_H
#define TR_FORMAT_ETRACE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/etrace/clock.h"
#include "record/record.h"

/* The form of a value for machines: the descriptor of <"/path";3>, or the value itself. */
const struct tr_value *tr_etrace_machine_form(const struct tr_value *value);

/* Sets *value to that of the last field of the key, NULL: none. False: it is bad; err says why. */
bool tr_etrace_field_value(struct tr_record *record, const char *key, const struct tr_value **value,
			   struct tr_error *err);

/*
 * Reads the last field of the key. *there is false if there is none. False: it has another type,
 * or memory is out; err says which.
 */
bool tr_etrace_field_string(struct tr_record *record, const char *key, bool *there,
			    struct tr_text *bytes, struct tr_error *err);
/* The same; a number may come with a form for people. */
bool tr_etrace_field_number(struct tr_record *record, const char *key, bool *there, int64_t *number,
			    struct tr_error *err);
/* The same without an error: false if the field is absent, or no such number. */
bool tr_etrace_field_uint(struct tr_record *record, const char *key, uint64_t *number);
/* Whether the field has the word as one of its flags, or is a number with that bit. */
bool tr_etrace_field_has(struct tr_record *record, const char *key, const char *word, uint64_t bit);
bool tr_etrace_field_true(struct tr_record *record, const char *key, bool *truth,
			  struct tr_error *err);

/* Reads "time" as seconds and nanoseconds, both 0 if it is absent. */
bool tr_etrace_field_time(const struct tr_record *record, struct tr_etrace_moment *time,
			  struct tr_error *err);

bool tr_etrace_field_task(const struct tr_record *record, uint64_t *task, struct tr_error *err);

#endif
