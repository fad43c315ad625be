/* SPDX-License-Identifier: MIT */
/*
 * Reads both formats: objects out of the window (record/json.h), their members, the record. A
 * member that has no field goes into extra.
 */

#include "format/compdb/compdb.h"
#include "format/reader_base.h"
#include "process/path.h"
#include "process/command.h"
#include "record/json.h"
#include "record/literal.h"

struct reader {
	struct tr_reader base;
	struct tr_json_items items;
	struct tr_buffer extra;
};

enum { MOST = 1 << 20, BITS = 40, BITS_CUT = 10 };

static bool is_member(const struct tr_json_member *members, size_t count, const char *key,
		      enum tr_json_token type)
{
	const struct tr_json_member *member = tr_json_member_find(members, count, key);

	return member && member->type == type;
}

/* An entry of a database has a file, and one of a build specification has none. */
static int bid(struct tr_input *in, bool wants_file)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_json_member *members = NULL;
	struct tr_text object;
	size_t count = 0;
	int bits = 0;

	if (!tr_json_items_peek(in, MOST, &object))
		return 0;
	/* if memory is exhausted, the open that follows reports it */
	if (!tr_json_members(object, &arena, &members, &count)) {
		tr_arena_free(&arena);
		return 1;
	}
	bool command = is_member(members, count, "arguments", TR_JSON_ARRAY) ||
		       is_member(members, count, "command", TR_JSON_STRING);
	bool directory = is_member(members, count, "directory", TR_JSON_STRING);
	bool file = is_member(members, count, "file", TR_JSON_STRING);
	if (command && directory && file == wants_file)
		bits = BITS;
	else if (command && object.len > MOST / 2 && wants_file)
		bits = BITS_CUT; /* too long to see the other keys */
	tr_arena_free(&arena);
	return bits;
}

int tr_compdb_bid(struct tr_input *in)
{
	return bid(in, true);
}

int tr_buildspec_bid(struct tr_input *in)
{
	return bid(in, false);
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);

	tr_buffer_free(&reader->extra);
}

struct object {
	struct tr_json_member *members;
	size_t count;
	const struct tr_json_member *directory, *arguments, *command, *file, *output, *respfile;
};

static const struct tr_json_member *typed(const struct object *object, const char *key,
					  enum tr_json_token type)
{
	const struct tr_json_member *member =
		tr_json_member_find(object->members, object->count, key);

	return member && member->type == type ? member : NULL;
}

/* The first known key whose value has the wrong type; NULL: none. */
static const char *misused(const struct object *object)
{
	static const struct {
		const char *key;
		enum tr_json_token type;
	} known[] = {
		{ "directory", TR_JSON_STRING }, { "arguments", TR_JSON_ARRAY },
		{ "command", TR_JSON_STRING },	 { "file", TR_JSON_STRING },
		{ "output", TR_JSON_STRING },	 { "respfile", TR_JSON_STRING },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		const struct tr_json_member *member =
			tr_json_member_find(object->members, object->count, known[i].key);
		if (member && member->type != known[i].type)
			return known[i].key;
	}
	return NULL;
}

static bool find_members(struct object *object, struct tr_text text, struct tr_arena *arena)
{
	*object = (struct object){ 0 };
	if (!tr_json_members(text, arena, &object->members, &object->count))
		return false;
	object->directory = typed(object, "directory", TR_JSON_STRING);
	object->arguments = typed(object, "arguments", TR_JSON_ARRAY);
	object->file = typed(object, "file", TR_JSON_STRING);
	object->output = typed(object, "output", TR_JSON_STRING);
	object->respfile = typed(object, "respfile", TR_JSON_STRING);
	if (!object->arguments)
		object->command = typed(object, "command", TR_JSON_STRING);
	return true;
}

