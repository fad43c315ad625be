/* SPDX-License-Identifier: MIT */
/*
 * kwinject.out, the build specification of Klocwork. Fields are separated by ";", and a line is a
 * record:
 *
 *	version;108
 *	config;COMPILER;OPTION;...
 *	compile;DIRECTORY;COMPILER;OBJECT;SOURCE;FLAG;...
 *	link;DIRECTORY;OUTPUT;INPUT;...
 *
 * and lines for Java (put_javac). The vendor's pages show "%3B" for a ";" in a field, and nothing
 * else of that kind; "%25", "%0A" and "%0D" follow from it.
 *
 * Path of the data: record -> call (process/call.h) -> lines (append_lines) -> call filter
 * (process/call_filter.h), which decides which calls are written -> bytes. reader.c goes the other
 * way: line -> fields -> command -> record; such a command becomes its line again (put_again).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/map.h"
#include "format/kwspec/kwspec.h"
#include "format/writer_base.h"
#include "process/call.h"
#include "process/path.h"

/* Appends the bytes of a field with its separators encoded. */
static void put_bytes(struct tr_buffer *to, struct tr_text bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		char c = bytes.data[i];
		if (c == ';' || c == '%' || c == '\n' || c == '\r') {
			static const char digits[] = "0123456789ABCDEF";
			char code[] = { '%', digits[c >> 4 & 15], digits[c & 15] };
			tr_buffer_put(to, code, sizeof code);
		} else {
			tr_buffer_put_byte(to, c);
		}
	}
}

void tr_kwspec_put_field(struct tr_buffer *to, struct tr_text bytes)
{
	tr_buffer_put_byte(to, ';');
	put_bytes(to, bytes);
}

/* Appends a path as a field, made absolute with the directory of the call. */
static void put_path(struct tr_buffer *to, struct tr_text directory, struct tr_text path)
{
	struct tr_buffer whole = TR_BUFFER_INIT;

	tr_path_join(directory, path, &whole);
	tr_kwspec_put_field(to, tr_buffer_text(&whole));
	to->failed |= whole.failed;
	tr_buffer_free(&whole);
}

/*
 * Writes an option of other compilers than GCC, Clang and cl under GCC's name: --include_path=DIR.
 * False: it is one of frameworks, whose name is left out, or of GCC itself.
 */
static bool put_by_role(struct tr_buffer *to, const struct tr_part *part, struct tr_text value)
{
	struct tr_text option = part->text, name = option;
	bool apart = part->role == TR_ROLE_INCLUDE;
	const char *written = apart			     ? "-include"
			      : part->role == TR_ROLE_SYSTEM ? "-J"
			      : part->role == TR_ROLE_SEARCH ? "-I"
							     : NULL;

	if (!value.data) {
		value = part->file;
		name.len -= value.data ? (size_t)(option.data + option.len - value.data) : 0;
	}
	/* GCC's own names stay; frameworks are left out */
	if (tr_text_starts(option, TR_TEXT("-i")) || tr_text_starts(option, TR_TEXT("-F")) ||
	    !value.data)
		return false;
	while (name.len && *name.data == '-') {
		name.data++;
		name.len--;
	}
	if (part->role == TR_ROLE_DEFINE)
		written = name.len && (*name.data | 0x20) == 'u' ? "-U" : "-D";
	if (!written)
		return false;
	tr_kwspec_put_field(to, tr_text_from(written));
	if (apart)
		tr_buffer_put_byte(to, ';');
	put_bytes(to, value);
	return true;
}

/*
 * Writes an option that has several names under one of them: -I, or -J for system directories.
 * False: it has only one name.
 */
