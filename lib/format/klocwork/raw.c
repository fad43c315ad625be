#include "core/input.h"
#include "format/klocwork/render.h"
#include "format/klocwork/unit.h"

/* Fields that say nothing about the object's own text. */
static bool is_context(struct tr_text key)
{
	return tr_text_is(key, "parent") || tr_text_is(key, "flagged") || tr_text_is(key, ".raw");
}

/* The index of the next field from i on that counts. */
static size_t next_field(const struct tr_record *record, size_t i)
{
	while (i < record->count && is_context(record->fields[i].key))
		i++;
	return i;
}

/* Compares spellings: a field that is spelled anew is an edit, and an edit wins. */
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

static bool same_cell(const struct tr_cell *a, const struct tr_cell *b)
{
	bool text = a->type == TR_CELL_TEXT && b->type == TR_CELL_TEXT;
	return text ? tr_text_equal(a->text, b->text) : a->type == b->type;
}

/* The record that reading the object gives, but for seq, parent and flags. */
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

/* A raw record: its text has to be what is left of the line in these bytes. */
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
