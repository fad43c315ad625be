/* SPDX-License-Identifier: MIT */
/*
 * Writes a compilation database. put_exec reads a record as a call of a build tool (process/call.h)
 * and makes its entries, one for each source, as JSON texts in one buffer, each after a struct
 * head. The filter of calls then decides which calls stand for the others (process/call_filter.h)
 * and emits their entries; put_entries leaves out the repeated ones.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/error.h"
#include "core/map.h"
#include "core/blob_dir.h"
#include "format/compdb/compdb.h"
#include "format/writer_base.h"
#include "process/call.h"
#include "process/path.h"
#include "record/json.h"

/* What two entries have in common if the second one is left out. */
enum unique {
	UNIQUE_FILE_OUTPUT,
	UNIQUE_FILE,
	UNIQUE_ALL,
	UNIQUE_NONE,
};

struct globs {
	char **list; /* owned */
	size_t count, cap;
};

/* Which entries are written, and how: the settings. */
struct style {
	enum unique unique;
	bool as_command, without_output;
	bool existing;		       /* only sources that are on this machine */
	struct globs include, exclude; /* of sources */
	uint64_t left_out;	       /* entries that the settings left out */
};

/* The parts of an entry, as bytes. */
struct entry {
	struct tr_text directory, file, output; /* output, data NULL: the command names none */
	struct tr_text implied; /* the output that the command makes without naming it */
	const struct tr_text *argv;
	size_t argc;
	struct tr_text extra; /* members of other keys, as compact JSON without braces; data NULL */
};

enum { KEY = 64 }; /* hex digits of a hash */

/* Precedes each entry's text in the buffer, which the seed of entries for headers may follow. */
struct head {
	char key[KEY];	/* equal: the same for -O unique */
	char file[KEY]; /* equal: of the same file */
	bool fallback;	/* written only if no other entry is of that file */
	size_t len, seed_len;
};

/* Appends a key and a string. */
static void put_member(struct tr_buffer *to, const char *key, struct tr_text bytes)
{
	tr_buffer_put_literal(to, "    \"");
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_literal(to, "\": ");
	tr_json_string_from_wtf8(bytes, to);
}

/* Appends the command line, one word a line. */
static void put_arguments(struct tr_buffer *to, const struct entry *entry)
{
	tr_buffer_put_literal(to, "    \"arguments\": [");
	for (size_t i = 0; i < entry->argc; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		tr_buffer_put_literal(to, "\n      ");
		tr_json_string_from_wtf8(entry->argv[i], to);
	}
	if (entry->argc)
		tr_buffer_put_literal(to, "\n    ]");
	else
		tr_buffer_put_byte(to, ']');
}

/* Appends the command line as one text for a shell. */
static void put_command(struct tr_buffer *to, const struct entry *entry)
{
	struct tr_buffer line = TR_BUFFER_INIT;

	for (size_t i = 0; i < entry->argc; i++) {
		if (i)
			tr_buffer_put_byte(&line, ' ');
		tr_shell_quote(entry->argv[i], &line);
	}
	put_member(to, "command", tr_buffer_text(&line));
	to->failed |= line.failed;
	tr_buffer_free(&line);
}

/*
 * The layout is Bear's, so that diff(1) shows only real differences. On Windows, those who read a
 * command split it by other rules than those of a shell, so the entry keeps its arguments.
 */
static void put_json(struct tr_buffer *to, const struct entry *entry, const struct style *style)
{
	tr_buffer_put_literal(to, "  {\n");
	if (style->as_command && !tr_path_has_drive(entry->directory))
		put_command(to, entry);
	else
		put_arguments(to, entry);
	tr_buffer_put_literal(to, ",\n");
	put_member(to, "directory", entry->directory);
	tr_buffer_put_literal(to, ",\n");
	put_member(to, "file", entry->file);
	if (entry->output.data && !style->without_output) {
		tr_buffer_put_literal(to, ",\n");
		put_member(to, "output", entry->output);
	}
	if (entry->extra.data) {
		tr_buffer_put_literal(to, ",\n    ");
		tr_buffer_put_text(to, entry->extra);
	}
	tr_buffer_put_literal(to, "\n  }");
}

