/* SPDX-License-Identifier: MIT */
#include "view/json_records.h"

#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "record/literal.h"
#include "view/computed.h"
#include "view/json_fields.h"
#include "view/json_frames.h"
#include "view/json_indent.h"
#include "view/json_value.h"

struct tr_json_view {
	struct tr_json_view_config config;
	struct tr_output *out;
	struct tr_buffer text; /* the object, compact */
	struct tr_buffer pretty;
	bool any; /* an element of the array has been written */
	struct tr_json_frames frames;
	struct tr_computed *computed; /* NULL: not asked for */

	/* the record that is being shown */
	struct tr_record *record;
	struct tr_error *err;
	enum tr_status status;
	struct tr_json_fields fields;
};

struct tr_json_view *tr_json_view_new(const struct tr_json_view_config *config,
				      struct tr_output *out)
{
	struct tr_json_view *view = calloc(1, sizeof *view);
	if (!view)
		return NULL;
	view->config = *config;
	view->out = out;
	view->computed = config->computed ? tr_computed_new(config->call_kinds) : NULL;
	if (config->computed && !view->computed) {
		tr_json_view_free(view);
		return NULL;
	}
	return view;
}

void tr_json_view_free(struct tr_json_view *view)
{
	if (!view)
		return;
	tr_buffer_free(&view->text);
	tr_buffer_free(&view->pretty);
	tr_json_fields_free(&view->fields);
	tr_json_frames_clear(&view->frames);
	tr_computed_free(view->computed);
	free(view);
}

/* The first thing that is wrong with the record is the one that is told; memory beats all. */
static void note(struct tr_json_view *view, enum tr_status status, const struct tr_error *why)
{
	if (status == TR_OK || view->status == TR_FATAL ||
	    (view->status == TR_WARN && status == TR_WARN))
		return;
	view->status = status;
	if (view->err)
		*view->err = *why;
}

/* A value or cell that cannot be understood, or memory is out. where: its column or key. */
static void trouble(struct tr_json_view *view, struct tr_text where, struct tr_error *why)
{
	enum tr_status status = why->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	tr_error_name(why, where);
	note(view, status, why);
}

static void out_of_memory(struct tr_json_view *view)
{
	struct tr_error why;
	tr_error_memory(&why);
	note(view, TR_FATAL, &why);
}

/* plain: text is known to need no escape. */
static void put_string(struct tr_json_view *view, struct tr_text text, bool plain)
{
	struct tr_buffer *to = &view->text;
	tr_buffer_put_byte(to, '"');
	if (plain)
		tr_buffer_put_text(to, text);
	else
		tr_string_escape(text, to);
	tr_buffer_put_byte(to, '"');
}

static void put_escaped_cell(struct tr_json_view *view, struct tr_text spelling, const char *column)
{
	struct tr_text bytes;
	struct tr_error why;
	if (tr_cell_bytes(spelling, view->record->arena, &bytes, &why)) {
		tr_json_view_bytes(bytes, &view->text);
	} else {
		tr_json_view_tagged("$raw", spelling, &view->text);
		trouble(view, tr_text_from(column), &why);
	}
}

static void put_cell(struct tr_json_view *view, const struct tr_cell *cell, const char *column,
		     bool plain)
{
	struct tr_buffer *to = &view->text;
	switch (cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_literal(to, "null");
		break;
	case TR_CELL_TEXT:
		if (plain || !memchr(cell->text.data, '\\', cell->text.len))
			put_string(view, cell->text, plain); /* lines are valid UTF-8 */
		else
			put_escaped_cell(view, cell->text, column);
		break;
	default:
		tr_buffer_put_byte(to, '"');
		tr_cell_write(cell, to);
		tr_buffer_put_byte(to, '"');
	}
}

/* One look at all columns of a line instead of several at each. */
static bool has_plain_columns(const struct tr_record *record)
{
	if (!record->line.data)
		return false;
	size_t len = (size_t)(record->rest.data - record->line.data);
	return !memchr(record->line.data, '\\', len) && !memchr(record->line.data, '"', len);
}

