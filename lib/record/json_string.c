/* SPDX-License-Identifier: MIT */
/* One character of a JSON string: as it is, as an escape, or as the byte that is none. */

#include <stdio.h>
#include <string.h>

#include "core/hex.h"
#include "core/utf8.h"
#include "record/json.h"
#include "record/json_scan.h"
#include "record/literal.h"
#include "record/record.h"

enum { SURROGATE_FIRST = 0xd800, SURROGATE_LOW = 0xdc00, SURROGATE_LAST = 0xdfff };

/* The four hex digits at p, which is behind `\u`; -1 where they are not there. */
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

unsigned tr_json_element_spell(const struct tr_json_element *element, char *to)
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
		unsigned n = tr_json_element_spell(&element, spelling);
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