static bool put_renamed(struct tr_buffer *to, const struct tr_part *part, struct tr_text value)
{
	static const struct {
		const char *option, *written;
		bool apart; /* the value is a field of its own */
	} known[] = {
		/* a name comes after the longer names that begin with it */
		{ "--include-directory-after=", "-J", false },
		{ "--include-directory-after", "-J", false },
		{ "--include-directory=", "-I", false },
		{ "--include-directory", "-I", false },
		{ "-internal-externc-isystem", "-J", false },
		{ "-internal-isystem", "-J", false },
		{ "-cxx-isystem", "-J", false },
		{ "-isystem-after", "-J", false },
		{ "-isystem", "-J", false },
		{ "-idirafter", "-J", false },
		{ "-iquote", "-I", false },
		{ "/external:I", "-J", false },
		{ "-external:I", "-J", false },
		{ "/imsvc", "-J", false },
		{ "-imsvc", "-J", false },
		{ "-I", "-I", false },
		{ "/I", "-I", false },
		{ "--define-macro=", "-D", false },
		{ "--define-macro", "-D", false },
		{ "--undefine-macro=", "-U", false },
		{ "--undefine-macro", "-U", false },
		{ "/D", "-D", false },
		{ "/U", "-U", false },
		{ "--include=", "-include", true },
		{ "--include", "-include", true },
		{ "--imacros", "-imacros", true },
		{ "/FI", "-include", true },
		{ "-FI", "-include", true },
		{ "--std=", "-std=", false },
		{ "/std:", "-std=", false },
		{ "-std:", "-std=", false },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct tr_text option = tr_text_from(known[i].option);
		if (!tr_text_starts(part->text, option))
			continue;
		if (!value.data)
			value = (struct tr_text){ part->text.data + option.len,
						  part->text.len - option.len };
		tr_kwspec_put_field(to, tr_text_from(known[i].written));
		if (known[i].apart)
			tr_buffer_put_byte(to, ';');
		put_bytes(to, value);
		return true;
	}
	return put_by_role(to, part, value);
}

/* value: the word after the option; data NULL: the option has its value in itself, or none. */
static void put_flag(struct tr_buffer *to, const struct tr_part *part, struct tr_text value)
{
	bool joined = part->role == TR_ROLE_DEFINE;

	switch (part->role) {
	case TR_ROLE_SEARCH:
	case TR_ROLE_SYSTEM:
		put_renamed(to, part, value); /* frameworks are left out */
		break;
	case TR_ROLE_DEFINE:
	case TR_ROLE_INCLUDE:
	case TR_ROLE_DIALECT:
		if (put_renamed(to, part, value))
			break;
		tr_kwspec_put_field(to, part->text);
		if (value.data && !joined)
			tr_buffer_put_byte(to, ';');
		if (value.data)
			put_bytes(to, value);
		break;
	default:
		break;
	}
}

/* Appends the flags that Klocwork's own filters keep; all others are left out. */
static void put_flags(struct tr_buffer *to, const struct tr_invocation *invocation)
{
	for (size_t i = 1; i < invocation->count; i++) {
		const struct tr_part *part = &invocation->parts[i];
		bool has_value = i + 1 < invocation->count && part[1].value;
		if (!part->value)
			put_flag(to, part, has_value ? part[1].text : (struct tr_text){ NULL, 0 });
	}
}

/* Appends the object that the call makes of a source. */
static bool put_object(struct tr_buffer *to, const struct tr_call *call, struct tr_text source,
		       struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool failed = false;
	struct tr_text object = tr_invocation_output(invocation, source, arena, &failed);

	if (!object.data && !failed)
		object = tr_invocation_object(invocation, source, arena);
	if (!object.data)
		return false;
	put_path(to, call->command.directory, object);
	return true;
}

/* Appends the compiler of a call as a field, as the call names it. */
static void put_compiler(struct tr_buffer *to, const struct tr_call *call)
{
	struct tr_text compiler = call->path;

	/* a name alone was found in PATH */
	if (compiler.len && memchr(compiler.data, '/', compiler.len))
		put_path(to, call->command.directory, compiler);
	else
		tr_kwspec_put_field(to, compiler);
}

/*
 * Appends the line of a source: directory, compiler, object, source, flags. False: memory is
 * exhausted.
 */
static bool put_compile(struct tr_buffer *to, const struct tr_call *call, struct tr_text source,
			struct tr_text flags, struct tr_arena *arena)
{
	struct tr_text directory = call->command.directory;

	tr_buffer_put_literal(to, "compile");
	tr_kwspec_put_field(to, directory);
	put_compiler(to, call);
	if (!put_object(to, call, source, arena))
		return false;
	tr_kwspec_put_field(to, source);
	tr_buffer_put_text(to, flags);
	tr_buffer_put_byte(to, '\n');
	return true;
}

