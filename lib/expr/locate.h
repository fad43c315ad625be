/* Finds the field that a path speaks of, without splitting the record. */
#ifndef TR_EXPR_LOCATE_H
#define TR_EXPR_LOCATE_H

#include <stdbool.h>

#include "core/error.h"
#include "expr/program.h"
#include "record/record.h"

/* Where a key was found: text of a line, or (text.data is NULL) a field that was built. */
struct tr_place {
	struct tr_record *record;
	struct tr_text text;
	struct tr_field *field;
};

/*
 * The last field with the path's key, of the leave (may be NULL) before that
 * of the record. False: there is none.
 */
bool tr_locate(const struct tr_path *path, struct tr_record *record, struct tr_record *leave,
	       struct tr_place *place);

/* The value of a field that was not located. NULL: there is none, or err->cause is set. */
struct tr_value *tr_locate_computed(const struct tr_path *path, struct tr_computed_fields *computed,
				    struct tr_record *record, struct tr_record *leave,
				    struct tr_error *err);

/* Its value. NULL: err is filled. */
struct tr_value *tr_place_value(const struct tr_place *place, struct tr_error *err);

/* The column of that name; *kind becomes the cell of a kind. Not for TR_SUBJECT_KEY. */
const struct tr_cell *tr_locate_column(enum tr_subject subject, const struct tr_record *record,
				       struct tr_cell *kind);

/*
 * The bytes of a cell, in the arena or where they stand. TR_OK; TR_END: the
 * cell is absent; TR_WARN: its escapes are wrong; TR_FATAL: memory.
 */
enum tr_status tr_cell_decode(const struct tr_cell *cell, struct tr_arena *arena,
			      struct tr_text *bytes, struct tr_error *err);

#endif
