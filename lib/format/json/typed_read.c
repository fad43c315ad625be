/* SPDX-License-Identifier: MIT */
/*
 * Converts typed JSON to lines of the stream: tokens, values, and then the array of a record.
 */
#include "format/json/typed.h"

#include <string.h>

#include "core/utf8.h"
#include "record/literal.h"
#include "record/string_scan.h"

/* What reading records and reading values share: tokens, and the text that tags hold. */

/* Length for "%.*s" of a text that a message quotes. */
static int quoted(struct tr_text text)
{
	enum { MOST = 80 };
	return text.len < MOST ? (int)text.len : MOST;
}

/* Fills err for a token in the wrong place. Always false. */
static bool unexpected(struct tr_typed_reader *r, enum tr_json_token token, const char *expected)
{
	if (token == TR_JSON_CUT)
		tr_error_clear(r->err);
	else if (token == TR_JSON_BAD)
		tr_error_set(r->err, TR_CAUSE_INPUT, "not JSON: expected %s", expected);
	else
		tr_error_set(r->err, TR_CAUSE_INPUT, "not typed JSON: expected %s", expected);
	return false;
}

/* Skips this byte. False: another one is next. */
static inline bool skip_byte(struct tr_typed_reader *r, char byte)
{
	bool here = r->json.pos < r->json.end && *r->json.pos == byte;
	r->json.pos += here;
	return here;
}

/* Reads a token of one byte that has to follow, nearly always without blanks before it. */
static bool expect(struct tr_typed_reader *r, enum tr_json_token want, const char *expected)
{
	static const char bytes[] = {
		[TR_JSON_OBJECT_END] = '}', [TR_JSON_ARRAY] = '[', [TR_JSON_ARRAY_END] = ']',
		[TR_JSON_COLON] = ':',	    [TR_JSON_COMMA] = ',',
	};
	if (skip_byte(r, bytes[want]))
		return true;
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&r->json, &text);
	return token == want || unexpected(r, token, expected);
}

/*
 * Takes the string that comes next if it is printable ASCII without escapes: its spelling in trec
 * is then the same. False: nothing was taken.
 */
static inline bool take_plain(struct tr_typed_reader *r, struct tr_text *body)
{
	const char *p = r->json.pos, *end = r->json.end;
	if (p == end || *p != '"')
		return false;
	const char *stop = tr_string_special(p + 1, end);
	if (stop == end || *stop != '"')
		return false;
	*body = tr_text_span(p + 1, stop);
	r->json.pos = stop + 1;
	return true;
}

/* Appends such a string with its quotes. */
static inline void put_plain(struct tr_typed_reader *r, struct tr_text body)
{
	tr_buffer_put(r->to, body.data - 1, body.len + 2);
}

/* Decodes the text between the quotes of a JSON string. */
static bool decode(struct tr_typed_reader *r, struct tr_text body, struct tr_text *bytes)
{
	*bytes = body.len ? tr_string_bytes(body, r->arena) : TR_TEXT("");
	if (!bytes->data)
		tr_error_memory(r->err);
	return bytes->data != NULL;
}

/* Reads a string that has to follow, decoded. */
static bool read_string(struct tr_typed_reader *r, const char *expected, struct tr_text *bytes)
{
	struct tr_text body;
	enum tr_json_token token = tr_json_next(&r->json, &body);
	return token == TR_JSON_STRING ? decode(r, body, bytes) : unexpected(r, token, expected);
}

/* After `{`: reads the object's key, decoded, and the colon. */
static bool read_tag(struct tr_typed_reader *r, struct tr_text *tag)
{
	return read_string(r, "an object with one key, a tag like \"$int\"", tag) &&
	       expect(r, TR_JSON_COLON, "\":\"");
}

