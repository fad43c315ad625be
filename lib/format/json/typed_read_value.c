/* Values of typed JSON as trec text. */
#include "format/json/typed.h"

#include <string.h>

#include "record/literal.h"

/* A bare number: integers up to 2^53-1, everything else has been through arithmetic. */
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
			     "the number %.*s is no integer: write {\"$real\":\"…\"}",
			     tr_typed_quoted(number), number.data);
	else
		tr_error_set(r->err, TR_CAUSE_INPUT,
			     "the number %.*s is not kept by JSON tools: write {\"$int\":\"…\"}",
			     tr_typed_quoted(number), number.data);
	return false;
}

/* A string token as a trec string. */
static void put_string(struct tr_typed_reader *r, struct tr_text body)
{
	tr_buffer_put_byte(r->to, '"');
	tr_json_string_to_spelling(body, r->to);
	tr_buffer_put_byte(r->to, '"');
}

/* The canonical spelling of what a tag holds, which has to be of that tag. */
static bool read_canonical(struct tr_typed_reader *r, enum tr_typed_tag tag,
			   struct tr_text *canonical)
{
	struct tr_text text;
	if (!tr_typed_read_spelling(r, &text))
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
		     tr_typed_names[tag], tr_typed_quoted(text), text.data);
	return false;
}

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
	enum tr_json_token token = tr_json_next(&r->json, &text);
	if (token == TR_JSON_STRING) {
		put_string(r, text);
		return true;
	}
	if (token != TR_JSON_OBJECT)
		return tr_typed_unexpected(r, token, "a key: a string or {\"$str\":…}");
	if (!tr_typed_read_tag(r, &text))
		return false;
	if (!tr_text_is(text, "$str"))
		return tr_typed_unexpected(r, TR_JSON_OBJECT, "a key: a string or {\"$str\":…}");
	if (!read_canonical(r, TR_TYPED_STR, &text))
		return false;
	if (text.data[text.len - 1] != '"') {
		tr_error_set(r->err, TR_CAUSE_INPUT, "a key cannot be cut");
		return false;
	}
	tr_buffer_put_text(r->to, text);
	return true;
}

/* Takes the quotes off a member's name at `start` where it is a word. */
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

static bool read_next(struct tr_typed_reader *r, unsigned depth)
{
	struct tr_text text = { NULL, 0 };
	enum tr_json_token token = tr_json_next(&r->json, &text);
	return read_any(r, token, text, depth);
}

/* One more open bracket; puts it. */
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

/*
 * Behind a "[" or an element: more is set when an element follows. first:
 * none has been read, so that none needs to be.
 */
static bool next_element(struct tr_typed_reader *r, bool first, bool *more)
{
	struct tr_json ahead = r->json;
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&ahead, &text);
	*more = token != TR_JSON_ARRAY_END;
	if (token == TR_JSON_ARRAY_END || (!first && token == TR_JSON_COMMA))
		r->json = ahead;
	else if (!first || token == TR_JSON_CUT)
		return tr_typed_unexpected(r, token, "\",\" or \"]\"");
	return true;
}

/* Behind "[". */
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
		if (!read_next(r, depth + 1))
			return false;
	}
	return false;
}

/* [KEY,VALUE] elements up to "]"; separator is what trec has between key and value. */
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
		if (!tr_typed_expect(r, TR_JSON_ARRAY, "a pair [KEY,VALUE]") || !read_key(r))
			return false;
		if (separator == '=')
			bare_word(r->to, start);
		tr_buffer_put_byte(r->to, separator);
		if (!tr_typed_expect(r, TR_JSON_COMMA, "\",\" and a value after the key") ||
		    !read_next(r, depth + 1) ||
		    !tr_typed_expect(r, TR_JSON_ARRAY_END, "\"]\" after the pair"))
			return false;
	}
	return false;
}

static bool read_map(struct tr_typed_reader *r, unsigned depth)
{
	if (!tr_typed_expect(r, TR_JSON_ARRAY, "a list of pairs in $map") ||
	    !open_bracket(r, '{', depth) || !read_pairs(r, true, ':', depth))
		return false;
	tr_buffer_put_byte(r->to, '}');
	return true;
}

/* "S" and a number: the table that a structure's members are from. */
static bool is_struct_id(struct tr_text id)
{
	char literal[32] = "{=}@";
	if (id.len < 2 || id.len > sizeof literal - 4)
		return false;
	memcpy(literal + 4, id.data, id.len);
	return tr_literal_check((struct tr_text){ literal, 4 + id.len }, NULL, NULL) ==
	       TR_CANONICAL;
}

static bool read_struct(struct tr_typed_reader *r, unsigned depth)
{
	struct tr_text id = { NULL, 0 };
	if (!tr_typed_expect(r, TR_JSON_ARRAY, "a list in $struct") || !open_bracket(r, '{', depth))
		return false;
	enum tr_json_token token = tr_json_next(&r->json, &id);
	if (token != TR_JSON_NULL && token != TR_JSON_STRING)
		return tr_typed_unexpected(r, token,
					   "null or an identifier like \"S5\" in $struct");
	if (token == TR_JSON_STRING && !is_struct_id(id)) {
		tr_error_set(r->err, TR_CAUSE_INPUT, "no identifier of a structure: %.*s",
			     tr_typed_quoted(id), id.data);
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

static bool read_repr(struct tr_typed_reader *r, unsigned depth)
{
	static const char expected[] = "a list of two values in $repr";
	if (!tr_typed_expect(r, TR_JSON_ARRAY, expected) || !open_bracket(r, '<', depth) ||
	    !read_next(r, depth + 1) || !tr_typed_expect(r, TR_JSON_COMMA, expected))
		return false;
	tr_buffer_put_byte(r->to, ';');
	if (!read_next(r, depth + 1) || !tr_typed_expect(r, TR_JSON_ARRAY_END, expected))
		return false;
	tr_buffer_put_byte(r->to, '>');
	return true;
}

static bool read_cut(struct tr_typed_reader *r, unsigned depth)
{
	if (!tr_typed_expect(r, TR_JSON_ARRAY, "a list in $cut") || !read_list(r, depth))
		return false;
	tr_buffer_put_literal(r->to, "...");
	return true;
}

/* Behind "{". */
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
	if (!tr_typed_read_tag(r, &tag))
		return false;
	for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++)
		if (tr_text_is(tag, compounds[i].name))
			return compounds[i].read(r, depth) &&
			       tr_typed_expect(r, TR_JSON_OBJECT_END,
					       "one key in the object and \"}\"");
	for (int i = 0; i < TR_TYPED_SPELLED; i++)
		if (tr_text_is(tag, tr_typed_names[i]))
			return read_spelled(r, (enum tr_typed_tag)i);
	if (depth == 0 && tr_text_is(tag, "$raw"))
		return tr_typed_read_raw(r);
	tr_error_set(r->err, TR_CAUSE_INPUT,
		     "no tag: \"%.*s\"; a map is {\"$map\":[[KEY,VALUE],…]}", tr_typed_quoted(tag),
		     tag.data);
	return false;
}

/* Recursion ends at max_depth: every level of it opens a bracket of trec. */
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
		return tr_typed_unexpected(r, token, "a value");
	}
}

bool tr_typed_read_value(struct tr_typed_reader *r)
{
	return read_next(r, 0);
}
