/* SPDX-License-Identifier: MIT */
#include "apitrace_value.h"

#include <stdlib.h>
#include <string.h>

#include "recipe.h"

enum { DEFINITIONS = 4096 };

/* fn, enum, mask, struct, frame: declared anywhere, emitted where it is used first. */
struct definition {
	char kind; /* f e m s k */
	uint64_t id;
	const char *body; /* the rest of its line */
	bool emitted;
};

static struct definition definitions[DEFINITIONS];
static size_t definition_count;

uint64_t apitrace_version;

/* Definitions. */

void apitrace_declare(char kind)
{
	if (definition_count == DEFINITIONS)
		recipe_die("too many definitions");
	struct definition *d = &definitions[definition_count++];
	*d = (struct definition){ .kind = kind, .id = recipe_number() };
	d->body = recipe.at;
	recipe.at += strcspn(recipe.at, "\n");
}

/* Reads names up to the end of the line, and emits their number and then the names. */
static void names(void)
{
	const char *first = recipe.at;
	static char ignored[RECIPE_TOKEN];
	uint64_t count = 0;
	for (; !recipe_line_ends(); count++)
		recipe_token(ignored);
	recipe_put_uint(count, 1);
	for (recipe.at = first; !recipe_line_ends();)
		recipe_string();
}

/* NAME VALUE pairs, likewise. */
static void pairs(void (*value)(void))
{
	static char ignored[RECIPE_TOKEN];
	const char *first = recipe.at;
	uint64_t count = 0;
	for (; !recipe_line_ends(); count++)
		recipe_token(ignored);
	recipe_put_uint(count / 2, 1);
	for (recipe.at = first; !recipe_line_ends(); value())
		recipe_string();
}

static void frame(void)
{
	static const char *const details[] = { "module", "function", "file", "line", "offset" };
	while (!recipe_line_ends()) {
		unsigned i = 0;
		while (i < 5 && !recipe_next_is(details[i]))
			i++;
		recipe_put_byte(i + 1);
		if (i < 3)
			recipe_string();
		else
			recipe_put_number();
	}
	recipe_put_byte(0);
}

static void define(const struct definition *d)
{
	const char *back = recipe.at;
	recipe.at = d->body;
	if (d->kind == 'f' || d->kind == 's') {
		recipe_string();
		names();
	} else if (d->kind == 'e' && apitrace_version >= 3) {
		pairs(recipe_sint);
	} else if (d->kind == 'e') {
		recipe_string();
		recipe_sint();
	} else if (d->kind == 'm') {
		pairs(recipe_put_number);
	} else {
		frame();
	}
	recipe.at = back;
}

/* Emits an id, followed by its definition if it is declared and this is its first use. */
void apitrace_use(char kind)
{
	uint64_t id = recipe_number();
	recipe_put_uint(id, recipe_width());
	for (size_t i = 0; i < definition_count; i++) {
		struct definition *d = &definitions[i];
		if (d->kind != kind || d->id != id || d->emitted)
			continue;
		d->emitted = true;
		define(d);
		return;
	}
}

/* Values. */

static void list(void)
{
	size_t from = recipe.length;
	uint64_t count = 0;
	for (; !recipe_next_is("]"); count++)
		apitrace_value();
	/* the count comes before the bytes written so far */
	size_t len = recipe.length - from;
	char *items = malloc(len + 1);
	if (!items)
		recipe_die("out of memory");
	memcpy(items, recipe.bytes + from, len);
	recipe.length = from;
	recipe_put_uint(count, 1);
	recipe_put(items, len);
	free(items);
}

static void wide(void)
{
	static char text[RECIPE_TOKEN];
	const char *from;
	uint64_t count = 0;
	if (!recipe_next_is("[")) {
		size_t len = recipe_token(text);
		recipe_put_uint(len, 1);
		for (size_t i = 0; i < len; i++)
			recipe_put_uint((unsigned char)text[i], 1);
		return;
	}
	for (from = recipe.at; !recipe_next_is("]"); count++) {
		recipe_number();
		recipe_width();
	}
	recipe_put_uint(count, 1);
	for (recipe.at = from; !recipe_next_is("]");)
		recipe_put_number();
}

static void blob(void)
{
	recipe_skip_blanks();
	if (*recipe.at == '"') {
		recipe_string();
		return;
	}
	uint64_t len = recipe_number();
	recipe_put_uint(len, 1);
	for (uint64_t i = 0; i < len; i++)
		recipe_put_byte((unsigned)(i * 7 + (i >> 8)) & 0xff);
}

/* float and double: a decimal number, or 0x and its bits. */
static void real(unsigned size)
{
	uint64_t bits;
	recipe_skip_blanks();
	if (recipe.at[0] == '0' && recipe.at[1] == 'x') {
		bits = recipe_number();
	} else {
		char *end;
		double d = strtod(recipe.at, &end);
		float f = (float)d;
		uint32_t bits32;
		memcpy(&bits, &d, sizeof bits);
		memcpy(&bits32, &f, sizeof bits32);
		bits = size == 4 ? bits32 : bits;
		recipe.at = end;
	}
	for (unsigned i = 0; i < size; i++)
		recipe_put_byte((unsigned)(bits >> 8 * i) & 0xff);
}

static void enum_value(void)
{
	apitrace_use('e');
	if (apitrace_version >= 3)
		recipe_sint();
}

static void mask_value(void)
{
	apitrace_use('m');
	recipe_put_number();
}

static void struct_value(void)
{
	apitrace_use('s');
	for (recipe_expect("{"); !recipe_next_is("}");)
		apitrace_value();
}

static void repr(void)
{
	apitrace_value();
	apitrace_value();
}

static void real32(void)
{
	real(4);
}

static void real64(void)
{
	real(8);
}

static void nothing(void)
{
}

void apitrace_value(void)
{
	static const struct {
		const char *word;
		unsigned tag;
		void (*rest)(void);
	} types[] = {
		{ "null", 0x00, nothing },
		{ "false", 0x01, nothing },
		{ "true", 0x02, nothing },
		{ "float", 0x05, real32 },
		{ "double", 0x06, real64 },
		{ "blob", 0x08, blob },
		{ "enum", 0x09, enum_value },
		{ "mask", 0x0a, mask_value },
		{ "[", 0x0b, list },
		{ "struct", 0x0c, struct_value },
		{ "ptr", 0x0d, recipe_put_number },
		{ "repr", 0x0e, repr },
		{ "wide", 0x0f, wide },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (recipe_next_is(types[i].word)) {
			recipe_put_byte(types[i].tag);
			types[i].rest();
			return;
		}
	}
	recipe_skip_blanks();
	if (*recipe.at == '"') {
		recipe_put_byte(0x07);
		recipe_string();
	} else {
		recipe_sint();
	}
}
