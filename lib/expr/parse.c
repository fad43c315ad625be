/* SPDX-License-Identifier: MIT */
/*
 * The lexer and the parser, by recursive descent; each function of the parser handles one rule of
 * the grammar in the manual page of tr-filter. All memory is in the arena of the expression. A
 * failure fills the error once, with the column of the token and, for common mistakes of people who
 * know other languages, with advice.
 *
 * The lexer keeps no state but its position. A byte that begins no token becomes a token of its
 * own, because the parser knows better what to advise.
 */

#include "expr/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/text.h"
#include "expr/program.h"
#include "record/record.h"
#include "record/string_scan.h"

bool tr_expr_fail(struct tr_expr_error *error, size_t column, const char *format, ...)
{
	va_list args;
	error->column = column;
	va_start(args, format);
	vsnprintf(error->text, sizeof error->text, format, args);
	va_end(args);
	return false;
}

static bool out_of_memory(struct tr_expr_error *error)
{
	return tr_expr_fail(error, 0, "out of memory");
}

/* The column of a byte, from 1, for messages. */
static size_t column_of(const struct tr_lexer *lexer, const char *p)
{
	return (size_t)(p - lexer->begin) + 1;
}

static bool is_word(char c)
{
	return tr_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_hex(const char *p, const char *end)
{
	return p < end && tr_hex_digit(*p) >= 0;
}

/* Decodes the escape at p, and returns its end. NULL: there is no such escape. */
static const char *unescape(const char *p, const char *end, struct tr_buffer *to)
{
	/* `\xhh` is any byte here; in the stream only those that are not ASCII are spelled so */
	if (end - p >= 4 && p[1] == 'x' && is_hex(p + 2, end) && is_hex(p + 3, end)) {
		tr_buffer_put_byte(to, (char)(tr_hex_digit(p[2]) << 4 | tr_hex_digit(p[3])));
		return p + 4;
	}
	char bytes[TR_ESCAPE_MAX];
	size_t length, spelled = tr_string_unit(p, end, bytes, &length);
	if (spelled == 1)
		return NULL;
	tr_buffer_put(to, bytes, length);
	return p + spelled;
}

/* Moves the content of the buffer into the arena. */
static bool keep(struct tr_lexer *lexer, struct tr_buffer *from, struct tr_text *text)
{
	*text = tr_arena_copy(lexer->arena, tr_buffer_text(from));
	bool kept = text->data && !from->failed;
	tr_buffer_free(from);
	return kept || out_of_memory(lexer->error);
}

/* Reads a string in double quotes, with the escapes of the stream and \xhh for any byte. */
static bool lex_string(struct tr_lexer *lexer, struct tr_token *token)
{
	struct tr_buffer bytes = TR_BUFFER_INIT;
	const char *p = lexer->pos + 1;
	while (p < lexer->end && *p != '"') {
		if (*p != '\\') {
			tr_buffer_put_byte(&bytes, *p++);
			continue;
		}
		const char *next = unescape(p, lexer->end, &bytes);
		if (!next && p + 1 < lexer->end) {
			tr_buffer_free(&bytes);
			return tr_expr_fail(lexer->error, column_of(lexer, p),
					    "unknown escape in a string");
		}
		p = next ? next : lexer->end;
	}
	if (p == lexer->end) {
		tr_buffer_free(&bytes);
		return tr_expr_fail(lexer->error, token->column, "string without closing quote");
	}
	token->type = TR_TOKEN_STRING;
	lexer->pos = p + 1;
	return keep(lexer, &bytes, &token->text);
}

/*
 * Reads a key in backquotes. It is spelled as in the stream, but may contain without an escape what
 * a cell has to escape.
 */
static bool lex_key(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *begin = lexer->pos + 1;
	const char *end = memchr(begin, '`', (size_t)(lexer->end - begin));
	struct tr_buffer key = TR_BUFFER_INIT;
	struct tr_text bytes;
	if (!end || end == begin)
		return tr_expr_fail(lexer->error, token->column,
				    end ? "empty key" : "key without closing backquote");
	if (!tr_cell_bytes(tr_text_span(begin, end), lexer->arena, &bytes, NULL)) {
		const char *escape = memchr(begin, '\\', (size_t)(end - begin));
		return tr_expr_fail(lexer->error, column_of(lexer, escape ? escape : begin),
				    "invalid escape in a key");
	}
	tr_cell_escape(bytes, true, &key);
	token->type = TR_TOKEN_KEY;
	lexer->pos = end + 1;
	if (!keep(lexer, &key, &token->text))
		return false;
	/*
	 * a dot or # without an escape begins a key of ours (.raw, #0), which is not spelled \x2e
	 */
	if (*begin == '.' || *begin == '#') {
		token->text.data += 3;
		token->text.len -= 3;
		((char *)token->text.data)[0] = *begin;
	}
	return true;
}

/* Reads #N, the key of an argument without a usable name. */
static bool lex_argument(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = tr_skip_digits(lexer->pos + 1, lexer->end);
	if (p == lexer->pos + 1)
		return tr_expr_fail(lexer->error, token->column + 1, "number expected after #");
	token->type = TR_TOKEN_KEY;
	token->text = tr_text_span(lexer->pos, p);
	lexer->pos = p;
	return true;
}

/*
 * Reads a word. A '-' belongs to it only if more of the word follows, so that `a->b` is not one
 * word.
 */
static bool lex_word(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = lexer->pos;
	while (p < lexer->end &&
	       (is_word(*p) || (*p == '-' && p + 1 < lexer->end && is_word(p[1]))))
		p++;
	token->type = TR_TOKEN_WORD;
	token->text = tr_text_span(lexer->pos, p);
	lexer->pos = p;
	return true;
}

/* Reads -DIGITS[.DIGITS][e[+-]DIGITS] or 0xHEX; pos is at the sign or a digit. */
static bool lex_number(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = lexer->pos, *end = lexer->end;
	token->type = TR_TOKEN_NUMBER;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x' && is_hex(p + 2, end)) {
		for (p += 2; is_hex(p, end); p++)
			;
	} else {
		p = tr_skip_digits(p + (*p == '-'), end);
		if (end - p > 1 && p[0] == '.' && tr_is_digit(p[1]))
			p = tr_skip_digits(p + 1, end);
		if (end - p > 1 && (*p | 0x20) == 'e') {
			const char *digits = p + 1 + (p[1] == '-' || p[1] == '+');
			const char *after = tr_skip_digits(digits, end);
			if (after > digits)
				p = after;
		}
	}
	token->text = tr_text_span(lexer->pos, p);
	lexer->pos = p;
	return true;
}

