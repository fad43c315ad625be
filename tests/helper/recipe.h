/* SPDX-License-Identifier: MIT */
/* The words of a recipe, and the bytes that they describe. A malformed recipe ends the program. */
#ifndef TESTS_HELPER_RECIPE_H
#define TESTS_HELPER_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECIPE_TOKEN = 65536 }; /* bytes of one at most */

extern struct recipe {
	const char *at; /* in its text */
	unsigned line;
	uint64_t counter; /* what "$" stands for */

	char *bytes; /* what was emitted */
	size_t length, capacity;
} recipe;

__attribute__((format(printf, 1, 2), noreturn)) void recipe_die(const char *format, ...);

/* Emitting. */

void recipe_put(const void *data, size_t len);
void recipe_put_byte(unsigned byte);

/* LEB128 in at least `width` bytes. */
void recipe_put_uint(uint64_t n, unsigned width);

/* Words. */

void recipe_skip_blanks(void);
bool recipe_line_ends(void);

/* Takes the word if it is the next one. */
bool recipe_next_is(const char *word);
void recipe_expect(const char *word);
uint64_t recipe_number(void);

/* ":N" directly after a number or a string: LEB128 in at least N bytes. */
unsigned recipe_width(void);

/* A word, or "…" with \n \t \\ \" \xhh. Returns its length. */
size_t recipe_token(char *to);

/* Words that are emitted: a number, a text with its length, and 03 and the magnitude, or 04. */
void recipe_put_number(void);
void recipe_string(void);
void recipe_sint(void);

#endif