static void put_columns(struct tr_json_view *view)
{
	struct tr_record *record = view->record;
	struct tr_buffer *to = &view->text;
	bool plain = has_plain_columns(record);
	tr_buffer_put_literal(to, "{\"kind\":\"");
	tr_buffer_put_text(to, record->kind);
	tr_buffer_put_literal(to, "\",\"seq\":");
	if (record->seq.type == TR_CELL_TEXT && tr_json_keeps_digits(record->seq.text))
		tr_buffer_put_text(to, record->seq.text);
	else if (record->seq.type == TR_CELL_NUMBER && record->seq.number >> 53 == 0)
		tr_buffer_put_decimal(to, record->seq.number);
	else
		put_cell(view, &record->seq, "seq", plain);
	tr_buffer_put_literal(to, ",\"time\":");
	put_cell(view, &record->time, "time", plain);
	tr_buffer_put_literal(to, ",\"task\":");
	put_cell(view, &record->task, "task", plain);
	tr_buffer_put_literal(to, ",\"name\":");
	put_cell(view, &record->name, "name", plain);
}

/* JSON in its canonical spelling is copied; what is not goes through a tree. */
static void put_value(struct tr_json_view *view, struct tr_field *field)
{
	bool json = false;
	if (field->text.data && !field->value)
		tr_literal_check(field->text, &json, NULL);
	if (json) {
		tr_buffer_put_text(&view->text, field->text);
		return;
	}
	struct tr_error why;
	struct tr_value *value = tr_field_value(view->record, field, &why);
	if (!value) {
		tr_json_view_tagged("$raw", field->text, &view->text);
		trouble(view, field->key, &why);
	} else if (!tr_json_view_value(value, view->record->arena, &view->text)) {
		out_of_memory(view);
	}
}

/* The fields of one place, as members of the object that is open. first: no comma before it. */
static void put_place(struct tr_json_view *view, enum tr_json_place place, bool first)
{
	for (size_t i = 0; i < view->fields.count; i++) {
		struct tr_json_field *shown = &view->fields.list[i];
		if (shown->place != place)
			continue;
		if (!first)
			tr_buffer_put_byte(&view->text, ',');
		first = false;
		put_string(view, shown->key, shown->plain);
		tr_buffer_put_byte(&view->text, ':');
		put_value(view, shown->field);
	}
}

static void put_more(struct tr_json_view *view)
{
	const char *before = ",\"more\":[";
	for (size_t i = 0; i < view->fields.count; i++) {
		struct tr_json_field *shown = &view->fields.list[i];
		if (shown->place != TR_JSON_MORE)
			continue;
		tr_buffer_put_text(&view->text, tr_text_from(before));
		before = ",";
		if (!shown->field->key.data) {
			tr_json_view_tagged("$raw", shown->field->text, &view->text);
			continue;
		}
		tr_buffer_put_byte(&view->text, '[');
		put_string(view, shown->key, shown->plain);
		tr_buffer_put_byte(&view->text, ',');
		put_value(view, shown->field);
		tr_buffer_put_byte(&view->text, ']');
	}
	if (!before[1])
		tr_buffer_put_byte(&view->text, ']');
}

/* What the ids in .bt stand for; an id that nobody defined is shown itself. */
static void put_backtrace(struct tr_json_view *view)
{
	struct tr_buffer *to = &view->text;
	struct tr_field *field = tr_record_field(view->record, ".bt");
	struct tr_value *list = field ? tr_field_value(view->record, field, NULL) : NULL;

	if (!list || list->type != TR_LIST)
		return;
	tr_buffer_put_literal(to, ",\"backtrace\":[");
	for (size_t i = 0; i < list->count; i++) {
		const struct tr_value *item = &list->as.items[i];
		struct tr_text object = { NULL, 0 };
		if (item->type == TR_SYMBOL && item->as.symbol->count == 1)
			object = tr_json_frames_get(&view->frames, item->as.symbol->names[0].text);
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		if (object.data)
			tr_buffer_put_text(to, object);
		else if (!tr_json_view_value(item, view->record->arena, to))
			out_of_memory(view);
	}
	tr_buffer_put_byte(to, ']');
}

/* An enter's frame is that in which its leave comes; its backtrace is shown without being asked. */
static bool is_shown(const struct tr_record *record, const char *name)
{
	return strcmp(name, "backtrace") != 0 &&
	       (strcmp(name, "frame") != 0 || !tr_text_is(record->kind, "enter"));
}

