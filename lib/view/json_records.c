/* SPDX-License-Identifier: MIT */
/*
 * Objects of records. Each field is given a place in the object (arrange_fields), and the object
 * is composed place by place in view->text, without a tree. Definitions of stack frames are kept
 * as objects, for the backtraces of later records.
 */
#include "view/json_records.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/utf8.h"
#include "record/json.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "record/vocabulary.h"
#include "view/computed.h"
#include "view/json_value.h"

/* The part of the object that a field belongs to; see the header. */
enum place {
	PLACE_TOP,
	PLACE_ARGS,
	PLACE_RESULTS,
	PLACE_RETURN,
	PLACE_MORE,
};

struct shown_field {
	struct tr_text key; /* its bytes, or its spelling where they are not UTF-8 */
	struct tr_field *field;
	enum place place;
	bool plain; /* the key needs no escapes */
};

/* The fields of one record, each with its place. Kept from record to record for its memory. */
struct fields {
	struct shown_field *list; /* in the record's order */
	size_t count;
	struct shown_field **order; /* for sorting */
	size_t capacity;	    /* of list and order */
};

/* The stack frames of a segment as JSON objects; records refer to them by their ids. */
struct frames {
	struct tr_map by_id; /* struct frame */
	bool ended;	     /* records of the segment were shown: a header begins the next one */
};

struct tr_json_view {
	struct tr_json_view_config config;
	struct tr_output *out;
	struct tr_buffer text; /* the object, compact */
	struct tr_buffer pretty;
	bool any; /* an element of the array has been written */
	struct frames frames;
	struct tr_computed *computed; /* NULL: not asked for */

	/* the record that is being shown */
	struct tr_record *record;
	struct tr_error *err;
	enum tr_status status;
	struct fields fields;
};

/* A line break, and two blanks for each open bracket. */
static void new_line(size_t depth, struct tr_buffer *to)
{
	char *room = tr_buffer_room(to, 1 + 2 * depth);
	if (!room)
		return;
	room[0] = '\n';
	memset(room + 1, ' ', 2 * depth);
	tr_buffer_used(to, 1 + 2 * depth);
}

/*
 * Indents compact JSON. The text was composed here, so it is enough to find brackets, commas and
 * colons outside strings.
 */
static void indent(struct tr_text compact, size_t depth, struct tr_buffer *to)
{
	const char *p = compact.data, *end = p + compact.len;
	while (p < end) {
		const char *token = p++;
		switch (*token) {
		case '"':
			p = tr_string_end(token, end);
			tr_buffer_put_text(to, tr_text_span(token, p));
			break;
		case '[':
		case '{':
			tr_buffer_put_byte(to, *token);
			if (p < end && (*p == ']' || *p == '}'))
				tr_buffer_put_byte(to, *p++);
			else
				new_line(++depth, to);
			break;
		case ']':
		case '}':
			new_line(--depth, to);
			tr_buffer_put_byte(to, *token);
			break;
		case ',':
			tr_buffer_put_byte(to, ',');
			new_line(depth, to);
			break;
		case ':':
			tr_buffer_put_literal(to, ": ");
			break;
		default:
			tr_buffer_put_byte(to, *token);
		}
	}
}

/* True for kinds whose field names come from the traced program, and so can equal names of trec. */
static bool has_args(struct tr_text kind)
{
	return tr_kind_is_call(kind) || tr_text_is(kind, "sys");
}

/* True for the keys of fields that trec defines for all kinds: these begin with ".". */
static bool is_common(struct tr_text spelling)
{
	return spelling.len && spelling.data[0] == '.';
}

/* Returns the place of a field with a key of its own. */
static enum place place_of(const struct tr_record *record, size_t index, bool args)
{
	struct tr_text key = record->fields[index].key;
	if (index >= record->arrow)
		return tr_text_is(key, "return") ? PLACE_RETURN : PLACE_RESULTS;
	return args && !is_common(key) ? PLACE_ARGS : PLACE_TOP;
}

/* True if the view itself uses this key beside those of the fields. */
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

/* True for a key of printable ASCII without escapes, as nearly all are: JSON has the same text. */
static bool is_plain(struct tr_text key)
{
	const char *end = key.data + key.len;
	return tr_string_special(key.data, end) == end;
}

/* Sets *key to the bytes of a key, or to its spelling where the bytes are not UTF-8. */
static enum tr_status decode(struct tr_record *record, struct tr_text spelling, struct tr_text *key,
			     struct tr_error *err)
{
	*key = spelling;
	if (!memchr(spelling.data, '\\', spelling.len))
		return TR_OK;
	struct tr_text bytes;
	struct tr_error why;
	if (!tr_cell_bytes(spelling, record->arena, &bytes, &why)) {
		bool memory = why.cause == TR_CAUSE_MEMORY;
		tr_error_set(err, why.cause, "key: %s", why.text);
		return memory ? TR_FATAL : TR_WARN;
	}
	const char *end = bytes.data + bytes.len;
	if (tr_utf8_check(bytes.data, end) == end)
		*key = bytes;
	return TR_OK;
}

