/* SPDX-License-Identifier: MIT */
#include "process/call.h"

#include <string.h>

#include "process/path.h"

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

/* Libtool is a script, so a shell may precede it. *words: the number of words before it. */
static bool is_libtool(const struct tr_text *argv, size_t argc, size_t *words)
{
	for (*words = 0; *words < argc && *words < 2; ++*words)
		if (tr_tool_of_name(argv[*words]) == TR_TOOL_LIBTOOL)
			return true;
	return false;
}

/*
 * The number of words before the program: launchers with their options, or libtool. argc if no
 * program follows. *libtool: libtool compiles.
 */
static size_t count_launchers(const struct tr_text *argv, size_t argc, bool *libtool)
{
	size_t i = 0, words;

	*libtool = is_libtool(argv, argc, &words);
	if (*libtool) {
		bool compiles = false;
		for (i = words + 1; i < argc && argv[i].len && argv[i].data[0] == '-'; i++) {
			bool mode = tr_text_is(argv[i], "--mode");
			compiles |= tr_text_is(argv[i], "--mode=compile");
			if (!mode && !tr_text_is(argv[i], "--tag"))
				continue;
			i += i + 1 < argc; /* the value is the next word */
			compiles |= mode && tr_text_is(argv[i], "compile");
		}
		if (!compiles)
			return argc;
	}
	/* a launcher may run another one; settings such as CCACHE_DIR=... may follow its name */
	while (i < argc && tr_tool_of_name(argv[i]) == TR_TOOL_LAUNCHER) {
		i++;
		while (i < argc && argv[i].len && memchr(argv[i].data, '=', argv[i].len) &&
		       argv[i].data[0] != '-')
			i++;
	}
	return i;
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

struct parser {
	enum tr_tool program;
	struct tr_invocation *result;
	bool named_language; /* after -x: every file is a source, regardless of its name */
	bool only_files;     /* after "--" */
	bool only_linker;    /* after /link */
};

/* Sets the role of a word that is no option: a source, or an input of the linker. */
static void add_file(struct parser *parser, struct tr_part *part)
{
	struct tr_invocation *result = parser->result;
	bool stdin_file = tr_text_is(part->text, "-");

	/* a response file that could not be expanded */
	if (part->text.len > 1 && part->text.data[0] == '@')
		return;
	bool source = is_source_extension(tr_path_extension(part->text));

	if (tr_tool_is_linker(parser->program))
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

/* -E and -M have precedence over -c in any order, and queries over everything. */
static void set_mode(struct tr_invocation *result, enum tr_mode mode)
{
	if (mode > result->mode)
		result->mode = mode;
}

/* Applies the value of an option. */
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

/* Marks a source that an option names: "/Tca.txt", or the word after "/Tc". */
static void add_named_source(struct parser *parser, struct tr_part *part, struct tr_text file)
{
	part->role = TR_ROLE_SOURCE;
	part->file = file;
	parser->result->sources++;
}

/* clang-cl also runs where paths begin with a slash: such a path resembles no option. */
static bool is_cl_path(struct tr_text word, const struct tr_driver_option *option)
{
	return *word.data == '/' && option->role == TR_ROLE_OTHER && !option->takes_next &&
	       !option->value.data && memchr(word.data + 1, '/', word.len - 1) &&
	       is_cl_source(word);
}

/* True if a word is an option; "-" alone is standard input. */
static bool is_option(const struct parser *parser, struct tr_text word)
{
	if (parser->only_files || word.len < 2)
		return false;
	return word.data[0] == '-' || (parser->program == TR_TOOL_DRIVER_CL && word.data[0] == '/');
}

/* Sets the role of a word, and of the next one if that is its value. Returns how many those are. */
static size_t parse_word(struct parser *parser, struct tr_part *part, size_t left)
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
	option = tr_driver_option_find(parser->program, part->text);
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
			part->role = TR_ROLE_OTHER; /* "/Tc" is the last word */
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
	/* clang -cc1: the driver runs itself as a compiler */
	if (count > 1 && tr_text_starts(words[1].text, TR_TEXT("-cc1")))
		result->tool =
			tr_text_is(words[1].text, "-cc1as") ? TR_TOOL_ASSEMBLER : TR_TOOL_COMPILER;
	for (size_t i = 1; i < count;)
		i += parse_word(&parser, &result->parts[i], count - i);
	/* gcc -v, or no arguments at all */
	if (result->mode == TR_MODE_LINK && !result->sources && !result->inputs)
		result->mode = TR_MODE_QUERY;
	/* cc1 and as never link; they are a part of -c */
	if (result->mode == TR_MODE_LINK &&
	    (result->tool == TR_TOOL_COMPILER || result->tool == TR_TOOL_ASSEMBLER))
		result->mode = TR_MODE_COMPILE;
	return true;
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
	struct tr_text none = { NULL, 0 }, given = invocation->output;
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;

	if (!given.len)
		return none;
	char last = given.data[given.len - 1];
	if (cl && (last == '/' || last == '\\')) {
		struct tr_text object = tr_invocation_object(invocation, source, arena);
		struct tr_text whole = object.data ? concatenate(given, object, arena) : none;
		*failed |= !whole.data;
		return whole;
	}
	if (invocation->sources != 1 || (invocation->mode == TR_MODE_LINK && !cl))
		return none;
	return given;
}

/* Calls. */

/* True if the arguments may name libtool. Text lines are searched without being parsed. */
static bool may_be_libtool(struct tr_record *record)
{
	static const char word[] = "libtool";
	struct tr_text text = record->rest;
	struct tr_field *argv;

	if (!record->line.data && (argv = tr_record_field(record, "argv")))
		return argv->value && argv->value->type == TR_LIST && argv->value->count > 1;
	return text.len && memmem(text.data, text.len, word, sizeof word - 1);
}

/* True for shells, which run scripts such as that of libtool. */
static bool is_shell(struct tr_text program)
{
	static const char *const shells[] = { "sh",  "bash", "dash", "ksh",
					      "zsh", "ash",  "mksh", NULL };
	struct tr_text base = tr_tool_base(program);

	for (size_t i = 0; shells[i]; i++)
		if (tr_text_is(base, shells[i]))
			return true;
	return false;
}

/* True if the name of the program shows that it is no build tool, without parsing its argv. */
static bool is_no_tool(struct tr_record *record, const struct tr_call_config *config)
{
	struct tr_text program = tr_command_executable(record);

	if (!program.data || (config->tools && tr_tool_config_find(config->tools, program)))
		return false;
	if (config->tools)
		return tr_tool_of_name(program) != TR_TOOL_LAUNCHER;
	if (is_shell(program))
		return !may_be_libtool(record);
	return tr_tool_of_name(program) == TR_TOOL_NONE;
}

enum tr_call_quoting tr_call_quoting_of(struct tr_text word)
{
	if (tr_text_is(word, "gnu"))
		return TR_CALL_QUOTING_GNU;
	return tr_text_is(word, "windows") ? TR_CALL_QUOTING_WINDOWS : TR_CALL_QUOTING_AUTO;
}

enum tr_quoting tr_call_quoting(const struct tr_call_config *config, struct tr_text directory)
{
	if (config->quoting == TR_CALL_QUOTING_AUTO)
		return tr_path_has_drive(directory) ? TR_QUOTING_WINDOWS : TR_QUOTING_GNU;
	return config->quoting == TR_CALL_QUOTING_GNU ? TR_QUOTING_GNU : TR_QUOTING_WINDOWS;
}

/* The stage for the call filter. */
static enum tr_stage stage_of(const struct tr_call *call)
{
	switch (call->tool) {
	case TR_TOOL_DRIVER:
	case TR_TOOL_DRIVER_CL:
		/* libtool is a script, and the calls that it runs are in the trace */
		return call->invocation.mode == TR_MODE_QUERY || call->libtool ? TR_STAGE_OTHER
									       : TR_STAGE_DRIVER;
	case TR_TOOL_COMPILER:
		return TR_STAGE_COMPILER;
	case TR_TOOL_ASSEMBLER:
	case TR_TOOL_PREPROCESSOR:
	case TR_TOOL_HELPER:
		return TR_STAGE_ASSEMBLER;
	case TR_TOOL_LINKER:
		return TR_STAGE_LINKER;
	case TR_TOOL_COLLECTOR:
		return TR_STAGE_COLLECTOR;
	case TR_TOOL_ARCHIVER:
		return TR_STAGE_TOOL;
	default:
		return TR_STAGE_OTHER;
	}
}

/* Finds the program after the launchers, and sets its tool and rules. Returns its index. */
static size_t find_program(struct tr_call *call, const struct tr_call_config *config)
{
	const struct tr_command *command = &call->command;
	enum tr_tool first = tr_tool_of_name(tr_command_program(command));
	size_t at = 0;

	if (first == TR_TOOL_LAUNCHER || first == TR_TOOL_LIBTOOL || first == TR_TOOL_NONE)
		at = count_launchers(command->argv, command->argc, &call->libtool);
	struct tr_text program = at == 0	      ? tr_command_program(command)
				 : at < command->argc ? command->argv[at]
						      : TR_TEXT("");
	call->rules = &tr_respfile_usual;
	call->tool = at == 0 ? first : tr_tool_of_name(program);
	if (!config->tools)
		return at;
	call->rules = tr_tool_config_find(config->tools, program);
	if (!call->rules)
		call->tool = TR_TOOL_NONE;
	else if (call->tool == TR_TOOL_NONE && !tr_tool_config_takes_all(config->tools))
		call->tool = TR_TOOL_DRIVER; /* the configuration lists compilers */
	return at;
}

/* Expands the response files of the program and its arguments. */
static enum tr_status expand(struct tr_call *call, size_t at, const struct tr_call_config *config,
			     struct tr_arena *arena, struct tr_error *err)
{
	const struct tr_command *command = &call->command;
	struct tr_text directory = command->directory.data ? command->directory : TR_TEXT("");
	struct tr_respfile_source source = { directory, command->respfile, &config->roots,
					     tr_call_quoting(config, directory) };

	return tr_respfile_expand(command->argv + at, command->argc - at, call->rules, &source,
				  arena, &call->expansion, err);
}

enum tr_status tr_call_read(struct tr_record *record, const struct tr_call_config *config,
			    struct tr_call *call, struct tr_error *err)
{
	*call = (struct tr_call){ .tool = TR_TOOL_NONE, .stage = TR_STAGE_OTHER };
	if (is_no_tool(record, config))
		return TR_OK;
	enum tr_status status = tr_command_read(record, &call->command, err);
	if (status == TR_FATAL)
		return status;
	if (status == TR_WARN && !call->command.executable.data)
		return TR_OK; /* the program is unknown */
	size_t at = find_program(call, config);
	if (call->tool == TR_TOOL_NONE || at >= call->command.argc)
		call->tool = status == TR_WARN ? call->tool : TR_TOOL_NONE;
	call->stage = stage_of(call);
	if (call->tool == TR_TOOL_NONE || status != TR_OK)
		return call->tool == TR_TOOL_NONE ? TR_OK : status;
	status = expand(call, at, config, record->arena, err);
	if (status != TR_OK)
		return status;
	if (!tr_invocation_parse(call->tool, call->expansion.words, call->expansion.count,
				 record->arena, &call->invocation))
		return tr_error_memory(err);
	call->invocation.launchers = at;
	call->tool = call->invocation.tool;
	call->stage = stage_of(call);
	return TR_OK;
}

/* cl names the program after its first file. */
static bool put_cl_product(const struct tr_invocation *invocation, struct tr_buffer *name)
{
	for (size_t i = 1; i < invocation->count; i++) {
		const struct tr_part *part = &invocation->parts[i];
		if (part->role != TR_ROLE_SOURCE && part->role != TR_ROLE_INPUT)
			continue;
		struct tr_text base = tr_path_base(part->file);
		base.len -= tr_path_extension(base).len;
		tr_buffer_put_text(name, base);
		tr_buffer_put_literal(name, ".exe");
		break;
	}
	return !name->failed;
}

/* True if the call links something, or may link files that a response file names. */
static bool links(const struct tr_call *call)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool may = call->tool == TR_TOOL_DRIVER || call->tool == TR_TOOL_DRIVER_CL ||
		   call->tool == TR_TOOL_LINKER || call->tool == TR_TOOL_COLLECTOR;

	if (!may || call->libtool)
		return false;
	if (invocation->inputs || invocation->sources)
		return invocation->mode == TR_MODE_LINK;
	return call->expansion.missing;
}

