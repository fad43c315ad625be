/* SPDX-License-Identifier: MIT */
/*
 * The typed form of the stream: one JSON array per line, which survives jq and is converted back
 * to exactly the same stream. tr-tojson(1) describes it.
 *
 * Both directions go from text to text without a tree. Values that JSON and trec spell alike
 * (constants, numbers up to 2^53-1, strings, lists) are copied; every other value is an object with
 * one key, its tag.
 */
#ifndef TR_FORMAT_JSON_TYPED_H
#define TR_FORMAT_JSON_TYPED_H

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "record/json.h"
#include "record/record.h"

/* Tags of values as they are spelled in trec, and the classes of values without such a tag. */
enum tr_typed_tag {
	TR_TYPED_INT,
	TR_TYPED_PTR,
	TR_TYPED_REAL,
	TR_TYPED_STR,
	TR_TYPED_WSTR,
	TR_TYPED_BLOB,
	TR_TYPED_SYM,
	TR_TYPED_CONSTANT, /* null true false: no tag */
	TR_TYPED_COMPOUND, /* list, map, structure, <human;machine>: tags of their own */
};

enum { TR_TYPED_SPELLED = TR_TYPED_SYM + 1 }; /* number of those tags */

/* "$int" … in the order of the enum. */
extern const char *const tr_typed_names[TR_TYPED_SPELLED];

/* Returns the tag of a value in its canonical spelling. */
enum tr_typed_tag tr_typed_tag(struct tr_text canonical);

/*
 * Appends bytes as a cell. lead: the first byte of the key, "." or "#", is not escaped; the same
 * byte with an escape makes another key.
 */
void tr_typed_put_cell(struct tr_text bytes, bool key, bool lead, struct tr_buffer *to);

/* Appends the typed JSON of a value in its canonical spelling. */
void tr_typed_put_value(struct tr_text canonical, struct tr_buffer *to);

/*
 * Appends the record as typed JSON, without LF. TR_OK. TR_WARN with TR_FLAW: all of the record was
 * written, but malformed trec as $raw; err describes the first one. TR_FATAL: memory is exhausted.
 */
enum tr_status tr_typed_put_record(struct tr_record *record, struct tr_buffer *to,
				   struct tr_error *err);

/*
 * Reads one array after the other. The owner sets max_depth and arena once, and json, to and err
 * for each array; it frees scratch.
 */
struct tr_typed_reader {
	unsigned max_depth;	/* open brackets in one value */
	struct tr_arena *arena; /* for decoded text; lives as long as the line */
	struct tr_buffer scratch;
	struct tr_json json;  /* the position */
	struct tr_buffer *to; /* trec text is appended here */
	struct tr_error *err;
	bool raw; /* out: part of the line comes from $raw and may be malformed */
};

/*
 * Converts the array at the position to a line of the stream with its LF. TR_OK. TR_WARN: the array
 * is malformed, at the position. TR_END: the text ends before the array does. TR_FATAL: memory is
 * exhausted.
 */
enum tr_status tr_typed_read_record(struct tr_typed_reader *r);

/*
 * Converts the value at the position to canonical trec. False: err has the reason, or no cause if
 * the text ends before the value does.
 */
bool tr_typed_read_value(struct tr_typed_reader *r);

/* True for an integer, with or without a minus, that every JSON tool keeps. */
bool tr_typed_is_exact(struct tr_text integer);

#endif
