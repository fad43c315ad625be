/* SPDX-License-Identifier: MIT */
/* The parents that readers of the written trace will find: see writer_kin.h. */
#include "format/klocwork/writer_kin.h"

#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "record/json.h"

/* An id that is not a number, as JSON text. */
struct name {
	size_t len;
	char bytes[];
};

void tr_klocwork_kin_init(struct tr_klocwork_kin *kin, struct tr_klocwork_tally *tally)
{
	tr_klocwork_parents_init(&kin->parents);
	kin->written = kin->numbers = (struct tr_klocwork_ids)TR_KLOCWORK_IDS_INIT;
	kin->names = (struct tr_id_map)TR_ID_MAP_INIT;
	kin->tally = tally;
}

static void free_names(struct tr_klocwork_kin *kin)
{
	size_t position = 0;
	void *name;
	while ((name = tr_id_map_next(&kin->names, &position)))
		free(name);
	tr_id_map_free(&kin->names);
}

void tr_klocwork_kin_free(struct tr_klocwork_kin *kin)
{
	tr_klocwork_parents_free(&kin->parents);
	tr_klocwork_ids_free(&kin->written);
	tr_klocwork_ids_free(&kin->numbers);
	free_names(kin);
}

/* Sets the place of the parent that the record names. */
static void find_place(struct tr_klocwork_kin *kin, const struct tr_field *field,
		       struct tr_klocwork_parentage *parentage)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT };
	uint64_t seq;
	parentage->place = TR_KLOCWORK_ROOT;
	parentage->parent = TR_NO_POSITION;
	if (!field)
		return;
	if (field->text.data)
		cell.text = field->text;
	else if (field->value->type == TR_UINT)
		cell = (struct tr_cell){ .type = TR_CELL_NUMBER,
					 .number = field->value->as.number };
	if (!tr_cell_number(&cell, &seq))
		return;
	parentage->place = TR_KLOCWORK_WRITTEN;
	if (tr_klocwork_ids_find_number(&kin->written, seq, &parentage->parent))
		return;
	parentage->place = TR_KLOCWORK_STRANGER;
	parentage->parent = seq;
}

/*
 * The key of the id that will be written, or of a field's value. None if it cannot be rendered,
 * because the record will not be written. False: memory is out.
 */
static bool find_key(struct tr_record *record, struct tr_field *field, struct tr_text *key)
{
	struct tr_buffer json = TR_BUFFER_INIT;
	struct tr_error err;
	*key = (struct tr_text){ NULL, 0 };
	bool rendered = field ? tr_json_from_field(record, field, &json, &err)
			      : tr_klocwork_render_id(record, &json, &err);
	if (!rendered || json.failed) {
		bool good = !json.failed && err.cause != TR_CAUSE_MEMORY;
		tr_buffer_free(&json);
		return good;
	}
	struct tr_text text = tr_arena_copy(record->arena, tr_buffer_text(&json));
	tr_buffer_free(&json);
	return text.data && tr_klocwork_id_key(text, record->arena, key);
}

static bool find_id(struct tr_record *record, struct tr_text *key)
{
	*key = record->task.text;
	return (record->task.type == TR_CELL_TEXT && tr_klocwork_id_is_plain(*key)) ||
	       find_key(record, NULL, key);
}

static bool find_parent_id(struct tr_record *record, struct tr_field *ppid, struct tr_text *key)
{
	*key = ppid ? ppid->text : (struct tr_text){ NULL, 0 };
	return !ppid || (key->data && tr_klocwork_id_is_plain(*key)) || find_key(record, ppid, key);
}

static void find_reading(struct tr_klocwork_kin *kin, struct tr_klocwork_parentage *parentage)
{
	parentage->read =
		tr_klocwork_parents_find(&kin->parents, parentage->id, parentage->parent_id);
}

bool tr_klocwork_kin_find(struct tr_klocwork_kin *kin, struct tr_record *record,
			  const struct tr_klocwork_fields *fields,
			  struct tr_klocwork_parentage *parentage)
{
	find_place(kin, fields->parent, parentage);
	parentage->settled = false;
	if (!find_id(record, &parentage->id) ||
	    !find_parent_id(record, fields->ppid, &parentage->parent_id))
		return false;
	find_reading(kin, parentage);
	return true;
}

bool tr_klocwork_kin_rename(struct tr_klocwork_kin *kin, struct tr_text parent_id,
			    struct tr_arena *arena, struct tr_klocwork_parentage *parentage)
{
	if (!tr_klocwork_id_key(parent_id, arena, &parentage->parent_id))
		return false;
	find_reading(kin, parentage);
	return true;
}

void tr_klocwork_kin_reread(struct tr_klocwork_kin *kin, const struct tr_klocwork_object *object,
			    struct tr_klocwork_parentage *parentage)
{
	parentage->id = tr_klocwork_object_piece(object, object->id);
	parentage->parent_id = tr_klocwork_object_piece(object, object->parent_id);
	find_reading(kin, parentage);
}

bool tr_klocwork_kin_id(struct tr_klocwork_kin *kin, uint64_t ordinal, struct tr_arena *arena,
			struct tr_text *id)
{
	const struct name *name = tr_id_map_get(&kin->names, ordinal);
	char digits[TR_DECIMAL_MAX];
	struct tr_text text = { digits, 0 };
	uint64_t number;
	*id = (struct tr_text){ NULL, 0 };
	if (name)
		text = (struct tr_text){ name->bytes, name->len };
	else if (tr_klocwork_ids_find_number(&kin->numbers, ordinal, &number))
		text.len = tr_decimal_write(number, digits);
	if (text.len)
		*id = tr_arena_copy(arena, text);
	return !text.len || id->data;
}

