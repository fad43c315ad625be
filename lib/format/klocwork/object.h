/* SPDX-License-Identifier: MIT */
/*
 * One JSON object of a trace, converted to the columns and fields of its record. The pieces are
 * spelled in the order of the source, directly from its text, and collected in the order of the
 * vocabulary.
 */
#ifndef TR_FORMAT_KLOCWORK_OBJECT_H
#define TR_FORMAT_KLOCWORK_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "record/json.h"

/*
 * Ids are compared by keys: equal values have equal keys, however a trace spells them.
 */

/* An integer without a leading zero is its own key, as most ids are. */
bool tr_klocwork_id_is_plain(struct tr_text text);

/*
 * Appends the key of an id that is a JSON number: by its value if it has a point or an exponent,
 * else as it is written, so that numbers beyond 64 bits stay distinct.
 */
void tr_klocwork_number_key(struct tr_text number, struct tr_buffer *to);

/*
 * The key of any JSON text, in the arena if it differs from the text; data NULL: a value that trec
 * cannot hold, which equals nothing. False: memory is out.
 */
bool tr_klocwork_id_key(struct tr_text json, struct tr_arena *arena, struct tr_text *key);

/* The key of a parent_id (data NULL: absent) stands for no parent. */
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

/* Positions in a record's line where fields may be inserted later. */
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
