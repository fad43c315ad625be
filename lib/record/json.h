/* SPDX-License-Identifier: MIT */
/*
 * JSON text and trec values.
 *
 *	JSON text -> tr_json_items_next -> tr_json_members -> tr_json_put_field -> trec text
 *	JSON text -> tr_json_next, tr_json_spell -> trec text
 *	trec text or value -> tr_json_from_literal, tr_json_from_field -> JSON text
 *
 * The caller pulls tokens from a text, and trec text is made in one pass without a tree. What JSON
 * libraries lose is kept: bytes that are not UTF-8, lone surrogates, the spelling of numbers, and
 * repeated keys. Texts are borrowed, and tokens are pieces of them. For example, a reader of
 * objects:
 *
 *	while ((status = tr_json_items_next(&items, &object, &line, err)) == TR_OK) {
 *		if (!tr_json_members(object, &arena, &members, &count))
 *			return tr_error_memory(err);
 *		argv = tr_json_member_find(members, count, "arguments");
 *		if (!tr_json_put_field("argv", argv, &text, err))
 *			return tr_error_status(err);
 *	}
 *
 * Thread safe for separate structs.
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
	TR_JSON_STRING, /* a value or a key: its text is the part between the quotes */
	TR_JSON_NUMBER, /* its text is the number as it is written */
	TR_JSON_TRUE,
	TR_JSON_FALSE,
	TR_JSON_NULL,
	TR_JSON_COLON,
	TR_JSON_COMMA,
	TR_JSON_CUT, /* the text ends within a token, or before the next one */
	TR_JSON_BAD, /* at pos there is no token, or a line end within a string */
};

/*
 * A position in a text, of which TR_INPUT_PAD bytes after end are readable. To look ahead, copy the
 * struct.
 */
struct tr_json {
	const char *pos, *end;
};

/* Steps over blanks and one token. Sets *text of a string, with its escapes, or of a number. */
enum tr_json_token tr_json_next(struct tr_json *json, struct tr_text *text);

/* The changes that a conversion made. */
struct tr_json_changes {
	/* tr_json_from_literal would give another text of the same meaning. */
	bool respelled;
	/* An integer beyond 64 bits became the nearest REAL. */
	bool rounded;
};

/*
 * Appends the value at pos in trec: strings, lists and maps; integers of 64 bits unchanged, other
 * numbers as REAL. It accepts what real producers write: control bytes except LF in strings, bytes
 * that are not UTF-8 (`\xhh`), lone surrogates (`\ud800`). Sets, but never clears, the flags of
 * changes, which may be NULL. Returns the first token of the value. TR_JSON_CUT: more text is
 * needed. TR_JSON_BAD: err has the reason, and pos is the place; numbers beyond the range of a
 * double and more than 60 open brackets are bad. After both, the caller discards what was appended.
 */
enum tr_json_token tr_json_spell(struct tr_json *json, struct tr_buffer *to,
				 struct tr_json_changes *changes, struct tr_error *err);

/* True for digits of a number up to 2^53-1, which every JSON tool keeps. */
bool tr_json_keeps_digits(struct tr_text text);

/*
 * True if the inside of a trec string is that of a JSON string which every tool reads: it has no
 * `\x`, no lone surrogate, and no `\u{`.
 */
bool tr_json_keeps_string(struct tr_text spelling);

/* Maximum number of open brackets, as in trec. */
enum { TR_JSON_MAX_DEPTH = 60 };

/* The state of a walk over the tokens of one value. Begins as TR_JSON_WALK_INIT. */
struct tr_json_walk {
	uint64_t maps; /* one bit for each open bracket, the innermost lowest: 1 for { */
	unsigned depth;
	enum {
		TR_JSON_WANTS_VALUE,
		TR_JSON_WANTS_ITEM,   /* a value or ] */
		TR_JSON_WANTS_MEMBER, /* a key or } */
		TR_JSON_WANTS_KEY,
		TR_JSON_WANTS_COLON,
		TR_JSON_WANTS_NEXT, /* a comma or the closing bracket; at depth 0, nothing more */
	} wants;
};

#define TR_JSON_WALK_INIT \
	{ \
		0, 0, TR_JSON_WANTS_VALUE \
	}

