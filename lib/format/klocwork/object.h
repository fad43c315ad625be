/*
 * One JSON object of a trace, converted to the columns and fields of its
 * record. The pieces are spelled in the order in which the source has them,
 * straight from its text, and gathered in the order of the vocabulary.
 */
#ifndef TR_FORMAT_KLOCWORK_OBJECT_H
#define TR_FORMAT_KLOCWORK_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "record/json.h"

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
	 * The record's fields cannot hold all that the object says: a number
	 * beyond double's range, no id, an executable that is no string …
	 */
	bool lossy;
	bool env_top; /* env-diff is against the env line: envtop; set by the owner */
	struct tr_buffer text;
	struct tr_klocwork_piece pieces[TR_KLOCWORK_KEYS]; /* cells, or TAB key=value */
	struct tr_klocwork_piece id; /* id and parent_id so that equal ones have the same bytes */
	struct tr_klocwork_piece parent_id;
	struct tr_buffer extra; /* members of other keys, spelled, with a comma between */
	size_t extra_count;
	size_t extra_value;	       /* where the value of the last one begins */
	struct tr_klocwork_piece name; /* its key as a cell */
	bool name_lossy;
	bool deepest; /* a value of another key has no room for a bracket around it */
};

/* The key and the value of a META or ENV with one member; what is absent has data NULL. */
struct tr_text tr_klocwork_object_name(const struct tr_klocwork_object *object);
struct tr_text tr_klocwork_object_value(const struct tr_klocwork_object *object);

/* A cell or a literal of the object; data NULL where it is absent. */
struct tr_text tr_klocwork_object_piece(const struct tr_klocwork_object *object,
					struct tr_klocwork_piece piece);

/*
 * Converts the object at json. TR_JSON_OBJECT: done, json is behind it.
 * TR_JSON_CUT, TR_JSON_BAD: err says why, the content means nothing.
 */
enum tr_json_token tr_klocwork_object_read(struct tr_klocwork_object *object, struct tr_json *json,
					   struct tr_error *err);

/* Where in a record's line fields can still be put in. */
struct tr_klocwork_gaps {
	size_t parent, flagged;
};

/*
 * Appends the record's line, without LF. parent: seq of the parent,
 * TR_NO_POSITION where there is none. gaps: offsets from the line's start.
 */
void tr_klocwork_object_line(const struct tr_klocwork_object *object, uint64_t seq, uint64_t parent,
			     struct tr_buffer *to, struct tr_klocwork_gaps *gaps);

void tr_klocwork_object_free(struct tr_klocwork_object *object);

#endif
