#include "expr/parse.h"

#include <stdlib.h>
#include <string.h>

/* Deeper than any hand writes; the parser and the evaluation recurse no further. */
enum { MAX_DEPTH = 60 };

bool tr_parse_begin(struct tr_parser *parser, struct tr_text text, struct tr_arena *arena,
		    struct tr_expr_error *error)
{
	struct tr_text copy = tr_arena_copy(arena, text);
	*parser = (struct tr_parser){ 0 };
	if (!copy.data)
		return tr_expr_fail(error, 0, "out of memory");
	parser->lexer =
		(struct tr_lexer){ copy.data, copy.data, copy.data + copy.len, arena, error };
	return tr_parse_advance(parser);
}

bool tr_parse_advance(struct tr_parser *parser)
{
	parser->behind = parser->lexer.pos;
	return tr_lex(&parser->lexer, &parser->token);
}

bool tr_parse_fail(struct tr_parser *parser, const char *what)
{
	return tr_expr_fail(parser->lexer.error, parser->token.column, "%s", what);
}

bool tr_parse_expect(struct tr_parser *parser, enum tr_token_type type, const char *what)
{
	if (parser->token.type != type)
		return tr_expr_fail(parser->lexer.error, parser->token.column, "%s expected", what);
	return tr_parse_advance(parser);
}

bool tr_parse_enter(struct tr_parser *parser)
{
	if (++parser->depth > MAX_DEPTH)
		return tr_expr_fail(parser->lexer.error, parser->token.column,
				    "more than %d parentheses are open", MAX_DEPTH);
	return true;
}

void tr_parse_leave(struct tr_parser *parser)
{
	parser->depth--;
}

bool tr_parse_is_word(const struct tr_parser *parser, const char *word)
{
	return parser->token.type == TR_TOKEN_WORD && tr_text_is(parser->token.text, word);
}

void *tr_parse_alloc(struct tr_parser *parser, size_t size)
{
	void *result = tr_arena_alloc(parser->lexer.arena, size);
	if (!result) {
		tr_expr_fail(parser->lexer.error, 0, "out of memory");
		return NULL;
	}
	return memset(result, 0, size);
}

struct tr_node *tr_parse_node(struct tr_parser *parser, enum tr_node_type type)
{
	struct tr_node *node = tr_parse_alloc(parser, sizeof *node);
	if (node)
		node->type = type;
	return node;
}

static struct tr_node *parse_or(struct tr_parser *parser);

static struct tr_node *parse_parentheses(struct tr_parser *parser)
{
	struct tr_node *node = NULL;
	if (tr_parse_enter(parser) && tr_parse_advance(parser))
		node = parse_or(parser);
	tr_parse_leave(parser);
	return node && tr_parse_expect(parser, TR_TOKEN_CLOSE, ")") ? node : NULL;
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
			tr_parse_fail(&parser, "unexpected text");
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
