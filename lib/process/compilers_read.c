/* SPDX-License-Identifier: MIT */
/*
 * Tables of compilers that users extend. The text has the same grammar as compilers.txt, which
 * compilers.awk reads when trec-tools are built. Lists grow while lines are read (read_line); the
 * table points to them, and is complete after each function.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/file.h"
#include "process/compilers.h"
#include "process/path.h"

enum {
	LARGEST = 1 << 20,    /* bytes of a file */
	MOST_NAMES = 10000,   /* adding a name moves all names after it */
	MOST_SECTIONS = 1000, /* each of them looks for one of its family and kind */
	MOST_ITEMS = 100000,
	LONGEST = 255, /* bytes of an option, or of a text that names files */
};

/* A list of the table while it grows. */
#define LIST(type) \
	struct { \
		type *items; \
		size_t count, cap; \
	}

struct own {
	struct tr_compilers table;
	struct tr_buffer texts;
	LIST(struct tr_section) sections;
	LIST(struct tr_program_name) names;
	LIST(struct tr_option_name) options;
	LIST(struct tr_numbered) respfiles;
	LIST(struct tr_numbered) variables;
	LIST(struct tr_numbered) calls;
	LIST(struct tr_piece) sources;
	size_t base_sections; /* before the text that is read */
	uint32_t base_count;  /* sections of the table that is extended */
};

/* The line of a text that is being read, and its section. */
struct line {
	struct own *own;
	struct tr_text rest;   /* of the line */
	struct tr_text origin; /* for messages */
	unsigned long number;
	struct tr_section *section; /* the last one; NULL: none yet */
	bool begun;		    /* a line other than names and call was read */
	bool lists[3];		    /* sources, respfiles, variables are its own */
	struct tr_error *err;
};

/* Sets err to an error in the line. Returns false. */
__attribute__((format(printf, 2, 3))) static bool bad(const struct line *line, const char *format,
						      ...)
{
	char why[TR_ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	if (line->number)
		tr_error_set(line->err, TR_CAUSE_USAGE, "%.*s:%lu: %s", TR_SHOWN(line->origin, 200),
			     line->number, why);
	else
		tr_error_set(line->err, TR_CAUSE_USAGE, "%.*s: %s", TR_SHOWN(line->origin, 200),
			     why);
	return false;
}

/*
 * Sets err: the word is not in a list, which ends with NULL and may have empty items. Returns
 * false.
 */
static bool bad_word(const struct line *line, const char *what, struct tr_text word,
		     const char *const *list)
{
	char known[TR_ERROR_TEXT];
	size_t used = 0;

	for (; *list && used < sizeof known; list++)
		if (**list)
			used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
						 used ? ", " : "", *list);
	return bad(line, "unknown %s: '%.*s'; known: %s", what, TR_SHOWN(word, 60), known);
}

/* Sets err: out of memory. Returns false. */
static bool no_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return false;
}

/* Makes the table point to the current memory of the lists. */
static void publish(struct own *own)
{
	own->table.texts = own->texts.data;
	own->table.text_size = (uint32_t)own->texts.len;
	own->table.sections = own->sections.items;
	own->table.names = own->names.items;
	own->table.options = own->options.items;
	own->table.respfiles = own->respfiles.items;
	own->table.variables = own->variables.items;
	own->table.calls = own->calls.items;
	own->table.sources = own->sources.items;
	own->table.section_count = (uint32_t)own->sections.count;
	own->table.name_count = (uint32_t)own->names.count;
	own->table.option_count = (uint32_t)own->options.count;
	own->table.call_count = (uint32_t)own->calls.count;
	own->table.respfile_count = (uint32_t)own->respfiles.count;
	own->table.variable_count = (uint32_t)own->variables.count;
	own->table.source_count = (uint32_t)own->sources.count;
	memset(own->table.by_length, 0, sizeof own->table.by_length);
	for (size_t i = 0; i < own->names.count; i++) {
		const struct tr_program_name *name = &own->names.items[i];
		own->table.by_length[name->text.len - name->folders + 1]++;
	}
	for (size_t i = 1; i < TR_PROGRAM_NAME_MAX + 2; i++)
		own->table.by_length[i] += own->table.by_length[i - 1];
}

/* Adds an item to a list. False: out of memory. */
#define ADD(list, item) \
	(tr_array_room((list).items, (list).count, (list).cap) && \
	 ((list).items[(list).count++] = (item), true))