/* Checks for bytes that no line may hold; TAB is allowed with tabs. False: err is filled. */
static bool check_text(struct tr_typed_reader *r, struct tr_text text, bool tabs)
{
	const char *end = text.data + text.len;
	for (const char *p = text.data; p < end; p++) {
		unsigned char c = (unsigned char)*p;
		if ((c < ' ' && !(tabs && c == '\t')) || c == 0x7f) {
			tr_error_set(r->err, TR_CAUSE_INPUT,
				     "byte %02x is not allowed in a line of the stream", c);
			return false;
		}
	}
	if (tr_utf8_check(text.data, end) == end)
		return true;
	tr_error_set(r->err, TR_CAUSE_INPUT, "trec text is valid UTF-8, this is not: %.*s",
		     quoted(text), text.data);
	return false;
}

/* After the colon: reads a string that holds trec text, and `}`. */
static bool read_spelling(struct tr_typed_reader *r, struct tr_text *spelling)
{
	return read_string(r, "a string with the value's own spelling", spelling) &&
	       check_text(r, *spelling, false) &&
	       expect(r, TR_JSON_OBJECT_END, "one key in the object and \"}\"");
}

/* After `{"$raw":`: appends the text as it is. */
static bool read_raw(struct tr_typed_reader *r)
{
	struct tr_text text;
	if (!read_spelling(r, &text))
		return false;
	r->raw = true;
	tr_buffer_put_text(r->to, text);
	return true;
}

bool tr_typed_is_exact(struct tr_text integer)
{
	bool negative = integer.len && *integer.data == '-';
	struct tr_text digits = { integer.data + negative, integer.len - negative };
	return tr_json_keeps_digits(digits) && !(negative && *digits.data == '0');
}

/* Values of typed JSON as trec text. */

/* A bare number. All but integers up to 2^53-1 are results of arithmetic, and refused. */
static bool read_number(struct tr_typed_reader *r, struct tr_text number)
{
	if (tr_typed_is_exact(number)) {
		tr_buffer_put_text(r->to, number);
		return true;
	}
	bool real = false;
	for (size_t i = 0; i < number.len; i++)
		real |= number.data[i] == '.' || (number.data[i] | 0x20) == 'e';
	if (real)
		tr_error_set(r->err, TR_CAUSE_INPUT,
			     "the number %.*s is not an integer: write {\"$real\":\"…\"}",
			     quoted(number), number.data);
	else
		tr_error_set(r->err, TR_CAUSE_INPUT,
			     "the number %.*s is not kept by JSON tools: write {\"$int\":\"…\"}",
			     quoted(number), number.data);
	return false;
}

/* A string token as a trec string. */
static void put_string(struct tr_typed_reader *r, struct tr_text body)
{
	tr_buffer_put_byte(r->to, '"');
	tr_json_string_to_spelling(body, r->to);
	tr_buffer_put_byte(r->to, '"');
}

/* The canonical spelling of a tag's value, which has to have the tag's type. */
static bool read_canonical(struct tr_typed_reader *r, enum tr_typed_tag tag,
			   struct tr_text *canonical)
{
	struct tr_text text;
	if (!read_spelling(r, &text))
		return false;
	struct tr_error why;
	tr_error_clear(&why);
	enum tr_spelling spelling = tr_literal_check(text, NULL, &why);
	if (spelling == TR_MALFORMED) {
		tr_error_set(r->err, TR_CAUSE_INPUT, "%s holds no value: %s", tr_typed_names[tag],
			     why.text);
		return false;
	}
	*canonical = text;
	if (spelling == TR_NONCANONICAL) {
		struct tr_value *value = tr_literal_parse(text, r->arena, r->err);
		if (!value)
			return false;
		tr_buffer_reset(&r->scratch);
		tr_literal_write(value, &r->scratch);
		*canonical = tr_buffer_text(&r->scratch);
		if (r->scratch.failed) {
			tr_error_memory(r->err);
			return false;
		}
	}
	if (tr_typed_tag(*canonical) == tag)
		return true;
	tr_error_set(r->err, TR_CAUSE_INPUT, "%s holds a value of another type: %.*s",
		     tr_typed_names[tag], quoted(text), text.data);
	return false;
}

