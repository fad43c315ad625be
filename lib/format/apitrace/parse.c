/* SPDX-License-Identifier: MIT */
/*
 * The parser turns the bytes of one unit into a header, or into the record of a call, an enter or a
 * leave. Values become trees; spell.c makes text of them where that is all that the tool needs.
 *
 *	primitives		numbers, strings and counts; tr_apitrace_short, _bad: why it ended
 *	signatures		an id, and its definition at the first use
 *	numbers with names	constants of enums and flags of masks
 *	values			as trees
 *	units			the head, an enter, a leave
 *
 * A unit that is not all there is parsed again from its start when more bytes have come. Nothing
 * but signatures, which are kept by the offset of their definition, survives from one attempt to
 * the next.
 *
 * Hostile input meets these bounds: a count needs bytes for its items in the window
 * (tr_apitrace_parse_count), the text of repeated names is limited by the size of the unit
 * (tr_apitrace_name), the depth of values by max_depth, and memory by the limit of the arena.
 */
#include "format/apitrace/apitrace.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/text.h"
#include "format/apitrace/parse.h"
#include "record/literal.h"

const char *tr_wire_long_uint(const char *p, uint64_t *number)
{
	uint64_t n = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = (unsigned char)*p++;
		n |= (byte & 0x7f) << shift;
		if (byte < 0x80) {
			*number = n;
			return shift < 63 || byte <= 1 ? p : NULL;
		}
	}
	return NULL;
}

/* The ways in which parsing ends. */

/* The signatures go too: the parser belongs to one stream. */
void tr_apitrace_parse_free(struct tr_apitrace_parse *parse)
{
	tr_apitrace_signatures_free(&parse->signatures);
	tr_arena_free(&parse->arena);
	tr_buffer_free(&parse->scratch);
}

void tr_apitrace_parse_restart(struct tr_apitrace_parse *parse)
{
	tr_apitrace_signatures_free(&parse->signatures);
	memset(parse->spelled, 0, sizeof parse->spelled);
}

bool tr_apitrace_short(struct tr_apitrace_parse *parse, uint64_t more)
{
	uint64_t here = (uint64_t)(parse->p - parse->start);
	parse->outcome = TR_APITRACE_SHORT;
	parse->need = more < UINT64_MAX - here ? here + more : UINT64_MAX;
	return false;
}

bool tr_apitrace_bad(struct tr_apitrace_parse *parse, const char *where, const char *what,
		     uint64_t number)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_say_in(&parse->error, TR_CAUSE_INPUT, what, "%" PRIu64 " is %s", number, what);
	tr_error_at_offset(&parse->error, tr_apitrace_offset(parse, where));
	return false;
}

/*
 * An arena that reached its own limit is damage, because the unit asks for too much memory; only an
 * allocation that failed is fatal.
 */
bool tr_apitrace_no_memory(struct tr_apitrace_parse *parse)
{
	parse->outcome = parse->arena.limited ? TR_APITRACE_BAD : TR_APITRACE_NO_MEMORY;
	(void)tr_arena_error(&parse->arena, &parse->error);
	tr_error_at_offset(&parse->error, parse->offset);
	return false;
}

bool tr_apitrace_bad_names(struct tr_apitrace_parse *parse)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_LIMIT,
		     "the names in it take more than %zu bytes of text", parse->named);
	tr_error_at_offset(&parse->error, parse->offset);
	return false;
}

bool tr_apitrace_bad_uint(struct tr_apitrace_parse *parse)
{
	size_t left = (size_t)(parse->end - parse->p), size = 0;
	while (size < left && size < TR_WIRE_UINT_MAX && parse->p[size] & 0x80)
		size++;
	if (size == left)
		return tr_apitrace_short(parse, left + 1);
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_INPUT, "a number has more than 64 bits");
	tr_error_at_offset(&parse->error, tr_apitrace_offset(parse, parse->p));
	return false;
}

bool tr_apitrace_parse_count(struct tr_apitrace_parse *parse, size_t least, size_t *count)
{
	uint64_t n = 0;
	if (!tr_apitrace_uint(parse, &n))
		return false;
	uint64_t left = (uint64_t)(parse->end - parse->p);
	if (left < parse->owed || n > (left - parse->owed) / least) {
		bool huge = n > (UINT64_MAX - parse->owed) / least;
		return tr_apitrace_short(parse, huge ? UINT64_MAX : n * least + parse->owed);
	}
	*count = (size_t)n;
	return true;
}

/*
 * Uses of signatures in the stream, and their definitions. A definition is kept even if its
 * unit is cut and parsed again: the offset of its id distinguishes it from a use.
 */

/*
 * Parses the name and the labels of a function or structure. The texts stay in the window;
 * tr_apitrace_define copies them.
 */