/* Adds a text to the texts of the table. */
static struct tr_piece keep(struct own *own, struct tr_text text)
{
	struct tr_piece piece = { (uint32_t)own->texts.len, (uint32_t)text.len };

	tr_buffer_put_text(&own->texts, text);
	return piece;
}

/* A text of the table while it grows. Adding another text may move it. */
static struct tr_text text_of(const struct own *own, struct tr_piece piece)
{
	return (struct tr_text){ own->texts.data + piece.at, piece.len };
}

/* The next word of the line; empty: none. */
static struct tr_text take_word(struct line *line)
{
	struct tr_text *rest = &line->rest;
	const char *end = rest->data + rest->len, *p;

	while (rest->len && tr_is_blank(*rest->data)) {
		rest->data++;
		rest->len--;
	}
	for (p = rest->data; p < end && !tr_is_blank(*p);)
		p++;
	struct tr_text word = tr_text_span(rest->data, p);
	*rest = tr_text_span(p, end);
	return word;
}

/* The index of a word in a list that ends in NULL; -1: none. */
static int find_word(struct tr_text word, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (tr_text_is(word, list[i]))
			return i;
	return -1;
}

/* Kinds of programs in the order of enum tr_tool_kind, without the one that follows from cl. */
static const char *const kinds[] = { "other",	  "driver", "",		"compiler",
				     "assembler", "linker", "archiver", "preprocessor",
				     "collector", "helper", "launcher", "libtool",
				     NULL };

/* True if the section has this family and kind. */
static bool is_of(const struct own *own, const struct tr_section *section, struct tr_text family,
		  int kind)
{
	int is = section->kind == TR_TOOL_DRIVER_CL ? TR_TOOL_DRIVER : section->kind;

	return is == kind && tr_text_equal(text_of(own, section->family), family);
}

/* The first section of a family and kind; TR_NO_SECTION: none. */
static uint32_t find_section(const struct own *own, struct tr_text family, int kind)
{
	for (size_t i = 0; i < own->sections.count; i++)
		if (is_of(own, &own->sections.items[i], family, kind))
			return (uint32_t)i;
	return TR_NO_SECTION;
}

/* Copies the properties of an earlier section. */
static void copy_section(struct own *own, struct tr_section *section, uint32_t like)
{
	struct tr_section copy = own->sections.items[like];

	copy.family = section->family;
	copy.kind = section->kind;
	copy.options = section->options;
	copy.linker = TR_NO_SECTION;
	copy.like = like;
	*section = copy;
}

static int compare_options(const void *a, const void *b, void *context)
{
	const struct tr_option_name *x = a, *y = b;
	const char *texts = context;
	int order = memcmp(texts + x->at, texts + y->at, x->len < y->len ? x->len : y->len);

	if (order || x->len != y->len)
		return order ? order : x->len - y->len;
	/* -V and -VNAME are different options */
	return (x->place == TR_PLACE_ALONE) - (y->place == TR_PLACE_ALONE);
}

/* Completes the last section. */
static bool end_section(struct line *line)
{
	struct tr_section *section = line->section;
	struct own *own = line->own;

	if (!section)
		return true;
	if (section->kind == TR_TOOL_DRIVER && section->notation == TR_NOTATION_CL)
		section->kind = TR_TOOL_DRIVER_CL;
	struct tr_option_name *list = own->options.items + section->options.begin;
	size_t count = section->options.count;
	if (!count)
		return true;
	qsort_r(list, count, sizeof *list, compare_options, own->texts.data);
	for (size_t i = 1; i < count; i++)
		if (compare_options(&list[i - 1], &list[i], own->texts.data) == 0)
			return bad(line, "option given twice in the section before: %.*s",
				   list[i].len, own->texts.data + list[i].at);
	return true;
}

