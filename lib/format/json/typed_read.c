/* Lines of the stream from typed JSON. */
#include "format/json/typed.h"

#include <string.h>

/* Raw in front of a key, these say that it is none of the source's own. */
static bool has_lead(struct tr_text key)
{
	return key.len && (key.data[0] == '.' || key.data[0] == '#');
}

/* Behind "{": a cell that JSON text cannot say, or something that is no cell at all. */
static bool read_cell_object(struct tr_typed_reader *r, bool key)
{
	struct tr_text tag, spelling, bytes;
	if (!tr_typed_read_tag(r, &tag))
		return false;
	if (tr_text_is(tag, "$raw"))
		return tr_typed_read_raw(r);
	if (!tr_text_is(tag, "$cell"))
		return tr_typed_unexpected(r, TR_JSON_OBJECT, "$cell in a cell's object");
	if (!tr_typed_read_spelling(r, &spelling) ||
	    !tr_cell_bytes(spelling, r->arena, &bytes, r->err))
		return false;
	tr_typed_put_cell(bytes, key, key && has_lead(spelling), r->to);
	return true;
}

/* A string that is its own cell: what has to be escaped in either is not in it. */
static bool is_plain(struct tr_text body, bool key)
{
	if (body.len == 0 || body.data[0] == '-')
		return false;
	for (size_t i = 0; i < body.len; i++) {
		unsigned char c = (unsigned char)body.data[i];
		if (c < ' ' || c >= 0x7f || c == '\\' || (key && c == '='))
			return false;
	}
	return true;
}

static bool put_cell_string(struct tr_typed_reader *r, struct tr_text body, bool key)
{
	if (is_plain(body, key)) {
		tr_buffer_put_text(r->to, body);
		return true;
	}
	struct tr_text bytes = tr_json_string_bytes(body, r->arena);
	if (!bytes.data && body.len) {
		tr_error_memory(r->err);
		return false;
	}
	tr_typed_put_cell(bytes, key, key && has_lead(bytes), r->to);
	return true;
}

static bool put_number(struct tr_typed_reader *r, struct tr_text number, const char *expected)
{
	if (!tr_typed_is_exact(number) || number.data[0] == '-')
		return tr_typed_unexpected(r, TR_JSON_NUMBER, expected);
	tr_buffer_put_text(r->to, number);
	return true;
}

enum cell_use { COLUMN, NUMBER_COLUMN, KEY };

static bool read_cell(struct tr_typed_reader *r, enum cell_use use)
{
	static const char *const expected[] = {
		"a cell: a string, null or {\"$cell\":…}",
		"a number up to 2^53-1 without a point, or a string",
		"a key: a string or {\"$cell\":…}",
	};
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&r->json, &text);
	switch (token) {
	case TR_JSON_STRING:
		return put_cell_string(r, text, use == KEY);
	case TR_JSON_OBJECT:
		return read_cell_object(r, use == KEY);
	case TR_JSON_NULL:
		if (use == KEY)
			break;
		tr_buffer_put_byte(r->to, '-');
		return true;
	case TR_JSON_NUMBER:
		if (use == NUMBER_COLUMN)
			return put_number(r, text, expected[use]);
		break;
	default:
		break;
	}
	return tr_typed_unexpected(r, token, expected[use]);
}

/* ",CELL" */
static bool read_column(struct tr_typed_reader *r, enum cell_use use)
{
	tr_buffer_put_byte(r->to, '\t');
	return tr_typed_expect(r, TR_JSON_COMMA, "\",\" and a column") && read_cell(r, use);
}

/* Behind "[": key and value. */
static bool read_field(struct tr_typed_reader *r)
{
	if (!read_cell(r, KEY))
		return false;
	tr_buffer_put_byte(r->to, '=');
	return tr_typed_expect(r, TR_JSON_COMMA, "\",\" and a value after the key") &&
	       tr_typed_read_value(r) &&
	       tr_typed_expect(r, TR_JSON_ARRAY_END, "\"]\" after the field");
}

static bool read_arrow(struct tr_typed_reader *r, struct tr_text body, bool *arrow)
{
	if (!tr_text_is(body, "->"))
		return tr_typed_unexpected(r, TR_JSON_STRING, "[KEY,VALUE] or \"->\"");
	if (!*arrow) {
		tr_error_set(r->err, TR_CAUSE_INPUT, "\"->\" is allowed once, and only in records");
		return false;
	}
	*arrow = false;
	tr_buffer_put_literal(r->to, "->");
	return true;
}