static bool keep_name(struct tr_klocwork_kin *kin, struct tr_record *record)
{
	struct tr_buffer json = TR_BUFFER_INIT;
	struct tr_error err;
	struct name *name = NULL;
	if (tr_klocwork_render_id(record, &json, &err) && !json.failed)
		name = malloc(sizeof *name + json.len);
	if (name) {
		name->len = json.len;
		memcpy(name->bytes, json.data, json.len);
	}
	tr_buffer_free(&json);
	bool kept = name && tr_id_map_put(&kin->names, kin->count, name);
	if (!kept)
		free(name);
	return kept;
}

bool tr_klocwork_kin_keep_id(struct tr_klocwork_kin *kin, struct tr_record *record,
			     const struct tr_klocwork_parentage *parentage)
{
	struct tr_cell id = { .type = TR_CELL_TEXT, .text = parentage->id };
	uint64_t number;
	if (!parentage->id.data)
		return true; /* no parent_id equals it */
	if (tr_cell_number(&id, &number))
		return tr_klocwork_ids_put_number(&kin->numbers, kin->count, number);
	return keep_name(kin, record);
}

/* Counts the event when it is known which record a reader takes for the parent. */
static void judge(struct tr_klocwork_kin *kin, struct tr_klocwork_named named, uint64_t read)
{
	bool there = !named.by_seq ||
		     tr_klocwork_ids_find_number(&kin->written, named.parent, &named.parent);
	kin->tally->strangers += !there;
	kin->tally->mistaken += there && named.relative && named.parent != read;
}

static void drain(struct tr_klocwork_kin *kin)
{
	const struct tr_klocwork_queued *record;
	while ((record = tr_klocwork_parents_ready(&kin->parents))) {
		judge(kin, record->named, record->parent);
		tr_klocwork_parents_drop(&kin->parents);
	}
}

/* Adds the next record; wanted: the key it is pending on, or no data. False: memory is out. */
static bool pass(struct tr_klocwork_kin *kin, struct tr_klocwork_named named, uint64_t parent,
		 size_t weight, struct tr_text wanted)
{
	struct tr_klocwork_queued record = {
		.seq = kin->count++, .parent = parent, .weight = weight, .named = named
	};
	if (!wanted.data && !tr_klocwork_parents_busy(&kin->parents)) {
		judge(kin, named, parent);
		return true;
	}
	if (!tr_klocwork_parents_queue(&kin->parents, &record, TR_TEXT(""), wanted))
		return false;
	drain(kin);
	return true;
}

bool tr_klocwork_kin_event(struct tr_klocwork_kin *kin, const struct tr_record *record,
			   const struct tr_klocwork_parentage *parentage, bool relative,
			   size_t weight)
{
	struct tr_text none = { NULL, 0 };
	struct tr_klocwork_parent read = parentage->read;
	struct tr_klocwork_named named = { parentage->parent, false, relative };
	uint64_t seq;
	if (parentage->settled)
		named.parent = read.seq;
	else
		named.by_seq = parentage->place == TR_KLOCWORK_STRANGER;
	if (!tr_klocwork_parents_event(&kin->parents, parentage->id, kin->count, &read))
		return false;
	if (tr_cell_number(&record->seq, &seq) &&
	    !tr_klocwork_ids_put_number(&kin->written, seq, kin->count))
		return false;
	return pass(kin, named, read.seq, weight, read.pending ? parentage->parent_id : none);
}

bool tr_klocwork_kin_context(struct tr_klocwork_kin *kin, const struct tr_record *record,
			     size_t weight)
{
	bool meta = tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT;
	bool version = meta && tr_text_is(record->name.text, "version");
	if (version || tr_text_is(record->kind, "env") ||
	    (meta && tr_text_is(record->name.text, "creator"))) {
		tr_klocwork_parents_scope(&kin->parents, !version);
		drain(kin);
	}
	return pass(kin, (struct tr_klocwork_named){ TR_NO_POSITION, false, false }, TR_NO_POSITION,
		    weight, (struct tr_text){ NULL, 0 });
}

void tr_klocwork_kin_supplied(struct tr_klocwork_kin *kin, unsigned lines)
{
	tr_klocwork_parents_scope(&kin->parents, false);
	drain(kin);
	kin->count += lines;
}

void tr_klocwork_kin_end(struct tr_klocwork_kin *kin)
{
	struct tr_klocwork_queued *record;
	/* pending records may stay pending, but seqs of the next segment mean other records */
	for (size_t i = 0; (record = tr_klocwork_parents_at(&kin->parents, i)); i++) {
		struct tr_klocwork_named *named = &record->named;
		if (!named->by_seq)
			continue;
		named->by_seq = false;
		if (tr_klocwork_ids_find_number(&kin->written, named->parent, &named->parent))
			continue;
		named->relative = false;
		kin->tally->strangers++;
	}
	tr_klocwork_ids_forget(&kin->written);
	tr_klocwork_ids_forget(&kin->numbers);
	free_names(kin);
}

void tr_klocwork_kin_finish(struct tr_klocwork_kin *kin)
{
	tr_klocwork_parents_settle(&kin->parents);
	drain(kin);
}
