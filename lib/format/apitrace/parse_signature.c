/*
 * Signatures where they stand in the stream. One that was defined stays so,
 * even when its unit turns out to be cut and is parsed again: the offset of its
 * id says that this is the definition, and not a use.
 */
#include "format/apitrace/apitrace.h"
#include "format/apitrace/parse.h"

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

/* Room for one more label; nobody says how many there will be. */
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