/* Begins a section: "[FAMILY KIND]". */
static bool begin_section(struct line *line, struct tr_text family)
{
	struct tr_text kind = take_word(line);
	struct own *own = line->own;

	if (family.len < 2 || kind.len < 2 || kind.data[kind.len - 1] != ']' || take_word(line).len)
		return bad(line, "[FAMILY KIND] expected");
	family = (struct tr_text){ family.data + 1, family.len - 1 };
	kind.len--;
	int known = find_word(kind, kinds);
	if (known < 0 || !kind.len)
		return bad_word(line, "kind of program", kind, kinds);
	uint32_t like = find_section(own, family, known);
	struct tr_section section = { .family = keep(own, family),
				      .prefix = keep(own, TR_TEXT("-")),
				      .product = keep(own, TR_TEXT("a.out")),
				      .object = keep(own, TR_TEXT(".o")),
				      .assembly = keep(own, TR_TEXT(".s")),
				      .compile_only = keep(own, TR_TEXT("-c")),
				      .like = TR_NO_SECTION,
				      .linker = TR_NO_SECTION,
				      .kind = (uint8_t)known };
	if (own->sections.count - own->base_count >= MOST_SECTIONS)
		return bad(line, "more than %d sections", MOST_SECTIONS);
	if (!ADD(own->sections, section))
		return no_memory(line->err);
	line->section = &own->sections.items[own->sections.count - 1];
	line->begun = false;
	memset(line->lists, 0, sizeof line->lists);
	if (like != TR_NO_SECTION)
		copy_section(own, line->section, like);
	return true;
}

static int compare_names(const struct own *own, const struct tr_program_name *a,
			 const struct tr_program_name *b)
{
	struct tr_text x = text_of(own, a->text);
	struct tr_text y = text_of(own, b->text);
	size_t len = x.len - a->folders, other = y.len - b->folders;
	bool plain = !a->folders && !a->exe, other_plain = !b->folders && !b->exe;

	if (len != other)
		return len < other ? -1 : 1;
	int order = memcmp(x.data + a->folders, y.data + b->folders, len);
	if (order || plain != other_plain)
		return order ? order : plain - other_plain;
	return tr_text_compare(x, y);
}