/*
 * Sets the hashes by which entries are compared. Paths are absolute in them, so that entries with
 * different directories can be of the same file. False: memory is exhausted.
 */
static bool put_key(const struct entry *entry, enum unique unique, struct tr_text json,
		    struct head *head)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_text output = entry->output.data ? entry->output : entry->implied;

	tr_path_join(entry->directory, entry->file, &text);
	tr_sha256_hex(tr_buffer_text(&text), head->file);
	if (unique == UNIQUE_FILE_OUTPUT) {
		tr_buffer_put_byte(&text, '\0');
		/* without an output, only the whole command distinguishes two entries */
		if (output.data)
			tr_path_join(entry->directory, output, &text);
		else
			tr_buffer_put_text(&text, json);
	} else if (unique == UNIQUE_ALL) {
		tr_buffer_put_text(&text, json);
	}
	tr_sha256_hex(tr_buffer_text(&text), head->key);
	bool done = !text.failed;
	tr_buffer_free(&text);
	return done;
}

static bool matches(const struct globs *globs, const char *path)
{
	for (size_t i = 0; i < globs->count; i++)
		if (fnmatch(globs->list[i], path, 0) == 0)
			return true;
	return false;
}

/* Whether the settings leave the entry out. */
static bool is_left_out(const struct entry *entry, struct style *style, bool *failed)
{
	struct tr_buffer path = TR_BUFFER_INIT;
	struct stat st;

	if (!style->existing && !style->include.count && !style->exclude.count)
		return false;
	tr_path_join(entry->directory, entry->file, &path);
	tr_buffer_put_byte(&path, '\0');
	*failed = path.failed;
	bool out = path.failed || (style->include.count && !matches(&style->include, path.data)) ||
		   matches(&style->exclude, path.data) ||
		   (style->existing && stat(path.data, &st) != 0);
	tr_buffer_free(&path);
	style->left_out += out;
	return out;
}

/* Appends an entry, unless it is left out. False: memory is exhausted. */
static bool append_entry(const struct entry *entry, struct style *style, bool fallback,
			 struct tr_buffer *to)
{
	struct head head = { .fallback = fallback };
	size_t begin = to->len;
	bool failed = false;

	if (is_left_out(entry, style, &failed))
		return !failed;
	tr_buffer_put(to, (const char *)&head, sizeof head);
	size_t text = to->len;
	put_json(to, entry, style);
	if (to->failed)
		return false;
	struct tr_text json = { to->data + text, to->len - text };
	head.len = json.len;
	if (!put_key(entry, style->unique, json, &head))
		return false;
	memcpy(to->data + begin, &head, sizeof head);
	return true;
}

/* The words that all entries of a call share, and the place of each source among them. */
struct line {
	struct tr_text *shared, *argv; /* argv: room for the words of one entry */
	size_t count;
	struct source {
		const struct tr_part *part;
		const struct tr_part *option; /* "/Tc" before it; NULL: none */
		size_t place;		      /* number of shared words before it */
	} * sources;
	size_t source_count;
	struct tr_compdb_header_line headers; /* if they get entries */
};

/* Adds a shared word. */
static void add(struct line *line, struct tr_text text)
{
	line->shared[line->count++] = text;
}

/* Whether the part has no place in an entry, whose command only compiles. */
static bool is_only_for_linking(const struct tr_invocation *invocation, const struct tr_part *part)
{
	return invocation->mode == TR_MODE_LINK &&
	       (part->role == TR_ROLE_LINKING || part->role == TR_ROLE_INPUT ||
		part->role == TR_ROLE_PRODUCT);
}

