/* SPDX-License-Identifier: MIT */
/* The built-in table of compilers; programs by their names, and options of a section. */
#include "process/compilers.h"

#include <string.h>

#include "process/path.h"
#include "process/compilers_table.h"

const struct tr_compilers tr_compilers_known = {
	.texts = texts,
	.text_size = sizeof texts - 1,
	.sections = sections,
	.names = names,
	.options = options,
	.respfiles = respfiles,
	.variables = variables,
	.calls = calls,
	.sources = sources,
	TABLE_COUNTS,
};

/* Names. */

/* A search for a name, and how the name was found. */
struct search {
	const struct tr_compilers *table;
	struct tr_text folders;	    /* the path before the name */
	const struct tr_text *rest; /* the words after it */
	size_t count;
	bool exe;      /* it ended in .exe */
	bool by_words; /* set: the words after the name select the program, or whether it is one */
	size_t words;  /* set: the number of words of the name */
};

/* Takes the last component off a path that may end in a slash. */
static struct tr_text take_last(struct tr_text *path)
{
	while (path->len && memchr("/\\", path->data[path->len - 1], 2))
		path->len--;
	struct tr_text base = tr_path_base(*path);
	path->len -= base.len;
	return base;
}

/* True if the path ends in the folders of a name: "pkg/tool/", with "*" for any one. */
static bool ends_in(struct tr_text path, struct tr_text folders)
{
	while (folders.len) {
		bool more = path.len > 0;
		struct tr_text wanted = take_last(&folders), folder = take_last(&path);
		if (!wanted.len)
			return more && !folder.len; /* both begin at the root */
		if (!folder.len || (!tr_text_is(wanted, "*") && !tr_text_equal(wanted, folder)))
			return false;
	}
	return true;
}

/* True if the text begins with the words, each after a blank. */
static bool is_call(struct tr_text call, struct tr_text name, const struct search *search,
		    size_t *words)
{
	if (!tr_text_skip(&call, name))
		return false;
	for (*words = 1; tr_text_skip(&call, TR_TEXT(" ")); ++*words)
		if (*words > search->count || !tr_text_skip(&call, search->rest[*words - 1]))
			return false;
	return call.len == 0;
}

/* The section of a call of several words, such as "zig cc". NULL: none. */
static const struct tr_section *find_call(struct search *search, struct tr_text name)
{
	const struct tr_compilers *table = search->table;

	search->by_words = true;
	for (uint32_t i = table->call_count; i > 0; i--) {
		const struct tr_numbered *call = &table->calls[i - 1];
		if (is_call(tr_compilers_text(table, call->text), name, search, &search->words))
			return &table->sections[call->number];
	}
	return NULL;
}

/*
 * True if an argument after a name that needs .exe shows that it is that program: nologo, or the
 * option for its output, such as /OUT:NAME of link. On other systems link takes two paths.
 */
static bool has_option_of(const struct search *search, const struct tr_section *section)
{
	enum { LONGEST = 8 }; /* of these names */
	char name[LONGEST];

	for (size_t i = 0; i < search->count; i++) {
		struct tr_text word = search->rest[i];
		if (word.len < 2 || (*word.data != '/' && *word.data != '-'))
			continue;
		size_t len = word.len - 1 < LONGEST ? word.len - 1 : LONGEST;
		for (size_t j = 0; j < len; j++)
			name[j] = tr_lower(word.data[j + 1]);
		struct tr_text lower = { name, len };
		if (tr_text_is(lower, "nologo"))
			return true;
		const struct tr_option_name *option = tr_option_find(search->table, section, lower);
		/* a dash and some letters may be an option of any program */
		if (option && option->role == TR_ROLE_OUTPUT &&
		    (*word.data == '/' || option->len > 2))
			return true;
	}
	return false;
}

