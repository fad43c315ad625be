/* Canonical trec values as typed JSON. */
#include "format/json/typed.h"

#include <string.h>

#include "record/literal.h"

const char *const tr_typed_names[TR_TYPED_SPELLED] = {
	"$int", "$ptr", "$real", "$str", "$wstr", "$blob", "$sym",
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts(const char *p, const char *end, struct tr_text with)
{
	return tr_text_starts(tr_text_span(p, end), with);
}

/* Behind the string whose opening quote is at p. */
static const char *string_end(const char *p, const char *end)
{
	const char *from = p + 1;
	for (;;) {
		const char *quote = memchr(from, '"', (size_t)(end - from));
		if (!quote)
			return end;
		const char *run = quote;
		while (run > from && run[-1] == '\\')
			run--;
		if ((quote - run) % 2 == 0)
			return quote + 1;
		from = quote + 1;
	}
}

/* Behind the scalar at p: they end where the compound around them goes on. */
static const char *scalar_end(const char *p, const char *end)
{
	for (; p < end && *p != ',' && *p != ']' && *p != '}' && *p != '>' && *p != ';'; p++)
		if (*p == '"')
			p = string_end(p, end) - 1;
	return p;
}

static enum tr_typed_tag word_tag(struct tr_text t)
{
	const char *end = t.data + t.len;
	if (starts(t.data, end, TR_TEXT("L\"")))
		return TR_TYPED_WSTR;
	if (starts(t.data, end, TR_TEXT("b64:")) || starts(t.data, end, TR_TEXT("blob:")) ||
	    starts(t.data, end, TR_TEXT("file:")))
		return TR_TYPED_BLOB;
	if (tr_text_is(t, "true") || tr_text_is(t, "false") || tr_text_is(t, "null"))
		return TR_TYPED_CONSTANT;
	if (tr_text_is(t, "inf") || tr_text_is(t, "inff") || tr_text_is(t, "nan") ||
	    tr_text_is(t, "nanf") || starts(t.data, end, TR_TEXT("nan:")) ||
	    starts(t.data, end, TR_TEXT("nanf:")))
		return TR_TYPED_REAL;
	return TR_TYPED_SYM;
}

static enum tr_typed_tag number_tag(struct tr_text t)
{
	if (tr_text_starts(t, TR_TEXT("0x")))
		return TR_TYPED_PTR;
	for (size_t i = 1; i < t.len; i++)
		if (!is_digit(t.data[i]))
			return TR_TYPED_REAL;
	return TR_TYPED_INT;
}

enum tr_typed_tag tr_typed_tag(struct tr_text canonical)
{
	const char *p = canonical.data, *end = p + canonical.len;
	switch (canonical.len ? *p : '?') {
	case '[':
	case '{':
	case '<':
		return TR_TYPED_COMPOUND;
	case '"':
		p = string_end(p, end);
		return p == end || starts(p, end, TR_TEXT("...")) ? TR_TYPED_STR : TR_TYPED_SYM;
	case '-':
	case '+':
		return number_tag(canonical);
	default:
		return is_digit(*p) ? number_tag(canonical) : word_tag(canonical);
	}
}

/*
 * True when a trec string with its quotes is a JSON string for everyone: not
 * cut, no `\x`, no lone surrogate (which is the only reason for `\ud`).
 */
static bool is_portable(struct tr_text string)
{
	const char *p = string.data, *end = p + string.len;
	if (end[-1] != '"')
		return false;
	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		if (p[1] == 'x' || (p[1] == 'u' && p[2] == 'd'))
			return false;
		p += 2;
	}
	return true;
}

static void put_tagged(enum tr_typed_tag tag, struct tr_text spelling, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"");
	tr_buffer_put_text(to, tr_text_from(tr_typed_names[tag]));
	tr_buffer_put_literal(to, "\":\"");
	tr_string_escape(spelling, to);
	tr_buffer_put_literal(to, "\"}");
}

static void put_scalar(struct tr_text t, struct tr_buffer *to)
{
	enum tr_typed_tag tag = tr_typed_tag(t);
	if (tag == TR_TYPED_CONSTANT || (tag == TR_TYPED_INT && tr_typed_is_exact(t)) ||
	    (tag == TR_TYPED_STR && is_portable(t)))
		tr_buffer_put_text(to, t);
	else
		put_tagged(tag, t, to);
}

