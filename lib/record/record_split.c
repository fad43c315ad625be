/* The field layer: what follows the fixed columns. */
#include <string.h>

#include "record/record.h"
#include "record/tabs.h"

enum { FIRST_FIELDS = 8 };

/* A place for one more field; fields grow at every power of two, so no capacity is kept. */
static struct tr_field *new_field(struct tr_record *record)
{
	size_t count = record->count;
	bool full = count == 0 || (count >= FIRST_FIELDS && (count & (count - 1)) == 0);
	if (full) {
		size_t cap = count ? count * 2 : FIRST_FIELDS;
		struct tr_field *fields = tr_arena_alloc(record->arena, cap * sizeof *fields);
		if (!fields)
			return NULL;
		if (count)
			memcpy(fields, record->fields, count * sizeof *fields);
		record->fields = fields;
	}
	return &record->fields[record->count++];
}

struct tr_field *tr_record_add(struct tr_record *record, struct tr_text key,
			       struct tr_value *value)
{
	struct tr_field *field = new_field(record);
	if (field)
		*field = (struct tr_field){ .key = key, .value = value };
	return field;
}

/* Why a column that is no arrow is no field either; NULL: it is one, and *equals is its "=". */
static const char *field_reason(struct tr_text column, const char **equals)
{
	if (column.len == 0)
		return "empty column";
	*equals = memchr(column.data, '=', column.len);
	if (!*equals)
		return "field without =";
	return *equals == column.data ? "field without key" : NULL;
}

/* False: memory is out. *reason is set where the column is no field. */
static bool split_column(struct tr_record *record, struct tr_text column, const char **reason)
{
	*reason = NULL;
	if (tr_text_is(column, "->")) {
		if (record->type != TR_RECORD) {
			*reason = "-> outside a record";
		} else if (record->arrow != TR_NO_ARROW) {
			*reason = "a second ->";
		} else {
			record->arrow = record->count;
			return true;
		}
	}
	const char *equals = NULL;
	if (!*reason)
		*reason = field_reason(column, &equals);
	struct tr_field *field = new_field(record);
	if (!field)
		return false;
	if (*reason)
		*field = (struct tr_field){ .text = column, .bad = true };
	else
		*field = (struct tr_field){
			.key = tr_text_span(column.data, equals),
			.text = tr_text_span(equals + 1, column.data + column.len),
		};
	return true;
}

static unsigned fixed_count(const struct tr_record *record)
{
	switch (record->type) {
	case TR_RECORD:
		return 5;
	case TR_DEFINITION:
		return 3;
	default:
		return 2;
	}
}

enum tr_status tr_record_split(struct tr_record *record, struct tr_error *err)
{
	if (record->split || !record->line.data)
		return TR_OK;
	enum tr_status status = TR_OK;
	const char *p = record->rest.data, *end = p + record->rest.len;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	struct tr_tabs tabs = tr_tabs_begin(record->line.data, p, end);
	p = tr_tabs_next(&tabs);
	for (unsigned number = fixed_count(record) + 1; p < end; number++) {
		const char *start = p + 1;
		const char *reason;
		p = tr_tabs_next(&tabs);
		if (!split_column(record, tr_text_span(start, p), &reason)) {
			tr_error_memory(err);
			return TR_FATAL;
		}
		if (reason && status == TR_OK) {
			tr_error_set(err, TR_CAUSE_INPUT, "column %u: %s", number, reason);
			if (err)
				err->pattern = reason;
			status = TR_WARN;
		}
	}
	record->split = true;
	return status;
}

struct tr_field *tr_record_field(struct tr_record *record, const char *key)
{
	if (tr_record_split(record, NULL) == TR_FATAL)
		return NULL;
	struct tr_text wanted = tr_text_from(key);
	for (size_t i = record->count; i-- > 0;) {
		struct tr_field *field = &record->fields[i];
		if (field->key.data && tr_text_equal(field->key, wanted))
			return field;
	}
	return NULL;
}