/* The member, or a later one with its key, is a field. */
static bool is_field(const struct object *object, const struct tr_json_member *member)
{
	const struct tr_json_member *fields[] = { object->directory, object->arguments,
						  object->command,   object->file,
						  object->output,    object->respfile };

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i] && tr_text_equal(fields[i]->key, member->key))
			return true;
	return false;
}

/* The text between the quotes of a string. */
static struct tr_text body(struct tr_text string)
{
	return (struct tr_text){ string.data + 1, string.len - 2 };
}

/* Splits "command" as a shell of the system would. False: memory is exhausted. */
static bool begin_words(struct reader *reader, const struct object *object, struct tr_words *words)
{
	struct tr_text directory = object->directory ? body(object->directory->value) : TR_TEXT("");
	struct tr_text text = tr_string_bytes(body(object->command->value), &reader->base.arena);

	*words = (struct tr_words){ text.data, text.data + text.len,
				    tr_path_has_drive(directory) ? TR_QUOTING_WINDOWS
								 : TR_QUOTING_COMMAND,
				    false, false };
	return text.data;
}

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
		tr_buffer_put_byte(line, '"');
		tr_string_escape(tr_buffer_text(&word), line);
		tr_buffer_put_byte(line, '"');
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

	if (object->arguments) {
		struct tr_text list = object->arguments->value;
		struct tr_json json = { list.data, list.data + list.len };
		tr_json_next(&json, &ignored);
		if (tr_json_next(&json, &text) == TR_JSON_STRING)
			tr_json_string_to_cell(text, line);
		else
			tr_buffer_put_byte(line, '-');
		return;
	}
	if (object->command && begin_words(reader, object, &words) && tr_words_next(&words, &word))
		tr_cell_escape(tr_buffer_text(&word), false, line);
	else
		tr_buffer_put_byte(line, '-');
	line->failed |= word.failed;
	tr_buffer_free(&word);
}

/* Appends the members without a field. */
static bool put_extra(struct reader *reader, const struct object *object, struct tr_error *err)
{
	struct tr_buffer *extra = &reader->extra;

	tr_buffer_reset(extra);
	for (size_t i = 0; i < object->count; i++) {
		const struct tr_json_member *member = &object->members[i];
		if (is_field(object, member))
			continue;
		tr_buffer_put_literal(extra, ",\"");
		tr_json_string_to_spelling(member->key, extra);
		tr_buffer_put_literal(extra, "\":");
		if (!tr_json_put_value(member->value, extra, err))
			return false;
	}
	if (!extra->len)
		return true;
	tr_buffer_put_literal(&reader->base.line, "\textra={");
	tr_buffer_put(&reader->base.line, extra->data + 1, extra->len - 1);
	tr_buffer_put_byte(&reader->base.line, '}');
	return true;
}

static bool put_fields(struct reader *reader, const struct object *object, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;

	if (!tr_json_put_field("cwd", object->directory, line, err) ||
	    !tr_json_put_field("argv", object->arguments, line, err) ||
	    (object->command && !put_command(reader, object)))
		return false;
	return tr_json_put_field("file", object->file, line, err) &&
	       tr_json_put_field("output", object->output, line, err) &&
	       tr_json_put_field("respfile", object->respfile, line, err) &&
	       put_extra(reader, object, err);
}

static enum tr_status make_record(struct reader *reader, struct tr_text text,
				  struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *line = &reader->base.line;
	struct object object;

	if (!find_members(&object, text, &reader->base.arena))
		return tr_arena_error(&reader->base.arena, err);
	if (!object.directory && !object.arguments && !object.command) {
		tr_error_set(err, TR_CAUSE_INPUT, "an object without directory and arguments");
		return TR_WARN;
	}
	if (misused(&object)) {
		tr_error_set(err, TR_CAUSE_INPUT, "an object with a value of the wrong type: %s",
			     misused(&object));
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

struct tr_reader *tr_compdb_open(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	tr_json_items_init(&reader->items, in, false);
	return &reader->base;
}
