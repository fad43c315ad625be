/* SPDX-License-Identifier: MIT */
/*
 * The tables of signatures, and signatures as definition records.
 *
 *	tr_apitrace_define	a draft -> a signature with its spellings; reader and writer
 *	tr_apitrace_definition	a signature -> a record (%fn, %struct, %enum, %mask, %frame); reader
 *	tr_apitrace_draft	such a record -> a draft; writer
 *
 * A draft borrows its texts from the window or from a record. tr_apitrace_define copies them, and
 * spells once what every later record repeats: keys of arguments, names of functions and constants.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/buffer.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/signature.h"
#include "record/literal.h"

/* The words and letters of the tables, in the order of enum tr_apitrace_table: "%fn F17 ...". */
const char *const tr_apitrace_words[TR_APITRACE_TABLES] = { "fn", "struct", "enum", "mask",
							    "frame" };
const char tr_apitrace_letters[TR_APITRACE_TABLES + 1] = "FSEMK";

void tr_apitrace_signatures_free(struct tr_apitrace_signatures *signatures)
{
	for (unsigned i = 0; i < TR_APITRACE_TABLES; i++) {
		struct tr_apitrace_signature *signature;
		size_t position = 0;
		while ((signature = tr_id_map_next(&signatures->tables[i], &position))) {
			tr_id_map_free(&signature->values);
			tr_map_free(&signature->names);
		}
		tr_id_map_free(&signatures->tables[i]);
	}
	tr_map_free(&signatures->functions);
	tr_arena_free(&signatures->arena);
	memset(signatures->few, 0, sizeof signatures->few);
}

bool tr_apitrace_index_enum(struct tr_apitrace_signature *signature)
{
	for (size_t i = signature->count; i-- > 0;) {
		struct tr_apitrace_label *label = &signature->labels[i];
		uint64_t key = tr_apitrace_enum_key(label->tag == TR_APITRACE_SINT, label->number);
		/* backwards: of equal ones the first counts */
		if (!tr_id_map_put(&signature->values, key, label))
			return false;
	}
	return true;
}

struct tr_apitrace_signature *tr_apitrace_function(const struct tr_apitrace_signatures *signatures,
						   struct tr_text name)
{
	return tr_map_get(&signatures->functions, name);
}

/* Returns the text as a key of tr_map, which needs data: a function may have an empty name. */
static struct tr_text present(struct tr_text text)
{
	return text.data ? text : TR_TEXT("");
}

/* Copies all texts of the draft to `to`, and returns their end. */
static char *copy_texts(const struct tr_apitrace_signature *draft, char *to,
			struct tr_apitrace_signature *signature)
{
	for (size_t i = 0; i <= draft->count; i++) {
		bool last = i == draft->count;
		struct tr_text from = last ? draft->name : draft->labels[i].name;
		if (from.len)
			memcpy(to, from.data, from.len);
		*(last ? &signature->name : &signature->labels[i].name) =
			(struct tr_text){ to, from.len };
		to += from.len;
	}
	return to;
}

/*
 * Copies a draft: a signature, its labels and all their texts are one block of memory. The size is
 * checked for overflow, because the number of labels comes from the input. NULL: memory is
 * exhausted.
 */
static struct tr_apitrace_signature *copy(struct tr_arena *arena,
					  const struct tr_apitrace_signature *draft)
{
	size_t bytes = draft->name.len;
	for (size_t i = 0; i < draft->count; i++)
		bytes += draft->labels[i].name.len;
	if (draft->count > (SIZE_MAX / 2 - sizeof *draft - bytes) / sizeof *draft->labels)
		return NULL;
	size_t labels = draft->count * sizeof *draft->labels;
	struct tr_apitrace_signature *signature =
		tr_arena_alloc(arena, sizeof *signature + labels + bytes);
	if (!signature)
		return NULL;
	*signature = (struct tr_apitrace_signature){
		.table = draft->table,
		.id = draft->id,
		.count = draft->count,
		.labels = (struct tr_apitrace_label *)(signature + 1),
	};
	for (size_t i = 0; i < draft->count; i++)
		signature->labels[i] = (struct tr_apitrace_label){
			.number = draft->labels[i].number,
			.tag = draft->labels[i].tag,
		};
	copy_texts(draft, (char *)(signature + 1) + labels, signature);
	return signature;
}

