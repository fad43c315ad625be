/* SPDX-License-Identifier: MIT */
/* Cells: the columns of a line and the keys of its fields. */

#include <string.h>

#include "core/buffer.h"
#include "core/hex.h"
#include "core/utf8.h"
#include "record/literal.h"
#include "record/record.h"
#include "record/string_scan.h"

static void put_hex_escape(unsigned char c, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\\x");
	tr_buffer_put_hex(to, c, 2);
}

static void put_escape(unsigned char c, struct tr_buffer *to)
{
	switch (c) {
	case '\t':
		tr_buffer_put_literal(to, "\\t");
		return;
	case '\n':
		tr_buffer_put_literal(to, "\\n");
		return;
	case '\r':
		tr_buffer_put_literal(to, "\\r");
		return;
	case '\\':
		tr_buffer_put_literal(to, "\\\\");
		return;
	default:
		put_hex_escape(c, to);
	}
}

/* The first byte from p on that may not stand in a cell as it is, or end. */
static const char *next_escaped(const char *p, const char *end)
{
	for (;;) {
		p = tr_string_special(p, end);
		if (p == end)
			return end;
		unsigned length = 0;
		if ((unsigned char)*p >= 0x80)
			length = tr_utf8_length(p, end);
		else if (*p == '"')
			length = 1;
		if (length == 0)
			return p;
		p += length;
	}
}

/* What stands inside a cell, less the rules for whole cells and first characters. */
static void put_inside(const char *p, const char *end, bool key, struct tr_buffer *to)
{
	while (p < end) {
		const char *stop = next_escaped(p, end);
		/* keys are short */
		const char *equals = key ? memchr(p, '=', (size_t)(stop - p)) : NULL;
		if (equals)
			stop = equals;
		tr_buffer_put(to, p, (size_t)(stop - p));
		if (stop < end)
			put_escape((unsigned char)*stop++, to);
		p = stop;
	}
}

void tr_cell_escape(struct tr_text bytes, bool key, struct tr_buffer *to)
{
	if (bytes.len == 0) {
		tr_buffer_put_literal(to, "\\e");
		return;
	}
	const char *p = bytes.data, *end = p + bytes.len;
	if (bytes.len == 1 && *p == '-')
		tr_buffer_put_byte(to, '\\');
	/* raw, these mark keys that are not the source's own */
	if (key && (*p == '.' || *p == '#'))
		put_hex_escape((unsigned char)*p++, to);
	put_inside(p, end, key, to);
}

/* The byte that the escape at p stands for; NULL: it is none. Sets its length. */
static const char *read_escape(const char *p, const char *end, char *byte, size_t *len)
{
	static const char letters[] = "tnr\\", meanings[] = "\t\n\r\\";
	*len = 2;
	if (end - p < 2)
		return "unknown escape in a cell";
	if (p[1] == 'x') {
		int high = end - p >= 4 ? tr_hex_digit(p[2]) : -1;
		int low = end - p >= 4 ? tr_hex_digit(p[3]) : -1;
		if (high < 0 || low < 0)
			return "\\x needs two hex digits";
		*byte = (char)(high << 4 | low);
		*len = 4;
		return NULL;
	}
	const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
	if (!letter) {
		if (p[1] == 'e')
			return "\\e must be a whole cell";
		return p[1] == '-' ? "\\- must be a whole cell" : "unknown escape in a cell";
	}
	*byte = meanings[letter - letters];
	return NULL;
}

bool tr_cell_bytes(struct tr_text spelling, struct tr_arena *arena, struct tr_text *bytes,
		   struct tr_error *err)
{
	*bytes = spelling;
	if (spelling.len == 0 || !memchr(spelling.data, '\\', spelling.len))
		return true;
	if (tr_text_is(spelling, "\\e") || tr_text_is(spelling, "\\-")) {
		*bytes = spelling.data[1] == 'e' ? TR_TEXT("") : TR_TEXT("-");
		return true;
	}
	char *to = tr_arena_alloc(arena, spelling.len);
	if (!to) {
		tr_error_memory(err);
		return false;
	}
	bytes->data = to;
	for (const char *p = spelling.data, *end = p + spelling.len; p < end;) {
		size_t len = 1;
		*to = *p;
		const char *reason = *p == '\\' ? read_escape(p, end, to, &len) : NULL;
		if (reason) {
			tr_error_say_in(err, TR_CAUSE_INPUT, reason, "%s: %.*s", reason,
					(int)(end - p), p);
			return false;
		}
		to++;
		p += len;
	}
	bytes->len = (size_t)(to - bytes->data);
	return true;
}

/*
 * Appends a spelled cell in its canonical spelling. False: it is malformed
 * (err filled) or memory is exhausted.
 */
static bool respell_cell(struct tr_text spelling, bool key, struct tr_arena *arena,
			 struct tr_buffer *to, struct tr_error *err)
{
	if (key && tr_text_is(spelling, "-")) {
		tr_error_set(err, TR_CAUSE_INPUT, "a key is never absent");
		return false;
	}
	if (spelling.len == 0 || !memchr(spelling.data, '\\', spelling.len)) {
		tr_buffer_put_text(to, spelling);
		return true;
	}
	struct tr_text bytes;
	if (!tr_cell_bytes(spelling, arena, &bytes, err))
		return false;
	/* a raw mark in front is none of the name and stays as it is */
	if (key && (*spelling.data == '.' || *spelling.data == '#'))
		put_inside(bytes.data, bytes.data + bytes.len, key, to);
	else
		tr_cell_escape(bytes, key, to);
	return true;
}

bool tr_cell_number(const struct tr_cell *cell, uint64_t *number)
{
	if (cell->type == TR_CELL_NUMBER) {
		*number = cell->number;
		return true;
	}
	struct tr_text digits = cell->text;
	if (cell->type != TR_CELL_TEXT || digits.len == 0 || digits.len > 20 ||
	    (digits.len > 1 && digits.data[0] == '0'))
		return false;
	uint64_t n = 0;
	for (size_t i = 0; i < digits.len; i++) {
		unsigned digit = (unsigned char)digits.data[i] - (unsigned)'0';
		/* only the twentieth can be too much */
		if (digit > 9 || (i == 19 && n > (UINT64_MAX - digit) / 10))
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

void tr_cell_write(const struct tr_cell *cell, struct tr_buffer *to)
{
	switch ((enum tr_cell_type)cell->type) {
	case TR_CELL_ABSENT:
		tr_buffer_put_byte(to, '-');
		return;
	case TR_CELL_TEXT:
		tr_buffer_put_text(to, cell->text);
		return;
	case TR_CELL_NUMBER:
		tr_buffer_put_decimal(to, cell->number);
		return;
	case TR_CELL_ADDRESS:
		tr_buffer_put_literal(to, "0x");
		tr_buffer_put_hex(to, cell->number, cell->width);
		return;
	}
}

/* Records to canonical lines. */

static bool write_cell(struct tr_record *record, const struct tr_cell *cell, const char *column,
		       struct tr_buffer *to, struct tr_error *err)
{
	tr_buffer_put_byte(to, '\t');
	if (cell->type != TR_CELL_TEXT) {
		tr_cell_write(cell, to);
		return true;
	}
	if (respell_cell(cell->text, false, record->arena, to, err))
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
	if (!respell_cell(field->key, true, w->record->arena, w->to, w->err)) {
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