/* Looks up an exact name, without target prefix, version and .exe. */
static const struct tr_section *look_up(struct search *search, struct tr_text name)
{
	const struct tr_compilers *table = search->table;

	if (!name.len || name.len > TR_PROGRAM_NAME_MAX)
		return NULL;
	const struct tr_program_name *at = table->names + table->by_length[name.len];
	const struct tr_program_name *end = table->names + table->by_length[name.len + 1];
	for (size_t count = (size_t)(end - at); count;) {
		size_t half = count / 2;
		const struct tr_program_name *middle = at + half;
		const char *bytes = table->texts + middle->text.at + middle->folders;
		bool before = memcmp(bytes, name.data, name.len) < 0;
		at = before ? middle + 1 : at;
		count = before ? count - half - 1 : half;
	}
	/* several programs with different conditions can have the name */
	for (; at < end; at++) {
		const char *text = table->texts + at->text.at;
		if (memcmp(text + at->folders, name.data, name.len) != 0)
			break;
		if (!ends_in(search->folders, (struct tr_text){ text, at->folders }))
			continue;
		if (at->exe && !search->exe) {
			search->by_words = true;
			if (!has_option_of(search, &table->sections[at->section]))
				continue;
		}
		return at->section == TR_NO_SECTION ? find_call(search, name)
						    : &table->sections[at->section];
	}
	return NULL;
}

/* MinGW's compilers name their kind of threads after the version: "gcc-12-posix". */
static struct tr_text without_threads(struct tr_text name)
{
	static const struct tr_text kinds[] = { { "-posix", 6 }, { "-win32", 6 } };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (name.len > kinds[i].len &&
		    memcmp(name.data + name.len - kinds[i].len, kinds[i].data, kinds[i].len) == 0)
			name.len -= kinds[i].len;
	return name;
}

/* Looks up a name that has no target prefix, with and without its version. */
static const struct tr_section *look_up_version(struct search *search, struct tr_text name)
{
	const struct tr_section *section = look_up(search, name);
	size_t len = name.len;

	if (section)
		return section;
	while (len > 0 && (tr_is_digit(name.data[len - 1]) || name.data[len - 1] == '.'))
		len--;
	bool version = len < name.len && tr_is_digit(name.data[len]);
	bool dash = len > 1 && name.data[len - 1] == '-'; /* "gcc-12", not "gcc12" */
	/* some systems have gcc12 and clang++16; but ld86 and cc65 are unrelated programs */
	if (!version || (!dash && len < sizeof "gcc" - 1))
		return NULL;
	return look_up(search, (struct tr_text){ name.data, len - dash });
}

struct tr_text tr_tool_base(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	if (base.len > 4 &&
	    tr_text_equal_in_any_case(TR_TEXT(".exe"),
				      (struct tr_text){ base.data + base.len - 4, 4 }))
		base.len -= 4;
	return base;
}

/* True if all characters occur in target triplets and names of wrappers. */
static bool is_prefix(struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i], lower = (char)(c | 0x20);
		if (!tr_is_digit(c) && !(lower >= 'a' && lower <= 'z') && !memchr("_.+-", c, 4))
			return false;
	}
	return text.len > 0;
}

/* Looks up a name that may have a target prefix, which ends in a dash: arm-none-eabi-gcc. */
static const struct tr_section *look_up_prefixed(struct search *search, struct tr_text base)
{
	const struct tr_section *section = look_up_version(search, base);

	for (size_t i = 1; i < base.len && !section && !search->by_words; i++) {
		if (base.data[i - 1] != '-')
			continue;
		struct tr_text rest = { base.data + i, base.len - i };
		section = look_up_version(search, rest);
		if (section && !is_prefix((struct tr_text){ base.data, i }))
			section = NULL;
	}
	return section;
}

/* Looks up the last component of a path, without .exe. */
static const struct tr_section *look_up_base(struct search *search, struct tr_text base)
{
	const struct tr_section *section = look_up_prefixed(search, base);

	if (section || search->by_words)
		return section;
	struct tr_text plain = without_threads(base);
	return plain.len < base.len ? look_up_prefixed(search, plain) : NULL;
}

void tr_program_follow_mode(struct tr_program *program, const struct tr_text *rest, size_t count)
{
	struct tr_text mode = { NULL, 0 };
	bool driver = program->kind == TR_TOOL_DRIVER || program->kind == TR_TOOL_DRIVER_CL;

	if (!driver || !tr_text_starts(tr_compilers_text(program->table, program->section->family),
				       TR_TEXT("clang")))
		return;
	for (size_t i = 0; i < count; i++) {
		struct tr_text word = rest[i];
		if (tr_text_skip(&word, TR_TEXT("--driver-mode=")))
			mode = word; /* the last one counts */
	}
	if (!mode.data)
		return;
	program->calls = true;
	struct tr_text name = tr_text_is(mode, "cl") ? TR_TEXT("clang-cl") : TR_TEXT("clang");
	struct tr_program other = tr_program_find(program->table, name, NULL, 0);
	if (!other.section || other.section->notation == program->section->notation)
		return;
	program->section = other.section;
	program->kind = other.kind;
}