/* Adds a name, which replaces an equal one of the base. section: TR_NO_SECTION: of a call. */
static bool add_name(struct line *line, struct tr_text word, uint32_t section)
{
	struct own *own = line->own;
	struct tr_program_name name = { .section = section };

	if (word.len > 4 && memcmp(word.data + word.len - 4, ".exe", 4) == 0) {
		name.exe = true;
		word.len -= 4;
	}
	name.folders = (uint32_t)(word.len - tr_path_base(word).len);
	if (word.len == name.folders || word.len - name.folders > TR_PROGRAM_NAME_MAX)
		return bad(line, "not a name of 1 to %d characters: '%.*s'", TR_PROGRAM_NAME_MAX,
			   TR_SHOWN(word, 60));
	name.text = keep(own, word);
	if (own->texts.failed)
		return no_memory(line->err);
	size_t low = 0, high = own->names.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (compare_names(own, &own->names.items[middle], &name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	struct tr_program_name *at = own->names.items + low;
	if (low < own->names.count && compare_names(own, at, &name) == 0) {
		if (section == TR_NO_SECTION && at->section == TR_NO_SECTION)
			return true;
		if (at->section != TR_NO_SECTION && at->section >= own->base_sections)
			return bad(line, "name in two sections: %.*s", TR_SHOWN(word, 60));
		*at = name;
		return true;
	}
	if (own->names.count >= MOST_NAMES)
		return bad(line, "more than %d names", MOST_NAMES);
	if (!ADD(own->names, name))
		return no_memory(line->err);
	at = own->names.items + low;
	memmove(at + 1, at, (own->names.count - low - 1) * sizeof *at);
	*at = name;
	return true;
}

static bool read_names(struct line *line)
{
	uint32_t section = (uint32_t)(line->section - line->own->sections.items);

	for (struct tr_text word; (word = take_word(line)).len;)
		if (!add_name(line, word, section))
			return false;
	return true;
}

/* A program that is called by several words: "zig cc". */
static bool read_call(struct line *line)
{
	struct own *own = line->own;
	struct tr_text first = take_word(line);
	struct tr_numbered call = { keep(own, first),
				    (uint32_t)(line->section - own->sections.items) };

	for (struct tr_text word; (word = take_word(line)).len;) {
		tr_buffer_put_byte(&own->texts, ' ');
		tr_buffer_put_text(&own->texts, word);
	}
	call.text.len = (uint32_t)own->texts.len - call.text.at;
	if (!ADD(own->calls, call))
		return no_memory(line->err);
	return add_name(line, first, TR_NO_SECTION);
}

static bool read_like(struct line *line)
{
	struct own *own = line->own;
	struct tr_text family = take_word(line), word = take_word(line);
	if (!word.len)
		word = tr_text_from(kinds[line->section->kind]);
	uint32_t like = find_section(own, family, find_word(word, kinds));

	if (line->begun)
		return bad(line, "like must come before all lines except names and call");
	if (like == TR_NO_SECTION || own->sections.items + like == line->section)
		return bad(line, "no earlier section [%.*s %.*s]", TR_SHOWN(family, 60),
			   TR_SHOWN(word, 60));
	copy_section(own, line->section, like);
	return true;
}

/* Reads a property whose value is one of a few words. *known: false if the name is another one. */
static bool read_choice(struct line *line, struct tr_text key, struct tr_text value, bool *known)
{
	static const struct {
		const char *key;
		const char *values[8]; /* the first is the default; ends in NULL */
	} choices[] = {
		{ "notation", { "plain", "gnu", "ld", "cl", "ar", "keil" } },
		{ "case", { "exact", "any" } },
		{ "default", { "link", "compile" } },
		{ "beside", { "no", "yes" } },
		{ "entries", { "yes", "no" } },
		{ "quoting", { "system", "windows" } },
		{ "comments", { "none", "c" } },
	};
	struct tr_section *section = line->section;
	bool *const flags[] = { NULL,
				&section->any_case,
				&section->compiles,
				&section->beside,
				&section->foreign,
				&section->windows,
				&section->comments };
	char what[40];

	for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
		if (!tr_text_is(key, choices[i].key))
			continue;
		*known = true;
		int chosen = find_word(value, choices[i].values);
		if (chosen < 0) {
			snprintf(what, sizeof what, "value of '%s'", choices[i].key);
			return bad_word(line, what, value, choices[i].values);
		}
		if (flags[i])
			*flags[i] = chosen > 0;
		else
			section->notation = (uint8_t)chosen;
		return true;
	}
	*known = false;
	return true;
}

/* True for an extension; else err is set. */
static bool is_extension(const struct line *line, struct tr_text text)
{
	return tr_text_starts(text, TR_TEXT(".")) ||
	       bad(line, "not an extension, such as .c: '%.*s'", TR_SHOWN(text, 60));
}

/* Reads a property whose value is any text. *known: false if the name is another one. */
static bool read_text(struct line *line, struct tr_text key, struct tr_text value, bool *known)
{
	struct tr_section *section = line->section;
	const struct {
		const char *key;
		struct tr_piece *piece;
		bool extension, none;
	} texts[] = { { "prefix", &section->prefix, false, false },
		      { "compile-only", &section->compile_only, false, true },
		      { "object", &section->object, true, true },
		      { "assembly", &section->assembly, true, false },
		      { "product", &section->product, false, false } };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (!tr_text_is(key, texts[i].key))
			continue;
		*known = true;
		if (texts[i].none && tr_text_is(value, "none"))
			value.len = 0;
		else if (texts[i].extension && !is_extension(line, value))
			return false;
		if (value.len > LONGEST)
			return bad(line, "a value of more than %d bytes", LONGEST);
		*texts[i].piece = keep(line->own, value);
		return true;
	}
	*known = false;
	return true;
}

enum list { SOURCES, RESPFILES, VARIABLES };

/* The range of a list of the section, which replaces the copied one. */
static struct tr_range *own_range(struct line *line, enum list list, struct tr_range *range,
				  size_t count)
{
	if (!line->lists[list])
		*range = (struct tr_range){ (uint32_t)count, 0 };
	line->lists[list] = true;
	return range;
}

static bool read_sources(struct line *line)
{
	struct own *own = line->own;

	for (struct tr_text word; (word = take_word(line)).len;) {
		if (!is_extension(line, word))
			return false;
		own_range(line, SOURCES, &line->section->sources, own->sources.count)->count++;
		struct tr_piece piece = keep(own, word);
		if (!ADD(own->sources, piece))
			return no_memory(line->err);
	}
	return true;
}

/* An option that names a response file, and its forms. */
static bool read_respfile(struct line *line)
{
	static const char *const forms[] = { "attached", "space", "equal", NULL };
	struct own *own = line->own;
	struct tr_numbered item = { keep(own, take_word(line)), 0 };

	for (struct tr_text word; (word = take_word(line)).len;) {
		int form = find_word(word, forms);
		if (form < 0)
			return bad_word(line, "form of a response file", word, forms);
		item.number |= 1U << form;
	}
	if (!item.number)
		return bad(line, "attached, space or equal expected");
	own_range(line, RESPFILES, &line->section->respfiles, own->respfiles.count)->count++;
	return ADD(own->respfiles, item) || no_memory(line->err);
}

