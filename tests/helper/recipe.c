/* SPDX-License-Identifier: MIT */
#include "recipe.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recipe recipe = { .line = 1 };

void recipe_die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fprintf(stderr, "recipe:%u: ", recipe.line);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

/* Emitting. */

void recipe_put(const void *data, size_t len)
{
	if (recipe.capacity - recipe.length < len) {
		recipe.capacity = (recipe.capacity + len) * 2;
		recipe.bytes = realloc(recipe.bytes, recipe.capacity);
		if (!recipe.bytes)
			recipe_die("out of memory");
	}
	memcpy(recipe.bytes + recipe.length, data, len);
	recipe.length += len;
}

void recipe_put_byte(unsigned byte)
{
	unsigned char c = (unsigned char)byte;
	recipe_put(&c, 1);
}

/* LEB128 in at least `width` bytes. */
void recipe_put_uint(uint64_t n, unsigned width)
{
	for (; n > 0x7f || width > 1; n >>= 7, width -= width > 1)
		recipe_put_byte((n & 0x7f) | 0x80);
	recipe_put_byte((unsigned)n);
}

/* Tokens. */

void recipe_skip_blanks(void)
{
	while (*recipe.at == ' ' || *recipe.at == '\t')
		recipe.at++;
}

bool recipe_line_ends(void)
{
	recipe_skip_blanks();
	return *recipe.at == '\n' || *recipe.at == ';' || *recipe.at == '\0';
}

bool recipe_next_is(const char *word)
{
	size_t len = strlen(word);
	recipe_skip_blanks();
	if (strncmp(recipe.at, word, len) != 0 || !strchr(" \t\n;", recipe.at[len]))
		return false;
	recipe.at += len;
	return true;
}

void recipe_expect(const char *word)
{
	if (!recipe_next_is(word))
		recipe_die("'%s' is missing", word);
}

/* ":N" directly after a number or a string: LEB128 in at least N bytes. */
unsigned recipe_width(void)
{
	return *recipe.at == ':'
		       ? (unsigned)strtoul(recipe.at + 1, (char **)(uintptr_t)&recipe.at, 10)
		       : 1;
}

uint64_t recipe_number(void)
{
	char *end;
	recipe_skip_blanks();
	if (*recipe.at == '$') {
		recipe.at++;
		return recipe.counter;
	}
	if (!isdigit((unsigned char)*recipe.at))
		recipe_die("a number is missing at '%.10s'", recipe.at);
	uint64_t n = strtoull(recipe.at, &end, 0);
	recipe.at = end;
	return n;
}

void recipe_put_number(void)
{
	uint64_t n = recipe_number();
	recipe_put_uint(n, recipe_width());
}

/* A word, or "…" with \n \t \\ \" \xhh. Returns its length. */
size_t recipe_token(char *to)
{
	size_t len = 0;
	recipe_skip_blanks();
	bool quoted = *recipe.at == '"';
	for (recipe.at += quoted; quoted ? *recipe.at != '"' : !strchr(" \t\n;", *recipe.at);
	     recipe.at++) {
		char c = *recipe.at;
		if (!c || c == '\n' || len == RECIPE_TOKEN)
			recipe_die("bad string");
		if (quoted && c == '\\') {
			c = *++recipe.at;
			if (c == 'x') {
				char digits[3] = { recipe.at[1], recipe.at[2], '\0' };
				c = (char)strtoul(digits, NULL, 16);
				recipe.at += 2;
			} else if (c == 'n') {
				c = '\n';
			} else if (c == 't') {
				c = '\t';
			}
		}
		to[len++] = c;
	}
	recipe.at += quoted;
	return len;
}

void recipe_string(void)
{
	static char text[RECIPE_TOKEN];
	size_t len = recipe_token(text);
	recipe_put_uint(len, recipe_width());
	recipe_put(text, len);
}

/* 03 and the magnitude, or 04. */
void recipe_sint(void)
{
	recipe_skip_blanks();
	bool negative = *recipe.at == '-';
	recipe.at += negative;
	recipe_put_byte(negative ? 0x03 : 0x04);
	recipe_put_number();
}
