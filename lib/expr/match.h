/* SPDX-License-Identifier: MIT */
/*
 * Matching: compares the literals or the regular expression of a test with the leaves of a record.
 *
 *	record -> tr_locate -> struct tr_place -> tr_walk_value -> tr_compare_leaf
 *
 * The most frequent test, whether a list has a string, is done in the text of the line
 * (tr_strings_have). struct tr_seen remembers which fields were in any record. Not thread safe; the
 * compiled expression itself may be shared.
 */
#ifndef TR_EXPR_MATCH_H
#define TR_EXPR_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/map.h"
#include "core/text.h"
#include "expr/expr.h"
#include "expr/program.h"
#include "record/record.h"
#include "record/value.h"

enum tr_leaf_type {
	TR_LEAF_CONSTANT, /* null, true, false: value */
	TR_LEAF_NUMBER,	  /* number */
	TR_LEAF_TEXT,	  /* bytes; of a cell they may spell a number too */
	TR_LEAF_SYMBOL,	  /* value; number where it has one */
	TR_LEAF_OTHER,	  /* a map, a structure, a blob that is elsewhere: nothing equals it */
};

struct tr_leaf {
	enum tr_leaf_type type;
	bool has_number;
	bool is_value; /* of a field; of columns, the parser knows that they are text */
	enum tr_type constant;
	struct tr_text bytes;
	struct tr_number number;
	const struct tr_value *value;
};

/* Reasons why a comparison has no result: bits. */
enum {
	TR_TROUBLE_WORD = 1,  /* a WORD was compared with text */
	TR_TROUBLE_REGEX = 2, /* a regular expression exceeded a limit */
	TR_TROUBLE_MEMORY = 4,
};

struct tr_compare {
	struct tr_arena *arena;
	struct tr_regex_scratch *scratch; /* only where the test has a regex */
	unsigned trouble;
};

bool tr_compare_leaf(struct tr_compare *compare, const struct tr_test *test,
		     const struct tr_leaf *leaf);

/*
 * The walk applies the steps of a path, and tries all elements of lists and reprs, until a leaf
 * matches.
 */

/* True if any leaf that the steps reach from value matches. */
bool tr_walk_value(struct tr_compare *compare, const struct tr_test *test,
		   const struct tr_value *value, const struct tr_step *steps);

/* Like tr_walk_value, for a leaf: a cell or a string. */
bool tr_walk_leaf(struct tr_compare *compare, const struct tr_test *test,
		  const struct tr_leaf *leaf, const struct tr_step *steps);

/*
 * Returns the element or member that one step reaches, or NULL. Of several members with one name
 * the last one counts.
 */
const struct tr_value *tr_walk_step(const struct tr_value *value, const struct tr_step *step,
				    struct tr_arena *arena);

/* Computes len() of a value that is not text. False: it has no length. */
bool tr_walk_count(const struct tr_value *value, uint64_t *count);

/*
 * Returns the bytes of a string, wide string or blob. False: it has none here (data is NULL: memory
 * is exhausted).
 */
bool tr_walk_bytes(const struct tr_value *value, struct tr_arena *arena, struct tr_text *bytes);

/* Returns the part after the last slash. */
struct tr_text tr_walk_basename(struct tr_text path);

/* Tests on columns, whose result depends only on the bytes of the cell. */

/*
 * True for a test of strings against strings with no step but basename, as most are. Other tests
 * need the general walk.
 */
bool tr_test_is_simple(const struct tr_test *test);

/* Returns the string of a test that only asks whether a string equals it, or NULL. */
const struct tr_text *tr_test_string(const struct tr_test *test);

/* Applies a simple test to decoded bytes. */
static inline bool tr_test_equals(const struct tr_test *test, struct tr_text bytes)
{
	if (test->path.steps)
		bytes = tr_walk_basename(bytes);
	if (test->many)
		return tr_many_has_text(test->many, bytes);
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (tr_text_equal(bytes, literal->text))
			return true;
	}
	return false;
}

/* Applies any test to the decoded bytes of a column; the caller handles negation. */
bool tr_test_cell(struct tr_compare *compare, const struct tr_test *test, struct tr_text bytes);

/* Finds the field of a path without splitting the record. */

enum tr_answer { TR_NO, TR_YES, TR_UNKNOWN };

/*
 * Finds the last field with this key in the columns of a line, each after a TAB. TR_UNKNOWN: a key
 * is spelled with escapes, and may be this one.
 */
