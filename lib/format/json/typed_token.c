/* What reading records and reading values share: tokens, and the text that tags hold. */
#include "format/json/typed.h"

#include <string.h>

#include "core/utf8.h"

bool tr_typed_unexpected(struct tr_typed_reader *r, enum tr_json_token token, const char *expected)
{
	if (token == TR_JSON_CUT)
		tr_error_clear(r->err);
	else if (token == TR_JSON_BAD)
		tr_error_set(r->err, TR_CAUSE_INPUT, "no JSON; expected %s", expected);
	else
		tr_error_set(r->err, TR_CAUSE_INPUT, "no typed JSON: expected %s", expected);
	return false;
}

bool tr_typed_expect(struct tr_typed_reader *r, enum tr_json_token want, const char *expected)
{
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&r->json, &text);
	return token == want || tr_typed_unexpected(r, token, expected);
}

/* The bytes of a JSON string, by what stands between its quotes. */
static bool decode(struct tr_typed_reader *r, struct tr_text body, struct tr_text *bytes)
{
	*bytes = body;
	if (body.len == 0 || !memchr(body.data, '\\', body.len))
		return true;
	*bytes = tr_json_string_bytes(body, r->arena);
	if (!bytes->data)
		tr_error_memory(r->err);
	return bytes->data != NULL;
}

bool tr_typed_read_tag(struct tr_typed_reader *r, struct tr_text *tag)
{
	static const char expected[] = "an object with one key, a tag like \"$int\"";
	struct tr_text body;
	enum tr_json_token token = tr_json_next(&r->json, &body);
	if (token != TR_JSON_STRING)
		return tr_typed_unexpected(r, token, expected);
	return decode(r, body, tag) && tr_typed_expect(r, TR_JSON_COLON, "\":\"");
}

bool tr_typed_check_text(struct tr_typed_reader *r, struct tr_text text, bool tabs)
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
		     tr_typed_quoted(text), text.data);
	return false;
}

bool tr_typed_read_spelling(struct tr_typed_reader *r, struct tr_text *spelling)
{
	struct tr_text body;
	enum tr_json_token token = tr_json_next(&r->json, &body);
	if (token != TR_JSON_STRING)
		return tr_typed_unexpected(r, token, "a string with the value's own spelling");
	return decode(r, body, spelling) && tr_typed_check_text(r, *spelling, false) &&
	       tr_typed_expect(r, TR_JSON_OBJECT_END, "one key in the object and \"}\"");
}

bool tr_typed_read_raw(struct tr_typed_reader *r)
{
	struct tr_text text;
	if (!tr_typed_read_spelling(r, &text))
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
