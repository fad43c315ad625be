/* SPDX-License-Identifier: MIT */
/* Writes values in their canonical spelling. */
#include "record/base64.h"
#include "record/literal.h"

/* Appends a spelling between quotes, with room for both made once: strings are most of a trace. */
static void put_quoted(struct tr_text spelling, struct tr_buffer *to)
{
	char *room = tr_buffer_room(to, spelling.len + 2);
	if (!room)
		return;
	*room = '"';
	if (spelling.len)
		memcpy(room + 1, spelling.data, spelling.len);
	room[spelling.len + 1] = '"';
	tr_buffer_used(to, spelling.len + 2);
}

/* A name needs quotes only where it would be read as something else. */
static void put_name(struct tr_text name, bool before_parenthesis, struct tr_buffer *to)
{
	if (tr_is_word(name, before_parenthesis))
		tr_buffer_put_text(to, name);
	else
		put_quoted(name, to);
}

/* Appends @E12 and the like. */
static void put_id(char letter, uint64_t id, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '@');
	tr_buffer_put_byte(to, letter);
	tr_buffer_put_decimal(to, id);
}

/* Appends 0xHEX. */
static void put_hex(uint64_t number, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "0x");
	tr_buffer_put_hex(to, number, 1);
}

/* Appends a symbol: the spelling that it has already, or its names and its number. */
static void write_symbol(const struct tr_value *value, struct tr_buffer *to)
{
	const struct tr_symbol *symbol = value->as.symbol;
	/* readers of binary formats prepare the text of a symbol once for all of its uses */
	if (value->text.data) {
		tr_buffer_put_text(to, value->text);
		return;
	}
	bool numbered = symbol->numbered != TR_SYMBOL_WORDS;
	bool hex = symbol->numbered == TR_SYMBOL_MASK;
	if (!numbered && symbol->count == 1 && !symbol->unknown_bits &&
	    tr_text_is(symbol->names[0].text, "none")) {
		tr_buffer_put_literal(to, "none");
		return;
	}
	/* a number without a name */
	if (symbol->count == 0)
		tr_buffer_put_byte(to, '?');
	for (size_t i = 0; i < symbol->count; i++) {
		bool last = i + 1 == symbol->count && !symbol->unknown_bits;
		if (i > 0)
			tr_buffer_put_byte(to, '|');
		put_name(symbol->names[i].text, last && numbered, to);
	}
	if (symbol->unknown_bits) {
		tr_buffer_put_byte(to, '|');
		put_hex(symbol->unknown_bits, to);
	}
	if (!numbered)
		return;
	tr_buffer_put_byte(to, '(');
	if (value->flags & TR_NEGATIVE)
		tr_buffer_put_byte(to, '-');
	if (hex)
		put_hex(symbol->number, to);
	else
		tr_buffer_put_decimal(to, symbol->number);
	if (value->flags & TR_HAS_ID)
		put_id(hex ? 'M' : 'E', symbol->id, to);
	tr_buffer_put_byte(to, ')');
}

/* Recursion is bounded by the 60 open brackets that a value may have. */
static void write_list(const struct tr_value *value, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '[');
	for (size_t i = 0; i < value->count; i++) {
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		tr_literal_write(&value->as.items[i], to);
	}
	tr_buffer_put_byte(to, ']');
}

/* A map or a structure. */
static void write_members(const struct tr_value *value, struct tr_buffer *to)
{
	bool map = value->type == TR_MAP;
	tr_buffer_put_byte(to, '{');
	if (!map && value->count == 0)
		tr_buffer_put_byte(to, '=');
	for (size_t i = 0; i < value->count; i++) {
		const struct tr_member *member = &value->as.members[i];
		if (i > 0)
			tr_buffer_put_byte(to, ',');
		if (map)
			put_quoted(member->key, to);
		else
			put_name(member->key, false, to);
		tr_buffer_put_byte(to, map ? ':' : '=');
		tr_literal_write(member->value, to);
	}
	tr_buffer_put_byte(to, '}');
	if (value->flags & TR_HAS_ID)
		put_id('S', value->id, to);
}

/* Each type has one spelling, so equal values are equal texts. A failure is kept in the buffer. */
void tr_literal_write(const struct tr_value *value, struct tr_buffer *to)
{
	char *room;

	switch ((enum tr_type)value->type) {
	case TR_NULL:
		tr_buffer_put_literal(to, "null");
		return;
	case TR_FALSE:
		tr_buffer_put_literal(to, "false");
		return;
	case TR_TRUE:
		tr_buffer_put_literal(to, "true");
		return;
	case TR_INT:
		tr_buffer_put_byte(to, value->flags & TR_NEGATIVE ? '-' : '+');
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_UINT:
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_POINTER:
		put_hex(value->as.number, to);
		return;
	case TR_REAL64:
	case TR_REAL32:
		room = tr_buffer_room(to, TR_REAL_MAX);
		if (!room)
			return;
		tr_buffer_used(to, value->type == TR_REAL64
					   ? tr_real64_write(value->as.number, room)
					   : tr_real32_write((uint32_t)value->as.number, room));
		return;
	case TR_WSTRING:
		tr_buffer_put_byte(to, 'L');
		put_quoted(value->text, to);
		return;
	case TR_STRING:
		put_quoted(value->text, to);
		break;
	case TR_BLOB:
		tr_buffer_put_literal(to, "b64:");
		tr_base64_write(value->text, to);
		return;
	case TR_BLOB_LEFT:
		tr_buffer_put_literal(to, "blob:");
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_BLOB_FILE:
		tr_buffer_put_literal(to, "file:");
		tr_buffer_put_text(to, value->text);
		tr_buffer_put_byte(to, ':');
		tr_buffer_put_decimal(to, value->as.number);
		return;
	case TR_SYMBOL:
		write_symbol(value, to);
		return;
	case TR_LIST:
		write_list(value, to);
		break;
	case TR_MAP:
	case TR_STRUCT:
		write_members(value, to);
		return;
	case TR_REPR:
		tr_buffer_put_byte(to, '<');
		tr_literal_write(&value->as.items[0], to);
		tr_buffer_put_byte(to, ';');
		tr_literal_write(&value->as.items[1], to);
		tr_buffer_put_byte(to, '>');
		return;
	}
	if (value->flags & TR_CUT) /* of a string or a list */
		tr_buffer_put_literal(to, "...");
}
