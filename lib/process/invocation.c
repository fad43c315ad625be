/* SPDX-License-Identifier: MIT */
#include "process/invocation.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "process/driver_option.h"
#include "process/path.h"

/*
 * C, C++, Objective-C, headers (they are precompiled), Fortran, D, Ada, Go, assembler, others: by
 * the letter after the point.
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

static bool is_of_source(struct tr_text extension)
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

bool tr_is_source(struct tr_text path)
{
	return is_of_source(tr_path_extension(path));
}

/* A script of libtool's may be run by a shell that is named. */
static bool is_libtool(const struct tr_text *argv, size_t argc, size_t *words)
{
	for (*words = 0; *words < argc && *words < 2; ++*words)
		if (tr_tool_of_name(argv[*words]) == TR_TOOL_LIBTOOL)
			return true;
	return false;
}

size_t tr_invocation_launchers(const struct tr_text *argv, size_t argc, bool *libtool)
{
	size_t i = 0, words;

	*libtool = is_libtool(argv, argc, &words);
	if (*libtool) {
		bool compiles = false;
		for (i = words + 1; i < argc && argv[i].len && argv[i].data[0] == '-'; i++)
			compiles |= tr_text_is(argv[i], "--mode=compile") ||
				    (tr_text_is(argv[i], "compile") &&
				     tr_text_is(argv[i - 1], "--mode"));
		if (!compiles)
			return argc;
	}
	/* a launcher may be launched, and has options and settings of its own */
	while (i < argc && tr_tool_of_name(argv[i]) == TR_TOOL_LAUNCHER) {
		i++;
		while (i < argc && argv[i].len && memchr(argv[i].data, '=', argv[i].len) &&
		       argv[i].data[0] != '-')
			i++;
	}
	return i;
}

/* Files that /TC and /TP are not about. */
static bool is_linked(struct tr_text path)
{
	static const char *const extensions[] = {
		".obj", ".lib", ".res", ".def", ".o", ".a", NULL
	};
	struct tr_text extension = tr_path_extension(path);

	for (size_t i = 0; extensions[i]; i++)
		if (extension.len == strlen(extensions[i]) &&
		    strncasecmp(extension.data, extensions[i], extension.len) == 0)
			return true;
	return false;
}

/* Where names are of no case: "A.CPP". */
static bool is_cl_source(struct tr_text path)
{
	char lower[8];
	struct tr_text extension = tr_path_extension(path);

	if (extension.len > sizeof lower)
		return false;
	for (size_t i = 0; i < extension.len; i++)
		lower[i] = (char)(extension.data[i] >= 'A' && extension.data[i] <= 'Z'
					  ? extension.data[i] | 0x20
					  : extension.data[i]);
	return is_of_source((struct tr_text){ lower, extension.len });
}

struct parser {
	enum tr_tool program;
	struct tr_invocation *result;
	bool named_language; /* -x: every file is a source, whatever its name */
	bool only_files;     /* behind "--" */
	bool only_linker;    /* behind /link */
};

/* collect2 takes the options of the linker that it runs. */
static bool is_linker(const struct parser *parser)
{
	return parser->program == TR_TOOL_LINKER || parser->program == TR_TOOL_COLLECTOR;
}

static void add_file(struct parser *parser, struct tr_part *part)
{
	struct tr_invocation *result = parser->result;
	bool stdin_file = tr_text_is(part->text, "-");

	/* a response file that could not be read */
	if (part->text.len > 1 && part->text.data[0] == '@')
		return;
	bool source = tr_is_source(part->text);

	if (is_linker(parser))
		source = false;
	else if (parser->program == TR_TOOL_DRIVER_CL)
		source = is_cl_source(part->text) ||
			 (parser->named_language && !is_linked(part->text));
	else if (parser->named_language)
		source = true;
	part->role = source && !stdin_file ? TR_ROLE_SOURCE : TR_ROLE_INPUT;
	part->file = part->text;
	result->sources += part->role == TR_ROLE_SOURCE;
	result->inputs += part->role == TR_ROLE_INPUT;
}

/* -E and -M win over -c, in whatever order; what only tells wins over all. */
static void set_mode(struct tr_invocation *result, enum tr_mode mode)
{
	if (mode > result->mode)
		result->mode = mode;
}

static void use_value(struct parser *parser, const struct tr_driver_option *option,
		      struct tr_text value)
{
	if (option->role == TR_ROLE_OUTPUT && value.len && !tr_text_is(value, "-"))
		parser->result->output = value;
	else if (option->role == TR_ROLE_PRODUCT && value.len)
		parser->result->product = value;
	else if (option->role == TR_ROLE_LANGUAGE)
		parser->named_language = !tr_text_is(value, "none");
}

/* An option that names a source: "/Tca.txt", or the word behind "/Tc". */
static void add_named_source(struct parser *parser, struct tr_part *part, struct tr_text file)
{
	part->role = TR_ROLE_SOURCE;
	part->file = file;
	parser->result->sources++;
}

/* Where cl runs on other systems: a path that no option is like. */
static bool is_cl_path(struct tr_text word, const struct tr_driver_option *option)
{
	return *word.data == '/' && option->role == TR_ROLE_OTHER && !option->takes_next &&
	       !option->value.data && memchr(word.data + 1, '/', word.len - 1) &&
	       is_cl_source(word);
}