/* Longer operators come first. */
static const struct {
	char text[3];
	enum tr_token_type type;
} operators[] = {
	{ "==", TR_TOKEN_EQ },	     { "!=", TR_TOKEN_NE },	    { "<=", TR_TOKEN_LE },
	{ ">=", TR_TOKEN_GE },	     { "=~", TR_TOKEN_MATCH },	    { "!~", TR_TOKEN_NOT_MATCH },
	{ "^=", TR_TOKEN_PREFIX },   { "$=", TR_TOKEN_SUFFIX },	    { "*=", TR_TOKEN_CONTAINS },
	{ "&&", TR_TOKEN_AND },	     { "||", TR_TOKEN_OR },	    { "->", TR_TOKEN_ARROW },
	{ "..", TR_TOKEN_RANGE },    { "<", TR_TOKEN_LT },	    { ">", TR_TOKEN_GT },
	{ "!", TR_TOKEN_NOT },	     { "(", TR_TOKEN_OPEN },	    { ")", TR_TOKEN_CLOSE },
	{ "[", TR_TOKEN_BRACKET },   { "]", TR_TOKEN_BRACKET_END }, { "{", TR_TOKEN_BRACE },
	{ "}", TR_TOKEN_BRACE_END }, { ",", TR_TOKEN_COMMA },	    { ".", TR_TOKEN_DOT },
	{ "|", TR_TOKEN_BAR },
};

/* Reads an operator, or one byte that is none. */
static bool lex_operator(struct tr_lexer *lexer, struct tr_token *token)
{
	size_t left = (size_t)(lexer->end - lexer->pos);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t len = strlen(operators[i].text);
		if (len <= left && memcmp(lexer->pos, operators[i].text, len) == 0) {
			token->type = operators[i].type;
			token->text = tr_text_span(lexer->pos, lexer->pos + len);
			lexer->pos += len;
			return true;
		}
	}
	token->type = TR_TOKEN_UNKNOWN;
	token->text = tr_text_span(lexer->pos, lexer->pos + 1);
	lexer->pos++;
	return true;
}

/* Reads the next token, whose first byte decides what it is. False: the error is filled. */
static bool lex(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = lexer->pos;
	while (p < lexer->end && tr_is_blank(*p))
		p++;
	lexer->pos = p;
	*token = (struct tr_token){ .type = TR_TOKEN_END, .column = column_of(lexer, p) };
	if (p == lexer->end)
		return true;
	if (*p == '"')
		return lex_string(lexer, token);
	if (*p == '`')
		return lex_key(lexer, token);
	if (*p == '#')
		return lex_argument(lexer, token);
	if (tr_is_digit(*p) || (*p == '-' && p + 1 < lexer->end && tr_is_digit(p[1])))
		return lex_number(lexer, token);
	if (is_word(*p))
		return lex_word(lexer, token);
	return lex_operator(lexer, token);
}

