/* Signatures and the definition records that say the same. */
#include <inttypes.h>
#include <stdio.h>

#include "core/buffer.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/signature.h"
#include "record/literal.h"

static const char *const frame_keys[] = {
	[TR_APITRACE_FRAME_MODULE] = "module", [TR_APITRACE_FRAME_FUNCTION] = "function",
	[TR_APITRACE_FRAME_FILE] = "file",     [TR_APITRACE_FRAME_LINE] = "line",
	[TR_APITRACE_FRAME_OFFSET] = "offset",
};

enum { FRAME_PARTS = sizeof frame_keys / sizeof *frame_keys };

/* The string spelling of bytes, in the arena. data NULL: memory is out. */
static struct tr_text string_spelling(struct tr_text bytes, struct tr_arena *arena, bool *plain)
{
	struct tr_buffer spelling = TR_BUFFER_INIT;
	struct tr_text text = { NULL, 0 };
	*plain = tr_string_escape(bytes, &spelling);
	if (!spelling.failed)
		text = tr_arena_copy(arena, tr_buffer_text(&spelling));
	tr_buffer_free(&spelling);
	return text;
}

static bool set_string(struct tr_value *value, struct tr_text bytes, struct tr_arena *arena)
{
	bool plain;
	*value = (struct tr_value){ .type = TR_STRING };
	value->text = string_spelling(bytes, arena, &plain);
	value->flags = plain ? TR_PLAIN : 0;
	return value->text.data;
}

static bool add_names(const struct tr_apitrace_signature *signature, const char *key,
		      struct tr_record *record)
{
	struct tr_value *list = tr_arena_alloc(record->arena, sizeof *list);
	struct tr_value *names = tr_arena_alloc(record->arena, signature->count * sizeof *names);
	if (!list || !names)
		return false;
	for (size_t i = 0; i < signature->count; i++)
		if (!set_string(&names[i], signature->labels[i].name, record->arena))
			return false;
	*list = (struct tr_value){ .type = TR_LIST, .as.items = names, .count = signature->count };
	return tr_record_add(record, tr_text_from(key), list);
}

/* The value of a constant, or of a part of a frame. */
static bool set_label(struct tr_value *value, const struct tr_apitrace_signature *signature,
		      const struct tr_apitrace_label *label, struct tr_arena *arena)
{
	bool frame = signature->table == TR_APITRACE_FRAMES;
	if (frame && label->tag <= TR_APITRACE_FRAME_FILE)
		return set_string(value, label->name, arena);
	bool below = signature->table == TR_APITRACE_ENUMS && label->tag == TR_APITRACE_SINT;
	*value = (struct tr_value){
		.type = below ? TR_INT : TR_UINT,
		.flags = below ? TR_NEGATIVE : 0,
		.as.number = label->number,
	};
	return true;
}

static bool add_labels(const struct tr_apitrace_signature *signature, struct tr_record *record)
{
	struct tr_value *values = tr_arena_alloc(record->arena, signature->count * sizeof *values);
	struct tr_buffer key = TR_BUFFER_INIT;
	bool done = values;
	for (size_t i = 0; i < signature->count && done; i++) {
		const struct tr_apitrace_label *label = &signature->labels[i];
		struct tr_text spelled;
		if (signature->table == TR_APITRACE_FRAMES) {
			spelled = tr_text_from(frame_keys[label->tag]);
		} else {
			tr_buffer_reset(&key);
			tr_cell_escape(label->name, true, &key);
			spelled = tr_arena_copy(record->arena, tr_buffer_text(&key));
		}
		done = !key.failed && spelled.data &&
		       set_label(&values[i], signature, label, record->arena) &&
		       tr_record_add(record, spelled, &values[i]);
	}
	tr_buffer_free(&key);
	return done;
}

bool tr_apitrace_definition(const struct tr_apitrace_signature *signature, struct tr_record *record)
{
	enum { ID_MAX = 1 + 20 + 1 };
	char *id = tr_arena_alloc(record->arena, ID_MAX);
	if (!id)
		return false;
	int len = snprintf(id, ID_MAX, "%c%" PRIu64, tr_apitrace_letters[signature->table],
			   signature->id);
	record->type = TR_DEFINITION;
	record->canonical = true;
	record->split = true;
	record->kind = tr_text_from(tr_apitrace_words[signature->table]);
	record->task = (struct tr_cell){ .type = TR_CELL_TEXT, .text = { id, (size_t)len } };
	if (signature->table != TR_APITRACE_FUNCTIONS && signature->table != TR_APITRACE_STRUCTS)
		return add_labels(signature, record);
	struct tr_buffer cell = TR_BUFFER_INIT;
	tr_cell_escape(signature->name, false, &cell);
	record->name = (struct tr_cell){ .type = TR_CELL_TEXT };
	if (!cell.failed)
		record->name.text = tr_arena_copy(record->arena, tr_buffer_text(&cell));
	tr_buffer_free(&cell);
	bool function = signature->table == TR_APITRACE_FUNCTIONS;
	return record->name.text.data &&
	       add_names(signature, function ? "args" : "members", record);
}

static enum tr_status wrong(struct tr_error *err, const char *what, struct tr_text where)
{
	tr_error_set(err, TR_CAUSE_INPUT, "definition: %s: %.*s", what,
		     (int)(where.len < 80 ? where.len : 80), where.data);
	return TR_WARN;
}

