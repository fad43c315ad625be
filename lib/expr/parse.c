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

static struct tr_node *parse_or(struct tr_parser *parser);

static struct tr_node *new_node(struct tr_parser *parser, enum tr_node_type type)
{
	struct tr_node *node = tr_parse_alloc(parser, sizeof *node);
	if (node)
		node->type = type;
	return node;
}

static struct tr_node *new_test(struct tr_parser *parser)
{
	struct tr_node *node = new_node(parser, TR_NODE_TEST);
	struct tr_test *test = tr_parse_alloc(parser, sizeof *test);
	if (!node || !test)
		return NULL;
	test->number = parser->expr->test_count++;
	test->next = parser->expr->tests;
	parser->expr->tests = test;
	node->test = test;
	return node;
}

/* True when the field is text whatever the record: a WORD can never be equal to it. */
static bool is_text(const struct tr_path *path)
{
	bool text = path->subject != TR_SUBJECT_KEY;
	for (const struct tr_step *step = path->steps; step; step = step->next)
		text = text || step->type == TR_STEP_BASENAME;
	return text;
}

static bool parse_number(struct tr_parser *parser, struct tr_number_literal *number)
{
	bool fits;
	if (tr_number_literal_read(parser->token.text, parser->lexer.arena, number, &fits))
		return tr_parse_advance(parser);
	if (!fits)
		return tr_parse_fail(parser, "more than 64 bits");
	return tr_expr_fail(parser->lexer.error, 0, "out of memory");
}

static bool parse_word(struct tr_parser *parser, const struct tr_path *path,
		       struct tr_literal *literal)
{
	if (tr_parse_is_word(parser, "null")) {
		literal->type = TR_LITERAL_NULL;
	} else if (tr_parse_is_word(parser, "true")) {
		literal->type = TR_LITERAL_TRUE;
	} else if (tr_parse_is_word(parser, "false")) {
		literal->type = TR_LITERAL_FALSE;
	} else {
		if (is_text(path))
			return tr_expr_fail(
				parser->lexer.error, parser->token.column,
				"a string is wanted, quote it: \"%.*s\"",
				(int)(parser->token.text.len < 80 ? parser->token.text.len : 80),
				parser->token.text.data);
		literal->type = TR_LITERAL_WORD;
		literal->text = parser->token.text;
	}
	return tr_parse_advance(parser);
}

static bool parse_literal(struct tr_parser *parser, const struct tr_path *path,
			  struct tr_literal *literal)
{
	switch (parser->token.type) {
	case TR_TOKEN_NUMBER:
		literal->type = TR_LITERAL_NUMBER;
		return parse_number(parser, &literal->number);
	case TR_TOKEN_STRING:
		literal->type = TR_LITERAL_STRING;
		literal->text = parser->token.text;
		return tr_parse_advance(parser);
	case TR_TOKEN_WORD:
		return parse_word(parser, path, literal);
	default:
		return tr_parse_fail(parser, "literal expected");
	}
}

/* ..hi behind a literal that began at that column. */
static bool parse_range(struct tr_parser *parser, struct tr_literal *low, size_t column)
{
	if (low->type != TR_LITERAL_NUMBER)
		return tr_expr_fail(parser->lexer.error, column, "a range is of numbers");
	if (!tr_parse_advance(parser))
		return false;
	size_t high_column = parser->token.column;
	if (parser->token.type != TR_TOKEN_NUMBER)
		return tr_parse_fail(parser, "a range is of numbers: number expected");
	if (!parse_number(parser, &low->high))
		return false;
	if (tr_number_literal_compare(&low->number, &low->high) == TR_GREATER)
		return tr_expr_fail(parser->lexer.error, high_column, "empty range");
	low->type = TR_LITERAL_RANGE;
	return true;
}

/* { literal | lo..hi, … } */
static bool parse_set(struct tr_parser *parser, struct tr_test *test)
{
	struct tr_literal **last = &test->literals;
	if (!tr_parse_advance(parser) || !tr_parse_expect(parser, TR_TOKEN_BRACE, "{"))
		return false;
	test->op = TR_OP_EQ;
	test->strings = true;
	for (;;) {
		size_t column = parser->token.column;
		struct tr_literal *literal = tr_parse_alloc(parser, sizeof *literal);
		if (!literal || !parse_literal(parser, &test->path, literal))
			return false;
		if (parser->token.type == TR_TOKEN_RANGE && !parse_range(parser, literal, column))
			return false;
		test->strings = test->strings && literal->type == TR_LITERAL_STRING;
		*last = literal;
		last = &literal->next;
		if (parser->token.type != TR_TOKEN_COMMA)
			return tr_parse_expect(parser, TR_TOKEN_BRACE_END, ", or }");
		if (!tr_parse_advance(parser))
			return false;
	}
}

/* WORD{|WORD} behind "has". */
static bool parse_words(struct tr_parser *parser, struct tr_test *test)
{
	struct tr_literal **last = &test->literals;
	test->op = TR_OP_HAS_WORDS;
	do {
		if (!tr_parse_advance(parser))
			return false;
		if (parser->token.type != TR_TOKEN_WORD)
			return tr_parse_fail(parser, "word expected");
		if (is_text(&test->path))
			return tr_parse_fail(parser,
					     "a string has no words: use == or *= and quote it");
		struct tr_literal *literal = tr_parse_alloc(parser, sizeof *literal);
		if (!literal)
			return false;
		literal->type = TR_LITERAL_WORD;
		literal->text = parser->token.text;
		*last = literal;
		last = &literal->next;
		if (!tr_parse_advance(parser))
			return false;
	} while (parser->token.type == TR_TOKEN_BAR);
	return true;
}

