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

enum {
	NUMBER_MAX = 32,					   /* characters of a number */
	SHORT_MAX = sizeof((struct tr_apitrace_spelled *)0)->text, /* of what write_short writes */
	SHORT_ROOM =
		TR_APITRACE_LEAD_SLACK + SHORT_MAX + 2, /* with brackets, and the lead's slack */
};

_Static_assert((int)TR_REAL_MAX <= (int)NUMBER_MAX && (int)TR_TEXT_REAL_MAX <= (int)NUMBER_MAX,
	       "a real number has room");
_Static_assert((int)NUMBER_MAX <= (int)SHORT_MAX, "a number has room");

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
 * The slot for the text of a number. key: see struct tr_apitrace_spelled; the signatures of other
 * ids have no slot, so that the table need not compare more.
 */
static inline struct tr_apitrace_spelled *slot_of(struct tr_apitrace_parse *parse, uint32_t key,
						  uint64_t number)
{
	uint64_t hash = (number ^ (uint64_t)key << 32) * UINT64_C(0x9e3779b97f4a7c15);
	return &parse->spelled[hash >> 56];
}

_Static_assert(TR_APITRACE_SPELLED == 1 << 8, "a hash has so many bits");

enum { SPELLED_REAL = 1 << 16, SPELLED_MASK = 2 << 16, SPELLED_ENUM = 3 << 16 };

/* The key of a number with names; tag: that of an enum's number, 0 for a mask. */
static inline uint32_t spelled_key(unsigned tag, uint64_t id)
{
	return (tag ? SPELLED_ENUM + (tag << 16) : SPELLED_MASK) + (uint32_t)id;
}

/* Keeps the text of a number, if there is room for it. */
static void keep_spelled(struct tr_apitrace_spelled *slot, uint32_t key, uint64_t number,
			 struct tr_text text)
{
	if (text.len > sizeof slot->text)
		return;
	slot->key = key;
	slot->number = number;
	slot->len = (uint32_t)text.len;
	memcpy(slot->text, text.data, text.len);
}

/* Copies such a text in blocks of a constant size, which are a few instructions each. */
static inline char *copy_spelled(const struct tr_apitrace_spelled *slot, char *to)
{
	enum { BLOCK = 16 };
	_Static_assert(sizeof slot->text % BLOCK == 0, "blocks end with the text");
	for (size_t done = 0; done < slot->len; done += BLOCK)
		memcpy(to + done, slot->text + done, BLOCK);
	return to + slot->len;
}

/* Writes a float; `to` has room for NUMBER_MAX characters. */
static inline char *write_real32(const struct tr_apitrace_speller *speller, uint32_t bits, char *to)
{
	struct tr_apitrace_spelled *slot = slot_of(speller->parse, SPELLED_REAL, bits);
	if (slot->key != SPELLED_REAL || slot->number != bits) {
		size_t len = speller->notation->dump ? tr_text_real32(bits, slot->text)
						     : tr_real32_write(bits, slot->text);
		slot->key = SPELLED_REAL;
		slot->number = bits;
		slot->len = (uint32_t)len;
	}
	return copy_spelled(slot, to);
}

/*
 * Writes a real number: in a record the shortest digits that give the same bits again. NULL:
 * parsing has ended.
 */
