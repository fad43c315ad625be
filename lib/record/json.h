/* SPDX-License-Identifier: MIT */
/*
 * JSON text and trec values. One pull scanner over JSON bytes, which gives the
 * trec spelling at once and keeps what JSON libraries lose: bytes that are no
 * UTF-8, lone surrogates, numbers as they are written, repeated keys.
 * No tree: argv goes from the trace's text to the stream's text in one pass.
 */
#ifndef TR_RECORD_JSON_H
#define TR_RECORD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/input.h"
#include "core/text.h"
#include "record/value.h"

struct tr_record;
struct tr_field;

enum tr_json_token {
	TR_JSON_OBJECT,	    /* { */
	TR_JSON_OBJECT_END, /* } */
	TR_JSON_ARRAY,
	TR_JSON_ARRAY_END,
	TR_JSON_STRING, /* as a value or as a key: text is what stands between the quotes */
	TR_JSON_NUMBER, /* text is the number as written */
	TR_JSON_TRUE,
	TR_JSON_FALSE,
	TR_JSON_NULL,
	TR_JSON_COLON,
	TR_JSON_COMMA,
	TR_JSON_CUT, /* the text ends inside a token or where one has to follow */
	TR_JSON_BAD, /* no token begins here; a line end inside a string; see pos */
};

/*
 * A position in a text that does not move. TR_INPUT_PAD bytes behind end have
 * to be readable. Copy the struct to look ahead.
 */
struct tr_json {
	const char *pos, *end;
};

/* Steps over blanks and one token. For STRING and NUMBER text is set (raw, escapes and all). */
enum tr_json_token tr_json_next(struct tr_json *json, struct tr_text *text);

/* What a conversion changed. */
struct tr_json_changes {
	bool respelled; /* other bytes than tr_json_from_literal would write, the same JSON */
	bool rounded;	/* an integer beyond 64 bits became the nearest REAL */
};

/*
 * Converts the value at pos to its trec spelling and appends that: strings,
 * lists, maps; integers within 64 bits as they are; other numbers as REAL.
 * Lenient as real producers need it: raw control bytes but LF in strings,
 * bytes that are no UTF-8 (`\xhh`), lone surrogates (`\ud800`).
 * changes (may be NULL): flags are set, never cleared.
 * TR_JSON_CUT: more text is needed; TR_JSON_BAD: err says what, pos is where;
 * a number beyond double's range is bad; more than 60 open brackets are bad.
 * After both what was appended is to be thrown away. Else the value's first token.
 */
enum tr_json_token tr_json_spell(struct tr_json *json, struct tr_buffer *to,
				 struct tr_json_changes *changes, struct tr_error *err);

/* DIGITS up to 2^53-1: a number that every JSON tool keeps as it is. */
bool tr_json_keeps_digits(struct tr_text text);

/* Open brackets, as in trec. */
enum { TR_JSON_MAX_DEPTH = 60 };

/* Where a walk over the tokens of one value is. Starts as TR_JSON_WALK_INIT. */
struct tr_json_walk {
	uint64_t maps; /* one bit for each open bracket, the innermost lowest: 1 for { */
	unsigned depth;
	enum {
		TR_JSON_WANTS_VALUE,
		TR_JSON_WANTS_ITEM,   /* a value or ] */
		TR_JSON_WANTS_MEMBER, /* a key or } */
		TR_JSON_WANTS_KEY,
		TR_JSON_WANTS_COLON,
		TR_JSON_WANTS_NEXT, /* a comma or what closes the bracket; at depth 0: complete */
	} wants;
};

#define TR_JSON_WALK_INIT \
	{ \
		0, 0, TR_JSON_WANTS_VALUE \
	}

/*
 * Steps over tokens until the value is complete and gives its last token;
 * TR_JSON_BAD: something else stands at pos, or too many brackets are open.
 * TR_JSON_CUT: the text ends before; where it ends between two tokens (pos is
 * end) the walk may go on in the text that follows, so that a value in many
 * pieces costs one pass.
 */
enum tr_json_token tr_json_go_on(struct tr_json *json, struct tr_json_walk *walk);

/*
 * Takes one token into a walk, for who needs to know where each stands. False:
 * it may not stand here, or too many brackets are open; the walk means nothing then.
 */
bool tr_json_accept(struct tr_json_walk *walk, enum tr_json_token token);

/* Steps over a whole value without converting it. BAD and CUT as in tr_json_go_on, with err. */
enum tr_json_token tr_json_skip(struct tr_json *json, struct tr_error *err);

/*
 * Bytes of a raw JSON string body (between the quotes, as tr_json_next gave
 * it), decoded into the arena; the body itself where it has no backslash.
 * A lone surrogate becomes its three bytes. data NULL when memory is out.
 */
struct tr_text tr_json_string_bytes(struct tr_text body, struct tr_arena *arena);

/*
 * Raw JSON string body -> trec string spelling (canonical), appended. Returns
 * true when both are the same bytes.
 */
bool tr_json_string_to_spelling(struct tr_text body, struct tr_buffer *to);

/*
 * Raw JSON string body -> cell spelling, appended. False: a lone surrogate
 * that was written as an escape is now the cell's bytes ed …: the way back is
 * not unique.
 */
bool tr_json_string_to_cell(struct tr_text body, struct tr_buffer *to);

/*
 * The same for the string at pos, in one pass where it is plain. Anything but
 * TR_JSON_STRING: there is none, nothing was appended, pos is where it was.
 */
enum tr_json_token tr_json_spell_cell(struct tr_json *json, struct tr_buffer *to, bool *unique);

/*
 * trec string spelling -> JSON string body as build tracers write it, appended:
 * the same text, but `\xhh` becomes the byte itself again.
 */
void tr_json_string_from_spelling(struct tr_text spelling, struct tr_buffer *to);

/*
 * Any bytes -> JSON string with its quotes, appended; bytes that are no UTF-8 go
 * out as they are.
 */
void tr_json_string_from_bytes(struct tr_text bytes, struct tr_buffer *to);

/*
 * The same, but the bytes of a lone surrogate go out as its escape. Programs whose
 * strings are Unicode write that for bytes of file names that are no UTF-8.
 */
void tr_json_string_from_wtf8(struct tr_text bytes, struct tr_buffer *to);

/*
 * A value's canonical trec text -> compact JSON text as build tracers write
 * it. False: the value has a type that JSON lacks (err names it).
 */
bool tr_json_from_literal(struct tr_text literal, struct tr_arena *arena, struct tr_buffer *to,
			  struct tr_error *err);

/*
 * The same of a field, parsed or not; members: of one that is a map, without its
 * braces. False also where it is bad; err names the field. What was appended then
 * means nothing.
 */
bool tr_json_from_field(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
			struct tr_error *err);
bool tr_json_members_from_field(struct tr_record *record, struct tr_field *field,
				struct tr_buffer *to, struct tr_error *err);

/*
 * JSON objects in a row, as files hold them that are one list of objects, or
 * have an object a line. What stands between them (brackets of the list, commas,
 * blanks, a byte order mark) is stepped over; what is something else is
 * reported, and the search for an object goes on behind it. No byte of an
 * object is looked at twice because it comes in pieces.
 */

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
