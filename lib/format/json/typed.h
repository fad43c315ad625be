/*
 * The typed form of the stream: one JSON array per line, which survives jq and
 * comes back as the very same stream. trec(5) and tr-tojson(1) describe it.
 *
 * Both directions go from text to text without a tree. What JSON says as well
 * as trec (constants, numbers up to 2^53-1, strings, lists) stands as it is,
 * all else is an object with one key, its tag.
 */
#ifndef TR_FORMAT_JSON_TYPED_H
#define TR_FORMAT_JSON_TYPED_H

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "record/json.h"
#include "record/record.h"

/* The tags that hold a value's own trec spelling, and what needs none of them. */
enum tr_typed_tag {
	TR_TYPED_INT,
	TR_TYPED_PTR,
	TR_TYPED_REAL,
	TR_TYPED_STR,
	TR_TYPED_WSTR,
	TR_TYPED_BLOB,
	TR_TYPED_SYM,
	TR_TYPED_CONSTANT, /* null true false: no tag */
	TR_TYPED_COMPOUND, /* list, map, structure, human and machine form: tags of their own */
};

enum { TR_TYPED_SPELLED = TR_TYPED_SYM + 1 }; /* how many tags hold a spelling */

/* "$int" … in the order of the enum. */
extern const char *const tr_typed_names[TR_TYPED_SPELLED];

/* Which of them a value in its canonical spelling belongs to. */
enum tr_typed_tag tr_typed_tag(struct tr_text canonical);

/*
 * Appends bytes as a cell. lead: a key that begins with a raw "." or "#", which
 * is another key than one that begins with the same byte escaped.
 */
void tr_typed_put_cell(struct tr_text bytes, bool key, bool lead, struct tr_buffer *to);

/* Appends the typed JSON of a value in its canonical spelling. */
void tr_typed_put_value(struct tr_text canonical, struct tr_buffer *to);

/*
 * Appends the record as typed JSON, without LF. TR_OK; TR_WARN with
 * TR_FLAW: it is whole, but something in it is no trec and stands there as
 * $raw, err tells of the first; TR_FATAL: memory.
 */
enum tr_status tr_typed_put_record(struct tr_record *record, struct tr_buffer *to,
				   struct tr_error *err);

/*
 * Reading, one array after the other. The owner sets the first three once, and
 * frees scratch; json, to and err for each array.
 */
struct tr_typed_reader {
	unsigned max_depth;     /* open brackets in one value */
	struct tr_arena *arena; /* for what is decoded; lives as long as the line */
	struct tr_buffer scratch;
	struct tr_json json;  /* the position */
	struct tr_buffer *to; /* trec text is appended here */
	struct tr_error *err;
	bool raw; /* out: something came from $raw, so the line may be no trec */
};

/*
 * Converts the array at the position to a line of the stream with its LF.
 * TR_OK; TR_WARN: err says why it is none, the position is where; TR_END: the
 * text ends before the array does; TR_FATAL: memory.
 */
enum tr_status tr_typed_read_record(struct tr_typed_reader *r);

/*
 * Converts the value at the position to canonical trec. False: err is filled;
 * it has no cause where the text ends before the value does.
 */
bool tr_typed_read_value(struct tr_typed_reader *r);

/* typed_token.c: what reading records and reading values share; false as above. */

/* For "%.*s": what a message quotes of the input. */
static inline int tr_typed_quoted(struct tr_text text)
{
	enum { MOST = 80 };
	return text.len < MOST ? (int)text.len : MOST;
}

/* Fills err for a token that cannot stand where it does. Always false. */
bool tr_typed_unexpected(struct tr_typed_reader *r, enum tr_json_token token, const char *expected);

/* Steps over one token that has to be there. */
bool tr_typed_expect(struct tr_typed_reader *r, enum tr_json_token want, const char *expected);

/* Behind `{`: the object's key, decoded, and the colon. */
bool tr_typed_read_tag(struct tr_typed_reader *r, struct tr_text *tag);

/* Behind the colon: a string that trec text is made of, and `}`. */
bool tr_typed_read_spelling(struct tr_typed_reader *r, struct tr_text *spelling);

/* Behind `{"$raw":`: appends the text as it is. */
bool tr_typed_read_raw(struct tr_typed_reader *r);

/* False (err filled) when text holds what no line may hold: control bytes, but TAB where `tabs`. */
bool tr_typed_check_text(struct tr_typed_reader *r, struct tr_text text, bool tabs);

/* True for the integers that every JSON tool keeps. */
bool tr_typed_is_exact(struct tr_text integer);

#endif
