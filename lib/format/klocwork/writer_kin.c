#include "format/klocwork/writer_kin.h"

#include "format/klocwork/parents.h"

uint64_t tr_klocwork_kin_find(struct tr_klocwork_kin *kin, struct tr_text parent_id)
{
	uint64_t seq;
	bool found = !tr_klocwork_names_nobody(parent_id) &&
		     tr_klocwork_ids_find(&kin->ids, parent_id, &seq);
	return found ? seq : TR_NO_POSITION;
}

bool tr_klocwork_kin_event(struct tr_klocwork_kin *kin, const struct tr_record *record,
			   uint64_t seq)
{
	const struct tr_cell *id =
		record->task.type == TR_CELL_ABSENT ? &record->seq : &record->task;
	kin->events = true;
	if (id->type == TR_CELL_TEXT)
		return tr_klocwork_ids_put(&kin->ids, id->text, seq);
	return tr_klocwork_ids_put_number(&kin->ids, id->number, seq);
}

void tr_klocwork_kin_context(struct tr_klocwork_kin *kin, const struct tr_record *record)
{
	bool meta = tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT;
	bool version = meta && tr_text_is(record->name.text, "version");
	bool soft = tr_text_is(record->kind, "env") ||
		    (meta && tr_text_is(record->name.text, "creator"));
	if (version || (soft && kin->events))
		tr_klocwork_kin_forget(kin);
}

void tr_klocwork_kin_forget(struct tr_klocwork_kin *kin)
{
	tr_klocwork_ids_forget(&kin->ids);
	kin->events = false;
}

void tr_klocwork_kin_free(struct tr_klocwork_kin *kin)
{
	tr_klocwork_ids_free(&kin->ids);
}
