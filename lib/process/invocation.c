/* SPDX-License-Identifier: MIT */
/*
 * The roles of the words on a command line. The options of each kind of program are in the table of
 * compilers; a word is looked up by its longest known prefix (tr_option_find), described by where
 * its value is, and applied to the invocation (parse_word).
 */
#include "process/invocation.h"

#include <string.h>

#include "process/path.h"

/* The meaning of an option, and the place of its value. */
struct option {
	enum tr_role role;
	size_t takes_next;    /* how many of the next words are its values */
	enum tr_mode mode;    /* if role is TR_ROLE_MODE */
	struct tr_text value; /* the value in the same word, borrowed; data NULL: none */
	const struct tr_option_name *known; /* NULL: it is not in the table */
};

/* Returns the number of words after an option that are its values. whole: its name is the word. */
static size_t count_next(const struct tr_option_name *known, bool whole)
{
	switch (known->place) {
	case TR_PLACE_BOTH:
		return 1;
	case TR_PLACE_EITHER:
	case TR_PLACE_NEXT:
	case TR_PLACE_EQUAL:
	case TR_PLACE_NUMBER:
		return whole;
	case TR_PLACE_TWO:
		return 2;
	case TR_PLACE_THREE:
		return 3;
	default:
		return 0;
	}
}

/* Applies an option (NULL: unknown) to a word without its prefix. */
static struct option describe(const struct tr_option_name *known, struct tr_text word)
{
	struct option option = { .role = TR_ROLE_OTHER, .known = known };

	if (!known)
		return option;
	size_t len = known->len;
	bool whole = word.len == len;
	option.role = (enum tr_role)known->role;
	option.mode = (enum tr_mode)known->mode;
	option.takes_next = count_next(known, whole);
	if (option.takes_next || known->place == TR_PLACE_ALONE || known->role == TR_ROLE_MODE)
		return option;
	/* "--name=value", "NAME(value)" */
	if (!whole && (known->place == TR_PLACE_EQUAL || known->place == TR_PLACE_PAREN))
		len++;
	option.value = (struct tr_text){ word.data + len, word.len - len };
	if (known->place == TR_PLACE_PAREN && option.value.len &&
	    option.value.data[option.value.len - 1] == ')')
		option.value.len--;
	return option;
}

/* The name includes the dashes but one, since -o and --o differ. */
static struct option find_gnu(const struct tr_program *program, struct tr_text word)
{
	struct tr_text name = { word.data + 1, word.len - 1 };
	const struct tr_option_name *known = tr_option_find(program->table, program->section, name);
	struct option option = describe(known, name);

	/* -xHost and -xCORE-AVX2 of Intel name processors; names of languages are in lower case */
	if (option.role == TR_ROLE_LANGUAGE && option.value.len && *option.value.data >= 'A' &&
	    *option.value.data <= 'Z')
		option.role = TR_ROLE_OTHER;
	/* other options begin with -o, too: -object is one of Apple's */
	if (word.len > 2 && word.data[1] == 'o' && !known &&
	    !tr_text_starts(word, TR_TEXT("-object"))) {
		option.role = TR_ROLE_OUTPUT;
		option.value = (struct tr_text){ word.data + 2, word.len - 2 };
	}
	return option;
}

/* Options that are just as listed, apart from their case where it does not matter. */
static struct option find_plain(const struct tr_program *program, struct tr_text name)
{
	char lower[256];
	struct tr_text key = name;

	if (program->section->any_case) {
		key.len = name.len < sizeof lower ? name.len : sizeof lower;
		for (size_t i = 0; i < key.len; i++)
			lower[i] = tr_lower(name.data[i]);
		key.data = lower;
	}
	return describe(tr_option_find(program->table, program->section, key), name);
}

/* The dash or slash is not a part of the name. */
static struct option find_cl(const struct tr_program *program, struct tr_text word)
{
	struct option option = find_plain(program, (struct tr_text){ word.data + 1, word.len - 1 });

	/* "/Fo:name" */
	if ((option.role == TR_ROLE_OUTPUT || option.role == TR_ROLE_PRODUCT) && option.value.len &&
	    *option.value.data == ':') {
		option.value.data++;
		option.value.len--;
		option.takes_next = option.value.len == 0;
	}
	return option;
}

