/* SPDX-License-Identifier: MIT */
/*
 * Runs the cases of tests/data/process: command.cases, path.cases, call.cases, respfile.cases and
 * environment.cases. A line "< OPERATION ARGUMENTS" is executed, and what it prints is compared
 * with the lines "> TEXT" after it; the operations are described at the top of each file.
 */
#include <stdlib.h>
#include <string.h>

#include "process/call.h"
#include "process/environment.h"
#include "process/path.h"
#include "record/literal.h"
#include "process/tree.h"
#include "tap.h"

enum { MOST = 64 };

struct runner {
	struct tr_arena arena;
	struct tr_buffer got, want;
	struct tr_buffer name, operation; /* of the present case, for messages */
	struct tr_environments *pool;
	struct tr_environment *envs[MOST]; /* those of the present case, from 1; 0 is NULL */
	size_t env_count;
};

/* Replaces %hh by that byte. */
static struct tr_text unescape(struct tr_text text, struct tr_arena *arena)
{
	char *bytes = tr_arena_alloc(arena, text.len + 1), *to = bytes;

	for (size_t i = 0; i < text.len; i++) {
		char digits[3] = { 0 };
		if (text.data[i] == '%' && i + 2 < text.len) {
			memcpy(digits, text.data + i + 1, 2);
			*to++ = (char)strtoul(digits, NULL, 16);
			i += 2;
		} else {
			*to++ = text.data[i];
		}
	}
	return (struct tr_text){ bytes, (size_t)(to - bytes) };
}

/* The reverse: control characters, '%' and bytes beyond ASCII become %hh. */
static void put_escaped(struct tr_text text, struct tr_buffer *to)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		char escaped[4];
		if (c >= 0x20 && c < 0x7f && c != '%') {
			tr_buffer_put_byte(to, (char)c);
			continue;
		}
		snprintf(escaped, sizeof escaped, "%%%02x", c);
		tr_buffer_put(to, escaped, 3);
	}
}

static void put_string(const char *text, struct tr_buffer *to)
{
	tr_buffer_put_text(to, tr_text_from(text));
}

static void put_bracketed(struct tr_text text, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '[');
	put_escaped(text, to);
	tr_buffer_put_byte(to, ']');
}

/* Takes the first word off the text, up to a blank. */
static struct tr_text take(struct tr_text *rest)
{
	const char *blank = memchr(rest->data, ' ', rest->len);
	const char *end = rest->data + rest->len;
	struct tr_text word = tr_text_span(rest->data, blank ? blank : end);

	*rest = tr_text_span(blank ? blank + 1 : end, end);
	return word;
}

/* Takes a word that is a number; another one is 0. */
static uint64_t take_number(struct tr_text *rest)
{
	uint64_t number = 0;

	tr_decimal_read(take(rest), UINT64_MAX, &number);
	return number;
}

/* Command lines. */

static void split(struct runner *r, struct tr_text kind, struct tr_text rest)
{
	struct tr_text text = unescape(rest, &r->arena);
	struct tr_words words = { text.data,	  text.data + text.len,
				  TR_QUOTING_GNU, tr_text_is(kind, "gnu-comments"),
				  false,	  false };
	struct tr_buffer word = TR_BUFFER_INIT;

	if (tr_text_is(kind, "windows"))
		words.quoting = TR_QUOTING_WINDOWS;
	else if (tr_text_is(kind, "command"))
		words.quoting = TR_QUOTING_COMMAND;
	for (; tr_words_next(&words, &word); tr_buffer_reset(&word))
		put_bracketed(tr_buffer_text(&word), &r->got);
	tr_buffer_free(&word);
	tr_buffer_put_byte(&r->got, '\n');
}

static bool read_record(struct runner *r, struct tr_text line, struct tr_record *record)
{
	struct tr_error err;
	struct tr_buffer with_lf = TR_BUFFER_INIT;

	tr_buffer_put_text(&with_lf, line);
	tr_buffer_put_byte(&with_lf, '\n');
	struct tr_text copy = tr_arena_copy(&r->arena, tr_buffer_text(&with_lf));
	tr_buffer_free(&with_lf);
	tr_record_init(record, &r->arena);
	return ok(tr_record_from_line(record, copy, &err) && tr_record_split(record, &err) == TR_OK,
		  "a record: %.*s", (int)line.len, line.data);
}

