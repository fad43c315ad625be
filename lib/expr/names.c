/* What can be said of an expression without a record. */
#include "expr/program.h"

bool tr_expr_lone_kind(const struct tr_expr *expr, struct tr_text *kind)
{
	if (expr->root->type != TR_NODE_KIND)
		return false;
	*kind = expr->root->kind;
	return true;
}

static bool test_names(const struct tr_test *test, struct tr_text kind)
{
	if (test->path.subject != TR_SUBJECT_KIND || test->path.steps || test->op != TR_OP_EQ)
		return false;
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (literal->type == TR_LITERAL_STRING && tr_text_equal(literal->text, kind))
			return true;
	}
	return false;
}

static bool node_names(const struct tr_node *node, struct tr_text kind)
{
	if (node->type == TR_NODE_KIND)
		return tr_text_equal(node->kind, kind);
	if (node->type == TR_NODE_TEST)
		return test_names(node->test, kind);
	for (const struct tr_node *child = node->children; child; child = child->next) {
		if (node_names(child, kind))
			return true;
	}
	return false;
}

bool tr_expr_names_kind(const struct tr_expr *expr, struct tr_text kind)
{
	return node_names(expr->root, kind);
}