enum tr_answer tr_locate_in_line(struct tr_text columns, struct tr_text key, struct tr_text *value);

/* The place of a field: text of a line, or (text.data is NULL) a field that was built. */
struct tr_place {
	struct tr_record *record;
	struct tr_text text;
	struct tr_field *field;
};

/*
 * Finds the last field with the key of the path, in the leave (may be NULL), then in the record.
 * False: there is none.
 */
bool tr_locate(const struct tr_path *path, struct tr_record *record, struct tr_record *leave,
	       struct tr_place *place);

/*
 * Returns the computed value of a field that was not located. NULL: there is none, or err->cause is
 * set.
 */
struct tr_value *tr_locate_computed(const struct tr_path *path, struct tr_computed_fields *computed,
				    struct tr_record *record, struct tr_record *leave,
				    struct tr_error *err);

/* Returns the value of a field. NULL: err is filled. */
struct tr_value *tr_place_value(const struct tr_place *place, struct tr_error *err);

/* Returns a column; *kind is the memory for the cell of a kind. Not for TR_SUBJECT_KEY. */
const struct tr_cell *tr_locate_column(enum tr_subject subject, const struct tr_record *record,
				       struct tr_cell *kind);

/*
 * Returns the bytes of a cell, in the arena or in place. TR_OK; TR_END: the cell is absent;
 * TR_WARN: it has an invalid escape; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_cell_decode(const struct tr_cell *cell, struct tr_arena *arena,
			      struct tr_text *bytes, struct tr_error *err);

/*
 * Whether "…" is the string, or ["…","…"] has it. TR_UNKNOWN: the text has escapes, or is not such
 * a value; the string has bytes that are escaped. Reads inside the text only, even if another
 * process changes it meanwhile.
 */
enum tr_answer tr_strings_have(struct tr_text text, struct tr_text string);

/*
 * Remembers which fields of an expression or a list of fields were in any record. A field that was
 * in none is reported at the end, with the most similar name that the records have.
 */

/* One use of a field. */
struct tr_use {
	const struct tr_path *path;
	bool found;
	uint64_t misses; /* records that were tested and lack it */
};

struct tr_seen_key {
	struct tr_text key;
	struct tr_seen_key *next;
};

struct tr_seen {
	struct tr_use *uses;
	size_t count;
	/* some keys of records without the field */
	struct tr_arena arena;
	struct tr_map keys;
	struct tr_seen_key *first, *last;
};

/* Allocates the uses. False: memory is exhausted. */
bool tr_seen_begin(struct tr_seen *seen, size_t count);
void tr_seen_free(struct tr_seen *seen);

/* All of the first misses are examined, then each one whose number is a power of 2. */
enum { TR_SEEN_MISSES = 64 };

/* Remembers the keys of the record. */
void tr_seen_keep_keys(struct tr_seen *seen, const struct tr_record *record,
		       const struct tr_record *leave);

static inline void tr_seen_hit(struct tr_seen *seen, size_t use)
{
	seen->uses[use].found = true;
}

/* Counts a miss: the record (NULL for a column) and its leave (may be NULL) lack the field. */
static inline void tr_seen_miss(struct tr_seen *seen, size_t use, const struct tr_record *record,
				const struct tr_record *leave)
{
	struct tr_use *missed = &seen->uses[use];
	uint64_t miss = missed->misses++;

	if (record && !missed->found && (miss < TR_SEEN_MISSES || !(miss & (miss - 1))))
		tr_seen_keep_keys(seen, record, leave);
}

/* Finds the next use from *position on of a field that no record had, each field once. */
bool tr_seen_next(const struct tr_seen *seen, size_t *position, struct tr_unseen *unseen);

/* The state of matching records with an expression. */

/* A kind in the expression that trec(5) does not define. */
struct tr_unknown_kind {
	struct tr_text kind;
	bool seen;
};

struct tr_expr_state {
	struct tr_expr *expr;
	bool matched;	  /* by a record */
	bool *noted_word; /* by number of the test: a WORD that met a string was reported */
	struct tr_compare compare;
	struct tr_arena arena;		     /* decoded bytes of one record */
	struct tr_seen seen;		     /* by number of the test */
	struct tr_computed_fields *computed; /* NULL: none */
	struct tr_unknown_kind *kinds;	     /* each once */
	size_t kind_count, kind_cap;
};

#endif
