/* The words of a recipe, and the bytes that come of it: for apitrace_make alone, so all of it is
 * here. */
#ifndef TESTS_HELPER_RECIPE_H
#define TESTS_HELPER_RECIPE_H

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN = 65536 };

static char *bytes; /* what was emitted */
static size_t length, capacity;

static const char *at; /* in the recipe */
static unsigned line = 1;
static uint64_t counter; /* what "$" stands for */

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "recipe:%u: ", line);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

/* Emitting. */

static void put(const void *data, size_t len)
{
	if (capacity - length < len) {
		capacity = (capacity + len) * 2;
		bytes = realloc(bytes, capacity);
		if (!bytes)
			die("out of memory");
	}
	memcpy(bytes + length, data, len);
	length += len;
}

static void put_byte(unsigned byte)
{
	unsigned char c = (unsigned char)byte;
	put(&c, 1);
}

/* LEB128 in at least `width` bytes. */
static void put_uint(uint64_t n, unsigned width)
{
	for (; n > 0x7f || width > 1; n >>= 7, width -= width > 1)
		put_byte((n & 0x7f) | 0x80);
	put_byte((unsigned)n);
}

/* Tokens. */

static void skip_blanks(void)
{
	while (*at == ' ' || *at == '\t')
		at++;
}

static bool line_ends(void)
{
	skip_blanks();
	return *at == '\n' || *at == ';' || *at == '\0';
}

static bool next_is(const char *word)
{
	size_t len = strlen(word);
	skip_blanks();
	if (strncmp(at, word, len) != 0 || !strchr(" \t\n;", at[len]))
		return false;
	at += len;
	return true;
}

static void expect(const char *word)
{
	if (!next_is(word))
		die("'%s' is missing", word);
}

/* ":N" directly behind a number or a string: LEB128 in at least N bytes. */
static unsigned width(void)
{
	return *at == ':' ? (unsigned)strtoul(at + 1, (char **)(uintptr_t)&at, 10) : 1;
}

static uint64_t number(void)
{
	char *end;
	skip_blanks();
	if (*at == '$') {
		at++;
		return counter;
	}
	if (!isdigit((unsigned char)*at))
		die("a number is missing at '%.10s'", at);
	uint64_t n = strtoull(at, &end, 0);
	at = end;
	return n;
}

static void put_number(void)
{
	uint64_t n = number();
	put_uint(n, width());
}

/* A word, or "…" with \n \t \\ \" \xhh. Returns its length. */
static size_t token(char *to)
{
	size_t len = 0;
	skip_blanks();
	bool quoted = *at == '"';
	for (at += quoted; quoted ? *at != '"' : !strchr(" \t\n;", *at); at++) {
		char c = *at;
		if (!c || c == '\n' || len == TOKEN)
			die("bad string");
		if (quoted && c == '\\') {
			c = *++at;
			if (c == 'x') {
				char digits[3] = { at[1], at[2], '\0' };
				c = (char)strtoul(digits, NULL, 16);
				at += 2;
			} else if (c == 'n') {
				c = '\n';
			} else if (c == 't') {
				c = '\t';
			}
		}
		to[len++] = c;
	}
	at += quoted;
	return len;
}

static void string(void)
{
	static char text[TOKEN];
	size_t len = token(text);
	put_uint(len, width());
	put(text, len);
}

/* 03 and the magnitude, or 04. */
static void sint(void)
{
	skip_blanks();
	bool negative = *at == '-';
	at += negative;
	put_byte(negative ? 0x03 : 0x04);
	put_number();
}

#endif
