/* What the parts of the reader share: a record in the making, and what is said of the input. */
#include "format/gnatcov/reader.h"

#include "record/literal.h"

bool tr_gnatcov_tell(struct tr_gnatcov_reader *reader, struct tr_error *err)
{
	if (reader->told_at == reader->in->offset)
		return false;
	reader->told_at = reader->in->offset;
	err->severity = TR_FLAW;
	tr_error_at_offset(err, reader->in->offset);
	return true;
}

enum tr_status tr_gnatcov_cut(struct tr_gnatcov_reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;

	err->cause = TR_CAUSE_CUT;
	if (err->offset == TR_NO_POSITION)
		tr_error_at_offset(err, in->offset);
	tr_input_skip(in, tr_input_available(in));
	reader->state = TR_GNATCOV_DONE;
	return TR_WARN;
}

enum tr_status tr_gnatcov_stuck(struct tr_gnatcov_reader *reader)
{
	reader->state = TR_GNATCOV_DONE;
	return TR_END;
}

void tr_gnatcov_begin(struct tr_gnatcov_reader *reader, const char *kind, struct tr_cell name)
{
	struct tr_record *record = &reader->record;

	tr_record_init(record, &reader->arena);
	record->kind = tr_text_from(kind);
	record->seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = reader->seq };
	record->name = name;
	record->split = true;
	record->source_offset = reader->in->offset;
}

bool tr_gnatcov_add(struct tr_gnatcov_reader *reader, const char *key, struct tr_value value)
{
	struct tr_value *kept = tr_arena_alloc(&reader->arena, sizeof *kept);

	if (!kept || (value.type == TR_STRING && !value.text.data))
		return false;
	*kept = value;
	return tr_record_add(&reader->record, tr_text_from(key), kept) != NULL;
}

struct tr_value tr_gnatcov_string(struct tr_gnatcov_reader *reader, struct tr_text bytes)
{
	tr_buffer_reset(&reader->text);
	bool plain = tr_string_escape(bytes, &reader->text);
	struct tr_value value = { .type = TR_STRING, .flags = plain ? TR_PLAIN : 0 };
	if (!reader->text.failed)
		value.text = tr_arena_copy(&reader->arena, tr_buffer_text(&reader->text));
	return value;
}

enum tr_status tr_gnatcov_hand_out(struct tr_gnatcov_reader *reader, struct tr_record **record)
{
	reader->seq++;
	*record = &reader->record;
	return TR_OK;
}
