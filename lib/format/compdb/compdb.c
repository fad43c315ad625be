/* SPDX-License-Identifier: MIT */
/*
 * The formats compdb and buildspec, and the reader of both:
 *
 *	window -> objects (record/json.h) -> find_members -> make_record -> record exec with cwd, argv,
 *	file, output, respfile and, for the other members, extra
 *
 * A command in one string is split into words, as a shell would (put_command). The file also
 * contains helpers of both writers: for the settings of calls, the expansion of response files, the
 * elements of the list, and the field extra.
 */
#include "format/compdb/compdb.h"
#include "format/reader_base.h"
#include "format/writer_base.h"
#include "process/command.h"
#include "process/path.h"
#include "record/json.h"
#include "record/literal.h"

struct reader {
	struct tr_reader base;
	struct tr_json_items items;
	struct tr_buffer extra;
};

enum key { DIRECTORY, ARGUMENTS, COMMAND, SOURCE, OUTPUT, RESPFILE, KEYS };

static const struct {
	const char *key;
	enum tr_json_token type;
} keys[KEYS] = {
	[DIRECTORY] = { "directory", TR_JSON_STRING }, [ARGUMENTS] = { "arguments", TR_JSON_ARRAY },
	[COMMAND] = { "command", TR_JSON_STRING },     [SOURCE] = { "file", TR_JSON_STRING },
	[OUTPUT] = { "output", TR_JSON_STRING },       [RESPFILE] = { "respfile", TR_JSON_STRING },
};

struct object {
	struct tr_json_object all;
	const struct tr_json_member *fields[KEYS]; /* NULL: absent, or of another type */
};

/*
 * Splits an object and finds the members that become fields. `arguments` takes precedence over
 * `command`, which would have to be split. False: memory is exhausted.
 */
static bool find_members(struct object *object, struct tr_text text, struct tr_arena *arena)
{
	*object = (struct object){ .all = { .count = 0 } };
	if (!tr_json_members(text, arena, &object->all.members, &object->all.count))
		return false;
	for (unsigned i = 0; i < KEYS; i++)
		if (i != COMMAND || !object->fields[ARGUMENTS])
			object->fields[i] = tr_json_take(&object->all, keys[i].key, keys[i].type);
	return true;
}

/*
 * Returns the bid for objects with a command; wants_file: those of a database, which have a file.
 * The objects of a build specification have none.
 */
static int bid(struct tr_input *in, bool wants_file)
{
	enum { MOST = 1 << 20, BITS = 40, BITS_CUT = 10 };
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_text text;
	struct object object;
	int bits = 0;

	if (!tr_json_items_peek(in, MOST, &text))
		return 0;
	/* if memory is exhausted, the open that follows reports it */
	if (!find_members(&object, text, &arena))
		bits = 1;
	else if (!object.fields[ARGUMENTS] && !object.fields[COMMAND])
		bits = 0;
	else if (object.fields[DIRECTORY] && !object.fields[SOURCE] == !wants_file)
		bits = BITS;
	else if (text.len > MOST / 2 && wants_file)
		bits = BITS_CUT; /* too long to see the other keys */
	tr_arena_free(&arena);
	return bits;
}

/* True for a list without elements and nothing after it. Reads no more than the answer needs. */
static bool is_empty_list(struct tr_input *in)
{
	enum { MOST = 4 << 10 };
	const char *rest = "[]";

	for (size_t at = 0; at < MOST && tr_input_more(in, at + 1); at++) {
		if (*rest && in->pos[at] == *rest)
			rest++;
		else if (!tr_is_blank(in->pos[at]))
			return false;
	}
	return !*rest && in->at_end && !in->damaged;
}

/* A build without compiler calls has an empty list, which no other format's tools write. */
static int compdb_bid(struct tr_input *in)
{
	enum { BITS_EMPTY = 2 };
	int bits = bid(in, true);

	return !bits && is_empty_list(in) ? BITS_EMPTY : bits;
}

static int buildspec_bid(struct tr_input *in)
{
	return bid(in, false);
}

static void close_reader(struct tr_reader *base)
{
	tr_buffer_free(&tr_container(base, struct reader, base)->extra);
}

/* The text between the quotes of a string. */
static struct tr_text body(struct tr_text string)
{
	return (struct tr_text){ string.data + 1, string.len - 2 };
}

/* Splits "command" as a shell of the system would. False: memory is exhausted. */
static bool begin_words(struct reader *reader, const struct object *object, struct tr_words *words)
{
	struct tr_text directory =
		object->fields[DIRECTORY] ? body(object->fields[DIRECTORY]->value) : TR_TEXT("");
	struct tr_text text =
		tr_string_bytes(body(object->fields[COMMAND]->value), &reader->base.arena);

	*words = (struct tr_words){ .pos = text.data,
				    .end = text.data + text.len,
				    .quoting = tr_path_has_drive(directory) ? TR_QUOTING_WINDOWS
									    : TR_QUOTING_COMMAND };
	return text.data;
}

