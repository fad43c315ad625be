#include "expr/column.h"

bool tr_test_is_simple(const struct tr_test *test)
{
	const struct tr_step *step = test->path.steps;
	return test->strings && test->op == TR_OP_EQ &&
	       (!step || (step->type == TR_STEP_BASENAME && !step->next));
}

bool tr_test_cell(struct tr_compare *compare, const struct tr_test *test, struct tr_text bytes)
{
	if (tr_test_is_simple(test))
		return tr_test_equals(test, bytes);
	struct tr_leaf leaf;
	leaf.type = TR_LEAF_TEXT;
	leaf.is_value = false;
	leaf.bytes = bytes;
	leaf.has_number = !test->strings && test->path.subject != TR_SUBJECT_KIND &&
			  tr_number_from_cell(bytes, &leaf.number);
	return tr_walk_leaf(compare, test, &leaf, test->path.steps);
}

bool tr_test_is_numeric(const struct tr_test *test)
{
	if (test->op < TR_OP_EQ || test->op > TR_OP_GE || test->path.steps || !test->literals)
		return false;
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (literal->type != TR_LITERAL_NUMBER && literal->type != TR_LITERAL_RANGE)
			return false;
	}
	return true;
}

bool tr_test_number(struct tr_compare *compare, const struct tr_test *test, uint64_t number)
{
	struct tr_leaf leaf = { .type = TR_LEAF_TEXT, .has_number = true };
	leaf.number = tr_number_from_count(number);
	return tr_compare_leaf(compare, test, &leaf);
}
