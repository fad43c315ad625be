#include <stdio.h>
#include <string.h>

#include "core/similar.h"
#include "expr/parse.h"

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
	const char *begin = parser->lexer.begin;
	if (parser->token.column)
		begin += parser->token.column - 1;
	parser->last = tr_text_span(begin, parser->lexer.pos);
	return tr_lex(&parser->lexer, &parser->token);
}

/* As much of a text as a message can hold. */
static int shown(struct tr_text text)
{
	return (int)(text.len < 80 ? text.len : 80);
}

/* What other languages call an operator of ours. */
static const char *operator_for(struct tr_text word)
{
	static const struct {
		const char *word, *operator;
	} words[] = {
		{ "contains", "*=" }, { "includes", "*=" }, { "startswith", "^=" },
		{ "starts", "^=" },   { "begins", "^=" },   { "endswith", "$=" },
		{ "ends", "$=" },     { "matches", "=~" },  { "match", "=~" },
		{ "like", "=~" },     { "regex", "=~" },    { "is", "==" },
		{ "eq", "==" },	      { "equals", "==" },   { "ne", "!=" },
		{ "lt", "<" },	      { "le", "<=" },	    { "gt", ">" },
		{ "ge", ">=" },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (tr_text_is(word, words[i].word))
			return words[i].operator;
	}
	return NULL;
}

static bool fail_function(struct tr_parser *parser)
{
	struct tr_similar similar;
	struct tr_text name = parser->last;
	size_t column = (size_t)(name.data - parser->lexer.begin) + 1;
	tr_similar_begin(&similar, name);
	tr_similar_offer(&similar, TR_TEXT("basename"));
	tr_similar_offer(&similar, TR_TEXT("len"));
	tr_similar_offer(&similar, TR_TEXT("has"));
	if (similar.found.data)
		return tr_expr_fail(parser->lexer.error, column,
				    "unknown function '%.*s'; did you mean %.*s()?", shown(name),
				    name.data, (int)similar.found.len, similar.found.data);
	return tr_expr_fail(parser->lexer.error, column,
			    "unknown function '%.*s'; there are basename(), len() and has()",
			    shown(name), name.data);
}

static bool is_word_token(struct tr_text text)
{
	char c = text.len ? *text.data : 0;
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool tr_parse_fail(struct tr_parser *parser, const char *what)
{
	struct tr_expr_error *error = parser->lexer.error;
	const struct tr_token *token = &parser->token;
	struct tr_text last = parser->last;
	if (token->type == TR_TOKEN_END && last.len)
		return tr_expr_fail(error, token->column, "%s ends after '%.*s'",
				    parser->expr ? "expression" : "the list", shown(last),
				    last.data);
	if (token->type == TR_TOKEN_END)
		return tr_expr_fail(error, token->column, "the expression is empty");
	if (token->type == TR_TOKEN_UNKNOWN && *token->text.data == '\'')
		return tr_expr_fail(error, token->column, "strings take double quotes");
	if (token->type == TR_TOKEN_UNKNOWN && *token->text.data == '=')
		return tr_expr_fail(error, token->column, "'=' is not an operator; use '=='");
	if (token->type == TR_TOKEN_OPEN && is_word_token(last))
		return fail_function(parser);
	if (token->type == TR_TOKEN_WORD && operator_for(token->text))
		return tr_expr_fail(error, token->column, "unknown operator '%.*s'; use %s",
				    shown(token->text), token->text.data,
				    operator_for(token->text));
	return tr_expr_fail(error, token->column, "%s", what);
}

bool tr_parse_close(struct tr_parser *parser, struct tr_text name)
{
	if (parser->token.type != TR_TOKEN_END)
		return tr_parse_expect(parser, TR_TOKEN_CLOSE, "')'");
	return tr_expr_fail(parser->lexer.error, parser->token.column, "unclosed '('%s%.*s",
			    name.len ? " after " : "", shown(name), name.data ? name.data : "");
}

bool tr_parse_expect(struct tr_parser *parser, enum tr_token_type type, const char *what)
{
	char expected[40];
	if (parser->token.type != type) {
		snprintf(expected, sizeof expected, "%s expected", what);
		return tr_parse_fail(parser, expected);
	}
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