static bool read_variable(struct line *line)
{
	static const char *const uses[] = { "before",	   "after",	    "search",
					    "system",	   "system-c",	    "system-c++",
					    "system-objc", "system-objc++", NULL };
	struct own *own = line->own;
	struct tr_text word = take_word(line), name = take_word(line);
	int use = find_word(word, uses);
	struct tr_range *range =
		own_range(line, VARIABLES, &line->section->variables, own->variables.count);

	if (tr_text_is(word, "none") && !name.len)
		return true;
	if (use < 0)
		return bad_word(line, "use of a variable", word, uses);
	if (!name.len || take_word(line).len)
		return bad(line, "the name of one variable is expected");
	struct tr_numbered item = { keep(own, name), (uint32_t)use };
	range->count++;
	return ADD(own->variables, item) || no_memory(line->err);
}

/* Adds an option without its prefix. */
static bool add_option(struct line *line, struct tr_option_name option, struct tr_text name)
{
	struct tr_section *section = line->section;
	struct own *own = line->own;
	size_t skipped = section->notation != TR_NOTATION_KEIL;

	if (section->notation == TR_NOTATION_LD)
		skipped = !tr_text_starts(name, TR_TEXT("-"))	? 0
			  : tr_text_starts(name, TR_TEXT("--")) ? 2
								: 1;
	if (name.len <= skipped || name.len - skipped > LONGEST)
		return bad(line, "option without a name, or with a name that is too long");
	option.at = keep(own, (struct tr_text){ name.data + skipped, name.len - skipped }).at;
	option.len = (uint8_t)(name.len - skipped);
	for (size_t i = option.at; section->any_case && i < own->texts.len; i++)
		own->texts.data[i] = tr_lower(own->texts.data[i]);
	if (own->options.count >= MOST_ITEMS)
		return bad(line, "more than %d options", MOST_ITEMS);
	if (!section->options.count)
		section->options.begin = (uint32_t)own->options.count;
	section->options.count++;
	return ADD(own->options, option) || no_memory(line->err);
}

/* The first words of lines, for messages; modes and roles follow them. */
static const char *const lines[] = {
	"names",	"call",	    "like",	"notation",    "prefix",  "case",    "default",
	"compile-only", "object",   "assembly", "beside",      "product", "sources", "entries",
	"respfile",	"quoting",  "comments", "environment", "compile", "syntax",  "preprocess",
	"query",	"output",   "folder",	"define",      "search",  "system",  "include",
	"dialect",	"language", "source",	"linking",     "other",	  "rest",    "linker",
	"bitcode",	"module",   NULL
};

/* "ROLE PLACE OPTION..." or "MODE PLACE OPTION...". */
static bool read_options(struct line *line, struct tr_text key)
{
	static const char *const places[] = { "alone", "joined", "either", "next",
					      "equal", "paren",	 "both",   "two",
					      "three", "number", NULL };
	static const char *const modes[] = { "",	   "compile", "assembly", "syntax",
					     "preprocess", "query",   NULL };
	static const struct {
		const char *name;
		enum tr_role role;
	} roles[] = { { "output", TR_ROLE_OUTPUT },	{ "product", TR_ROLE_PRODUCT },
		      { "folder", TR_ROLE_FOLDER },	{ "define", TR_ROLE_DEFINE },
		      { "search", TR_ROLE_SEARCH },	{ "system", TR_ROLE_SYSTEM },
		      { "include", TR_ROLE_INCLUDE },	{ "dialect", TR_ROLE_DIALECT },
		      { "language", TR_ROLE_LANGUAGE }, { "source", TR_ROLE_SOURCE },
		      { "linking", TR_ROLE_LINKING },	{ "other", TR_ROLE_OTHER },
		      { "rest", TR_ROLE_REST },		{ "linker", TR_ROLE_LINKER },
		      { "bitcode", TR_ROLE_BITCODE },	{ "module", TR_ROLE_MODULE } };
	int mode = find_word(key, modes);
	struct tr_option_name option = { .role = TR_ROLE_MODE };
	bool found = mode > 0;

	option.mode = mode > 0 ? (uint8_t)mode : 0;
	for (size_t i = 0; !found && i < sizeof roles / sizeof *roles; i++)
		if (tr_text_is(key, roles[i].name)) {
			option.role = (uint8_t)roles[i].role;
			found = true;
		}
	if (!found)
		return bad_word(line, "line", key, lines);
	struct tr_text word = take_word(line);
	int place = find_word(word, places);
	if (place < 0)
		return bad_word(line, "place of a value", word, places);
	option.place = (uint8_t)place;
	word = take_word(line);
	if (!word.len)
		return bad(line, "option expected");
	for (; word.len; word = take_word(line))
		if (!add_option(line, option, word))
			return false;
	return true;
}