/* Puts the words of a command as argv. False: memory is exhausted. */
static bool put_command(struct reader *reader, const struct object *object)
{
	struct tr_words words;
	struct tr_buffer word = TR_BUFFER_INIT, *line = &reader->base.line;
	bool first = true;

	if (!begin_words(reader, object, &words)) {
		line->failed = true;
		return false;
	}
	tr_buffer_put_literal(line, "\targv=[");
	for (; tr_words_next(&words, &word) && !word.failed; word.len = 0, first = false) {
		if (!first)
			tr_buffer_put_byte(line, ',');
		tr_string_quote(tr_buffer_text(&word), line);
	}
	tr_buffer_put_byte(line, ']');
	line->failed |= word.failed;
	tr_buffer_free(&word);
	return true;
}

/* Appends the name column: the first word of the command. */
static void put_name(struct reader *reader, const struct object *object)
{
	struct tr_buffer word = TR_BUFFER_INIT;
	struct tr_text text, ignored;
	struct tr_buffer *line = &reader->base.line;
	struct tr_words words;

	if (object->fields[ARGUMENTS]) {
		struct tr_text list = object->fields[ARGUMENTS]->value;
		struct tr_json json = { list.data, list.data + list.len };
		tr_json_next(&json, &ignored);
		if (tr_json_next(&json, &text) == TR_JSON_STRING)
			tr_json_string_to_cell(text, line);
		else
			tr_buffer_put_byte(line, '-');
		return;
	}
	if (object->fields[COMMAND] && begin_words(reader, object, &words) &&
	    tr_words_next(&words, &word))
		tr_cell_escape(tr_buffer_text(&word), false, line);
	else
		tr_buffer_put_byte(line, '-');
	line->failed |= word.failed;
	tr_buffer_free(&word);
}

/* Puts the fields of an entry. False: a value that no record can hold, or memory is exhausted. */
static bool put_fields(struct reader *reader, const struct object *object, struct tr_error *err)
{
	const struct tr_json_member *const *fields = object->fields;
	struct tr_buffer *line = &reader->base.line, *extra = &reader->extra;

	if (!tr_json_put_field("cwd", fields[DIRECTORY], line, err) ||
	    !tr_json_put_field("argv", fields[ARGUMENTS], line, err) ||
	    (fields[COMMAND] && !put_command(reader, object)) ||
	    !tr_json_put_field("file", fields[SOURCE], line, err) ||
	    !tr_json_put_field("output", fields[OUTPUT], line, err) ||
	    !tr_json_put_field("respfile", fields[RESPFILE], line, err))
		return false;
	tr_buffer_reset(extra);
	if (!tr_json_put_others(&object->all, extra, err))
		return false;
	tr_json_put_extra(tr_buffer_text(extra), line);
	return true;
}

/*
 * Makes the record of an object. TR_WARN: it is left out, because it is no entry or a value has the
 * wrong type.
 */
static enum tr_status make_record(struct reader *reader, struct tr_text text,
				  struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;
	struct object object;

	if (!find_members(&object, text, &reader->base.arena))
		return tr_arena_error(&reader->base.arena, err);
	if (!object.fields[DIRECTORY] && !object.fields[ARGUMENTS] && !object.fields[COMMAND]) {
		tr_error_set(err, TR_CAUSE_INPUT, "an object without directory and arguments");
		return TR_WARN;
	}
	for (unsigned i = 0; i < KEYS; i++) {
		const struct tr_json_member *member =
			tr_json_member_find(object.all.members, object.all.count, keys[i].key);
		if (!member || member->type == keys[i].type)
			continue;
		tr_error_set(err, TR_CAUSE_INPUT, "an object with a value of the wrong type: %s",
			     keys[i].key);
		return TR_WARN;
	}
	tr_reader_begin(&reader->base, "exec");
	tr_buffer_put_literal(line, "-\t-\t");
	put_name(reader, &object);
	bool done = put_fields(reader, &object, err);
	line->failed |= reader->extra.failed;
	if (done || line->failed)
		return tr_reader_deliver(&reader->base, record, err);
	reader->base.seq--;
	return tr_error_status(err);
}

/* Makes a record of the next object. */
static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_text object;

	tr_arena_reset(&base->arena);
	enum tr_status status =
		tr_json_items_next(&reader->items, &object, &base->source_line, err);
	if (status != TR_OK)
		return status;
	status = make_record(reader, object, record, err);
	if (status != TR_OK)
		tr_error_at_line(err, base->source_line);
	return status;
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	tr_json_items_init(&reader->items, in, false);
	return &reader->base;
}

bool tr_compdb_call_config(const struct tr_settings *settings, struct tr_call_config *config,
			   struct tr_tool_config **tools, struct tr_error *err)
{
	struct tr_text path = tr_setting_get(settings, "tools", "");

