/* SPDX-License-Identifier: MIT */
/* JSON strings and values to their spelling in trec, and bytes to JSON strings. */

#include "record/json.h"

#include <string.h>

#include "core/text.h"
#include "core/utf8.h"
#include "record/json_scan.h"
#include "record/literal.h"
#include "record/record.h"
#include "record/string_scan.h"

enum tr_json_token tr_json_element(const char *p, const char *end, struct tr_escape *element)
{
	if (*p != '\\') {
		unsigned length = tr_utf8_length(p, end);
		*element = length ? (struct tr_escape){ .type = TR_ESCAPE_CHAR,
							.code = tr_utf8_decode(p, length),
							.len = length }
				  : (struct tr_escape){ .type = TR_ESCAPE_BYTE,
							.code = (unsigned char)*p,
							.len = 1 };
		return TR_JSON_STRING;
	}
	if (end - p < 2)
		return TR_JSON_CUT;
	/* JSON has the escapes of trec, but not \x */
	if (p[1] != 'x' && tr_escape_read(p, end, false, element))
		return TR_JSON_STRING;
	if (p[1] != 'u')
		return TR_JSON_BAD;
	for (p += 2; p < end; p++)
		if (tr_hex_digit(*p) < 0)
			return TR_JSON_BAD;
	return TR_JSON_CUT;
}

enum { LOW_SURROGATE = 0xdc00 };

/* Returns the surrogate whose three bytes are at p; 0: there is none. */
static unsigned surrogate_at(const char *p, const char *end)
{
	const unsigned char *b = (const unsigned char *)p;
	if (end - p < 3 || b[0] != 0xed || b[1] < 0xa0 || b[1] > 0xbf || (b[2] & 0xc0) != 0x80)
		return 0;
	return 0xd000u | (b[1] & 0x3fu) << 6 | (b[2] & 0x3fu);
}

/*
 * Appends a body without special bytes, as most are. False: it has some, and nothing was appended.
 */
static bool put_if_plain(struct tr_text body, struct tr_buffer *to)
{
	char *room = tr_buffer_room(to, body.len + TR_JSON_WIDE);
	const char *end = body.data + body.len;
	if (!room || tr_json_copy_plain(body.data, end, &room) < end)
		return false;
	tr_buffer_used(to, body.len);
	return true;
}

bool tr_json_string_to_spelling(struct tr_text body, struct tr_buffer *to)
{
	if (put_if_plain(body, to))
		return true;
	bool same = true;
	const char *end = body.data + body.len;
	for (const char *p = body.data; p < end;) {
		struct tr_escape element;
		char spelling[TR_ESCAPE_MAX];
		(void)tr_json_element(p, end, &element); /* the scan has accepted it */
		size_t n = tr_escape_write(&element, false, spelling);
		same &= n == element.len && memcmp(p, spelling, n) == 0;
		tr_buffer_put(to, spelling, n);
		p += element.len;
	}
	return same;
}

bool tr_json_string_to_cell(struct tr_text body, struct tr_buffer *to)
{
	/* the shortest cells may be "-" or empty, which have spellings of their own */
	if (body.len > 1 && put_if_plain(body, to))
		return true;
	if (!body.len || !memchr(body.data, '\\', body.len)) {
		tr_cell_escape(body, false, to);
		return true;
	}
	bool unique = true;
	struct tr_buffer bytes = TR_BUFFER_INIT;
	for (const char *p = body.data, *end = p + body.len; p < end;) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		const char *stop = backslash ? backslash : end;
		tr_buffer_put_text(&bytes, tr_text_span(p, stop));
		p = stop;
		if (p == end)
			break;
		char unit[TR_ESCAPE_MAX];
		size_t length;
		p += tr_string_unit(p, end, unit, &length);
		tr_buffer_put(&bytes, unit, length);
		unique &= !surrogate_at(unit, unit + length);
	}
	tr_cell_escape(tr_buffer_text(&bytes), false, to);
	to->failed |= bytes.failed;
	tr_buffer_free(&bytes);
	return unique;
}

enum tr_json_token tr_json_spell_cell(struct tr_json *json, struct tr_buffer *to, bool *unique)
{
	const char *body = json->pos + 1, *end = json->end;
	if (body < end && *json->pos == '"') {
		char *room = tr_buffer_room(to, (size_t)(end - body) + TR_JSON_WIDE);
		const char *p = room ? tr_json_copy_plain(body, end, &room) : end;
		if (p < end && *p == '"' && p > body + 1) {
			tr_buffer_used(to, (size_t)(p - body));
			json->pos = p + 1;
			return TR_JSON_STRING;
		}
	}
	struct tr_json next = *json;
	struct tr_text text;
	enum tr_json_token token = tr_json_next(&next, &text);
	if (token == TR_JSON_STRING) {
		*unique = tr_json_string_to_cell(text, to);
		*json = next;
	}
	return token;
}