/*
 * Steps over tokens until the value is complete, and returns its last token. TR_JSON_BAD: the token
 * at pos is not allowed, or too many brackets are open. TR_JSON_CUT: the text ends early; if it
 * ends between two tokens (pos is end), another call can continue in the text that follows, so that
 * a value in many pieces is scanned once.
 */
enum tr_json_token tr_json_walk_on(struct tr_json *json, struct tr_json_walk *walk);

/*
 * Adds one token to a walk, for callers that read the tokens themselves. False: the token is not
 * allowed here, or too many brackets are open; the walk is then invalid.
 */
bool tr_json_accept(struct tr_json_walk *walk, enum tr_json_token token);

/* Steps over a complete value. BAD and CUT as for tr_json_walk_on, with the reason in err. */
enum tr_json_token tr_json_skip(struct tr_json *json, struct tr_error *err);

/*
 * Appends the inside of a JSON string, with its escapes, as the inside of a trec string. True: both
 * are the same bytes. (tr_string_bytes of value.h decodes it.)
 */
bool tr_json_string_to_spelling(struct tr_text body, struct tr_buffer *to);

/*
 * Appends the inside of a JSON string as a cell. False: it had a lone surrogate as an escape, of
 * which the cell has the bytes ed …, so that the original cannot be restored.
 */
bool tr_json_string_to_cell(struct tr_text body, struct tr_buffer *to);

/*
 * As tr_json_string_to_cell, for the string at pos, in one pass if it is plain; *unique is the
 * result of that function. Another token than TR_JSON_STRING: there is no string, nothing was
 * appended, and pos is unchanged.
 */
enum tr_json_token tr_json_spell_cell(struct tr_json *json, struct tr_buffer *to, bool *unique);

/*
 * Appends bytes as a JSON string with its quotes. Bytes that are not UTF-8 are written unchanged.
 */
void tr_json_string_from_bytes(struct tr_text bytes, struct tr_buffer *to);

/*
 * As tr_json_string_from_bytes, with an escape for the bytes of a lone surrogate, as programs with
 * Unicode strings write file names that are not UTF-8.
 */
void tr_json_string_from_wtf8(struct tr_text bytes, struct tr_buffer *to);

/*
 * Appends a canonical trec value as compact JSON as build tracers write it. False: JSON has no such
 * type; err names it.
 */
bool tr_json_from_literal(struct tr_text literal, struct tr_arena *arena, struct tr_buffer *to,
			  struct tr_error *err);

/*
 * As tr_json_from_literal, for a field; the second function appends the members of a map, without
 * its braces. False also if the field is malformed. err names the field, and the caller discards
 * what was appended.
 */
bool tr_json_from_field(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
			struct tr_error *err);
bool tr_json_members_from_field(struct tr_record *record, struct tr_field *field,
				struct tr_buffer *to, struct tr_error *err);

/*
 * The last objects of a kind that recurs in a trace, as the environments of processes do. An object
 * that is equal to one of them is compared and not scanned. Begins all zero.
 */
enum { TR_JSON_RECENT = 8 };

struct tr_json_recent {
	struct tr_json_recent_object {
		struct tr_buffer text;	   /* as it is written */
		struct tr_buffer spelling; /* in trec, as the caller makes it */
		unsigned depth;		   /* the number of objects around it */
	} objects[TR_JSON_RECENT];
	size_t next; /* the oldest one */
};

/*
 * Returns the object that begins at p, inside of `depth` others, if it is a recent one; or NULL. No
 * other object than that one can begin there.
 */
const struct tr_json_recent_object *tr_json_recent_find(const struct tr_json_recent *recent,
							const char *p, const char *end,
							unsigned depth);

/*
 * Copies a complete object and its spelling in place of the oldest ones, unless it is tiny or
 * large.
 */
void tr_json_recent_put(struct tr_json_recent *recent, struct tr_text text, unsigned depth,
			struct tr_text spelling);

void tr_json_recent_free(struct tr_json_recent *recent);

/*
 * A sequence of JSON objects in an input: a list of them, or one per line. What may be between
 * objects (brackets of the list, commas, blanks, a byte order mark) is skipped. Anything else is
 * reported, and the search for an object goes on after it. An object that arrives in pieces is
 * scanned once.
 */