/* Reads the regular expression whose first "/" is at that column. */
static bool lex_regex(struct tr_lexer *lexer, size_t column, struct tr_token *token)
{
	struct tr_buffer pattern = TR_BUFFER_INIT;
	const char *p = lexer->begin + column;
	for (; p < lexer->end && *p != '/'; p++) {
		/* other escapes belong to the pattern, and keep their backslash */
		if (*p == '\\' && p + 1 < lexer->end && *++p != '/')
			tr_buffer_put_byte(&pattern, '\\');
		tr_buffer_put_byte(&pattern, *p);
	}
	if (p == lexer->end) {
		tr_buffer_free(&pattern);
		return tr_expr_fail(lexer->error, column, "regex without closing /");
	}
	*token = (struct tr_token){ .type = TR_TOKEN_REGEX, .column = column };
	lexer->pos = p + 1;
	return keep(lexer, &pattern, &token->text);
}

/*
 * Returns the letters, digits and signs from that column on that may form a point in time, without
 * consuming them. If they do, the caller skips them with lex_skip.
 */
static struct tr_text lex_time(const struct tr_lexer *lexer, size_t column)
{
	const char *begin = lexer->begin + column - 1, *p = begin;
	/* two dots are not part of a time, but of a range */
	while (p < lexer->end && (is_word(*p) || *p == ':' || *p == '+' || *p == '-' ||
				  (*p == '.' && p + 1 < lexer->end && tr_is_digit(p[1]))))
		p++;
	return tr_text_span(begin, p);
}

static void lex_skip(struct tr_lexer *lexer, struct tr_text text)
{
	lexer->pos = text.data + text.len;
}

enum { MAX_DEPTH = 60 }; /* parentheses; it limits the recursion of the parser and of judge() */

/*
 * Reads the next token, and keeps where the last one was, for messages and for the text of paths.
 */
static bool advance(struct tr_parser *parser)
{
	const char *begin = parser->lexer.begin;
	if (parser->token.column)
		begin += parser->token.column - 1;
	parser->last = tr_text_span(begin, parser->lexer.pos);
	return lex(&parser->lexer, &parser->token);
}

bool tr_parse_begin(struct tr_parser *parser, struct tr_text text, struct tr_arena *arena,
		    struct tr_expr_error *error)
{
	struct tr_text copy = tr_arena_copy(arena, text);
	*parser = (struct tr_parser){ 0 };
	if (!copy.data)
		return out_of_memory(error);
	parser->lexer =
		(struct tr_lexer){ copy.data, copy.data, copy.data + copy.len, arena, error };
	return advance(parser);
}

/* Returns our operator for the word that other languages have for it, or NULL. */
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

/* Reports a word before "(" that is no function. */
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
				    "unknown function '%.*s'; did you mean %.*s()?",
				    TR_SHOWN(name, 80), (int)similar.found.len, similar.found.data);
	return tr_expr_fail(parser->lexer.error, column,
			    "unknown function '%.*s'; known functions are basename(), len() and "
			    "has()",
			    TR_SHOWN(name, 80));
}

/* Whether a token is a word, by its first letter. */
static bool is_word_token(struct tr_text text)
{
	char c = text.len ? *text.data : 0;
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Fails at the current token: with advice for a common mistake, otherwise with `what`. */
static bool fail_here(struct tr_parser *parser, const char *what)
{
	struct tr_expr_error *error = parser->lexer.error;
	const struct tr_token *token = &parser->token;
	struct tr_text last = parser->last;
	if (token->type == TR_TOKEN_END && last.len)
		return tr_expr_fail(error, token->column, "%s ends after '%.*s'",
				    parser->expr ? "expression" : "the list", TR_SHOWN(last, 80));
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
				    TR_SHOWN(token->text, 80), operator_for(token->text));
	return tr_expr_fail(error, token->column, "%s", what);
}

/* Skips the ")" for a "(" that follows `name`, which may be empty. */
static bool close_parenthesis(struct tr_parser *parser, struct tr_text name)
{
	if (parser->token.type != TR_TOKEN_END)
		return tr_parse_expect(parser, TR_TOKEN_CLOSE, "')'");
	return tr_expr_fail(parser->lexer.error, parser->token.column, "unclosed '('%s%.*s",
			    name.len ? " after " : "", TR_SHOWN(name, 80));
}