/*
 * Appends the line of a linked program: directory, product, then its objects and libraries. There
 * is none without these, as when all comes from the standard input. False: memory is exhausted.
 */
static bool put_link(struct tr_buffer *to, const struct tr_call *call, struct tr_text product,
		     struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text directory = call->command.directory;
	size_t begin = to->len;

	tr_buffer_put_literal(to, "link");
	tr_kwspec_put_field(to, directory);
	if (product.len)
		tr_kwspec_put_field(to, product);
	else
		put_path(to, directory, TR_TEXT("a.out"));
	size_t files = to->len;
	for (size_t i = 1; i < invocation->count; i++) {
		const struct tr_part *part = &invocation->parts[i];
		if (part->role == TR_ROLE_SOURCE) {
			if (!put_object(to, call, part->file, arena))
				return false;
		} else if (part->role == TR_ROLE_INPUT && !tr_text_is(part->text, "-")) {
			put_path(to, directory, part->text);
		}
	}
	if (to->len == files)
		to->len = begin;
	else
		tr_buffer_put_byte(to, '\n');
	return true;
}

/*
 * Lines for Java (Klocwork's pages, "Format of the build specification file for Java projects"):
 *
 *	jconfig;COMPILER;-classpath;PATHS;-source;VERSION
 *	jcompile;COMPILER;DIRECTORY;SOURCE
 *	jar;ARCHIVE;INPUT;...
 *
 * A jconfig line applies to the lines that follow. ant runs javac within its own process unless its
 * task has fork="true", so a trace of it has no calls otherwise.
 */

static bool is_javac(const struct tr_call *call)
{
	const struct tr_program *program = &call->program;

	return call->stage == TR_STAGE_DRIVER && program->section &&
	       tr_text_is(tr_compilers_text(program->table, program->section->family), "java");
}

static bool is_jar(struct tr_text program)
{
	return tr_text_is(tr_tool_base(program), "jar");
}

/* The value of the option that begins at a part, if it has one of these names; data NULL: none. */
static struct tr_text value_of(const struct tr_invocation *invocation, size_t i,
			       const char *const *names)
{
	const struct tr_part *part = &invocation->parts[i];
	const char *mark = memchr(part->text.data, '=', part->text.len);
	const char *end = part->text.data + part->text.len;
	struct tr_text none = { NULL, 0 };

	if (!tr_text_is_among(tr_text_span(part->text.data, mark ? mark : end), names))
		return none;
	if (mark)
		return tr_text_span(mark + 1, end);
	return i + 1 < invocation->count && part[1].value ? part[1].text : none;
}

/* Appends a jconfig line, and a jcompile line for each source; or none. */
static void put_javac(struct tr_buffer *to, const struct tr_call *call)
{
	static const char *const paths[] = { "-cp", "-classpath", "--class-path", NULL };
	static const char *const sources[] = { "-source", "--source", "--release", NULL };
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text classpath = { NULL, 0 }, source = { NULL, 0 };

	if (!invocation->sources || invocation->mode > TR_MODE_SYNTAX)
		return;
	for (size_t i = 1; i < invocation->count; i++) {
		if (invocation->parts[i].value)
			continue;
		struct tr_text found = value_of(invocation, i, paths);
		classpath = found.data ? found : classpath;
		found = value_of(invocation, i, sources);
		source = found.data ? found : source;
	}
	tr_buffer_put_literal(to, "jconfig");
	put_compiler(to, call);
	if (classpath.data) {
		tr_kwspec_put_field(to, TR_TEXT("-classpath"));
		tr_kwspec_put_field(to, classpath);
	}
	if (source.data) {
		tr_kwspec_put_field(to, TR_TEXT("-source"));
		tr_kwspec_put_field(to, source);
	}
	tr_buffer_put_byte(to, '\n');
	for (size_t i = 1; i < invocation->count; i++) {
		if (invocation->parts[i].role != TR_ROLE_SOURCE)
			continue;
		tr_buffer_put_literal(to, "jcompile");
		put_compiler(to, call);
		tr_kwspec_put_field(to, call->command.directory);
		tr_kwspec_put_field(to, invocation->parts[i].file);
		tr_buffer_put_byte(to, '\n');
	}
}

/* The options of jar that matter, and the index of the first word after them. */
struct jar {
	bool writes; /* it creates or updates */
	struct tr_text archive;
	size_t next;
};

