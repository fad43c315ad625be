/* SPDX-License-Identifier: MIT */
/*
 * Values as JSON that every tool can read. Most spellings of trec are JSON already, and are copied
 * as they are.
 */
#include "view/json_value.h"

#include <string.h>

#include "core/utf8.h"
#include "record/base64.h"
#include "record/json.h"
#include "record/literal.h"
#include "record/record.h"
#include "record/string_scan.h"

/* Appends bytes, which are UTF-8, as a JSON string. */
static void put_string(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	tr_string_escape(bytes, to);
	tr_buffer_put_byte(to, '"');
}

void tr_json_view_bytes(struct tr_text bytes, struct tr_buffer *to)
{
	const char *end = bytes.data + bytes.len;
	if (tr_utf8_check(bytes.data, end) == end) {
		put_string(bytes, to);
		return;
	}
	tr_buffer_put_literal(to, "{\"$bytes\":\"");
	tr_base64_write(bytes, to);
	tr_buffer_put_literal(to, "\"}");
}

void tr_json_view_name(struct tr_text bytes, struct tr_buffer *to)
{
	const char *end = bytes.data + bytes.len;
	if (tr_utf8_check(bytes.data, end) == end) {
		put_string(bytes, to);
		return;
	}
	struct tr_buffer spelling = TR_BUFFER_INIT;
	tr_cell_escape(bytes, false, &spelling);
	put_string(tr_buffer_text(&spelling), to);
	to->failed |= spelling.failed;
	tr_buffer_free(&spelling);
}

bool tr_json_view_same(struct tr_text literal)
{
	if (literal.len < 2 || *literal.data != '"')
		return false;
	const char *last = literal.data + literal.len - 1;
	return tr_string_special(literal.data + 1, last) == last && *last == '"';
}

void tr_json_view_tagged(const char *tag, struct tr_text text, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "{\"");
	tr_buffer_put_text(to, tr_text_from(tag));
	tr_buffer_put_literal(to, "\":");
	put_string(text, to);
	tr_buffer_put_byte(to, '}');
}

/* Appends an integer; those that a double cannot hold are strings: JSON tools would round them. */
static void put_integer(uint64_t magnitude, bool negative, struct tr_buffer *to)
{
	bool exact = magnitude >> 53 == 0;
	if (!exact)
		tr_buffer_put_byte(to, '"');
	if (negative && magnitude)
		tr_buffer_put_byte(to, '-');
	tr_buffer_put_decimal(to, magnitude);
	if (!exact)
		tr_buffer_put_byte(to, '"');
}

/*
 * Appends an address as a string: a double would round addresses of 64 bits, and people search for
 * the hex digits.
 */
static void put_address(uint64_t number, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "\"0x");
	tr_buffer_put_hex(to, number, 1);
	tr_buffer_put_byte(to, '"');
}

/* Appends a real number, which JSON spells as trec does; but inf, -inf and nan are strings. */
static void put_real(const struct tr_value *value, struct tr_buffer *to)
{
	char text[32];
	bool wide = value->type == TR_REAL64;
	size_t len = wide ? tr_real64_write(value->as.number, text)
			  : tr_real32_write((uint32_t)value->as.number, text);
	const char *word = memchr(text, 'n', len);
	if (word) {
		bool nan = word == text;
		tr_buffer_put_quoted(to, nan		  ? TR_TEXT("nan")
					 : text[0] == '-' ? TR_TEXT("-inf")
							  : TR_TEXT("inf"));
		return;
	}
	tr_buffer_put(to, text, wide ? len : len - 1);
}

/* Appends a spelling as it is, if JSON has the same escapes. */
static bool put_portable(struct tr_text spelling, struct tr_buffer *to)
{
	if (!tr_json_keeps_string(spelling))
		return false;
	tr_buffer_put_quoted(to, spelling);
	return true;
}

/* Appends a string from its spelling. False: memory is exhausted. */
static bool put_spelled(struct tr_text spelling, struct tr_arena *arena, struct tr_buffer *to)
{
	if (put_portable(spelling, to))
		return true;
	struct tr_text bytes = tr_string_bytes(spelling, arena);
	if (bytes.data)
		tr_json_view_bytes(bytes, to);
	return bytes.data != NULL;
}

/* Appends a key. JSON requires a string, so a key that is not text keeps its spelling in trec. */
static void put_key(struct tr_text spelling, struct tr_buffer *to)
{
	if (!put_portable(spelling, to))
		put_string(spelling, to);
	tr_buffer_put_byte(to, ':');
}

