/* SPDX-License-Identifier: MIT */
/*
 * Records as lines of a trace, and the check of .raw: see klocwork.h.
 *
 * The spelling is that of kwinject: members in a fixed order and no blanks. A trace in another
 * spelling is written again unchanged only from .raw, which --exact asks for. .raw counts only as
 * long as reading it gives the very fields of the record; otherwise a field was edited.
 */
#include <string.h>

#include "core/input.h"
#include "format/klocwork/klocwork.h"
#include "record/json.h"
#include "record/literal.h"

enum tr_status tr_klocwork_fields_find(struct tr_record *record, struct tr_klocwork_fields *fields,
				       struct tr_error *err)
{
	enum { PPID, CWD, ARGV, ENV, ENVTOP, ENVDIFF, EXTRA, RAW, FIELDS };
	static const struct tr_text keys[FIELDS] = {
		[PPID] = TR_TEXT("ppid"),     [CWD] = TR_TEXT("cwd"),
		[ARGV] = TR_TEXT("argv"),     [ENV] = TR_TEXT("env"),
		[ENVTOP] = TR_TEXT("envtop"), [ENVDIFF] = TR_TEXT("envdiff"),
		[EXTRA] = TR_TEXT("extra"),   [RAW] = TR_TEXT(".raw"),
	};
	struct tr_field *found[FIELDS];
	enum tr_status status = tr_record_split(record, err);

	if (status != TR_OK)
		return status;
	tr_record_fields(record, keys, FIELDS, found);
	*fields = (struct tr_klocwork_fields){
		.ppid = found[PPID],
		.cwd = found[CWD],
		.argv = found[ARGV],
		.env = found[ENV],
		.envtop = found[ENVTOP],
		.envdiff = found[ENVDIFF],
		.extra = found[EXTRA],
		.raw = found[RAW],
	};
	return TR_OK;
}

/* Appends a JSON string. False: memory is exhausted, and err is filled. */
static bool put_string(struct tr_text bytes, struct tr_buffer *to, struct tr_error *err)
{
	tr_json_string_from_bytes(bytes, to);
	if (to->failed)
		tr_error_memory(err);
	return !to->failed;
}

/* The bytes of a cell that is not absent. */
static bool cell_bytes(struct tr_record *record, const struct tr_cell *cell, struct tr_text *bytes,
		       struct tr_error *err)
{
	if (cell->type == TR_CELL_TEXT)
		return tr_cell_bytes(cell->text, record->arena, bytes, err);
	struct tr_buffer text = TR_BUFFER_INIT;
	tr_cell_write(cell, &text);
	*bytes = tr_arena_copy(record->arena, tr_buffer_text(&text));
	bool failed = text.failed || !bytes->data;
	tr_buffer_free(&text);
	if (failed)
		tr_error_memory(err);
	return !failed;
}

/* The bytes are exactly one JSON value on one line. */
static bool is_json(struct tr_text bytes)
{
	struct tr_buffer copy = TR_BUFFER_INIT; /* the scanner needs padding */
	char *room = tr_buffer_room(&copy, bytes.len + TR_INPUT_PAD);
	bool whole = false;
	if (room && bytes.len && !memchr(bytes.data, '\n', bytes.len)) {
		memcpy(room, bytes.data, bytes.len);
		memset(room + bytes.len, 0, TR_INPUT_PAD);
		struct tr_json json = { room, room + bytes.len };
		struct tr_error ignored;
		enum tr_json_token token = tr_json_skip(&json, &ignored);
		whole = token != TR_JSON_BAD && token != TR_JSON_CUT && json.pos == json.end;
	}
	tr_buffer_free(&copy);
	return whole;
}

bool tr_klocwork_render_id(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	const struct tr_cell *cell =
		record->task.type == TR_CELL_ABSENT ? &record->seq : &record->task;
	struct tr_text bytes;
	if (cell->type == TR_CELL_ABSENT) {
		tr_error_set(err, TR_CAUSE_INPUT, "neither task nor seq: the event has no id");
		return false;
	}
	if (cell->type == TR_CELL_TEXT && tr_klocwork_id_is_plain(cell->text)) {
		tr_buffer_put_text(to, cell->text);
		return true;
	}
	if (!cell_bytes(record, cell, &bytes, err))
		return false;
	if (!is_json(bytes))
		return put_string(bytes, to, err);
	tr_buffer_put_text(to, bytes);
	return true;
}

/* Appends the name column as a JSON string. */
static bool put_name(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	struct tr_text bytes;
	return cell_bytes(record, &record->name, &bytes, err) && put_string(bytes, to, err);
}

