#include "expr/parse.h"

#include <stdlib.h>

static struct tr_node *parse_or(struct tr_parser *parser);

static struct tr_node *parse_parentheses(struct tr_parser *parser)
{
	struct tr_node *node = NULL;
	if (tr_parse_enter(parser) && tr_parse_advance(parser))
		node = parse_or(parser);
	tr_parse_leave(parser);
	return node && tr_parse_close(parser, TR_TEXT("")) ? node : NULL;
}

static struct tr_node *parse_not(struct tr_parser *parser)
{
	bool negated = false;
	while (parser->token.type == TR_TOKEN_NOT || tr_parse_is_word(parser, "not")) {
		negated = !negated;
		if (!tr_parse_advance(parser))
			return NULL;
	}
	struct tr_node *node = parser->token.type == TR_TOKEN_OPEN ? parse_parentheses(parser)
								   : tr_parse_test(parser);
	if (!node || !negated)
		return node;
	struct tr_node *inverted = tr_parse_node(parser, TR_NODE_NOT);
	if (inverted)
		inverted->children = node;
	return inverted;
}

/* One level of operators: OPERAND { and|or OPERAND }, flat. */
static struct tr_node *parse_chain(struct tr_parser *parser, enum tr_node_type type,
				   enum tr_token_type token, const char *word,
				   struct tr_node *(*parse_operand)(struct tr_parser *))
{
	struct tr_node *first = parse_operand(parser), *chain = NULL, *last = first;
	while (last && (parser->token.type == token || tr_parse_is_word(parser, word))) {
		if (!chain) {
			chain = tr_parse_node(parser, type);
			if (!chain)
				return NULL;
			chain->children = first;
		}
		if (!tr_parse_advance(parser))
			return NULL;
		last->next = parse_operand(parser);
		last = last->next;
	}
	return !last ? NULL : chain ? chain : first;
}

static struct tr_node *parse_and(struct tr_parser *parser)
{
	return parse_chain(parser, TR_NODE_AND, TR_TOKEN_AND, "and", parse_not);
}

static struct tr_node *parse_or(struct tr_parser *parser)
{
	return parse_chain(parser, TR_NODE_OR, TR_TOKEN_OR, "or", parse_and);
}

struct tr_expr *tr_expr_compile(struct tr_text text, struct tr_expr_error *error)
{
	struct tr_expr *expr = calloc(1, sizeof *expr);
	struct tr_parser parser;
	if (!expr) {
		tr_expr_fail(error, 0, "out of memory");
		return NULL;
	}
	if (tr_parse_begin(&parser, text, &expr->arena, error)) {
		parser.expr = expr;
		expr->root = parse_or(&parser);
		if (expr->root && parser.token.type == TR_TOKEN_END)
			return expr;
		if (expr->root)
			tr_parse_fail(&parser, "'and', 'or' or the end of the expression is expected");
	}
	tr_expr_free(expr);
	return NULL;
}

void tr_expr_free(struct tr_expr *expr)
{
	if (!expr)
		return;
	for (struct tr_test *test = expr->tests; test; test = test->next)
		tr_regex_free(test->regex);
	tr_arena_free(&expr->arena);
	free(expr);
}