/* Takes letters, whose values are the next words in their order: cfm ARCHIVE MANIFEST. */
static void take_letters(struct jar *jar, const struct tr_command *command, struct tr_text letters)
{
	for (size_t i = 0; i < letters.len; i++) {
		char c = letters.data[i];
		jar->writes |= c == 'c' || c == 'u';
		if (c != 'f' && c != 'm' && c != 'e')
			continue;
		if (c == 'f' && jar->next < command->argc)
			jar->archive = command->argv[jar->next];
		jar->next++;
	}
}

/* Takes an option with two dashes. */
static void take_long(struct jar *jar, const struct tr_command *command, struct tr_text word)
{
	static const char *const valued[] = { "--manifest",	  "--main-class",
					      "--module-version", "--hash-modules",
					      "--module-path",	  "--release",
					      "--date",		  NULL };
	const char *mark = memchr(word.data, '=', word.len), *end = word.data + word.len;
	struct tr_text name = tr_text_span(word.data, mark ? mark : end);
	bool file = tr_text_is(name, "--file");

	jar->writes |= tr_text_is(name, "--create") || tr_text_is(name, "--update");
	if (file && mark)
		jar->archive = tr_text_span(mark + 1, end);
	else if (file && jar->next < command->argc)
		jar->archive = command->argv[jar->next];
	jar->next += !mark && (file || tr_text_is_among(name, valued));
}

/* Appends a jar line if the command writes an archive. */
static void append_jar(struct tr_buffer *to, const struct tr_command *command)
{
	struct tr_text directory = command->directory;
	struct jar jar = { .next = 1 };
	size_t begin = to->len, inputs = 0;

	/* the first word may have no dash */
	for (bool first = true; jar.next < command->argc; first = false) {
		struct tr_text word = command->argv[jar.next];
		bool dash = word.len > 1 && *word.data == '-';
		if ((!dash && !first) || tr_text_is(word, "-C"))
			break;
		jar.next++;
		if (tr_text_starts(word, TR_TEXT("--")))
			take_long(&jar, command, word);
		else
			take_letters(&jar, command, word);
	}
	if (!jar.writes || !jar.archive.data)
		return;
	tr_buffer_put_literal(to, "jar");
	put_path(to, directory, jar.archive);
	for (size_t i = jar.next; i < command->argc; i++) {
		struct tr_text word = command->argv[i];
		struct tr_buffer folder = TR_BUFFER_INIT;
		if (tr_text_is(word, "--release") && i + 1 < command->argc) {
			i++;
			continue;
		}
		/* -C FOLDER INPUT */
		bool moved = tr_text_is(word, "-C") && i + 2 < command->argc;
		if (moved)
			tr_path_join(directory, command->argv[i + 1], &folder);
		else
			tr_buffer_put_text(&folder, directory);
		i += moved ? 2 : 0;
		put_path(to, tr_buffer_text(&folder), command->argv[i]);
		to->failed |= folder.failed;
		tr_buffer_free(&folder);
		inputs++;
	}
	tr_buffer_put_byte(to, '\n');
	if (!inputs)
		to->len = begin;
}

/* Appends a link line for a call that puts files into an archive. */
static void put_archive(struct tr_buffer *to, const struct tr_call *call)
{
	size_t count = call->expansion.count, i = tr_call_archive(call);
	struct tr_text directory = call->command.directory;

	if (i + 1 >= count)
		return;
	tr_buffer_put_literal(to, "link");
	tr_kwspec_put_field(to, directory);
	for (; i < count; i++)
		put_path(to, directory, call->expansion.words[i].text);
	tr_buffer_put_byte(to, '\n');
}

/* A line for each source. TR_WARN: they are too long. */
static enum tr_status put_compiles(struct tr_buffer *to, const struct tr_call *call,
				   struct tr_arena *arena, struct tr_error *err)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_buffer flags = TR_BUFFER_INIT;
	enum tr_status status = TR_OK;
	size_t begin = to->len;

	put_flags(&flags, invocation);
	if (flags.failed)
		status = tr_error_memory(err);
	for (size_t i = 1; i < invocation->count && status == TR_OK; i++) {
		const struct tr_part *part = &invocation->parts[i];
		/* Klocwork does not read the sources of assemblers */
		if (part->role != TR_ROLE_SOURCE || tr_path_is_assembly(part->file))
			continue;
		if (!put_compile(to, call, part->file, tr_buffer_text(&flags), arena))
			status = tr_error_memory(err);
		else if (to->len - begin > TR_CALL_TEXT_MAX)
			status = tr_call_too_long(call, err);
	}
	tr_buffer_free(&flags);
	return status;
}

