/* Records as typed JSON. */
#include "format/json/typed.h"

#include <string.h>

#include "core/utf8.h"
#include "record/literal.h"

/* One record on its way: scratch is for values that have to be spelled first. */
struct putting {
	struct tr_record *record;
	struct tr_buffer *to;
	struct tr_buffer scratch;
	struct tr_error *err; /* filled when noted or out_of_memory */
	bool noted, out_of_memory;
};

static void put_string(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

static void put_tagged(const char *tag, struct tr_text spelling, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"");
	tr_buffer_put_text(to, tr_text_from(tag));
	tr_buffer_put_literal(to, "\":");
	put_string(spelling, to);
	tr_buffer_put_byte(to, '}');
}

/* What is no trec stands as it is; the first reason is told. where: a column or key. */
static void put_raw(struct putting *p, struct tr_text spelling, struct tr_text where,
		    const struct tr_error *why)
{
	put_tagged("$raw", spelling, p->to);
	if (why->cause == TR_CAUSE_MEMORY)
		p->out_of_memory = true;
	if (!p->noted && p->err) {
		*p->err = *why;
		tr_error_name(p->err, where);
	}
	p->noted = true;
}

static bool is_utf8(struct tr_text bytes)
{
	const char *end = bytes.data + bytes.len;
	return tr_utf8_check(bytes.data, end) == end;
}

static bool is_lead(char c)
{
	return c == '.' || c == '#';
}

void tr_typed_put_cell(struct tr_text bytes, bool key, bool lead, struct tr_buffer *to)
{
	enum { ESCAPED = 4 }; /* `\x2e` */
	size_t start = to->len;
	tr_cell_escape(bytes, key, to);
	if (!lead || to->failed)
		return;
	char *at = to->data + start;
	at[0] = bytes.data[0];
	memmove(at + 1, at + ESCAPED, to->len - start - ESCAPED);
	to->len -= ESCAPED - 1;
}

/* A cell or key that has an escape. */
static void put_escaped(struct putting *p, struct tr_text spelling, const char *column)
{
	bool key = !column;
	struct tr_text bytes;
	struct tr_error why;
	if (!tr_cell_bytes(spelling, p->record->arena, &bytes, &why)) {
		put_raw(p, spelling, tr_text_from(key ? "key" : column), &why);
		return;
	}
	/* as text, an escaped mark in front would be a raw one */
	bool mark = key && bytes.len && is_lead(bytes.data[0]), raw_mark = spelling.data[0] != '\\';
	if (is_utf8(bytes) && (!mark || raw_mark)) {
		put_string(bytes, p->to);
		return;
	}
	tr_buffer_reset(&p->scratch);
	tr_typed_put_cell(bytes, key, mark && raw_mark, &p->scratch);
	p->out_of_memory |= p->scratch.failed;
	put_tagged("$cell", tr_buffer_text(&p->scratch), p->to);
}

/* column: its name; NULL: it is a key. */
static void put_spelled(struct putting *p, struct tr_text spelling, const char *column)
{
	struct tr_error why;
	if (!column && tr_text_is(spelling, "-")) {
		tr_error_set(&why, TR_CAUSE_INPUT, "a key is never absent");
		put_raw(p, spelling, TR_TEXT("key"), &why);
	} else if (memchr(spelling.data, '\\', spelling.len)) {
		put_escaped(p, spelling, column);
	} else {
		put_string(spelling, p->to);
	}
}

static void put_cell(struct putting *p, const struct tr_cell *cell, const char *column)
{
	switch (cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_literal(p->to, "null");
		break;
	case TR_CELL_TEXT:
		put_spelled(p, cell->text, column);
		break;
	default:
		tr_buffer_put_byte(p->to, '"');
		tr_cell_write(cell, p->to);
		tr_buffer_put_byte(p->to, '"');
	}
}