static bool read_line(struct line *line)
{
	bool text = !memchr(line->rest.data, '\0', line->rest.len), known, fine;
	struct tr_text key = take_word(line);

	if (!text)
		return bad(line, "a NUL byte: UTF-8 text is expected");
	if (!key.len || *key.data == '#')
		return true;
	if (*key.data == '[')
		return end_section(line) && begin_section(line, key);
	if (!line->section)
		return bad(line, "[FAMILY KIND] expected before other lines");
	if (!tr_text_trimmed(line->rest).len)
		return bad(line, "value expected after %.*s", TR_SHOWN(key, 60));
	if (tr_text_is(key, "names"))
		return read_names(line);
	if (tr_text_is(key, "call"))
		return read_call(line);
	if (tr_text_is(key, "like"))
		return read_like(line) && (line->begun = true);
	line->begun = true;
	struct tr_text rest = line->rest, value = take_word(line);
	if (!tr_text_trimmed(line->rest).len) {
		fine = read_choice(line, key, value, &known) &&
		       (known || read_text(line, key, value, &known));
		if (!fine || known)
			return fine;
	}
	line->rest = rest;
	if (tr_text_is(key, "sources"))
		return read_sources(line);
	if (tr_text_is(key, "respfile"))
		return read_respfile(line);
	if (tr_text_is(key, "environment"))
		return read_variable(line);
	return read_options(line, key);
}

/* Sets the linkers of families, which may come after their drivers. */
static void find_linkers(struct own *own)
{
	for (size_t i = own->base_sections; i < own->sections.count; i++) {
		struct tr_section *section = &own->sections.items[i];
		section->linker = find_section(own, text_of(own, section->family), TR_TOOL_LINKER);
	}
}

bool tr_compilers_add(struct tr_compilers *table, struct tr_text text, struct tr_text origin,
		      struct tr_error *err)
{
	struct own *own = (struct own *)table;
	struct line line = { .own = own, .origin = origin, .err = err };
	bool fine = true;

	tr_text_skip(&text, TR_TEXT("\xef\xbb\xbf"));
	own->base_sections = own->sections.count;
	while (text.len && fine) {
		const char *lf = memchr(text.data, '\n', text.len), *end = text.data + text.len;
		line.rest = tr_text_span(text.data, lf ? lf : end);
		text = tr_text_span(lf ? lf + 1 : end, end);
		line.number++;
		fine = read_line(&line) && (!own->texts.failed || no_memory(err));
	}
	fine = fine && end_section(&line);
	if (fine)
		find_linkers(own);
	publish(own);
	return fine;
}

bool tr_compilers_add_file(struct tr_compilers *table, struct tr_text path, struct tr_error *err)
{
	struct tr_buffer bytes = TR_BUFFER_INIT;
	bool done = tr_file_read(path, LARGEST, &bytes, err) &&
		    tr_compilers_add(table, tr_buffer_text(&bytes), path, err);

	tr_buffer_free(&bytes);
	return done;
}

/* Sets err: the family has no driver. Names the first families that have one. Returns false. */
static bool unknown_family(const struct own *own, struct tr_text name, struct tr_text family,
			   struct tr_error *err)
{
	enum { SHOWN = 6 };
	char list[200];
	size_t used = 0, shown = 0;