/*
 * Appends the lines of a call. product: the file that it links (tr_call_product). TR_WARN: the
 * lines would be too long, and none is appended. TR_FATAL: memory is exhausted.
 */
static enum tr_status append_lines(const struct tr_call *call, struct tr_text product,
				   struct tr_arena *arena, struct tr_buffer *to,
				   struct tr_error *err)
{
	const struct tr_invocation *invocation = &call->invocation;
	bool driver = call->stage == TR_STAGE_DRIVER || call->stage == TR_STAGE_COMPILER;
	enum tr_status status = TR_OK;
	size_t begin = to->len;

	if (call->tool == TR_TOOL_ARCHIVER)
		put_archive(to, call);
	if (is_javac(call))
		put_javac(to, call);
	if (driver && invocation->mode <= TR_MODE_SYNTAX && !invocation->program.section->foreign)
		status = put_compiles(to, call, arena, err);
	if (status == TR_OK && product.data && (invocation->inputs || invocation->sources) &&
	    !put_link(to, call, product, arena))
		status = tr_error_memory(err);
	if (status == TR_WARN)
		to->len = begin;
	return to->failed ? tr_error_memory(err) : status;
}

/*
 * The lines of commands that reader.c made of a specification. They are the reverse of what it does
 * there, because a compiler may be unknown, and a flag or an input have no meaning here.
 */

/* Appends a flag, which may be two words. Returns the index of its last word. */
static size_t put_flag_again(struct tr_buffer *to, const struct tr_text *argv, size_t i, size_t end,
			     bool cl)
{
	struct tr_text flag = argv[i];
	const char *lead = "";

	if (!cl && tr_text_is(flag, "-isystem") && i + 1 < end) {
		lead = "-J";
		flag = argv[++i];
	} else if (cl && tr_text_skip(&flag, TR_TEXT("/external:I"))) {
		lead = "-J";
	} else if (cl && tr_text_skip(&flag, TR_TEXT("/std:"))) {
		lead = "-std=";
	} else if (cl && tr_text_skip(&flag, TR_TEXT("/FI"))) {
		lead = "-include;";
	}
	tr_buffer_put_byte(to, ';');
	tr_buffer_put_text(to, tr_text_from(lead));
	put_bytes(to, flag);
	return i;
}

/* Appends a compile line. False: the words are not as reader.c has them. */
static bool put_compile_again(struct tr_buffer *to, const struct tr_command *command)
{
	static const char *const stops[] = { "-c", "-S", NULL };
	static const char *const languages[] = { "c", "c++", NULL };
	const struct tr_text *argv = command->argv;
	size_t end = command->argc;

	if (end < 4)
		return false;
	struct tr_text object = argv[end - 1];
	bool cl = !tr_text_is(argv[end - 2], "-o");
	if (cl && !tr_text_skip(&object, TR_TEXT("/Fo")))
		return false;
	end -= cl ? 1 : 2;
	struct tr_text source = argv[--end];
	if (cl)
		tr_text_skip(&source, TR_TEXT("/Tp"));
	if (end > 3 && tr_text_is(argv[end - 2], "-x") &&
	    tr_text_is_among(argv[end - 1], languages) && tr_text_is_among(argv[end - 3], stops))
		end -= 2;
	if (end > 1 && tr_text_is_among(argv[end - 1], stops))
		end--;
	tr_buffer_put_literal(to, "compile");
	tr_kwspec_put_field(to, command->directory);
	tr_kwspec_put_field(to, argv[0]);
	tr_kwspec_put_field(to, object);
	tr_kwspec_put_field(to, source);
	for (size_t i = 1; i < end; i++)
		i = put_flag_again(to, argv, i, end, cl);
	tr_buffer_put_byte(to, '\n');
	return true;
}

