/*
 * apitrace_make < RECIPE > STREAM: a readable recipe to the bytes of an apitrace stream, without a
 * container. It knows the grammar (apitrace's trace_parser.cpp) but shares no line with lib/, so
 * that a test cannot pass because both sides have the same bug. tests/data/apitrace/README.md
 * says what a recipe is.
 */
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

static uint64_t version, enters;

/* Definitions. */

static void declare(char kind)
{
	if (definition_count == DEFINITIONS)
		die("too many definitions");
	struct definition *d = &definitions[definition_count++];
	*d = (struct definition){ .kind = kind, .id = number() };
	d->body = at;
	at += strcspn(at, "\n");
}

/* What follows are names up to the line's end: emitted with their count in front. */
static void names(void)
{
	const char *first = at;
	static char ignored[TOKEN];
	uint64_t count = 0;
	for (; !line_ends(); count++)
		token(ignored);
	put_uint(count, 1);
	for (at = first; !line_ends();)
		string();
}

/* NAME VALUE pairs, likewise. */
static void pairs(void (*value)(void))
{
	static char ignored[TOKEN];
	const char *first = at;
	uint64_t count = 0;
	for (; !line_ends(); count++)
		token(ignored);
	put_uint(count / 2, 1);
	for (at = first; !line_ends(); value())
		string();
}

static void frame(void)
{
	static const char *const details[] = { "module", "function", "file", "line", "offset" };
	while (!line_ends()) {
		unsigned i = 0;
		while (i < 5 && !next_is(details[i]))
			i++;
		put_byte(i + 1);
		if (i < 3)
			string();
		else
			put_number();
	}
	put_byte(0);
}

static void define(const struct definition *d)
{
	const char *back = at;
	at = d->body;
	if (d->kind == 'f' || d->kind == 's') {
		string();
		names();
	} else if (d->kind == 'e' && version >= 3) {
		pairs(sint);
	} else if (d->kind == 'e') {
		string();
		sint();
	} else if (d->kind == 'm') {
		pairs(put_number);
	} else {
		frame();
	}
	at = back;
}

/* An id, and its definition where this is the first time. One that is not declared is just an id.
 */