/* Without inlined, the parts of a response file become its name again, once, where it was named. */
static void add_parts(struct line *line, const struct tr_call *call, bool inlined)
{
	const struct tr_invocation *invocation = &call->invocation;
	const struct tr_text *words = call->command.argv + invocation->launchers;
	const struct tr_part *end = invocation->parts + invocation->count, *option = NULL;
	size_t named = 0; /* the argument that was added last as a name; 0: none */

	for (const struct tr_part *part = invocation->parts + 1; part < end; part++) {
		if (part->from_file && !inlined) {
			size_t used;
			if (part->origin == named)
				continue;
			named = part->origin;
			tr_respfile_named(words, call->command.argc - invocation->launchers, named,
					  call->rules, &used);
			for (size_t k = 0; k < used; k++)
				add(line, words[named + k]);
		} else if (part + 1 < end && part[1].value && part[1].role == TR_ROLE_SOURCE) {
			option = part;
		} else if (part->role == TR_ROLE_SOURCE) {
			line->sources[line->source_count++] =
				(struct source){ part, option, line->count };
			option = NULL;
		} else if (!is_only_for_linking(invocation, part)) {
			add(line, part->text);
		}
	}
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

/* The program as the entry names it: with its directory if that is known. */
static struct tr_text program_of(const struct tr_call *call, struct tr_arena *arena)
{
	struct tr_text path = tr_command_program(&call->command);

	if (call->invocation.launchers)
		return call->expansion.words[0].text;
	/* a name alone was found in PATH */
	if (tr_path_is_absolute(path) || !memchr(path.data, '/', path.len))
		return path;
	return absolute(call->command.directory, path, arena);
}

/* Whether a response file names sources. */
static bool has_hidden_sources(const struct tr_invocation *invocation)
{
	for (size_t i = 0; i < invocation->count; i++)
		if (invocation->parts[i].role == TR_ROLE_SOURCE && invocation->parts[i].from_file)
			return true;
	return false;
}

/* Makes the words that all entries of a call share. False: memory is exhausted. */
static bool make_line(struct line *line, const struct tr_call *call, bool inlined,
		      struct tr_arena *arena)
{
	const struct tr_invocation *invocation = &call->invocation;
	/* all words of the call and its response files, and the -c */
	size_t words = call->expansion.count + call->command.argc + 2;
	struct tr_text program = program_of(call, arena);

	*line = (struct line){
		.shared = tr_arena_alloc(arena, words * sizeof *line->shared),
		.argv = tr_arena_alloc(arena, words * sizeof *line->argv),
		.sources = tr_arena_alloc(arena, invocation->sources * sizeof *line->sources),
	};
	if (!program.data || !line->shared || !line->argv || !line->sources)
		return false;
	add(line, program);
	if (invocation->mode == TR_MODE_LINK)
		add(line, invocation->tool == TR_TOOL_DRIVER_CL ? TR_TEXT("/c") : TR_TEXT("-c"));
	add_parts(line, call, inlined);
	return true;
}

/* Makes the command line of one source in line->argv. Returns its number of words. */
static size_t spell_line(struct line *line, const struct source *source)
{
	size_t count = source->place, rest = line->count - count;

	memcpy(line->argv, line->shared, count * sizeof *line->argv);
	if (source->option)
		line->argv[count++] = source->option->text;
	line->argv[count++] = source->part->text;
	if (rest)
		memcpy(line->argv + count, line->shared + source->place, rest * sizeof *line->argv);
	return count + rest;
}

/* The entry's output: the program where the call also links, as Bear has it. */
static struct tr_text output_of(const struct tr_invocation *invocation, struct tr_text source,
				struct tr_arena *arena, bool *failed)
{
	if (invocation->tool == TR_TOOL_DRIVER_CL)
		return tr_invocation_output(invocation, source, arena, failed);
	return invocation->output;
}

/* Appends the seed of entries for headers to the entry that begins there. */
static bool append_seed(struct tr_record *record, const struct tr_call *call,
			const struct line *line, const struct source *source, struct tr_text file,
			size_t begin, struct tr_buffer *to)
{
	size_t seed = to->len;
	struct head head;

	tr_compdb_headers_seed(record, call, &line->headers, (size_t)(source - line->sources), file,
			       to);
	if (to->failed)
		return false;
	memcpy(&head, to->data + begin, sizeof head);
	head.seed_len = to->len - seed;
	memcpy(to->data + begin, &head, sizeof head);
	return true;
}

/* record: NULL, or that of the call if headers get entries, too. */
static bool put_source(struct tr_record *record, const struct tr_call *call, struct line *line,
		       const struct source *source, struct style *style, struct tr_arena *arena,
		       struct tr_buffer *to)
{
	const struct tr_invocation *invocation = &call->invocation;
	struct tr_text directory = call->command.directory, file = source->part->file;
	size_t begin = to->len;
	bool failed = false;
	struct tr_text output = output_of(invocation, file, arena, &failed);
	struct entry entry = {
		.directory = directory,
		.file = absolute(directory, file, arena),
		.output = absolute(directory, output, arena),
		.argv = line->argv,
		.argc = spell_line(line, source),
	};
	if (!output.data && invocation->mode != TR_MODE_SYNTAX) {
		entry.implied = tr_invocation_object(invocation, file, arena);
		failed |= !entry.implied.data;
	}
	if (failed || !entry.file.data || (output.data && !entry.output.data))
		return false;
	return append_entry(&entry, style, call->libtool, to) &&
	       (!record || to->len == begin ||
		append_seed(record, call, line, source, entry.file, begin, to));
}

/*
 * Appends an entry for each source that the call compiles. inlined: options of response files
 * replace the names of the files; else only where the files name sources. TR_WARN: the entries
 * would be too long, and none is appended. TR_FATAL: memory is exhausted.
 */
static enum tr_status append_call(struct tr_record *record, const struct tr_call *call,
				  bool inlined, struct style *style, struct tr_arena *arena,
				  struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	struct line line;

	/* a response file that names other sources, too, cannot stay */
	inlined |= has_hidden_sources(&call->invocation);
	if (!make_line(&line, call, inlined, arena) ||
	    (record && !tr_compdb_headers_line(call, line.shared[0], arena, &line.headers)))
		return tr_error_memory(err);
	for (size_t i = 0; i < line.source_count; i++) {
		if (!put_source(record, call, &line, &line.sources[i], style, arena, to))
			return tr_error_memory(err);
		if (to->len - begin <= TR_CALL_TEXT_MAX)
			continue;
		to->len = begin;
		return tr_call_too_long(call, err);
	}
	return TR_OK;
}

struct writer {
	struct tr_writer base;
	struct tr_call_config calls;
	struct tr_tool_config *tools;
	struct style style;
	bool inlined;
	struct tr_compdb_headers *headers; /* NULL: they get no entries */

	struct tr_call_filter filter; /* of the segment */
	struct tr_buffer entries;     /* of the record */
	struct tr_buffer fallback; /* entries of files that nothing else compiles, until the end */

	/* the whole stream */
	struct tr_id_map keys, files; /* of written entries: both halves of a hash */
};

/* Sixteen hex digits. */
static uint64_t number_of(const char *hex)
{
	uint64_t n = 0;

	for (int i = 0; i < 16; i++)
		n = n << 4 | (unsigned)tr_hex_digit(hex[i]);
	return n;
}

/* Compares 127 bits of a hash with the earlier ones. False in *done: memory is exhausted. */
static bool is_new(struct tr_id_map *set, const char *hash, bool *done)
{
	uint64_t id = number_of(hash);
	void *rest = (void *)(uintptr_t)(number_of(hash + 16) | 1);
	bool known = tr_id_map_get(set, id) == rest;

	*done &= known || tr_id_map_put(set, id, rest);
	return !known;
}

/* Writes an entry, unless an equal one was written. False: memory is exhausted. */
static bool put_entry(struct writer *writer, const struct head *head, struct tr_text json)
{
	bool done = true;
	bool fresh = writer->style.unique == UNIQUE_NONE || is_new(&writer->keys, head->key, &done);

	is_new(&writer->files, head->file, &done);
	if (!fresh)
		return done;
	if (writer->base.entries)
		tr_output_put_literal(writer->base.out, ",\n");
	else
		tr_output_put_literal(writer->base.out, "[\n");
	writer->base.entries = true;
	tr_output_put_text(writer->base.out, json);
	tr_output_record_end(writer->base.out);
	return done;
}

/* Writes entries; fallbacks are kept until the end. */
static bool put_entries(struct writer *writer, struct tr_text entries, bool at_end)
{
	struct head head;
	const char *p = entries.data, *end = p + entries.len;
	bool done = true;

	while (p < end && done) {
		memcpy(&head, p, sizeof head);
		struct tr_text json = { p + sizeof head, head.len };
		struct tr_text seed = { json.data + json.len, head.seed_len };
		if (seed.len)
			done = tr_compdb_headers_add(writer->headers, seed, head.fallback);
		p = seed.data + seed.len;
		head.seed_len = 0;
		if (head.fallback && !at_end) {
			tr_buffer_put(&writer->fallback, (const char *)&head, sizeof head);
			tr_buffer_put_text(&writer->fallback, json);
		} else if (!head.fallback || is_new(&writer->files, head.file, &done)) {
			done &= put_entry(writer, &head, json);
		}
	}
	return done && !writer->fallback.failed;
}

/* Writes the entries of a call that the filter has chosen. */
static bool emit(void *context, struct tr_text entries)
{
	return put_entries(context, entries, false);
}

/* The reason why a call that has sources gets no entry; NULL: none. */
static const char *lacks(const struct tr_call *call)
{
	if (call->command.cut)
		return "the tracer cut its arguments: no entry";
	if (!call->command.directory.data)
		return "its directory is unknown: no entry";
	return NULL;
}

/* Whether the call compiles a source and so has an entry. */
static bool compiles(const struct tr_call *call)
{
	const struct tr_invocation *invocation = &call->invocation;

	return (call->stage == TR_STAGE_DRIVER || call->stage == TR_STAGE_COMPILER ||
		call->libtool || call->tool == TR_TOOL_ASSEMBLER) &&
	       invocation->mode <= TR_MODE_SYNTAX && (invocation->sources || call->command.cut);
}

/*
 * Makes the entries of a call and passes them to the filter. It decides later whether the call is
 * one that another call runs, such as the compiler below its driver.
 */
static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       const struct tr_call *call, struct tr_error *err)
{
	bool wanted = compiles(call), lost = wanted && lacks(call);
	enum tr_status status = TR_OK;

	tr_buffer_reset(&writer->entries);
	if (wanted && !lost)
		status = append_call(writer->headers ? record : NULL, call, writer->inlined,
				     &writer->style, record->arena, &writer->entries, err);
	if (status == TR_FATAL)
		return status;
	enum tr_call_verdict verdict = tr_call_filter_put(
		&writer->filter, record, call->stage, (struct tr_text){ NULL, 0 },
		tr_buffer_text(&writer->entries), emit, writer);
	if (verdict == TR_CALL_FAILED)
		return tr_error_memory(err);
	if (verdict == TR_CALL_HIDDEN || call->stage == TR_STAGE_OTHER)
		return TR_OK;
	if (status != TR_OK)
		return status;
	if (lost) {
		tr_error_say(err, TR_CAUSE_INPUT, lacks(call));
		return TR_WARN;
	}
	return tr_respfile_report(&call->expansion.left, &writer->calls.roots, err);
}