enum { PRODUCT = 2 }; /* the first two words of a link are the program and its option */

/* As put_compile_again, for a link line. */
static bool put_link_again(struct tr_buffer *to, const struct tr_command *command)
{
	if (command->argc <= PRODUCT)
		return false;
	tr_buffer_put_literal(to, "link");
	tr_kwspec_put_field(to, command->directory);
	for (size_t i = PRODUCT; i < command->argc; i++)
		tr_kwspec_put_field(to, command->argv[i]);
	tr_buffer_put_byte(to, '\n');
	return true;
}

/*
 * Lines "config;COMPILER;OPTION;..." have the macros that a compiler predefines and the directories
 * that it searches. Only the compiler knows them, so they come from a specification that kwinject
 * made where it could run the compiler.
 */

enum { CONFIG_MAX = 64 << 20 };

/* Appends the config lines of a specification, each with LF. */
static void put_lines(struct tr_text text, struct tr_buffer *to)
{
	const char *p = text.data, *end = p + text.len;

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_text line = tr_text_span(p, lf ? lf : end);
		p = lf ? lf + 1 : end;
		if (line.len && line.data[line.len - 1] == '\r')
			line.len--;
		if (!tr_text_starts(line, TR_TEXT("config;")))
			continue;
		tr_buffer_put_text(to, line);
		tr_buffer_put_byte(to, '\n');
	}
}

/*
 * Appends the config lines of the specification at path. False: err is filled.
 */
static bool read_config(struct tr_text path, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	bool read = tr_file_read(path, CONFIG_MAX, &text, err);

	if (read)
		put_lines(tr_buffer_text(&text), to);
	tr_buffer_free(&text);
	if (read && to->failed)
		tr_error_memory(err);
	else if (read && !to->len)
		tr_error_set(err, TR_CAUSE_USAGE, "%.*s: no line 'config;...' in it",
			     TR_SHOWN(path, 200));
	if (read && !to->failed && to->len)
		return true;
	tr_error_name(err, TR_TEXT("-O config"));
	return false;
}

struct writer {
	struct tr_writer base;
	struct tr_call_config calls;
	struct tr_call_filter filter; /* of the segment */
	struct tr_buffer lines;	      /* of the record */
	struct tr_buffer config;      /* lines after the version */
	struct tr_buffer java;	      /* the last jconfig line */
	bool probes;
	struct tr_map probed;	/* compilers that were run; owned */
	uint64_t failed_probes; /* number of compilers without a config line */
	struct tr_text first_failed;
	const char *reason; /* of the first of them */
	bool begun;
};

static const struct tr_text own_version = TR_TEXT("108");

/* A specification begins with its version, even an empty one. */
static void begin(struct writer *writer, struct tr_text version)
{
	if (writer->begun)
		return;
	writer->begun = true;
	tr_output_put_literal(writer->base.out, "version;");
	tr_output_put_text(writer->base.out, version);
	tr_output_put_literal(writer->base.out, "\n");
	tr_output_put_text(writer->base.out, tr_buffer_text(&writer->config));
}

/* Writes the lines of a call that the filter has chosen. */
static bool emit(void *context, struct tr_text lines)
{
	struct writer *writer = context;

	begin(writer, own_version);
	writer->base.entries = writer->base.entries || lines.len;
	if (tr_text_starts(lines, TR_TEXT("jconfig"))) {
		const char *end = lines.data + lines.len;
		const char *lf = memchr(lines.data, '\n', lines.len);
		struct tr_text line = tr_text_span(lines.data, lf + 1);
		/* it applies until the next one */
		if (tr_text_equal(line, tr_buffer_text(&writer->java)))
			lines = tr_text_span(lf + 1, end);
		writer->java.len = 0;
		tr_buffer_put_text(&writer->java, line);
	}
	tr_output_put_text(writer->base.out, lines);
	return !writer->java.failed;
}

