/* SPDX-License-Identifier: MIT */
/*
 * The compiled form of expressions and lists of fields: numbers, points in time, paths, literals,
 * tests and the tree of them.
 *
 * Numbers are compared exactly, whatever their spelling and width: 18446744073709551615,
 * 0xffffffffffffffff, 18446744073709551615.0 and 1.8446744073709551615e19 are one number, and no
 * comparison uses a rounded intermediate. A compiled expression is read-only after
 * tr_expr_set_start, and may then be shared by threads.
 */
#ifndef TR_EXPR_PROGRAM_H
#define TR_EXPR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/text.h"
#include "expr/expr.h"
#include "record/value.h"

/* A decimal, represented by its spelling: never converted, so never rounded. */
struct tr_decimal {
	struct tr_text
		digits;	  /* from the first digit that is not 0; may hold one '.'; len 0: zero */
	int64_t exponent; /* of that digit: 0 for units, -1 for tenths */
	bool negative;
};

enum tr_number_type {
	TR_NUMBER_INTEGER, /* negative, magnitude */
	TR_NUMBER_DECIMAL, /* decimal */
	TR_NUMBER_REAL64,  /* real */
	TR_NUMBER_REAL32,  /* real, which holds a float */
};

/* A number of a record. */
struct tr_number {
	enum tr_number_type type;
	bool negative;
	uint64_t magnitude;
	struct tr_decimal decimal;
	double real;
};

/* A number of an expression: parsed once, in every form that a comparison may need. */
struct tr_number_literal {
	bool is_integer; /* negative and magnitude hold it */
	bool is_real;	 /* spelled with "." or "e": a REAL's width rounds it */
	bool negative;
	uint64_t magnitude;
	struct tr_decimal decimal;
	double real64;
	float real32;
};

enum tr_order {
	TR_LESS,
	TR_EQUAL,
	TR_GREATER,
	TR_UNORDERED, /* NaN is on one side */
};

/* Reads the number in the text of a cell: decimal or 0x. False: it is not a number. */
bool tr_number_from_cell(struct tr_text cell, struct tr_number *number);

/* Returns the number of a value; for a symbol, the one in parentheses. False: it has none. */
bool tr_number_from_value(const struct tr_value *value, struct tr_number *number);

struct tr_number tr_number_from_count(uint64_t count);

/*
 * Reads a token that the lexer classified as a number, with copies in the arena. False: memory is
 * exhausted, or (fits is false) a hex number has more than 64 bits.
 */
bool tr_number_literal_read(struct tr_text token, struct tr_arena *arena,
			    struct tr_number_literal *literal, bool *fits);

/* Compares two literals, to find empty ranges. */
enum tr_order tr_number_literal_compare(const struct tr_number_literal *a,
					const struct tr_number_literal *b);

/*
 * Points in time as people write them: seconds, ISO 8601, a time of day (on the date of the
 * first record) and +5s (after the first record). Without a zone they are in UTC, or in the
 * zone of the variable TZ where it is set.
 */

enum tr_moment_type {
	TR_MOMENT_SECONDS, /* a number, read from the text */
	TR_MOMENT_DATE,	   /* amount: since 1970 */
	TR_MOMENT_OF_DAY,  /* amount: since midnight */
	TR_MOMENT_AFTER,   /* amount: since the first record */
};

/*
 * Seconds, and a fraction of 0 to 10^18 - 1 in units of 10^-18 s, which is finer than any tracer's
 * clock.
 */
struct tr_time {
	int64_t seconds, fraction;
};

struct tr_moment {
	enum tr_moment_type type;
	bool has_zone;
	int64_t zone; /* seconds east of UTC */
	struct tr_time amount;
};

/* Parses a point in time. False: the text is not one. */
bool tr_moment_read(struct tr_text text, struct tr_moment *moment);

static inline bool tr_moment_needs_start(const struct tr_moment *moment)
{
	return moment->type == TR_MOMENT_OF_DAY || moment->type == TR_MOMENT_AFTER;
}

/*
 * Appends the seconds since 1970 as decimal digits. start: the time of the first record, as a cell
 * spells it, if the moment needs it. False: start is not a time.
 */
bool tr_moment_write(const struct tr_moment *moment, struct tr_text start, struct tr_buffer *to);

/*
 * The tree of an expression: and, or, not over tests, all in one arena. Chains of and/or are flat,
 * so the tree is no deeper than the parentheses of the expression.
 */

enum tr_subject {
	TR_SUBJECT_KIND,
	TR_SUBJECT_SEQ,
	TR_SUBJECT_TIME,
	TR_SUBJECT_TASK,
	TR_SUBJECT_NAME,
	TR_SUBJECT_KEY,
};

enum tr_step_type {
	TR_STEP_INDEX,	  /* [N] */
	TR_STEP_MEMBER,	  /* ["NAME"], .member */
	TR_STEP_BASENAME, /* basename() of the path so far */
	TR_STEP_LEN,	  /* len() */
};

struct tr_step {
	enum tr_step_type type;
	uint64_t index;
	struct tr_text name; /* bytes */
	struct tr_step *next;
};