bool tr_parse_expect(struct tr_parser *parser, enum tr_token_type type, const char *what)
{
	char expected[40];
	if (parser->token.type != type) {
		snprintf(expected, sizeof expected, "%s expected", what);
		return fail_here(parser, expected);
	}
	return advance(parser);
}

/*
 * Begins a parenthesis: skips "(", and fails beyond the limit. The caller decrements depth after
 * it.
 */
static bool enter(struct tr_parser *parser)
{
	if (++parser->depth > MAX_DEPTH)
		return tr_expr_fail(parser->lexer.error, parser->token.column,
				    "more than %d parentheses are open", MAX_DEPTH);
	return advance(parser);
}

/*
 * Whether the current token is this word. Words of the grammar are not reserved: they may be keys,
 * too.
 */
static bool is_word_here(const struct tr_parser *parser, const char *word)
{
	return parser->token.type == TR_TOKEN_WORD && tr_text_is(parser->token.text, word);
}

/* Allocates zeroed memory in the arena. NULL: the error is filled. */
static void *allocate(struct tr_parser *parser, size_t size)
{
	void *result = tr_arena_alloc(parser->lexer.arena, size);
	if (result)
		return memset(result, 0, size);
	out_of_memory(parser->lexer.error);
	return NULL;
}

/* Makes a node. NULL: the error is filled. */
static struct tr_node *new_node(struct tr_parser *parser, enum tr_node_type type)
{
	struct tr_node *node = allocate(parser, sizeof *node);
	if (node)
		node->type = type;
	return node;
}

static const struct {
	const char *word;
	enum tr_subject subject;
} columns[] = {
	{ "kind", TR_SUBJECT_KIND }, { "seq", TR_SUBJECT_SEQ },	  { "time", TR_SUBJECT_TIME },
	{ "task", TR_SUBJECT_TASK }, { "name", TR_SUBJECT_NAME },
};

/* Returns the column of that name, or TR_SUBJECT_KEY. */
static enum tr_subject subject_of(struct tr_text word)
{
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		if (tr_text_is(word, columns[i].word))
			return columns[i].subject;
	}
	return TR_SUBJECT_KEY;
}

/* True at a word that can begin a field. */
static bool at_word(const struct tr_parser *parser)
{
	return parser->token.type == TR_TOKEN_WORD && !is_word_here(parser, "and") &&
	       !is_word_here(parser, "or") && !is_word_here(parser, "not");
}

/* Adds a step to a path. NULL: the error is filled. */
static struct tr_step *add_step(struct tr_parser *parser, struct tr_path *path,
				enum tr_step_type type)
{
	struct tr_step *step = allocate(parser, sizeof *step);
	if (!step)
		return NULL;
	step->type = type;
	*(path->last_step ? &path->last_step->next : &path->steps) = step;
	path->last_step = step;
	return step;
}

/*
 * Reads DIGITS. An index beyond 64 bits is too large for any list, like the one that replaces it.
 */
static bool read_index(struct tr_text digits, uint64_t *index)
{
	*index = 0;
	for (size_t i = 0; i < digits.len; i++) {
		char c = digits.data[i];
		if (c < '0' || c > '9')
			return false;
		if (__builtin_mul_overflow(*index, 10, index) ||
		    __builtin_add_overflow(*index, (uint64_t)(c - '0'), index))
			*index = UINT64_MAX / 16;
	}
	return true;
}

/* Parses [N] or ["NAME"], at the bracket. */
static bool parse_bracket(struct tr_parser *parser, struct tr_path *path)
{
	uint64_t index = 0;
	if (!advance(parser))
		return false;
	bool is_name = parser->token.type == TR_TOKEN_STRING;
	if (!is_name &&
	    (parser->token.type != TR_TOKEN_NUMBER || !read_index(parser->token.text, &index)))
		return fail_here(parser, "an index or a \"name\" is expected");
	struct tr_step *step = add_step(parser, path, is_name ? TR_STEP_MEMBER : TR_STEP_INDEX);
	if (!step)
		return false;
	step->index = index;
	step->name = parser->token.text;
	return advance(parser) && tr_parse_expect(parser, TR_TOKEN_BRACKET_END, "']'");
}

/* Parses .member, at the dot. */
static bool parse_member(struct tr_parser *parser, struct tr_path *path)
{
	if (!advance(parser))
		return false;
	if (parser->token.type != TR_TOKEN_WORD)
		return fail_here(parser, "the name of a member is expected");
	struct tr_step *step = add_step(parser, path, TR_STEP_MEMBER);
	if (!step)
		return false;
	step->name = parser->token.text;
	return advance(parser);
}