/* Sets the output that the entry's own command line implies. */
static bool find_implied(const struct writer *writer, struct tr_record *record, struct entry *entry)
{
	struct tr_word *words = tr_arena_alloc(record->arena, entry->argc * sizeof *words);
	struct tr_invocation invocation;

	if (!words)
		return false;
	for (size_t i = 0; i < entry->argc; i++)
		words[i] = (struct tr_word){ entry->argv[i], i, false };
	struct tr_program program = tr_program_usual(writer->calls.compilers, TR_TOOL_NONE);
	if (entry->argc)
		program = tr_program_find(writer->calls.compilers, entry->argv[0], entry->argv + 1,
					  entry->argc - 1);
	if (!tr_invocation_parse(&program, words, entry->argc, record->arena, &invocation))
		return false;
	entry->implied = invocation.output;
	if (!entry->implied.data && invocation.mode < TR_MODE_SYNTAX)
		entry->implied = tr_invocation_object(&invocation, entry->file, record->arena);
	return true;
}

/* Writes a record that was read from a database. */
static enum tr_status put_again(struct writer *writer, struct tr_record *record,
				struct tr_text file, struct tr_error *err)
{
	struct tr_command command;
	struct tr_respfile_left left = { 0 };
	struct tr_buffer extra = TR_BUFFER_INIT;
	enum tr_status status = tr_command_read(record, &command, err);

