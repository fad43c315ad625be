/* SPDX-License-Identifier: MIT */
#include "core/text.h"
#include "core/wire.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"
#include "record/base64.h"
#include "record/literal.h"

bool tr_apitrace_set_string(struct tr_apitrace_parse *parse, struct tr_text bytes,
			    struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_STRING, .flags = TR_PLAIN, .text = bytes };
	tr_buffer_reset(&parse->scratch);
	if (tr_string_escape(bytes, &parse->scratch))
		return true;
	value->flags = 0;
	if (!parse->scratch.failed)
		value->text = tr_arena_copy(&parse->arena, tr_buffer_text(&parse->scratch));
	return (!parse->scratch.failed && value->text.data) || tr_apitrace_no_memory(parse);
}

static inline bool parse_number(struct tr_apitrace_parse *parse, enum tr_type type,
				struct tr_value *value)
{
	*value = (struct tr_value){ .type = type, .flags = type == TR_INT ? TR_NEGATIVE : 0 };
	return tr_apitrace_uint(parse, &value->as.number);
}

static inline bool parse_real(struct tr_apitrace_parse *parse, enum tr_type type,
			      struct tr_value *value)
{
	size_t size = type == TR_REAL32 ? sizeof(uint32_t) : sizeof(uint64_t);
	struct tr_text bytes;
	if (!tr_apitrace_bytes(parse, size, &bytes))
		return false;
	*value = (struct tr_value){
		.type = type,
		.as.number = type == TR_REAL32 ? tr_wire_u32(bytes.data, false)
					       : tr_wire_u64(bytes.data, false),
	};
	return true;
}

static bool parse_string(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	struct tr_text bytes;
	return tr_apitrace_string(parse, &bytes) && tr_apitrace_set_string(parse, bytes, value);
}

static bool parse_blob(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_BLOB };
	return tr_apitrace_string(parse, &value->text);
}

static bool parse_wstring(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	size_t count;
	if (!tr_apitrace_count(parse, 1, &count))
		return false;
	tr_buffer_reset(&parse->scratch);
	while (count-- > 0) {
		uint64_t unit;
		if (!tr_apitrace_uint(parse, &unit))
			return false;
		tr_wstring_unit(unit, &parse->scratch);
	}
	struct tr_text text = tr_buffer_text(&parse->scratch);
	bool plain = !memchr(text.data, '\\', text.len);
	*value = (struct tr_value){ .type = TR_WSTRING, .flags = plain ? TR_PLAIN : 0 };
	if (!parse->scratch.failed)
		value->text = tr_arena_copy(&parse->arena, text);
	return value->text.data || tr_apitrace_no_memory(parse);
}

static bool parse_enum(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	struct tr_apitrace_signature *signature;
	uint64_t number;
	unsigned tag;
	if (!tr_apitrace_parse_signature(parse, TR_APITRACE_ENUMS, &signature))
		return false;
	if (parse->version < TR_APITRACE_HAS_ENUM_TABLES)
		return tr_apitrace_set_enum(parse, signature, signature->labels->tag,
					    signature->labels->number, value);
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (tag != TR_APITRACE_SINT && tag != TR_APITRACE_UINT)
		return tr_apitrace_bad(parse, parse->p - 1, "no type of an enum's value", tag);
	return tr_apitrace_uint(parse, &number) &&
	       tr_apitrace_set_enum(parse, signature, tag, number, value);
}

static bool parse_mask(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	struct tr_apitrace_signature *signature;
	uint64_t number;
	return tr_apitrace_parse_signature(parse, TR_APITRACE_MASKS, &signature) &&
	       tr_apitrace_uint(parse, &number) &&
	       tr_apitrace_set_mask(parse, signature, number, value);
}

/* Parses `count` successive values. NULL: parsing has ended. */
static struct tr_value *parse_values(struct tr_apitrace_parse *parse, size_t count, unsigned depth)
{
	struct tr_value *values = tr_apitrace_alloc(parse, count, sizeof *values);
	if (!values)
		return NULL;
	parse->owed += count;
	for (size_t i = 0; i < count; i++) {
		parse->owed--;
		if (!tr_apitrace_parse_value(parse, &values[i], depth))
			return NULL;
	}
	return values;
}

static bool parse_array(struct tr_apitrace_parse *parse, struct tr_value *value, unsigned depth)
{
	size_t count;
	if (!tr_apitrace_count(parse, 1, &count))
		return false;
	*value = (struct tr_value){ .type = TR_LIST, .count = count };
	value->as.items = parse_values(parse, count, depth + 1);
	return value->as.items;
}

/* Checks that the window has room for so many values. */
static bool expect(struct tr_apitrace_parse *parse, size_t count)
{
	size_t left = (size_t)(parse->end - parse->p);
	if (left < parse->owed || count > left - parse->owed)
		return tr_apitrace_short(parse, count + parse->owed);
	return true;
}