	if (!tr_setting_get_calls(settings, config, err))
		return false;
	if (!path.len)
		return true;
	*tools = tr_text_is(path, "xcalbuild") ? tr_tool_config_xcalbuild(err)
					       : tr_tool_config_read(path, err);
	config->tools = *tools;
	return *tools != NULL;
}

enum tr_status tr_compdb_expand(const struct tr_call_config *config,
				const struct tr_respfile_rules *rules, struct tr_arena *arena,
				struct tr_call *call, size_t *at, struct tr_error *err)
{
	*at = tr_call_find_program(call, config, arena);
	if (*at >= call->command.argc)
		*at = 0;
	if (!call->rules)
		return tr_error_memory(err);
	if (rules)
		call->rules = rules;
	return tr_call_expand(call, *at, config, arena, err);
}

bool tr_compdb_inline(const struct tr_expansion *expansion, size_t first, struct tr_arena *arena,
		      const struct tr_text **argv, size_t *argc)
{
	if (!expansion->files)
		return true;
	struct tr_text *words = tr_arena_alloc(arena, (first + expansion->count) * sizeof *words);
	if (!words)
		return false;
	for (size_t i = 0; i < first; i++)
		words[i] = (*argv)[i];
	for (size_t i = 0; i < expansion->count; i++)
		words[first + i] = expansion->words[i].text;
	*argv = words;
	*argc = first + expansion->count;
	return true;
}

void tr_compdb_put_element(struct tr_writer *base, struct tr_text json)
{
	tr_output_put_text(base->out, base->entries ? TR_TEXT(",\n") : TR_TEXT("[\n"));
	base->entries = true;
	tr_output_put_text(base->out, json);
	tr_output_record_end(base->out);
}

enum tr_status tr_compdb_extra(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, "extra");
	size_t begin = to->len;

	if (!field || tr_json_members_from_field(record, field, to, err))
		return TR_OK;
	to->len = begin;
	return tr_error_status(err);
}

static const char *const extensions[] = { ".compile_commands.json", NULL };

static const struct tr_format_option options[] = {
	{ "unique", "file+output|file|all|none", false, true,
	  "of entries with the same file and output, or file, or content, keep the first "
	  "(default file+output)" },
	{ "include", "GLOB", false, true,
	  "write only sources whose whole path matches; * also matches / (repeatable)" },
	{ "exclude", "GLOB", false, true,
	  "write no sources whose whole path matches "
	  "(repeatable)" },
	{ "existing", "no|yes", false, true,
	  "write only sources that exist on this machine (default no)" },
	{ "form", "arguments|command", false, true,
	  "write command lines as lists of words (default), or as strings for a shell" },
	{ "output", "yes|no", false, true, "write the member output (default yes)" },
	{ "paths", "absolute|relative|canonical|as-is", false, true,
	  "write file and output as absolute paths (default), relative to directory, with links "
	  "resolved, or unchanged" },
	{ "env-includes", "no|yes", false, true,
	  "add options for CPATH, INCLUDE, CL and similar environment variables (default no)" },
	{ "for", "any|clangd", false, true,
	  "clangd: leave out options that Clang does not know "
	  "(default any)" },
	{ "append", "DATABASE", false, true,
	  "keep the entries of this database that are not replaced by new ones" },
	{ "headers", "no|yes|all", false, true,
	  "add entries for headers, from file calls: those of the project, or all (default no)" },
	{ "respfiles", "inline|keep", false, true,
	  "replace the names of response files by their contents (default), or keep them" },
	TR_CALL_OPTIONS,
	{ "tools", "CONFIG", false, true,
	  "compilers and their response files, as a JSON file of xcalbuild's tracer" },
	TR_COMPILER_OPTIONS(false, true),
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_compdb = {
	.name = "compdb",
	.summary = "compilation database, compile_commands.json",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = compdb_bid,
	.open = open_reader,
	.create = tr_compdb_create,
	.default_style = "tree",
};

static const char *const spec_extensions[] = { ".buildspec.json", NULL };

static const struct tr_format_option spec_options[] = {
	{ "tools", "CONFIG", false, true,
	  "write the calls of these programs: a JSON file of xcalbuild's tracer, or xcalbuild "
	  "for its list" },
	{ "respfiles", "keep|inline|attach", false, true,
	  "keep the names of response files (default), replace them by their contents, or add "
	  "contents to respfile" },
	TR_CALL_OPTIONS,
	TR_COMPILER_OPTIONS(false, true),
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_buildspec = {
	.name = "buildspec",
	.summary = "build specification of xcalbuild",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_MERGES,
	.extensions = spec_extensions,
	.options = spec_options,
	.bid = buildspec_bid,
	.open = open_reader,
	.create = tr_buildspec_create,
	.default_style = "tree",
};