bool tr_call_product(const struct tr_call *call, struct tr_arena *arena, struct tr_text *product)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;
	struct tr_text given = cl ? invocation->product : invocation->output;
	struct tr_buffer name = TR_BUFFER_INIT, path = TR_BUFFER_INIT;

	*product = (struct tr_text){ NULL, 0 };
	if (!links(call))
		return true;
	if (given.data)
		tr_buffer_put_text(&name, given);
	else if (cl)
		put_cl_product(invocation, &name);
	else if (tr_text_is(tr_tool_base(tr_command_program(&call->command)), "armlink"))
		tr_buffer_put_literal(&name, "__image.axf");
	else
		tr_buffer_put_literal(&name, "a.out");
	if (given.data || !call->expansion.missing)
		tr_path_join(call->command.directory.data ? call->command.directory : TR_TEXT(""),
			     tr_buffer_text(&name), &path);
	if (!name.failed && !path.failed)
		*product = tr_arena_copy(arena, tr_buffer_text(&path));
	tr_buffer_free(&name);
	tr_buffer_free(&path);
	return product->data;
}

/* ar [-]OPERATION[MODIFIERS] [relpos] [count] ARCHIVE FILE...; armar --create ARCHIVE FILE... */
size_t tr_call_archive(const struct tr_call *call)
{
	const struct tr_word *words = call->expansion.words;
	size_t count = call->expansion.count, i = 1;
	bool adds = false;

	for (; i < count && tr_text_starts(words[i].text, TR_TEXT("--")); i++) {
		adds |= tr_text_is(words[i].text, "--create");
		i += tr_text_is(words[i].text, "--plugin") || tr_text_is(words[i].text, "--target");
	}
	if (adds || i >= count)
		return i < count ? i : count;
	struct tr_text operation = words[i].text;
	for (size_t k = 0; k < operation.len; k++) {
		adds |= operation.data[k] == 'r' || operation.data[k] == 'q';
		i += memchr("abiN", operation.data[k], 4) != NULL;
	}
	return adds && i + 1 < count ? i + 1 : count;
}