/* True for the long options that name the output of a linker. */
static bool names_output(struct tr_text name)
{
	return tr_text_is(name, "output") || tr_text_is(name, "out");
}

/* Linkers accept one or two dashes before long names, and a value after "=". */
static struct option find_ld(const struct tr_program *program, struct tr_text word)
{
	/* options of one letter, whose value is the rest of the word or the next word */
	static const char letters[] = "AFGILRTYabcefhlmouyz";
	struct option option = { .role = TR_ROLE_LINKING };
	size_t dashes = word.len > 2 && word.data[0] == '-' && word.data[1] == '-' ? 2 : 1;
	struct tr_text name = { word.data + dashes, word.len - dashes };
	const char *mark = memchr(name.data, '=', name.len);

	if (mark) {
		struct tr_text value = { mark + 1, name.len - (size_t)(mark - name.data) - 1 };
		name.len = (size_t)(mark - name.data);
		if (names_output(name)) {
			option.role = TR_ROLE_OUTPUT;
			option.value = value;
			return option;
		}
	}
	const struct tr_option_name *known = tr_option_find(program->table, program->section, name);
	if (known && (!mark || known->role == TR_ROLE_MODE))
		return describe(known, name);
	if (dashes == 1 && memchr(letters, *name.data, sizeof letters - 1)) {
		option.role = *name.data == 'o' ? TR_ROLE_OUTPUT : TR_ROLE_LINKING;
		option.takes_next = word.len == 2;
		if (word.len > 2 && option.role == TR_ROLE_OUTPUT)
			option.value = (struct tr_text){ word.data + 2, word.len - 2 };
	}
	return option;
}

/* Finds the meaning of an option to that program. */
static struct option find_option(const struct tr_program *program, struct tr_text word)
{
	switch (program->section->notation) {
	case TR_NOTATION_GNU:
	case TR_NOTATION_AR:
		return find_gnu(program, word);
	case TR_NOTATION_LD:
		return find_ld(program, word);
	case TR_NOTATION_CL:
		return find_cl(program, word);
	case TR_NOTATION_KEIL:
		return find_plain(program, word);
	default:
		return find_plain(program, (struct tr_text){ word.data + 1, word.len - 1 });
	}
}

/* Command lines. */

/*
 * The extensions of C, C++, Objective-C, headers (to be precompiled), Fortran, D, Ada, Go,
 * assembler and others, by the letter after the dot.
 */
static const char source_extensions[128][11][8] = {
	['C'] = { ".CPP", ".C" },
	['F'] = { ".F", ".FOR", ".FPP", ".FTN", ".F90", ".F95", ".F03", ".F08" },
	['H'] = { ".H", ".HPP" },
	['M'] = { ".M" },
	['S'] = { ".S" },
	['a'] = { ".adb", ".ads", ".asm" },
	['b'] = { ".bc" },
	['c'] = { ".c", ".cc", ".cp", ".cxx", ".cpp", ".c++", ".cppm", ".ccm", ".cu", ".cui",
		  ".cl" },
	['d'] = { ".d", ".di", ".dd" },
	['f'] = { ".f", ".for", ".ftn", ".fpp", ".f90", ".f95", ".f03", ".f08" },
	['g'] = { ".go", ".gimple" },
	['h'] = { ".h", ".hh", ".hp", ".hxx", ".hpp", ".h++", ".hip" },
	['i'] = { ".i", ".ii", ".ixx" },
	['l'] = { ".ll" },
	['m'] = { ".m", ".mi", ".mm", ".mii" },
	['s'] = { ".s", ".sx" },
	['t'] = { ".tcc" },
};

/* True for ".c" and the like. The letter after the dot leaves at most eleven to compare. */
static bool is_source_extension(struct tr_text extension)
{
	unsigned char letter = extension.len > 1 ? (unsigned char)extension.data[1] : 0;

	if (extension.len < 2 || extension.len > sizeof ".gimple" - 1 || letter > 127)
		return false;
	const char(*known)[8] = source_extensions[letter];
	for (size_t i = 0; i < 11 && known[i][0]; i++)
		if (memcmp(known[i], extension.data, extension.len) == 0 &&
		    !known[i][extension.len])
			return true;
	return false;
}

