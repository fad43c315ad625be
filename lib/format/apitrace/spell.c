/* SPDX-License-Identifier: MIT */
/*
 * Values as text, directly from the bytes of the stream: no trees are built of the numbers,
 * strings, lists and structures that most calls consist of. Other values are parsed, and the
 * notation prints their trees.
 *
 * There are two notations: lines of records have that of trec(5), and plain calls are printed as
 * `apitrace dump` does. Where they agree, such as in integers, they share the code.
 */
#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"
#include "format/apitrace/text.h"
#include "record/base64.h"
#include "record/literal.h"
#include "record/string_scan.h"

enum { NUMBER_MAX = 32 }; /* characters of a number, its tag's included */

_Static_assert((int)TR_REAL_MAX <= (int)NUMBER_MAX && (int)TR_TEXT_REAL_MAX <= (int)NUMBER_MAX,
	       "a real number has room");

static bool put_stream_value(const struct tr_apitrace_notation *notation,
			     const struct tr_value *value, struct tr_buffer *line)
{
	(void)notation;
	tr_literal_write(value, line);
	return true;
}

const struct tr_apitrace_notation tr_apitrace_stream = { .put = put_stream_value };

/* Whether the tag is that of a number, which has a bounded length as text. */
static inline bool is_number(unsigned tag)
{
	enum {
		NUMBERS = 1u << TR_APITRACE_SINT | 1u << TR_APITRACE_UINT |
			  1u << TR_APITRACE_FLOAT | 1u << TR_APITRACE_DOUBLE |
			  1u << TR_APITRACE_POINTER,
	};
	return tag <= TR_APITRACE_WSTRING && NUMBERS >> tag & 1;
}

/*
 * Writes a real number: in a record the shortest digits that give the same bits again. NULL:
 * parsing has ended.
 */
static char *write_real(const struct tr_apitrace_speller *speller, unsigned tag, char *to)
{
	bool wide = tag == TR_APITRACE_DOUBLE, dump = speller->notation->dump;
	struct tr_text bytes;
	if (!tr_apitrace_bytes(speller->parse, wide ? sizeof(uint64_t) : sizeof(uint32_t), &bytes))
		return NULL;
	if (wide) {
		uint64_t bits = tr_wire_u64(bytes.data, false);
		return to + (dump ? tr_text_real64(bits, to) : tr_real64_write(bits, to));
	}
	uint32_t bits = tr_wire_u32(bytes.data, false);
	return to + (dump ? tr_text_real32(bits, to) : tr_real32_write(bits, to));
}

/*
 * Writes an integer or a pointer. apitrace's dump reads a number below 0 as an int64_t: 0 has no
 * sign, and one below -2^63 overflows.
 */
static inline char *write_integer(unsigned tag, uint64_t number, bool dump, char *to)
{
	if (tag == TR_APITRACE_POINTER) {
		unsigned len = tr_hex_length(number);
		*to++ = '0';
		*to++ = 'x';
		tr_hex_write(number, len, to);
		return to + len;
	}
	if (tag == TR_APITRACE_SINT) {
		if (dump && (number == 0 || number > UINT64_C(1) << 63))
			number = -number;
		else
			*to++ = '-';
	}
	if (number < 10) {
		*to = (char)('0' + number);
		return to + 1;
	}
	return to + tr_decimal_write(number, to);
}

/* Writes the number after such a tag, in at most NUMBER_MAX characters. NULL: parsing has ended. */
static inline char *write_number(const struct tr_apitrace_speller *speller, unsigned tag, char *to)
{
	uint64_t number;
	if (tag == TR_APITRACE_FLOAT || tag == TR_APITRACE_DOUBLE)
		return write_real(speller, tag, to);
	if (!tr_apitrace_uint(speller->parse, &number))
		return NULL;
	return write_integer(tag, number, speller->notation->dump, to);
}

