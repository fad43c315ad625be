/* One literal or regex against one leaf of a record. */
#ifndef TR_EXPR_COMPARE_H
#define TR_EXPR_COMPARE_H

#include <stdbool.h>

#include "core/arena.h"
#include "expr/program.h"
#include "record/value.h"

enum tr_leaf_type {
	TR_LEAF_CONSTANT, /* null, true, false: value */
	TR_LEAF_NUMBER,	  /* number */
	TR_LEAF_TEXT,	  /* bytes; of a cell they may spell a number too */
	TR_LEAF_SYMBOL,	  /* value; number where it has one */
	TR_LEAF_OTHER,	  /* a map, a structure, a blob that is elsewhere: only there */
};

struct tr_leaf {
	enum tr_leaf_type type;
	bool has_number;
	bool is_value; /* no cell: a WORD meets it at run time only */
	enum tr_type constant;
	struct tr_text bytes;
	struct tr_number number;
	const struct tr_value *value;
};

/* What a comparison could not do: bits. */
enum {
	TR_TROUBLE_WORD = 1,  /* a WORD was compared with text */
	TR_TROUBLE_REGEX = 2, /* gave up at a limit */
	TR_TROUBLE_MEMORY = 4,
};

struct tr_compare {
	struct tr_arena *arena;
	struct tr_regex_scratch *scratch; /* only where the test has a regex */
	unsigned trouble;
};

bool tr_compare_leaf(struct tr_compare *compare, const struct tr_test *test,
		     const struct tr_leaf *leaf);

#endif
