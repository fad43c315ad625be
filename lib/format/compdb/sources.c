/* SPDX-License-Identifier: MIT */
/*
 * The entries of a call: make_line finds the words that the entries of all sources share; for each
 * source, spell_line makes the command and put_source the entry.
 *
 * Variables of the environment that act like options add words to a call. The table of compilers
 * (process/compilers.txt) says which ones a compiler reads, and how. Directories of GCC and Clang
 * come after those of all -I, or of all -isystem, and an empty element is the working directory
 * (GCC's manual, "Environment Variables Affecting GCC").
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

/*
 * Sets the words for a source of the call, which follow all other options. language: from
 * tr_compdb_headers_line. False: memory is exhausted.
 */
static bool words_for(struct tr_compdb_variables *variables, const struct tr_call *call,
		      const char *language, struct tr_arena *arena, struct tr_call_words *words)
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

/* The words that all entries of a call share, and the place of each source among them. */
struct line {
	struct tr_text *shared, *argv; /* argv: room for the words of one entry */
	size_t count, room;
	struct source {
		const struct tr_part *part;
		const struct tr_part *option; /* "/Tc" before it; NULL: none */
		size_t place;		      /* number of shared words before it */
	} * sources;
	size_t source_count;
	size_t tail;			       /* number of shared words before "--" or "/link" */
	struct tr_compdb_header_line headers;  /* languages, and the words of entries for headers */
	struct tr_compdb_variables *variables; /* NULL: they are not wanted, or unknown */
};

/* Adds a shared word. */
static void add(struct line *line, struct tr_text text)
{
	line->shared[line->count++] = text;
}

/* True for a part that only matters to linking, and so not to an entry. */
static bool is_only_for_linking(const struct tr_invocation *invocation, const struct tr_part *part)
{
	return invocation->mode == TR_MODE_LINK &&
	       (part->role == TR_ROLE_LINKING || part->role == TR_ROLE_INPUT ||
		part->role == TR_ROLE_PRODUCT);
}

/* True for a word after which no options for compiling follow. */
static bool ends_options(const struct tr_invocation *invocation, const struct tr_part *part)
{
	if (tr_text_is(part->text, "--"))
		return true;
	return invocation->tool == TR_TOOL_DRIVER_CL &&
	       (tr_text_is(part->text, "/link") || tr_text_is(part->text, "-link"));
}

size_t tr_compdb_put_name(const struct tr_call *call, size_t at, size_t origin, struct tr_text *to)
{
	const struct tr_text *words = call->command.argv + at;
	size_t used;

	tr_respfile_named(words, call->command.argc - at, origin, call->rules, &used);
	memcpy(to, words + origin, used * sizeof *to);
	return used;
}

/*
 * Adds the parts of the call. Without inlined, the name of a response file replaces its parts.
 * False: memory is exhausted.
 */
static bool add_parts(struct line *line, const struct tr_call *call, bool inlined, bool for_clang,
		      struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	const struct tr_part *end = invocation->parts + invocation->count, *option = NULL;
	struct tr_text word;
	size_t replaced = 0;
	size_t named = 0; /* index of the last argument that was added as a name; 0: none */
	bool ended = false;

	for (const struct tr_part *part = invocation->parts + invocation->program.words; part < end;
	     part++) {
		if (part->from_file && !inlined) {
			if (part->origin != named)
				line->count += tr_compdb_put_name(call, invocation->launchers,
								  part->origin,
								  line->shared + line->count);
			named = part->origin;
		} else if (part + 1 < end && part[1].value && part[1].role == TR_ROLE_SOURCE) {
			option = for_clang && part->own ? NULL : part;
		} else if (part->role == TR_ROLE_SOURCE) {
			line->sources[line->source_count++] =
				(struct source){ part, option, line->count };
			option = NULL;
		} else if (for_clang &&
			   !tr_compdb_replace_for_clang(part, end, arena, &word, &replaced)) {
			return false;
		} else if (replaced) {
			if (word.len)
				add(line, word);
			part += replaced - 1;
		} else if (!is_only_for_linking(invocation, part)) {
			if (line->variables && !ended && ends_options(invocation, part)) {
				ended = true;
				line->tail = line->count;
			}
			add(line, part->text);
		}
	}
	if (!ended)
		line->tail = line->count;
	return true;
}