/*
 * Writes bytes as a JSON string. surrogates: lone surrogates, which UTF-8 does not have, become
 * \ud800 escapes, as the source had them.
 */
static void string_from_bytes(struct tr_text bytes, bool surrogates, struct tr_buffer *to)
{
	const char *p = bytes.data, *end = p + bytes.len, *copied = p;

	tr_buffer_put_byte(to, '"');
	while ((p = tr_string_special(p, end)) < end) {
		unsigned surrogate = surrogates ? surrogate_at(p, end) : 0;
		/* the escapes of two halves of a pair would be one character */
		if (surrogate && surrogate < LOW_SURROGATE &&
		    surrogate_at(p + 3, end) >= LOW_SURROGATE) {
			p += 6;
			continue;
		}
		if (!surrogate && (unsigned char)*p >= 0x80) {
			unsigned length = tr_utf8_length(p, end);
			p += length ? length : 1;
			continue;
		}
		struct tr_escape escape = {
			.type = surrogate ? TR_ESCAPE_SURROGATE : TR_ESCAPE_CHAR,
			.code = surrogate ? surrogate : (unsigned char)*p,
		};
		char spelled[TR_ESCAPE_MAX];
		tr_buffer_put_text(to, tr_text_span(copied, p));
		tr_buffer_put(to, spelled, tr_escape_write(&escape, false, spelled));
		copied = p += surrogate ? 3 : 1;
	}
	tr_buffer_put_text(to, tr_text_span(copied, end));
	tr_buffer_put_byte(to, '"');
}

void tr_json_string_from_bytes(struct tr_text bytes, struct tr_buffer *to)
{
	string_from_bytes(bytes, false, to);
}

void tr_json_string_from_wtf8(struct tr_text bytes, struct tr_buffer *to)
{
	string_from_bytes(bytes, true, to);
}

/*
 * JSON text to trec text in one pass: the hot path of every JSON trace.
 *
 * Strings are scanned and copied at once, 16 bytes in a step; canonical text, which is nearly all,
 * costs nothing more. One rule makes most checks of room unnecessary: after `to` there is always
 * room for all of the remaining text and SLACK bytes. The few elements that grow (a raw control
 * byte, an invalid byte, a REAL) make room again.
 */

enum { SLACK = 64 };

struct speller {
	const char *p, *end;
	char *to;
	struct tr_buffer *buffer;
	struct tr_json_changes changes;
	bool unterminated; /* the text ends inside a string */
	struct tr_error *err;
};

/* Keeps the rule for `more` further bytes. False: memory is exhausted. */
static bool make_room(struct speller *s, size_t more)
{
	size_t used = (size_t)(s->to - s->buffer->data);
	s->buffer->len = used;
	s->to = tr_buffer_room(s->buffer, (size_t)(s->end - s->p) + more + SLACK);
	if (s->to)
		return true;
	tr_error_memory(s->err);
	return false;
}

/* Fills err with the reason why the JSON is malformed. */
static enum tr_json_token bad(struct speller *s, const char *what)
{
	tr_error_say(s->err, TR_CAUSE_INPUT, what);
	return TR_JSON_BAD;
}

/*
 * Spells the element at p, whose spelling may change. TR_JSON_STRING: the string continues after
 * it. Not inlined, because few strings have such elements.
 */
static __attribute__((noinline)) enum tr_json_token spell_element(struct speller *s)
{
	if (*s->p == '\n')
		return bad(s, "a string that does not end on its line");
	struct tr_escape element;
	enum tr_json_token token = tr_json_element(s->p, s->end, &element);
	s->unterminated = token == TR_JSON_CUT;
	if (token == TR_JSON_BAD)
		return bad(s, "a backslash that begins no escape of JSON");
	if (token == TR_JSON_CUT)
		return token;
	if (!make_room(s, TR_ESCAPE_MAX))
		return TR_JSON_BAD;
	size_t n = tr_escape_write(&element, false, s->to);
	if (n != element.len || memcmp(s->p, s->to, n) != 0)
		s->changes.respelled = true;
	s->to += n;
	s->p += element.len;
	return TR_JSON_STRING;
}