static void show(struct runner *r, struct tr_text rest)
{
	struct tr_record record;
	struct tr_buffer shown = TR_BUFFER_INIT;
	size_t limit = (size_t)take_number(&rest);

	if (read_record(r, unescape(rest, &r->arena), &record) &&
	    tr_command_show(&record, limit, &shown))
		put_escaped(tr_buffer_text(&shown), &r->got);
	tr_buffer_free(&shown);
	tr_buffer_put_byte(&r->got, '\n');
}

static void field(struct runner *r, struct tr_text operation, struct tr_text rest)
{
	struct tr_record record;
	struct tr_text key = take(&rest), string;
	char name[16];

	snprintf(name, sizeof name, "%.*s", (int)key.len, key.data);
	if (!read_record(r, unescape(rest, &r->arena), &record))
		return;
	uint64_t number = tr_command_number(&record, name);
	string = tr_command_string(&record, name);
	if (tr_text_is(operation, "number") && number != TR_NO_POSITION)
		tr_buffer_put_decimal(&r->got, number);
	else if (tr_text_is(operation, "string") && string.data)
		put_bracketed(string, &r->got);
	else
		tr_buffer_put_byte(&r->got, '-');
	tr_buffer_put_byte(&r->got, '\n');
}

static void put_quoted(struct runner *r, struct tr_text text,
		       void (*quote)(struct tr_text bytes, struct tr_buffer *to))
{
	struct tr_buffer quoted = TR_BUFFER_INIT;

	quote(unescape(text, &r->arena), &quoted);
	put_escaped(tr_buffer_text(&quoted), &r->got);
	tr_buffer_put_byte(&r->got, '\n');
	tr_buffer_free(&quoted);
}

/* Paths. */

static void path(struct runner *r, struct tr_text operation, struct tr_text rest)
{
	struct tr_buffer joined = TR_BUFFER_INIT;
	struct tr_text text = rest, directory;

	if (tr_text_is(operation, "join")) {
		directory = take(&rest);
		if (tr_text_is(directory, "-"))
			directory.len = 0;
		tr_path_join(directory, rest, &joined);
		text = tr_buffer_text(&joined);
	} else if (tr_text_is(operation, "base")) {
		text = tr_path_base(text);
	} else if (tr_text_is(operation, "extension")) {
		text = tr_path_extension(text);
	} else {
		text = tr_path_is_absolute(text) ? TR_TEXT("yes") : TR_TEXT("no");
	}
	put_bracketed(text, &r->got);
	tr_buffer_put_byte(&r->got, '\n');
	tr_buffer_free(&joined);
}

/* Calls. */

static const char *const tools[] = {
	"none",	    "driver",	    "driver-cl", "compiler", "assembler", "linker",
	"archiver", "preprocessor", "collector", "helper",   "launcher",  "libtool",
};
static const char *const modes[] = {
	"link", "compile", "assembly", "syntax", "preprocess", "query",
};
static const char *const roles[] = {
	"other",   "program", "source", "input",  "output",  "product", "mode",
	"linking", "define",  "search", "system", "include", "dialect", "language",
};

static void put_field(const char *key, struct tr_text value, struct tr_buffer *to)
{
	if (!value.data)
		return;
	put_string(key, to);
	put_bracketed(value, to);
}

/* "gcc -c a.c": a record with these words as argv, in /w. */
static struct tr_text record_of_words(struct runner *r, struct tr_text rest)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_text program = rest;

	program = take(&program);
	tr_buffer_put_literal(&line, "exec\t0\t-\t1\t");
	tr_buffer_put_text(&line, program);
	tr_buffer_put_literal(&line, "\tcwd=\"/w\"\targv=[");
	for (const char *before = "\""; rest.len; before = ",\"") {
		put_string(before, &line);
		struct tr_text word = take(&rest);
		for (size_t i = 0; i < word.len; i++) {
			if (word.data[i] == '\\' || word.data[i] == '"')
				tr_buffer_put_byte(&line, '\\');
			tr_buffer_put_byte(&line, word.data[i]);
		}
		tr_buffer_put_byte(&line, '"');
	}
	tr_buffer_put_byte(&line, ']');
	struct tr_text copy = tr_arena_copy(&r->arena, tr_buffer_text(&line));
	tr_buffer_free(&line);
	return copy;
}