/* Copies a lead in blocks of a constant size, which are a few instructions each. */
static inline char *copy_lead(char *to, struct tr_text lead)
{
	for (size_t done = 0; done < lead.len; done += TR_APITRACE_LEAD_SLACK)
		memcpy(to + done, lead.data + done, TR_APITRACE_LEAD_SLACK);
	return to + lead.len;
}

/* Appends a value by way of its tree, for the types that have no direct way. */
static bool spell_parsed(const struct tr_apitrace_speller *speller, unsigned depth)
{
	struct tr_value value;
	if (!tr_apitrace_parse_value(speller->parse, &value, depth))
		return false;
	return speller->notation->put(speller->notation, &value, speller->line) ||
	       tr_apitrace_no_memory(speller->parse);
}

/* Appends a constant of an enum or a number of a mask; most have been spelled before. */
static bool spell_constant(const struct tr_apitrace_speller *speller, unsigned tag)
{
	const struct tr_value *value = tr_apitrace_parse_constant(speller->parse, tag);
	if (!value)
		return false;
	if (value->text.data && !speller->notation->dump) {
		tr_buffer_put_text(speller->line, value->text);
		return true;
	}
	return speller->notation->put(speller->notation, value, speller->line) ||
	       tr_apitrace_no_memory(speller->parse);
}

/*
 * Appends a string in quotes with its escapes. The dump has escapes of its own, which only strings
 * with special bytes need: those are parsed.
 */
static bool spell_string(const struct tr_apitrace_speller *speller, unsigned depth)
{
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	const char *start = parse->p;
	struct tr_text bytes;
	if (!tr_apitrace_string(parse, &bytes))
		return false;
	const char *end = bytes.data + bytes.len;
	if (speller->notation->dump && tr_string_special(bytes.data, end) < end) {
		parse->p = start - 1;
		return spell_parsed(speller, depth);
	}
	tr_buffer_put_byte(line, '"');
	if (speller->notation->dump)
		tr_buffer_put_text(line, bytes);
	else
		tr_string_escape(bytes, line);
	tr_buffer_put_byte(line, '"');
	return true;
}

/* Appends a blob as base64, directly from the window. */
static bool spell_blob(const struct tr_apitrace_speller *speller)
{
	struct tr_text bytes;
	if (!tr_apitrace_string(speller->parse, &bytes))
		return false;
	tr_buffer_put_literal(speller->line, "b64:");
	tr_base64_write(bytes, speller->line);
	return true;
}

/*
 * Appends a list: [1,2], and in a dump {1, 2}, or &1 for a single value, which is what a pointer to
 * it becomes. `owed` is kept as the parser keeps it for trees.
 */
static bool spell_list(const struct tr_apitrace_speller *speller, unsigned depth)
{
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	bool dump = speller->notation->dump;
	size_t count;
	if (!tr_apitrace_parse_count(parse, 1, &count))
		return false;
	bool pointer = dump && count == 1;
	if (count == 0)
		tr_buffer_put_byte(line, dump ? '{' : '[');
	parse->owed += count;
	for (size_t i = 0; i < count; i++) {
		static const char leads[][TR_APITRACE_LEAD_SLACK + 2] = { "[", ",", "{", ", ",
									  "&" };
		unsigned at = pointer ? 4 : 2 * dump + (i > 0);
		parse->owed--;
		if (!tr_apitrace_spell(speller, (struct tr_text){ leads[at], at == 3 ? 2 : 1 },
				       depth + 1))
			return false;
	}
	if (!pointer)
		tr_buffer_put_byte(line, dump ? '}' : ']');
	return true;
}

/*
 * Appends the members from the first one on that are integers or pointers, up to another value or
 * one that is cut, and returns their number. Structures consist of them for the most part, so they
 * are written without a call for each.
 */