/*
 * Sets `plain` for the arguments whose names can be keys. A key identifies one argument, so a name
 * that occurs twice cannot be one, nor an empty name or `return`, which is the key of the result.
 * False: memory is exhausted.
 */
static bool mark_keys(struct tr_apitrace_signature *function)
{
	struct tr_map names = TR_MAP_INIT;
	bool done = true;
	for (size_t i = 0; i < function->count && done; i++) {
		struct tr_apitrace_label *label = &function->labels[i], *first;
		label->plain = label->name.len && !tr_text_is(label->name, "return");
		first = tr_map_get(&names, label->name);
		if (first)
			first->plain = label->plain = false;
		else
			done = tr_map_put(&names, label->name, label);
	}
	tr_map_free(&names);
	return done;
}

/* Keeps a text with slack after it, and empties the buffer. False: memory is exhausted. */
static bool keep(struct tr_arena *arena, struct tr_buffer *text, struct tr_text *kept)
{
	static const char slack[TR_APITRACE_LEAD_SLACK];
	size_t len = text->len;
	tr_buffer_put(text, slack, sizeof slack);
	*kept = text->failed ? (struct tr_text){ NULL, 0 }
			     : tr_arena_copy(arena, tr_buffer_text(text));
	kept->len = len;
	tr_buffer_reset(text);
	return kept->data;
}

/* Spells the name as the column of a record. */
static bool spell_cell(struct tr_arena *arena, struct tr_apitrace_signature *signature)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	tr_cell_escape(signature->name, false, &text);
	bool done = keep(arena, &text, &signature->cell);
	tr_buffer_free(&text);
	return done;
}

/*
 * Spells the keys of arguments, each within its lead. An argument whose name cannot be a key is
 * "#N", where N is its number.
 */
static bool spell_arguments(struct tr_arena *arena, struct tr_apitrace_signature *function)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	function->leads = tr_arena_alloc(arena, function->count * sizeof *function->leads);
	bool done = function->leads;
	for (size_t i = 0; i < function->count && done; i++) {
		struct tr_apitrace_label *label = &function->labels[i];
		struct tr_text *lead = &function->leads[i];
		tr_buffer_put_byte(&text, '\t');
		if (label->plain) {
			tr_cell_escape(label->name, true, &text);
		} else {
			tr_buffer_put_byte(&text, '#');
			tr_buffer_put_decimal(&text, i);
		}
		tr_buffer_put_byte(&text, '=');
		done = keep(arena, &text, lead);
		label->key = (struct tr_text){ lead->data + 1, lead->len - 2 };
	}
	tr_buffer_free(&text);
	return done;
}

/*
 * Spells the keys of members and constants. Nearly all equal the names, and need no bytes of their
 * own.
 */
static bool spell_keys(struct tr_arena *arena, struct tr_apitrace_signature *signature)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	bool done = true;
	for (size_t i = 0; i < signature->count && done; i++) {
		struct tr_apitrace_label *label = &signature->labels[i];
		tr_buffer_reset(&text);
		label->plain = tr_string_escape(label->name, &text);
		label->key =
			label->plain ? label->name : tr_arena_copy(arena, tr_buffer_text(&text));
		done = !text.failed && label->key.data;
	}
	tr_buffer_free(&text);
	return done;
}

/*
 * Spells what comes before the value of each member of a structure, in a record and in apitrace's
 * dump, and what comes after the last one. In a record only words need no quotes. The dump has
 * special forms for GUIDs and for members without a name; names with escapes are rare.
 */