static void put_sources(const struct tr_invocation *invocation, struct tr_buffer *to)
{
	for (size_t i = 0; i < invocation->count; i++) {
		if (invocation->parts[i].role == TR_ROLE_SOURCE)
			put_field(" source=", invocation->parts[i].file, to);
	}
}

static void put_call(struct runner *r, const struct tr_call *call)
{
	struct tr_text product;
	const struct tr_invocation *invocation = &call->invocation;

	put_string(tools[call->tool], &r->got);
	if (call->tool == TR_TOOL_NONE)
		return;
	tr_buffer_put_byte(&r->got, ' ');
	put_string(modes[invocation->mode], &r->got);
	if (call->command.cut)
		put_string(" cut", &r->got);
	if (call->libtool)
		put_string(" libtool", &r->got);
	if (invocation->launchers) {
		put_string(" launchers=", &r->got);
		tr_buffer_put_decimal(&r->got, invocation->launchers);
	}
	put_sources(invocation, &r->got);
	if (invocation->inputs) {
		put_string(" inputs=", &r->got);
		tr_buffer_put_decimal(&r->got, invocation->inputs);
	}
	put_field(" output=", invocation->output, &r->got);
	if (tr_call_product(call, &r->arena, &product))
		put_field(" product=", product, &r->got);
	if (call->tool == TR_TOOL_ARCHIVER && tr_call_archive(call) < call->expansion.count)
		put_field(" archive=", call->expansion.words[tr_call_archive(call)].text, &r->got);
}

static bool read_call(struct runner *r, struct tr_text line, struct tr_record *record,
		      struct tr_call *call)
{
	struct tr_call_config config = { .tools = NULL };
	struct tr_error err;

	return read_record(r, line, record) && tr_call_read(record, &config, call, &err) == TR_OK;
}

static void call(struct runner *r, struct tr_text line)
{
	struct tr_call read;
	struct tr_record record;
	struct tr_text makes;

	if (read_call(r, line, &record, &read)) {
		put_call(r, &read);
		if (tr_call_makes(&record, NULL, &makes))
			put_field(" makes=", makes, &r->got);
	} else {
		put_string("unreadable", &r->got);
	}
	tr_buffer_put_byte(&r->got, '\n');
}

static void put_stage(struct runner *r, struct tr_text line)
{
	static const char *const stages[] = { "other",	"driver",    "compiler", "assembler",
					      "linker", "collector", "tool" };
	struct tr_call read;
	struct tr_record record;

	if (read_call(r, line, &record, &read))
		put_string(stages[read.stage], &r->got);
	tr_buffer_put_byte(&r->got, '\n');
}

/* Each word with its role; a value is marked by '='. */
static void put_roles(struct runner *r, struct tr_text line)
{
	struct tr_call read;
	struct tr_record record;

	if (read_call(r, line, &record, &read)) {
		for (size_t i = 0; i < read.invocation.count; i++) {
			const struct tr_part *part = &read.invocation.parts[i];
			if (i)
				tr_buffer_put_byte(&r->got, ' ');
			put_escaped(part->text, &r->got);
			tr_buffer_put_byte(&r->got, part->value ? '=' : ':');
			put_string(roles[part->role], &r->got);
		}
	}
	tr_buffer_put_byte(&r->got, '\n');
}

static void put_objects(struct runner *r, struct tr_text line)
{
	struct tr_call read;
	struct tr_record record;
	bool failed = false;

	if (read_call(r, line, &record, &read)) {
		for (size_t i = 0; i < read.invocation.count; i++) {
			const struct tr_part *part = &read.invocation.parts[i];
			if (part->role != TR_ROLE_SOURCE)
				continue;
			put_bracketed(tr_invocation_object(&read.invocation, part->file, &r->arena),
				      &r->got);
			put_field("=",
				  tr_invocation_output(&read.invocation, part->file, &r->arena,
						       &failed),
				  &r->got);
		}
	}
	tr_buffer_put_byte(&r->got, failed ? '!' : '\n');
}

