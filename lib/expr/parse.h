/* SPDX-License-Identifier: MIT */
/*
 * Parsing of the filter language.
 *
 *	text -> struct tr_token -> struct tr_path, struct tr_expr (program.h)
 *
 * field_list.c uses the parser for its paths. Not thread safe.
 */
#ifndef TR_EXPR_PARSE_H
#define TR_EXPR_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/text.h"
#include "expr/expr.h"
#include "expr/program.h"

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
	TR_TOKEN_UNKNOWN, /* a byte that begins no token: always an error */
};

struct tr_token {
	enum tr_token_type type;
	size_t column; /* of its first byte, from 1 */
	struct tr_text text;
};

struct tr_lexer {
	const char *begin, *pos, *end;
	struct tr_arena *arena; /* for decoded texts of tokens */
	struct tr_expr_error *error;
};

/* Fills error and returns false. column 0: memory is exhausted. */
bool tr_expr_fail(struct tr_expr_error *error, size_t column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The recursive descent parser. */

struct tr_parser {
	struct tr_lexer lexer;
	struct tr_token token; /* the current token */
	struct tr_text last;   /* the token before it, as the expression spells it */
	unsigned depth;	       /* open parentheses */
	struct tr_expr *expr;  /* NULL while a list of fields is parsed */
};

/* Begins to parse a copy of text in the arena. */
bool tr_parse_begin(struct tr_parser *parser, struct tr_text text, struct tr_arena *arena,
		    struct tr_expr_error *error);

/* Skips a token of that type, or fails with "WHAT expected". */
bool tr_parse_expect(struct tr_parser *parser, enum tr_token_type type, const char *what);

/*
 * Parses a field. bare (may be NULL) is set if it is a single word, which is then path->key and may
 * be a kind.
 */
bool tr_parse_field(struct tr_parser *parser, struct tr_path *path, bool *bare);

#endif
