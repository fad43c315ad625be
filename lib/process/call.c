/* SPDX-License-Identifier: MIT */
/*
 * Reads what an exec record means for a build. Most programs of a trace are not build tools, so the
 * name of the program is checked first, before argv is parsed (is_no_tool).
 */
#include "process/call.h"

#include <inttypes.h>
#include <string.h>

#include "process/path.h"

/* Looks up the program that the words from i on call. */
static struct tr_program find_at(const struct tr_compilers *table, const struct tr_text *argv,
				 size_t argc, size_t i)
{
	return tr_program_find(table, argv[i], argv + i + 1, argc - i - 1);
}

/* Returns the number of words at i that are options of a launcher: xcrun -sdk macosx. */
static size_t count_options(const struct tr_program *launcher, const struct tr_text *argv,
			    size_t argc, size_t i)
{
	size_t begin = i;

	while (i < argc && launcher->section->options.count && argv[i].len > 1 &&
	       argv[i].data[0] == '-') {
		struct tr_text name = { argv[i].data + 1, argv[i].len - 1 };
		const struct tr_option_name *option =
			tr_option_find(launcher->table, launcher->section, name);
		i += option && option->place == TR_PLACE_NEXT && i + 1 < argc ? 2 : 1;
	}
	return i - begin;
}

/*
 * Returns the number of words before the program: launchers with their options, or libtool; argc if
 * no program follows. *libtool: libtool compiles.
 */
static size_t count_launchers(const struct tr_compilers *table, const struct tr_text *argv,
			      size_t argc, bool *libtool)
{
	size_t i = 0, words = 0;

	/* libtool is a script, so a shell may precede it */
	while (words < argc && words < 2 &&
	       find_at(table, argv, argc, words).kind != TR_TOOL_LIBTOOL)
		words++;
	*libtool = words < argc && words < 2;
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
	while (i < argc) {
		struct tr_program launcher = find_at(table, argv, argc, i);
		if (launcher.kind != TR_TOOL_LAUNCHER)
			break;
		i++;
		i += count_options(&launcher, argv, argc, i);
		while (i < argc && argv[i].len && memchr(argv[i].data, '=', argv[i].len) &&
		       argv[i].data[0] != '-')
			i++;
	}
	return i;
}

/* True if the arguments may name libtool. Lines of text are searched, not parsed. */
static bool may_be_libtool(struct tr_record *record)
{
	static const char word[] = "libtool";
	struct tr_text text = record->rest;
	struct tr_field *argv;

	if (!record->line.data && (argv = tr_record_field(record, "argv")))
		return argv->value && argv->value->type == TR_LIST && argv->value->count > 1;
	return text.len && memmem(text.data, text.len, word, sizeof word - 1);
}

/*
 * True if the name of the program shows that it is not a build tool. *program: the program of that
 * name; without a table if it was not looked up.
 */
static bool is_no_tool(struct tr_record *record, const struct tr_call_config *config,
		       struct tr_program *program)
{
	struct tr_text path = tr_command_executable(record);

	if (!path.data || (config->tools && tr_tool_config_find(config->tools, path)))
		return false;
	*program = tr_program_find(config->compilers, path, NULL, 0);
	if (config->tools)
		return program->kind != TR_TOOL_LAUNCHER;
	if (program->kind != TR_TOOL_NONE || program->calls)
		return false;
	return !tr_command_is_shell(path) || !may_be_libtool(record);
}

void tr_call_config_free(struct tr_call_config *config)
{
	tr_compilers_free(config->compilers);
	tr_file_roots_free(&config->roots);
}

enum tr_quoting tr_call_quoting(const struct tr_call_config *config,
				const struct tr_section *section, struct tr_text directory)
{
	if (config->quoting == TR_CALL_QUOTING_AUTO)
		return tr_path_has_drive(directory) || (section && section->windows)
			       ? TR_QUOTING_WINDOWS
			       : TR_QUOTING_GNU;
	return config->quoting == TR_CALL_QUOTING_GNU ? TR_QUOTING_GNU : TR_QUOTING_WINDOWS;
}

/* Returns the stage for the call filter. */
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

/* Returns how the program names response files. NULL: out of memory. */
static const struct tr_respfile_rules *rules_of(const struct tr_program *program,
						struct tr_arena *arena)
{
	static const struct tr_respfile_rules none = { NULL, 0 };
	const struct tr_section *section = program->section;