static void use(char kind)
{
	uint64_t id = number();
	put_uint(id, width());
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

static void value(void);

static void list(void)
{
	size_t from = length;
	uint64_t count = 0;
	for (; !next_is("]"); count++)
		value();
	/* the count belongs in front of what is there now */
	size_t len = length - from;
	char *items = malloc(len + 1);
	if (!items)
		die("out of memory");
	memcpy(items, bytes + from, len);
	length = from;
	put_uint(count, 1);
	put(items, len);
	free(items);
}

static void wide(void)
{
	static char text[TOKEN];
	const char *from;
	uint64_t count = 0;
	if (!next_is("[")) {
		size_t len = token(text);
		put_uint(len, 1);
		for (size_t i = 0; i < len; i++)
			put_uint((unsigned char)text[i], 1);
		return;
	}
	for (from = at; !next_is("]"); count++) {
		number();
		width();
	}
	put_uint(count, 1);
	for (at = from; !next_is("]");)
		put_number();
}

static void blob(void)
{
	skip_blanks();
	if (*at == '"') {
		string();
		return;
	}
	uint64_t len = number();
	put_uint(len, 1);
	for (uint64_t i = 0; i < len; i++)
		put_byte((unsigned)(i * 7 + (i >> 8)) & 0xff);
}

/* float and double: a decimal number, or 0x and its bits. */
static void real(unsigned size)
{
	uint64_t bits;
	skip_blanks();
	if (at[0] == '0' && at[1] == 'x') {
		bits = number();
	} else {
		char *end;
		double d = strtod(at, &end);
		float f = (float)d;
		uint32_t bits32;
		memcpy(&bits, &d, sizeof bits);
		memcpy(&bits32, &f, sizeof bits32);
		bits = size == 4 ? bits32 : bits;
		at = end;
	}
	for (unsigned i = 0; i < size; i++)
		put_byte((unsigned)(bits >> 8 * i) & 0xff);
}

static void enum_value(void)
{
	use('e');
	if (version >= 3)
		sint();
}

static void mask_value(void)
{
	use('m');
	put_number();
}

static void struct_value(void)
{
	use('s');
	for (expect("{"); !next_is("}");)
		value();
}

static void repr(void)
{
	value();
	value();
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

static void value(void)
{
	static const struct {
		const char *word;
		unsigned tag;
		void (*rest)(void);
	} types[] = {
		{ "null", 0x00, nothing },    { "false", 0x01, nothing },
		{ "true", 0x02, nothing },    { "float", 0x05, real32 },
		{ "double", 0x06, real64 },   { "blob", 0x08, blob },
		{ "enum", 0x09, enum_value }, { "mask", 0x0a, mask_value },
		{ "[", 0x0b, list },	      { "struct", 0x0c, struct_value },
		{ "ptr", 0x0d, put_number },  { "repr", 0x0e, repr },
		{ "wide", 0x0f, wide },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (next_is(types[i].word)) {
			put_byte(types[i].tag);
			types[i].rest();
			return;
		}
	}
	skip_blanks();
	if (*at == '"') {
		put_byte(0x07);
		string();
	} else {
		sint();
	}
}

/* Statements. */

static void enter(void)
{
	put_byte(0x00);
	if (version >= 4)
		put_number();
	use('f');
	enters++;
}

static void leave(void)
{
	put_byte(0x01);
	if (next_is("last"))
		put_uint(enters - 1, 1);
	else
		put_number();
}

static void argument(void)
{
	put_byte(0x01);
	put_number();
	value();
}

static void returned(void)
{
	put_byte(0x02);
	value();
}

static void backtrace(void)
{
	const char *first = at;
	uint64_t count = 0;
	for (; !line_ends(); count++)
		number();
	put_byte(0x04);
	put_uint(count, 1);
	for (at = first; !line_ends();)
		use('k');
}

static void flags(void)
{
	put_byte(0x05);
	put_number();
}

static void end_event(void)
{
	put_byte(0x00);
}

static void hex(void)
{
	while (!line_ends())
		put_byte((unsigned)strtoul(at, (char **)(uintptr_t)&at, 16));
}

static void set_version(void)
{
	const char *from = at;
	version = number();
	at = from;
	put_number();
}

static void property(void)
{
	string();
	string();
}

static void declare_fn(void)
{
	declare('f');
}

static void declare_enum(void)
{
	declare('e');
}

static void declare_mask(void)
{
	declare('m');
}

static void declare_struct(void)
{
	declare('s');
}

static void declare_frame(void)
{
	declare('k');
}

static void statement(void)
{
	static const struct {
		const char *word;
		void (*run)(void);
	} statements[] = {
		{ "version", set_version }, { "semantic", put_number },
		{ "property", property },   { "events", end_event },
		{ "fn", declare_fn },	    { "enum", declare_enum },
		{ "mask", declare_mask },   { "struct", declare_struct },
		{ "frame", declare_frame }, { "enter", enter },
		{ "leave", leave },	    { "arg", argument },
		{ "return", returned },	    { "backtrace", backtrace },
		{ "flags", flags },	    { ".", end_event },
		{ "bytes", hex },
	};
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
		if (next_is(statements[i].word)) {
			statements[i].run();
			return;
		}
	}
	die("unknown statement '%.*s'", (int)strcspn(at, " \t\n"), at);
}

static void flush(size_t above)
{
	if (length > above && fwrite(bytes, 1, length, stdout) != length)
		die("cannot write");
	if (length > above)
		length = 0;
}

/* Statements up to "end" or the end of the recipe; ";" separates those of one line. */
static void block(bool inner)
{
	while (skip_blanks(), *at) {
		if (inner && next_is("end"))
			return;
		if (next_is("repeat")) {
			uint64_t times = number();
			const char *from = at;
			unsigned from_line = line;
			for (counter = 0; counter < times; counter++) {
				at = from;
				line = from_line;
				block(true);
				flush(1 << 20);
			}
		} else if (*at == '#') {
			at += strcspn(at, "\n");
		} else if (!line_ends() && *at != ';') {
			statement();
		}
		skip_blanks();
		if (*at == '\n')
			line++;
		if (*at == '\n' || *at == ';')
			at++;
		else if (*at)
			die("'%.10s' is too much", at);
	}
	if (inner)
		die("'end' is missing");
}

int main(void)
{
	size_t size = 0, room = 1 << 16;
	char *recipe = malloc(room + 1);
	while (recipe) {
		size_t n = fread(recipe + size, 1, room - size, stdin);
		size += n;
		if (n == 0)
			break;
		if (size == room)
			recipe = realloc(recipe, (room *= 2) + 1);
	}
	if (!recipe)
		die("out of memory");
	recipe[size] = '\0';
	at = recipe;
	block(false);
	flush(0);
	free(recipe);
	free(bytes);
	return fflush(stdout) ? 2 : 0;
}
