/* What judging records by an expression needs and finds out. */
#ifndef TR_EXPR_STATE_H
#define TR_EXPR_STATE_H

#include "expr/compare.h"
#include "expr/program.h"
#include "expr/seen.h"

/* A kind that the expression names and trec(5) does not know. */
struct tr_unknown_kind {
	struct tr_text kind;
	bool seen;
};

struct tr_expr_state {
	struct tr_expr *expr;
	bool matched; /* by a record */
	bool *told; /* by number of the test: that its WORD met a string */
	struct tr_compare compare;
	struct tr_arena arena; /* what one record makes us decode */
	struct tr_seen seen;   /* by number of the test */
	struct tr_computed_fields *computed; /* NULL: none */
	struct tr_unknown_kind *kinds;
	size_t kind_count;
};

/* Fills kinds. False: memory is out. */
bool tr_state_find_unknown_kinds(struct tr_expr_state *state);

#endif
