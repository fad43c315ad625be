#include "view/json_records.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"
#include "view/json_indent.h"
#include "record/literal.h"
#include "view/json_value.h"

/* Where a field is shown. */
enum place { TOP, ARGS, RESULTS, RETURN, MORE };

struct shown {
	struct tr_text key; /* the bytes of it, or its spelling where they are no UTF-8 */
	bool plain;         /* the key is a word: nothing in it is escaped anywhere */
	struct tr_field *field;
	enum place place;
};

struct tr_json_view {
	struct tr_json_view_config config;
	struct tr_output *out;
	struct tr_buffer text;   /* the object, compact */
	struct tr_buffer pretty;
	bool any;                /* an element of the array has been written */

	/* the record that is being shown */
	struct tr_record *record;
	struct tr_error *err;
	enum tr_status status;
	struct shown *shown; /* grows to the longest record */
	struct shown **order;
	size_t capacity, count;
};

struct tr_json_view *tr_json_view_new(const struct tr_json_view_config *config,
				      struct tr_output *out)
{
	struct tr_json_view *view = calloc(1, sizeof *view);
	if (!view)
		return NULL;
	view->config = *config;
	view->out = out;
	return view;
}

void tr_json_view_free(struct tr_json_view *view)
{
	if (!view)
		return;
	tr_buffer_free(&view->text);
	tr_buffer_free(&view->pretty);
	free(view->shown);
	free(view->order);
	free(view);
}

/* The first thing that is wrong with the record is the one that is told; where: a column or key. */
static void trouble(struct tr_json_view *view, struct tr_text where, const struct tr_error *why)
{
	bool memory = why->cause == TR_CAUSE_MEMORY;
	if (view->status == TR_OK || (memory && view->status != TR_FATAL)) {
		if (memory)
			tr_error_memory(view->err);
		else
			tr_error_set(view->err, why->cause, "%.*s: %s", (int)where.len, where.data,
				     why->text);
		view->status = memory ? TR_FATAL : TR_WARN;
	}
}

static void out_of_memory(struct tr_json_view *view)
{
	struct tr_error why;
	tr_error_memory(&why);
	trouble(view, TR_TEXT(""), &why);
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

/* DIGITS up to 2^53-1. */
static bool is_exact_number(struct tr_text text)
{
	static const char max_exact[] = "9007199254740991";
	if (text.len == 0 || text.len > 16 || (text.data[0] == '0' && text.len > 1))
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < '0' || text.data[i] > '9')
			return false;
	return text.len < 16 || memcmp(text.data, max_exact, 16) <= 0;
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
	if (record->seq.type == TR_CELL_TEXT && is_exact_number(record->seq.text))
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

static bool starts_private(struct tr_text spelling)
{
	return spelling.len && spelling.data[0] == '.';
}

/* Kinds whose field names are those of the traced program. */
static bool has_args(struct tr_text kind)
{
	return tr_text_is(kind, "call") || tr_text_is(kind, "enter") ||
	       tr_text_is(kind, "leave") || tr_text_is(kind, "sys");
}

static enum place place_of(const struct tr_record *record, const struct tr_field *field,
			   bool args)
{
	if ((size_t)(field - record->fields) >= record->arrow)
		return tr_text_is(field->key, "return") ? RETURN : RESULTS;
	return args && !starts_private(field->key) ? ARGS : TOP;
}

/* True for what stands beside the fields of this record. */
static bool is_reserved(const struct tr_record *record, struct tr_text key)
{
	const char *p = key.data;
	switch (key.len) {
	case 3:
		return memcmp(p, "seq", 3) == 0;
	case 4:
		return memcmp(p, "kind", 4) == 0 || memcmp(p, "time", 4) == 0 ||
		       memcmp(p, "task", 4) == 0 || memcmp(p, "name", 4) == 0 ||
		       memcmp(p, "more", 4) == 0;
	default:
		return record->arrow != TR_NO_ARROW &&
		       (tr_text_is(key, "results") || tr_text_is(key, "return"));
	}
}

static bool is_word(struct tr_text key)
{
	for (size_t i = 0; i < key.len; i++) {
		char c = key.data[i];
		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '_')
			return false;
	}
	return true;
}

static struct tr_text shown_key(struct tr_json_view *view, struct tr_text spelling)
{
	struct tr_text bytes;
	struct tr_error why;
	if (!memchr(spelling.data, '\\', spelling.len))
		return spelling;
	if (!tr_cell_bytes(spelling, view->record->arena, &bytes, &why)) {
		trouble(view, TR_TEXT("key"), &why);
		return spelling;
	}
	const char *end = bytes.data + bytes.len;
	return tr_utf8_check(bytes.data, end) == end ? bytes : spelling;
}

