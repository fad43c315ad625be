/* Tests on columns: what they say of a cell depends on its bytes alone. */
#ifndef TR_EXPR_COLUMN_H
#define TR_EXPR_COLUMN_H

#include <stdbool.h>

#include "expr/compare.h"
#include "expr/many.h"
#include "expr/walk.h"

/*
 * Strings against strings, with no step but basename between them: most tests
 * are no more than this. Else the general way has to be taken.
 */
bool tr_test_is_simple(const struct tr_test *test);

/* A simple test on bytes that were decoded. */
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

/* Any test on a column's bytes, escapes taken off; negation is the caller's business. */
bool tr_test_cell(struct tr_compare *compare, const struct tr_test *test, struct tr_text bytes);

/*
 * The same on a cell that holds a number and was never spelled: so addresses of
 * execution traces are compared as they are. Only where the test asks for
 * nothing but numbers; else the general way has to be taken.
 */
bool tr_test_is_numeric(const struct tr_test *test);
bool tr_test_number(struct tr_compare *compare, const struct tr_test *test, uint64_t number);

#endif