	if (status != TR_OK)
		return status;
	if (!command.directory.data || command.cut) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "its directory or an argument is unknown: no entry");
		return TR_WARN;
	}
	struct entry entry = { .directory = command.directory,
			       .file = file,
			       .output = tr_command_string(record, "output"),
			       .argv = command.argv,
			       .argc = command.argc };
	if (writer->inlined && command.argc) {
		const struct tr_respfile_rules *rules =
			writer->tools ? tr_tool_config_find(writer->tools, command.argv[0]) : NULL;
		if (!tr_compdb_inline(&writer->calls, &command, rules ? rules : &tr_respfile_usual,
				      record->arena, &entry.argv, &entry.argc, &left))
			return tr_error_memory(err);
	}
	if (status == TR_OK)
		status = tr_compdb_extra(record, &extra, err);
	if (status == TR_OK) {
		entry.extra = extra.len ? tr_buffer_text(&extra) : (struct tr_text){ NULL, 0 };
		tr_buffer_reset(&writer->entries);
		if ((!entry.output.data && !find_implied(writer, record, &entry)) ||
		    !append_entry(&entry, &writer->style, false, &writer->entries) ||
		    !put_entries(writer, tr_buffer_text(&writer->entries), false))
			status = tr_error_memory(err);
		else
			status = tr_respfile_report(&left, &writer->calls.roots, err);
	}
	tr_buffer_free(&extra);
	return status;
}