/* Files for the linker, to which /TC and /TP do not apply. */
static bool is_linked(struct tr_text path)
{
	static const char *const extensions[] = {
		".obj", ".lib", ".res", ".def", ".o", ".a", NULL
	};
	struct tr_text extension = tr_path_extension(path);

	for (size_t i = 0; extensions[i]; i++)
		if (tr_text_equal_in_any_case(extension, tr_text_from(extensions[i])))
			return true;
	return false;
}

/* The extension decides in upper or lower case: "A.CPP". */
static bool is_cl_source(struct tr_text path)
{
	char lower[8];
	struct tr_text extension = tr_path_extension(path);

	if (extension.len > sizeof lower)
		return false;
	for (size_t i = 0; i < extension.len; i++)
		lower[i] = tr_lower(extension.data[i]);
	return is_source_extension((struct tr_text){ lower, extension.len });
}

/*
 * clang-cl and lld-link also run where paths begin with a slash: "/w/a.obj" resembles no option,
 * whose value comes after a colon.
 */
static bool is_path_with_slash(struct tr_text word)
{
	return *word.data == '/' && memchr(word.data + 1, '/', word.len - 1) &&
	       !memchr(word.data, ':', word.len) && (is_cl_source(word) || is_linked(word));
}

/* True if the section lists the extension of the path. */
static bool is_listed_source(const struct tr_program *program, struct tr_text path)
{
	struct tr_text extension = tr_path_extension(path);
	const struct tr_section *section = program->section;
	const struct tr_piece *list = program->table->sources + section->sources.begin;

	for (size_t i = 0; i < section->sources.count; i++) {
		struct tr_text known = tr_compilers_text(program->table, list[i]);
		if (section->any_case ? tr_text_equal_in_any_case(known, extension)
				      : tr_text_equal(known, extension))
			return true;
	}
	return false;
}

struct parser {
	struct tr_program program;
	struct tr_text prefix; /* characters with which options begin */
	struct tr_invocation *result;
	bool named_language; /* after -x: every file is a source, regardless of its name */
	bool only_files;     /* after "--" */
	bool only_linker;    /* after /link */
	bool links;	     /* after -z of TI */
};

static bool is_cl(const struct parser *parser)
{
	return parser->program.section->notation == TR_NOTATION_CL;
}

/* True if a word that is not an option is a source. */
static bool is_source(const struct parser *parser, struct tr_text path)
{
	if (tr_tool_is_linker(parser->program.kind))
		return false;
	if (parser->program.section->sources.count)
		return is_listed_source(&parser->program, path);
	if (is_cl(parser))
		return is_cl_source(path) || (parser->named_language && !is_linked(path));
	return parser->named_language || is_source_extension(tr_path_extension(path));
}

/* Sets the role of a word that is no option: a source, or an input of the linker. */
static void add_file(struct parser *parser, struct tr_part *part)
{
	struct tr_invocation *result = parser->result;

	/* a response file that could not be expanded */
	if (part->text.len > 1 && part->text.data[0] == '@')
		return;
	bool source = !tr_text_is(part->text, "-") && is_source(parser, part->text);
	part->role = source ? TR_ROLE_SOURCE : TR_ROLE_INPUT;
	part->file = part->text;
	result->sources += part->role == TR_ROLE_SOURCE;
	result->inputs += part->role == TR_ROLE_INPUT;
}

/* Applies the value of an option. */
static void use_value(struct parser *parser, const struct option *option, struct tr_text value)
{
	if (option->role == TR_ROLE_OUTPUT && value.len && !tr_text_is(value, "-"))
		parser->result->output = value;
	else if (option->role == TR_ROLE_PRODUCT && value.len)
		parser->result->product = value;
	else if (option->role == TR_ROLE_FOLDER && value.len)
		parser->result->folder = value;
	else if (option->role == TR_ROLE_LANGUAGE)
		parser->named_language = !tr_text_is(value, "none");
}