static bool parse_struct(struct tr_apitrace_parse *parse, struct tr_value *value, unsigned depth)
{
	struct tr_apitrace_signature *signature;
	if (!tr_apitrace_parse_signature(parse, TR_APITRACE_STRUCTS, &signature))
		return false;
	size_t count = signature->count;
	if (!expect(parse, count))
		return false;
	struct tr_member *members = tr_apitrace_alloc(parse, count, sizeof *members);
	struct tr_value *values = members ? parse_values(parse, count, depth + 1) : NULL;
	if (!values)
		return false;
	size_t named = 0;
	for (size_t i = 0; i < count; i++) {
		members[i] = (struct tr_member){ signature->labels[i].key, &values[i] };
		named += signature->labels[i].key.len;
	}
	if (!tr_apitrace_name(parse, named))
		return false;
	*value = (struct tr_value){
		.type = TR_STRUCT,
		.flags = TR_HAS_ID,
		.id = signature->id,
		.as.members = members,
		.count = count,
	};
	return true;
}

static bool parse_repr(struct tr_apitrace_parse *parse, struct tr_value *value, unsigned depth)
{
	enum { HALVES = 2 };
	if (!expect(parse, HALVES))
		return false;
	*value = (struct tr_value){ .type = TR_REPR, .count = HALVES };
	value->as.items = parse_values(parse, HALVES, depth + 1);
	return value->as.items;
}

/* A value that is not a container. */
static inline bool parse_leaf(struct tr_apitrace_parse *parse, unsigned tag, struct tr_value *value)
{
	switch ((enum tr_apitrace_tag)tag) {
	case TR_APITRACE_NULL:
		*value = (struct tr_value){ .type = TR_NULL };
		return true;
	case TR_APITRACE_FALSE:
		*value = (struct tr_value){ .type = TR_FALSE };
		return true;
	case TR_APITRACE_TRUE:
		*value = (struct tr_value){ .type = TR_TRUE };
		return true;
	case TR_APITRACE_SINT:
		return parse_number(parse, TR_INT, value);
	case TR_APITRACE_UINT:
		return parse_number(parse, TR_UINT, value);
	case TR_APITRACE_POINTER:
		return parse_number(parse, TR_POINTER, value);
	case TR_APITRACE_FLOAT:
		return parse_real(parse, TR_REAL32, value);
	case TR_APITRACE_DOUBLE:
		return parse_real(parse, TR_REAL64, value);
	case TR_APITRACE_STRING:
		return parse_string(parse, value);
	case TR_APITRACE_BLOB:
		return parse_blob(parse, value);
	case TR_APITRACE_ENUM:
		return parse_enum(parse, value);
	case TR_APITRACE_MASK:
		return parse_mask(parse, value);
	case TR_APITRACE_WSTRING:
		return parse_wstring(parse, value);
	default:
		return tr_apitrace_bad(parse, parse->p - 1, "no type of a value", tag);
	}
}

/* Takes what comes before the values of a container whose tag was read; sets their number. */
static bool open_skipped(struct tr_apitrace_parse *parse, unsigned tag, size_t *count)
{
	struct tr_apitrace_signature *signature;
	if (tag == TR_APITRACE_ARRAY)
		return tr_apitrace_count(parse, 1, count);
	*count = 2;
	if (tag == TR_APITRACE_STRUCT) {
		if (!tr_apitrace_parse_signature(parse, TR_APITRACE_STRUCTS, &signature))
			return false;
		*count = signature->count;
	}
	return expect(parse, *count);
}

static bool is_container(unsigned tag)
{
	return tag == TR_APITRACE_ARRAY || tag == TR_APITRACE_STRUCT || tag == TR_APITRACE_REPR;
}

/* Skips a container that is too deep in others, without recursion, and takes its definitions. */
static bool skip(struct tr_apitrace_parse *parse, unsigned tag, struct tr_value *value)
{
	size_t outer = parse->owed, count;
	parse->deep = true;
	if (!open_skipped(parse, tag, &count))
		return false;
	for (parse->owed += count; parse->owed > outer;) {
		parse->owed--;
		if (!tr_apitrace_byte(parse, &tag))
			return false;
		if (!is_container(tag)) {
			if (!parse_leaf(parse, tag, value))
				return false;
			continue;
		}
		if (!open_skipped(parse, tag, &count))
			return false;
		parse->owed += count;
	}
	*value = (struct tr_value){ .type = TR_NULL };
	return true;
}

bool tr_apitrace_parse_value(struct tr_apitrace_parse *parse, struct tr_value *value,
			     unsigned depth)
{
	unsigned tag;
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (!is_container(tag))
		return parse_leaf(parse, tag, value);
	if (depth == parse->max_depth)
		return skip(parse, tag, value);
	if (tag == TR_APITRACE_ARRAY)
		return parse_array(parse, value, depth);
	return tag == TR_APITRACE_STRUCT ? parse_struct(parse, value, depth)
					 : parse_repr(parse, value, depth);
}

/* Spells the usual values directly, without a tree. The others are parsed, and then spelled. */

enum { NUMBER_MAX = 32 }; /* characters of a number, its tag's included */

_Static_assert((int)TR_REAL_MAX <= (int)NUMBER_MAX, "a real number has room");

static bool spell(struct tr_apitrace_parse *parse, struct tr_buffer *line, unsigned depth);