	list[0] = '\0';
	for (size_t i = 0; i < own->sections.count && shown < SHOWN; i++) {
		struct tr_text is = text_of(own, own->sections.items[i].family);
		if (is.len > 30 || find_section(own, is, TR_TOOL_DRIVER) != i)
			continue;
		used += (size_t)snprintf(list + used, sizeof list - used, "%.*s, ", (int)is.len,
					 is.data);
		shown++;
	}
	tr_error_set(err, TR_CAUSE_USAGE,
		     "compiler=%.*s: unknown family '%.*s': %sor another one that "
		     "tr-record --list-compilers prints",
		     TR_SHOWN(name, 60), TR_SHOWN(family, 60), list);
	return false;
}

bool tr_compilers_add_name(struct tr_compilers *table, struct tr_text name, struct tr_error *err)
{
	struct own *own = (struct own *)table;
	struct line line = { .own = own, .origin = TR_TEXT("-O compiler"), .err = err };
	const char *mark = memrchr(name.data, '=', name.len);
	struct tr_text family = { NULL, 0 };

	if (mark)
		family = tr_text_span(mark + 1, name.data + name.len);
	uint32_t section = find_section(own, family, TR_TOOL_DRIVER);
	if (!mark) {
		tr_error_set(err, TR_CAUSE_USAGE,
			     "compiler=%.*s: NAME=FAMILY expected, such as mycc=gcc; "
			     "tr-record --list-compilers prints the families",
			     TR_SHOWN(name, 60));
		return false;
	}
	if (section == TR_NO_SECTION)
		return unknown_family(own, name, family, err);
	own->base_sections = own->sections.count;
	line.number = 0;
	bool done = add_name(&line, tr_text_span(name.data, mark), section);
	publish(own);
	return done;
}

/* True if something refers to the section. */
static bool is_used(const struct own *own, uint32_t section)
{
	bool used = false;

	for (size_t i = 0; i < own->names.count && !used; i++)
		used = own->names.items[i].section == section;
	for (size_t i = 0; i < own->calls.count && !used; i++)
		used = own->calls.items[i].number == section;
	for (size_t i = 0; i < own->sections.count && !used; i++)
		used = own->sections.items[i].like == section ||
		       own->sections.items[i].linker == section;
	return used;
}

bool tr_compilers_check(const struct tr_compilers *table, struct tr_error *err)
{
	const struct own *own = (const struct own *)table;

	for (uint32_t i = own->base_count; i < own->sections.count; i++) {
		const struct tr_section *section = &own->sections.items[i];
		struct tr_text family = tr_compilers_text(table, section->family);
		if (is_used(own, i))
			continue;
		tr_error_set(err, TR_CAUSE_USAGE,
			     "-O compilers: [%.*s %s] has no names, so it applies to no program: "
			     "add a line 'names NAME...'",
			     TR_SHOWN(family, 60), tr_section_kind(section));
		return false;
	}
	return true;
}

/* Copies a list. False: out of memory. */
#define COPY(list, from, n) \
	((n) == 0 || \
	 (tr_array_grow(&(list).items, &(list).cap, (n), sizeof *(list).items) && \
	  (memcpy((list).items, (from), (n) * sizeof *(list).items), (list).count = (n), true)))

struct tr_compilers *tr_compilers_extend(const struct tr_compilers *base, bool names,
					 struct tr_error *err)
{
	struct own *own = calloc(1, sizeof *own);

	if (!own) {
		tr_error_memory(err);
		return NULL;
	}
	own->base_sections = own->base_count = base->section_count;
	tr_buffer_put(&own->texts, base->texts, base->text_size);
	if (own->texts.failed || !COPY(own->sections, base->sections, base->section_count) ||
	    !COPY(own->names, base->names, names ? base->name_count : 0) ||
	    !COPY(own->options, base->options, base->option_count) ||
	    !COPY(own->respfiles, base->respfiles, base->respfile_count) ||
	    !COPY(own->variables, base->variables, base->variable_count) ||
	    !COPY(own->calls, base->calls, names ? base->call_count : 0) ||
	    !COPY(own->sources, base->sources, base->source_count)) {
		tr_error_memory(err);
		tr_compilers_free(&own->table);
		return NULL;
	}
	publish(own);
	return &own->table;
}

void tr_compilers_free(struct tr_compilers *table)
{
	struct own *own = (struct own *)table;

	if (!own)
		return;
	tr_buffer_free(&own->texts);
	free(own->sections.items);
	free(own->names.items);
	free(own->options.items);
	free(own->respfiles.items);
	free(own->variables.items);
	free(own->calls.items);
	free(own->sources.items);
	free(own);
}