/* Parses all [N], ["NAME"] and .member after a field. *bare is cleared if there are any. */
static bool parse_steps(struct tr_parser *parser, struct tr_path *path, bool *bare)
{
	for (;; *bare = false) {
		bool fine;
		if (parser->token.type == TR_TOKEN_BRACKET)
			fine = parse_bracket(parser, path);
		else if (parser->token.type == TR_TOKEN_DOT)
			fine = parse_member(parser, path);
		else
			return true;
		if (!fine)
			return false;
	}
}

/* Parses KEY, `KEY` or #N after "->". */
static bool parse_arrow(struct tr_parser *parser, struct tr_path *path)
{
	if (!advance(parser))
		return false;
	if (parser->token.type != TR_TOKEN_WORD && parser->token.type != TR_TOKEN_KEY)
		return fail_here(parser, "a field is expected after ->");
	path->after_arrow = true;
	path->key = parser->token.text;
	return advance(parser);
}

/* Parses basename(FIELD) or len(FIELD), at the parenthesis. */
static bool parse_function(struct tr_parser *parser, struct tr_path *path, struct tr_text name,
			   enum tr_step_type function)
{
	bool fine = enter(parser) && tr_parse_field(parser, path, NULL) &&
		    close_parenthesis(parser, name) && add_step(parser, path, function) != NULL;
	parser->depth--;
	return fine;
}

/* True for env["NAME"], which is searched for in envtop and envdiff too. */
static bool is_environment(const struct tr_path *path)
{
	return tr_text_is(path->key, "env") && path->steps && path->steps->type == TR_STEP_MEMBER;
}

/*
 * Parses a field with its steps. Functions are steps, too, and come after those of their operand.
 */
bool tr_parse_field(struct tr_parser *parser, struct tr_path *path, bool *bare)
{
	const char *begin = parser->lexer.begin + parser->token.column - 1;
	bool ignored, fine = true;
	if (!bare)
		bare = &ignored;
	*bare = false;
	path->subject = TR_SUBJECT_KEY;
	if (parser->token.type == TR_TOKEN_ARROW) {
		fine = parse_arrow(parser, path) && parse_steps(parser, path, bare);
	} else if (parser->token.type == TR_TOKEN_KEY) {
		path->key = parser->token.text;
		fine = advance(parser) && parse_steps(parser, path, bare);
	} else if (at_word(parser)) {
		struct tr_text word = parser->token.text;
		path->key = word;
		if (!advance(parser))
			return false;
		bool call = parser->token.type == TR_TOKEN_OPEN;
		if (call && tr_text_is(word, "basename")) {
			fine = parse_function(parser, path, word, TR_STEP_BASENAME);
		} else if (call && tr_text_is(word, "len")) {
			fine = parse_function(parser, path, word, TR_STEP_LEN);
		} else {
			path->subject = subject_of(word);
			*bare = true;
			fine = parse_steps(parser, path, bare);
			path->environment = is_environment(path);
		}
	} else {
		return fail_here(parser, "a field or a kind is expected");
	}
	path->text = tr_text_span(begin, parser->last.data + parser->last.len);
	return fine;
}

/* One test: a field, an operator, and what it is compared with; or a kind. */

/*
 * Makes a node with a test, which gets the next number. The list of tests serves to free their
 * regular expressions, and to find the fields that an expression uses.
 */
static struct tr_node *new_test(struct tr_parser *parser)
{
	struct tr_node *node = new_node(parser, TR_NODE_TEST);
	struct tr_test *test = allocate(parser, sizeof *test);
	if (!node || !test)
		return NULL;
	test->number = parser->expr->test_count++;
	test->next = parser->expr->tests;
	parser->expr->tests = test;
	node->test = test;
	return node;
}

/* True if the field is text in every record, so that a WORD is never equal to it. */
static bool is_text(const struct tr_path *path)
{
	bool text = path->subject != TR_SUBJECT_KEY;
	for (const struct tr_step *step = path->steps; step; step = step->next)
		text = text || step->type == TR_STEP_BASENAME;
	return text;
}

/* Parses a number into all forms that comparisons need. */
static bool parse_number(struct tr_parser *parser, struct tr_number_literal *number)
{
	bool fits;
	if (tr_number_literal_read(parser->token.text, parser->lexer.arena, number, &fits))
		return advance(parser);
	if (!fits)
		return fail_here(parser, "the number has more than 64 bits");
	return out_of_memory(parser->lexer.error);
}

/*
 * Parses a word as a literal. One that is compared with text is an error now, not one for each
 * record.
 */