/* data NULL: there is none. */
static struct tr_text first_source(const struct tr_invocation *invocation)
{
	for (size_t i = 1; i < invocation->count; i++)
		if (invocation->parts[i].role == TR_ROLE_SOURCE)
			return invocation->parts[i].file;
	return (struct tr_text){ NULL, 0 };
}

/* The object file that a driver makes of a source. data NULL: out of memory. */
static struct tr_text object_of(const struct tr_invocation *invocation, struct tr_text source,
				struct tr_arena *arena)
{
	bool failed = false;
	struct tr_text object = tr_invocation_output(invocation, source, arena, &failed);

	return object.data || failed ? object : tr_invocation_object(invocation, source, arena);
}

/* The file that a call makes; see tr_call_makes. False: out of memory. */
static bool find_made(const struct tr_call *call, struct tr_arena *arena, struct tr_text *makes)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text source = first_source(invocation), output = invocation->output;

	if (call->tool == TR_TOOL_ARCHIVER) {
		size_t i = tr_call_archive(call);
		if (i < call->expansion.count)
			*makes = call->expansion.words[i].text;
		return true;
	}
	if (call->tool == TR_TOOL_COMPILER && source.data)
		output = source;
	else if (call->tool == TR_TOOL_DRIVER_CL && invocation->mode == TR_MODE_LINK)
		output = invocation->product;
	*makes = output.data ? output : source;
	bool compiles = invocation->mode == TR_MODE_COMPILE || invocation->mode == TR_MODE_ASSEMBLY;
	if (output.data || !source.data || !compiles || call->stage != TR_STAGE_DRIVER)
		return true;
	*makes = object_of(invocation, source, arena);
	return makes->data;
}

bool tr_call_makes(struct tr_record *record, struct tr_text *makes)
{
	static const struct tr_call_config config = { .tools = NULL };
	struct tr_call call;
	struct tr_error err;

	*makes = (struct tr_text){ NULL, 0 };
	enum tr_status status = tr_call_read(record, &config, &call, &err);
	if (status == TR_WARN)
		tr_arena_defer(record->arena, &err);
	if (status != TR_OK || call.tool == TR_TOOL_NONE)
		return status != TR_FATAL;
	return find_made(&call, record->arena, makes);
}

enum tr_status tr_call_too_long(const struct tr_call *call, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "left out: its %zu sources with all of its options would take more than "
		     "256 MiB",
		     call->invocation.sources);
	return TR_WARN;
}
