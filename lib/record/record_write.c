/* Records to canonical lines. */
#include <string.h>

#include "record/literal.h"
#include "record/record.h"
#include "record/record_private.h"

static bool write_cell(struct tr_record *record, const struct tr_cell *cell, const char *column,
		       struct tr_buffer *to, struct tr_error *err)
{
	tr_buffer_put_byte(to, '\t');
	if (cell->type != TR_CELL_TEXT) {
		tr_cell_write(cell, to);
		return true;
	}
	if (tr_cell_respell(cell->text, false, record->arena, to, err))
		return true;
	tr_error_name(err, tr_text_from(column));
	return false;
}

/* Definitions of known words have ids of one letter and a number; `id` is spelled canonically. */
static bool check_id(struct tr_text word, struct tr_text id, struct tr_error *err)
{
	static const struct {
		const char *word;
		char letter;
	} letters[] = {
		{ "fn", 'F' },	   { "enum", 'E' },  { "mask", 'M' },
		{ "struct", 'S' }, { "frame", 'K' },
	};
	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
		if (!tr_text_is(word, letters[i].word))
			continue;
		struct tr_cell digits = { .type = TR_CELL_TEXT,
					  .text = { id.data + 1, id.len - 1 } };
		uint64_t number;
		if (id.data[0] == letters[i].letter && tr_cell_number(&digits, &number))
			return true;
		tr_error_set(err, TR_CAUSE_INPUT, "identifier of %%%s begins with %c",
			     letters[i].word, letters[i].letter);
		return false;
	}
	return true;
}

static bool write_definition(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	tr_buffer_put_byte(to, '%');
	tr_buffer_put_text(to, record->kind);
	size_t id = to->len + 1;
	if (!write_cell(record, &record->task, "id", to, err) || to->failed ||
	    !check_id(record->kind, tr_text_span(to->data + id, to->data + to->len), err))
		return false;
	return write_cell(record, &record->name, "name", to, err);
}

static bool write_fixed(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	switch (record->type) {
	case TR_HEADER:
		tr_buffer_put_literal(to, "%trec");
		return write_cell(record, &record->seq, "version", to, err);
	case TR_TRAILER:
		tr_buffer_put_literal(to, "!end");
		return write_cell(record, &record->seq, "count", to, err);
	case TR_DEFINITION:
		return write_definition(record, to, err);
	default:
		tr_buffer_put_text(to, record->kind);
		return write_cell(record, &record->seq, "seq", to, err) &&
		       write_cell(record, &record->time, "time", to, err) &&
		       write_cell(record, &record->task, "task", to, err) &&
		       write_cell(record, &record->name, "name", to, err);
	}
}

/* A value in the one spelling, parsed only where its text is not in it already. */
static bool write_value(struct tr_record *record, struct tr_field *field, struct tr_buffer *to,
			struct tr_error *err)
{
	if (!field->value) {
		enum tr_spelling spelling = tr_literal_check(field->text, NULL, err);
		if (spelling == TR_CANONICAL) {
			tr_buffer_put_text(to, field->text);
			return true;
		}
		if (spelling == TR_MALFORMED || !tr_field_value(record, field, err))
			return false;
	}
	tr_literal_write(field->value, to);
	return true;
}

struct writing {
	struct tr_record *record;
	struct tr_buffer *to;
	struct tr_error *err;
};

static bool write_field(void *context, struct tr_field *field, const struct tr_error *trouble)
{
	struct writing *w = context;
	if (!field) {
		tr_buffer_put_literal(w->to, "\t->");
		return true;
	}
	tr_buffer_put_byte(w->to, '\t');
	if (trouble) {
		*w->err = *trouble;
		return false;
	}
	if (!field->key.data) {
		tr_error_set(w->err, TR_CAUSE_INPUT, "a column is no field: %.*s",
			     (int)field->text.len, field->text.data);
		return false;
	}
	if (!tr_cell_respell(field->key, true, w->record->arena, w->to, w->err)) {
		tr_error_name(w->err, TR_TEXT("key"));
		return false;
	}
	tr_buffer_put_byte(w->to, '=');
	if (write_value(w->record, field, w->to, w->err))
		return true;
	tr_error_name(w->err, field->key);
	return false;
}

static bool write_fields(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	return tr_record_walk(record, write_field, &(struct writing){ record, to, err });
}

static bool write_line(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	if (record->type == TR_COMMENT) {
		tr_buffer_put_byte(to, '#');
		tr_buffer_put_text(to, record->comment);
	} else if (!write_fixed(record, to, err) || !write_fields(record, to, err)) {
		return false;
	}
	tr_buffer_put_byte(to, '\n');
	return true;
}

enum tr_status tr_record_write(struct tr_record *record, struct tr_buffer *to, struct tr_error *err)
{
	if (record->line.data && record->canonical) {
		tr_buffer_put_text(to, record->line);
		return to->failed ? TR_FATAL : TR_OK;
	}
	if (record->spell && !record->line.data) {
		char *line = tr_buffer_room(to, TR_SPELL_MAX);
		if (line)
			tr_buffer_used(to, record->spell(record, line));
		else
			tr_error_memory(err);
		return to->failed ? TR_FATAL : TR_OK;
	}
	size_t start = to->len;
	struct tr_error trouble;
	tr_error_clear(&trouble);
	bool written = write_line(record, to, &trouble);
	if (to->failed || trouble.cause == TR_CAUSE_MEMORY)
		return tr_error_memory(err);
	if (written)
		return TR_OK;
	to->len = start;
	if (err)
		*err = trouble;
	return TR_WARN;
}

void tr_trailer_put(uint64_t count, uint64_t errors, bool truncated, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "!end\t");
	tr_buffer_put_decimal(to, count);
	if (errors) {
		tr_buffer_put_literal(to, "\terrors=");
		tr_buffer_put_decimal(to, errors);
	}
	if (truncated)
		tr_buffer_put_literal(to, "\ttruncated=true");
}