/* The words after response files are expanded, each with its origin. */
static void put_words(struct runner *r, struct tr_text line)
{
	struct tr_call read;
	struct tr_record record;

	if (read_call(r, line, &record, &read)) {
		const struct tr_expansion *expansion = &read.expansion;
		for (size_t i = 0; i < expansion->count; i++) {
			const struct tr_word *word = &expansion->words[i];
			tr_buffer_put_decimal(&r->got, word->origin);
			tr_buffer_put_byte(&r->got, word->from_file ? '@' : ':');
			put_bracketed(word->text, &r->got);
		}
		if (expansion->missing)
			put_field(" left=", expansion->left.name, &r->got);
	}
	tr_buffer_put_byte(&r->got, '\n');
}

/* Environments. */

static struct tr_environment *env_of(struct runner *r, struct tr_text *rest)
{
	uint64_t i = take_number(rest);

	return i <= r->env_count ? r->envs[i] : NULL;
}

/* Adds env as the next number. "= N": it is the same environment as that one. */
static void add_env(struct runner *r, struct tr_environment *env)
{
	size_t i = 1;

	while (i <= r->env_count && r->envs[i] != env)
		i++;
	put_string(i <= r->env_count ? "= " : "new ", &r->got);
	r->envs[++r->env_count] = env;
	tr_buffer_put_decimal(&r->got, i);
	if (tr_environment_is_unknown(env))
		put_string(" unknown", &r->got);
	else if (!tr_environment_is_whole(env))
		put_string(" partial", &r->got);
}

static bool environment(struct runner *r, struct tr_text operation, struct tr_text rest)
{
	struct tr_environment_doubts doubts = { 0, 0 };
	struct tr_environment *base, *env;
	bool minimal = false;
	struct tr_error err;

	if (tr_text_is(operation, "unknown")) {
		add_env(r, tr_environment_unknown(r->pool));
	} else if (tr_text_is(operation, "apply") || tr_text_is(operation, "whole")) {
		bool whole = operation.data[0] == 'w';
		base = env_of(r, &rest);
		const struct tr_value *map = tr_literal_parse(rest, &r->arena, &err);
		env = whole ? tr_environment_whole(r->pool, base, map)
			    : tr_environment_apply(r->pool, base, map, &minimal);
		add_env(r, env);
		if (minimal)
			put_string(" minimal", &r->got);
	} else if (tr_text_is(operation, "doubt")) {
		base = env_of(r, &rest);
		tr_environment_doubt(r->pool, base, tr_literal_parse(rest, &r->arena, &err),
				     &doubts);
		tr_buffer_put_decimal(&r->got, doubts.redundant);
		tr_buffer_put_byte(&r->got, ' ');
		tr_buffer_put_decimal(&r->got, doubts.impossible);
	} else if (tr_text_is(operation, "diff")) {
		base = env_of(r, &rest);
		env = env_of(r, &rest);
		if (tr_environment_diff(r->pool, base, env, &r->got) == TR_END)
			put_string("unknown", &r->got);
	} else if (tr_text_is(operation, "write")) {
		tr_environment_write(r->pool, env_of(r, &rest), &r->got);
	} else if (tr_text_is(operation, "fold")) {
		add_env(r, tr_environment_fold(r->pool, env_of(r, &rest)));
	} else {
		return false;
	}
	tr_buffer_put_byte(&r->got, '\n');
	return true;
}

/* The family and kind of each program. */
static void put_families(struct runner *r, struct tr_text rest)
{
	while (rest.len) {
		struct tr_text name = take(&rest);
		struct tr_program program = tr_program_find(NULL, name, NULL, 0);
		const struct tr_section *section = program.section;
		put_escaped(name, &r->got);
		tr_buffer_put_byte(&r->got, '=');
		if (section) {
			tr_buffer_put_text(&r->got,
					   tr_compilers_text(program.table, section->family));
			tr_buffer_put_byte(&r->got, '/');
			put_string(tr_section_kind(section), &r->got);
		} else {
			put_string(program.calls ? "call" : "none", &r->got);
		}
		tr_buffer_put_byte(&r->got, rest.len ? ' ' : '\n');
	}
}

