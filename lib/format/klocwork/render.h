/* SPDX-License-Identifier: MIT */
/*
 * A record as a line of a trace, in kwinject's spelling. The writer uses it, and with --exact the
 * reader, to check whether the writer would give back the same bytes.
 */
#ifndef TR_FORMAT_KLOCWORK_RENDER_H
#define TR_FORMAT_KLOCWORK_RENDER_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"
#include "format/klocwork/object.h"
#include "record/record.h"

/* The fields of an exec record that are used here, each the last of its key; NULL: absent. */
struct tr_klocwork_fields {
	struct tr_field *parent, *ppid, *cwd, *argv, *envdiff, *envtop, *env, *extra, *raw;
};

/* Splits the record. TR_WARN: a column is not a field. */
enum tr_status tr_klocwork_fields_find(struct tr_record *record, struct tr_klocwork_fields *fields,
				       struct tr_error *err);

/* Values that replace those of fields. */
struct tr_klocwork_overrides {
	struct tr_text parent_id; /* JSON text, instead of the ppid; data NULL: that stays */
	struct tr_text envdiff;	  /* a literal; data NULL: none */
	bool has_envdiff;	  /* the record's own fields are ignored */
};

/*
 * Appends the object without LF. TR_WARN: a value is malformed or JSON cannot hold it, and nothing
 * is appended. TR_FATAL: memory.
 */
enum tr_status tr_klocwork_render_exec(struct tr_record *record,
				       const struct tr_klocwork_fields *fields,
				       const struct tr_klocwork_overrides *overrides,
				       struct tr_buffer *to, struct tr_error *err);

/* The same for env, meta and raw (the text itself). */
enum tr_status tr_klocwork_render_context(struct tr_record *record, struct tr_buffer *to,
					  struct tr_error *err);

/* Appends the id of the event as JSON text: the task, else the seq. */
bool tr_klocwork_render_id(struct tr_record *record, struct tr_buffer *to, struct tr_error *err);

/*
 * Decodes .raw into bytes. True if reading them gives exactly the fields of the record, except for
 * parent, flagged and .raw; object is then the one that was read. False: err may be memory.
 */
bool tr_klocwork_raw_holds(struct tr_record *record, struct tr_field *raw,
			   struct tr_klocwork_object *object, struct tr_buffer *bytes,
			   struct tr_error *err);

#endif
