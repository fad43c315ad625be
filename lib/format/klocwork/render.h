/*
 * A record as a line of a trace, in kwinject's spelling. The writer uses it,
 * and with --exact the reader, to see whether it would get its bytes back.
 */
#ifndef TR_FORMAT_KLOCWORK_RENDER_H
#define TR_FORMAT_KLOCWORK_RENDER_H

#include <stdbool.h>

#include "core/buffer.h"
#include "core/error.h"
#include "format/klocwork/object.h"
#include "record/record.h"

/* The fields of an exec record that matter here, each the last of its key; NULL: absent. */
struct tr_klocwork_fields {
	struct tr_field *parent, *ppid, *cwd, *argv, *envdiff, *envtop, *env, *extra, *raw;
};

/* Splits the record. TR_WARN: a column is no field. */
enum tr_status tr_klocwork_fields_find(struct tr_record *record, struct tr_klocwork_fields *fields,
				       struct tr_error *err);

/* What stands in the place of a field's value, where it does. */
struct tr_klocwork_overrides {
	struct tr_text parent_id; /* JSON text, instead of the ppid; data NULL: that stays */
	struct tr_text envdiff;	  /* a literal; data NULL: none */
	bool has_envdiff;	  /* the record's own fields are not to be looked at */
};

/*
 * Appends the object, without LF. TR_WARN: a value is bad or JSON has no place
 * for it (err says which), nothing was appended. TR_FATAL: memory.
 */
enum tr_status tr_klocwork_render_exec(struct tr_record *record,
				       const struct tr_klocwork_fields *fields,
				       const struct tr_klocwork_overrides *overrides,
				       struct tr_buffer *to, struct tr_error *err);

/* The same for env, meta and raw (the text itself). */
enum tr_status tr_klocwork_render_context(struct tr_record *record, struct tr_buffer *to,
					  struct tr_error *err);

/* Id of the event that the record becomes: the task as it is, else the seq. JSON text, appended. */
bool tr_klocwork_render_id(struct tr_record *record, struct tr_buffer *to, struct tr_error *err);

/*
 * The bytes of .raw when reading them gives the very fields of the record
 * (parent, flagged and .raw aside), else false; err then says why, which matters
 * where memory is out. object and bytes are scratch space.
 */
bool tr_klocwork_raw_holds(struct tr_record *record, struct tr_field *raw,
			   struct tr_klocwork_object *object, struct tr_buffer *bytes,
			   struct tr_error *err);

#endif