static bool parse_names(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *draft)
{
	if (!tr_apitrace_string(parse, &draft->name) ||
	    !tr_apitrace_parse_count(parse, 1, &draft->count))
		return false;
	draft->labels = tr_apitrace_alloc(parse, draft->count, sizeof *draft->labels);
	if (!draft->labels)
		return false;
	for (size_t i = 0; i < draft->count; i++) {
		draft->labels[i] = (struct tr_apitrace_label){ .number = 0 };
		if (!tr_apitrace_string(parse, &draft->labels[i].name))
			return false;
	}
	return true;
}

/*
 * Parses the number of a constant. apitrace's own parser accepts only these two tags here, although
 * its description says that any value may follow.
 */
static bool parse_enum_number(struct tr_apitrace_parse *parse, struct tr_apitrace_label *label)
{
	unsigned tag;
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (tag != TR_APITRACE_SINT && tag != TR_APITRACE_UINT)
		return tr_apitrace_bad(parse, parse->p - 1, "not a type of enum value", tag);
	label->tag = (uint8_t)tag;
	return tr_apitrace_uint(parse, &label->number);
}

/* Parses a name with its number, which has a tag in an enum and none in a mask. */
static bool parse_constant(struct tr_apitrace_parse *parse, bool is_enum,
			   struct tr_apitrace_label *label)
{
	*label = (struct tr_apitrace_label){ .number = 0 };
	if (!tr_apitrace_string(parse, &label->name))
		return false;
	return is_enum ? parse_enum_number(parse, label) : tr_apitrace_uint(parse, &label->number);
}

/*
 * Parses the table of an enum or a mask. Below version 3 an enum defines one constant without a
 * count, and that constant is the value of this use.
 */
static bool parse_constants(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *draft)
{
	bool is_enum = draft->table == TR_APITRACE_ENUMS;
	size_t least = is_enum ? 3 : 2; /* an empty name, a tag, a number */
	draft->count = 1;
	if ((!is_enum || parse->version >= TR_APITRACE_HAS_ENUM_TABLES) &&
	    !tr_apitrace_parse_count(parse, least, &draft->count))
		return false;
	draft->labels = tr_apitrace_alloc(parse, draft->count, sizeof *draft->labels);
	if (!draft->labels)
		return false;
	for (size_t i = 0; i < draft->count; i++)
		if (!parse_constant(parse, is_enum, &draft->labels[i]))
			return false;
	return true;
}

/*
 * Returns the items, moved where there is room for one more: a list whose length the stream does
 * not state. NULL: memory is exhausted.
 */
static void *grow(struct tr_apitrace_parse *parse, void *items, size_t count, size_t *cap,
		  size_t size)
{
	if (count < *cap)
		return items;
	*cap = *cap ? *cap * 2 : 8;
	void *more = tr_apitrace_alloc(parse, *cap, size);
	if (more && count)
		memcpy(more, items, count * size);
	return more;
}

/*
 * Parses the parts of a stack frame up to the byte that ends them. No part is required, and the
 * stream does not state their number, so the list grows.
 */
static bool parse_frame(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *draft)
{
	size_t cap = 0;
	for (;;) {
		unsigned tag;
		if (!tr_apitrace_byte(parse, &tag))
			return false;
		if (tag == TR_APITRACE_FRAME_END)
			return true;
		if (tag > TR_APITRACE_FRAME_OFFSET)
			return tr_apitrace_bad(parse, parse->p - 1, "not a part of a stack frame",
					       tag);
		draft->labels =
			grow(parse, draft->labels, draft->count, &cap, sizeof *draft->labels);
		if (!draft->labels)
			return false;
		struct tr_apitrace_label *label = &draft->labels[draft->count++];
		*label = (struct tr_apitrace_label){ .tag = (uint8_t)tag };
		if (!(tag <= TR_APITRACE_FRAME_FILE ? tr_apitrace_string(parse, &label->name)
						    : tr_apitrace_uint(parse, &label->number)))
			return false;
	}
}

/* Parses what follows an id at its first use. */
static bool parse_definition(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *draft)
{
	switch (draft->table) {
	case TR_APITRACE_FUNCTIONS:
	case TR_APITRACE_STRUCTS:
		return parse_names(parse, draft);
	case TR_APITRACE_FRAMES:
		return parse_frame(parse, draft);
	default:
		return parse_constants(parse, draft);
	}
}

/*
 * Parses a definition and adds it to the tables. Its offset and size let a second parse of the same
 * unit recognise and skip it. NULL: parsing has ended.
 */
static struct tr_apitrace_signature *
define(struct tr_apitrace_parse *parse, enum tr_apitrace_table table, uint64_t id, uint64_t offset)
{
	struct tr_apitrace_signature draft = { .table = table, .id = id };
	const char *begin = parse->p;
	if (!parse_definition(parse, &draft))
		return NULL;
	struct tr_apitrace_signature *signature = tr_apitrace_define(&parse->signatures, &draft);
	if (!signature) {
		tr_apitrace_no_memory(parse);
		return NULL;
	}
	signature->offset = offset;
	signature->size = (uint64_t)(parse->p - begin);
	return signature;
}

