/*
 * The recursive descent parser, in four files: what connects tests (parse.c),
 * tests (parse_test.c), fields (parse_field.c), and the step to the next token,
 * on which they all stand (parse_token.c).
 */
#ifndef TR_EXPR_PARSE_H
#define TR_EXPR_PARSE_H

#include "expr/lex.h"
#include "expr/program.h"

struct tr_parser {
	struct tr_lexer lexer;
	struct tr_token token; /* the one that is looked at */
	struct tr_text last;   /* the one before it, as the expression spells it */
	unsigned depth;	       /* open parentheses */
	struct tr_expr *expr;  /* NULL while a list of fields is parsed */
};

/* Begins with a copy of text in the arena. */
bool tr_parse_begin(struct tr_parser *parser, struct tr_text text, struct tr_arena *arena,
		    struct tr_expr_error *error);

bool tr_parse_advance(struct tr_parser *parser);

/* Steps over a token of that type, or fails with "WHAT expected". */
bool tr_parse_expect(struct tr_parser *parser, enum tr_token_type type, const char *what);

/* Fails at the current token: says what it is where it is a common mistake, else what. */
bool tr_parse_fail(struct tr_parser *parser, const char *what);

/* Steps over the ")" of what was opened after `name`, which may be empty. */
bool tr_parse_close(struct tr_parser *parser, struct tr_text name);

/* Open and close of any nesting: fails beyond the limit. */
bool tr_parse_enter(struct tr_parser *parser);
void tr_parse_leave(struct tr_parser *parser);

bool tr_parse_is_word(const struct tr_parser *parser, const char *word);

/* Zeroed; NULL: the error is filled. */
void *tr_parse_alloc(struct tr_parser *parser, size_t size);

struct tr_node *tr_parse_node(struct tr_parser *parser, enum tr_node_type type);

/* A test or a kind. NULL: the error is filled. */
struct tr_node *tr_parse_test(struct tr_parser *parser);

/*
 * A field. bare (may be NULL) is set when it is no more than one word, which
 * is then path->key and may be a kind.
 */
bool tr_parse_field(struct tr_parser *parser, struct tr_path *path, bool *bare);

#endif