/* Appends the bytes of a blob, or the name and length of one that was left out. */
static void put_blob(const struct tr_value *value, struct tr_buffer *to)
{
	if (value->type == TR_BLOB) {
		tr_buffer_put_literal(to, "{\"$bytes\":\"");
		tr_base64_write(value->text, to);
		tr_buffer_put_literal(to, "\"}");
		return;
	}
	tr_buffer_put_literal(to, "{\"$blob\":{\"length\":");
	put_integer(value->as.number, false, to);
	if (value->type == TR_BLOB_FILE) {
		tr_buffer_put_literal(to, ",\"sha256\":\"");
		tr_buffer_put_text(to, value->text);
		tr_buffer_put_byte(to, '"');
	}
	tr_buffer_put_literal(to, "}}");
}

/* Appends the names of a symbol, joined by "|", or its number if it has none. */
static bool put_symbol(const struct tr_symbol *symbol, unsigned flags, struct tr_arena *arena,
		       struct tr_buffer *to)
{
	if (symbol->count == 0 && symbol->numbered == TR_SYMBOL_MASK) {
		put_address(symbol->number, to);
		return true;
	}
	if (symbol->count == 0) {
		put_integer(symbol->number, flags & TR_NEGATIVE, to);
		return true;
	}
	if (symbol->count == 1 && !symbol->unknown_bits)
		return put_spelled(symbol->names[0].text, arena, to);
	struct tr_buffer joined = TR_BUFFER_INIT;
	for (size_t i = 0; i < symbol->count; i++) {
		if (i)
			tr_buffer_put_byte(&joined, '|');
		tr_buffer_put_text(&joined, symbol->names[i].text);
	}
	if (symbol->unknown_bits) {
		tr_buffer_put_literal(&joined, "|0x");
		tr_buffer_put_hex(&joined, symbol->unknown_bits, 1);
	}
	bool good = !joined.failed && put_spelled(tr_buffer_text(&joined), arena, to);
	tr_buffer_free(&joined);
	return good;
}

static bool put_any(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to);

/* Appends an array. False: memory is exhausted. */
static bool put_list(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '[');
	for (size_t i = 0; i < value->count; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		if (!put_any(&value->as.items[i], arena, to))
			return false;
	}
	tr_buffer_put_byte(to, ']');
	return true;
}

/*
 * Appends an object. Keys that repeat are repeated, because JSON allows that and nothing is lost.
 */
static bool put_members(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '{');
	for (size_t i = 0; i < value->count; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		put_key(value->as.members[i].key, to);
		if (!put_any(value->as.members[i].value, arena, to))
			return false;
	}
	tr_buffer_put_byte(to, '}');
	return true;
}

/* Appends a value by its type. False: memory is exhausted. */
static bool put_uncut(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	switch ((enum tr_type)value->type) {
	case TR_NULL:
		tr_buffer_put_literal(to, "null");
		return true;
	case TR_FALSE:
		tr_buffer_put_literal(to, "false");
		return true;
	case TR_TRUE:
		tr_buffer_put_literal(to, "true");
		return true;
	case TR_UINT:
	case TR_INT:
		put_integer(value->as.number, value->flags & TR_NEGATIVE, to);
		return true;
	case TR_POINTER:
		put_address(value->as.number, to);
		return true;
	case TR_REAL64:
	case TR_REAL32:
		put_real(value, to);
		return true;
	case TR_STRING:
		return put_spelled(value->text, arena, to);
	case TR_WSTRING:
		/* a string with units that are no Unicode characters is shown as trec spells it */
		if (!put_portable(value->text, to))
			tr_json_view_tagged("$wide", value->text, to);
		return true;
	case TR_BLOB:
	case TR_BLOB_LEFT:
	case TR_BLOB_FILE:
		put_blob(value, to);
		return true;
	case TR_SYMBOL:
		return put_symbol(value->as.symbol, value->flags, arena, to);
	case TR_LIST:
		return put_list(value, arena, to);
	case TR_MAP:
	case TR_STRUCT:
		return put_members(value, arena, to);
	case TR_REPR:
		return put_any(&value->as.items[0], arena, to);
	}
	return true;
}

/* The recursion is bounded: values have at most 60 open brackets. */
static bool put_any(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	if (!(value->flags & TR_CUT))
		return put_uncut(value, arena, to);
	tr_buffer_put_literal(to, "{\"$cut\":");
	bool good = put_uncut(value, arena, to);
	tr_buffer_put_byte(to, '}');
	return good;
}

bool tr_json_view_value(const struct tr_value *value, struct tr_arena *arena, struct tr_buffer *to)
{
	return put_any(value, arena, to) && !to->failed;
}