/* What stands behind the columns, to the end of the array. arrow: one may come. */
static bool read_fields(struct tr_typed_reader *r, bool arrow)
{
	static const char expected[] = "[KEY,VALUE] or \"->\"";
	for (;;) {
		struct tr_text text;
		enum tr_json_token token = tr_json_next(&r->json, &text);
		if (token == TR_JSON_ARRAY_END)
			return true;
		if (token != TR_JSON_COMMA)
			return tr_typed_unexpected(r, token, "\",\" or \"]\"");
		tr_buffer_put_byte(r->to, '\t');
		token = tr_json_next(&r->json, &text);
		bool good;
		if (token == TR_JSON_ARRAY)
			good = read_field(r);
		else if (token == TR_JSON_STRING)
			good = read_arrow(r, text, &arrow);
		else if (token == TR_JSON_OBJECT)
			good = tr_typed_read_tag(r, &text) &&
			       (tr_text_is(text, "$raw") ? tr_typed_read_raw(r)
							 : tr_typed_unexpected(r, token, expected));
		else
			good = tr_typed_unexpected(r, token, expected);
		if (!good)
			return false;
	}
}

static bool read_comment(struct tr_typed_reader *r)
{
	struct tr_text body;
	if (!tr_typed_expect(r, TR_JSON_COMMA, "\",\" and the comment's text"))
		return false;
	enum tr_json_token token = tr_json_next(&r->json, &body);
	if (token != TR_JSON_STRING)
		return tr_typed_unexpected(r, token, "the comment's text");
	struct tr_text text = tr_json_string_bytes(body, r->arena);
	if (!text.data && body.len) {
		tr_error_memory(r->err);
		return false;
	}
	if (!tr_typed_check_text(r, text, true))
		return false;
	tr_buffer_put_text(r->to, text);
	return tr_typed_expect(r, TR_JSON_ARRAY_END, "\"]\" after the comment");
}

/* The array's first string: a kind, a definition's word with its %, "!end" or "#". */
static bool read_first(struct tr_typed_reader *r, struct tr_text *first)
{
	static const char expected[] = "a kind, \"%trec\", \"!end\" or \"#\"";
	struct tr_text body;
	if (!tr_typed_expect(r, TR_JSON_ARRAY, "an array"))
		return false;
	enum tr_json_token token = tr_json_next(&r->json, &body);
	if (token != TR_JSON_STRING)
		return tr_typed_unexpected(r, token, expected);
	*first = tr_json_string_bytes(body, r->arena);
	if (!first->data && body.len) {
		tr_error_memory(r->err);
		return false;
	}
	if (!tr_typed_check_text(r, *first, false))
		return false;
	/* a comment has its text apart: what follows here would become one */
	if (first->len > 1 && first->data[0] == '#')
		return tr_typed_unexpected(r, token, expected);
	tr_buffer_put_text(r->to, *first);
	return true;
}

static bool read_array(struct tr_typed_reader *r)
{
	struct tr_text first;
	if (!read_first(r, &first))
		return false;
	if (tr_text_is(first, "#"))
		return read_comment(r);
	if (tr_text_is(first, "%trec") || tr_text_is(first, "!end"))
		return read_column(r, NUMBER_COLUMN) && read_fields(r, false);
	if (tr_text_starts(first, TR_TEXT("%")))
		return read_column(r, COLUMN) && read_column(r, COLUMN) && read_fields(r, false);
	return read_column(r, NUMBER_COLUMN) && read_column(r, COLUMN) && read_column(r, COLUMN) &&
	       read_column(r, COLUMN) && read_fields(r, true);
}

enum tr_status tr_typed_read_record(struct tr_typed_reader *r)
{
	r->raw = false;
	tr_error_clear(r->err);
	bool good = read_array(r);
	if (good)
		tr_buffer_put_byte(r->to, '\n');
	else if (r->err->cause == TR_CAUSE_NONE)
		return TR_END;
	if (r->to->failed)
		tr_error_memory(r->err);
	if (r->err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	return good ? TR_OK : TR_WARN;
}
