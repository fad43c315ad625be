#include "process/invocation.h"

#include <stdlib.h>
#include <string.h>

#include "process/driver_option.h"
#include "process/path.h"

/* C, C++, Objective-C, headers (they are precompiled), Fortran, D, Ada, Go, assembler, others. */
static const char *const source_extensions[] = {
	".c",	 ".i",	 ".ii",	 ".cc",	 ".cp",	    ".cxx", ".cpp", ".CPP", ".c++", ".C",   ".ixx",
	".cppm", ".ccm", ".m",	 ".mi",	 ".mm",	    ".M",   ".mii", ".h",   ".hh",  ".H",   ".hp",
	".hxx",	 ".hpp", ".HPP", ".h++", ".tcc",    ".cu",  ".cui", ".cl",  ".hip", ".f",   ".for",
	".ftn",	 ".F",	 ".FOR", ".fpp", ".FPP",    ".FTN", ".f90", ".f95", ".f03", ".f08", ".F90",
	".F95",	 ".F03", ".F08", ".d",	 ".di",	    ".dd",  ".adb", ".ads", ".go",  ".s",   ".S",
	".sx",	 ".asm", ".ll",	 ".bc",	 ".gimple", NULL,
};

bool tr_is_source(struct tr_text path)
{
	struct tr_text extension = tr_path_extension(path);

	if (extension.len < 2 || extension.len > sizeof ".gimple" - 1)
		return false;
	for (size_t i = 0; source_extensions[i]; i++)
		if (tr_text_is(extension, source_extensions[i]))
			return true;
	return false;
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

struct parser {
	enum tr_tool program;
	struct tr_invocation *result;
	bool named_language; /* -x: every file is a source, whatever its name */
	bool only_files;     /* behind "--" */
	bool only_linker;    /* behind /link */
};

static void add_file(struct parser *parser, struct tr_part *part)
{
	struct tr_invocation *result = parser->result;
	bool stdin_file = tr_text_is(part->text, "-");

	/* a response file that could not be read */
	if (part->text.len > 1 && part->text.data[0] == '@')
		return;
	bool source = tr_is_source(part->text);

	if (parser->named_language && !stdin_file)
		source = true;
	part->role = source && !stdin_file ? TR_ROLE_SOURCE : TR_ROLE_INPUT;
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
	if (option->role == TR_ROLE_OUTPUT && value.len)
		parser->result->output = value;
	else if (option->role == TR_ROLE_LANGUAGE)
		parser->named_language = !tr_text_is(value, "none");
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
	option = parser->program == TR_TOOL_DRIVER_CL ? tr_driver_option_cl(part->text)
						      : tr_driver_option_gnu(part->text);
	part->role = option.role;
	parser->only_linker =
		parser->program == TR_TOOL_DRIVER_CL &&
		tr_text_is((struct tr_text){ part->text.data + 1, part->text.len - 1 }, "link");
	if (option.sets_mode)
		set_mode(parser->result, option.mode);
	if (!option.takes_next || left < 2) {
		if (option.value.data)
			use_value(parser, &option, option.value);
		return 1;
	}
	part[1].role = option.role;
	part[1].value = true;
	use_value(parser, &option, part[1].text);
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
	return true;
}

struct tr_text tr_invocation_object(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena)
{
	bool assembly = invocation->mode == TR_MODE_ASSEMBLY;
	struct tr_text ending = assembly				? TR_TEXT(".s")
				: invocation->tool == TR_TOOL_DRIVER_CL ? TR_TEXT(".obj")
									: TR_TEXT(".o");
	struct tr_text base = tr_path_base(source);
	size_t stem = base.len - tr_path_extension(source).len;
	char *name = tr_arena_alloc(arena, stem + ending.len);

	if (!name)
		return (struct tr_text){ NULL, 0 };
	memcpy(name, base.data, stem);
	memcpy(name + stem, ending.data, ending.len);
	return (struct tr_text){ name, stem + ending.len };
}
