/* SPDX-License-Identifier: MIT */
/* One character of a JSON string: as it is, as an escape, or as the byte that is none. */

#include "record/json.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "core/utf8.h"
#include "record/json_scan.h"
#include "record/literal.h"
#include "record/record.h"
#include "record/string_scan.h"

enum { SURROGATE_FIRST = 0xd800, SURROGATE_LOW = 0xdc00, SURROGATE_LAST = 0xdfff };

/* The four hex digits at p, which is after `\u`; -1 where they are not there. */
static int32_t hex_unit(const char *p, const char *end)
{
	if (end - p < 4)
		return -1;
	int32_t unit = 0;
	for (int i = 0; i < 4; i++) {
		int digit = tr_hex_digit(p[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* `\u` at p that is no escape: is it because the text ends? */
static bool ends_in_hex(const char *p, const char *end)
{
	for (p += 2; p < end; p++)
		if (tr_hex_digit(*p) < 0)
			return false;
	return true;
}

static struct tr_json_element unicode_escape(const char *p, const char *end)
{
	int32_t unit = hex_unit(p + 2, end);
	if (unit < 0)
		return (struct tr_json_element){ ends_in_hex(p, end) ? TR_JSON_ENDS
								     : TR_JSON_NO_ESCAPE,
						 0, 0 };
	if (unit < SURROGATE_FIRST || unit > SURROGATE_LAST)
		return (struct tr_json_element){ TR_JSON_CHARACTER, (uint32_t)unit, 6 };
	if (unit < SURROGATE_LOW && end - p >= 12 && p[6] == '\\' && p[7] == 'u') {
		int32_t low = hex_unit(p + 8, end);
		if (low >= SURROGATE_LOW && low <= SURROGATE_LAST) {
			uint32_t code = 0x10000 +
					(((uint32_t)unit & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
			return (struct tr_json_element){ TR_JSON_CHARACTER, code, 12 };
		}
	}
	return (struct tr_json_element){ TR_JSON_SURROGATE, (uint32_t)unit, 6 };
}

static struct tr_json_element escape(const char *p, const char *end)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	if (end - p < 2)
		return (struct tr_json_element){ TR_JSON_ENDS, 0, 0 };
	if (p[1] == 'u')
		return unicode_escape(p, end);
	const char *letter = memchr(letters, p[1], sizeof letters - 1);
	if (!letter)
		return (struct tr_json_element){ TR_JSON_NO_ESCAPE, 0, 0 };
	return (struct tr_json_element){ TR_JSON_CHARACTER, (uint32_t)meant[letter - letters], 2 };
}

struct tr_json_element tr_json_element(const char *p, const char *end)
{
	if (*p == '\\')
		return escape(p, end);
	unsigned length = tr_utf8_length(p, end);
	if (!length)
		return (struct tr_json_element){ TR_JSON_RAW_BYTE, (unsigned char)*p, 1 };
	return (struct tr_json_element){ TR_JSON_CHARACTER, tr_utf8_decode(p, length), length };
}

static unsigned put_hex_escape(uint32_t unit, char *to)
{
	static const char digits[] = "0123456789abcdef";
	to[0] = '\\';
	to[1] = 'u';
	for (int i = 0; i < 4; i++)
		to[2 + i] = digits[unit >> (12 - 4 * i) & 15];
	return 6;
}

/* Canonical spelling of an element (the first three types) for a trec string. */
static unsigned spell_element(const struct tr_json_element *element, char *to)
{
	static const char shortest[0x20] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
	};
	uint32_t code = element->code;
	if (element->type == TR_JSON_RAW_BYTE) {
		static const char digits[] = "0123456789abcdef";
		to[0] = '\\';
		to[1] = 'x';
		to[2] = digits[code >> 4];
		to[3] = digits[code & 15];
		return 4;
	}
	if (element->type == TR_JSON_SURROGATE || code == 0x7f)
		return put_hex_escape(code, to);
	if (code >= 0x20 && code != '"' && code != '\\')
		return tr_utf8_encode(code, to);
	char letter = code < 0x20 ? shortest[code] : (char)code;
	if (!letter)
		return put_hex_escape(code, to);
	to[0] = '\\';
	to[1] = letter;
	return 2;
}

/* Most bodies are their own spelling, in every form: then they are appended at once. */
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
		struct tr_json_element element = tr_json_element(p, end);
		char spelling[TR_JSON_SPELLING_MAX];
		unsigned n = spell_element(&element, spelling);
		same &= n == element.length && memcmp(p, spelling, n) == 0;
		tr_buffer_put(to, spelling, n);
		p += element.length;
	}
	return same;
}

/* Bytes of an element; at most 4. */
static unsigned element_bytes(const struct tr_json_element *element, char *to)
{
	if (element->type == TR_JSON_CHARACTER)
		return tr_utf8_encode(element->code, to);
	if (element->type == TR_JSON_RAW_BYTE) {
		to[0] = (char)element->code;
		return 1;
	}
	to[0] = (char)(0xe0 | element->code >> 12);
	to[1] = (char)(0x80 | (element->code >> 6 & 0x3f));
	to[2] = (char)(0x80 | (element->code & 0x3f));
	return 3;
}

/* Decodes into to, which holds body.len bytes; *surrogates is set where one was escaped. */
static size_t decode(struct tr_text body, char *to, bool *surrogates)
{
	const char *end = body.data + body.len;
	char *t = to;
	for (const char *p = body.data; p < end;) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		size_t run = (size_t)((backslash ? backslash : end) - p);
		memcpy(t, p, run);
		t += run;
		p += run;
		if (p == end)
			break;
		struct tr_json_element element = tr_json_element(p, end);
		char bytes[4];
		unsigned n = element_bytes(&element, bytes);
		memcpy(t, bytes, n); /* never longer than the escape */
		t += n;
		p += element.length;
		*surrogates |= element.type == TR_JSON_SURROGATE;
	}
	return (size_t)(t - to);
}

struct tr_text tr_json_string_bytes(struct tr_text body, struct tr_arena *arena)
{
	if (!body.len || !memchr(body.data, '\\', body.len))
		return body;
	bool surrogates = false;
	char *to = tr_arena_alloc(arena, body.len);
	if (!to)
		return (struct tr_text){ NULL, 0 };
	return (struct tr_text){ to, decode(body, to, &surrogates) };
}

bool tr_json_string_to_cell(struct tr_text body, struct tr_buffer *to)
{
	/* the shortest cells may be "-" or empty, which have spellings of their own */
	if (body.len > 1 && put_if_plain(body, to))
		return true;
	bool surrogates = false;
	if (!body.len || !memchr(body.data, '\\', body.len)) {
		tr_cell_escape(body, false, to);
		return true;
	}
	struct tr_buffer bytes = TR_BUFFER_INIT;
	char *room = tr_buffer_room(&bytes, body.len);
	if (room)
		tr_cell_escape((struct tr_text){ room, decode(body, room, &surrogates) }, false,
			       to);
	to->failed |= !room;
	tr_buffer_free(&bytes);
	return !surrogates;
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

void tr_json_string_from_spelling(struct tr_text spelling, struct tr_buffer *to)
{
	const char *p = spelling.data, *end = p + spelling.len;
	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		if (!backslash || end - backslash < 2)
			break;
		if (backslash[1] != 'x' || end - backslash < 4) {
			tr_buffer_put(to, p, (size_t)(backslash + 2 - p));
			p = backslash + 2;
			continue;
		}
		tr_buffer_put(to, p, (size_t)(backslash - p));
		int high = tr_hex_digit(backslash[2]), low = tr_hex_digit(backslash[3]);
		tr_buffer_put_byte(to, (char)(high << 4 | low));
		p = backslash + 4;
	}
	tr_buffer_put_text(to, tr_text_span(p, end));
}

/* The surrogate whose three bytes are spelled at p; 0: something else stands there. */
static unsigned spelled_surrogate(const char *p, const char *end)
{
	if (end - p < 12 || memcmp(p, "\\xed\\x", 6) != 0 || memcmp(p + 8, "\\x", 2) != 0)
		return 0;
	int high = tr_hex_digit(p[6]), low = tr_hex_digit(p[7]);
	int last_high = tr_hex_digit(p[10]), last_low = tr_hex_digit(p[11]);
	if (high < 0xa || high > 0xb || last_high < 8 || last_high > 0xb)
		return 0;
	return 0xd000u | (unsigned)((high << 4 | low) & 0x3f) << 6 |
	       (unsigned)((last_high << 4 | last_low) & 0x3f);
}

/* As it is spelled, but lone surrogates by their escape; two that would be a pair stay bytes. */
static void put_surrogates(struct tr_text spelling, struct tr_buffer *to)
{
	enum { SPELLED = 12, LOW = 0xdc00 };
	const char *p = spelling.data, *end = p + spelling.len;
	while (p < end) {
		const char *backslash = memchr(p, '\\', (size_t)(end - p));
		const char *stop = backslash ? backslash : end;
		tr_buffer_put_text(to, tr_text_span(p, stop));
		if (!backslash)
			break;
		unsigned surrogate = spelled_surrogate(stop, end);
		bool pair = surrogate && surrogate < LOW &&
			    spelled_surrogate(stop + SPELLED, end) >= LOW;
		size_t len = !surrogate ? 2 : pair ? 2 * (size_t)SPELLED : SPELLED;
		if (surrogate && !pair) {
			char escape[8];
			tr_buffer_put(
				to, escape,
				(size_t)snprintf(escape, sizeof escape, "\\u%04x", surrogate));
		} else {
			tr_buffer_put(to, stop, len);
		}
		p = stop + len;
	}
}

static void string_from_bytes(struct tr_text bytes, bool surrogates, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	size_t begin = to->len;
	bool plain = tr_string_escape(bytes, to);
	if (!plain && !to->failed) {
		struct tr_buffer spelling = TR_BUFFER_INIT;
		struct tr_text escaped = { to->data + begin, to->len - begin };
		if (surrogates)
			put_surrogates(escaped, &spelling);
		else
			tr_buffer_put_text(&spelling, escaped);
		to->len = begin;
		tr_json_string_from_spelling(tr_buffer_text(&spelling), to);
		to->failed |= spelling.failed;
		tr_buffer_free(&spelling);
	}
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
 * Strings are scanned and copied at once, 16 bytes a step; what is canonical
 * already (nearly everything) costs nothing more. The rule that makes it free
 * of checks: behind `to` there is always room for all of the text that is left
 * and SLACK more. The few elements that grow (a raw control byte, a byte that
 * is no UTF-8, a REAL) ask for room anew.
 */

#if defined __SSE2__ && !defined TR_PORTABLE

TR_INLINED const char *plain_items(const char *p, const char *end, bool map)
{
	const char *behind = p;
	/* the bracket or comma before is as good as a separator: a string has to follow */
	struct tr_view view = { .between = UINT64_MAX };
	for (; p < end; p += TR_UTF8_BLOCK) {
		view = tr_view_look(tr_find_marks(p, map), map, &view);
		if (end - p < TR_UTF8_BLOCK)
			view.bad |= UINT64_MAX << (end - p);
		uint64_t good = view.bad ? (view.bad & (0 - view.bad)) - 1 : UINT64_MAX;
		uint64_t ends = view.closing & good & (map ? view.odd : UINT64_MAX);
		if (ends)
			behind = p + TR_UTF8_BLOCK - __builtin_clzll(ends);
		if (view.bad)
			break;
	}
	return behind;
}

/*
 * p is at an item of a list, or a key of a map, that has a string in it. Behind
 * the last of the items from there on that are strings (or pairs of them) which
 * spell themselves, in compact JSON; p where the first is not.
 */
static const char *json_plain_items(const char *p, const char *end, bool map)
{
	return map ? plain_items(p, end, true) : plain_items(p, end, false);
}

#else

static const char *json_plain_items(const char *p, const char *end, bool map)
{
	(void)end;
	(void)map;
	return p;
}

#endif

enum { SLACK = 64 };

struct speller {
	const char *p, *end;
	char *to;
	struct tr_buffer *buffer;
	struct tr_json_changes changes;
	bool unterminated; /* the text ends inside a string */
	struct tr_error *err;
};

/* Keeps the rule after `more` bytes will have been put. False: memory is exhausted. */
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

static enum tr_json_token bad(struct speller *s, const char *what)
{
	tr_error_say(s->err, TR_CAUSE_INPUT, what);
	return TR_JSON_BAD;
}

/* The element at p does not spell itself. STRING: done, go on. */
static __attribute__((noinline)) enum tr_json_token spell_odd(struct speller *s)
{
	if (*s->p == '\n')
		return bad(s, "a string that does not end on its line");
	struct tr_json_element element = tr_json_element(s->p, s->end);
	if (element.type == TR_JSON_ENDS) {
		s->unterminated = true;
		return TR_JSON_CUT;
	}
	if (element.type == TR_JSON_NO_ESCAPE)
		return bad(s, "a backslash that begins no escape of JSON");
	if (!make_room(s, TR_JSON_SPELLING_MAX))
		return TR_JSON_BAD;
	unsigned n = spell_element(&element, s->to);
	if (n != element.length || memcmp(s->p, s->to, n) != 0)
		s->changes.respelled = true;
	s->to += n;
	s->p += element.length;
	return TR_JSON_STRING;
}

/* p is at the opening quote. */
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
		enum tr_json_token token = spell_odd(s);
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

/* DIGITS of at most 64 bits, or that with a minus. */
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

static enum tr_json_token spell_real(struct speller *s, struct tr_text text, const char *behind)
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
	s->p = behind;
	return TR_JSON_NUMBER;
}

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
		return bad(s, "no JSON value");
	}
	memcpy(s->to, text.data, text.len);
	s->to += text.len;
	s->p = json.pos;
	return token;
}

/* The next byte that is no blank; -1 at the end of the text. */
static inline int next_byte(struct speller *s)
{
	if (s->p < s->end && (unsigned char)*s->p > ' ')
		return (unsigned char)*s->p;
	while (s->p < s->end && tr_json_is_blank(*s->p)) {
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

/* Key and colon of a member. */
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
 * The first item after a bracket or comma, or the key and colon of one. STRING:
 * it is there, and maybe others; COMMA, COLON: a value has to follow.
 */
static inline enum tr_json_token spell_item(struct speller *s, bool map)
{
	if (s->p < s->end && *s->p == '"') {
		const char *behind = json_plain_items(s->p, s->end, map);
		size_t length = (size_t)(behind - s->p);
		if (length) {
			memcpy(s->to, s->p, length);
			s->to += length;
			s->p = behind;
			return TR_JSON_STRING;
		}
	}
	return map ? spell_key(s) : TR_JSON_COMMA;
}

/* p is at an opening bracket. As spell_item; OBJECT_END: it closed again. */
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

/* After a value. COLON, COMMA: one follows; OBJECT_END: the outermost is complete. */
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
	/* blanks before the value are the caller's: they are no part of its spelling */
	while (s.p < s.end && tr_json_is_blank(*s.p))
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