/*
 * Returns the path joined with the directory, in the arena. data NULL: memory is exhausted, or
 * there was no path.
 */
static struct tr_text absolute(struct tr_text directory, struct tr_text path,
			       struct tr_arena *arena)
{
	struct tr_buffer whole = TR_BUFFER_INIT;

	if (!path.data)
		return path;
	tr_path_join(directory, path, &whole);
	path = tr_arena_copy(arena, tr_buffer_text(&whole));
	if (whole.failed)
		path.data = NULL;
	tr_buffer_free(&whole);
	return path;
}

/* The program of the entry; a relative path becomes absolute. */
static struct tr_text program_of(const struct tr_call *call, struct tr_arena *arena)
{
	struct tr_text path = call->path;

	/* a launcher searches for it; a name without a slash was found in PATH */
	if (path.data != tr_command_program(&call->command).data)
		return path;
	if (tr_path_is_absolute(path) || !memchr(path.data, '/', path.len))
		return path;
	return absolute(call->command.directory, path, arena);
}

/* True if a response file names sources. */
static bool has_hidden_sources(const struct tr_invocation *invocation)
{
	for (size_t i = 0; i < invocation->count; i++)
		if (invocation->parts[i].role == TR_ROLE_SOURCE && invocation->parts[i].from_file)
			return true;
	return false;
}

/* Makes the words that all entries of a call share. False: memory is exhausted. */
static bool make_line(struct line *line, const struct tr_call *call, bool inlined, bool for_clang,
		      bool seeds, struct tr_compdb_variables *variables, struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	/* all words of the call and its response files, -c and the warning */
	size_t words = call->expansion.count + call->command.argc + 3;
	struct tr_text program = program_of(call, arena);

	for_clang &= program.data && tr_compdb_has_gcc_options(invocation, program);
	*line = (struct line){
		.variables = variables,
		.shared = tr_arena_alloc(arena, words * sizeof *line->shared),
		.sources = tr_arena_alloc(arena, invocation->sources * sizeof *line->sources),
	};
	if (!program.data || !line->shared || !line->sources)
		return false;
	add(line, program);
	/* "zig cc" */
	for (size_t i = 1; i < invocation->program.words && i < invocation->count; i++)
		add(line, invocation->parts[i].text);
	struct tr_text only = tr_compilers_text(invocation->program.table,
						invocation->program.section->compile_only);
	if (invocation->mode == TR_MODE_LINK && only.len)
		add(line, only);
	if (for_clang && tr_compdb_has_warnings(invocation))
		add(line, tr_text_from(tr_compdb_clang_word));
	if (!add_parts(line, call, inlined, for_clang, arena))
		return false;
	/* only these need the languages of the sources */
	return (!seeds && !line->variables) ||
	       tr_compdb_headers_line(call, program, for_clang, arena, &line->headers);
}

/* Appends words, and returns where the next ones go. */
static struct tr_text *copy(struct tr_text *to, const struct tr_text *words, size_t count)
{
	if (count)
		memcpy(to, words, count * sizeof *to);
	return to + count;
}

/*
 * Makes the command line of one source in line->argv. more: words of the environment. Returns its
 * number of words; 0: memory is exhausted.
 */
