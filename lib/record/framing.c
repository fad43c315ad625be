#include "record/framing.h"

#include <inttypes.h>

void tr_framing_begin(struct tr_framing *framing)
{
	*framing = (struct tr_framing){ .headed = true };
}

void tr_framing_count(struct tr_framing *framing, const struct tr_record *record)
{
	/* an enter and its leave are one record; a leave without an enter has no name */
	framing->records +=
		!tr_text_is(record->kind, "leave") || record->name.type == TR_CELL_ABSENT;
}

enum tr_status tr_framing_end(struct tr_framing *framing, const struct tr_record *trailer,
			      struct tr_error *err)
{
	uint64_t count = 0, records = framing->records;
	bool headed = framing->headed;
	*framing = (struct tr_framing){ false, 0 };
	if (!headed)
		return TR_OK;
	if (!trailer)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a segment of the stream has no trailer: it may not be whole");
	else if (tr_cell_number(&trailer->seq, &count) && count == records)
		return TR_OK;
	else
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the trailer counts %" PRIu64 " records, %" PRIu64 " were there",
			     count, records);
	tr_error_is_note(err);
	return TR_WARN;
}
