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

/* What is no trec stands as it is; the first reason is told. */
static void put_raw(struct putting *p, struct tr_text spelling, const struct tr_error *why)
{
	put_tagged("$raw", spelling, p->to);
	if (why->cause == TR_CAUSE_MEMORY)
		p->out_of_memory = true;
	if (!p->noted && p->err)
		*p->err = *why;
	p->noted = true;
}

static void put_no_trec(struct putting *p, struct tr_text spelling, const char *reason)
{
	struct tr_error why;
	tr_error_set(&why, TR_CAUSE_INPUT, "%s", reason);
	put_raw(p, spelling, &why);
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
static void put_escaped(struct putting *p, struct tr_text spelling, bool key)
{
	struct tr_text bytes;
	struct tr_error why;
	if (!tr_cell_bytes(spelling, p->record->arena, &bytes, &why)) {
		put_raw(p, spelling, &why);
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

static void put_spelled(struct putting *p, struct tr_text spelling, bool key)
{
	if (key && tr_text_is(spelling, "-"))
		put_no_trec(p, spelling, "a key is never absent");
	else if (memchr(spelling.data, '\\', spelling.len))
		put_escaped(p, spelling, key);
	else
		put_string(spelling, p->to);
}

static void put_cell(struct putting *p, const struct tr_cell *cell)
{
	switch (cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_literal(p->to, "null");
		break;
	case TR_CELL_TEXT:
		put_spelled(p, cell->text, false);
		break;
	default:
		tr_buffer_put_byte(p->to, '"');
		tr_cell_write(cell, p->to);
		tr_buffer_put_byte(p->to, '"');
	}
}

/* DIGITS up to 2^53-1, which every JSON tool keeps. */
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

/* seq or count: a number where it can be one. */
static void put_number_cell(struct putting *p, const struct tr_cell *cell)
{
	if (cell->type == TR_CELL_TEXT && is_exact_number(cell->text))
		tr_buffer_put_text(p->to, cell->text);
	else if (cell->type == TR_CELL_NUMBER && cell->number >> 53 == 0)
		tr_buffer_put_decimal(p->to, cell->number);
	else
		put_cell(p, cell);
}

/* A value whose spelling is not the one, or which was built as a tree. */
static void put_respelled(struct putting *p, struct tr_field *field)
{
	struct tr_error why;
	struct tr_value *value = tr_field_value(p->record, field, &why);
	if (!value) {
		put_raw(p, field->text, &why);
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
	put_spelled(p, field->key, true);
	tr_buffer_put_byte(p->to, ',');
	struct tr_error why;
	unsigned traits = 0;
	enum tr_spelling spelling = TR_NONCANONICAL;
	if (field->text.data)
		spelling = tr_literal_examine(field->text, &traits, &why);
	if (spelling == TR_MALFORMED)
		put_raw(p, field->text, &why);
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
		put_number_cell(p, &record->seq);
		break;
	case TR_TRAILER:
		tr_buffer_put_literal(p->to, "!end\",");
		put_number_cell(p, &record->seq);
		break;
	case TR_COMMENT:
		tr_buffer_put_literal(p->to, "#\",");
		put_string(record->comment, p->to);
		break;
	case TR_DEFINITION:
		tr_buffer_put_byte(p->to, '%');
		tr_buffer_put_text(p->to, record->kind);
		tr_buffer_put_literal(p->to, "\",");
		put_cell(p, &record->task);
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->name);
		break;
	case TR_RECORD:
		tr_buffer_put_text(p->to, record->kind);
		tr_buffer_put_literal(p->to, "\",");
		put_number_cell(p, &record->seq);
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->time);
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->task);
		tr_buffer_put_byte(p->to, ',');
		put_cell(p, &record->name);
		break;
	}
}

/* split_error: why the first column that is no field is none; NULL: not known. */
static void put_fields(struct putting *p, const struct tr_error *split_error)
{
	struct tr_record *record = p->record;
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		if (i == record->arrow)
			tr_buffer_put_literal(p->to, ",\"->\"");
		tr_buffer_put_byte(p->to, ',');
		if (!field->key.data && split_error)
			put_raw(p, field->text, split_error);
		else if (!field->key.data)
			put_no_trec(p, field->text, "a column is no field");
		else
			put_field(p, field);
	}
	if (record->arrow == record->count)
		tr_buffer_put_literal(p->to, ",\"->\"");
}

enum tr_status tr_typed_put_record(struct tr_record *record, struct tr_buffer *to,
				   struct tr_error *err)
{
	struct putting p = { .record = record, .to = to, .scratch = TR_BUFFER_INIT, .err = err };
	struct tr_error split_error;
	enum tr_status split = tr_record_split(record, &split_error);
	if (split == TR_FATAL) {
		if (err)
			*err = split_error;
		return TR_FATAL;
	}
	put_columns(&p);
	put_fields(&p, split == TR_WARN ? &split_error : NULL);
	tr_buffer_put_byte(to, ']');
	tr_buffer_free(&p.scratch);
	if (p.out_of_memory || to->failed) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	if (!p.noted)
		return TR_OK;
	if (err)
		err->severity = TR_FLAW;
	return TR_WARN;
}