static size_t spell_line(struct line *line, const struct source *source,
			 const struct tr_call_words *more, struct tr_arena *arena)
{
	size_t words = line->count + 2 + more->count;

	/* rarely more than once: only if a later language has more words */
	if (words > line->room) {
		line->argv = tr_arena_alloc(arena, words * sizeof *line->argv);
		line->room = words;
	}
	if (!line->argv)
		return 0;
	size_t place = source->place, tail = line->tail;
	struct tr_text *to = line->argv;
	/* a tail before the source ends at "--", after which there are no options */
	if (tail < place)
		to = copy(copy(to, line->shared, tail), more->list, more->count);
	to = copy(to, line->shared + (tail < place ? tail : 0), place - (tail < place ? tail : 0));
	if (source->option)
		*to++ = source->option->text;
	*to++ = source->part->text;
	if (tail >= place)
		to = copy(copy(to, line->shared + place, tail - place), more->list, more->count);
	size_t rest = tail >= place ? tail : place;
	to = copy(to, line->shared + rest, line->count - rest);
	return (size_t)(to - line->argv);
}

bool tr_compdb_find_output(const struct tr_invocation *invocation, struct tr_text source,
			   struct tr_arena *arena, struct tr_text *given, struct tr_text *implied)
{
	bool failed = false;

	*given = invocation->output;
	*implied = (struct tr_text){ NULL, 0 };
	if (invocation->tool == TR_TOOL_DRIVER_CL || !given->data)
		*given = tr_invocation_output(invocation, source, arena, &failed);
	if (failed || given->data || invocation->mode >= TR_MODE_SYNTAX)
		return !failed;
	*implied = tr_invocation_object(invocation, source, arena);
	return implied->data;
}

/* Appends the seed of entries for headers to the entry at `begin`. */
static bool append_seed(struct tr_record *record, const struct tr_call *call,
			const struct line *line, const struct source *source,
			const struct tr_call_words *more, size_t begin, struct tr_buffer *to)
{
	struct tr_text file = absolute(call->command.directory, source->part->file, record->arena);
	size_t seed = to->len;
	struct tr_compdb_head head;

	if (!file.data)
		return false;
	tr_compdb_headers_seed(record, call, &line->headers, (size_t)(source - line->sources), more,
			       file, to);
	if (to->failed)
		return false;
	memcpy(&head, to->data + begin, sizeof head);
	head.seed_len = to->len - seed;
	memcpy(to->data + begin, &head, sizeof head);
	return true;
}

/* Appends the entry of a source, with seeds also the seed of entries for headers. */
static bool put_source(struct tr_record *record, const struct tr_call *call, struct line *line,
		       const struct source *source, bool seeds, struct tr_compdb_style *style,
		       struct tr_buffer *to)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text file = source->part->file;
	struct tr_call_words more = { NULL, 0 };
	size_t begin = to->len;
	size_t at = (size_t)(source - line->sources);
	bool failed = line->variables &&
		      !words_for(line->variables, call, line->headers.sources[at].language,
				 record->arena, &more);
	struct tr_compdb_entry entry = {
		.made = true,
		.directory = call->command.directory,
		.file = file,
		.argc = spell_line(line, source, &more, record->arena),
	};
	entry.argv = line->argv;
	return !failed &&
	       tr_compdb_find_output(invocation, file, record->arena, &entry.output,
				     &entry.implied) &&
	       entry.argc &&
	       tr_compdb_entry_append(&entry, style, call->libtool, record->arena, to) &&
	       (!seeds || to->len == begin ||
		append_seed(record, call, line, source, &more, begin, to));
}

enum tr_status tr_compdb_call_append(struct tr_record *record, const struct tr_call *call,
				     bool inlined, bool seeds,
				     struct tr_compdb_variables *variables,
				     struct tr_compdb_style *style, struct tr_buffer *to,
				     struct tr_error *err)
{
	size_t begin = to->len;
	struct line line;

	/* an entry for one source cannot name a response file with others */
	inlined |= has_hidden_sources(&call->invocation);
	if (!make_line(&line, call, inlined, style->for_clang, seeds, variables, record->arena))
		return tr_error_memory(err);
	for (size_t i = 0; i < line.source_count; i++) {
		if (!put_source(record, call, &line, &line.sources[i], seeds, style, to))
			return tr_error_memory(err);
		if (to->len - begin <= TR_CALL_TEXT_MAX)
			continue;
		to->len = begin;
		return tr_call_too_long(call, err);
	}
	return TR_OK;
}