static bool spell_members(struct tr_arena *arena, struct tr_apitrace_signature *structure)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	size_t count = structure->count;
	structure->leads = tr_arena_alloc(arena, 2 * count * sizeof *structure->leads);
	structure->dump_leads = structure->leads ? structure->leads + count : NULL;
	bool done = structure->leads;
	structure->dumps_plainly = !tr_text_is(structure->name, "GUID");
	for (size_t i = 0; i < structure->count && done; i++) {
		struct tr_apitrace_label *label = &structure->labels[i];
		bool word = tr_is_word(label->key, false);
		tr_buffer_put_byte(&text, i ? ',' : '{');
		if (!word)
			tr_buffer_put_byte(&text, '"');
		tr_buffer_put_text(&text, label->key);
		if (!word)
			tr_buffer_put_byte(&text, '"');
		tr_buffer_put_byte(&text, '=');
		done = keep(arena, &text, &structure->leads[i]);
		tr_buffer_put_text(&text, i ? TR_TEXT(", ") : TR_TEXT("{"));
		tr_buffer_put_text(&text, label->name);
		tr_buffer_put_literal(&text, " = ");
		done = done && keep(arena, &text, &structure->dump_leads[i]);
		structure->dumps_plainly &= label->plain && label->name.len;
		structure->named += label->key.len;
	}
	tr_buffer_put_literal(&text, "}@S");
	tr_buffer_put_decimal(&text, structure->id);
	done = done && keep(arena, &text, &structure->tail);
	tr_buffer_free(&text);
	return done;
}

/* Spells once what every record with this signature repeats. */
static bool spell(struct tr_arena *arena, struct tr_apitrace_signature *signature)
{
	switch (signature->table) {
	case TR_APITRACE_FUNCTIONS:
		return mark_keys(signature) && spell_cell(arena, signature) &&
		       spell_arguments(arena, signature);
	case TR_APITRACE_STRUCTS:
		return spell_cell(arena, signature) && spell_keys(arena, signature) &&
		       spell_members(arena, signature);
	case TR_APITRACE_FRAMES:
		return true;
	default:
		return spell_keys(arena, signature);
	}
}

/* A second function of the same name is marked `again`, so that its records state their id. */
struct tr_apitrace_signature *tr_apitrace_define(struct tr_apitrace_signatures *signatures,
						 const struct tr_apitrace_signature *draft)
{
	struct tr_apitrace_signature *signature = copy(&signatures->arena, draft);
	if (!signature || !spell(&signatures->arena, signature))
		return NULL;
	if (draft->table == TR_APITRACE_FUNCTIONS) {
		struct tr_text name = present(signature->name);
		signature->again = tr_map_get(&signatures->functions, name);
		if (!signature->again && !tr_map_put(&signatures->functions, name, signature))
			return NULL;
	}
	if (!tr_id_map_put(&signatures->tables[draft->table], draft->id, signature)) {
		/* the name must not lead to a function that its id does not lead to */
		if (draft->table == TR_APITRACE_FUNCTIONS && !signature->again)
			tr_map_take(&signatures->functions, signature->name);
		return NULL;
	}
	if (draft->id < TR_APITRACE_FEW)
		signatures->few[draft->table][draft->id] = signature;
	return signature;
}

bool tr_apitrace_signature_equal(const struct tr_apitrace_signature *a,
				 const struct tr_apitrace_signature *b)
{
	if (a->table != b->table || a->id != b->id || a->count != b->count ||
	    !tr_text_equal(a->name, b->name))
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct tr_apitrace_label *x = &a->labels[i], *y = &b->labels[i];
		if (x->number != y->number || x->tag != y->tag || !tr_text_equal(x->name, y->name))
			return false;
	}
	return true;
}

/* Signatures as definition records. */

/* The keys of a frame's parts, by enum tr_apitrace_frame. */
static const char *const frame_keys[] = {
	[TR_APITRACE_FRAME_MODULE] = "module", [TR_APITRACE_FRAME_FUNCTION] = "function",
	[TR_APITRACE_FRAME_FILE] = "file",     [TR_APITRACE_FRAME_LINE] = "line",
	[TR_APITRACE_FRAME_OFFSET] = "offset",
};

enum { FRAME_PARTS = sizeof frame_keys / sizeof *frame_keys };

/* Makes a string value in the arena. False: memory is exhausted. */
static bool set_string(struct tr_value *value, struct tr_text bytes, struct tr_arena *arena)
{
	struct tr_buffer spelling = TR_BUFFER_INIT;
	*value = (struct tr_value){ .type = TR_STRING };
	value->flags = tr_string_escape(bytes, &spelling) ? TR_PLAIN : 0;
	if (!spelling.failed)
		value->text = tr_arena_copy(arena, tr_buffer_text(&spelling));
	tr_buffer_free(&spelling);
	return value->text.data;
}

/*
 * Adds the names of arguments or members as a list of strings. They are not keys of fields, because
 * their order is what matters, and a name may be empty or occur twice.
 */
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