/*
 * A known id is a use, except at the very offset where it was defined: there, the unit is parsed
 * for the second time. Definitions are listed in the order of the stream, because each of them
 * becomes a record before the one of the unit.
 */
bool tr_apitrace_parse_any_signature(struct tr_apitrace_parse *parse, enum tr_apitrace_table table,
				     struct tr_apitrace_signature **signature)
{
	uint64_t id, offset = tr_apitrace_offset(parse, parse->p);
	if (!tr_apitrace_uint(parse, &id))
		return false;
	struct tr_apitrace_signature *known = tr_apitrace_signature(&parse->signatures, table, id);
	*signature = known;
	if (known && known->offset != offset)
		return true;
	if (known)
		parse->p += known->size;
	else
		known = *signature = define(parse, table, id, offset);
	if (!known)
		return false;
	if (parse->last == &known->next) /* spell.c went back to it, to parse it as a tree */
		return true;
	known->next = NULL;
	*parse->last = known;
	parse->last = &known->next;
	return true;
}

/*
 * Numbers with their names. Few of them occur very often, so their values are made and spelled
 * once: constants of enums at their first use (`values` maps the number to the label), and the
 * first MASKS_READY combinations of a mask (`values` maps the number to the value).
 */

enum {
	MASKS_READY = 64,
	/* Flags that are looked at: real masks have dozens, and each use takes a pass over them. */
	MASK_FLAGS = 1024,
};

/* A symbol in the arena, with room for `count` names. NULL: memory is exhausted. */
static struct tr_symbol *new_symbol(struct tr_arena *arena, size_t count)
{
	struct tr_symbol *symbol =
		tr_arena_alloc(arena, sizeof *symbol + count * sizeof *symbol->names);
	if (symbol)
		*symbol = (struct tr_symbol){ .names = (struct tr_name *)(symbol + 1),
					      .count = count };
	return symbol;
}

/* Gives a value of the signatures' arena its spelling. False: memory is exhausted. */
static bool keep_spelling(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	tr_buffer_reset(&parse->scratch);
	tr_literal_write(value, &parse->scratch);
	if (parse->scratch.failed)
		return false;
	value->text = tr_arena_copy(&parse->signatures.arena, tr_buffer_text(&parse->scratch));
	return value->text.data;
}

/* Makes the value of a constant. label NULL: it has no name. NULL: memory is exhausted. */
static struct tr_value *new_enum(const struct tr_apitrace_signature *signature,
				 const struct tr_apitrace_label *label, unsigned tag,
				 uint64_t number, struct tr_arena *arena)
{
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);
	struct tr_symbol *symbol = new_symbol(arena, label ? 1 : 0);
	if (!value || !symbol)
		return NULL;
	if (label)
		symbol->names->text = label->key;
	symbol->numbered = TR_SYMBOL_ENUM;
	symbol->number = number;
	symbol->id = signature->id;
	*value = (struct tr_value){
		.type = TR_SYMBOL,
		.flags = TR_HAS_ID | (tag == TR_APITRACE_SINT ? TR_NEGATIVE : 0),
		.as.symbol = symbol,
	};
	return value;
}

/*
 * Returns the value of an enum's number. The first constant with that number names it, as in
 * apitrace's dump. Constants have a value that all their uses share, and so has the first number
 * without a name, such as 0 for success. A number of 64 bits can be tagged as signed or unsigned,
 * and the tag has to be kept: the shared value is used if it has the same tag. NULL: parsing has
 * ended.
 */
static const struct tr_value *enum_value(struct tr_apitrace_parse *parse,
					 struct tr_apitrace_signature *signature, unsigned tag,
					 uint64_t number)
{
	if (!signature->values.count && signature->count && !tr_apitrace_index_enum(signature))
		goto no_memory;
	struct tr_apitrace_label *label = tr_id_map_get(
		&signature->values, tr_apitrace_enum_key(tag == TR_APITRACE_SINT, number));
	if (label && !tr_apitrace_name(parse, label->key.len))
		return NULL;
	struct tr_value **shared = label ? &label->ready : &signature->ready;
	if (!*shared && (!label || (label->tag == tag && label->number == number))) {
		struct tr_value *value =
			new_enum(signature, label, tag, number, &parse->signatures.arena);
		if (!value || !keep_spelling(parse, value))
			goto no_memory;
		*shared = value;
	}
	if (*shared && (*shared)->as.symbol->number == number &&
	    !((*shared)->flags & TR_NEGATIVE) == (tag != TR_APITRACE_SINT))
		return *shared;
	const struct tr_value *value = new_enum(signature, label, tag, number, &parse->arena);
	if (value)
		return value;
no_memory:
	tr_apitrace_no_memory(parse);
	return NULL;
}

/*
 * This follows apitrace's dump: a flag counts if all of its bits are still there, and takes them,
 * so the order of the table decides where flags overlap.
 */