static enum tr_status string_bytes(const struct tr_value *value, struct tr_text where,
				   struct tr_arena *arena, struct tr_text *bytes,
				   struct tr_error *err)
{
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return wrong(err, "not a string", where);
	*bytes = tr_string_bytes(value->text, arena);
	return bytes->data || !value->text.len ? TR_OK : tr_error_memory(err);
}

/* Labels of functions and structures: a list of strings. */
static enum tr_status read_names(struct tr_record *record, const char *key,
				 struct tr_apitrace_signature *draft, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *list = field ? tr_field_value(record, field, err) : NULL;
	if (!field)
		return wrong(err, "a field is missing", tr_text_from(key));
	if (!list)
		return err && err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (list->type != TR_LIST || list->flags & TR_CUT)
		return wrong(err, "not a list", tr_text_from(key));
	draft->labels = tr_arena_alloc(record->arena, list->count * sizeof *draft->labels);
	if (!draft->labels)
		return tr_error_memory(err);
	draft->count = list->count;
	for (size_t i = 0; i < list->count; i++) {
		draft->labels[i] = (struct tr_apitrace_label){ 0 };
		enum tr_status status = string_bytes(&list->as.items[i], tr_text_from(key),
						     record->arena, &draft->labels[i].name, err);
		if (status != TR_OK)
			return status;
	}
	return TR_OK;
}

static enum tr_status read_frame_part(struct tr_record *record, const struct tr_field *field,
				      const struct tr_value *value, struct tr_apitrace_label *label,
				      struct tr_error *err)
{
	uint8_t tag = TR_APITRACE_FRAME_MODULE;
	while (tag < FRAME_PARTS && !tr_text_is(field->key, frame_keys[tag]))
		tag++;
	if (tag == FRAME_PARTS)
		return wrong(err, "no part of a frame", field->key);
	label->tag = tag;
	if (tag <= TR_APITRACE_FRAME_FILE)
		return string_bytes(value, field->key, record->arena, &label->name, err);
	if (value->type != TR_UINT)
		return wrong(err, "not a number", field->key);
	label->number = value->as.number;
	return TR_OK;
}

static enum tr_status read_constant(struct tr_record *record, const struct tr_field *field,
				    const struct tr_value *value, bool is_enum,
				    struct tr_apitrace_label *label, struct tr_error *err)
{
	bool below = value->type == TR_INT && value->flags & TR_NEGATIVE;
	if (value->type != TR_UINT && !(is_enum && below))
		return wrong(err, "not a number", field->key);
	label->number = value->as.number;
	if (is_enum)
		label->tag = below ? TR_APITRACE_SINT : TR_APITRACE_UINT;
	struct tr_error why;
	tr_error_clear(&why);
	if (tr_cell_bytes(field->key, record->arena, &label->name, &why))
		return TR_OK;
	if (why.cause == TR_CAUSE_MEMORY)
		return tr_error_memory(err);
	return wrong(err, why.text, field->key);
}

/* Labels of the others: a field each. */
static enum tr_status read_fields(struct tr_record *record, struct tr_apitrace_signature *draft,
				  struct tr_error *err)
{
	enum tr_status status = TR_OK;
	draft->labels = tr_arena_alloc(record->arena, record->count * sizeof *draft->labels);
	if (!draft->labels)
		return tr_error_memory(err);
	draft->count = record->count;
	for (size_t i = 0; i < record->count && status == TR_OK; i++) {
		struct tr_field *field = &record->fields[i];
		struct tr_value *value = tr_field_value(record, field, err);
		if (!value)
			return err && err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
		draft->labels[i] = (struct tr_apitrace_label){ 0 };
		if (draft->table == TR_APITRACE_FRAMES)
			status = read_frame_part(record, field, value, &draft->labels[i], err);
		else
			status = read_constant(record, field, value,
					       draft->table == TR_APITRACE_ENUMS, &draft->labels[i],
					       err);
	}
	return status;
}

static bool read_id(const struct tr_cell *cell, char letter, uint64_t *id)
{
	if (cell->type != TR_CELL_TEXT || cell->text.len < 2 || *cell->text.data != letter)
		return false;
	struct tr_cell digits = { .type = TR_CELL_TEXT,
				  .text = { cell->text.data + 1, cell->text.len - 1 } };
	return tr_cell_number(&digits, id);
}

enum tr_status tr_apitrace_draft(struct tr_record *record, struct tr_apitrace_signature *draft,
				 struct tr_error *err)
{
	unsigned table = 0;
	while (table < TR_APITRACE_TABLES && !tr_text_is(record->kind, tr_apitrace_words[table]))
		table++;
	if (table == TR_APITRACE_TABLES)
		return TR_END;
	*draft = (struct tr_apitrace_signature){ .table = (enum tr_apitrace_table)table };
	struct tr_text id = record->task.text;
	if (!read_id(&record->task, tr_apitrace_letters[table], &draft->id))
		return wrong(err, "no id of its kind", id);
	enum tr_status status = tr_record_split(record, err);
	if (status != TR_OK)
		return status;
	bool function = table == TR_APITRACE_FUNCTIONS;
	if (!function && table != TR_APITRACE_STRUCTS)
		return read_fields(record, draft, err);
	struct tr_error why;
	tr_error_clear(&why);
	if (record->name.type != TR_CELL_TEXT)
		return wrong(err, "a name is missing", id);
	if (!tr_cell_bytes(record->name.text, record->arena, &draft->name, &why)) {
		if (why.cause == TR_CAUSE_MEMORY)
			return tr_error_memory(err);
		return wrong(err, why.text, record->name.text);
	}
	return read_names(record, function ? "args" : "members", draft, err);
}