/* True if the word looks like an option. */
static bool is_option(const struct parser *parser, struct tr_text word)
{
	const struct tr_section *section = parser->program.section;

	if (parser->only_files)
		return false;
	/* Keil's options have no dash: a word without an extension is one */
	if (section->notation == TR_NOTATION_KEIL)
		return !tr_path_extension(word).len || memchr(word.data, '(', word.len);
	/* "-" alone is standard input */
	return word.len > 1 && memchr(parser->prefix.data, *word.data, parser->prefix.len);
}

/* Makes the following words options of the linker: -z of TI. */
static void begin_linker(struct parser *parser)
{
	const struct tr_compilers *table = parser->program.table;
	uint32_t linker = parser->program.section->linker;

	parser->links = true;
	if (linker == TR_NO_SECTION)
		return;
	parser->program.section = table->sections + linker;
	parser->prefix = tr_compilers_text(table, parser->program.section->prefix);
}

/* Takes the name of the linked file from an option of the linker: /link /OUT:a.exe of cl. */
static void use_linker_option(struct parser *parser, struct tr_text word)
{
	struct tr_program linker = parser->program;
	uint32_t at = linker.section->linker;

	for (uint32_t like = linker.section->like; at == TR_NO_SECTION && like != TR_NO_SECTION;
	     like = linker.table->sections[like].like)
		at = linker.table->sections[like].linker;
	if (at == TR_NO_SECTION || word.len < 2)
		return;
	linker.section = &linker.table->sections[at];
	struct option option = find_plain(&linker, (struct tr_text){ word.data + 1, word.len - 1 });
	if (option.role == TR_ROLE_OUTPUT && option.value.len)
		parser->result->product = option.value;
}

/* True for an option of a user's table, which follow the built-in ones. */
static bool is_own(const struct parser *parser, const struct tr_option_name *known)
{
	const struct tr_compilers *table = parser->program.table;

	return known && table != &tr_compilers_known &&
	       known >= table->options + tr_compilers_known.option_count;
}

/* Sets the role of a word, and of its value in the next word. Returns the number of words. */
static size_t parse_word(struct parser *parser, struct tr_part *part, size_t left)
{
	struct tr_invocation *result = parser->result;
	struct option option = { .role = TR_ROLE_INPUT };
	struct tr_text word = part->text;

	if (parser->only_linker) {
		part->role = TR_ROLE_LINKING;
		use_linker_option(parser, word);
		return 1;
	}
	if (tr_text_is(word, "--") && !parser->only_files) {
		parser->only_files = true;
		return 1;
	}
	bool given = is_option(parser, word);
	if (given)
		option = find_option(&parser->program, word);
	if (given && option.role == TR_ROLE_OTHER && !option.takes_next && !option.value.data &&
	    is_path_with_slash(word))
		given = false;
	if (!given) {
		add_file(parser, part);
		return 1;
	}
	if (option.role == TR_ROLE_BITCODE) {
		result->bitcode = true;
		option.role = TR_ROLE_OTHER;
	} else if (option.role == TR_ROLE_MODULE) {
		result->module = true;
		option.role = TR_ROLE_MODE;
		option.mode = TR_MODE_COMPILE;
	}
	parser->only_linker = option.role == TR_ROLE_REST;
	result->orderly &= option.role != TR_ROLE_REST && option.role != TR_ROLE_LINKER;
	part->own = is_own(parser, option.known);
	if (option.role == TR_ROLE_LINKER)
		begin_linker(parser);
	part->role = option.role <= TR_ROLE_FOLDER ? option.role : TR_ROLE_LINKING;
	/* -E and -M have precedence over -c in any order, and queries over everything */
	if (option.role == TR_ROLE_MODE && option.mode > result->mode)
		result->mode = option.mode;
	size_t takes_next = option.takes_next < left ? option.takes_next : left - 1;
	if (takes_next && option.known && option.known->place == TR_PLACE_NUMBER &&
	    !tr_text_is_digits(part[1].text))
		takes_next = 0;
	struct tr_part *named = takes_next ? &part[1] : part;
	struct tr_text value = takes_next ? named->text : option.value;
	for (size_t i = 1; i <= takes_next; i++) {
		part[i].role = part->role;
		part[i].value = true;
	}
	if (!takes_next)
		part->file = option.value;
	if (option.role != TR_ROLE_SOURCE) {
		if (value.data || option.role == TR_ROLE_LANGUAGE)
			use_value(parser, &option, value);
		return 1 + takes_next;
	}
	/* "/Tca.txt", or the word after "/Tc", is a source; "/Tc" itself is not */
	part->role = TR_ROLE_OTHER;
	if (takes_next || value.data) {
		named->role = TR_ROLE_SOURCE;
		named->file = value;
		result->sources++;
	}
	return 1 + takes_next;
}

