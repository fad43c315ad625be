/* SPDX-License-Identifier: MIT */
/* The field layer: what follows the fixed columns. */

#include "record/record.h"

#include <string.h>

#include "core/input.h"
#include "record/columns.h"
#include "record/literal.h"
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

/* Records as they come from text: columns, fields, values, each when it is asked for. */

void tr_record_init(struct tr_record *record, struct tr_arena *arena)
{
	/* in pieces that are a few stores each: compilers clear more of it by "rep stos", which
	 * takes longer to begin than all of this */
	enum { PIECE = 64, REST = sizeof *record % PIECE };
	char *to = (char *)record;
	for (size_t i = 0; i < sizeof *record / PIECE; i++, to += PIECE)
		memset(to, 0, PIECE);
	memset(to, 0, REST);
	record->arrow = TR_NO_ARROW;
	record->arena = arena;
	record->source_line = record->source_offset = TR_NO_POSITION;
}

static bool damage(struct tr_error *err, const char *reason)
{
	tr_error_say(err, TR_CAUSE_INPUT, reason);
	return false;
}

/* The run of [a-z][a-z0-9-]* at p. */
static const char *word_end(const char *p, const char *end)
{
	if (p == end || *p < 'a' || *p > 'z')
		return p;
	while (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-'))
		p++;
	return p;
}

/*
 * The fixed columns behind the first, which ends at *p. Afterwards *p is where
 * they end: on the TAB of the first field, or at the end.
 */
static bool fixed_columns(const struct tr_record *record, const char **p,
			  struct tr_cell *const *cells, unsigned count, struct tr_error *err)
{
	const char *end = record->line.data + record->line.len - 1;
	struct tr_tabs tabs = tr_tabs_begin(record->line.data, *p, end);
	const char *tab = tr_tabs_next(&tabs);
	for (unsigned i = 0; i < count; i++) {
		if (tab == end) {
			tr_error_set(err, TR_CAUSE_INPUT, "%u of %u columns", i + 1, count + 1);
			return false;
		}
		const char *start = tab + 1;
		tab = tr_tabs_next(&tabs);
		if (start == tab) {
			tr_error_set(err, TR_CAUSE_INPUT, "empty column %u", i + 2);
			return false;
		}
		bool absent = tab - start == 1 && *start == '-';
		cells[i]->type = absent ? TR_CELL_ABSENT : TR_CELL_TEXT;
		cells[i]->text = tr_text_span(start, tab);
	}
	*p = tab;
	return true;
}

static bool record_line(struct tr_record *record, const char *p, const char *end,
			struct tr_error *err)
{
	const char *kind_end = word_end(p, end);
	if (kind_end == p || (kind_end < end && *kind_end != '\t'))
		return damage(err, "no kind");
	record->type = TR_RECORD;
	record->kind = tr_text_span(p, kind_end);
	struct tr_cell *const cells[] = { &record->seq, &record->time, &record->task,
					  &record->name };
	if (!fixed_columns(record, &kind_end, cells, 4, err))
		return false;
	record->rest = tr_text_span(kind_end, end);
	return true;
}

static bool definition_line(struct tr_record *record, const char *p, const char *end,
			    struct tr_error *err)
{
	const char *word = word_end(p + 1, end);
	if (word == p + 1 || (word < end && *word != '\t'))
		return damage(err, "no definition word");
	record->kind = tr_text_span(p + 1, word);
	if (!tr_text_is(record->kind, "trec")) {
		struct tr_cell *const cells[] = { &record->task, &record->name };
		record->type = TR_DEFINITION;
		if (!fixed_columns(record, &word, cells, 2, err))
			return false;
	} else {
		struct tr_cell *const cells[] = { &record->seq };
		record->type = TR_HEADER;
		if (!fixed_columns(record, &word, cells, 1, err))
			return false;
		if (!tr_text_is(record->seq.text, "1"))
			return damage(err, "unknown version");
		record->seq.type = TR_CELL_NUMBER;
		record->seq.number = 1;
	}
	record->rest = tr_text_span(word, end);
	return true;
}

static bool trailer_line(struct tr_record *record, const char *p, const char *end,
			 struct tr_error *err)
{
	const char *behind = p + 4;
	if (end - p < 4 || memcmp(p, "!end", 4) != 0 || (behind < end && *behind != '\t'))
		return damage(err, "unknown line");
	struct tr_cell *const cells[] = { &record->seq };
	record->type = TR_TRAILER;
	record->kind = tr_text_span(p + 1, behind);
	if (!fixed_columns(record, &behind, cells, 1, err))
		return false;
	if (!tr_cell_number(&record->seq, &record->seq.number))
		return damage(err, "the count is no number");
	record->seq.type = TR_CELL_NUMBER;
	record->rest = tr_text_span(behind, end);
	return true;
}

/* What a record's columns set, and other lines leave empty. */
static void clear_columns(struct tr_record *record)
{
	record->kind = record->comment = (struct tr_text){ NULL, 0 };
	record->seq = record->time = record->task = record->name = (struct tr_cell){ 0 };
}

/* As tr_record_init, less the columns: nearly every line is a record's, and sets them anyway. */
static void begin_line(struct tr_record *record, struct tr_text line)
{
	record->canonical = record->split = record->chosen = false;
	record->fields = NULL;
	record->count = 0;
	record->arrow = TR_NO_ARROW;
	record->line = line;
	record->source_line = record->source_offset = TR_NO_POSITION;
}

bool tr_record_from_line(struct tr_record *record, struct tr_text line, struct tr_error *err)
{
	const char *p = line.data, *end = p + line.len;
	begin_line(record, line);
	if (line.len == 0 || end[-1] != '\n')
		return damage(err, "last line without a line feed");
	end--;
	if (p == end)
		return damage(err, "empty line");
	if (end[-1] == '\r')
		return damage(err, "line ends in CR LF");
	switch (*p) {
	case '#':
		clear_columns(record);
		record->type = TR_COMMENT;
		record->comment = tr_text_span(p + 1, end);
		record->rest = tr_text_span(end, end);
		record->split = true;
		return true;
	case '%':
		clear_columns(record);
		return definition_line(record, p, end, err);
	case '!':
		clear_columns(record);
		return trailer_line(record, p, end, err);
	default:
		if (tr_text_starts(line, TR_TEXT("\xef\xbb\xbf")))
			return damage(err, "byte order mark");
		return record_line(record, p, end, err);
	}
}

enum tr_status tr_record_from_buffer(struct tr_record *record, struct tr_arena *arena,
				     struct tr_buffer *line, struct tr_error *err)
{
	/* whoever scans the line with wide loads finds readable bytes behind it */
	if (!tr_buffer_room(line, TR_INPUT_PAD) || line->failed)
		return tr_error_memory(err);
	tr_record_init(record, arena);
	if (!tr_record_from_line(record, tr_buffer_text(line), err))
		return TR_FATAL;
	record->canonical = true;
	return TR_OK;
}

static void set_cell(struct tr_cell *cell, const struct tr_columns *columns, enum tr_column column)
{
	cell->text = tr_columns_text(columns, column);
	bool absent = cell->text.len == 1 && *cell->text.data == '-';
	cell->type = absent ? TR_CELL_ABSENT : TR_CELL_TEXT;
}

void tr_record_from_columns(struct tr_record *record, struct tr_text line,
			    const struct tr_columns *columns)
{
	begin_line(record, line);
	record->type = TR_RECORD;
	record->kind = tr_columns_text(columns, TR_COLUMN_KIND);
	set_cell(&record->seq, columns, TR_COLUMN_SEQ);
	set_cell(&record->time, columns, TR_COLUMN_TIME);
	set_cell(&record->task, columns, TR_COLUMN_TASK);
	set_cell(&record->name, columns, TR_COLUMN_NAME);
	record->rest = tr_text_span(columns->start[TR_COLUMNS] - 1, line.data + line.len - 1);
}

struct tr_value *tr_field_value(struct tr_record *record, struct tr_field *field,
				struct tr_error *err)
{
	if (field->value || field->bad) {
		if (field->bad)
			damage(err, "no value");
		return field->value;
	}
	field->value = tr_literal_parse(field->text, record->arena, err);
	field->bad = !field->value;
	return field->value;
}