/* Parses the value and spells it. */
static bool spell_parsed(struct tr_apitrace_parse *parse, struct tr_buffer *line, unsigned depth)
{
	struct tr_value value;
	if (!tr_apitrace_parse_value(parse, &value, depth))
		return false;
	tr_literal_write(&value, line);
	return true;
}

static inline bool is_number(unsigned tag)
{
	enum {
		NUMBERS = 1u << TR_APITRACE_SINT | 1u << TR_APITRACE_UINT |
			  1u << TR_APITRACE_FLOAT | 1u << TR_APITRACE_DOUBLE |
			  1u << TR_APITRACE_POINTER,
	};
	return tag <= TR_APITRACE_WSTRING && NUMBERS >> tag & 1;
}

static char *write_real(struct tr_apitrace_parse *parse, unsigned tag, char *to)
{
	bool wide = tag == TR_APITRACE_DOUBLE;
	struct tr_text bytes;
	if (!tr_apitrace_bytes(parse, wide ? sizeof(uint64_t) : sizeof(uint32_t), &bytes))
		return NULL;
	return to + (wide ? tr_real64_write(tr_wire_u64(bytes.data, false), to)
			  : tr_real32_write(tr_wire_u32(bytes.data, false), to));
}

/*
 * Writes the number after such a tag, in at most NUMBER_MAX characters. NULL: parsing has
 * ended.
 */
static inline char *write_number(struct tr_apitrace_parse *parse, unsigned tag, char *to)
{
	uint64_t number;
	if (tag == TR_APITRACE_FLOAT || tag == TR_APITRACE_DOUBLE)
		return write_real(parse, tag, to);
	if (!tr_apitrace_uint(parse, &number))
		return NULL;
	if (tag == TR_APITRACE_POINTER) {
		unsigned len = tr_hex_length(number);
		*to++ = '0';
		*to++ = 'x';
		tr_hex_write(number, len, to);
		return to + len;
	}
	if (tag == TR_APITRACE_SINT)
		*to++ = '-';
	return to + tr_decimal_write(number, to);
}

static bool spell_string(struct tr_apitrace_parse *parse, struct tr_buffer *line)
{
	struct tr_text bytes;
	if (!tr_apitrace_string(parse, &bytes))
		return false;
	tr_buffer_put_byte(line, '"');
	tr_string_escape(bytes, line);
	tr_buffer_put_byte(line, '"');
	return true;
}

static bool spell_blob(struct tr_apitrace_parse *parse, struct tr_buffer *line)
{
	struct tr_text bytes;
	if (!tr_apitrace_string(parse, &bytes))
		return false;
	tr_buffer_put_literal(line, "b64:");
	tr_base64_write(bytes, line);
	return true;
}

static bool spell_array(struct tr_apitrace_parse *parse, struct tr_buffer *line, unsigned depth)
{
	size_t count;
	if (!tr_apitrace_count(parse, 1, &count))
		return false;
	parse->owed += count;
	tr_buffer_put_byte(line, '[');
	for (size_t i = 0; i < count; i++) {
		parse->owed--;
		if (i)
			tr_buffer_put_byte(line, ',');
		if (!spell(parse, line, depth + 1))
			return false;
	}
	tr_buffer_put_byte(line, ']');
	return true;
}

/* Spells the value whose tag was read, and which is not a number. */
static bool spell_other(struct tr_apitrace_parse *parse, unsigned tag, struct tr_buffer *line,
			unsigned depth)
{
	if (tag == TR_APITRACE_STRING)
		return spell_string(parse, line);
	if (tag == TR_APITRACE_BLOB)
		return spell_blob(parse, line);
	if (tag == TR_APITRACE_ARRAY && depth < parse->max_depth)
		return spell_array(parse, line, depth);
	parse->p--;
	return spell_parsed(parse, line, depth);
}

static bool spell(struct tr_apitrace_parse *parse, struct tr_buffer *line, unsigned depth)
{
	unsigned tag;
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (!is_number(tag))
		return spell_other(parse, tag, line, depth);
	char *to = tr_buffer_room(line, NUMBER_MAX);
	if (!to)
		return tr_apitrace_no_memory(parse);
	to = write_number(parse, tag, to);
	if (to)
		line->len = (size_t)(to - line->data);
	return to;
}

bool tr_apitrace_spell_field(struct tr_apitrace_parse *parse, struct tr_text lead,
			     struct tr_buffer *line)
{
	unsigned tag;
	char *to = tr_buffer_room(line, lead.len + TR_APITRACE_LEAD_SLACK + NUMBER_MAX);
	if (!to)
		return tr_apitrace_no_memory(parse);
	for (size_t done = 0; done < lead.len; done += TR_APITRACE_LEAD_SLACK)
		memcpy(to + done, lead.data + done, TR_APITRACE_LEAD_SLACK);
	to += lead.len;
	line->len = (size_t)(to - line->data);
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (!is_number(tag))
		return spell_other(parse, tag, line, 0);
	to = write_number(parse, tag, to);
	if (to)
		line->len = (size_t)(to - line->data);
	return to;
}