/*
 * Writes an execution: a record with a file came from a database and is written again, all others
 * are read as calls.
 */
static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_call call;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	struct tr_text file = tr_command_string(record, "file");
	if (file.data)
		return put_again(writer, record, file, err);
	enum tr_status status = tr_call_read(record, &writer->calls, &call, err);
	return status == TR_OK ? put_call(writer, record, &call, err) : status;
}

/* Adds an entry for a header, which is written at the end if no other one is of that file. */
static bool add_header(void *context, struct tr_text directory, struct tr_text file,
		       const struct tr_text *argv, size_t argc)
{
	struct writer *writer = context;
	struct entry entry = { .directory = directory, .file = file, .argv = argv, .argc = argc };

	return append_entry(&entry, &writer->style, true, &writer->fallback);
}

/* Writes what the filter has held back, and finds the headers of the segment. */
static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (!tr_call_filter_end(&writer->filter, emit, writer))
		return tr_error_memory(err);
	return writer->headers ? tr_compdb_headers_end(writer->headers, add_header, writer, err)
			       : TR_OK;
}

/* Takes one record; those that are no executions matter only for headers. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	bool exec = tr_text_is(record->kind, "exec");
	enum tr_status status = TR_OK, followed;
	struct tr_error own;

	if (exec)
		status = put_exec(writer, record, err);
	if (!writer->headers || status == TR_FATAL)
		return exec ? status : TR_END;
	followed = tr_compdb_headers_put(writer->headers, record, &own);
	if (status == TR_OK && followed != TR_OK) {
		*err = own;
		status = followed;
	}
	return status;
}

/* Writes the fallbacks whose file has no other entry, and ends the list. */
static enum tr_status close_list(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (!put_entries(writer, tr_buffer_text(&writer->fallback), true))
		return tr_error_memory(err);
	if (writer->base.entries)
		tr_output_put_literal(writer->base.out, "\n]\n");
	else
		tr_output_put_literal(writer->base.out, "[]\n");
	base->noted_empty = writer->style.left_out; /* report says why */
	return TR_OK;
}