/* Spells the string whose opening quote is at p. */
static inline enum tr_json_token spell_string(struct speller *s)
{
	const char *p = s->p + 1, *end = s->end;
	char *to = s->to;
	*to++ = '"';
	for (;;) {
		p = tr_json_copy_plain(p, end, &to);
		if (p >= end)
			break;
		if (*p == '"') {
			*to++ = '"';
			s->p = p + 1;
			s->to = to;
			return TR_JSON_STRING;
		}
		unsigned length;
		if (*p == '\\' && end - p > 1 && tr_json_is_short_escape(p[1]))
			length = 2;
		else
			length = (signed char)*p < 0 ? tr_utf8_length(p, end) : 0;
		if (length) {
			memcpy(to, p, 4); /* there is slack on both sides */
			p += length;
			to += length;
			continue;
		}
		s->p = p;
		s->to = to;
		enum tr_json_token token = spell_element(s);
		if (token != TR_JSON_STRING)
			return token;
		p = s->p;
		to = s->to;
	}
	s->p = end;
	s->to = to;
	s->unterminated = true;
	return TR_JSON_CUT;
}

/* True for an integer whose magnitude has at most 64 bits. */
static bool fits_integer(struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	if (*p == '-')
		p++;
	static const char max[] = "18446744073709551615";
	size_t digits = (size_t)(end - p), limit = sizeof max - 1;
	for (const char *q = p; q < end; q++)
		if (*q < '0' || *q > '9')
			return false;
	return digits < limit || (digits == limit && memcmp(p, max, limit) <= 0);
}

/*
 * Spells a number that is no integer of 64 bits as a REAL. Whether digits or precision are lost is
 * noted, because an exact rewrite needs the text of the source then.
 */
static enum tr_json_token spell_real(struct speller *s, struct tr_text text, const char *after)
{
	uint64_t bits;
	if (!tr_real64_read(text, &bits))
		return bad(s, "a number beyond the range of a double");
	if (!make_room(s, TR_REAL_MAX))
		return TR_JSON_BAD;
	size_t n = tr_real64_write(bits, s->to);
	if (n != text.len || memcmp(s->to, text.data, n) != 0)
		s->changes.respelled = true;
	if (!memchr(text.data, '.', text.len) && !memchr(text.data, 'e', text.len) &&
	    !memchr(text.data, 'E', text.len))
		s->changes.rounded = true;
	s->to += n;
	s->p = after;
	return TR_JSON_NUMBER;
}

/* Spells a number, true, false or null, most of which are the same in both. */
static enum tr_json_token spell_scalar(struct speller *s)
{
	struct tr_json json = { s->p, s->end };
	struct tr_text text = { s->p, 0 };
	enum tr_json_token token = tr_json_next(&json, &text);
	switch (token) {
	case TR_JSON_NUMBER:
		if (!fits_integer(text))
			return spell_real(s, text, json.pos);
		break;
	case TR_JSON_TRUE:
	case TR_JSON_FALSE:
	case TR_JSON_NULL:
		text.len = (size_t)(json.pos - text.data);
		break;
	case TR_JSON_CUT:
		return TR_JSON_CUT;
	default:
		return bad(s, "not a JSON value");
	}
	memcpy(s->to, text.data, text.len);
	s->to += text.len;
	s->p = json.pos;
	return token;
}

/* Returns the next byte that is not a blank; -1 at the end of the text. */
static inline int next_byte(struct speller *s)
{
	if (s->p < s->end && (unsigned char)*s->p > ' ')
		return (unsigned char)*s->p;
	while (s->p < s->end && tr_is_blank(*s->p)) {
		s->changes.respelled = true;
		s->p++;
	}
	return s->p < s->end ? (unsigned char)*s->p : -1;
}

static inline void take_byte(struct speller *s, int byte)
{
	*s->to++ = (char)byte;
	s->p++;
}

/* Spells the key and the colon of a member. */
static inline enum tr_json_token spell_key(struct speller *s)
{
	int byte = next_byte(s);
	if (byte != '"')
		return byte < 0 ? TR_JSON_CUT : bad(s, "a key is missing");
	enum tr_json_token token = spell_string(s);
	if (token != TR_JSON_STRING)
		return token;
	byte = next_byte(s);
	if (byte != ':')
		return byte < 0 ? TR_JSON_CUT : bad(s, "a colon is missing");
	take_byte(s, ':');
	return TR_JSON_COLON;
}