static bool parse_word(struct tr_parser *parser, const struct tr_path *path,
		       struct tr_literal *literal)
{
	if (is_word_here(parser, "null")) {
		literal->type = TR_LITERAL_NULL;
	} else if (is_word_here(parser, "true")) {
		literal->type = TR_LITERAL_TRUE;
	} else if (is_word_here(parser, "false")) {
		literal->type = TR_LITERAL_FALSE;
	} else {
		if (is_text(path))
			return tr_expr_fail(parser->lexer.error, parser->token.column,
					    "a string is expected; quote it: \"%.*s\"",
					    TR_SHOWN(parser->token.text, 80));
		literal->type = TR_LITERAL_WORD;
		literal->text = parser->token.text;
	}
	return advance(parser);
}

/* True if the test compares the column time with numbers or points in time. */
static bool is_about_time(const struct tr_test *test)
{
	return test->path.subject == TR_SUBJECT_TIME && !test->path.steps && test->op >= TR_OP_EQ &&
	       test->op <= TR_OP_GE;
}

/* Reads the moment, or leaves it for tr_expr_set_start. */
static bool set_moment(struct tr_parser *parser, struct tr_text text,
		       const struct tr_moment *moment, struct tr_number_literal *number)
{
	struct tr_buffer digits = TR_BUFFER_INIT;
	bool fine, fits;
	if (tr_moment_needs_start(moment)) {
		struct tr_late_number *late = allocate(parser, sizeof *late);
		if (!late)
			return false;
		*late = (struct tr_late_number){ *moment, number, parser->expr->late };
		parser->expr->late = late;
		return true;
	}
	if (moment->type == TR_MOMENT_DATE)
		tr_moment_write(moment, text, &digits);
	else
		tr_buffer_put_text(&digits, text);
	fine = !digits.failed &&
	       tr_number_literal_read(tr_buffer_text(&digits), parser->lexer.arena, number, &fits);
	tr_buffer_free(&digits);
	return fine || out_of_memory(parser->lexer.error);
}

/* Parses a point in time, in quotes or bare. *taken is false if the token is something else. */
static bool parse_time(struct tr_parser *parser, const struct tr_test *test,
		       struct tr_literal *literal, struct tr_number_literal *number, bool *taken)
{
	struct tr_moment moment;
	bool quoted = parser->token.type == TR_TOKEN_STRING;
	struct tr_text text =
		quoted ? parser->token.text : lex_time(&parser->lexer, parser->token.column);
	*taken = is_about_time(test) && tr_moment_read(text, &moment);
	if (*taken) {
		if (!quoted)
			lex_skip(&parser->lexer, text);
		literal->late |= tr_moment_needs_start(&moment);
		return set_moment(parser, text, &moment, number) && advance(parser);
	}
	if (is_about_time(test) && (quoted || (parser->token.type == TR_TOKEN_NUMBER &&
					       text.len > parser->token.text.len)))
		return tr_expr_fail(parser->lexer.error, parser->token.column,
				    "'%.*s' is not a time: seconds, 2026-11-20T12:00, 12:00 or "
				    "+5s expected",
				    TR_SHOWN(text, 80));
	return true;
}

/*
 * Parses what a field is compared with. A point in time is tried first, because it may begin like
 * a number.
 */
static bool parse_literal(struct tr_parser *parser, const struct tr_test *test,
			  struct tr_literal *literal)
{
	const struct tr_path *path = &test->path;
	bool taken;
	if (!parse_time(parser, test, literal, &literal->number, &taken))
		return false;
	if (taken) {
		literal->type = TR_LITERAL_NUMBER;
		return true;
	}
	switch (parser->token.type) {
	case TR_TOKEN_NUMBER:
		literal->type = TR_LITERAL_NUMBER;
		return parse_number(parser, &literal->number);
	case TR_TOKEN_STRING:
		literal->type = TR_LITERAL_STRING;
		literal->text = parser->token.text;
		return advance(parser);
	case TR_TOKEN_WORD:
		return parse_word(parser, path, literal);
	default:
		return fail_here(parser, "a number, \"string\" or word is expected");
	}
}

/* Parses ..HIGH after a literal that began at that column. */
static bool parse_range(struct tr_parser *parser, const struct tr_test *test,
			struct tr_literal *low, size_t column)
{
	bool taken;
	if (low->type != TR_LITERAL_NUMBER)
		return tr_expr_fail(parser->lexer.error, column, "a range consists of numbers");
	if (!advance(parser))
		return false;
	size_t high_column = parser->token.column;
	if (!parse_time(parser, test, low, &low->high, &taken))
		return false;
	if (!taken && parser->token.type != TR_TOKEN_NUMBER)
		return fail_here(parser, "a range must end with a number");
	if (!taken && !parse_number(parser, &low->high))
		return false;
	if (!low->late && tr_number_literal_compare(&low->number, &low->high) == TR_GREATER)
		return tr_expr_fail(parser->lexer.error, high_column,
				    "the range is empty: its end is below its beginning");
	low->type = TR_LITERAL_RANGE;
	return true;
}