static bool is_option(const struct parser *parser, struct tr_text word)
{
	if (parser->only_files || word.len < 2)
		return false;
	return word.data[0] == '-' || (parser->program == TR_TOOL_DRIVER_CL && word.data[0] == '/');
}

/* One word, and the next where that is its value. */
static size_t take(struct parser *parser, struct tr_part *part, size_t left)
{
	struct tr_driver_option option;

	if (parser->only_linker) {
		part->role = TR_ROLE_LINKING;
		return 1;
	}
	if (tr_text_is(part->text, "--") && !parser->only_files) {
		parser->only_files = true;
		return 1;
	}
	if (!is_option(parser, part->text)) {
		add_file(parser, part);
		return 1;
	}
	bool cl = parser->program == TR_TOOL_DRIVER_CL;
	option = cl		     ? tr_driver_option_cl(part->text)
		 : is_linker(parser) ? tr_driver_option_ld(part->text)
				     : tr_driver_option_gnu(part->text);
	if (cl && is_cl_path(part->text, &option)) {
		add_file(parser, part);
		return 1;
	}
	part->role = option.role;
	parser->only_linker =
		cl &&
		tr_text_is((struct tr_text){ part->text.data + 1, part->text.len - 1 }, "link");
	if (option.sets_mode)
		set_mode(parser->result, option.mode);
	if (!option.takes_next || left < 2) {
		if (option.role == TR_ROLE_SOURCE && option.value.data)
			add_named_source(parser, part, option.value);
		else if (option.role == TR_ROLE_SOURCE)
			part->role = TR_ROLE_OTHER; /* "/Tc" as the last word */
		else if (option.value.data || option.role == TR_ROLE_LANGUAGE)
			use_value(parser, &option, option.value);
		return 1;
	}
	part[1].role = option.role;
	part[1].value = true;
	if (option.role == TR_ROLE_SOURCE) {
		part->role = TR_ROLE_OTHER;
		add_named_source(parser, &part[1], part[1].text);
	} else {
		use_value(parser, &option, part[1].text);
	}
	return 2;
}

bool tr_invocation_parse(enum tr_tool program, const struct tr_word *words, size_t count,
			 struct tr_arena *arena, struct tr_invocation *result)
{
	struct parser parser = { .program = program, .result = result };

	*result = (struct tr_invocation){ .tool = program, .mode = TR_MODE_LINK };
	result->parts = tr_arena_alloc(arena, count * sizeof *result->parts);
	if (!result->parts)
		return false;
	result->count = count;
	for (size_t i = 0; i < count; i++)
		result->parts[i] = (struct tr_part){ .text = words[i].text,
						     .origin = words[i].origin,
						     .from_file = words[i].from_file };
	if (count)
		result->parts[0].role = TR_ROLE_PROGRAM;
	/* a driver that is told to be its own compiler */
	if (count > 1 && tr_text_starts(words[1].text, TR_TEXT("-cc1")))
		result->tool =
			tr_text_is(words[1].text, "-cc1as") ? TR_TOOL_ASSEMBLER : TR_TOOL_COMPILER;
	for (size_t i = 1; i < count;)
		i += take(&parser, &result->parts[i], count - i);
	/* gcc -v, and a driver that is given nothing */
	if (result->mode == TR_MODE_LINK && !result->sources && !result->inputs)
		result->mode = TR_MODE_TELL;
	/* cc1 and as do nothing but what a driver does for -c */
	if (result->mode == TR_MODE_LINK &&
	    (result->tool == TR_TOOL_COMPILER || result->tool == TR_TOOL_ASSEMBLER))
		result->mode = TR_MODE_COMPILE;
	return true;
}

/* What is made of a header is looked for by its whole name. */
static bool is_header(struct tr_text path)
{
	struct tr_text extension = tr_path_extension(path);

	return extension.len > 1 && (extension.data[1] | 0x20) == 'h' &&
	       !tr_text_is(extension, ".hip");
}

/* a and b behind each other. data NULL: memory. */
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
	struct tr_text base = tr_path_base(source), stem = base;
	struct tr_text ending = TR_TEXT(".o");

	stem.len -= tr_path_extension(source).len;
	if (invocation->mode == TR_MODE_ASSEMBLY) {
		ending = TR_TEXT(".s");
	} else if (invocation->tool == TR_TOOL_DRIVER_CL) {
		ending = TR_TEXT(".obj");
	} else if (is_header(source)) {
		ending = TR_TEXT(".gch");
		stem = base;
	}
	return concatenate(stem, ending, arena);
}

struct tr_text tr_invocation_output(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena, bool *failed)
{
	struct tr_text none = { NULL, 0 }, said = invocation->output;
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;

	if (!said.len)
		return none;
	char last = said.data[said.len - 1];
	if (cl && (last == '/' || last == '\\')) {
		struct tr_text object = tr_invocation_object(invocation, source, arena);
		struct tr_text whole = object.data ? concatenate(said, object, arena) : none;
		*failed |= !whole.data;
		return whole;
	}
	if (invocation->sources != 1 || (invocation->mode == TR_MODE_LINK && !cl))
		return none;
	return said;
}
