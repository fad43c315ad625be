#include "config.h"

#include "expr/locate.h"

#include <string.h>

#include "core/buffer.h"
#include "record/literal.h"

/* The canonical spelling of a key that a record spells with escapes. Memory out counts as another
 * key. */
static bool is_key_respelled(struct tr_text spelling, struct tr_text key, struct tr_arena *arena)
{
	struct tr_buffer canonical = TR_BUFFER_INIT;
	struct tr_text bytes;
	if (!tr_cell_bytes(spelling, arena, &bytes, NULL))
		return false;
	tr_cell_escape(bytes, true, &canonical);
	struct tr_text text = tr_buffer_text(&canonical);
	/* a dot or # that stands there as it is was not meant to be escaped: \x2e is one byte */
	bool same = false;
	if (!canonical.failed && (*spelling.data == '.' || *spelling.data == '#'))
		same = text.len == key.len + 3 && key.data[0] == spelling.data[0] &&
		       memcmp(text.data + 4, key.data + 1, key.len - 1) == 0;
	else if (!canonical.failed)
		same = tr_text_equal(text, key);
	tr_buffer_free(&canonical);
	return same;
}

/* Whether column is key=value, and where the value begins. */
static const char *value_of(struct tr_text column, struct tr_text key, struct tr_arena *arena)
{
	size_t i = 0;
	while (i < key.len && i < column.len && column.data[i] == key.data[i])
		i++;
	if (i == column.len)
		return NULL;
	if (i == key.len && column.data[i] == '=')
		return column.data + i + 1;
	/* only an escape can make two spellings of one key differ */
	if (column.data[i] != '\\' && !memchr(column.data, '\\', i))
		return NULL;
	const char *equals = memchr(column.data, '=', column.len);
	if (!equals || !is_key_respelled(tr_text_span(column.data, equals), key, arena))
		return NULL;
	return equals + 1;
}

static bool is_arrow(struct tr_text column)
{
	return column.len == 2 && column.data[0] == '-' && column.data[1] == '>';
}

/* From the last column to the first: of a repeated key the last counts. */
static bool locate_in_text(const struct tr_path *path, struct tr_text key, struct tr_record *record,
			   struct tr_text *value)
{
	const char *begin = record->rest.data, *end = begin + record->rest.len;
	const char *found = NULL;
	while (end > begin) {
		const char *tab = memrchr(begin, '\t', (size_t)(end - begin));
		struct tr_text column = tr_text_span(tab ? tab + 1 : begin, end);
		if (!found) {
			found = value_of(column, key, record->arena);
			if (found)
				*value = tr_text_span(found, end);
			if (found && !path->after_arrow)
				return true;
		} else if (is_arrow(column)) {
			return true;
		}
		end = tab ? tab : begin;
	}
	return false;
}

static struct tr_field *locate_in_fields(const struct tr_path *path, struct tr_text key,
					 struct tr_record *record)
{
	size_t from = path->after_arrow ? record->arrow : 0;
	for (size_t i = record->count; i > from; i--) {
		struct tr_field *field = &record->fields[i - 1];
		if (tr_text_equal(field->key, key))
			return field;
	}
	return NULL;
}

static bool locate_key(const struct tr_path *path, struct tr_text key, struct tr_record *record,
		       struct tr_place *place)
{
	*place = (struct tr_place){ .record = record };
	if (record->line.data)
		return locate_in_text(path, key, record, &place->text);
	place->field = locate_in_fields(path, key, record);
	return place->field != NULL;
}

static bool locate_in(const struct tr_path *path, struct tr_record *record, struct tr_place *place)
{
	if (locate_key(path, path->key, record, place))
		return true;
	return path->environment && (locate_key(path, TR_TEXT("envtop"), record, place) ||
				     locate_key(path, TR_TEXT("envdiff"), record, place));
}

bool tr_locate(const struct tr_path *path, struct tr_record *record, struct tr_record *leave,
	       struct tr_place *place)
{
	return (leave && locate_in(path, leave, place)) || locate_in(path, record, place);
}

struct tr_value *tr_locate_computed(const struct tr_path *path, struct tr_computed_fields *computed,
				    struct tr_record *record, struct tr_record *leave,
				    struct tr_error *err)
{
	tr_error_clear(err);
	if (!computed || path->after_arrow)
		return NULL;
	return computed->get(computed, path->key, record, leave, err);
}

struct tr_value *tr_place_value(const struct tr_place *place, struct tr_error *err)
{
	if (place->text.data)
		return tr_literal_parse(place->text, place->record->arena, err);
	return tr_field_value(place->record, place->field, err);
}

const struct tr_cell *tr_locate_column(enum tr_subject subject, const struct tr_record *record,
				       struct tr_cell *kind)
{
	switch (subject) {
	case TR_SUBJECT_SEQ:
		return &record->seq;
	case TR_SUBJECT_TIME:
		return &record->time;
	case TR_SUBJECT_TASK:
		return &record->task;
	case TR_SUBJECT_NAME:
		return &record->name;
	default:
		*kind = (struct tr_cell){ .type = TR_CELL_TEXT, .text = record->kind };
		return kind;
	}
}

enum tr_status tr_cell_decode(const struct tr_cell *cell, struct tr_arena *arena,
			      struct tr_text *bytes, struct tr_error *err)
{
	if (cell->type == TR_CELL_ABSENT)
		return TR_END;
	if (cell->type == TR_CELL_TEXT) {
		if (!memchr(cell->text.data, '\\', cell->text.len)) {
			*bytes = cell->text;
			return TR_OK;
		}
		if (tr_cell_bytes(cell->text, arena, bytes, err))
			return TR_OK;
		return tr_error_status(err);
	}
	struct tr_buffer text = TR_BUFFER_INIT;
	tr_cell_write(cell, &text);
	*bytes = tr_arena_copy(arena, tr_buffer_text(&text));
	bool fine = !text.failed && bytes->data;
	tr_buffer_free(&text);
	if (!fine)
		tr_error_memory(err);
	return fine ? TR_OK : TR_FATAL;
}