static void put_computed(struct tr_json_view *view)
{
	struct tr_computed_fields *fields = tr_computed_fields(view->computed);
	struct tr_buffer *to = &view->text;

	for (size_t i = 0; i < TR_COMPUTED_NAMES; i++) {
		const char *name = tr_computed_names[i];
		struct tr_error why;
		if (!is_shown(view->record, name) || tr_record_field(view->record, name))
			continue;
		const struct tr_value *value =
			fields->get(fields, tr_text_from(name), view->record, NULL, &why);
		if (value) {
			tr_buffer_put_literal(to, ",\"");
			tr_buffer_put_text(to, tr_text_from(name));
			tr_buffer_put_literal(to, "\":");
		}
		if (value ? !tr_json_view_value(value, view->record->arena, to)
			  : why.cause != TR_CAUSE_NONE)
			out_of_memory(view);
	}
}

static void put_object(struct tr_json_view *view)
{
	struct tr_record *record = view->record;
	struct tr_buffer *to = &view->text;
	put_columns(view);
	put_place(view, TR_JSON_TOP, false);
	if (view->computed)
		put_computed(view);
	if (tr_json_has_args(record->kind)) {
		if (view->frames.by_id.count)
			put_backtrace(view);
		tr_buffer_put_literal(to, ",\"args\":{");
		put_place(view, TR_JSON_ARGS, true);
		tr_buffer_put_byte(to, '}');
	}
	if (record->arrow != TR_NO_ARROW) {
		tr_buffer_put_literal(to, ",\"results\":{");
		put_place(view, TR_JSON_RESULTS, true);
		tr_buffer_put_byte(to, '}');
		put_place(view, TR_JSON_RETURN, false);
	}
	put_more(view);
	tr_buffer_put_byte(to, '}');
}

static void write_object(struct tr_json_view *view)
{
	struct tr_text text = tr_buffer_text(&view->text);
	if (view->config.pretty) {
		tr_buffer_reset(&view->pretty);
		tr_json_indent(text, view->config.array, &view->pretty);
		if (view->pretty.failed) {
			out_of_memory(view);
			return;
		}
		text = tr_buffer_text(&view->pretty);
	}
	if (view->config.array) {
		tr_output_put_text(view->out, view->any ? TR_TEXT(",\n") : TR_TEXT("[\n"));
		if (view->config.pretty)
			tr_output_put_literal(view->out, "  ");
	}
	view->any = true;
	tr_output_put_text(view->out, text);
	if (!view->config.array)
		tr_output_put_byte(view->out, '\n');
	tr_output_record_end(view->out);
}

static void keep_frame(struct tr_json_view *view)
{
	struct tr_buffer *to = &view->text;

	tr_buffer_put_byte(to, '{');
	put_place(view, TR_JSON_TOP, true);
	tr_buffer_put_byte(to, '}');
	if (view->status != TR_FATAL && !to->failed &&
	    !tr_json_frames_put(&view->frames, view->record->task.text, tr_buffer_text(to)))
		out_of_memory(view);
}

/* Definitions are not shown, but frames in the records that name them. */
static bool is_frame(const struct tr_record *record)
{
	return record->type == TR_DEFINITION && tr_text_is(record->kind, "frame") &&
	       record->task.type == TR_CELL_TEXT;
}

static void look_at(struct tr_json_view *view)
{
	struct tr_error why;

	note(view, tr_record_split(view->record, &why), &why);
	if (view->status != TR_FATAL)
		note(view, tr_json_fields_arrange(&view->fields, view->record, &why), &why);
	if (view->status == TR_FATAL)
		return;
	if (view->record->type == TR_RECORD)
		put_object(view);
	else
		keep_frame(view);
}

enum tr_status tr_json_view_put(struct tr_json_view *view, struct tr_record *record,
				struct tr_error *err)
{
	bool shown = record->type == TR_RECORD;
	if (view->computed && !tr_computed_follow(view->computed, record))
		return tr_error_memory(err);
	if (record->type == TR_HEADER && view->frames.ended)
		tr_json_frames_clear(&view->frames);
	if (!shown && !is_frame(record))
		return TR_OK;
	view->frames.ended = view->frames.ended || shown;
	view->record = record;
	view->err = err;
	view->status = TR_OK;
	if (view->config.array || view->config.pretty)
		tr_buffer_reset(&view->text);
	else
		tr_output_lend(view->out, &view->text); /* nothing else goes out before it */
	look_at(view);
	if (view->text.failed)
		out_of_memory(view);
	if (view->status != TR_FATAL && shown)
		write_object(view);
	return view->status;
}

void tr_json_view_finish(struct tr_json_view *view)
{
	if (view->config.array)
		tr_output_put_text(view->out, view->any ? TR_TEXT("\n]\n") : TR_TEXT("[]\n"));
}