static bool parse_regex(struct tr_parser *parser, struct tr_test *test)
{
	char why[160];
	size_t column = parser->token.column;
	if (parser->token.type != TR_TOKEN_UNKNOWN || *parser->token.text.data != '/')
		return tr_parse_fail(parser, "regex expected: /…/");
	if (!tr_lex_regex(&parser->lexer, column, &parser->token))
		return false;
	test->strings = true;
	test->regex = tr_regex_compile(parser->token.text, why, sizeof why);
	if (!test->regex && *why)
		return tr_expr_fail(parser->lexer.error, column, "%s", why);
	if (!test->regex)
		return tr_expr_fail(parser->lexer.error, 0, "out of memory");
	return tr_parse_advance(parser);
}

static const struct {
	enum tr_token_type token;
	enum tr_test_op op;
	bool negated;
	bool string; /* its literal can be nothing else */
} comparisons[] = {
	{ TR_TOKEN_EQ, TR_OP_EQ, false, false },
	{ TR_TOKEN_NE, TR_OP_EQ, true, false },
	{ TR_TOKEN_LT, TR_OP_LT, false, false },
	{ TR_TOKEN_LE, TR_OP_LE, false, false },
	{ TR_TOKEN_GT, TR_OP_GT, false, false },
	{ TR_TOKEN_GE, TR_OP_GE, false, false },
	{ TR_TOKEN_MATCH, TR_OP_REGEX, false, false },
	{ TR_TOKEN_NOT_MATCH, TR_OP_REGEX, true, false },
	{ TR_TOKEN_PREFIX, TR_OP_PREFIX, false, true },
	{ TR_TOKEN_SUFFIX, TR_OP_SUFFIX, false, true },
	{ TR_TOKEN_CONTAINS, TR_OP_CONTAINS, false, true },
};

/* The operator that the current token is, as an index, or -1. */
static int comparison_at(const struct tr_parser *parser)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
		if (comparisons[i].token == parser->token.type)
			return (int)i;
	}
	return -1;
}

static bool parse_comparison(struct tr_parser *parser, struct tr_test *test, int comparison)
{
	test->op = comparisons[comparison].op;
	test->negated = comparisons[comparison].negated;
	if (!tr_parse_advance(parser))
		return false;
	if (test->op == TR_OP_REGEX)
		return parse_regex(parser, test);
	if (comparisons[comparison].string && parser->token.type != TR_TOKEN_STRING)
		return tr_parse_fail(parser, "string expected");
	test->literals = tr_parse_alloc(parser, sizeof *test->literals);
	if (!test->literals || !parse_literal(parser, &test->path, test->literals))
		return false;
	test->strings = test->literals->type == TR_LITERAL_STRING;
	return true;
}

/* What follows a field: an operator, or nothing where the field is a kind. */
static struct tr_node *parse_rest(struct tr_parser *parser, struct tr_node *node, bool bare)
{
	struct tr_test *test = node->test;
	int comparison = comparison_at(parser);
	bool fine;
	if (comparison >= 0) {
		fine = parse_comparison(parser, test, comparison);
	} else if (tr_parse_is_word(parser, "in")) {
		fine = parse_set(parser, test);
	} else if (tr_parse_is_word(parser, "has")) {
		fine = parse_words(parser, test);
	} else if (bare && *test->path.key.data >= 'a' && *test->path.key.data <= 'z') {
		node->type = TR_NODE_KIND;
		node->kind = test->path.key;
		node->is_call = tr_text_is(node->kind, "call");
		fine = true;
	} else {
		fine = tr_parse_fail(parser, "operator expected");
	}
	return fine ? node : NULL;
}

/* has(FIELD), at the parenthesis. */
static bool parse_exists(struct tr_parser *parser, struct tr_test *test)
{
	bool fine;
	test->op = TR_OP_EXISTS;
	fine = tr_parse_enter(parser) && tr_parse_advance(parser) &&
	       tr_parse_field(parser, &test->path, NULL) &&
	       tr_parse_expect(parser, TR_TOKEN_CLOSE, ")");
	tr_parse_leave(parser);
	return fine;
}

static struct tr_node *parse_test(struct tr_parser *parser)
{
	bool bare, maybe_has = tr_parse_is_word(parser, "has");
	struct tr_node *node = new_test(parser);
	if (!node)
		return NULL;
	if (!tr_parse_field(parser, &node->test->path, &bare))
		return NULL;
	if (maybe_has && bare && parser->token.type == TR_TOKEN_OPEN) {
		node->test->path = (struct tr_path){ 0 };
		return parse_exists(parser, node->test) ? node : NULL;
	}
	return parse_rest(parser, node, bare);
}

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
								   : parse_test(parser);
	if (!node || !negated)
		return node;
	struct tr_node *inverted = new_node(parser, TR_NODE_NOT);
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
			chain = new_node(parser, type);
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