/* Parses { literal | lo..hi, … } after "in". */
static bool parse_set(struct tr_parser *parser, struct tr_test *test)
{
	struct tr_literal **last = &test->literals;
	if (!advance(parser) || !tr_parse_expect(parser, TR_TOKEN_BRACE, "'{'"))
		return false;
	bool late = false;
	test->op = TR_OP_EQ;
	test->strings = true;
	for (;;) {
		size_t column = parser->token.column;
		struct tr_literal *literal = allocate(parser, sizeof *literal);
		if (!literal || !parse_literal(parser, test, literal))
			return false;
		if (parser->token.type == TR_TOKEN_RANGE &&
		    !parse_range(parser, test, literal, column))
			return false;
		/* sets of strings alone are compared without parsing values */
		test->strings = test->strings && literal->type == TR_LITERAL_STRING;
		late = late || literal->late;
		*last = literal;
		last = &literal->next;
		if (parser->token.type != TR_TOKEN_COMMA)
			break;
		if (!advance(parser))
			return false;
	}
	if (!tr_parse_expect(parser, TR_TOKEN_BRACE_END, "',' or '}'"))
		return false;
	return late || tr_many_build(test, parser->lexer.arena) ||
	       out_of_memory(parser->lexer.error);
}

/* Parses WORD{|WORD} or one string after "has". */
static bool parse_words(struct tr_parser *parser, struct tr_test *test)
{
	struct tr_literal **last = &test->literals;
	test->op = TR_OP_HAS_WORDS;
	do {
		if (!advance(parser))
			return false;
		bool string = parser->token.type == TR_TOKEN_STRING;
		if (parser->token.type != TR_TOKEN_WORD && !(string && !test->literals))
			return fail_here(parser, test->literals
							 ? "a word is expected"
							 : "a word or \"string\" is expected");
		if (is_text(&test->path))
			return fail_here(parser,
					 "a string has no words: use == or *= and quote it");
		struct tr_literal *literal = allocate(parser, sizeof *literal);
		if (!literal)
			return false;
		literal->type = string ? TR_LITERAL_STRING : TR_LITERAL_WORD;
		literal->text = parser->token.text;
		*last = literal;
		last = &literal->next;
		if (!advance(parser))
			return false;
		if (string && parser->token.type == TR_TOKEN_BAR)
			return fail_here(parser, "only words are separated by |: use 'and'");
	} while (parser->token.type == TR_TOKEN_BAR);
	return true;
}

/* Parses /REGEX/. The lexer has returned the slash as an unknown byte. */
static bool parse_regex(struct tr_parser *parser, struct tr_test *test)
{
	char why[160];
	size_t column = parser->token.column;
	if (parser->token.type == TR_TOKEN_STRING)
		return tr_expr_fail(parser->lexer.error, column, "%.*s takes /%.*s/, not \"%.*s\"",
				    (int)parser->last.len, parser->last.data,
				    TR_SHOWN(parser->token.text, 80),
				    TR_SHOWN(parser->token.text, 80));
	if (parser->token.type != TR_TOKEN_UNKNOWN || *parser->token.text.data != '/')
		return fail_here(parser, "a regular expression is expected: /…/");
	if (!lex_regex(&parser->lexer, column, &parser->token))
		return false;
	test->strings = true;
	test->pattern = parser->token.text;
	test->regex = tr_regex_compile(parser->token.text, why, sizeof why);
	if (!test->regex && *why)
		return tr_expr_fail(parser->lexer.error, column, "%s", why);
	if (!test->regex)
		return out_of_memory(parser->lexer.error);
	return advance(parser);
}

static const struct {
	enum tr_token_type token;
	enum tr_test_op op;
	bool negated;
	bool string; /* its literal must be a string */
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

/* Returns the index of the operator that the current token is, or -1. */
static int comparison_at(const struct tr_parser *parser)
{
	for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
		if (comparisons[i].token == parser->token.type)
			return (int)i;
	}
	return -1;
}