/* Appends the canonical spelling of a tag's value. */
static bool read_spelled(struct tr_typed_reader *r, enum tr_typed_tag tag)
{
	struct tr_text canonical;
	if (!read_canonical(r, tag, &canonical))
		return false;
	tr_buffer_put_text(r->to, canonical);
	return true;
}

/* A key of a map or member of a structure, in quotes. */
static bool read_key(struct tr_typed_reader *r)
{
	struct tr_text text;
	if (take_plain(r, &text)) {
		put_plain(r, text);
		return true;
	}
	enum tr_json_token token = tr_json_next(&r->json, &text);
	if (token == TR_JSON_STRING) {
		put_string(r, text);
		return true;
	}
	if (token != TR_JSON_OBJECT)
		return unexpected(r, token, "a key: a string or {\"$str\":…}");
	if (!read_tag(r, &text))
		return false;
	if (!tr_text_is(text, "$str"))
		return unexpected(r, TR_JSON_OBJECT, "a key: a string or {\"$str\":…}");
	if (!read_canonical(r, TR_TYPED_STR, &text))
		return false;
	if (text.data[text.len - 1] != '"') {
		tr_error_set(r->err, TR_CAUSE_INPUT, "a key cannot be cut");
		return false;
	}
	tr_buffer_put_text(r->to, text);
	return true;
}

/* Removes the quotes of a member's name at `start` if it is a word. */
static void bare_word(struct tr_buffer *to, size_t start)
{
	struct tr_text name = { to->data + start + 1, to->len - start - 2 };
	if (to->failed || !tr_is_word(name, false))
		return;
	memmove(to->data + start, name.data, name.len);
	to->len -= 2;
}

static bool read_any(struct tr_typed_reader *r, enum tr_json_token token, struct tr_text text,
		     unsigned depth);

/* Reads a value that has to follow. */
static bool read_next(struct tr_typed_reader *r, unsigned depth)
{
	struct tr_text text = { NULL, 0 };
	if (take_plain(r, &text)) {
		put_plain(r, text);
		return true;
	}
	enum tr_json_token token = tr_json_next(&r->json, &text);
	return read_any(r, token, text, depth);
}

/* Appends an opening bracket within the limit. */
static bool open_bracket(struct tr_typed_reader *r, char bracket, unsigned depth)
{
	if (depth >= r->max_depth) {
		tr_error_set(r->err, TR_CAUSE_LIMIT, "more than %u open brackets in a value",
			     r->max_depth);
		return false;
	}
	tr_buffer_put_byte(r->to, bracket);
	return true;
}

/* After "[" (first) or an element: sets more if an element follows. */
static bool next_element(struct tr_typed_reader *r, bool first, bool *more)
{
	*more = true;
	if (!first && skip_byte(r, ','))
		return true;
	struct tr_json ahead = r->json;
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&ahead, &text);
	*more = token != TR_JSON_ARRAY_END;
	if (token == TR_JSON_ARRAY_END || (!first && token == TR_JSON_COMMA))
		r->json = ahead;
	else if (!first || token == TR_JSON_CUT)
		return unexpected(r, token, "\",\" or \"]\"");
	return true;
}

/* Copies the strings without escapes that come next in a list. False: the next item is no such. */
static bool copy_plain_items(struct tr_typed_reader *r)
{
	const char *begin = r->json.pos, *end = r->json.end;
	if (begin >= end || *begin != '"')
		return false;
	const char *after = tr_json_plain_items(begin, end, false);
	tr_buffer_put_text(r->to, tr_text_span(begin, after));
	r->json.pos = after;
	return after > begin;
}

/* After "[". */
static bool read_list(struct tr_typed_reader *r, unsigned depth)
{
	if (!open_bracket(r, '[', depth))
		return false;
	bool more;
	for (bool first = true; next_element(r, first, &more); first = false) {
		if (!more) {
			tr_buffer_put_byte(r->to, ']');
			return true;
		}
		if (!first)
			tr_buffer_put_byte(r->to, ',');
		if (!copy_plain_items(r) && !read_next(r, depth + 1))
			return false;
	}
	return false;
}