static int by_place_and_key(const void *a, const void *b)
{
	const struct shown *x = *(struct shown *const *)a, *y = *(struct shown *const *)b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	size_t len = x->key.len < y->key.len ? x->key.len : y->key.len;
	int order = len ? memcmp(x->key.data, y->key.data, len) : 0;
	if (order)
		return order;
	if (x->key.len != y->key.len)
		return x->key.len < y->key.len ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Of a repeated key the last is the one that counts. */
static void hide_repeated(struct tr_json_view *view)
{
	enum { FEW = 8 };
	struct shown *shown = view->shown;
	if (view->count <= FEW) {
		for (size_t i = 0; i < view->count; i++)
			for (size_t j = i + 1; j < view->count; j++)
				if (shown[i].place == shown[j].place &&
				    tr_text_equal(shown[i].key, shown[j].key))
					shown[i].place = MORE;
		return;
	}
	for (size_t i = 0; i < view->count; i++)
		view->order[i] = &shown[i];
	qsort(view->order, view->count, sizeof *view->order, by_place_and_key);
	for (size_t i = 0; i + 1 < view->count; i++)
		if (view->order[i]->place == view->order[i + 1]->place &&
		    tr_text_equal(view->order[i]->key, view->order[i + 1]->key))
			view->order[i]->place = MORE;
}

static bool reserve(struct tr_json_view *view, size_t count)
{
	if (count <= view->capacity)
		return true;
	if (count > SIZE_MAX / 2 / sizeof *view->shown)
		return false;
	size_t capacity = count * 2;
	struct shown *shown = realloc(view->shown, capacity * sizeof *shown);
	if (shown)
		view->shown = shown;
	struct shown **order = realloc(view->order, capacity * sizeof *order);
	if (order)
		view->order = order;
	if (!shown || !order)
		return false;
	view->capacity = capacity;
	return true;
}

/* Decides where each field is shown. */
static bool arrange(struct tr_json_view *view)
{
	struct tr_record *record = view->record;
	if (!reserve(view, record->count))
		return false;
	bool args = has_args(record->kind);
	view->count = record->count;
	for (size_t i = 0; i < record->count; i++) {
		struct shown *shown = &view->shown[i];
		shown->field = &record->fields[i];
		if (!shown->field->key.data) {
			shown->key = TR_TEXT("");
			shown->plain = true;
			shown->place = MORE;
			continue;
		}
		shown->plain = is_word(shown->field->key);
		shown->key = shown->plain ? shown->field->key : shown_key(view, shown->field->key);
		shown->place = place_of(record, shown->field, args);
		if (shown->place == TOP && is_reserved(record, shown->key))
			shown->place = MORE;
	}
	hide_repeated(view);
	return true;
}

/* The fields of one place, as members of the object that is open. first: no comma before it. */
static void put_place(struct tr_json_view *view, enum place place, bool first)
{
	for (size_t i = 0; i < view->count; i++) {
		struct shown *shown = &view->shown[i];
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
	for (size_t i = 0; i < view->count; i++) {
		struct shown *shown = &view->shown[i];
		if (shown->place != MORE)
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

static void put_object(struct tr_json_view *view)
{
	struct tr_record *record = view->record;
	struct tr_buffer *to = &view->text;
	put_columns(view);
	put_place(view, TOP, false);
	if (has_args(record->kind)) {
		tr_buffer_put_literal(to, ",\"args\":{");
		put_place(view, ARGS, true);
		tr_buffer_put_byte(to, '}');
	}
	if (record->arrow != TR_NO_ARROW) {
		tr_buffer_put_literal(to, ",\"results\":{");
		put_place(view, RESULTS, true);
		tr_buffer_put_byte(to, '}');
		put_place(view, RETURN, false);
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

enum tr_status tr_json_view_put(struct tr_json_view *view, struct tr_record *record,
				struct tr_error *err)
{
	if (record->type != TR_RECORD)
		return TR_OK;
	struct tr_error why;
	view->record = record;
	view->err = err;
	view->status = TR_OK;
	tr_buffer_reset(&view->text);
	enum tr_status split = tr_record_split(record, &why);
	if (split == TR_WARN) {
		view->status = TR_WARN;
		if (err)
			*err = why;
	} else if (split == TR_FATAL) {
		out_of_memory(view);
	}
	if (view->status == TR_FATAL)
		return TR_FATAL;
	if (!arrange(view))
		out_of_memory(view);
	else
		put_object(view);
	if (view->text.failed)
		out_of_memory(view);
	if (view->status != TR_FATAL)
		write_object(view);
	return view->status;
}

void tr_json_view_finish(struct tr_json_view *view)
{
	if (view->config.array)
		tr_output_put_text(view->out, view->any ? TR_TEXT("\n]\n") : TR_TEXT("[]\n"));
}
