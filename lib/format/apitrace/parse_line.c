/*
 * Values as the stream spells them, without a tree between: what calls mostly
 * have. The rest is parsed as ever, and spelled.
 */
#include "core/decimal.h"
#include "core/hex.h"
#include "core/wire.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"
#include "record/base64.h"
#include "record/literal.h"

enum { NUMBER_MAX = 32 }; /* characters of a number, its tag's included */

_Static_assert((int)TR_REAL_MAX <= (int)NUMBER_MAX, "a real number has room");

static bool spell(struct tr_apitrace_parse *parse, struct tr_buffer *line, unsigned depth);

/* By way of its value. */
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

/* The number behind such a tag, in at most NUMBER_MAX characters. NULL: the parse has ended. */
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

/* The value whose tag was read, which is no number. */
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