static void execute(struct runner *r, struct tr_text line)
{
	struct tr_text rest = line, operation = take(&rest);

	if (tr_text_is(operation, "gnu") || tr_text_is(operation, "gnu-comments") ||
	    tr_text_is(operation, "windows") || tr_text_is(operation, "command")) {
		split(r, operation, rest);
	} else if (tr_text_is(operation, "quote")) {
		put_quoted(r, rest, tr_shell_quote);
	} else if (tr_text_is(operation, "printable")) {
		put_quoted(r, rest, tr_shell_quote_printable);
	} else if (tr_text_is(operation, "number") || tr_text_is(operation, "string")) {
		field(r, operation, rest);
	} else if (tr_text_is(operation, "show")) {
		show(r, rest);
	} else if (tr_text_is(operation, "join") || tr_text_is(operation, "base") ||
		   tr_text_is(operation, "extension") || tr_text_is(operation, "absolute")) {
		path(r, operation, rest);
	} else if (tr_text_is(operation, "tool")) {
		put_string(tools[tr_tool_of_name(rest)], &r->got);
		tr_buffer_put_byte(&r->got, '\n');
	} else if (tr_text_is(operation, "family")) {
		put_families(r, rest);
	} else if (tr_text_is(operation, "call")) {
		call(r, record_of_words(r, rest));
	} else if (tr_text_is(operation, "stage")) {
		put_stage(r, record_of_words(r, rest));
	} else if (tr_text_is(operation, "roles")) {
		put_roles(r, record_of_words(r, rest));
	} else if (tr_text_is(operation, "objects")) {
		put_objects(r, record_of_words(r, rest));
	} else if (tr_text_is(operation, "record")) {
		call(r, unescape(rest, &r->arena));
	} else if (tr_text_is(operation, "expand")) {
		put_words(r, unescape(rest, &r->arena));
	} else if (!environment(r, operation, rest)) {
		ok(false, "%.*s is an operation", (int)operation.len, operation.data);
	}
}

/* Compares the output of the last operation with the lines that were expected. */
static void check(struct runner *r)
{
	if (r->operation.len &&
	    !ok(tr_text_equal(tr_buffer_text(&r->got), tr_buffer_text(&r->want)), "%.*s: %.*s",
		(int)r->name.len, r->name.data, (int)r->operation.len, r->operation.data))
		diag("printed %.*s", (int)r->got.len, r->got.len ? r->got.data : "");
	tr_buffer_reset(&r->got);
	tr_buffer_reset(&r->want);
	tr_buffer_reset(&r->operation);
}

static void begin_case(struct runner *r, struct tr_text name)
{
	for (; r->env_count; r->env_count--)
		tr_environment_release(r->pool, r->envs[r->env_count]);
	tr_environments_free(r->pool);
	r->pool = tr_environments_new();
	tr_arena_reset(&r->arena);
	tr_buffer_reset(&r->name);
	tr_buffer_put_text(&r->name, name);
}

static void take_line(struct runner *r, struct tr_text line)
{
	struct tr_text rest = line;

	if (line.len && line.data[line.len - 1] == '\n')
		rest.len = --line.len;
	struct tr_text mark = take(&rest);
	if (tr_text_is(mark, ">")) {
		tr_buffer_put_text(&r->want, rest);
		tr_buffer_put_byte(&r->want, '\n');
		return;
	}
	if (tr_text_is(mark, "@") || tr_text_is(mark, "<"))
		check(r);
	if (tr_text_is(mark, "@")) {
		begin_case(r, rest);
	} else if (tr_text_is(mark, "<")) {
		tr_buffer_put_text(&r->operation, rest);
		execute(r, tr_arena_copy(&r->arena, rest));
	}
}

static void run_file(const char *name)
{
	struct runner r = { .arena = TR_ARENA_INIT };
	const char *top = getenv("top_srcdir");
	char path[4096], *line = NULL;
	size_t cap = 0;
	ssize_t len;

	snprintf(path, sizeof path, "%s/tests/data/process/%s", top ? top : ".", name);
	FILE *file = fopen(path, "rb");
	if (ok(file != NULL, "%s is there", name)) {
		while ((len = getline(&line, &cap, file)) > 0)
			take_line(&r, (struct tr_text){ line, (size_t)len });
		check(&r);
		fclose(file);
	}
	begin_case(&r, TR_TEXT(""));
	tr_environments_free(r.pool);
	tr_buffer_free(&r.got);
	tr_buffer_free(&r.want);
	tr_buffer_free(&r.name);
	tr_buffer_free(&r.operation);
	tr_arena_free(&r.arena);
	free(line);
}

