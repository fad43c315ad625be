/* The field layer: what follows the fixed columns. */
#include <string.h>

#include "record/record.h"
#include "record/tabs.h"

enum {
	FIRST_FIELDS = 8,
	LONG_LINE = 64 << 10, /* from here on, parsed values go as they come */
};

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

struct tr_field *tr_record_add(struct tr_record *record, struct tr_text key, struct tr_value *value)
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

enum column { ARROW, FIELD, NO_FIELD };

/* Makes *field of a column that is not an arrow; *reason says why it is no field. */
static enum column read_column(struct tr_text column, enum tr_line_type type, bool arrow_seen,
			       struct tr_field *field, const char **reason)
{
	const char *equals = NULL;
	if (!tr_text_is(column, "->"))
		*reason = field_reason(column, &equals);
	else if (type != TR_RECORD)
		*reason = "-> outside a record";
	else if (arrow_seen)
		*reason = "a second ->";
	else
		return ARROW;
	if (*reason) {
		*field = (struct tr_field){ .text = column, .bad = true };
		return NO_FIELD;
	}
	*field = (struct tr_field){
		.key = tr_text_span(column.data, equals),
		.text = tr_text_span(equals + 1, column.data + column.len),
	};
	return FIELD;
}

/* The columns behind the fixed ones. */
struct columns {
	struct tr_tabs tabs;
	const char *pos, *end;
	unsigned number; /* of the column that came last, from 1 */
};

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

static struct columns columns_begin(const struct tr_record *record)
{
	const char *begin = record->rest.data, *end = begin + record->rest.len;
	struct columns columns = {
		.tabs = tr_tabs_begin(record->line.data, begin, end),
		.end = end,
		.number = fixed_count(record),
	};
	columns.pos = tr_tabs_next(&columns.tabs);
	return columns;
}

static bool next_column(struct columns *columns, struct tr_text *column)
{
	if (columns->pos == columns->end)
		return false;
	const char *start = columns->pos + 1;
	columns->pos = tr_tabs_next(&columns->tabs);
	columns->number++;
	*column = tr_text_span(start, columns->pos);
	return true;
}

static void report(const struct columns *columns, const char *reason, struct tr_error *err)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, reason, "column %u: %s", columns->number, reason);
}

enum tr_status tr_record_split(struct tr_record *record, struct tr_error *err)
{
	if (record->split || !record->line.data)
		return TR_OK;
	enum tr_status status = TR_OK;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	struct columns columns = columns_begin(record);
	struct tr_text column;
	while (next_column(&columns, &column)) {
		struct tr_field read;
		const char *reason;
		enum column what = read_column(column, record->type, record->arrow != TR_NO_ARROW,
					       &read, &reason);
		if (what == ARROW) {
			record->arrow = record->count;
			continue;
		}
		struct tr_field *field = new_field(record);
		if (!field)
			return tr_arena_error(record->arena, err);
		*field = read;
		if (what == NO_FIELD && status == TR_OK) {
			report(&columns, reason, err);
			status = TR_WARN;
		}
	}
	record->split = true;
	return status;
}

typedef bool visitor(void *context, struct tr_field *field, const struct tr_error *trouble);

static bool walk_columns(struct tr_record *record, visitor *visit, void *context)
{
	struct columns columns = columns_begin(record);
	struct tr_text column;
	bool arrow = false;
	while (next_column(&columns, &column)) {
		struct tr_field field;
		struct tr_error trouble;
		const char *reason;
		enum column what = read_column(column, record->type, arrow, &field, &reason);
		arrow = arrow || what == ARROW;
		if (what == NO_FIELD)
			report(&columns, reason, &trouble);
		if (!visit(context, what == ARROW ? NULL : &field,
			   what == NO_FIELD ? &trouble : NULL))
			return false;
		if (record->line.len > LONG_LINE)
			tr_arena_reset(record->arena);
	}
	return true;
}

static bool walk_fields(struct tr_record *record, visitor *visit, void *context)
{
	for (size_t i = 0; i < record->count; i++)
		if ((i == record->arrow && !visit(context, NULL, NULL)) ||
		    !visit(context, &record->fields[i], NULL))
			return false;
	return record->arrow != record->count || visit(context, NULL, NULL);
}

bool tr_record_walk(struct tr_record *record, visitor *visit, void *context)
{
	if (record->split || !record->line.data)
		return walk_fields(record, visit, context);
	if (record->line.len <= LONG_LINE)
		return walk_columns(record, visit, context);
	/* the record's own arena may hold more than this record */
	struct tr_arena *arena = record->arena;
	struct tr_arena values = TR_ARENA_INIT;
	values.limit = arena->limit;
	record->arena = &values;
	bool whole = walk_columns(record, visit, context);
	record->arena = arena;
	tr_arena_free(&values);
	return whole;
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