/* Takes the values of -o of clang-cl as names of the program, which they are if the call links. */
static void move_output(struct tr_invocation *result)
{
	struct tr_part *end = result->parts + result->count;

	result->output = (struct tr_text){ NULL, 0 };
	for (struct tr_part *part = result->parts; part < end; part++) {
		bool apart = part + 1 < end && part[1].value;
		if (part->role != TR_ROLE_OUTPUT || part->value)
			continue;
		if (apart && part->text.len == 2) {
			part[0].role = part[1].role = TR_ROLE_PRODUCT;
			result->product = part[1].text;
		} else if (apart || part->file.len) {
			result->output = apart ? part[1].text : part->file;
		}
	}
}

bool tr_invocation_parse(const struct tr_program *program, const struct tr_word *words,
			 size_t count, struct tr_arena *arena, struct tr_invocation *result)
{
	struct tr_program usual = tr_program_usual(program->table, program->kind);
	struct parser parser = { .program = program->section ? *program : usual, .result = result };
	const struct tr_section *section = parser.program.section;

	parser.prefix = tr_compilers_text(parser.program.table, section->prefix);
	*result = (struct tr_invocation){ .tool = program->kind,
					  .program = parser.program,
					  .mode = TR_MODE_LINK,
					  .orderly = true };
	result->parts = tr_arena_alloc(arena, count * sizeof *result->parts);
	if (!result->parts)
		return false;
	result->count = count;
	for (size_t i = 0; i < count; i++)
		result->parts[i] = (struct tr_part){ .text = words[i].text,
						     .origin = words[i].origin,
						     .from_file = words[i].from_file };
	for (size_t i = 0; i < count && i < parser.program.words; i++)
		result->parts[i].role = TR_ROLE_PROGRAM;
	/* clang -cc1: the driver runs itself as a compiler */
	if (count > 1 && tr_text_starts(words[1].text, TR_TEXT("-cc1")))
		result->tool =
			tr_text_is(words[1].text, "-cc1as") ? TR_TOOL_ASSEMBLER : TR_TOOL_COMPILER;
	for (size_t i = parser.program.words; i < count;)
		i += parse_word(&parser, &result->parts[i], count - i);
	bool asked = result->mode != TR_MODE_LINK;
	/* cc1 and as never link; they are a part of -c */
	if (result->mode == TR_MODE_LINK && !parser.links &&
	    (result->tool == TR_TOOL_COMPILER || result->tool == TR_TOOL_ASSEMBLER ||
	     section->compiles))
		result->mode = TR_MODE_COMPILE;
	result->mode_with_files = result->mode;
	if (is_cl(&parser) && result->mode == TR_MODE_LINK)
		move_output(result);
	/* gcc -v, or no arguments at all */
	if (!asked && !result->sources && !result->inputs)
		result->mode = TR_MODE_QUERY;
	return true;
}

bool tr_invocation_is_inert(enum tr_role role)
{
	switch (role) {
	case TR_ROLE_OTHER:
	case TR_ROLE_LINKING:
	case TR_ROLE_DEFINE:
	case TR_ROLE_SEARCH:
	case TR_ROLE_SYSTEM:
	case TR_ROLE_INCLUDE:
	case TR_ROLE_DIALECT:
		return true;
	default:
		return false;
	}
}

bool tr_invocation_alike(const struct tr_program *program, struct tr_text a, struct tr_text b)
{
	struct option first = find_option(program, a), second = find_option(program, b);

	return first.known == second.known && first.role == second.role &&
	       first.takes_next == second.takes_next && tr_invocation_is_inert(first.role);
}

/* A precompiled header is named after the whole name of the header: "a.h.gch". */
static bool is_header(struct tr_text path)
{
	struct tr_text extension = tr_path_extension(path);

	return extension.len > 1 && (extension.data[1] | 0x20) == 'h' &&
	       !tr_text_is(extension, ".hip");
}