/*
 * A child whose fork the log shows is where its parent was; for one that is claimed, it is a guess.
 */
static void test_places(void)
{
	struct tr_tasks tasks = { .map = TR_ID_MAP_INIT };
	enum tr_certainty certainties[2] = { TR_PLACE_OPEN, TR_PLACE_OPEN };
	bool is_new, fine = true;
	struct tr_task *parent = tr_tasks_get(&tasks, 1, &is_new);

	tr_task_is_at(parent, TR_TEXT("/a"));
	for (uint64_t tid = 2; tid < 4; tid++) {
		struct tr_buffer path = TR_BUFFER_INIT;
		struct tr_task *child = tr_tasks_get(&tasks, tid, &is_new);
		fine &= is_new &&
			(tid == 2 ? tr_tasks_fork(&tasks, parent, parent->place->directory, tid, 0)
				  : tr_tasks_guess_fork(&tasks, parent, tid));
		certainties[tid - 2] = tr_directory_resolve(child->place->directory, &path);
		fine &= tr_text_is(tr_buffer_text(&path), "/a");
		tr_buffer_free(&path);
	}
	ok(fine, "two children are at the place of their parent");
	ok(certainties[0] == TR_PLACE_KNOWN, "that of a fork is known");
	ok(certainties[1] == TR_PLACE_GUESSED, "that of a claim is guessed");
	tr_tasks_free(&tasks);
}

/* Words without escapes are split from the text of argv, others from its value: with one result. */
static void test_words(void)
{
	static const struct {
		const char *argv, *words; /* words NULL: it is no list of strings */
	} tests[] = {
		{ "[]", "" },
		{ "[\"\"]", "[]" },
		{ "[\"cc\",\"\",\"a,b]\"]", "[cc][][a,b]]" },
		{ "[\"cc\",\"a\\\"b\"]", "[cc][a\"b]" },
		{ "[\"cc\",\"\xc3\xa4\"]", "[cc][\xc3\xa4]" },
		{ "[\"cc\",0x7f]", "[cc][]" },
		{ "[\"cc\",1]", NULL },
		{ "[\"cc\"", NULL },
		{ "[\"cc\",]", NULL },
		{ "[\"cc\"]]", NULL },
	};
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer line = TR_BUFFER_INIT, got = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_command command;
	struct tr_error err;

	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		tr_buffer_reset(&line);
		tr_buffer_reset(&got);
		tr_buffer_put_literal(&line, "exec\t-\t-\t-\t/cc\targv=");
		put_string(tests[i].argv, &line);
		tr_buffer_put_byte(&line, '\n');
		bool fine = tr_record_from_buffer(&record, &arena, &line, &err) == TR_OK &&
			    tr_command_read(&record, &command, &err) == TR_OK;
		for (size_t k = 0; fine && k < command.argc; k++) {
			tr_buffer_put_byte(&got, '[');
			tr_buffer_put_text(&got, command.argv[k]);
			tr_buffer_put_byte(&got, ']');
		}
		ok(fine == (tests[i].words != NULL) &&
			   (!fine || tr_text_is(tr_buffer_text(&got), tests[i].words)),
		   "the words of %s", tests[i].argv);
	}
	tr_buffer_reset(&line);
	tr_buffer_put_literal(&line, "exec\t-\t-\t-\t/cc\targv=[\"cc\"");
	for (int i = 0; i < 1000; i++)
		tr_buffer_put_literal(&line, ",\"a.o\"");
	tr_buffer_put_literal(&line, "]\n");
	ok(tr_record_from_buffer(&record, &arena, &line, &err) == TR_OK &&
		   tr_command_read(&record, &command, &err) == TR_OK && command.argc == 1001 &&
		   tr_text_is(command.argv[1000], "a.o"),
	   "a command of a thousand words");
	tr_buffer_free(&line);
	tr_buffer_free(&got);
	tr_arena_free(&arena);
}

int main(void)
{
	test_words();
	run_file("command.cases");
	run_file("path.cases");
	run_file("call.cases");
	run_file("families.cases");
	run_file("logs.cases");
	run_file("respfile.cases");
	run_file("environment.cases");
	test_places();
	return done_testing();
}