static size_t spell_integers(const struct tr_apitrace_speller *speller,
			     const struct tr_apitrace_label *members, size_t count)
{
	enum {
		INTEGERS =
			1u << TR_APITRACE_SINT | 1u << TR_APITRACE_UINT | 1u << TR_APITRACE_POINTER,
	};
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	bool dump = speller->notation->dump;
	const char *p = parse->p, *end = parse->end;
	char *to = line->data + line->len, *full = line->data + line->cap;
	size_t i = 0;
	for (; i < count && p < end; i++) {
		struct tr_text lead = dump ? members[i].dump_lead : members[i].lead;
		unsigned tag = (unsigned char)*p;
		uint64_t number;
		if (tag > TR_APITRACE_POINTER || !(INTEGERS >> tag & 1) ||
		    (size_t)(full - to) < lead.len + TR_APITRACE_LEAD_SLACK + NUMBER_MAX)
			break;
		const char *next = tr_wire_uint(p + 1, &number);
		if (!next || next > end)
			break;
		to = write_integer(tag, number, dump, copy_lead(to, lead));
		p = next;
	}
	parse->p = p;
	line->len = (size_t)(to - line->data);
	return i;
}

/*
 * Appends a structure of that signature, whose id was taken. `owed` and the limit of names are kept
 * as the parser keeps them for trees.
 */
static bool spell_struct(const struct tr_apitrace_speller *speller,
			 const struct tr_apitrace_signature *signature, unsigned depth)
{
	struct tr_apitrace_parse *parse = speller->parse;
	bool dump = speller->notation->dump;
	size_t count = signature->count;
	if (!tr_apitrace_expect(parse, count))
		return false;
	if (!count)
		tr_buffer_put_text(speller->line, dump ? TR_TEXT("{") : TR_TEXT("{="));
	parse->owed += count;
	for (size_t i = 0; i < count; i++) {
		size_t integers = spell_integers(speller, signature->labels + i, count - i);
		const struct tr_apitrace_label *member = &signature->labels[i += integers];
		parse->owed -= integers;
		if (i == count)
			break;
		parse->owed--;
		if (!tr_apitrace_spell(speller, dump ? member->dump_lead : member->lead, depth + 1))
			return false;
	}
	if (dump)
		tr_buffer_put_byte(speller->line, '}');
	else
		tr_buffer_put_text(speller->line, signature->tail);
	return tr_apitrace_name(parse, signature->named);
}

/*
 * Appends the value whose tag was read, and which is not a number. A container that is nested too
 * deeply is left to the parser, which skips it.
 */
static __attribute__((noinline)) bool spell_other(const struct tr_apitrace_speller *speller,
						  unsigned tag, unsigned depth)
{
	struct tr_apitrace_parse *parse = speller->parse;
	const char *start = parse->p - 1;
	bool dump = speller->notation->dump, inside = depth < parse->max_depth;
	if (tag == TR_APITRACE_STRING)
		return spell_string(speller, depth);
	if (tag == TR_APITRACE_ENUM || tag == TR_APITRACE_MASK)
		return spell_constant(speller, tag);
	if (tag == TR_APITRACE_BLOB && !dump)
		return spell_blob(speller);
	if (tag == TR_APITRACE_ARRAY && inside)
		return spell_list(speller, depth);
	if (tag == TR_APITRACE_STRUCT && inside) {
		struct tr_apitrace_signature *signature;
		if (!tr_apitrace_parse_signature(parse, TR_APITRACE_STRUCTS, &signature))
			return false;
		if (!dump || signature->dumps_plainly)
			return spell_struct(speller, signature, depth);
	}
	parse->p = start;
	return spell_parsed(speller, depth);
}

bool tr_apitrace_spell(const struct tr_apitrace_speller *speller, struct tr_text lead,
		       unsigned depth)
{
	struct tr_buffer *line = speller->line;
	unsigned tag;
	char *to = tr_buffer_room(line, lead.len + TR_APITRACE_LEAD_SLACK + NUMBER_MAX);
	if (!to)
		return tr_apitrace_no_memory(speller->parse);
	to = copy_lead(to, lead);
	line->len = (size_t)(to - line->data);
	if (!tr_apitrace_byte(speller->parse, &tag))
		return false;
	if (!is_number(tag))
		return spell_other(speller, tag, depth);
	to = write_number(speller, tag, to);
	if (to)
		line->len = (size_t)(to - line->data);
	return to;
}