/* Appends a member if there is a field; prefix: its key and colon. */
static bool put_member(struct tr_record *record, struct tr_text prefix, struct tr_field *field,
		       struct tr_buffer *to, struct tr_error *err)
{
	if (!field)
		return true;
	tr_buffer_put_text(to, prefix);
	return tr_json_from_field(record, field, to, err);
}

/* Appends env-diff: the override if there is one, else the record's own difference. */
static bool put_env_diff(struct tr_record *record, const struct tr_klocwork_fields *fields,
			 const struct tr_klocwork_overrides *overrides, struct tr_buffer *to,
			 struct tr_error *err)
{
	struct tr_text prefix = TR_TEXT(",\"env-diff\":");
	if (!overrides->has_envdiff) {
		struct tr_field *field = fields->envdiff ? fields->envdiff : fields->envtop;
		/* an envtop without variables comes from an event without the member */
		bool empty = field == fields->envtop && field &&
			     (field->text.data
				      ? tr_text_is(field->text, "{}")
				      : field->value->type == TR_MAP && field->value->count == 0);
		return empty || put_member(record, prefix, field, to, err);
	}
	if (!overrides->envdiff.data)
		return true;
	tr_buffer_put_text(to, prefix);
	if (tr_json_from_literal(overrides->envdiff, record->arena, to, err))
		return true;
	tr_error_name(err, TR_TEXT("env"));
	return false;
}

/* Appends the object of an event. False: err is filled. */
static bool put_exec(struct tr_record *record, const struct tr_klocwork_fields *fields,
		     const struct tr_klocwork_overrides *overrides, struct tr_buffer *to,
		     struct tr_error *err)
{
	tr_buffer_put_literal(to, "{\"id\":");
	if (!tr_klocwork_render_id(record, to, err))
		return false;
	if (overrides->parent_id.data) {
		tr_buffer_put_literal(to, ",\"parent_id\":");
		tr_buffer_put_text(to, overrides->parent_id);
	} else if (!put_member(record, TR_TEXT(",\"parent_id\":"), fields->ppid, to, err)) {
		return false;
	}
	if (!put_member(record, TR_TEXT(",\"work_dir\":"), fields->cwd, to, err))
		return false;
	if (record->name.type != TR_CELL_ABSENT) {
		tr_buffer_put_literal(to, ",\"executable\":");
		if (!put_name(record, to, err))
			return false;
	}
	if (!put_member(record, TR_TEXT(",\"args\":"), fields->argv, to, err) ||
	    !put_env_diff(record, fields, overrides, to, err))
		return false;
	if (fields->extra) {
		tr_buffer_put_byte(to, ',');
		size_t begin = to->len;
		if (!tr_json_members_from_field(record, fields->extra, to, err))
			return false;
		to->len -= to->len == begin; /* an empty map: no comma */
	}
	tr_buffer_put_byte(to, '}');
	return true;
}

/* The status of a rendering; a failed one is removed. */
static enum tr_status end_rendering(bool done, struct tr_buffer *to, size_t begin,
				    struct tr_error *err)
{
	if (to->failed)
		tr_error_memory(err);
	if (done && !to->failed)
		return TR_OK;
	to->len = begin;
	return tr_error_status(err);
}

enum tr_status tr_klocwork_render_exec(struct tr_record *record,
				       const struct tr_klocwork_fields *fields,
				       const struct tr_klocwork_overrides *overrides,
				       struct tr_buffer *to, struct tr_error *err)
{
	size_t begin = to->len;
	bool done = put_exec(record, fields, overrides, to, err);
	return end_rendering(done, to, begin, err);
}

/* Appends the bytes of a string. */
static bool put_text(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
		     struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);
	if (!value)
		return false;
	if (value->type != TR_STRING || value->flags & TR_CUT) {
		tr_error_set(err, TR_CAUSE_INPUT, "text: not a string");
		return false;
	}
	struct tr_text bytes = tr_string_bytes(value->text, record->arena);
	if (!bytes.data)
		tr_error_memory(err);
	tr_buffer_put_text(to, bytes);
	return bytes.data;
}