/* seq or count: a number where it can be one. */
static void put_number_cell(struct putting *p, const struct tr_cell *cell, const char *column)
{
	if (cell->type == TR_CELL_TEXT && tr_json_keeps_digits(cell->text))
		tr_buffer_put_text(p->to, cell->text);
	else if (cell->type == TR_CELL_NUMBER && cell->number >> 53 == 0)
		tr_buffer_put_decimal(p->to, cell->number);
	else
		put_cell(p, cell, column);
}

/* A value whose spelling is not the one, or which was built as a tree. */
static void put_respelled(struct putting *p, struct tr_field *field)
{
	struct tr_error why;
	struct tr_value *value = tr_field_value(p->record, field, &why);
	if (!value) {
		put_raw(p, field->text, field->key, &why);
		return;
	}
	tr_buffer_reset(&p->scratch);
	tr_literal_write(value, &p->scratch);
	if (p->scratch.failed)
		p->out_of_memory = true;
	else
		tr_typed_put_value(tr_buffer_text(&p->scratch), p->to);
}

static void put_field(struct putting *p, struct tr_field *field)
{
	tr_buffer_put_byte(p->to, '[');
	put_spelled(p, field->key, NULL);
	tr_buffer_put_byte(p->to, ',');
	struct tr_error why;
	unsigned traits = 0;
	enum tr_spelling spelling = TR_NONCANONICAL;
	if (field->text.data)
		spelling = tr_literal_examine(field->text, &traits, &why);
	if (spelling == TR_MALFORMED)
		put_raw(p, field->text, field->key, &why);
	else if (spelling == TR_NONCANONICAL)
		put_respelled(p, field);
	else if (traits == 0)
		tr_buffer_put_text(p->to, field->text);
	else
		tr_typed_put_value(field->text, p->to);
	tr_buffer_put_byte(p->to, ']');
}

static void put_columns(struct putting *p)
{
	struct tr_record *record = p->record;
	tr_buffer_put_literal(p->to, "[\"");
	switch (record->type) {
	case TR_HEADER:
		tr_buffer_put_literal(p->to, "%trec\",");
		put_number_cell(p, &record->seq, "version");
		break;
	case TR_TRAILER:
		tr_buffer_put_literal(p->to, "!end\",");
		put_number_cell(p, &record->seq, "count");
		break;
	case TR_COMMENT:
		tr_buffer_put_literal(p->to, "#\",");
		put_string(record->comment, p->to);
		break;
	case TR_DEFINITION:
		tr_buffer_put_byte(p->to, '%');
		tr_buffer_put_text(p->to, record->kind);
		tr_buffer_put_literal(p->to, "\",");
		put_cell(p, &record->task, "id");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->name, "name");
		break;
	case TR_RECORD:
		tr_buffer_put_text(p->to, record->kind);
		tr_buffer_put_literal(p->to, "\",");
		put_number_cell(p, &record->seq, "seq");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->time, "time");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->task, "task");
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->name, "name");
		break;
	}
}

static bool put_column(void *context, struct tr_field *field, const struct tr_error *trouble)
{
	struct putting *p = context;
	tr_buffer_put_byte(p->to, ',');
	if (!field)
		tr_buffer_put_literal(p->to, "\"->\"");
	else if (field->key.data)
		put_field(p, field);
	else
		put_tagged("$raw", field->text, p->to);
	if (trouble && !p->noted) {
		p->noted = true;
		if (p->err)
			*p->err = *trouble;
	}
	return !p->to->failed;
}

enum tr_status tr_typed_put_record(struct tr_record *record, struct tr_buffer *to,
				   struct tr_error *err)
{
	struct putting p = { .record = record, .to = to, .scratch = TR_BUFFER_INIT, .err = err };
	put_columns(&p);
	tr_record_walk(record, put_column, &p);
	tr_buffer_put_byte(to, ']');
	tr_buffer_free(&p.scratch);
	if (p.out_of_memory || to->failed)
		return tr_error_memory(err);
	if (!p.noted)
		return TR_OK;
	if (err)
		err->severity = TR_FLAW;
	return TR_WARN;
}