/* Some tags depend on what stands behind the brackets. */
static void insert(struct tr_buffer *to, size_t at, struct tr_text t)
{
	if (!tr_buffer_room(to, t.len))
		return;
	memmove(to->data + at + t.len, to->data + at, to->len - at);
	memcpy(to->data + at, t.data, t.len);
	tr_buffer_used(to, t.len);
}

static const char *put_any(const char *p, const char *end, struct tr_buffer *to);

static const char *put_list(const char *p, const char *end, struct tr_buffer *to)
{
	size_t start = to->len;
	tr_buffer_put_byte(to, '[');
	p++;
	while (p < end && *p != ']') {
		if (*p == ',') {
			tr_buffer_put_byte(to, ',');
			p++;
		}
		p = put_any(p, end, to);
	}
	tr_buffer_put_byte(to, ']');
	p++;
	if (starts(p, end, TR_TEXT("..."))) {
		insert(to, start, TR_TEXT("{\"$cut\":"));
		tr_buffer_put_byte(to, '}');
		p += 3;
	}
	return p;
}

/* Behind the key at p of a map or structure. */
static const char *key_end(const char *p, const char *end)
{
	if (*p == '"')
		return string_end(p, end);
	while (p < end && *p != '=')
		p++;
	return p;
}

static void put_key(struct tr_text key, struct tr_buffer *to)
{
	if (key.data[0] == '"') {
		put_scalar(key, to);
	} else {
		tr_buffer_put_byte(to, '"');
		tr_buffer_put_text(to, key);
		tr_buffer_put_byte(to, '"');
	}
}

/* The [KEY,VALUE] pairs from p, which is behind "{", to behind "}". */
static const char *put_pairs(const char *p, const char *end, bool comma, struct tr_buffer *to)
{
	while (p < end && *p != '}') {
		if (comma)
			tr_buffer_put_byte(to, ',');
		comma = true;
		if (*p == ',')
			p++;
		tr_buffer_put_byte(to, '[');
		const char *behind = key_end(p, end);
		put_key(tr_text_span(p, behind), to);
		tr_buffer_put_byte(to, ',');
		p = put_any(behind + 1, end, to);
		tr_buffer_put_byte(to, ']');
	}
	tr_buffer_put_literal(to, "]}");
	return p + 1;
}

static const char *put_struct(const char *p, const char *end, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"$struct\":[");
	size_t start = to->len;
	p = put_pairs(*p == '=' ? p + 1 : p, end, true, to);
	if (!starts(p, end, TR_TEXT("@S"))) {
		insert(to, start, TR_TEXT("null"));
		return p;
	}
	const char *id = ++p;
	for (p++; p < end && is_digit(*p);)
		p++;
	insert(to, start, TR_TEXT("\"\""));
	insert(to, start + 1, tr_text_span(id, p));
	return p;
}

static const char *put_braces(const char *p, const char *end, struct tr_buffer *to)
{
	p++;
	if (*p == '=' || (*p != '}' && *key_end(p, end) == '='))
		return put_struct(p, end, to);
	tr_buffer_put_literal(to, "{\"$map\":[");
	return put_pairs(p, end, false, to);
}

static const char *put_repr(const char *p, const char *end, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"$repr\":[");
	p = put_any(p + 1, end, to);
	tr_buffer_put_byte(to, ',');
	p = put_any(p + 1, end, to);
	tr_buffer_put_literal(to, "]}");
	return p + 1;
}

/* Recursion ends: canonical values have at most 60 open brackets. */
static const char *put_any(const char *p, const char *end, struct tr_buffer *to)
{
	if (p >= end)
		return end;
	switch (*p) {
	case '[':
		return put_list(p, end, to);
	case '{':
		return put_braces(p, end, to);
	case '<':
		return put_repr(p, end, to);
	default: {
		const char *behind = scalar_end(p, end);
		put_scalar(tr_text_span(p, behind), to);
		return behind;
	}
	}
}

void tr_typed_put_value(struct tr_text canonical, struct tr_buffer *to)
{
	put_any(canonical.data, canonical.data + canonical.len, to);
}
