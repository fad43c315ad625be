/* SPDX-License-Identifier: MIT */
/*
 * Variables of the environment that act like options. Which ones a compiler reads, and how, is in
 * the table of compilers (process/compilers.txt). Directories of GCC and Clang come after those of
 * all -I, or of all -isystem, and an empty element is the working directory (GCC's manual,
 * "Environment Variables Affecting GCC").
 */
#include <string.h>

#include "core/buffer.h"
#include "format/compdb/compdb.h"
#include "process/path.h"
#include "record/literal.h"
#include "record/value.h"

static const char *const languages[] = { "c", "c++", "objective-c", "objective-c++" };
enum { LANGUAGES = TR_COMPDB_LANGUAGES };

/* The value of a variable; data NULL: it is not set, or memory is exhausted (*failed). */
static struct tr_text value_of(const struct tr_value *map, struct tr_text name, bool any_case,
			       struct tr_arena *arena, bool *failed)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct tr_member *member = &map->as.members[i];
		bool same = any_case ? tr_text_equal_in_any_case(member->key, name)
				     : tr_text_equal(member->key, name);
		if (!same || member->value->type != TR_STRING)
			continue;
		struct tr_text bytes = tr_value_bytes(member->value, arena);
		*failed |= !bytes.data;
		return bytes;
	}
	return (struct tr_text){ NULL, 0 };
}

/* Splits options into words, where # may be the "=" of a definition of cl. */
static bool split(struct tr_text value, bool cl, bool windows, struct tr_arena *arena,
		  struct tr_call_words *result)
{
	struct tr_words words = { .pos = value.data,
				  .end = value.data + value.len,
				  .quoting = windows ? TR_QUOTING_WINDOWS : TR_QUOTING_GNU };
	struct tr_text *list =
		tr_arena_alloc(arena, (result->count + value.len / 2 + 1) * sizeof *list);
	struct tr_buffer word = TR_BUFFER_INIT;
	bool fine = list;

	if (fine && result->count)
		memcpy(list, result->list, result->count * sizeof *list);
	for (; fine && tr_words_next(&words, &word); word.len = 0) {
		bool defines = cl && word.len > 2 && word.data[1] == 'D' &&
			       (*word.data == '/' || *word.data == '-');
		char *mark = defines ? memchr(word.data, '#', word.len) : NULL;
		if (mark && !memchr(word.data, '=', (size_t)(mark - word.data)))
			*mark = '=';
		list[result->count] = tr_arena_copy(arena, tr_buffer_text(&word));
		fine = list[result->count++].data && !word.failed;
	}
	tr_buffer_free(&word);
	result->list = list;
	return fine;
}

/* Reads the variables of the program from the map of an environment. */
static bool read_all(const struct tr_value *map, const struct tr_call *call, struct tr_arena *arena,
		     struct tr_compdb_variables *variables)
{
	const struct tr_program *program = &call->program;
	const struct tr_section *section = program->section;
	bool cl = section->notation == TR_NOTATION_CL, failed = false;
	/* a path has a colon after its drive */
	bool windows = cl || tr_path_has_drive(call->command.directory);

	variables->lists =
		tr_arena_alloc(arena, section->variables.count * sizeof *variables->lists);
	if (!variables->lists)
		return false;
	for (size_t i = 0; i < section->variables.count && !failed; i++) {
		const struct tr_numbered *known =
			&program->table->variables[section->variables.begin + i];
		struct tr_text value = value_of(map, tr_compilers_text(program->table, known->text),
						windows, arena, &failed);
		if (!value.len)
			continue;
		if (known->number == TR_VARIABLE_BEFORE)
			failed |= !split(value, cl, windows, arena, &variables->before);
		else if (known->number == TR_VARIABLE_AFTER)
			failed |= !split(value, cl, windows, arena, &variables->after);
		else
			variables->lists[variables->count++] =
				(struct tr_compdb_list){ (enum tr_variable_use)known->number,
							 value };
	}
	return !failed;
}

