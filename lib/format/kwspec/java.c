/* SPDX-License-Identifier: MIT */
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
#include <string.h>

#include "format/kwspec/kwspec.h"
#include "process/path.h"

bool tr_kwspec_is_javac(const struct tr_call *call)
{
	const struct tr_program *program = &call->program;

	return call->stage == TR_STAGE_DRIVER && program->section &&
	       tr_text_is(tr_compilers_text(program->table, program->section->family), "java");
}

bool tr_kwspec_is_jar(struct tr_text program)
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

void tr_kwspec_put_javac(struct tr_buffer *to, const struct tr_call *call)
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
	tr_kwspec_put_compiler(to, call);
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
		tr_kwspec_put_compiler(to, call);
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

void tr_kwspec_put_jar(struct tr_buffer *to, const struct tr_command *command)
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
	tr_kwspec_put_path(to, directory, jar.archive);
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
		tr_kwspec_put_path(to, tr_buffer_text(&folder), command->argv[i]);
		to->failed |= folder.failed;
		tr_buffer_free(&folder);
		inputs++;
	}
	tr_buffer_put_byte(to, '\n');
	if (!inputs)
		to->len = begin;
}