/* Reads [KEY,VALUE] elements up to "]"; separator: the byte between key and value in trec. */
static bool read_pairs(struct tr_typed_reader *r, bool first, char separator, unsigned depth)
{
	bool more, comma = false;
	for (; next_element(r, first, &more); first = false) {
		if (!more)
			return true;
		if (comma)
			tr_buffer_put_byte(r->to, ',');
		comma = true;
		size_t start = r->to->len;
		if (!expect(r, TR_JSON_ARRAY, "a pair [KEY,VALUE]") || !read_key(r))
			return false;
		if (separator == '=')
			bare_word(r->to, start);
		tr_buffer_put_byte(r->to, separator);
		if (!expect(r, TR_JSON_COMMA, "\",\" and a value after the key") ||
		    !read_next(r, depth + 1) ||
		    !expect(r, TR_JSON_ARRAY_END, "\"]\" after the pair"))
			return false;
	}
	return false;
}

/* Reads $map. */
static bool read_map(struct tr_typed_reader *r, unsigned depth)
{
	if (!expect(r, TR_JSON_ARRAY, "a list of pairs in $map") || !open_bracket(r, '{', depth) ||
	    !read_pairs(r, true, ':', depth))
		return false;
	tr_buffer_put_byte(r->to, '}');
	return true;
}

/* "S" and a number. */
static bool is_struct_id(struct tr_text id)
{
	char literal[32] = "{=}@";
	if (id.len < 2 || id.len > sizeof literal - 4)
		return false;
	memcpy(literal + 4, id.data, id.len);
	return tr_literal_check((struct tr_text){ literal, 4 + id.len }, NULL, NULL) ==
	       TR_CANONICAL;
}

/* Reads $struct: an id or null, then its members. */
static bool read_struct(struct tr_typed_reader *r, unsigned depth)
{
	struct tr_text id = { NULL, 0 };
	if (!expect(r, TR_JSON_ARRAY, "a list in $struct") || !open_bracket(r, '{', depth))
		return false;
	enum tr_json_token token = tr_json_next(&r->json, &id);
	if (token != TR_JSON_NULL && token != TR_JSON_STRING)
		return unexpected(r, token, "null or an identifier like \"S5\" in $struct");
	if (token == TR_JSON_STRING && !is_struct_id(id)) {
		tr_error_set(r->err, TR_CAUSE_INPUT, "not an identifier of a structure: %.*s",
			     quoted(id), id.data);
		return false;
	}
	size_t start = r->to->len;
	if (!read_pairs(r, false, '=', depth))
		return false;
	if (r->to->len == start)
		tr_buffer_put_byte(r->to, '=');
	tr_buffer_put_byte(r->to, '}');
	if (token == TR_JSON_STRING) {
		tr_buffer_put_byte(r->to, '@');
		tr_buffer_put_text(r->to, id);
	}
	return true;
}

/* Reads $repr: two values. */
static bool read_repr(struct tr_typed_reader *r, unsigned depth)
{
	static const char expected[] = "a list of two values in $repr";
	if (!expect(r, TR_JSON_ARRAY, expected) || !open_bracket(r, '<', depth) ||
	    !read_next(r, depth + 1) || !expect(r, TR_JSON_COMMA, expected))
		return false;
	tr_buffer_put_byte(r->to, ';');
	if (!read_next(r, depth + 1) || !expect(r, TR_JSON_ARRAY_END, expected))
		return false;
	tr_buffer_put_byte(r->to, '>');
	return true;
}

/* Reads $cut: a list whose rest was left out. */
static bool read_cut(struct tr_typed_reader *r, unsigned depth)
{
	if (!expect(r, TR_JSON_ARRAY, "a list in $cut") || !read_list(r, depth))
		return false;
	tr_buffer_put_literal(r->to, "...");
	return true;
}