static char *write_real(const struct tr_apitrace_speller *speller, unsigned tag, char *to)
{
	struct tr_text bytes;
	if (tag == TR_APITRACE_FLOAT)
		return tr_apitrace_bytes(speller->parse, sizeof(uint32_t), &bytes)
			       ? write_real32(speller, tr_wire_u32(bytes.data, false), to)
			       : NULL;
	if (!tr_apitrace_bytes(speller->parse, sizeof(uint64_t), &bytes))
		return NULL;
	uint64_t bits = tr_wire_u64(bytes.data, false);
	return to +
	       (speller->notation->dump ? tr_text_real64(bits, to) : tr_real64_write(bits, to));
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

/*
 * The number of an enum or a mask whose text is known, at p, after its tag. Returns what follows it
 * in the stream, and sets *slot. NULL: the text is not known, or the value is cut.
 */
static inline const char *find_spelled(struct tr_apitrace_parse *parse, unsigned type,
				       const char *p, struct tr_apitrace_spelled **slot)
{
	bool is_enum = type == TR_APITRACE_ENUM;
	unsigned id = (unsigned char)p[0], tag = is_enum ? (unsigned char)p[1] : 0;
	const struct tr_apitrace_signature *signature =
		parse->signatures.few[is_enum ? TR_APITRACE_ENUMS : TR_APITRACE_MASKS][id & 0x7f];
	uint64_t number;
	/* where the id is defined, its definition follows */
	if (id > 0x7f || !signature || signature->offset == tr_apitrace_offset(parse, p) ||
	    (is_enum && (parse->version < TR_APITRACE_HAS_ENUM_TABLES ||
			 (tag != TR_APITRACE_SINT && tag != TR_APITRACE_UINT))))
		return NULL;
	const char *next = tr_wire_uint(p + 1 + is_enum, &number);
	if (!next)
		return NULL;
	uint32_t key = spelled_key(tag, id);
	*slot = slot_of(parse, key, number);
	return (*slot)->key == key && (*slot)->number == number ? next : NULL;
}

/*
 * Writes the value at p if it is an integer, a pointer, a float, or a number whose names were
 * spelled before; `to` has room for SHORT_MAX characters, and moves to their end. These are nearly
 * all values, so p and `to` stay in registers from one to the next. Returns what follows the value
 * in the stream. NULL: it is another one, or cut.
 */
static inline __attribute__((always_inline)) const char *
write_short(const struct tr_apitrace_speller *speller, const char *p, char **to)
{
	const char *end = speller->parse->end;
	struct tr_apitrace_spelled *slot;
	uint64_t number;
	unsigned tag = (unsigned char)*p++;
	switch (tag) {
	case TR_APITRACE_SINT:
	case TR_APITRACE_UINT:
	case TR_APITRACE_POINTER:
		p = tr_wire_uint(p, &number);
		if (!p || p > end)
			return NULL;
		*to = write_integer(tag, number, speller->notation->dump, *to);
		return p;
	case TR_APITRACE_FLOAT:
		if (end - p < (ptrdiff_t)sizeof(uint32_t))
			return NULL;
		*to = write_real32(speller, tr_wire_u32(p, false), *to);
		return p + sizeof(uint32_t);
	case TR_APITRACE_ENUM:
	case TR_APITRACE_MASK:
		p = find_spelled(speller->parse, tag, p, &slot);
		if (!p || p > end)
			return NULL;
		*to = copy_spelled(slot, *to);
		return p;
	default:
		return NULL;
	}
}

/* Copies a lead in blocks of a constant size, which are a few instructions each. */
static inline char *copy_lead(char *to, struct tr_text lead)
{
	for (size_t done = 0; done < lead.len; done += TR_APITRACE_LEAD_SLACK)
		memcpy(to + done, lead.data + done, TR_APITRACE_LEAD_SLACK);
	return to + lead.len;
}

/*
 * Writes a lead and the short value at *p, if both have room before `full`, and moves *p and *to to
 * their ends. lists: or a list of one such value, which is what a pointer to it becomes. False:
 * nothing was written that counts.
 */
static inline __attribute__((always_inline)) bool
put_short(const struct tr_apitrace_speller *speller, struct tr_text lead, bool lists,
	  const char **p, char **to, const char *full)
{
	if ((size_t)(full - *to) < lead.len + SHORT_ROOM)
		return false;
	char *after = copy_lead(*to, lead);
	const char *value = *p;
	bool dump = speller->notation->dump,
	     list = lists && value[0] == TR_APITRACE_ARRAY && value[1] == 1;
	if (list) {
		*after++ = dump ? '&' : '[';
		value += 2;
	}
	const char *next = write_short(speller, value, &after);
	if (!next)
		return false;
	if (list && !dump)
		*after++ = ']';
	*p = next;
	*to = after;
	return true;
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

/* Appends a constant of an enum or a number of a mask, and keeps its text. */
static bool spell_constant(const struct tr_apitrace_speller *speller, unsigned tag)
{
	struct tr_buffer *line = speller->line;
	size_t start = line->len;
	const struct tr_value *value = tr_apitrace_parse_constant(speller->parse, tag);
	if (!value)
		return false;
	if (value->text.data && !speller->notation->dump)
		tr_buffer_put_text(line, value->text);
	else if (!speller->notation->put(speller->notation, value, line))
		return tr_apitrace_no_memory(speller->parse);
	if (line->failed)
		return tr_apitrace_no_memory(speller->parse);
	const struct tr_symbol *symbol = value->as.symbol;
	bool negative = value->flags & TR_NEGATIVE;
	unsigned number_tag = tag == TR_APITRACE_MASK ? 0
			      : negative	      ? TR_APITRACE_SINT
						      : TR_APITRACE_UINT;
	uint32_t key = spelled_key(number_tag, symbol->id);
	if (symbol->id < TR_APITRACE_FEW)
		keep_spelled(slot_of(speller->parse, key, symbol->number), key, symbol->number,
			     (struct tr_text){ line->data + start, line->len - start });
	return true;
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
 * Appends the values of a container, each after its lead; the items of a list have two, for the
 * first and the others. `owed` is kept as the parser keeps it for trees. *all_short: write_short
 * wrote all of them.
 */
static bool spell_items(const struct tr_apitrace_speller *speller, const struct tr_text *leads,
			bool list, size_t count, unsigned depth, bool *all_short)
{
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	const char *p = parse->p, *end = parse->end;
	char *to = line->data + line->len, *full = line->data + line->cap;
	size_t owed = parse->owed;

	*all_short = true;
	for (size_t i = 0; i < count; i++) {
		struct tr_text lead = leads[list ? i > 0 : i];
		if (p < end && put_short(speller, lead, false, &p, &to, full))
			continue;
		*all_short = false;
		parse->p = p;
		line->len = (size_t)(to - line->data);
		parse->owed = owed + count - i - 1;
		if (!tr_apitrace_spell(speller, lead, depth))
			return false;
		p = parse->p;
		to = line->data + line->len;
		full = line->data + line->cap;
	}
	parse->p = p;
	parse->owed = owed;
	line->len = (size_t)(to - line->data);
	return true;
}

/*
 * Appends a list: [1,2], and in a dump {1, 2}, or &1 for a single value, which is what a pointer to
 * it becomes.
 */
static bool spell_list(const struct tr_apitrace_speller *speller, unsigned depth)
{
	static const char texts[][TR_APITRACE_LEAD_SLACK + 2] = { "[", ",", "{", ", ", "&" };
	static const struct tr_text leads[][2] = { { { texts[0], 1 }, { texts[1], 1 } },
						   { { texts[2], 1 }, { texts[3], 2 } },
						   { { texts[4], 1 }, { texts[4], 1 } } };
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	bool dump = speller->notation->dump, all_short;
	size_t count;
	if (!tr_apitrace_parse_count(parse, 1, &count))
		return false;
	bool pointer = dump && count == 1;
	if (count == 0)
		tr_buffer_put_byte(line, dump ? '{' : '[');
	if (!spell_items(speller, leads[dump + pointer], true, count, depth + 1, &all_short))
		return false;
	if (!pointer)
		tr_buffer_put_byte(line, dump ? '}' : ']');
	return true;
}

/*
 * The last value of a structure, and its text. Calls often pass on a structure that one of them
 * returned, so the same bytes come again.
 */
struct tr_apitrace_recent {
	size_t size, len;
	char bytes[128];
	char text[512];
};

/* Keeps a value whose members are all short, so that its text does not depend on its place. */
static void keep_recent(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *signature,
			const char *bytes, struct tr_text text)
{
	enum { LEAST = 3 }; /* members, of which the text takes longer than the comparison */
	struct tr_apitrace_recent *recent = signature->recent;
	size_t size = (size_t)(parse->p - bytes);
	if (signature->count < LEAST || signature->id >= TR_APITRACE_FEW || parse->defined ||
	    size > sizeof recent->bytes || text.len > sizeof recent->text)
		return;
	if (!recent)
		recent = signature->recent =
			tr_arena_alloc(&parse->signatures.arena, sizeof *recent);
	if (!recent)
		return;
	recent->size = size;
	recent->len = text.len;
	memcpy(recent->bytes, bytes, size);
	memcpy(recent->text, text.data, text.len);
}

/*
 * Appends a structure of that signature, whose id was taken. The limit of names is kept as the
 * parser keeps it for trees.
 */
static bool spell_struct(const struct tr_apitrace_speller *speller,
			 struct tr_apitrace_signature *signature, unsigned depth)
{
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	const struct tr_apitrace_recent *recent = signature->recent;
	const char *bytes = parse->p;
	bool dump = speller->notation->dump, all_short;
	if (!tr_apitrace_expect(parse, signature->count))
		return false;
	if (recent && recent->size <= (size_t)(parse->end - bytes) &&
	    memcmp(bytes, recent->bytes, recent->size) == 0) {
		parse->p += recent->size;
		tr_buffer_put(line, recent->text, recent->len);
		return tr_apitrace_name(parse, signature->named);
	}
	size_t start = line->len;
	if (!signature->count)
		tr_buffer_put_text(line, dump ? TR_TEXT("{") : TR_TEXT("{="));
	if (!spell_items(speller, dump ? signature->dump_leads : signature->leads, false,
			 signature->count, depth + 1, &all_short))
		return false;
	if (dump)
		tr_buffer_put_byte(line, '}');
	else
		tr_buffer_put_text(line, signature->tail);
	if (all_short && !line->failed)
		keep_recent(parse, signature, bytes,
			    (struct tr_text){ line->data + start, line->len - start });
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

bool tr_apitrace_take_plain(struct tr_apitrace_parse *parse, bool *has_thread, uint64_t *thread,
			    struct tr_apitrace_signature **function)
{
	const char *p = parse->p;
	uint64_t id;
	*has_thread = parse->version >= TR_APITRACE_HAS_THREADS;
	*thread = 0;
	/* versions 0 and 1 begin a stream with the byte of an event */
	if (p == parse->end || *p++ != TR_APITRACE_ENTER || parse->version <= TR_APITRACE_LEAVE ||
	    (*has_thread && !(p = tr_wire_uint(p, thread))))
		return false;
	const char *id_at = p;
	p = tr_wire_uint(p, &id);
	if (!p || p > parse->end)
		return false;
	*function = tr_apitrace_signature(&parse->signatures, TR_APITRACE_FUNCTIONS, id);
	parse->p = p;
	return *function && (*function)->offset != tr_apitrace_offset(parse, id_at) &&
	       !(*function)->again;
}

bool tr_apitrace_spell_plain(const struct tr_apitrace_speller *speller, const struct tr_text *leads,
			     size_t count, uint64_t call)
{
	static const char texts[][8 + TR_APITRACE_LEAD_SLACK] = { "\treturn=", ") = ", "\t->" };
	static const struct tr_text stream_returns = { texts[0], 8 },
				    dump_returns = { texts[1], 4 };
	struct tr_apitrace_parse *parse = speller->parse;
	struct tr_buffer *line = speller->line;
	const char *p = parse->p, *end = parse->end;
	char *to = line->data + line->len, *full = line->data + line->cap;
	bool dump = speller->notation->dump, leaving = false, returned = false;
	size_t next = 0, named = 0;
	for (;;) {
		struct tr_text lead;
		uint64_t number;
		if (p >= end)
			return false;
		switch (*p++) {
		case TR_APITRACE_ARGUMENT:
			number = (unsigned char)*p++;
			if (number >= count || number > 0x7f ||
			    (dump && (number != next || returned)))
				return false;
			next = (size_t)number + 1;
			lead = leads[number];
			break;
		case TR_APITRACE_RETURN:
			if (dump && (!leaving || returned || next != count))
				return false;
			returned = true;
			lead = dump ? dump_returns : stream_returns;
			break;
		case TR_APITRACE_END:
			if (leaving)
				goto done;
			leaving = true;
			if (*p++ != TR_APITRACE_LEAVE || !(p = tr_wire_uint(p, &number)) ||
			    number != call)
				return false;
			if (dump)
				continue;
			if ((size_t)(full - to) < SHORT_ROOM) {
				line->len = (size_t)(to - line->data);
				if (!tr_buffer_room(line, SHORT_ROOM))
					return tr_apitrace_no_memory(parse);
				to = line->data + line->len;
				full = line->data + line->cap;
			}
			memcpy(to, texts[2], 4);
			to += 3;
			continue;
		default:
			return false;
		}
		if (p >= end)
			return false;
		named += lead.len;
		if (put_short(speller, lead, parse->max_depth > 0, &p, &to, full))
			continue;
		parse->p = p;
		line->len = (size_t)(to - line->data);
		if (named > TR_APITRACE_FREE_NAMES || !tr_apitrace_spell(speller, lead, 0))
			return false;
		p = parse->p;
		to = line->data + line->len;
		full = line->data + line->cap;
	}
done:
	parse->p = p;
	line->len = (size_t)(to - line->data);
	if (dump && !returned)
		tr_buffer_put_byte(line, ')');
	return p <= end && (!dump || next == count) && named <= TR_APITRACE_FREE_NAMES &&
	       !parse->defined && !parse->deep && !parse->flawed && !line->failed;
}