	if (!section)
		return &tr_respfile_usual;
	const struct tr_numbered *list = program->table->respfiles + section->respfiles.begin;
	size_t count = section->respfiles.count;
	if (!count)
		return &none;
	if (count == 1 && list->text.len == 1 && list->number == TR_RESPFILE_ATTACHED &&
	    program->table->texts[list->text.at] == '@')
		return &tr_respfile_usual;
	struct tr_respfile_rules *rules = tr_arena_alloc(arena, sizeof *rules);
	struct tr_respfile_rule *copy = tr_arena_alloc(arena, count * sizeof *copy);
	if (!rules || !copy)
		return NULL;
	for (size_t i = 0; i < count; i++)
		copy[i] =
			(struct tr_respfile_rule){ tr_compilers_text(program->table, list[i].text),
						   list[i].number };
	*rules = (struct tr_respfile_rules){ copy, count };
	return rules;
}

size_t tr_call_find_program(struct tr_call *call, const struct tr_call_config *config,
			    struct tr_arena *arena)
{
	const struct tr_command *command = &call->command;
	const struct tr_compilers *table = config->compilers;
	size_t at = 0, argc = command->argc;
	struct tr_text path = tr_command_program(command);

	/* most were looked up by is_no_tool */
	if (!call->program.table || call->program.calls)
		call->program = argc ? tr_program_find(table, path, command->argv + 1, argc - 1)
				     : tr_program_find(table, path, NULL, 0);
	else if (argc)
		tr_program_follow_mode(&call->program, command->argv + 1, argc - 1);
	enum tr_tool_kind first = call->program.kind;
	if (first == TR_TOOL_LAUNCHER || first == TR_TOOL_LIBTOOL || first == TR_TOOL_NONE)
		at = count_launchers(table, command->argv, argc, &call->libtool);
	/* ccache may be called by the name of a compiler, through a symbolic link */
	bool masked = first == TR_TOOL_LAUNCHER && at == 0 && argc;
	if (at || masked) {
		path = at < argc ? command->argv[at] : TR_TEXT("");
		call->program = at < argc ? find_at(table, command->argv, argc, at)
					  : tr_program_find(table, path, NULL, 0);
	}
	call->path = path;
	call->tool = call->program.kind;
	call->rules = rules_of(&call->program, arena);
	if (!config->tools)
		return at;
	call->rules = tr_tool_config_find(config->tools, path);
	if (!call->rules) {
		call->rules = &tr_respfile_usual;
		call->tool = TR_TOOL_NONE;
	} else if (call->tool == TR_TOOL_NONE && !tr_tool_config_takes_all(config->tools)) {
		/* the configuration lists compilers */
		call->tool = TR_TOOL_DRIVER;
		call->program = tr_program_usual(table, call->tool);
	}
	return at;
}

/* Adds the options from the environment to the arguments. False: out of memory. */
static bool add_options(struct tr_call *call, size_t at, const struct tr_call_config *config,
			struct tr_arena *arena)
{
	const struct tr_call_words *before = &config->before, *after = &config->after;
	struct tr_command *command = &call->command;
	size_t count = command->argc + before->count + after->count;
	struct tr_text *argv, *to;

	if (count == command->argc)
		return true;
	argv = to = tr_arena_alloc(arena, count * sizeof *argv);
	if (!argv)
		return false;
	memcpy(to, command->argv, (at + 1) * sizeof *to);
	to += at + 1;
	for (size_t i = 0; i < before->count; i++)
		*to++ = before->list[i];
	for (size_t i = at + 1; i < command->argc; i++)
		*to++ = command->argv[i];
	for (size_t i = 0; i < after->count; i++)
		*to++ = after->list[i];
	command->argv = argv;
	command->argc = count;
	return true;
}

enum tr_status tr_call_expand(struct tr_call *call, size_t at, const struct tr_call_config *config,
			      struct tr_arena *arena, struct tr_error *err)
{
	const struct tr_command *command = &call->command;
	struct tr_text directory = command->directory.data ? command->directory : TR_TEXT("");
	struct tr_respfile_source source = {
		directory, command->respfile, &config->roots,
		tr_call_quoting(config, call->program.section, directory),
		call->program.section && call->program.section->comments
	};

	return tr_respfile_expand(command->argv + at, command->argc - at, call->rules, &source,
				  arena, &call->expansion, err);
}