/* Probes the compiler of a call, once for each compiler. False: memory is exhausted. */
static bool probe(struct writer *writer, const struct tr_call *call)
{
	const struct tr_section *section = call->program.section;
	struct tr_buffer path = TR_BUFFER_INIT, line = TR_BUFFER_INIT;
	struct tr_text compiler = call->path, *own;

	if (!writer->probes || call->stage != TR_STAGE_DRIVER || !call->invocation.sources ||
	    !section || section->notation != TR_NOTATION_GNU || section->foreign)
		return true;
	if (compiler.len && memchr(compiler.data, '/', compiler.len))
		tr_path_join(call->command.directory, compiler, &path);
	else
		tr_buffer_put_text(&path, compiler);
	compiler = tr_buffer_text(&path);
	if (path.failed || tr_map_get(&writer->probed, compiler)) {
		tr_buffer_free(&path);
		return !path.failed;
	}
	own = malloc(sizeof *own + compiler.len);
	bool fine = own;
	if (own) {
		*own = (struct tr_text){ (char *)(own + 1), compiler.len };
		memcpy(own + 1, compiler.data, compiler.len);
		fine = tr_map_put(&writer->probed, *own, own);
	}
	const char *reason = fine ? tr_kwspec_probe(*own, &line) : NULL;
	fine &= !line.failed;
	if (fine && !reason) {
		begin(writer, own_version);
		tr_output_put_text(writer->base.out, tr_buffer_text(&line));
	} else if (fine && !writer->failed_probes++) {
		writer->first_failed = *own;
		writer->reason = reason;
	}
	tr_buffer_free(&path);
	tr_buffer_free(&line);
	return fine;
}

/* Reads a command of jar, and makes its line. */
static enum tr_status put_jar(struct writer *writer, struct tr_record *record,
			      struct tr_command *command, struct tr_error *err)
{
	enum tr_status status = tr_command_read(record, command, err);

	if (status != TR_OK || !tr_command_is_whole(command))
		return status;
	append_jar(&writer->lines, command);
	return writer->lines.failed ? tr_error_memory(err) : TR_OK;
}

/*
 * Writes the line of a command that was read from a specification. A link waits for the end, as
 * those of linkers without a parent do. TR_END: the command is another one.
 */
static enum tr_status put_again(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	bool links = tr_record_field(record, "flagged"); /* its program was guessed */
	struct tr_text product = { NULL, 0 };
	struct tr_command command;
	enum tr_status status = tr_command_read(record, &command, err);

	if (status != TR_OK || !tr_command_is_whole(&command))
		return status == TR_FATAL ? status : TR_END;
	tr_buffer_reset(&writer->lines);
	if (!(links ? put_link_again : put_compile_again)(&writer->lines, &command))
		return TR_END;
	if (links && tr_text_is(command.argv[0], "ld"))
		product = command.argv[PRODUCT];
	enum tr_call_verdict verdict = tr_call_filter_put(
		&writer->filter, record, product.data ? TR_STAGE_LINKER : TR_STAGE_TOOL, product,
		tr_buffer_text(&writer->lines), emit, writer);
	return writer->lines.failed || verdict == TR_CALL_FAILED ? tr_error_memory(err) : TR_OK;
}

/*
 * Makes the lines of a call and passes them to the filter, which decides whether the call is part
 * of another one. Missing information is reported only for calls that would have a line.
 */
static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_call call;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	enum tr_status status = tr_call_read(record, &writer->calls, &call, err);
	if (status != TR_OK)
		return status;
	bool whole = tr_command_is_whole(&call.command);
	if (whole && !probe(writer, &call))
		return tr_error_memory(err);
	status = writer->base.faithful ? put_again(writer, record, err) : TR_END;
	if (status != TR_END)
		return status;
	status = TR_OK;
	tr_buffer_reset(&writer->lines);
	struct tr_text product = { NULL, 0 };
	if (call.tool != TR_TOOL_NONE && !tr_call_product(&call, record->arena, &product))
		return tr_error_memory(err);
	if (whole && call.tool != TR_TOOL_NONE)
		status = append_lines(&call, product, record->arena, &writer->lines, err);
	else if (call.tool == TR_TOOL_NONE && is_jar(tr_command_executable(record)))
		status = put_jar(writer, record, &call.command, err);
	if (status == TR_FATAL)
		return status;
	enum tr_call_verdict verdict =
		tr_call_filter_put(&writer->filter, record, call.stage, product,
				   tr_buffer_text(&writer->lines), emit, writer);
	if (verdict == TR_CALL_FAILED)
		return tr_error_memory(err);
	if (verdict == TR_CALL_HIDDEN || call.stage == TR_STAGE_OTHER)
		return TR_OK;
	if (status != TR_OK)
		return status;
	if (whole)
		return tr_respfile_report(&call.expansion.left, &writer->calls.roots, err);
	return tr_command_left_out(&call.command, err);
}