/* A field reference: a column or key, then steps in the order in which they apply. */
struct tr_path {
	enum tr_subject subject;
	bool after_arrow;
	bool environment;    /* env["NAME"]: env, else envtop or envdiff, whichever is there */
	struct tr_text key;  /* as the stream spells it */
	struct tr_text text; /* as the expression spells it: for messages */
	struct tr_step *steps, *last_step;
};

enum tr_literal_type {
	TR_LITERAL_NULL,
	TR_LITERAL_FALSE,
	TR_LITERAL_TRUE,
	TR_LITERAL_NUMBER,
	TR_LITERAL_RANGE, /* number to high, both belong to it */
	TR_LITERAL_STRING,
	TR_LITERAL_WORD,
};

struct tr_literal {
	enum tr_literal_type type;
	bool late;	     /* its numbers depend on the first record */
	struct tr_text text; /* bytes of a string or word */
	struct tr_number_literal number, high;
	struct tr_literal *next;
};

/* A number of a literal that depends on the time of the first record. */
struct tr_late_number {
	struct tr_moment moment;
	struct tr_number_literal *number;
	struct tr_late_number *next;
};

struct tr_many;

enum tr_test_op {
	TR_OP_EXISTS,
	TR_OP_EQ, /* any of the literals: "in" too */
	TR_OP_LT,
	TR_OP_LE,
	TR_OP_GT,
	TR_OP_GE,
	TR_OP_PREFIX,
	TR_OP_SUFFIX,
	TR_OP_CONTAINS,
	TR_OP_REGEX,
	TR_OP_HAS_WORDS, /* all of the literals */
};

struct tr_test {
	enum tr_test_op op;
	bool negated;  /* !=, !~ */
	bool strings;  /* its literals are strings or a regex: nothing else can match */
	size_t number; /* of the test in the expression, from 0 */
	struct tr_path path;
	struct tr_literal *literals;
	struct tr_many *many;	/* the same literals, sorted; NULL: they are few */
	struct tr_regex *regex; /* owned */
	struct tr_text pattern; /* of regex, as written but for \/ */
	struct tr_test *next;	/* the test compiled before: for freeing */
};

enum tr_node_type {
	TR_NODE_AND, /* children */
	TR_NODE_OR,  /* children */
	TR_NODE_NOT, /* one child */
	TR_NODE_KIND,
	TR_NODE_TEST,
};

struct tr_node {
	enum tr_node_type type;
	struct tr_node *children, *next;
	struct tr_text kind;
	bool is_call; /* the kind is "call", which includes enter and leave */
	struct tr_test *test;
};

struct tr_expr {
	struct tr_arena arena;
	struct tr_node *root;
	struct tr_test *tests; /* all of them, last one first */
	size_t test_count;
	struct tr_late_number *late; /* until tr_expr_set_start */
};

/*
 * The literals of an "in" that has many of them, sorted: a list of ten thousand names costs each
 * record a few comparisons, not ten thousand. Built once, then read-only.
 */

/*
 * Sets test->many if the literals are many, and all of them strings, numbers or ranges. False:
 * memory is exhausted.
 */
bool tr_many_build(struct tr_test *test, struct tr_arena *arena);

/* True if one of the strings has these bytes. */
bool tr_many_has_text(const struct tr_many *many, struct tr_text bytes);

/* True if the number can be searched: a REAL rounds some literals, which changes their order. */
static inline bool tr_many_takes(const struct tr_number *number)
{
	return number->type == TR_NUMBER_INTEGER || number->type == TR_NUMBER_DECIMAL;
}

/* Regular expressions over bytes, implemented with PCRE2 in regex.c only. */

struct tr_regex;	 /* compiled; read-only, may be shared by threads */
struct tr_regex_scratch; /* memory that one thread needs to match any of them */

/*
 * Compiles a pattern. NULL: why (at least one byte) contains the reason, or is empty if memory is
 * exhausted.
 */
struct tr_regex *tr_regex_compile(struct tr_text pattern, char *why, size_t why_size);
void tr_regex_free(struct tr_regex *regex);

struct tr_regex_scratch *tr_regex_scratch_new(void);
void tr_regex_scratch_free(struct tr_regex_scratch *scratch);

enum tr_regex_result {
	TR_REGEX_NO,
	TR_REGEX_YES,
	TR_REGEX_LIMIT,	 /* a limit of time or memory was exceeded */
	TR_REGEX_FAILED, /* memory is exhausted */
};

/* True after so much time was spent that every further match returns TR_REGEX_LIMIT. */
bool tr_regex_is_exhausted(const struct tr_regex_scratch *scratch);

/* Searches the subject for the pattern, by bytes, not characters. */
enum tr_regex_result tr_regex_match(const struct tr_regex *regex, struct tr_text subject,
				    struct tr_regex_scratch *scratch);

/* The part of the subject that the last call of tr_regex_match found, after TR_REGEX_YES. */
struct tr_text tr_regex_found(const struct tr_regex_scratch *scratch, struct tr_text subject);

#endif