struct tr_json_items {
	struct tr_input *in;
	bool lines;    /* one object per line: after an error, the next line is tried */
	uint64_t line; /* line number at the start of the window, from 1 */
	size_t taken;  /* length of the last object, at the start of the window */
	bool inside;   /* a list is open */
	bool trouble;  /* an error was reported: skip to the next object */
	const struct tr_json_recent *recent; /* set by the caller; NULL: none */
};

void tr_json_items_init(struct tr_json_items *items, struct tr_input *in, bool lines);

/*
 * Finds the next object, which stays in the window, with TR_INPUT_PAD readable bytes after it,
 * until the next call; *line is its line number. TR_OK. TR_WARN: err reports other bytes or, with
 * TR_CAUSE_CUT, that the input ends within an object or the list; call again. TR_END. TR_FATAL:
 * memory is exhausted.
 */
enum tr_status tr_json_items_next(struct tr_json_items *items, struct tr_text *object,
				  uint64_t *line, struct tr_error *err);

/* Skips bytes of the window that belong to no object. */
void tr_json_items_skip(struct tr_json_items *items, size_t count);

/*
 * For a list that is a member of a larger object: skips its closing bracket. False: the list goes
 * on after the last object.
 */
bool tr_json_items_leave(struct tr_json_items *items);

/*
 * Finds the first object of the input without consuming it, for a bid. An object that does not end
 * within the first `most` bytes is cut there. False: the input begins with something else.
 */
bool tr_json_items_peek(struct tr_input *in, size_t most, struct tr_text *object);

/*
 * A member of an object: the inside of its key, and the text of its value, both as they are
 * written.
 */
struct tr_json_member {
	struct tr_text key, value;
	enum tr_json_token type; /* first token of the value */
	/* those of an object, after tr_json_members_deep; NULL for a recent one */
	struct tr_json_member *members;
	size_t count;
};

/*
 * Splits an object into members, in the arena; TR_INPUT_PAD bytes after the object are readable. If
 * the text is cut or malformed, these are the members before that place, and the one that is cut,
 * with the part of its value that is there. False: memory is exhausted.
 */
bool tr_json_members(struct tr_text object, struct tr_arena *arena, struct tr_json_member **members,
		     size_t *count);

/*
 * As tr_json_members, for the object and those that are nested in it, up to `levels` deep (at most
 * TR_JSON_MAX_DEPTH), in one scan. recent may be NULL.
 */
bool tr_json_members_deep(struct tr_text object, unsigned levels,
			  const struct tr_json_recent *recent, struct tr_arena *arena,
			  struct tr_json_member **members, size_t *count);

/* Returns the last member of that key, or NULL. */
const struct tr_json_member *tr_json_member_find(const struct tr_json_member *members, size_t count,
						 const char *key);

/*
 * An object of which a reader takes the members that it knows; the others go to the field `extra`.
 * If a key is repeated, its last member counts. Begins with the members set and the rest zero.
 */
struct tr_json_object {
	struct tr_json_member *members;
	size_t count, taken_count;
	const struct tr_json_member *taken[8];
};

/* Takes the last member of that key. NULL: there is none, or its value has another type. */
const struct tr_json_member *tr_json_take(struct tr_json_object *object, const char *key,
					  enum tr_json_token type);

/* True for a member that was taken, and for an earlier one of the same key. */
bool tr_json_is_taken(const struct tr_json_object *object, const struct tr_json_member *member);

/* Appends ,"key":VALUE for each member that was not taken. False: as tr_json_put_value. */
bool tr_json_put_others(const struct tr_json_object *object, struct tr_buffer *to,
			struct tr_error *err);

/* Appends the field extra with members, each of which begins with a comma; nothing for none. */
void tr_json_put_extra(struct tr_text members, struct tr_buffer *to);

/*
 * Appends the trec spelling of a value; put_field appends "\tkey=value", and nothing if member is
 * NULL. False: a record cannot hold the value; err is filled.
 */
bool tr_json_put_value(struct tr_text value, struct tr_buffer *to, struct tr_error *err);
bool tr_json_put_field(const char *key, const struct tr_json_member *member, struct tr_buffer *to,
		       struct tr_error *err);

#endif