/* The open brackets: one bit each, the innermost lowest, 1 for a map. */
struct brackets {
	uint64_t maps;
	unsigned depth;
};

/*
 * Spells the first item after a bracket or comma, or its key and colon. TR_JSON_STRING: an item was
 * spelled, and perhaps others; COMMA, COLON: a value has to follow.
 */
static inline enum tr_json_token spell_item(struct speller *s, bool map)
{
	if (s->p < s->end && *s->p == '"') {
		const char *after = tr_json_plain_items(s->p, s->end, map);
		size_t length = (size_t)(after - s->p);
		if (length) {
			memcpy(s->to, s->p, length);
			s->to += length;
			s->p = after;
			return TR_JSON_STRING;
		}
	}
	return map ? spell_key(s) : TR_JSON_COMMA;
}

/* Spells an opening bracket, then like spell_item. OBJECT_END: the bracket was closed at once. */
static inline enum tr_json_token spell_opening(struct speller *s, struct brackets *open, int byte)
{
	if (open->depth == TR_JSON_MAX_DEPTH) {
		tr_error_set(s->err, TR_CAUSE_LIMIT, "more than %d open brackets",
			     TR_JSON_MAX_DEPTH);
		return TR_JSON_BAD;
	}
	bool map = byte == '{';
	take_byte(s, byte);
	int next = next_byte(s);
	if (next == (map ? '}' : ']')) {
		take_byte(s, next);
		return TR_JSON_OBJECT_END;
	}
	open->depth++;
	open->maps = open->maps << 1 | map;
	return spell_item(s, map);
}

/* Spells what follows a value. COLON, COMMA: a value follows; OBJECT_END: all is complete. */
static inline enum tr_json_token spell_between(struct speller *s, struct brackets *open)
{
	while (open->depth) {
		bool map = open->maps & 1;
		int byte = next_byte(s);
		if (byte == ',') {
			take_byte(s, byte);
			enum tr_json_token token = spell_item(s, map);
			if (token != TR_JSON_STRING)
				return token;
			continue;
		}
		if (byte != (map ? '}' : ']'))
			return byte < 0 ? TR_JSON_CUT : bad(s, "a comma or a bracket is missing");
		take_byte(s, byte);
		open->depth--;
		open->maps >>= 1;
	}
	return TR_JSON_OBJECT_END;
}

/* Spells a value. Its nesting is in a word of bits, so there is no recursion. */
static enum tr_json_token spell_value(struct speller *s)
{
	struct brackets open = { 0, 0 };
	enum tr_json_token first = TR_JSON_BAD, token;
	for (bool outermost = true;; outermost = false) {
		int byte = next_byte(s);
		if (byte == '"')
			token = spell_string(s);
		else if (byte == '[' || byte == '{')
			token = byte == '[' ? TR_JSON_ARRAY : TR_JSON_OBJECT;
		else
			token = byte < 0 ? TR_JSON_CUT : spell_scalar(s);
		if (outermost)
			first = token;
		if (token == TR_JSON_ARRAY || token == TR_JSON_OBJECT) {
			token = spell_opening(s, &open, byte);
			if (token == TR_JSON_COLON || token == TR_JSON_COMMA)
				continue;
		}
		if (token == TR_JSON_CUT || token == TR_JSON_BAD)
			return token;
		token = spell_between(s, &open);
		if (token == TR_JSON_OBJECT_END)
			return first;
		if (token == TR_JSON_CUT || token == TR_JSON_BAD)
			return token;
	}
}

enum tr_json_token tr_json_spell(struct tr_json *json, struct tr_buffer *to,
				 struct tr_json_changes *changes, struct tr_error *err)
{
	struct speller s = { .p = json->pos, .end = json->end, .buffer = to, .err = err };
	/* blanks before the value are not part of its spelling */
	while (s.p < s.end && tr_is_blank(*s.p))
		s.p++;
	s.to = tr_buffer_room(to, (size_t)(s.end - s.p) + SLACK);
	if (!s.to) {
		tr_error_memory(err);
		return TR_JSON_BAD;
	}
	enum tr_json_token token = spell_value(&s);
	if (token == TR_JSON_CUT)
		bad(&s, s.unterminated ? "a string that does not end on its line"
				       : "the JSON text ends in the middle of a value");
	if (s.to)
		to->len = (size_t)(s.to - to->data);
	json->pos = s.p;
	if (changes) {
		changes->respelled |= s.changes.respelled;
		changes->rounded |= s.changes.rounded;
	}
	return token;
}