enum tr_status tr_call_read(struct tr_record *record, const struct tr_call_config *config,
			    struct tr_call *call, struct tr_error *err)
{
	*call = (struct tr_call){ .tool = TR_TOOL_NONE, .stage = TR_STAGE_OTHER };
	call->unrelated = is_no_tool(record, config, &call->program);
	if (call->unrelated)
		return TR_OK;
	enum tr_status status = tr_command_read(record, &call->command, err);
	if (status == TR_FATAL)
		return status;
	if (status == TR_WARN && !call->command.executable.data)
		return TR_OK; /* the program is unknown */
	size_t at = tr_call_find_program(call, config, record->arena);
	if (!call->rules)
		return tr_error_memory(err);
	if (call->tool == TR_TOOL_NONE || at >= call->command.argc)
		call->tool = status == TR_WARN ? call->tool : TR_TOOL_NONE;
	call->stage = stage_of(call);
	if (call->tool == TR_TOOL_NONE || status != TR_OK)
		return call->tool == TR_TOOL_NONE ? TR_OK : status;
	if (!add_options(call, at, config, record->arena))
		return tr_error_memory(err);
	status = tr_call_expand(call, at, config, record->arena, err);
	if (status != TR_OK)
		return status;
	if (!tr_invocation_parse(&call->program, call->expansion.words, call->expansion.count,
				 record->arena, &call->invocation))
		return tr_error_memory(err);
	/* "link.exe @objects.rsp" links what the file names */
	if (call->expansion.missing)
		call->invocation.mode = call->invocation.mode_with_files;
	call->invocation.launchers = at;
	call->tool = call->invocation.tool;
	call->stage = stage_of(call);
	return TR_OK;
}

/* True if an archiver takes arguments like ar; those of lib.exe are options as for a linker. */
static bool has_ar_notation(const struct tr_call *call)
{
	return call->invocation.program.section->notation == TR_NOTATION_AR;
}

/* True if the call links something, or may link files that a response file names. */
static bool links(const struct tr_call *call)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool may = call->tool == TR_TOOL_DRIVER || call->tool == TR_TOOL_DRIVER_CL ||
		   call->tool == TR_TOOL_LINKER || call->tool == TR_TOOL_COLLECTOR ||
		   (call->tool == TR_TOOL_ARCHIVER && !has_ar_notation(call));

	if (!may || call->libtool)
		return false;
	if (invocation->inputs || invocation->sources)
		return invocation->mode == TR_MODE_LINK;
	return call->expansion.missing;
}

/*
 * The path is absolute, so that a driver and the linker that it runs, whose options differ, give
 * the same path.
 */
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
	else
		tr_invocation_product(invocation, &name);
	/* a missing response file may contain -o, so a default name would be a guess */
	if (given.data || !call->expansion.missing)
		tr_path_join(call->command.directory.data ? call->command.directory : TR_TEXT(""),
			     tr_buffer_text(&name), &path);
	if (!name.failed && !path.failed)
		*product = tr_arena_copy(arena, tr_buffer_text(&path));
	tr_buffer_free(&name);
	tr_buffer_free(&path);
	return product->data;
}

/*
 * ar OPTION... [-]OPERATION[MODIFIERS] OPTION... [relpos] [count] ARCHIVE FILE...; letters may be
 * words of their own (-r -c). armar --create OPTION... ARCHIVE FILE...
 */
size_t tr_call_archive(const struct tr_call *call)
{
	static const char *const valued[] = { "--plugin", "--target",
					      "--output", "--record-libdeps",
					      "--format", "--rsp-quoting",
					      NULL };
	const struct tr_word *words = call->expansion.words;
	size_t count = call->expansion.count, i = 1;
	size_t places = 0; /* words that come before the archive, for the letters so far */
	bool adds = false, begun = false;

	if (!has_ar_notation(call))
		return count;
	for (; i < count; i++) {
		struct tr_text word = words[i].text;
		bool option = word.len > 1 && *word.data == '-';
		if (begun && !option && !places)
			break;
		if (begun && !option) {
			places--;
			continue;
		}
		if (tr_text_is(word, "--") && begun) {
			i++;
			break;
		}
		if (option && word.data[1] == '-') {
			bool create = tr_text_is(word, "--create");
			adds |= create;
			begun |= create;
			i += tr_text_is_among(word, valued);
			continue;
		}
		begun = true;
		for (size_t k = 0; k < word.len; k++) {
			adds |= memchr("rq", word.data[k], 2) != NULL;
			places += memchr("abiN", word.data[k], 4) != NULL;
		}
	}
	i += places;
	return adds && i < count ? i : count;
}

