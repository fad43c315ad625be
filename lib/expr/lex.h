/*
 * Tokens of the filter language. The lexer knows no grammar but one thing: a
 * regular expression is read only where the parser asks for one.
 */
#ifndef TR_EXPR_LEX_H
#define TR_EXPR_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/text.h"
#include "expr/expr.h"

enum tr_token_type {
	TR_TOKEN_END,
	TR_TOKEN_WORD,	 /* text */
	TR_TOKEN_KEY,	 /* `KEY` or #N: text is the key as the stream spells it */
	TR_TOKEN_NUMBER, /* text */
	TR_TOKEN_STRING, /* text: the bytes */
	TR_TOKEN_REGEX,	 /* text: the pattern, `\/` taken off */
	TR_TOKEN_EQ,
	TR_TOKEN_NE,
	TR_TOKEN_LT,
	TR_TOKEN_LE,
	TR_TOKEN_GT,
	TR_TOKEN_GE,
	TR_TOKEN_MATCH,	    /* =~ */
	TR_TOKEN_NOT_MATCH, /* !~ */
	TR_TOKEN_PREFIX,    /* ^= */
	TR_TOKEN_SUFFIX,    /* $= */
	TR_TOKEN_CONTAINS,  /* *= */
	TR_TOKEN_AND,	    /* && */
	TR_TOKEN_OR,	    /* || */
	TR_TOKEN_NOT,	    /* ! */
	TR_TOKEN_OPEN,
	TR_TOKEN_CLOSE,
	TR_TOKEN_BRACKET,
	TR_TOKEN_BRACKET_END,
	TR_TOKEN_BRACE,
	TR_TOKEN_BRACE_END,
	TR_TOKEN_COMMA,
	TR_TOKEN_DOT,
	TR_TOKEN_RANGE, /* .. */
	TR_TOKEN_BAR,
	TR_TOKEN_ARROW,
	TR_TOKEN_UNKNOWN, /* a byte that begins nothing: an error wherever it stands */
};

struct tr_token {
	enum tr_token_type type;
	size_t column; /* of its first byte, from 1 */
	struct tr_text text;
};

struct tr_lexer {
	const char *begin, *pos, *end;
	struct tr_arena *arena; /* for what a token's text has to be decoded into */
	struct tr_expr_error *error;
};

/* False: the lexer's error is filled. Texts live as long as the input or the arena. */
bool tr_lex(struct tr_lexer *lexer, struct tr_token *token);

/* The regular expression whose first "/" stands at that column. */
bool tr_lex_regex(struct tr_lexer *lexer, size_t column, struct tr_token *token);

/*
 * The letters, digits and signs from that column on of which points in time consist.
 * Changes nothing: who takes the text steps over it with tr_lex_skip.
 */
struct tr_text tr_lex_time(const struct tr_lexer *lexer, size_t column);
void tr_lex_skip(struct tr_lexer *lexer, struct tr_text text);

/* Fills error and returns false. column 0: memory is out. */
bool tr_expr_fail(struct tr_expr_error *error, size_t column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