/* Sets the key and the place of the field with this index. */
static enum tr_status arrange_field(struct shown_field *shown, struct tr_record *record,
				    size_t index, bool args, struct tr_error *err)
{
	shown->field = &record->fields[index];
	if (!shown->field->key.data) { /* a column without '=' */
		shown->key = TR_TEXT("");
		shown->plain = true;
		shown->place = PLACE_MORE;
		return TR_OK;
	}
	enum tr_status status = TR_OK;
	shown->key = shown->field->key;
	shown->plain = is_plain(shown->key);
	if (!shown->plain)
		status = decode(record, shown->field->key, &shown->key, err);
	shown->place = place_of(record, index, args);
	if (shown->place == PLACE_TOP && is_reserved(record, shown->key))
		shown->place = PLACE_MORE;
	return status;
}

/* Whether two fields would repeat a key in one object. */
static bool same_key(const struct shown_field *a, const struct shown_field *b)
{
	return a->place == b->place && tr_text_equal(a->key, b->key);
}

/* Sorts fields so that repeated keys are neighbours, in the order of the record. */
static int by_place_and_key(const void *a, const void *b)
{
	const struct shown_field *x = *(struct shown_field *const *)a;
	const struct shown_field *y = *(struct shown_field *const *)b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	int order = tr_text_compare(x->key, y->key);
	return order ? order : x < y ? -1 : 1;
}

/*
 * Moves all but the last field of a repeated key to "more", so that no object repeats a key. A few
 * fields are compared with each other. Many are sorted, because comparing each pair of a hostile
 * record's thousands would take minutes.
 */
static void hide_repeated(struct fields *fields)
{
	enum { FEW = 8 };
	struct shown_field *list = fields->list, **order = fields->order;
	if (fields->count <= FEW) {
		for (size_t i = 0; i < fields->count; i++)
			for (size_t j = i + 1; j < fields->count; j++)
				if (same_key(&list[i], &list[j]))
					list[i].place = PLACE_MORE;
		return;
	}
	for (size_t i = 0; i < fields->count; i++)
		order[i] = &list[i];
	qsort(order, fields->count, sizeof *order, by_place_and_key);
	for (size_t i = 0; i + 1 < fields->count; i++)
		if (same_key(order[i], order[i + 1]))
			order[i]->place = PLACE_MORE;
}

/* Makes room for that many fields. False: memory is exhausted. */
static bool reserve(struct fields *fields, size_t count)
{
	if (count <= fields->capacity)
		return true;
	if (count > SIZE_MAX / 2 / sizeof *fields->list)
		return false;
	size_t capacity = count + count / 4; /* most records of a trace are alike */
	struct shown_field *list = realloc(fields->list, capacity * sizeof *list);
	if (list)
		fields->list = list;
	struct shown_field **order = realloc(fields->order, capacity * sizeof *order);
	if (order)
		fields->order = order;
	if (!list || !order)
		return false;
	fields->capacity = capacity;
	return true;
}

/*
 * Gives each field of a record its place. Returns the worst status of all keys; err is the first
 * error.
 */
static enum tr_status arrange_fields(struct fields *fields, struct tr_record *record,
				     struct tr_error *err)
{
	enum tr_status worst = TR_OK;
	if (!reserve(fields, record->count))
		return tr_error_memory(err);
	bool args = has_args(record->kind);
	fields->count = record->count;
	for (size_t i = 0; i < record->count; i++) {
		enum tr_status status = arrange_field(&fields->list[i], record, i, args,
						      worst == TR_OK ? err : NULL);
		if (status == TR_FATAL)
			return tr_error_memory(err);
		if (status > worst)
			worst = status;
	}
	hide_repeated(fields);
	return worst;
}

/* Frees the memory that is kept from record to record. */
static void free_fields(struct fields *fields)
{
	free(fields->list);
	free(fields->order);
	*fields = (struct fields){ 0 };
}

/* The definition of a stack frame, kept under its id. */
struct frame {
	struct tr_text id, object;
	char data[];
};

/*
 * Keeps a copy of the object of a stack frame; a later definition of the id replaces it. False:
 * memory is exhausted.
 */
static bool keep_frame_object(struct frames *frames, struct tr_text id, struct tr_text object)
{
	struct frame *frame = malloc(sizeof *frame + id.len + object.len);

	if (!frame)
		return false;
	frame->id = (struct tr_text){ frame->data, id.len };
	frame->object = (struct tr_text){ frame->data + id.len, object.len };
	memcpy(frame->data, id.data, id.len);
	memcpy(frame->data + id.len, object.data, object.len);
	struct frame *before = tr_map_take(&frames->by_id, id);
	free(before);
	if (tr_map_put(&frames->by_id, frame->id, frame))
		return true;
	free(frame);
	return false;
}

