/* SPDX-License-Identifier: MIT */
/*
 * Where each field of a record is shown: json_records.h says which goes where.
 * No two fields of one place have the same key.
 */
#ifndef TR_VIEW_JSON_FIELDS_H
#define TR_VIEW_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/error.h"
#include "record/record.h"

enum tr_json_place {
	TR_JSON_TOP,
	TR_JSON_ARGS,
	TR_JSON_RESULTS,
	TR_JSON_RETURN,
	TR_JSON_MORE,
};

struct tr_json_field {
	struct tr_text key; /* the bytes of it, or its spelling where they are no UTF-8 */
	struct tr_field *field;
	enum tr_json_place place;
	bool plain; /* the key is a word: nothing in it is escaped anywhere */
};

/* Zero it; serves one record after the other. */
struct tr_json_fields {
	struct tr_json_field *list; /* in the record's order */
	size_t count;
	struct tr_json_field **order; /* for sorting */
	size_t capacity;	      /* of list and order */
};

/* Kinds whose field names are those of the traced program. */
bool tr_json_has_args(struct tr_text kind);

/*
 * Looks at a record that is split. TR_WARN: a key is misspelled, it stands as
 * it is; err tells of the first. TR_FATAL: memory.
 */
enum tr_status tr_json_fields_arrange(struct tr_json_fields *fields, struct tr_record *record,
				      struct tr_error *err);

void tr_json_fields_free(struct tr_json_fields *fields);

#endif