struct tr_program tr_program_find(const struct tr_compilers *table, struct tr_text path,
				  const struct tr_text *rest, size_t count)
{
	struct tr_text base = tr_tool_base(path);
	struct search search = { .table = table ? table : &tr_compilers_known,
				 .folders = { path.data, (size_t)(base.data - path.data) },
				 .rest = rest,
				 .count = count,
				 .exe = base.data + base.len < path.data + path.len,
				 .words = 1 };
	struct tr_program program = { TR_TOOL_NONE, search.table, NULL, 1, false };
	char lower[64];

	if (base.len > sizeof lower)
		return program; /* limits the time for names of megabytes */
	program.section = look_up_base(&search, base);
	/* on Windows, names are compared without regard to case */
	if (!program.section && (search.exe || tr_path_has_drive(path)) && !search.by_words) {
		for (size_t i = 0; i < base.len; i++)
			lower[i] = tr_lower(base.data[i]);
		program.section = look_up_base(&search, (struct tr_text){ lower, base.len });
	}
	program.calls = search.by_words;
	if (program.section) {
		program.kind = (enum tr_tool_kind)program.section->kind;
		program.words = search.words;
		tr_program_follow_mode(&program, rest, count);
	}
	return program;
}

enum tr_tool_kind tr_tool_of_name(struct tr_text path)
{
	return tr_program_find(NULL, path, NULL, 0).kind;
}

struct tr_program tr_program_usual(const struct tr_compilers *table, enum tr_tool_kind kind)
{
	table = table ? table : &tr_compilers_known;
	return (struct tr_program){ kind, table, table->sections, 1, false };
}

/* Options. */

/* True if the rest of a word, which begins with c, can be the value of the option. */
static inline bool joins(const struct tr_option_name *option, char c)
{
	switch (option->place) {
	case TR_PLACE_ALONE:
	case TR_PLACE_NEXT:
	case TR_PLACE_TWO:
	case TR_PLACE_THREE:
		return false;
	case TR_PLACE_EQUAL:
		return c == '=';
	case TR_PLACE_PAREN:
		return c == '(';
	default:
		return true;
	}
}

/* As tr_option_find, in the options of one section. */
static const struct tr_option_name *find(const struct tr_compilers *table, struct tr_range range,
					 struct tr_text word)
{
	const struct tr_option_name *first = table->options + range.begin, *found = NULL;
	const struct tr_option_name *end = first + range.count;
	const char *bytes = table->texts;
	unsigned char key = (unsigned char)*word.data;
	char second = word.len > 1 ? word.data[1] : 0;

	for (size_t count = range.count; count;) {
		const struct tr_option_name *middle = first + count / 2;
		bool before = (unsigned char)bytes[middle->at] < key;
		first = before ? middle + 1 : first;
		count = before ? count - count / 2 - 1 : count / 2;
	}
	/* a name comes after its own prefixes, so the last match is the longest */
	for (; first < end && (unsigned char)bytes[first->at] == key; first++) {
		size_t len = first->len;
		if (len > 1 && bytes[first->at + 1] != second)
			continue;
		if (len > word.len || (len < word.len && !joins(first, word.data[len])))
			continue;
		if (memcmp(word.data, bytes + first->at, len) == 0)
			found = first;
	}
	return found;
}

const struct tr_option_name *tr_option_find(const struct tr_compilers *table,
					    const struct tr_section *section, struct tr_text word)
{
	const struct tr_option_name *found = NULL, *other;

	if (!word.len)
		return NULL;
	for (;;) {
		if (section->options.count && (other = find(table, section->options, word)) &&
		    (!found || other->len > found->len))
			found = other;
		if (section->like == TR_NO_SECTION)
			return found;
		section = table->sections + section->like;
	}
}

const char *tr_section_kind(const struct tr_section *section)
{
	static const char *const kinds[] = {
		"other",    "driver",	    "driver",	 "compiler", "assembler", "linker",
		"archiver", "preprocessor", "collector", "helper",   "launcher",  "libtool",
	};

	return kinds[section->kind];
}