/* The object of a stack frame; data NULL: it is not defined in this segment. */
static struct tr_text frame_object(const struct frames *frames, struct tr_text id)
{
	const struct frame *frame = tr_map_get(&frames->by_id, id);

	return frame ? frame->object : (struct tr_text){ NULL, 0 };
}

/* Forgets the stack frames of a segment. */
static void clear_frames(struct frames *frames)
{
	size_t position = 0;
	struct frame *frame;

	while ((frame = tr_map_next(&frames->by_id, &position)))
		free(frame);
	tr_map_free(&frames->by_id);
	frames->ended = false;
}

/* Keeps the first error of a record; exhausted memory takes precedence. */
static void note(struct tr_json_view *view, enum tr_status status, const struct tr_error *why)
{
	if (status == TR_OK || view->status == TR_FATAL ||
	    (view->status == TR_WARN && status == TR_WARN))
		return;
	view->status = status;
	if (view->err)
		*view->err = *why;
}

/* Notes a value or cell that cannot be decoded. where: its column or key. */
static void note_undecoded(struct tr_json_view *view, struct tr_text where, struct tr_error *why)
{
	enum tr_status status = tr_error_status(why);
	tr_error_name(why, where);
	note(view, status, why);
}

/* Notes exhausted memory, which takes precedence over other errors. */
static void out_of_memory(struct tr_json_view *view)
{
	struct tr_error why;
	tr_error_memory(&why);
	note(view, TR_FATAL, &why);
}

/* Appends a string. plain: the text needs no escapes. */
static void put_string(struct tr_json_view *view, struct tr_text text, bool plain)
{
	struct tr_buffer *to = &view->text;
	if (plain) {
		tr_buffer_put_quoted(to, text);
		return;
	}
	tr_buffer_put_byte(to, '"');
	tr_string_escape(text, to);
	tr_buffer_put_byte(to, '"');
}

/*
 * Appends a cell that has escapes; one that cannot be decoded is shown as it is spelled, and
 * noted.
 */
static void put_escaped_cell(struct tr_json_view *view, struct tr_text spelling, const char *column)
{
	struct tr_text bytes;
	struct tr_error why;
	if (tr_cell_bytes(spelling, view->record->arena, &bytes, &why)) {
		tr_json_view_bytes(bytes, &view->text);
	} else {
		tr_json_view_tagged("$raw", spelling, &view->text);
		note_undecoded(view, tr_text_from(column), &why);
	}
}

/* Appends a column. plain: it needs no escapes. */
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

/* One search through all columns is faster than one for each. */
static bool has_plain_columns(const struct tr_record *record)
{
	if (!record->line.data)
		return false;
	size_t len = (size_t)(record->rest.data - record->line.data);
	return !memchr(record->line.data, '\\', len) && !memchr(record->line.data, '"', len);
}

/* Appends the five columns, of which absent ones are null. */
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

/* Appends a value that is not JSON as it is spelled. */
static __attribute__((noinline)) void put_parsed(struct tr_json_view *view, struct tr_field *field)
{
	struct tr_error why;
	struct tr_value *value = tr_field_value(view->record, field, &why);
	if (!value) {
		tr_json_view_tagged("$raw", field->text, &view->text);
		note_undecoded(view, field->key, &why);
	} else if (!tr_json_view_value(value, view->record->arena, &view->text)) {
		out_of_memory(view);
	}
}

/* Copies values that are canonical JSON; other values are parsed. */
static void put_value(struct tr_json_view *view, struct tr_field *field)
{
	bool json = false;
	if (field->text.data && !field->value)
		tr_literal_check(field->text, &json, NULL);
	if (json)
		tr_buffer_put_text(&view->text, field->text);
	else
		put_parsed(view, field);
}

/* Appends the key of a member, of which nearly all are plain. first: without a comma before. */
static void put_key(struct tr_json_view *view, const struct shown_field *shown, bool first)
{
	struct tr_buffer *to = &view->text;
	size_t len = shown->key.len;
	char *room = shown->plain ? tr_buffer_room(to, len + 4) : NULL;
	if (room) {
		*room = ',';
		room += !first;
		room[0] = '"';
		memcpy(room + 1, shown->key.data, len);
		room[len + 1] = '"';
		room[len + 2] = ':';
		tr_buffer_used(to, len + 3 + !first);
		return;
	}
	if (!first)
		tr_buffer_put_byte(to, ',');
	put_string(view, shown->key, shown->plain);
	tr_buffer_put_byte(to, ':');
}