/* After "{". */
static bool read_tagged(struct tr_typed_reader *r, unsigned depth)
{
	static const struct {
		const char *name;
		bool (*read)(struct tr_typed_reader *r, unsigned depth);
	} compounds[] = {
		{ "$map", read_map },
		{ "$cut", read_cut },
		{ "$struct", read_struct },
		{ "$repr", read_repr },
	};
	struct tr_text tag;
	if (!read_tag(r, &tag))
		return false;
	for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
		if (tr_text_is(tag, compounds[i].name))
			return compounds[i].read(r, depth) &&
			       expect(r, TR_JSON_OBJECT_END, "one key in the object and \"}\"");
	for (int i = 0; i < TR_TYPED_SPELLED; i++)
		if (tr_text_is(tag, tr_typed_names[i]))
			return read_spelled(r, (enum tr_typed_tag)i);
	if (depth == 0 && tr_text_is(tag, "$raw"))
		return read_raw(r);
	tr_error_set(r->err, TR_CAUSE_INPUT,
		     "no tag: \"%.*s\"; a map is {\"$map\":[[KEY,VALUE],…]}", quoted(tag),
		     tag.data);
	return false;
}

/* The recursion ends at max_depth, because every level opens a bracket of trec. */
static bool read_any(struct tr_typed_reader *r, enum tr_json_token token, struct tr_text text,
		     unsigned depth)
{
	switch (token) {
	case TR_JSON_STRING:
		put_string(r, text);
		return true;
	case TR_JSON_NUMBER:
		return read_number(r, text);
	case TR_JSON_TRUE:
		tr_buffer_put_literal(r->to, "true");
		return true;
	case TR_JSON_FALSE:
		tr_buffer_put_literal(r->to, "false");
		return true;
	case TR_JSON_NULL:
		tr_buffer_put_literal(r->to, "null");
		return true;
	case TR_JSON_ARRAY:
		return read_list(r, depth);
	case TR_JSON_OBJECT:
		return read_tagged(r, depth);
	default:
		return unexpected(r, token, "a value");
	}
}

bool tr_typed_read_value(struct tr_typed_reader *r)
{
	return read_next(r, 0);
}

/* Lines of the stream from typed JSON. */

/* The key is one of trec's own: `.` or `#` is its first byte, not escaped. */
static bool has_lead(struct tr_text key)
{
	return key.len && (key.data[0] == '.' || key.data[0] == '#');
}

/* After "{": a cell that is not valid text ($cell), or malformed ($raw). */
static bool read_cell_object(struct tr_typed_reader *r, bool key)
{
	struct tr_text tag, spelling, bytes;
	if (!read_tag(r, &tag))
		return false;
	if (tr_text_is(tag, "$raw"))
		return read_raw(r);
	if (!tr_text_is(tag, "$cell"))
		return unexpected(r, TR_JSON_OBJECT, "$cell in a cell's object");
	if (!read_spelling(r, &spelling) || !tr_cell_bytes(spelling, r->arena, &bytes, r->err))
		return false;
	tr_typed_put_cell(bytes, key, key && has_lead(spelling), r->to);
	return true;
}

/* Appends a string as a cell. */
static bool put_cell_string(struct tr_typed_reader *r, struct tr_text body, bool key)
{
	struct tr_text bytes;
	if (!decode(r, body, &bytes))
		return false;
	tr_typed_put_cell(bytes, key, key && has_lead(bytes), r->to);
	return true;
}

/* Appends a number as a cell, if it is one that JSON tools keep. */
static bool put_number(struct tr_typed_reader *r, struct tr_text number, const char *expected)
{
	if (!tr_typed_is_exact(number) || number.data[0] == '-')
		return unexpected(r, TR_JSON_NUMBER, expected);
	tr_buffer_put_text(r->to, number);
	return true;
}

/* The place of a cell, which decides what it may be. */
enum cell_use { COLUMN, NUMBER_COLUMN, KEY };

/* Reads a cell. */
static bool read_cell(struct tr_typed_reader *r, enum cell_use use)
{
	static const char *const expected[] = {
		"a cell: a string, null or {\"$cell\":…}",
		"a number up to 2^53-1 without a point, or a string",
		"a key: a string or {\"$cell\":…}",
	};
	struct tr_text text;
	if (take_plain(r, &text)) {
		/* "" and "-" have escapes as cells, and '=' has one in keys */
		if (!text.len || *text.data == '-' ||
		    (use == KEY && memchr(text.data, '=', text.len)))
			return put_cell_string(r, text, use == KEY);
		tr_buffer_put_text(r->to, text);
		return true;
	}
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
	return unexpected(r, token, expected[use]);
}