size_t tr_apitrace_mask_names(const struct tr_apitrace_signature *signature, uint64_t number,
			      struct tr_name *names, uint64_t *rest)
{
	size_t count = 0;
	if (number == 0 && signature->count && signature->labels[0].number == 0)
		names[count++].text = signature->labels[0].key;
	for (size_t i = 0; i < signature->count && i < MASK_FLAGS && number; i++) {
		uint64_t flag = signature->labels[i].number;
		if (!flag || (number & flag) != flag)
			continue;
		names[count++].text = signature->labels[i].key;
		number &= ~flag;
	}
	*rest = number;
	return count;
}

/*
 * Makes the value of a mask's number. Bits without a name are part of it only if some bits have
 * one. NULL: memory is exhausted.
 */
static struct tr_value *new_mask(const struct tr_apitrace_signature *signature, uint64_t number,
				 struct tr_arena *arena)
{
	struct tr_name names[TR_APITRACE_MASK_NAMES];
	uint64_t rest;
	size_t count = tr_apitrace_mask_names(signature, number, names, &rest);
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);
	struct tr_symbol *symbol = new_symbol(arena, count);
	if (!value || !symbol)
		return NULL;
	if (count)
		memcpy(symbol->names, names, count * sizeof *names);
	symbol->numbered = TR_SYMBOL_MASK;
	symbol->number = number;
	symbol->id = signature->id;
	symbol->unknown_bits = count ? rest : 0;
	*value = (struct tr_value){ .type = TR_SYMBOL, .flags = TR_HAS_ID, .as.symbol = symbol };
	return value;
}

/*
 * Returns the value of a mask's number, with the names of its flags. The first MASKS_READY numbers
 * are kept; the bound is there for masks that hold counters or random bits, each number of which
 * occurs once. NULL: parsing has ended.
 */
static const struct tr_value *mask_value(struct tr_apitrace_parse *parse,
					 struct tr_apitrace_signature *signature, uint64_t number)
{
	struct tr_value *value = tr_id_map_get(&signature->values, number);
	size_t named = 0;
	if (!value && signature->values.count == MASKS_READY) {
		value = new_mask(signature, number, &parse->arena);
		for (size_t i = 0; value && i < value->as.symbol->count; i++)
			named += value->as.symbol->names[i].text.len;
	} else if (!value) {
		value = new_mask(signature, number, &parse->signatures.arena);
		if (value && (!keep_spelling(parse, value) ||
			      !tr_id_map_put(&signature->values, number, value)))
			value = NULL;
	}
	if (!value) {
		tr_apitrace_no_memory(parse);
		return NULL;
	}
	return tr_apitrace_name(parse, value->text.data ? value->text.len : named) ? value : NULL;
}

/* Makes the word of an id, which lives as long as the signature. NULL: memory is exhausted. */
static struct tr_value *make_id(struct tr_apitrace_parse *parse,
				const struct tr_apitrace_signature *signature)
{
	char word[1 + 20 + 1];
	snprintf(word, sizeof word, "%c%" PRIu64, tr_apitrace_letters[signature->table],
		 signature->id);
	struct tr_arena *arena = &parse->signatures.arena;
	struct tr_value *value = tr_arena_alloc(arena, sizeof *value);
	struct tr_symbol *symbol = new_symbol(arena, 1);
	struct tr_text name = tr_arena_copy(arena, tr_text_from(word));
	if (!value || !symbol || !name.data)
		return NULL;
	symbol->names->text = name;
	*value = (struct tr_value){ .type = TR_SYMBOL, .as.symbol = symbol };
	return keep_spelling(parse, value) ? value : NULL;
}

/* Sets the value to the signature's id as a word: F17, K1. */
static bool set_id(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *signature,
		   struct tr_value *value)
{
	if (!signature->ready)
		signature->ready = make_id(parse, signature);
	if (!signature->ready)
		return tr_apitrace_no_memory(parse);
	*value = *signature->ready;
	return true;
}

/*
 * Makes a string value of bytes. Its spelling is the bytes themselves if they need no escape, which
 * saves the copy; otherwise it is in the arena.
 */
static bool set_string(struct tr_apitrace_parse *parse, struct tr_text bytes,
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

/* Parses a number, whose magnitude is all that the stream has after the tag. */
static inline bool parse_number(struct tr_apitrace_parse *parse, enum tr_type type,
				struct tr_value *value)
{
	*value = (struct tr_value){ .type = type, .flags = type == TR_INT ? TR_NEGATIVE : 0 };
	return tr_apitrace_uint(parse, &value->as.number);
}

/*
 * Parses a float or a double: its bits are kept as they are, so that nan and -0 are written again
 * unchanged.
 */
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
	return tr_apitrace_string(parse, &bytes) && set_string(parse, bytes, value);
}

/* Parses a blob, which stays in the window: it may have many MiB. */
static bool parse_blob(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	*value = (struct tr_value){ .type = TR_BLOB };
	return tr_apitrace_string(parse, &value->text);
}