bool tr_compdb_variables_read(struct tr_environments *pool, struct tr_environment *env,
			      const struct tr_call *call, struct tr_arena *arena,
			      struct tr_compdb_variables *variables)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text literal = { NULL, 0 };
	struct tr_value *map;
	struct tr_error err;

	*variables = (struct tr_compdb_variables){ .count = 0 };
	if (!call->program.section || !call->program.section->variables.count)
		return true;
	if (tr_environment_write_plain(pool, env, &text))
		literal = tr_arena_copy(arena, tr_buffer_text(&text));
	tr_buffer_free(&text);
	return literal.data && (map = tr_literal_parse(literal, arena, &err)) &&
	       read_all(map, call, arena, variables);
}

/* Adds an option for each element of a list of directories. False: memory is exhausted. */
static bool add_list(struct tr_text list, const char *option, bool joined, bool windows,
		     struct tr_arena *arena, struct tr_text *to, size_t *count)
{
	char separator = windows ? ';' : ':';
	size_t len = strlen(option);

	for (const char *p = list.data, *end = p + list.len; p;) {
		const char *stop = memchr(p, separator, (size_t)(end - p));
		struct tr_text element = tr_text_span(p, stop ? stop : end);
		p = stop ? stop + 1 : NULL;
		/* cl ignores empty elements */
		if (!element.len && windows)
			continue;
		if (!element.len)
			element = TR_TEXT(".");
		if (!joined) {
			to[(*count)++] = tr_text_from(option);
			to[(*count)++] = element;
			continue;
		}
		char *word = tr_arena_alloc(arena, len + element.len);
		if (!word)
			return false;
		memcpy(word, option, len);
		memcpy(word + len, element.data, element.len);
		to[(*count)++] = (struct tr_text){ word, len + element.len };
	}
	return true;
}

/* True if sources of this language are compiled with a list of directories. */
static bool applies(enum tr_variable_use use, unsigned language)
{
	static const enum tr_variable_use own[] = { TR_VARIABLE_SYSTEM_C, TR_VARIABLE_SYSTEM_CXX,
						    TR_VARIABLE_SYSTEM_OBJC,
						    TR_VARIABLE_SYSTEM_OBJCXX };

	return use == TR_VARIABLE_SEARCH || use == TR_VARIABLE_SYSTEM ||
	       (language < LANGUAGES && use == own[language]);
}

/* Makes the words for a language. False: memory is exhausted. */
static bool make_words(const struct tr_compdb_variables *variables, const struct tr_call *call,
		       unsigned language, struct tr_arena *arena, struct tr_call_words *words)
{
	const struct tr_section *section = call->program.section;
	bool cl = section && section->notation == TR_NOTATION_CL;
	bool gnu = section && section->notation == TR_NOTATION_GNU;
	bool windows = cl || tr_path_has_drive(call->command.directory);
	struct tr_text *list;
	size_t room = 0;

	/* a list has at most one element more than bytes, and each has two words */
	for (size_t i = 0; i < variables->count; i++)
		room += 2 * (variables->lists[i].value.len + 1);
	words->list = list = tr_arena_alloc(arena, room * sizeof *list);
	if (!list)
		return false;
	for (size_t i = 0; i < variables->count; i++) {
		const struct tr_compdb_list *from = &variables->lists[i];
		bool joined = !gnu || from->use == TR_VARIABLE_SEARCH;
		if (applies(from->use, language) &&
		    !add_list(from->value,
			      cl       ? "/I"
			      : joined ? "-I"
				       : "-isystem",
			      joined, windows, arena, list, &words->count))
			return false;
	}
	return true;
}

bool tr_compdb_variables_words(struct tr_compdb_variables *variables, const struct tr_call *call,
			       const char *language, struct tr_arena *arena,
			       struct tr_call_words *words)
{
	unsigned i = 0;

	while (i < LANGUAGES && (!language || strcmp(language, languages[i]) != 0))
		i++;
	if (!variables->made[i] && !make_words(variables, call, i, arena, &variables->words[i]))
		return false;
	variables->made[i] = true;
	*words = variables->words[i];
	return true;
}
