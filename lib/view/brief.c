/* SPDX-License-Identifier: MIT */
/* Shortens values. A text is cut only between characters, so that the result stays valid UTF-8. */
#include "view/brief.h"

#include "core/utf8.h"
#include "record/ask.h"
#include "record/literal.h"
#include "record/string_scan.h"
#include "view/json_value.h"

bool tr_brief_cut(struct tr_buffer *to, size_t from, size_t limit)
{
	if (to->failed || to->len - from <= limit)
		return false;
	to->len = from + limit;
	while (to->len > from && tr_utf8_is_inside(to->data[to->len]))
		to->len--;
	tr_buffer_put_literal(to, "\xe2\x80\xa6");
	return true;
}

bool tr_brief_value(struct tr_record *record, struct tr_field *field, size_t limit,
		    struct tr_buffer *to)
{
	size_t from = to->len;
	struct tr_error err;
	bool blob = field->text.data && tr_text_starts(field->text, TR_TEXT("b64:"));

	if (field->text.data && !blob) {
		/* one character beyond the limit is enough to see that the text is longer */
		size_t len = field->text.len > limit + 4 ? limit + 4 : field->text.len;
		tr_buffer_put(to, field->text.data, len);
		tr_brief_cut(to, from, limit);
		return !to->failed;
	}
	tr_error_clear(&err);
	const struct tr_value *value = tr_ask_field(record, field, &err);
	if (err.cause == TR_CAUSE_MEMORY)
		return false;
	if (!value) {
		tr_buffer_put_text(to, field->text);
	} else if (value->type == TR_BLOB) {
		tr_buffer_put_literal(to, "blob:");
		tr_buffer_put_decimal(to, value->text.len);
	} else {
		tr_literal_write(value, to);
	}
	tr_brief_cut(to, from, limit);
	return !to->failed;
}

void tr_brief_cell(const struct tr_cell *cell, struct tr_arena *arena, struct tr_buffer *to)
{
	struct tr_error err;

	/* trec and JSON spell nearly all cells in the same way */
	if (cell->type == TR_CELL_TEXT) {
		const char *end = cell->text.data + cell->text.len;
		if (tr_string_special(cell->text.data, end) == end) {
			tr_buffer_put_quoted(to, cell->text);
			return;
		}
	}
	struct tr_text bytes = tr_ask_cell(cell, arena, &err);
	if (bytes.data)
		tr_json_view_name(bytes, to);
	else
		to->failed = true;
}

struct tr_cell tr_brief_program(const struct tr_cell *name)
{
	struct tr_cell program = *name;
	struct tr_text text = name->text;

	if (name->type != TR_CELL_TEXT)
		return program;
	/* a slash at the end of the path is part of the name */
	for (size_t i = text.len - (text.len > 0); i-- > 0;) {
		if (text.data[i] == '/') {
			program.text = tr_text_span(text.data + i + 1, text.data + text.len);
			break;
		}
	}
	return program;
}