/* Appends an object that is not an event, or the text of a raw record. */
static bool put_context(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	bool env = tr_text_is(record->kind, "env"), raw = tr_text_is(record->kind, "raw");
	/* an object of several keys that is not an event has no name: it is the value */
	bool whole = !env && record->name.type == TR_CELL_ABSENT;
	const char *key = env ? "vars" : raw ? "text" : "value";
	if (tr_record_split(record, err) == TR_FATAL)
		return false;
	struct tr_field *field = tr_record_field(record, key);
	if (!field) {
		tr_error_set(err, TR_CAUSE_INPUT, "no %s in the record", key);
		return false;
	}
	if (raw)
		return put_text(record, field, to, err);
	if (whole)
		return tr_json_from_field(record, field, to, err);
	tr_buffer_put_byte(to, '{');
	if (env)
		tr_buffer_put_literal(to, "\"env\"");
	else if (!put_name(record, to, err))
		return false;
	tr_buffer_put_byte(to, ':');
	if (!tr_json_from_field(record, field, to, err))
		return false;
	tr_buffer_put_byte(to, '}');
	return true;
}

enum tr_status tr_klocwork_render_context(struct tr_record *record, struct tr_buffer *to,
					  struct tr_error *err)
{
	size_t begin = to->len;
	return end_rendering(put_context(record, to, err), to, begin, err);
}

/* Fields that are not part of the object's own text. */
static bool is_context(struct tr_text key)
{
	return tr_text_is(key, "parent") || tr_text_is(key, "flagged") || tr_text_is(key, ".raw");
}

/* The index of the next field of the object's own text. */
static size_t next_field(const struct tr_record *record, size_t i)
{
	while (i < record->count && is_context(record->fields[i].key))
		i++;
	return i;
}

/* Compares spellings: a field with another spelling is an edit, which takes precedence. */
static bool same_fields(const struct tr_record *a, const struct tr_record *b)
{
	size_t i = 0, k = 0;
	for (;;) {
		i = next_field(a, i);
		k = next_field(b, k);
		if (i == a->count || k == b->count)
			return i == a->count && k == b->count;
		if (!tr_text_equal(a->fields[i].key, b->fields[k].key) || !a->fields[i].text.data ||
		    !tr_text_equal(a->fields[i].text, b->fields[k].text))
			return false;
		i++;
		k++;
	}
}

/* True if two cells have the same text, or both are absent. */
static bool same_cell(const struct tr_cell *a, const struct tr_cell *b)
{
	bool text = a->type == TR_CELL_TEXT && b->type == TR_CELL_TEXT;
	return text ? tr_text_equal(a->text, b->text) : a->type == b->type;
}

/* Reading the object gives this record, except for seq, parent and flags. */
static bool reads_as(struct tr_record *record, const struct tr_klocwork_object *object,
		     struct tr_error *err)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_klocwork_gaps gaps;
	struct tr_record read;
	tr_klocwork_object_line(object, 0, TR_NO_POSITION, &line, &gaps);
	tr_buffer_put_byte(&line, '\n');
	tr_record_init(&read, record->arena);
	if (line.failed)
		tr_error_memory(err);
	bool same = !line.failed && tr_record_from_line(&read, tr_buffer_text(&line), err) &&
		    tr_record_split(&read, err) == TR_OK && tr_record_split(record, err) == TR_OK &&
		    tr_text_equal(record->kind, read.kind) &&
		    same_cell(&record->task, &read.task) && same_cell(&record->name, &read.name) &&
		    same_fields(record, &read);
	tr_buffer_free(&line);
	return same;
}

/* The text of a raw record is the garbage line in these bytes. */
static bool is_line_of(struct tr_record *record, struct tr_text bytes, struct tr_error *err)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	bool same = tr_klocwork_render_context(record, &text, err) == TR_OK &&
		    tr_text_equal(tr_buffer_text(&text), tr_klocwork_unit_line(bytes));
	tr_buffer_free(&text);
	return same;
}

bool tr_klocwork_raw_holds(struct tr_record *record, struct tr_field *raw,
			   struct tr_klocwork_object *object, struct tr_buffer *bytes,
			   struct tr_error *err)
{
	tr_error_clear(err);
	struct tr_value *value = tr_field_value(record, raw, err);
	if (!value || value->type != TR_STRING || value->flags & TR_CUT)
		return false;
	struct tr_text decoded = tr_string_bytes(value->text, record->arena);
	char *room = decoded.data ? tr_buffer_room(bytes, decoded.len + TR_INPUT_PAD) : NULL;
	if (!room) {
		tr_error_memory(err);
		return false;
	}
	memcpy(room, decoded.data, decoded.len);
	memset(room + decoded.len, 0, TR_INPUT_PAD);
	tr_buffer_used(bytes, decoded.len);
	decoded.data = room;
	if (tr_text_is(record->kind, "raw"))
		return is_line_of(record, decoded, err);
	return tr_klocwork_unit_whole(decoded, object, err) && reads_as(record, object, err);
}
