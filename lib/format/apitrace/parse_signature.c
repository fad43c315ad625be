/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"
#include "record/literal.h"

/*
 * Uses of signatures in the stream, and their definitions. A definition is kept even if its
 * unit is cut and parsed again: the offset of its id distinguishes it from a use.
 */

/* A function's, a structure's name and labels. */
static bool parse_names(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *draft)
{
	if (!tr_apitrace_string(parse, &draft->name) || !tr_apitrace_count(parse, 1, &draft->count))
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

static bool parse_enum_number(struct tr_apitrace_parse *parse, struct tr_apitrace_label *label)
{
	unsigned tag;
	if (!tr_apitrace_byte(parse, &tag))
		return false;
	if (tag != TR_APITRACE_SINT && tag != TR_APITRACE_UINT)
		return tr_apitrace_bad(parse, parse->p - 1, "no type of an enum's value", tag);
	label->tag = (uint8_t)tag;
	return tr_apitrace_uint(parse, &label->number);
}

static bool parse_constant(struct tr_apitrace_parse *parse, bool is_enum,
			   struct tr_apitrace_label *label)
{
	*label = (struct tr_apitrace_label){ .number = 0 };
	if (!tr_apitrace_string(parse, &label->name))
		return false;
	return is_enum ? parse_enum_number(parse, label) : tr_apitrace_uint(parse, &label->number);
}

static bool parse_constants(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *draft)
{
	bool is_enum = draft->table == TR_APITRACE_ENUMS;
	size_t least = is_enum ? 3 : 2; /* an empty name, a tag, a number */
	draft->count = 1;
	if ((!is_enum || parse->version >= TR_APITRACE_HAS_ENUM_TABLES) &&
	    !tr_apitrace_count(parse, least, &draft->count))
		return false;
	draft->labels = tr_apitrace_alloc(parse, draft->count, sizeof *draft->labels);
	if (!draft->labels)
		return false;
	for (size_t i = 0; i < draft->count; i++)
		if (!parse_constant(parse, is_enum, &draft->labels[i]))
			return false;
	return true;
}

/* Room for one more label; their number is unknown. */
static struct tr_apitrace_label *add_label(struct tr_apitrace_parse *parse,
					   struct tr_apitrace_signature *draft, size_t *cap)
{
	if (draft->count == *cap) {
		size_t more = *cap ? *cap * 2 : 8;
		struct tr_apitrace_label *labels = tr_apitrace_alloc(parse, more, sizeof *labels);
		if (!labels)
			return NULL;
		if (draft->count)
			memcpy(labels, draft->labels, draft->count * sizeof *labels);
		draft->labels = labels;
		*cap = more;
	}
	struct tr_apitrace_label *label = &draft->labels[draft->count++];
	*label = (struct tr_apitrace_label){ .number = 0 };
	return label;
}

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
			return tr_apitrace_bad(parse, parse->p - 1, "no part of a stack frame",
					       tag);
		struct tr_apitrace_label *label = add_label(parse, draft, &cap);
		if (!label)
			return false;
		label->tag = (uint8_t)tag;
		if (!(tag <= TR_APITRACE_FRAME_FILE ? tr_apitrace_string(parse, &label->name)
						    : tr_apitrace_uint(parse, &label->number)))
			return false;
	}
}

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