/*
 * Writes a line that the reader kept unchanged. False: the record is another one. A file has one
 * version, that of the first specification.
 */
static bool put_kept(struct writer *writer, struct tr_record *record)
{
	if (!tr_text_is(record->kind, "meta") || record->name.type != TR_CELL_TEXT)
		return false;
	struct tr_text word = record->name.text, value = tr_command_string(record, "value");
	bool version = writer->base.faithful && !writer->begun && tr_text_is(word, "version");
	if (!(version || tr_kwspec_is_kept(word)) || !value.data ||
	    memchr(value.data, '\n', value.len))
		return false;
	begin(writer, version ? value : own_version);
	if (version)
		return true;
	/* it applies to the lines that follow, in place of the last one */
	if (tr_text_is(word, "jconfig"))
		tr_buffer_reset(&writer->java);
	tr_output_put_text(writer->base.out, word);
	tr_output_put_literal(writer->base.out, ";");
	tr_output_put_text(writer->base.out, value);
	tr_output_put_literal(writer->base.out, "\n");
	return true;
}

/* Executions have a place in a specification, and lines that were kept. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	if (put_kept(tr_container(base, struct writer, base), record))
		return TR_OK;
	if (!tr_text_is(record->kind, "exec"))
		return TR_END;
	struct writer *writer = tr_container(base, struct writer, base);
	return put_exec(writer, record, err);
}

/* Writes the pending calls of the filter. */
static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	return tr_call_filter_end(&writer->filter, emit, writer) ? TR_OK : tr_error_memory(err);
}

/* A stream without calls gives a specification with its version alone. */
static enum tr_status close_specification(struct tr_writer *base, struct tr_error *err)
{
	(void)err;
	begin(tr_container(base, struct writer, base), own_version);
	return TR_OK;
}

static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	struct tr_text first = writer->first_failed;

	if (!writer->failed_probes)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "-O probe: compilers without a config line: %" PRIu64 "; '%.*s': %s",
		     writer->failed_probes, TR_SHOWN(first, 200), writer->reason);
	tr_error_is_note(err);
	writer->failed_probes = 0;
	return TR_WARN;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	size_t position = 0;
	void *compiler;

	tr_call_filter_free(&writer->filter);
	tr_buffer_free(&writer->lines);
	tr_buffer_free(&writer->config);
	tr_buffer_free(&writer->java);
	while ((compiler = tr_map_next(&writer->probed, &position)))
		free(compiler);
	tr_map_free(&writer->probed);
	tr_call_config_free(&writer->calls);
}

static const struct tr_writer_steps steps = {
	.format = "kwspec",
	.empty = "no command here compiles or links: the specification has no entries",
	.put = put_record,
	.end = end_segment,
	.close = close_specification,
	.report = report,
	.discard = discard,
};

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	struct tr_text path = tr_setting_get(&config->settings, "config", "");

	if (!writer)
		return NULL;
	writer->filter = (struct tr_call_filter)TR_CALL_FILTER_INIT;
	if (!tr_setting_get_calls(&config->settings, &writer->calls, err) ||
	    (path.len && !read_config(path, &writer->config, err))) {
		tr_writer_free(&writer->base);
		return NULL;
	}
	writer->probes = tr_text_is(tr_setting_get(&config->settings, "probe", "no"), "yes");
	return &writer->base;
}

static const char *const extensions[] = { ".out", NULL };

static const struct tr_format_option options[] = {
	{ "config", "FILE", false, true, "copy the config lines of this specification" },
	{ "probe", "no|yes", false, true,
	  "run the compilers named by the trace to make config lines (default no)" },
	TR_CALL_OPTIONS,
	TR_COMPILER_OPTIONS(true, true),
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_kwspec = {
	.name = "kwspec",
	.summary = "build specification of Klocwork, kwinject.out",
	.exact = "-",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES,
	.extensions = extensions,
	.options = options,
	.bid = tr_kwspec_bid,
	.open = tr_kwspec_open,
	.create = create,
	.default_style = "tree",
};
