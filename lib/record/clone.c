/* SPDX-License-Identifier: MIT */
/*
 * One function both measures and copies, so that the two cannot disagree: with
 * no block to copy into, only the bytes are counted.
 */
#include "record/record.h"

#include <stdlib.h>

#include "core/input.h"

struct block {
	char *bytes; /* NULL: only count */
	size_t used;
};

/* Where size bytes go, copied from `from` where they are. NULL while counting. */
static void *place(struct block *block, const void *from, size_t size)
{
	char *to = block->bytes ? block->bytes + block->used : NULL;
	if (to && size)
		memcpy(to, from, size);
	block->used += (size + 15) & ~(size_t)15;
	return to;
}

static void place_text(struct block *block, struct tr_text *text)
{
	if (text->data)
		text->data = place(block, text->data, text->len);
}

static void place_symbol(struct block *block, struct tr_symbol **symbol)
{
	struct tr_symbol copy = **symbol;
	struct tr_name *names = place(block, copy.names, copy.count * sizeof *names);
	for (size_t i = 0; i < copy.count; i++) {
		struct tr_name name = copy.names[i];
		place_text(block, &name.text);
		if (names)
			names[i] = name;
	}
	copy.names = names;
	*symbol = place(block, &copy, sizeof copy);
}

static void place_within(struct block *block, struct tr_value *value);

static struct tr_value *place_values(struct block *block, const struct tr_value *values,
				     size_t count)
{
	struct tr_value *to = place(block, values, count * sizeof *to);
	for (size_t i = 0; i < count; i++) {
		struct tr_value value = values[i];
		place_within(block, &value);
		if (to)
			to[i] = value;
	}
	return to;
}

static struct tr_member *place_members(struct block *block, const struct tr_member *members,
				       size_t count)
{
	struct tr_member *to = place(block, members, count * sizeof *to);
	for (size_t i = 0; i < count; i++) {
		struct tr_member member = members[i];
		place_text(block, &member.key);
		member.value = place_values(block, member.value, 1);
		if (to)
			to[i] = member;
	}
	return to;
}

/* Copies what value points to, and makes it point there. It ends: 60 brackets are the limit. */
static void place_within(struct block *block, struct tr_value *value)
{
	place_text(block, &value->text);
	switch ((enum tr_type)value->type) {
	case TR_SYMBOL:
		place_symbol(block, &value->as.symbol);
		break;
	case TR_LIST:
	case TR_REPR:
		value->as.items = place_values(block, value->as.items, value->count);
		break;
	case TR_MAP:
	case TR_STRUCT:
		value->as.members = place_members(block, value->as.members, value->count);
		break;
	default:
		break;
	}
}

static void place_fields(struct block *block, struct tr_record *record)
{
	const struct tr_field *fields = record->fields;
	struct tr_field *to = place(block, fields, record->count * sizeof *to);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field field = fields[i];
		place_text(block, &field.key);
		place_text(block, &field.text);
		if (field.value)
			field.value = place_values(block, field.value, 1);
		if (to)
			to[i] = field;
	}
	record->fields = to;
}

static void place_record(struct block *block, struct tr_record *record)
{
	struct tr_cell *const cells[] = { &record->seq, &record->time, &record->task,
					  &record->name };
	place_text(block, &record->kind);
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		if (cells[i]->type == TR_CELL_TEXT)
			place_text(block, &cells[i]->text);
	place_text(block, &record->comment);
	place_fields(block, record);
}

/* Of a line everything else is made again. */
static struct tr_record *clone_line(const struct tr_record *record, size_t *size)
{
	size_t len = record->line.len;
	*size = sizeof(struct tr_record) + len + TR_INPUT_PAD;
	struct tr_record *copy = malloc(*size);
	if (!copy)
		return NULL;
	char *line = (char *)(copy + 1);
	memcpy(line, record->line.data, len);
	memset(line + len, 0, TR_INPUT_PAD);
	tr_record_init(copy, NULL);
	/* it was a line before: there is nothing to go wrong */
	tr_record_from_line(copy, (struct tr_text){ line, len }, NULL);
	copy->canonical = record->canonical;
	copy->source_line = record->source_line;
	copy->source_offset = record->source_offset;
	return copy;
}

struct tr_record *tr_record_clone(const struct tr_record *record, size_t *size)
{
	if (record->line.data)
		return clone_line(record, size);
	struct tr_record copy = *record;
	struct block block = { NULL, 0 };
	place(&block, record, sizeof *record);
	place_record(&block, &copy);
	*size = block.used;
	block.bytes = malloc(block.used);
	if (!block.bytes)
		return NULL;
	block.used = 0;
	struct tr_record *to = place(&block, record, sizeof *record);
	to->arena = NULL;
	to->spell = NULL; /* what it needs may not live as long */
	place_record(&block, to);
	return to;
}