/*
 * Parses a wide string, whose units are numbers of any size: wchar_t has 16 bits on Windows and 32
 * elsewhere, and the trace does not state which.
 */
static bool parse_wstring(struct tr_apitrace_parse *parse, struct tr_value *value)
{
	size_t count;
	if (!tr_apitrace_parse_count(parse, 1, &count))
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

/*
 * An enum's number follows the id from version 3 on; before, the definition contains the only one.
 * A mask's number has no tag, although apitrace's description says that a value follows.
 */
const struct tr_value *tr_apitrace_parse_constant(struct tr_apitrace_parse *parse, unsigned type)
{
	struct tr_apitrace_signature *signature;
	uint64_t number;
	unsigned tag;
	bool is_enum = type == TR_APITRACE_ENUM;
	if (!tr_apitrace_parse_signature(parse, is_enum ? TR_APITRACE_ENUMS : TR_APITRACE_MASKS,
					 &signature))
		return NULL;
	if (!is_enum)
		return tr_apitrace_uint(parse, &number) ? mask_value(parse, signature, number)
							: NULL;
	if (parse->version < TR_APITRACE_HAS_ENUM_TABLES)
		return enum_value(parse, signature, signature->labels->tag,
				  signature->labels->number);
	if (!tr_apitrace_byte(parse, &tag))
		return NULL;
	if (tag != TR_APITRACE_SINT && tag != TR_APITRACE_UINT) {
		tr_apitrace_bad(parse, parse->p - 1, "not a type of enum value", tag);
		return NULL;
	}
	return tr_apitrace_uint(parse, &number) ? enum_value(parse, signature, tag, number) : NULL;
}

/*
 * Parses `count` successive values. NULL: parsing has ended. `owed` counts the values that are
 * still due, so that a container inside cannot claim their bytes.
 */
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

/* Parses a list. */
static bool parse_array(struct tr_apitrace_parse *parse, struct tr_value *value, unsigned depth)
{
	size_t count;
	if (!tr_apitrace_parse_count(parse, 1, &count))
		return false;
	*value = (struct tr_value){ .type = TR_LIST, .count = count };
	value->as.items = parse_values(parse, count, depth + 1);
	return value->as.items;
}

bool tr_apitrace_expect(struct tr_apitrace_parse *parse, size_t count)
{
	size_t left = (size_t)(parse->end - parse->p);
	if (left < parse->owed || count > left - parse->owed)
		return tr_apitrace_short(parse, count + parse->owed);
	return true;
}

/*
 * Parses a structure. The names of its members are those of the signature and are not copied, but
 * each use spells them again, which tr_apitrace_name limits.
 */
static bool parse_struct(struct tr_apitrace_parse *parse, struct tr_value *value, unsigned depth)
{
	struct tr_apitrace_signature *signature;
	if (!tr_apitrace_parse_signature(parse, TR_APITRACE_STRUCTS, &signature))
		return false;
	size_t count = signature->count;
	if (!tr_apitrace_expect(parse, count))
		return false;
	struct tr_member *members = tr_apitrace_alloc(parse, count, sizeof *members);
	struct tr_value *values = members ? parse_values(parse, count, depth + 1) : NULL;
	if (!values)
		return false;
	for (size_t i = 0; i < count; i++)
		members[i] = (struct tr_member){ signature->labels[i].key, &values[i] };
	if (!tr_apitrace_name(parse, signature->named))
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

/* Parses a value with two forms: the first is for people, the second for machines. */
static bool parse_repr(struct tr_apitrace_parse *parse, struct tr_value *value, unsigned depth)
{
	enum { HALVES = 2 };
	if (!tr_apitrace_expect(parse, HALVES))
		return false;
	*value = (struct tr_value){ .type = TR_REPR, .count = HALVES };
	value->as.items = parse_values(parse, HALVES, depth + 1);
	return value->as.items;
}

/* Parses a value that is not a container, after its tag. */
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
	case TR_APITRACE_MASK: {
		const struct tr_value *constant = tr_apitrace_parse_constant(parse, tag);
		if (constant)
			*value = *constant;
		return constant;
	}
	case TR_APITRACE_WSTRING:
		return parse_wstring(parse, value);
	default:
		return tr_apitrace_bad(parse, parse->p - 1, "not a type of value", tag);
	}
}

/* Takes what comes before the values of a container whose tag was read, and sets their number. */
static bool open_skipped(struct tr_apitrace_parse *parse, unsigned tag, size_t *count)
{
	struct tr_apitrace_signature *signature;
	if (tag == TR_APITRACE_ARRAY)
		return tr_apitrace_parse_count(parse, 1, count);
	*count = 2;
	if (tag == TR_APITRACE_STRUCT) {
		if (!tr_apitrace_parse_signature(parse, TR_APITRACE_STRUCTS, &signature))
			return false;
		*count = signature->count;
	}
	return tr_apitrace_expect(parse, *count);
}