/* Parses the literal after an operator. */
static bool parse_comparison(struct tr_parser *parser, struct tr_test *test, int comparison)
{
	test->op = comparisons[comparison].op;
	test->negated = comparisons[comparison].negated;
	if (!advance(parser))
		return false;
	if (test->op == TR_OP_REGEX)
		return parse_regex(parser, test);
	if (comparisons[comparison].string && parser->token.type != TR_TOKEN_STRING)
		return fail_here(parser, "a string is expected");
	test->literals = allocate(parser, sizeof *test->literals);
	if (!test->literals || !parse_literal(parser, test, test->literals))
		return false;
	test->strings = test->literals->type == TR_LITERAL_STRING;
	return true;
}

/* Parses what follows a field: an operator, or nothing if the field is a kind. */
static struct tr_node *parse_rest(struct tr_parser *parser, struct tr_node *node, bool bare)
{
	struct tr_test *test = node->test;
	int comparison = comparison_at(parser);
	bool fine;
	if (comparison >= 0) {
		fine = parse_comparison(parser, test, comparison);
	} else if (is_word_here(parser, "in")) {
		fine = parse_set(parser, test);
	} else if (is_word_here(parser, "has")) {
		fine = parse_words(parser, test);
	} else if (bare && *test->path.key.data >= 'a' && *test->path.key.data <= 'z') {
		node->type = TR_NODE_KIND;
		node->kind = test->path.key;
		node->is_call = tr_text_is(node->kind, "call");
		test->path.text.data = NULL; /* it is no field */
		fine = true;
	} else {
		fine = fail_here(parser, "an operator is expected");
	}
	return fine ? node : NULL;
}

/* Parses has(FIELD), at the parenthesis. */
static bool parse_exists(struct tr_parser *parser, struct tr_test *test)
{
	bool fine;
	test->op = TR_OP_EXISTS;
	fine = enter(parser) && tr_parse_field(parser, &test->path, NULL) &&
	       close_parenthesis(parser, TR_TEXT("has"));
	parser->depth--;
	return fine;
}

/* Parses a test or a kind. NULL: the error is filled. */
static struct tr_node *parse_test(struct tr_parser *parser)
{
	bool bare, maybe_has = is_word_here(parser, "has");
	struct tr_node *node = new_test(parser);
	if (!node)
		return NULL;
	if (!tr_parse_field(parser, &node->test->path, &bare))
		return NULL;
	/* "has" may also be a key, unless a parenthesis follows */
	if (maybe_has && bare && parser->token.type == TR_TOKEN_OPEN) {
		node->test->path = (struct tr_path){ 0 };
		return parse_exists(parser, node->test) ? node : NULL;
	}
	return parse_rest(parser, node, bare);
}

static struct tr_node *parse_or(struct tr_parser *parser);

/* Parses an expression in parentheses. */
static struct tr_node *parse_parentheses(struct tr_parser *parser)
{
	struct tr_node *node = NULL;
	if (enter(parser))
		node = parse_or(parser);
	parser->depth--;
	return node && close_parenthesis(parser, TR_TEXT("")) ? node : NULL;
}

/*
 * Parses an operand with any number of "not" before it, which are counted, so that a long row of
 * them takes no recursion.
 */
static struct tr_node *parse_not(struct tr_parser *parser)
{
	bool negated = false;
	while (parser->token.type == TR_TOKEN_NOT || is_word_here(parser, "not")) {
		negated = !negated;
		if (!advance(parser))
			return NULL;
	}
	/* a parenthesis here begins an expression; those of functions come after their names */
	struct tr_node *node = parser->token.type == TR_TOKEN_OPEN ? parse_parentheses(parser)
								   : parse_test(parser);
	if (!node || !negated)
		return node;
	struct tr_node *inverted = new_node(parser, TR_NODE_NOT);
	if (inverted)
		inverted->children = node;
	return inverted;
}

/* Parses one level of operators, OPERAND { and|or OPERAND }, to one node with all operands. */
static struct tr_node *parse_chain(struct tr_parser *parser, enum tr_node_type type,
				   enum tr_token_type token, const char *word,
				   struct tr_node *(*parse_operand)(struct tr_parser *))
{
	struct tr_node *first = parse_operand(parser), *chain = NULL, *last = first;
	while (last && (parser->token.type == token || is_word_here(parser, word))) {
		if (!chain) {
			chain = new_node(parser, type);
			if (!chain)
				return NULL;
			chain->children = first;
		}
		if (!advance(parser))
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
		out_of_memory(error);
		return NULL;
	}
	if (tr_parse_begin(&parser, text, &expr->arena, error)) {
		parser.expr = expr;
		expr->root = parse_or(&parser);
		/* a rest such as a second operand is an error */
		if (expr->root && parser.token.type == TR_TOKEN_END)
			return expr;
		if (expr->root)
			fail_here(&parser, "'and', 'or' or the end of the expression is expected");
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
