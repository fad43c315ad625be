/* SPDX-License-Identifier: MIT */
/*
 * The lexer. It keeps no state but its position, and decodes strings and keys into the arena. A
 * byte that begins no token becomes a token of its own, because the parser knows better what to
 * advise.
 */

#include "expr/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/buffer.h"
#include "core/text.h"
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
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

/* The end of the digits at p. */
static const char *skip_digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

/* Reads #N, the key of an argument without a usable name. */
static bool lex_argument(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = skip_digits(lexer->pos + 1, lexer->end);
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

/* -DIGITS[.DIGITS][e[+-]DIGITS] or 0xHEX; pos is at the sign or a digit. */
static bool lex_number(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = lexer->pos, *end = lexer->end;
	token->type = TR_TOKEN_NUMBER;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x' && is_hex(p + 2, end)) {
		for (p += 2; is_hex(p, end); p++)
			;
	} else {
		p = skip_digits(p + (*p == '-'), end);
		if (end - p > 1 && p[0] == '.' && is_digit(p[1]))
			p = skip_digits(p + 1, end);
		if (end - p > 1 && (*p | 0x20) == 'e') {
			const char *digits = p + 1 + (p[1] == '-' || p[1] == '+');
			const char *after = skip_digits(digits, end);
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

/* The first byte decides what a token is. */
bool tr_lex(struct tr_lexer *lexer, struct tr_token *token)
{
	const char *p = lexer->pos;
	while (p < lexer->end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
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
	if (is_digit(*p) || (*p == '-' && p + 1 < lexer->end && is_digit(p[1])))
		return lex_number(lexer, token);
	if (is_word(*p))
		return lex_word(lexer, token);
	return lex_operator(lexer, token);
}

bool tr_lex_regex(struct tr_lexer *lexer, size_t column, struct tr_token *token)
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

struct tr_text tr_lex_time(const struct tr_lexer *lexer, size_t column)
{
	const char *begin = lexer->begin + column - 1, *p = begin;
	/* two dots are not part of a time, but of a range */
	while (p < lexer->end && (is_word(*p) || *p == ':' || *p == '+' || *p == '-' ||
				  (*p == '.' && p + 1 < lexer->end && is_digit(p[1]))))
		p++;
	return tr_text_span(begin, p);
}

void tr_lex_skip(struct tr_lexer *lexer, struct tr_text text)
{
	lexer->pos = text.data + text.len;
}
