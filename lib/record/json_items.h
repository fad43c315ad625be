/* SPDX-License-Identifier: MIT */
/*
 * JSON objects in a row, as files hold them that are one list of objects, or
 * have an object a line. What stands between them (brackets of the list, commas,
 * blanks, a byte order mark) is stepped over; what is something else is
 * reported, and the search for an object goes on behind it. No byte of an
 * object is looked at twice because it comes in pieces.
 */
#ifndef TR_RECORD_JSON_ITEMS_H
#define TR_RECORD_JSON_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/input.h"
#include "core/text.h"
#include "record/json.h"

struct tr_json_items {
	struct tr_input *in;
	bool lines;    /* an object a line: behind trouble only a line's start is looked at */
	uint64_t line; /* where the window begins, from 1 */
	size_t taken;  /* bytes of the window that the last object has */
	bool inside;   /* a list is open */
	bool trouble;  /* what comes is passed over until an object begins */
};

void tr_json_items_init(struct tr_json_items *items, struct tr_input *in, bool lines);

/*
 * The next object, in the window with TR_INPUT_PAD behind it, until the next
 * call; *line is where it begins. TR_OK; TR_WARN: something else stood there
 * (err is filled), call again; TR_CAUSE_CUT: it ends in the middle of an object
 * or of the list. TR_END; TR_FATAL: memory.
 */
enum tr_status tr_json_items_next(struct tr_json_items *items, struct tr_text *object,
				  uint64_t *line, struct tr_error *err);

/* Looks at the first object of the window (which may be cut); false: there is none. */
bool tr_json_items_peek(struct tr_input *in, size_t most, struct tr_text *object);

/* A member of an object: the body of its key's string, and the text of its value. */
struct tr_json_member {
	struct tr_text key, value;
	enum tr_json_token type; /* first token of the value */
};

/*
 * The members of an object's text, which has TR_INPUT_PAD behind it, in the
 * arena. Of a text that is cut or broken those in front, and the one that it is
 * cut in with what there is of its value. False: memory is out.
 */
bool tr_json_members(struct tr_text object, struct tr_arena *arena, struct tr_json_member **members,
		     size_t *count);

/* Of a repeated key the last. NULL: there is none. */
const struct tr_json_member *tr_json_member_find(const struct tr_json_member *members, size_t count,
						 const char *key);

/*
 * Appends the trec spelling of a value's text; put_field as "\tkey=value", of a
 * member that may be NULL: nothing. False: no record can hold it, err is filled.
 */
bool tr_json_put_value(struct tr_text value, struct tr_buffer *to, struct tr_error *err);
bool tr_json_put_field(const char *key, const struct tr_json_member *member, struct tr_buffer *to,
		       struct tr_error *err);

#endif