bool tr_apitrace_parse_signature(struct tr_apitrace_parse *parse, enum tr_apitrace_table table,
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

/* A symbol in the arena, with room for `count` names. NULL: memory is out. */
static struct tr_symbol *new_symbol(struct tr_arena *arena, size_t count)
{
	struct tr_symbol *symbol =
		tr_arena_alloc(arena, sizeof *symbol + count * sizeof *symbol->names);
	if (symbol)
		*symbol = (struct tr_symbol){ .names = (struct tr_name *)(symbol + 1),
					      .count = count };
	return symbol;
}

/* Makes a copy with its spelling in the arena of the signatures. */
static struct tr_value *make_ready(struct tr_apitrace_parse *parse, const struct tr_value *value)
{
	struct tr_arena *arena = &parse->signatures.arena;
	struct tr_value *ready = tr_arena_alloc(arena, sizeof *ready);
	tr_buffer_reset(&parse->scratch);
	tr_literal_write(value, &parse->scratch);
	if (!ready || parse->scratch.failed)
		return NULL;
	*ready = *value;
	ready->text = tr_arena_copy(arena, tr_buffer_text(&parse->scratch));
	return ready->text.data ? ready : NULL;
}

static bool set_enum(const struct tr_apitrace_signature *signature,
		     const struct tr_apitrace_label *label, unsigned tag, uint64_t number,
		     struct tr_arena *arena, struct tr_value *value)
{
	struct tr_symbol *symbol = new_symbol(arena, label ? 1 : 0);
	if (!symbol)
		return false;
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
	return true;
}

bool tr_apitrace_set_enum(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *signature,
			  unsigned tag, uint64_t number, struct tr_value *value)
{
	if (!signature->values.count && signature->count && !tr_apitrace_index_enum(signature))
		return tr_apitrace_no_memory(parse);
	struct tr_apitrace_label *label = tr_id_map_get(
		&signature->values, tr_apitrace_enum_key(tag == TR_APITRACE_SINT, number));
	if (label && !tr_apitrace_name(parse, label->key.len))
		return false;
	if (label && label->tag == tag && label->number == number) {
		struct tr_value made;
		if (!label->ready &&
		    set_enum(signature, label, tag, number, &parse->signatures.arena, &made))
			label->ready = make_ready(parse, &made);
		if (!label->ready)
			return tr_apitrace_no_memory(parse);
		*value = *label->ready;
		return true;
	}
	return set_enum(signature, label, tag, number, &parse->arena, value) ||
	       tr_apitrace_no_memory(parse);
}

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

static bool set_mask(const struct tr_apitrace_signature *signature, uint64_t number,
		     struct tr_arena *arena, struct tr_value *value)
{
	struct tr_name names[TR_APITRACE_MASK_NAMES];
	uint64_t rest;
	size_t count = tr_apitrace_mask_names(signature, number, names, &rest);
	struct tr_symbol *symbol = new_symbol(arena, count);
	if (!symbol)
		return false;
	if (count)
		memcpy(symbol->names, names, count * sizeof *names);
	symbol->numbered = TR_SYMBOL_MASK;
	symbol->number = number;
	symbol->id = signature->id;
	symbol->unknown_bits = count ? rest : 0;
	*value = (struct tr_value){ .type = TR_SYMBOL, .flags = TR_HAS_ID, .as.symbol = symbol };
	return true;
}

bool tr_apitrace_set_mask(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *signature,
			  uint64_t number, struct tr_value *value)
{
	struct tr_value *ready = tr_id_map_get(&signature->values, number);
	if (!ready && signature->values.count == MASKS_READY) {
		if (!set_mask(signature, number, &parse->arena, value))
			return tr_apitrace_no_memory(parse);
		size_t named = 0;
		for (size_t i = 0; i < value->as.symbol->count; i++)
			named += value->as.symbol->names[i].text.len;
		return tr_apitrace_name(parse, named);
	}
	if (!ready) {
		struct tr_value made;
		if (set_mask(signature, number, &parse->signatures.arena, &made))
			ready = make_ready(parse, &made);
		if (!ready || !tr_id_map_put(&signature->values, number, ready))
			return tr_apitrace_no_memory(parse);
	}
	*value = *ready;
	return tr_apitrace_name(parse, ready->text.len);
}

static struct tr_value *make_id(struct tr_apitrace_parse *parse,
				const struct tr_apitrace_signature *signature)
{
	char word[1 + 20 + 1];
	snprintf(word, sizeof word, "%c%" PRIu64, tr_apitrace_letters[signature->table],
		 signature->id);
	struct tr_arena *arena = &parse->signatures.arena;
	struct tr_value value = { .type = TR_SYMBOL, .as.symbol = new_symbol(arena, 1) };
	struct tr_text name = tr_arena_copy(arena, tr_text_from(word));
	if (!value.as.symbol || !name.data)
		return NULL;
	value.as.symbol->names->text = name;
	return make_ready(parse, &value);
}

bool tr_apitrace_set_id(struct tr_apitrace_parse *parse, struct tr_apitrace_signature *signature,
			struct tr_value *value)
{
	if (!signature->ready)
		signature->ready = make_id(parse, signature);
	if (!signature->ready)
		return tr_apitrace_no_memory(parse);
	*value = *signature->ready;
	return true;
}