/* Finds the file that a call makes; see tr_call_makes. False: out of memory. */
static bool find_made(const struct tr_call *call, struct tr_arena *arena, struct tr_text *makes)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text source = { NULL, 0 }, output = invocation->output;
	bool failed = false;

	if (call->tool == TR_TOOL_ARCHIVER && has_ar_notation(call)) {
		size_t i = tr_call_archive(call);
		if (i < call->expansion.count)
			*makes = call->expansion.words[i].text;
		return true;
	}
	for (size_t i = 1; i < invocation->count && !source.data; i++)
		if (invocation->parts[i].role == TR_ROLE_SOURCE)
			source = invocation->parts[i].file;
	if (call->tool == TR_TOOL_COMPILER && source.data)
		output = source;
	else if (call->tool == TR_TOOL_DRIVER_CL && invocation->mode == TR_MODE_LINK)
		output = invocation->product;
	*makes = output.data ? output : source;
	bool compiles = invocation->mode == TR_MODE_COMPILE || invocation->mode == TR_MODE_ASSEMBLY;
	if (output.data || !source.data || !compiles || call->stage != TR_STAGE_DRIVER)
		return true;
	*makes = tr_invocation_output(invocation, source, arena, &failed);
	if (!makes->data && !failed && !invocation->program.section->object.len)
		*makes = source;
	else if (!makes->data && !failed)
		*makes = tr_invocation_object(invocation, source, arena);
	return makes->data;
}

bool tr_call_read_makes(struct tr_record *record, struct tr_compilers *compilers,
			struct tr_call *call, struct tr_text *makes)
{
	const struct tr_call_config config = { .compilers = compilers };
	struct tr_error err;

	*makes = (struct tr_text){ NULL, 0 };
	enum tr_status status = tr_call_read(record, &config, call, &err);
	if (status == TR_WARN) {
		tr_arena_defer(record->arena, &err);
		call->command.cut = true;
	}
	if (status != TR_OK || call->tool == TR_TOOL_NONE)
		return status != TR_FATAL;
	return find_made(call, record->arena, makes);
}

bool tr_call_makes(struct tr_record *record, struct tr_compilers *compilers, struct tr_text *makes)
{
	struct tr_call call;

	return tr_call_read_makes(record, compilers, &call, makes);
}

enum tr_status tr_call_too_long(const struct tr_call *call, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_LIMIT,
		     "left out: its %zu sources with all of its options would take more than "
		     "256 MiB",
		     call->invocation.sources);
	return TR_WARN;
}

/* True if a command of an unknown program looks like that of a compiler that compiles. */
static bool looks_like_compile(const struct tr_word *words, size_t count)
{
	static const char *const extensions[] = { ".c", ".cc", ".cpp", ".cxx", ".C",
						  ".S", ".s",  ".asm", ".m",   NULL };
	/* a program that only a shell could expand ($CC) needs no further option */
	bool compiles = false, source = false, typical = tr_text_starts(words->text, TR_TEXT("$"));

	for (size_t i = 1; i < count && !compiles; i++)
		compiles = tr_text_equal(words[i].text, TR_TEXT("-c"));
	for (size_t i = 1; i < count && compiles && !(source && typical); i++) {
		struct tr_text text = words[i].text;
		bool option = text.len > 1 && *text.data == '-';
		source |= !option && tr_text_is_among(tr_path_extension(text), extensions);
		typical |= option && memchr("oIDO", text.data[1], 4);
	}
	return compiles && source && typical;
}

size_t tr_unknown_compilers_count(struct tr_unknown_compilers *unknown, const struct tr_word *words,
				  size_t count)
{
	enum { MOST = sizeof unknown->list / sizeof *unknown->list };
	static const char *const interpreters[] = { "python", "python3", "perl", "ruby", NULL };
	size_t i = 0;

	if (!looks_like_compile(words, count))
		return 0;
	struct tr_text name = tr_tool_base(words[0].text);
	if (!name.len || name.len > TR_PROGRAM_NAME_MAX || tr_command_is_shell(name) ||
	    tr_text_is_among(name, interpreters))
		return 0;
	while (i < unknown->count && !tr_text_is(name, unknown->list[i].name))
		i++;
	if (i == MOST)
		return 0;
	unknown->count += i == unknown->count;
	memcpy(unknown->list[i].name, name.data, name.len);
	unknown->list[i].count++;
	return i + 1;
}

bool tr_unknown_compilers_report(struct tr_unknown_compilers *unknown, struct tr_error *err)
{
	while (unknown->count && !unknown->list[unknown->count - 1].count)
		unknown->count--;
	if (!unknown->count)
		return false;
	const char *name = unknown->list[--unknown->count].name;
	uint64_t count = unknown->list[unknown->count].count;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "unknown program that is called like a compiler: %s, %" PRIu64
		     " time%s; -O compiler=%s=gcc if it has the options of GCC",
		     name, count, count == 1 ? "" : "s", name);
	tr_error_is_note(err);
	return true;
}
