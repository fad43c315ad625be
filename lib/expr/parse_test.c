/* One test: a field, an operator, and what it is compared with; or a kind. */
#include "expr/many.h"
#include "expr/parse.h"

static struct tr_node *new_test(struct tr_parser *parser)
{
	struct tr_node *node = tr_parse_node(parser, TR_NODE_TEST);
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
			break;
		if (!tr_parse_advance(parser))
			return false;
	}
	if (!tr_parse_expect(parser, TR_TOKEN_BRACE_END, ", or }"))
		return false;
	return tr_many_build(test, parser->lexer.arena) ||
	       tr_expr_fail(parser->lexer.error, 0, "out of memory");
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

struct tr_node *tr_parse_test(struct tr_parser *parser)
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