/* data NULL: out of memory. */
static struct tr_text concatenate(struct tr_text a, struct tr_text b, struct tr_arena *arena)
{
	char *text = tr_arena_alloc(arena, a.len + b.len + 1);

	if (!text)
		return (struct tr_text){ NULL, 0 };
	if (a.len)
		memcpy(text, a.data, a.len);
	if (b.len)
		memcpy(text + a.len, b.data, b.len);
	return (struct tr_text){ text, a.len + b.len };
}

struct tr_text tr_invocation_object(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena)
{
	const struct tr_section *section = invocation->program.section;
	const struct tr_compilers *table = invocation->program.table;
	struct tr_text base = tr_path_base(source), stem = base;
	struct tr_text ending =
		section->object.len ? tr_compilers_text(table, section->object) : TR_TEXT(".o");

	stem.len -= tr_path_extension(source).len;
	if (section->notation == TR_NOTATION_GNU && is_header(source) &&
	    invocation->mode != TR_MODE_ASSEMBLY) {
		ending = TR_TEXT(".gch");
		stem = base;
	} else if (invocation->module) {
		ending = TR_TEXT(".pcm");
	} else if (invocation->bitcode && !tr_path_is_assembly(source)) {
		ending = invocation->mode == TR_MODE_ASSEMBLY ? TR_TEXT(".ll") : TR_TEXT(".bc");
	} else if (invocation->mode == TR_MODE_ASSEMBLY) {
		ending = tr_compilers_text(table, section->assembly);
	}
	if (section->beside)
		stem = tr_text_span(source.data, stem.data + stem.len);
	return concatenate(stem, ending, arena);
}

/* Returns the object of a source in a folder, after which sep comes. */
static struct tr_text object_in(const struct tr_invocation *invocation, struct tr_text folder,
				struct tr_text sep, struct tr_text source, struct tr_arena *arena,
				bool *failed)
{
	struct tr_text none = { NULL, 0 };
	struct tr_text object = tr_invocation_object(invocation, source, arena);

	if (object.data && invocation->program.section->beside)
		object = tr_path_base(object);
	struct tr_text whole = object.data ? concatenate(sep, object, arena) : none;
	if (whole.data)
		whole = concatenate(folder, whole, arena);
	*failed |= !whole.data;
	return whole;
}

/*
 * The output that is given belongs to a source only if there is no other one, except in a folder.
 */
struct tr_text tr_invocation_output(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena, bool *failed)
{
	struct tr_text none = { NULL, 0 }, given = invocation->output;
	struct tr_text folder = invocation->folder;
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;

	if (!given.len && folder.len && invocation->program.section->object.len) {
		char last = folder.data[folder.len - 1];
		bool ends = last == '/' || last == '\\';
		return object_in(invocation, folder, ends ? TR_TEXT("") : TR_TEXT("/"), source,
				 arena, failed);
	}
	if (!given.len)
		return none;
	char last = given.data[given.len - 1];
	if (cl && (last == '/' || last == '\\'))
		return object_in(invocation, given, TR_TEXT(""), source, arena, failed);
	if (invocation->sources != 1 || (invocation->mode == TR_MODE_LINK && !cl))
		return none;
	return given;
}

void tr_invocation_product(const struct tr_invocation *invocation, struct tr_buffer *name)
{
	const struct tr_program *program = &invocation->program;
	struct tr_text product = tr_compilers_text(program->table, program->section->product);

	if (!product.len || *product.data != '*') {
		tr_buffer_put_text(name, product);
		return;
	}
	/* cl names the program after its first file */
	for (size_t i = program->words; i < invocation->count; i++) {
		const struct tr_part *part = &invocation->parts[i];
		if (part->role != TR_ROLE_SOURCE && part->role != TR_ROLE_INPUT)
			continue;
		struct tr_text base = tr_path_base(part->file);
		base.len -= tr_path_extension(base).len;
		tr_buffer_put_text(name, base);
		tr_buffer_put_text(name, (struct tr_text){ product.data + 1, product.len - 1 });
		break;
	}
}