static bool is_container(unsigned tag)
{
	return tag == TR_APITRACE_ARRAY || tag == TR_APITRACE_STRUCT || tag == TR_APITRACE_REPR;
}

/*
 * Skips a container that is nested too deeply, without recursion, and takes its definitions: later
 * events use them. The value becomes null, and parse->deep makes the reader report it.
 */
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

/* The head and the events of a stream. */

struct tr_value *tr_apitrace_add(struct tr_apitrace_parse *parse, struct tr_record *record,
				 struct tr_text key, struct tr_value made)
{
	struct tr_value *value = tr_apitrace_alloc(parse, 1, sizeof *value);
	if (!value)
		return NULL;
	*value = made;
	if (tr_record_add(record, key, value))
		return value;
	tr_apitrace_no_memory(parse);
	return NULL;
}

/* Makes the list [NAME,VALUE] of a property. */
static bool set_pair(struct tr_apitrace_parse *parse, struct tr_text name, struct tr_text text,
		     struct tr_value *pair)
{
	enum { PAIR = 2 };
	*pair = (struct tr_value){ .type = TR_LIST, .count = PAIR };
	pair->as.items = tr_apitrace_alloc(parse, PAIR, sizeof *pair->as.items);
	return pair->as.items && set_string(parse, name, &pair->as.items[0]) &&
	       set_string(parse, text, &pair->as.items[1]);
}

/*
 * Parses the properties up to an empty name. They are a list of pairs and not a map, because a name
 * may occur twice, and the order is kept for writing.
 */
static bool parse_properties(struct tr_apitrace_parse *parse, struct tr_record *record)
{
	struct tr_value *list = tr_apitrace_add(parse, record, TR_TEXT("properties"),
						(struct tr_value){ .type = TR_LIST });
	size_t cap = 0;
	if (!list)
		return false;
	for (;;) {
		struct tr_text name, text;
		if (!tr_apitrace_string(parse, &name))
			return false;
		if (name.len == 0)
			return true;
		if (!tr_apitrace_string(parse, &text))
			return false;
		list->as.items =
			grow(parse, list->as.items, list->count, &cap, sizeof *list->as.items);
		if (!list->as.items || !set_pair(parse, name, text, &list->as.items[list->count]))
			return false;
		list->count++;
	}
}

/*
 * Ends the parse at a version that is not known. A later version may have changed any part of the
 * layout, so parsing on would give wrong records.
 */
static bool newer(struct tr_apitrace_parse *parse)
{
	parse->outcome = TR_APITRACE_BAD;
	tr_error_set(&parse->error, TR_CAUSE_INPUT,
		     "version %" PRIu64 " of the format is not known: the newest known is %d",
		     parse->version, TR_APITRACE_VERSION);
	return false;
}

/*
 * A semantic version above the version is a flaw only: the layout depends on the version, while
 * apitrace's own parser aborts.
 */
bool tr_apitrace_parse_head(struct tr_apitrace_parse *parse, struct tr_record *record)
{
	uint64_t semantic;
	if (!tr_apitrace_uint(parse, &parse->version))
		return false;
	if (parse->version > TR_APITRACE_VERSION &&
	    (!parse->any_version || parse->version > TR_APITRACE_ANY_VERSION))
		return newer(parse);
	if (!tr_apitrace_add(parse, record, TR_TEXT("version"), tr_apitrace_number(parse->version)))
		return false;
	if (parse->version < TR_APITRACE_HAS_PROPERTIES)
		return true;
	const char *where = parse->p;
	if (!tr_apitrace_uint(parse, &semantic) ||
	    !tr_apitrace_add(parse, record, TR_TEXT("semantic"), tr_apitrace_number(semantic)))
		return false;
	if (semantic > parse->version) {
		parse->flawed = true;
		tr_error_set(&parse->flaw, TR_CAUSE_INPUT,
			     "semantic version %" PRIu64 " in a trace of version %" PRIu64,
			     semantic, parse->version);
		parse->flaw.severity = TR_FLAW;
		tr_error_at_offset(&parse->flaw, tr_apitrace_offset(parse, where));
	}
	return parse_properties(parse, record);
}

enum {
	FIRST_FIELDS = 8,
	MORE_FIELDS = 3,   /* than arguments: the returned value, flags, a backtrace */
	MOST_FIELDS = 256, /* that room is made for before they are parsed */
};

/*
 * Makes room for so many fields and their values. The capacity is a power of two, because
 * tr_record_add relies on that. Values of one event lie in one block, which saves an allocation for
 * each field; after growing, the block is new, and the earlier values stay where they are.
 */
static bool reserve_fields(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
			   size_t count)
{
	struct tr_record *record = &event->record;
	size_t cap = FIRST_FIELDS;
	while (cap < count && cap <= SIZE_MAX / 2)
		cap *= 2;
	struct tr_field *fields = tr_apitrace_alloc(parse, cap, sizeof *fields);
	struct tr_value *values =
		fields ? tr_apitrace_alloc(parse, cap - record->count, sizeof *values) : NULL;
	if (!values)
		return false;
	if (record->count)
		memcpy(fields, record->fields, record->count * sizeof *fields);
	record->fields = fields;
	event->fields_cap = cap;
	event->room = values;
	return true;
}

