/* SPDX-License-Identifier: MIT */
/*
 * apitrace_make < RECIPE > STREAM: a readable recipe to the bytes of an apitrace stream, without a
 * container. It knows the grammar (apitrace's trace_parser.cpp) but shares no line with lib/, so
 * that a test cannot pass because both sides have the same bug. tests/data/apitrace/README.md
 * describes recipes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apitrace_value.h"
#include "recipe.h"

static uint64_t enters;

/* Statements. */

static void enter(void)
{
	recipe_put_byte(0x00);
	if (apitrace_version >= 4)
		recipe_put_number();
	apitrace_use('f');
	enters++;
}

static void leave(void)
{
	recipe_put_byte(0x01);
	if (recipe_next_is("last"))
		recipe_put_uint(enters - 1, 1);
	else
		recipe_put_number();
}

static void argument(void)
{
	recipe_put_byte(0x01);
	recipe_put_number();
	apitrace_value();
}

static void returned(void)
{
	recipe_put_byte(0x02);
	apitrace_value();
}

static void backtrace(void)
{
	const char *first = recipe.at;
	uint64_t count = 0;
	for (; !recipe_line_ends(); count++)
		recipe_number();
	recipe_put_byte(0x04);
	recipe_put_uint(count, 1);
	for (recipe.at = first; !recipe_line_ends();)
		apitrace_use('k');
}

static void flags(void)
{
	recipe_put_byte(0x05);
	recipe_put_number();
}

static void thread(void)
{
	recipe_put_byte(0x03);
	recipe_put_number();
}

static void end_event(void)
{
	recipe_put_byte(0x00);
}

static void hex(void)
{
	while (!recipe_line_ends())
		recipe_put_byte((unsigned)strtoul(recipe.at, (char **)(uintptr_t)&recipe.at, 16));
}

static void set_version(void)
{
	const char *from = recipe.at;
	apitrace_version = recipe_number();
	recipe.at = from;
	recipe_put_number();
}

static void property(void)
{
	recipe_string();
	recipe_string();
}

static void declare_fn(void)
{
	apitrace_declare('f');
}

static void declare_enum(void)
{
	apitrace_declare('e');
}

static void declare_mask(void)
{
	apitrace_declare('m');
}

static void declare_struct(void)
{
	apitrace_declare('s');
}

static void declare_frame(void)
{
	apitrace_declare('k');
}

static void statement(void)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} statements[] = {
		{ "version", set_version }, { "semantic", recipe_put_number },
		{ "property", property },   { "events", end_event },
		{ "fn", declare_fn },	    { "enum", declare_enum },
		{ "mask", declare_mask },   { "struct", declare_struct },
		{ "frame", declare_frame }, { "enter", enter },
		{ "leave", leave },	    { "arg", argument },
		{ "return", returned },	    { "backtrace", backtrace },
		{ "flags", flags },	    { ".", end_event },
		{ "thread", thread },	    { "bytes", hex },
	};
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
		if (recipe_next_is(statements[i].word)) {
			statements[i].run();
			return;
		}
	}
	recipe_die("unknown statement '%.*s'", (int)strcspn(recipe.at, " \t\n"), recipe.at);
}

static void flush(size_t above)
{
	if (recipe.length > above &&
	    fwrite(recipe.bytes, 1, recipe.length, stdout) != recipe.length)
		recipe_die("cannot write");
	if (recipe.length > above)
		recipe.length = 0;
}

/* Statements up to "end" or the end of the recipe; ";" separates those of one line. */
static void block(bool inner)
{
	while (recipe_skip_blanks(), *recipe.at) {
		if (inner && recipe_next_is("end"))
			return;
		if (recipe_next_is("repeat")) {
			uint64_t times = recipe_number();
			const char *from = recipe.at;
			unsigned from_line = recipe.line;
			for (recipe.counter = 0; recipe.counter < times; recipe.counter++) {
				recipe.at = from;
				recipe.line = from_line;
				block(true);
				flush(1 << 20);
			}
		} else if (*recipe.at == '#') {
			recipe.at += strcspn(recipe.at, "\n");
		} else if (!recipe_line_ends() && *recipe.at != ';') {
			statement();
		}
		recipe_skip_blanks();
		if (*recipe.at == '\n')
			recipe.line++;
		if (*recipe.at == '\n' || *recipe.at == ';')
			recipe.at++;
		else if (*recipe.at)
			recipe_die("'%.10s' is too much", recipe.at);
	}
	if (inner)
		recipe_die("'end' is missing");
}

int main(void)
{
	size_t size = 0, room = 1 << 16;
	char *text = malloc(room + 1);
	while (text) {
		size_t n = fread(text + size, 1, room - size, stdin);
		size += n;
		if (n == 0)
			break;
		if (size == room)
			text = realloc(text, (room *= 2) + 1);
	}
	if (!text)
		recipe_die("out of memory");
	text[size] = '\0';
	recipe.at = text;
	block(false);
	flush(0);
	free(text);
	free(recipe.bytes);
	return fflush(stdout) ? 2 : 0;
}