static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (!base->entries && writer->style.left_out) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "-O leaves out all %" PRIu64 " entries: the database has none",
			     writer->style.left_out);
		tr_error_is_note(err);
		writer->style.left_out = 0;
		return TR_WARN;
	}
	return writer->headers ? tr_compdb_headers_report(writer->headers, err) : TR_OK;
}

static void free_globs(struct globs *globs)
{
	while (globs->count)
		free(globs->list[--globs->count]);
	free(globs->list);
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	free_globs(&writer->style.include);
	free_globs(&writer->style.exclude);
	tr_compdb_headers_free(writer->headers);
	tr_tool_config_free(writer->tools);
	tr_file_roots_free(&writer->calls.roots);
	tr_call_filter_free(&writer->filter);
	tr_buffer_free(&writer->entries);
	tr_buffer_free(&writer->fallback);
	tr_id_map_free(&writer->keys);
	tr_id_map_free(&writer->files);
}

static const struct tr_writer_steps steps = {
	.format = "compdb",
	.empty = "no command here compiles: the database has no entries",
	.put = put_record,
	.end = end_segment,
	.close = close_list,
	.report = report,
	.discard = discard,
};

/* Copies the values of all settings of that key. False: memory is exhausted. */
static bool get_globs(const struct tr_settings *settings, const char *key, struct globs *globs)
{
	for (size_t i = 0; i < settings->count; i++) {
		struct tr_text value = settings->list[i].value;
		if (!tr_text_is(settings->list[i].key, key))
			continue;
		if (!tr_array_room(globs->list, globs->count, globs->cap) ||
		    !(globs->list[globs->count] = strndup(value.data, value.len)))
			return false;
		globs->count++;
	}
	return true;
}

/* Reads the settings. False: err is filled. */
static bool set_up(struct writer *writer, const struct tr_settings *settings, struct tr_error *err)
{
	static const char *const uniques[] = { "file+output", "file", "all", "none" };
	struct tr_text unique = tr_setting_get(settings, "unique", "file+output");

	for (unsigned i = 0; i < sizeof uniques / sizeof *uniques; i++)
		if (tr_text_is(unique, uniques[i]))
			writer->style.unique = (enum unique)i;
	writer->inlined = tr_text_is(tr_setting_get(settings, "respfiles", "inline"), "inline");
	struct style *style = &writer->style;
	style->as_command = tr_text_is(tr_setting_get(settings, "form", ""), "command");
	style->without_output = tr_text_is(tr_setting_get(settings, "output", ""), "no");
	style->existing = tr_text_is(tr_setting_get(settings, "existing", ""), "yes");
	if (!get_globs(settings, "include", &style->include) ||
	    !get_globs(settings, "exclude", &style->exclude)) {
		tr_error_memory(err);
		return false;
	}
	struct tr_text headers = tr_setting_get(settings, "headers", "no");
	if (!tr_text_is(headers, "no")) {
		writer->headers = tr_compdb_headers_new(tr_text_is(headers, "all"), err);
		if (!writer->headers)
			return false;
	}
	return tr_compdb_call_config(settings, &writer->calls, &writer->tools, err);
}

struct tr_writer *tr_compdb_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->filter = (struct tr_call_filter)TR_CALL_FILTER_INIT;
	if (set_up(writer, &config->settings, err))
		return &writer->base;
	tr_writer_free(&writer->base);
	return NULL;
}
