#include <string.h>

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