/*
 * Sets the value of a constant, or of a part of a frame. A constant of an enum keeps the sign of
 * its tag: -0 is written again with the tag of a number below 0.
 */
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

/* Adds a field for each constant or part, NAME=NUMBER. */
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
	record->name = (struct tr_cell){ .type = TR_CELL_TEXT, .text = signature->cell };
	return add_names(signature, signature->table == TR_APITRACE_FUNCTIONS ? "args" : "members",
			 record);
}

/* Reports a bad definition; `where` is the text that it is about, of which 80 bytes are shown. */
static enum tr_status wrong(struct tr_error *err, const char *what, struct tr_text where)
{
	tr_error_set(err, TR_CAUSE_INPUT, "definition: %s: %.*s", what, TR_SHOWN(where, 80));
	return TR_WARN;
}

/* Decodes the escapes of a column or a key. TR_WARN: an escape is bad. */
static enum tr_status cell_bytes(struct tr_text cell, struct tr_arena *arena, struct tr_text *bytes,
				 struct tr_error *err)
{
	struct tr_error why;
	if (tr_cell_bytes(cell, arena, bytes, &why))
		return TR_OK;
	return why.cause == TR_CAUSE_MEMORY ? tr_error_memory(err) : wrong(err, why.text, cell);
}

/* Decodes the escapes of a string. One that was cut is refused: the name would be another one. */
static enum tr_status string_bytes(const struct tr_value *value, struct tr_text where,
				   struct tr_arena *arena, struct tr_text *bytes,
				   struct tr_error *err)
{
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return wrong(err, "not a string", where);
	*bytes = tr_string_bytes(value->text, arena);
	return bytes->data || !value->text.len ? TR_OK : tr_error_memory(err);
}

/* Reads the labels of functions and structures: a list of strings in the field `key`. */
static enum tr_status read_names(struct tr_record *record, const char *key,
				 struct tr_apitrace_signature *draft, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *list = field ? tr_field_value(record, field, err) : NULL;
	if (!field)
		return wrong(err, "a field is missing", tr_text_from(key));
	if (!list)
		return tr_error_status(err);
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

/* Reads a part of a stack frame: its key is one of frame_keys. */
static enum tr_status read_frame_part(struct tr_record *record, const struct tr_field *field,
				      const struct tr_value *value, struct tr_apitrace_label *label,
				      struct tr_error *err)
{
	uint8_t tag = TR_APITRACE_FRAME_MODULE;
	while (tag < FRAME_PARTS && !tr_text_is(field->key, frame_keys[tag]))
		tag++;
	if (tag == FRAME_PARTS)
		return wrong(err, "not a part of a frame", field->key);
	label->tag = tag;
	if (tag <= TR_APITRACE_FRAME_FILE)
		return string_bytes(value, field->key, record->arena, &label->name, err);
	if (value->type != TR_UINT)
		return wrong(err, "not a number", field->key);
	label->number = value->as.number;
	return TR_OK;
}

/* Reads a constant of an enum, or a flag of a mask, which cannot be below 0. */
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
	return cell_bytes(field->key, record->arena, &label->name, err);
}

/* Reads the labels of enums, masks and frames: each is a field of the record. */
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
			return tr_error_status(err);
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

bool tr_apitrace_read_id(struct tr_text word, char letter, uint64_t *id)
{
	struct tr_cell digits = { .type = TR_CELL_TEXT, .text = { word.data + 1, word.len - 1 } };
	return word.len > 1 && *word.data == letter && tr_cell_number(&digits, id);
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
	if (record->task.type != TR_CELL_TEXT ||
	    !tr_apitrace_read_id(id, tr_apitrace_letters[table], &draft->id))
		return wrong(err, "not an id of this kind", id);
	enum tr_status status = tr_record_split(record, err);
	if (status != TR_OK)
		return status;
	bool function = table == TR_APITRACE_FUNCTIONS;
	if (!function && table != TR_APITRACE_STRUCTS)
		return read_fields(record, draft, err);
	if (record->name.type != TR_CELL_TEXT)
		return wrong(err, "a name is missing", id);
	status = cell_bytes(record->name.text, record->arena, &draft->name, err);
	if (status != TR_OK)
		return status;
	return read_names(record, function ? "args" : "members", draft, err);
}