/* Appends the fields of one place as members of the open object. first: without a comma before. */
static void put_place(struct tr_json_view *view, enum place place, bool first)
{
	for (size_t i = 0; i < view->fields.count; i++) {
		struct shown_field *shown = &view->fields.list[i];
		if (shown->place != place)
			continue;
		put_key(view, shown, first);
		put_value(view, shown->field);
		first = false;
	}
}

/* Appends the fields that cannot have keys of their own, as pairs; nothing if there are none. */
static void put_more(struct tr_json_view *view)
{
	const char *before = ",\"more\":[";
	for (size_t i = 0; i < view->fields.count; i++) {
		struct shown_field *shown = &view->fields.list[i];
		if (shown->place != PLACE_MORE)
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

/* Appends the frames of .bt as they are defined; an undefined id is shown as it is. */
static void put_backtrace(struct tr_json_view *view)
{
	struct tr_buffer *to = &view->text;
	struct tr_value *list = tr_record_value(view->record, ".bt", NULL);

	if (!list || list->type != TR_LIST)
		return;
	tr_buffer_put_literal(to, ",\"backtrace\":[");
	for (size_t i = 0; i < list->count; i++) {
		const struct tr_value *item = &list->as.items[i];
		struct tr_text object = { NULL, 0 };
		if (item->type == TR_SYMBOL && item->as.symbol->count == 1)
			object = frame_object(&view->frames, item->as.symbol->names[0].text);
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		if (object.data)
			tr_buffer_put_text(to, object);
		else if (!tr_json_view_value(item, view->record->arena, to))
			out_of_memory(view);
	}
	tr_buffer_put_byte(to, ']');
}

/* False for the frame of an enter, which is unknown until its leave. */
static bool is_shown(const struct tr_record *record, const char *name)
{
	return strcmp(name, "backtrace") != 0 &&
	       (strcmp(name, "frame") != 0 || !tr_text_is(record->kind, "enter"));
}

/* Appends the computed fields that the record has no field of the same name for. */
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

/* Composes the object of a record. */
static void put_object(struct tr_json_view *view)
{
	struct tr_record *record = view->record;
	struct tr_buffer *to = &view->text;
	put_columns(view);
	put_place(view, PLACE_TOP, false);
	if (view->computed)
		put_computed(view);
	if (has_args(record->kind)) {
		if (view->frames.by_id.count)
			put_backtrace(view);
		tr_buffer_put_literal(to, ",\"args\":{");
		put_place(view, PLACE_ARGS, true);
		tr_buffer_put_byte(to, '}');
	}
	/* "results" is there also if it is empty: the call has returned */
	if (record->arrow != TR_NO_ARROW) {
		tr_buffer_put_literal(to, ",\"results\":{");
		put_place(view, PLACE_RESULTS, true);
		tr_buffer_put_byte(to, '}');
		put_place(view, PLACE_RETURN, false);
	}
	put_more(view);
	tr_buffer_put_byte(to, '}');
}

/* Writes the object, in the array or on a line of its own. */
static void write_object(struct tr_json_view *view)
{
	struct tr_text text = tr_buffer_text(&view->text);
	/* indented from the compact text, so that there is one way to compose an object */
	if (view->config.pretty) {
		tr_buffer_reset(&view->pretty);
		indent(text, view->config.array, &view->pretty);
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

/* Keeps the definition of a stack frame as the object that backtraces show. */
static void keep_frame(struct tr_json_view *view)
{
	struct tr_buffer *to = &view->text;

	tr_buffer_put_byte(to, '{');
	put_place(view, PLACE_TOP, true);
	tr_buffer_put_byte(to, '}');
	if (view->status != TR_FATAL && !to->failed &&
	    !keep_frame_object(&view->frames, view->record->task.text, tr_buffer_text(to)))
		out_of_memory(view);
}

/* Definitions are not shown, but records show the frames that they refer to. */
static bool is_frame(const struct tr_record *record)
{
	return record->type == TR_DEFINITION && tr_text_is(record->kind, "frame") &&
	       record->task.type == TR_CELL_TEXT;
}

/* Composes the object of a record, or keeps that of a definition. */
static void compose(struct tr_json_view *view)
{
	struct tr_error why;

	note(view, tr_record_split(view->record, &why), &why);
	if (view->status != TR_FATAL)
		note(view, arrange_fields(&view->fields, view->record, &why), &why);
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
		clear_frames(&view->frames);
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
	compose(view);
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

struct tr_json_view *tr_json_view_new(const struct tr_json_view_config *config,
				      struct tr_output *out)
{
	struct tr_json_view *view = calloc(1, sizeof *view);
	if (!view)
		return NULL;
	view->config = *config;
	view->out = out;
	view->computed = config->computed ? tr_computed_new(config->call_kinds, NULL) : NULL;
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
	free_fields(&view->fields);
	clear_frames(&view->frames);
	tr_computed_free(view->computed);
	free(view);
}