/* ",CELL" */
static bool read_column(struct tr_typed_reader *r, enum cell_use use)
{
	tr_buffer_put_byte(r->to, '\t');
	return expect(r, TR_JSON_COMMA, "\",\" and a column") && read_cell(r, use);
}

/* After "[": key and value. */
static bool read_field(struct tr_typed_reader *r)
{
	if (!read_cell(r, KEY))
		return false;
	tr_buffer_put_byte(r->to, '=');
	return expect(r, TR_JSON_COMMA, "\",\" and a value after the key") &&
	       tr_typed_read_value(r) && expect(r, TR_JSON_ARRAY_END, "\"]\" after the field");
}

/* Reads the arrow. *arrow: one is still allowed. */
static bool read_arrow(struct tr_typed_reader *r, struct tr_text body, bool *arrow)
{
	if (!tr_text_is(body, "->"))
		return unexpected(r, TR_JSON_STRING, "[KEY,VALUE] or \"->\"");
	if (!*arrow) {
		tr_error_set(r->err, TR_CAUSE_INPUT, "\"->\" is allowed once, and only in records");
		return false;
	}
	*arrow = false;
	tr_buffer_put_literal(r->to, "->");
	return true;
}

/* Reads the fields to the end of the array. arrow: one is allowed. */
static bool read_fields(struct tr_typed_reader *r, bool arrow)
{
	static const char expected[] = "[KEY,VALUE] or \"->\"";
	for (;;) {
		struct tr_text text;
		enum tr_json_token token =
			skip_byte(r, ',') ? TR_JSON_COMMA : tr_json_next(&r->json, &text);
		if (token == TR_JSON_ARRAY_END)
			return true;
		if (token != TR_JSON_COMMA)
			return unexpected(r, token, "\",\" or \"]\"");
		tr_buffer_put_byte(r->to, '\t');
		token = skip_byte(r, '[') ? TR_JSON_ARRAY : tr_json_next(&r->json, &text);
		bool good;
		if (token == TR_JSON_ARRAY)
			good = read_field(r);
		else if (token == TR_JSON_STRING)
			good = read_arrow(r, text, &arrow);
		else if (token == TR_JSON_OBJECT)
			good = read_tag(r, &text) &&
			       (tr_text_is(text, "$raw") ? read_raw(r)
							 : unexpected(r, token, expected));
		else
			good = unexpected(r, token, expected);
		if (!good)
			return false;
	}
}

/* Reads the text of a comment. */
static bool read_comment(struct tr_typed_reader *r)
{
	struct tr_text text;
	if (!expect(r, TR_JSON_COMMA, "\",\" and the comment's text") ||
	    !read_string(r, "the comment's text", &text) || !check_text(r, text, true))
		return false;
	tr_buffer_put_text(r->to, text);
	return expect(r, TR_JSON_ARRAY_END, "\"]\" after the comment");
}

/* The array's first string: a kind, a definition's word with its %, "!end" or "#". */
static bool read_first(struct tr_typed_reader *r, struct tr_text *first)
{
	static const char expected[] = "a kind, \"%trec\", \"!end\" or \"#\"";
	if (!expect(r, TR_JSON_ARRAY, "an array") || !read_string(r, expected, first) ||
	    !check_text(r, *first, false))
		return false;
	/* a comment's text is the next string; here it would become part of the kind */
	if (first->len > 1 && first->data[0] == '#')
		return unexpected(r, TR_JSON_STRING, expected);
	tr_buffer_put_text(r->to, *first);
	return true;
}

/* Reads a whole array. Its first word decides which columns follow. */
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
	if (tr_error_is_memory(r->err))
		return TR_FATAL;
	return good ? TR_OK : TR_WARN;
}
