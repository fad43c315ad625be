/* SPDX-License-Identifier: MIT */
/*
 * Private to the format klocwork, which trace-formats(5) describes.
 *
 *	klocwork.c    evidence, options; window -> unit -> object.c -> line (and .raw) -> parents.c ->
 *		      record
 *	object.c      JSON object -> pieces -> the record's line
 *	parents.c     ids, and the queue of records that are pending on a parent
 *	writer.c      record -> parent, as a reader of the written trace will find it (parents.c)
 *		      -> environment -> render.c -> bytes
 *	render.c      record -> JSON; the check of .raw
 */
#ifndef TR_FORMAT_KLOCWORK_KLOCWORK_H
#define TR_FORMAT_KLOCWORK_KLOCWORK_H

#include "format/format.h"
#include "format/klocwork/parents.h"
#include "record/json.h"

struct tr_writer *tr_klocwork_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err);

/*
 * object.c: one JSON object of a trace, converted to the columns and fields of its record. The
 * pieces are spelled in the order of the source, directly from its text, and collected in the order
 * of the vocabulary.
 *
 * Ids are compared by keys: equal values have equal keys, however a trace spells them.
 */

/* An integer without a leading zero is its own key, as most ids are. */
bool tr_klocwork_id_is_plain(struct tr_text text);

/*
 * The key of any JSON text, in the arena if it differs from the text; data NULL: a value that trec
 * cannot hold, which equals nothing. False: memory is out.
 */
bool tr_klocwork_id_key(struct tr_text json, struct tr_arena *arena, struct tr_text *key);

/* True if the key of a parent_id (data NULL: absent) means that there is no parent. */
bool tr_klocwork_names_nobody(struct tr_text parent_id);

enum tr_klocwork_kind {
	TR_KLOCWORK_EVENT, /* exec */
	TR_KLOCWORK_META,
	TR_KLOCWORK_ENV,
};

/* The keys of an event. */
enum tr_klocwork_key {
	TR_KLOCWORK_ID,
	TR_KLOCWORK_PARENT_ID,
	TR_KLOCWORK_WORK_DIR,
	TR_KLOCWORK_EXECUTABLE,
	TR_KLOCWORK_ARGS,
	TR_KLOCWORK_ENV_DIFF,
	TR_KLOCWORK_KEYS,
};

struct tr_klocwork_piece {
	size_t begin, len; /* in text; len 0: absent */
};

struct tr_klocwork_object {
	enum tr_klocwork_kind kind;
	/*
	 * The record's fields cannot hold the whole object: a number beyond the range of
	 * double, no id, an executable that is not a string …
	 */
	bool lossy;
	bool env_top; /* env-diff is against the env line: envtop; set by the owner */
	struct tr_buffer text;
	struct tr_klocwork_piece pieces[TR_KLOCWORK_KEYS]; /* cells, or TAB key=value */
	struct tr_klocwork_piece id;			   /* keys of id and parent_id */
	struct tr_klocwork_piece parent_id;
	struct tr_buffer extra; /* members of other keys, spelled, with a comma between */
	size_t extra_count;
	size_t extra_value;	       /* position of the last one's value */
	struct tr_klocwork_piece name; /* its key as a cell */
	bool name_lossy;
	bool deepest; /* a value of another key has the maximum depth */
};

/* The key and the value of a META or ENV with one member; data NULL: absent. */
struct tr_text tr_klocwork_object_name(const struct tr_klocwork_object *object);
struct tr_text tr_klocwork_object_value(const struct tr_klocwork_object *object);

/* A cell or a literal of the object; data NULL: absent. */
struct tr_text tr_klocwork_object_piece(const struct tr_klocwork_object *object,
					struct tr_klocwork_piece piece);

/*
 * Converts the object at json. TR_JSON_OBJECT: json is after it. TR_JSON_CUT, TR_JSON_BAD: err is
 * filled, and the content is undefined.
 */
enum tr_json_token tr_klocwork_object_read(struct tr_klocwork_object *object, struct tr_json *json,
					   struct tr_error *err);

/*
 * Appends the record's line, without LF. parent: seq of the parent,
 * TR_NO_POSITION where there is none. gaps: offsets from the line's start.
 */
void tr_klocwork_object_line(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
			     struct tr_buffer *to, struct tr_klocwork_gaps *gaps);

void tr_klocwork_object_free(struct tr_klocwork_object *object);

/*
 * Converts a unit of a text that is complete: one object with only blanks, commas and line ends
 * around it. The text needs TR_INPUT_PAD readable bytes after it. False: it is not one.
 */
bool tr_klocwork_unit_whole(struct tr_text text, struct tr_klocwork_object *object,
			    struct tr_error *err);

/* The garbage line in a unit's text, without blank lines before it and without its LF. */
struct tr_text tr_klocwork_unit_line(struct tr_text text);

/*
 * render.c: a record as a line of a trace, in kwinject's spelling. The writer uses it, and with
 * --exact the reader, to check whether the writer would give back the same bytes.
 */

/* The fields of an exec record that are used here, each the last of its key; NULL: absent. */
struct tr_klocwork_fields {
	struct tr_field *ppid, *cwd, *argv, *envdiff, *envtop, *env, *extra, *raw;
};

/*
 * Splits the record and finds its fields. TR_WARN: a column is not a field; *fields is unchanged.
 */
enum tr_status tr_klocwork_fields_find(struct tr_record *record, struct tr_klocwork_fields *fields,
				       struct tr_error *err);

/* Values that are written in place of the values of fields. */
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

/* As tr_klocwork_render_exec, for env, meta and raw (the text itself). */
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
