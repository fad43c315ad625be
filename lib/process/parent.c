/* SPDX-License-Identifier: MIT */
/* The parent of a record, by its fields. */
#include "process/parent.h"

#include "core/error.h"
#include "record/literal.h"

/* Copies a text that was written to the record's arena. False: memory is exhausted. */
static bool keep(struct tr_record *record, struct tr_buffer *written, struct tr_text *text)
{
	bool fine = !written->failed;

	if (fine)
		*text = tr_arena_copy(record->arena, tr_buffer_text(written));
	tr_buffer_free(written);
	return fine && text->data;
}

bool tr_parent_cell(struct tr_record *record, const struct tr_cell *cell, struct tr_text *text)
{
	char memory[64];
	struct tr_buffer written = tr_buffer_over(memory, sizeof memory);
	struct tr_error err;

	*text = (struct tr_text){ NULL, 0 };
	if (cell->type == TR_CELL_ABSENT)
		return true;
	if (cell->type == TR_CELL_TEXT) {
		if (tr_cell_bytes(cell->text, record->arena, text, &err))
			return true;
		*text = (struct tr_text){ NULL, 0 };
		return err.cause != TR_CAUSE_MEMORY;
	}
	tr_cell_write(cell, &written);
	return keep(record, &written, text);
}

bool tr_parent_text(struct tr_record *record, const struct tr_field *field, struct tr_text *text)
{
	char memory[64];
	struct tr_buffer written = tr_buffer_over(memory, sizeof memory);

	*text = field ? field->text : (struct tr_text){ NULL, 0 };
	if (!field || field->text.data || !field->value)
		return true;
	tr_literal_write(field->value, &written);
	return keep(record, &written, text);
}

bool tr_parent_of_fields(struct tr_record *record, const struct tr_field *parent_field,
			 const struct tr_field *ppid, struct tr_parent *parent)
{
	*parent = (struct tr_parent){ .kind = TR_PARENT_NONE, .seq = TR_NO_POSITION };
	if (!tr_parent_text(record, parent_field ? parent_field : ppid, &parent->text))
		return false;
	if (!parent->text.data)
		return true;
	parent->kind = parent_field ? TR_PARENT_RECORD : TR_PARENT_TASK;
	struct tr_cell cell = { .type = TR_CELL_TEXT, .text = parent->text };
	if (parent_field && !tr_cell_number(&cell, &parent->seq))
		parent->seq = TR_NO_POSITION;
	return true;
}

bool tr_parent_read(struct tr_record *record, struct tr_parent *parent)
{
	const struct tr_field *field = tr_record_field(record, "parent");

	return tr_parent_of_fields(record, field, field ? NULL : tr_record_field(record, "ppid"),
				   parent);
}