/* Adds a field; its value is filled in by the caller. NULL: parsing has ended. */
static inline struct tr_value *add_field(struct tr_apitrace_parse *parse,
					 struct tr_apitrace_event *event, struct tr_text key)
{
	struct tr_record *record = &event->record;
	if (record->count == event->fields_cap && !reserve_fields(parse, event, record->count + 1))
		return NULL;
	struct tr_value *value = event->room++;
	record->fields[record->count++] = (struct tr_field){ .key = key, .value = value };
	return value;
}

/* Makes the lead "\t#N=" of an argument that the signature does not have. */
static bool number_lead(struct tr_apitrace_parse *parse, uint64_t number, struct tr_text *lead)
{
	enum { LEAD_MAX = 2 + 20 + 1 + TR_APITRACE_LEAD_SLACK };
	char *text = tr_apitrace_alloc(parse, 1, LEAD_MAX);
	if (!text)
		return false;
	int len = snprintf(text, LEAD_MAX, "\t#%" PRIu64 "=", number);
	*lead = (struct tr_text){ text, (size_t)len };
	return true;
}

/*
 * Takes the value at p as a field or as a piece of the line. lead: "\tkey=", which the line takes
 * as it is; a field has the key without the TAB and the '='.
 */
static bool take_value(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
		       struct tr_text lead)
{
	if (event->speller.line)
		return tr_apitrace_spell(&event->speller, lead, 0);
	struct tr_value *value =
		add_field(parse, event, (struct tr_text){ lead.data + 1, lead.len - 2 });
	return value && tr_apitrace_parse_value(parse, value, 0);
}

/* Takes a value that is already made, in the same way. */
static bool take_made(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event,
		      struct tr_text lead, const struct tr_value *made)
{
	if (event->speller.line) {
		tr_buffer_put_text(event->speller.line, lead);
		tr_literal_write(made, event->speller.line);
		return true;
	}
	struct tr_value *value =
		add_field(parse, event, (struct tr_text){ lead.data + 1, lead.len - 2 });
	if (value)
		*value = *made;
	return value;
}

/*
 * Reports an argument whose number is too high for its function. It is kept as #N. The first flaw
 * of a unit is enough; apitrace's dump crashes on such a trace.
 */
static void out_of_range(struct tr_apitrace_parse *parse, const struct tr_apitrace_event *event,
			 uint64_t number, const char *where)
{
	if (parse->flawed)
		return;
	parse->flawed = true;
	tr_error_set(&parse->flaw, TR_CAUSE_INPUT,
		     "call %" PRIu64 ": argument %" PRIu64 " of a function that has %zu",
		     event->call, number, event->function->count);
	parse->flaw.severity = TR_FLAW;
	tr_error_at_offset(&parse->flaw, tr_apitrace_offset(parse, where));
}

/*
 * Parses an argument. Its key is the name in the signature; without an enter, or with a number that
 * is too high, it is #N.
 */
static bool parse_argument(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	const char *where = parse->p;
	uint64_t number;
	struct tr_text lead;
	if (!tr_apitrace_uint(parse, &number))
		return false;
	if (event->function && number < event->function->count) {
		lead = event->function->leads[number];
		return tr_apitrace_name(parse, lead.len) && take_value(parse, event, lead);
	}
	if (!number_lead(parse, number, &lead))
		return false;
	if (event->function)
		out_of_range(parse, event, number, where);
	return take_value(parse, event, lead);
}

/*
 * Parses a backtrace as a list of the ids of its frames, whose definitions are records of their
 * own.
 */
static bool parse_backtrace(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	size_t count;
	if (!tr_apitrace_parse_count(parse, 1, &count))
		return false;
	struct tr_value *frames = tr_apitrace_alloc(parse, count, sizeof *frames);
	if (!frames)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct tr_apitrace_signature *frame;
		if (!tr_apitrace_parse_signature(parse, TR_APITRACE_FRAMES, &frame) ||
		    !set_id(parse, frame, &frames[i]))
			return false;
	}
	struct tr_value list = { .type = TR_LIST, .as.items = frames, .count = count };
	return take_made(parse, event, TR_TEXT("\t.bt="), &list);
}

/* Parses the flags of a call, of which apitrace defines one: a call that it added itself (fake). */
static bool parse_flags(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value flags = { .type = TR_UINT };
	return tr_apitrace_uint(parse, &flags.as.number) &&
	       take_made(parse, event, TR_TEXT("\t.flags="), &flags);
}

/* Ends the parse at a detail that is unknown. Details have no length, so it cannot be skipped. */
static bool no_detail(struct tr_apitrace_parse *parse, unsigned detail)
{
	return tr_apitrace_bad(parse, parse->p - 1, "not a part of a call", detail);
}

