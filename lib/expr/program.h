/*
 * What an expression is compiled to: a tree of and, or, not over tests, all of
 * it in one arena and read-only once tr_expr_set_start was called. Chains of and/or are flat, so the
 * tree is no deeper than the expression's parentheses.
 */
#ifndef TR_EXPR_PROGRAM_H
#define TR_EXPR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/text.h"
#include "expr/expr.h"
#include "expr/moment.h"
#include "expr/number.h"
#include "expr/regex.h"

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
	TR_STEP_BASENAME, /* basename() around what stands before */
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
	bool late;	     /* its numbers are known when the first record is */
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
	struct tr_many *many;	/* the same to be searched; NULL: they are few */
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
	bool is_call; /* the kind is "call", which stands for enter and leave too */
	struct tr_test *test;
};

struct tr_expr {
	struct tr_arena arena;
	struct tr_node *root;
	struct tr_test *tests; /* all of them, last one first */
	size_t test_count;
	struct tr_late_number *late; /* until tr_expr_set_start */
};

struct tr_seen;

struct tr_field_list {
	struct tr_arena arena;
	struct tr_path *paths;
	size_t count;
	struct tr_seen *seen; /* of the paths */
	struct tr_computed_fields *computed; /* NULL: none */
	enum tr_field_side side;
};

#endif