/* Puts the thread into the column of the line that was begun without one. */
static bool set_task(struct tr_apitrace_event *event)
{
	char digits[TR_DECIMAL_MAX + 2];
	struct tr_buffer *line = event->speller.line;
	size_t more = tr_decimal_write(event->thread, digits) - 1;
	char *room = tr_buffer_room(line, more);
	if (!room)
		return false;
	char *task = line->data + event->task;
	memmove(task + 1 + more, task + 1, line->len - event->task - 1);
	memcpy(task, digits, more + 1);
	tr_buffer_used(line, more);
	event->rest += more;
	return true;
}

/*
 * The first detail of an enter, if it is a thread, becomes only the task column. A thread at
 * any other place becomes a field as well, which keeps its place. The task is the first thread
 * that an enter has.
 */
static bool parse_thread(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value thread = { .type = TR_UINT };
	if (!tr_apitrace_uint(parse, &thread.as.number) ||
	    !take_made(parse, event, TR_TEXT("\t.thread="), &thread))
		return false;
	if (event->leave || event->has_thread)
		return true;
	event->has_thread = true;
	event->thread = thread.as.number;
	return !event->speller.line || set_task(event) || tr_apitrace_no_memory(parse);
}

/*
 * Parses the details of an enter or a leave up to the byte that ends them. All are accepted in any
 * version, as in apitrace's parser, except for the thread, which only old streams have.
 */
static bool parse_details(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	static const char lead[8 + TR_APITRACE_LEAD_SLACK] = "\treturn=";
	static const struct tr_text returned = { lead, 8 };
	for (;;) {
		unsigned detail;
		bool going = false;
		if (!tr_apitrace_byte(parse, &detail))
			return false;
		switch ((enum tr_apitrace_detail)detail) {
		case TR_APITRACE_END:
			return true;
		case TR_APITRACE_ARGUMENT:
			going = parse_argument(parse, event);
			break;
		case TR_APITRACE_RETURN:
			going = take_value(parse, event, returned);
			break;
		case TR_APITRACE_THREAD:
			going = parse->version < TR_APITRACE_HAS_THREADS
					? parse_thread(parse, event)
					: no_detail(parse, detail);
			break;
		case TR_APITRACE_BACKTRACE:
			going = parse_backtrace(parse, event);
			break;
		case TR_APITRACE_FLAGS:
			going = parse_flags(parse, event);
			break;
		default:
			going = no_detail(parse, detail);
		}
		if (!going)
			return false;
	}
}

/* Adds .sig, which distinguishes functions of the same name. */
static inline bool add_signature(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_value id;
	if (!event->function || !event->function->again)
		return true;
	return set_id(parse, event->function, &id) &&
	       take_made(parse, event, TR_TEXT("\t.sig="), &id);
}

/*
 * Begins the line with its fixed columns. An enter is written as " call" as long as its leave may
 * follow; make_line replaces that if none did.
 */
static bool begin_line(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	struct tr_buffer *line = event->speller.line;
	tr_buffer_reset(line);
	bool done = event->enter ? tr_apitrace_put_columns(event, " call\t", line)
				 : tr_apitrace_put_columns(event, " leave\t", line);
	return done || tr_apitrace_no_memory(parse);
}

/*
 * In old streams a thread in the first detail is taken here, before the line is begun, because the
 * column of the task precedes the fields.
 */
bool tr_apitrace_parse_enter(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	event->enter = true;
	event->thread = 0;
	event->has_thread = parse->version >= TR_APITRACE_HAS_THREADS;
	if (event->has_thread && !tr_apitrace_uint(parse, &event->thread))
		return false;
	if (!tr_apitrace_parse_signature(parse, TR_APITRACE_FUNCTIONS, &event->function))
		return false;
	if (!event->has_thread && parse->p < parse->end && *parse->p == TR_APITRACE_THREAD) {
		parse->p++;
		event->has_thread = true;
		if (!tr_apitrace_uint(parse, &event->thread))
			return false;
	}
	size_t count = event->function->count + MORE_FIELDS;
	bool begun =
		event->speller.line
			? begin_line(parse, event)
			: reserve_fields(parse, event, count < MOST_FIELDS ? count : MOST_FIELDS);
	return begun && add_signature(parse, event) && parse_details(parse, event);
}

/*
 * A leave directly after its enter goes on in the same record, after the arrow. A leave of its own
 * gets the columns and .sig first.
 */
bool tr_apitrace_parse_leave(struct tr_apitrace_parse *parse, struct tr_apitrace_event *event)
{
	event->leave = true;
	if (!event->enter &&
	    ((event->speller.line && !begin_line(parse, event)) || !add_signature(parse, event)))
		return false;
	if (event->speller.line)
		tr_buffer_put_literal(event->speller.line, "\t->");
	event->record.arrow = event->record.count;
	return parse_details(parse, event);
}
