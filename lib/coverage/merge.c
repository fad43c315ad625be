#include <stdlib.h>
#include <string.h>

#include "coverage/merge_line.h"
#include "coverage/merge_private.h"
#include "record/literal.h"

struct tr_merge *tr_merge_new(void)
{
	struct tr_merge *merge = calloc(1, sizeof *merge);

	if (merge)
		merge->program = tr_ranges_new();
	if (!merge || merge->program)
		return merge;
	free(merge);
	return NULL;
}

void tr_merge_free(struct tr_merge *merge)
{
	if (!merge)
		return;
	tr_ranges_free(merge->program);
	tr_merge_units_free(merge->units);
	tr_merge_modules_free(merge->modules);
	for (size_t i = 0; i < merge->object_count; i++) {
		tr_ranges_free(merge->objects[i].ranges);
		free((char *)(uintptr_t)merge->objects[i].key.data);
	}
	free(merge->objects);
	tr_map_free(&merge->by_key);
	tr_map_free(&merge->programs);
	tr_layout_free(&merge->layout);
	tr_buffer_free(&merge->infos);
	tr_buffer_free(&merge->text);
	tr_arena_free(&merge->arena);
	free(merge);
}

static enum tr_status left_out(struct tr_error *err, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "left out: %s", what);
	return TR_WARN;
}

/* The canonical spelling of a field, in the record's arena; empty where it is absent. */
static enum tr_status spelled(struct tr_merge *merge, struct tr_record *record, const char *key,
			      struct tr_text *spelling, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, err) : NULL;

	*spelling = TR_TEXT("");
	if (field && !value)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (!value)
		return TR_OK;
	tr_buffer_reset(&merge->text);
	tr_literal_write(value, &merge->text);
	*spelling = tr_arena_copy(record->arena, tr_buffer_text(&merge->text));
	return merge->text.failed || !spelling->data ? tr_error_memory(err) : TR_OK;
}

static enum tr_status read_form(struct tr_merge *merge, struct tr_record *record,
				struct tr_merge_section *form, struct tr_error *err)
{
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = spelled(merge, record, "bits", &form->bits, err);
	if (status == TR_OK)
		status = spelled(merge, record, "endian", &form->endian, err);
	if (status == TR_OK)
		status = spelled(merge, record, "machine", &form->machine, err);
	return status;
}

static bool keep_form(struct tr_merge *merge, const struct tr_merge_section *form)
{
	merge->section.bits = tr_arena_copy(&merge->arena, form->bits);
	merge->section.endian = tr_arena_copy(&merge->arena, form->endian);
	merge->section.machine = tr_arena_copy(&merge->arena, form->machine);
	merge->has_infos = true;
	return merge->section.bits.data && merge->section.endian.data && merge->section.machine.data;
}

/* A section of entries: of the first trace it says how all have to be. */
static enum tr_status begin_entries(struct tr_merge *merge, struct tr_record *record,
				    struct tr_error *err)
{
	struct tr_merge_section form;

	if (tr_text_is(record->name.text, "DECISION_MAP")) {
		merge->left_out = true;
		return left_out(err, "a decision map is no execution trace");
	}
	enum tr_status status = read_form(merge, record, &form, err);
	if (status != TR_OK)
		return status;
	if (!merge->has_infos)
		return keep_form(merge, &form) ? TR_OK : tr_error_memory(err);
	if (tr_text_equal(form.machine, merge->section.machine) &&
	    tr_text_equal(form.bits, merge->section.bits))
		return TR_OK;
	merge->left_out = true;
	return left_out(err, "a trace of another machine than the first");
}

static enum tr_status put_section(struct tr_merge *merge, struct tr_record *record,
				  struct tr_error *err)
{
	if (record->name.type != TR_CELL_TEXT)
		return left_out(err, "a section without a name");
	bool info = tr_text_is(record->name.text, "INFO");
	tr_layout_section(&merge->layout, info || !merge->in_info);
	merge->in_info = info;
	merge->left_out = false;
	return info ? TR_OK : begin_entries(merge, record, err);
}

/* The first trace has this line, which names its program. */
static bool keep_program(struct tr_merge *merge, struct tr_text line)
{
	if (tr_map_get(&merge->programs, line))
		return true;
	line = tr_arena_copy(&merge->arena, line);
	return line.data && tr_map_put(&merge->programs, line, merge);
}

/* The name of a program that is not the first one's: said once. */
static enum tr_status other_program(struct tr_merge *merge, struct tr_text line,
				    struct tr_error *err)
{
	if (merge->told_other || tr_map_get(&merge->programs, line))
		return TR_OK;
	merge->told_other = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "a trace of another program than the first: merged all the same");
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status put_info(struct tr_merge *merge, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_text line;
	enum tr_status status = tr_layout_info(&merge->layout, record, err);

	if (status != TR_OK || record->name.type != TR_CELL_TEXT)
		return status;
	bool kernel = tr_text_is(record->name.text, "KERNEL_FILE_NAME");
	bool name = tr_text_is(record->name.text, "EXEC_FILE_NAME");
	if (kernel || (merge->has_infos && !name))
		return TR_OK;
	status = tr_merge_columns(record, 2, &merge->text, &line, err);
	if (status != TR_OK)
		return status;
	if (merge->has_infos)
		return other_program(merge, line, err);
	tr_buffer_put_text(&merge->infos, line);
	if (merge->infos.failed || (name && !keep_program(merge, line)))
		return tr_error_memory(err);
	return TR_OK;
}

/* A new object of that key. NULL: memory. */
static struct tr_merge_object *add_object(struct tr_merge *merge, struct tr_text key, uint64_t base)
{
	if (merge->object_count == merge->object_cap) {
		size_t cap = merge->object_cap ? merge->object_cap * 2 : 16;
		struct tr_merge_object *objects = realloc(merge->objects, cap * sizeof *objects);
		if (!objects)
			return NULL;
		merge->objects = objects;
		merge->object_cap = cap;
	}
	struct tr_merge_object *object = &merge->objects[merge->object_count];
	char *copy = malloc(key.len);
	*object = (struct tr_merge_object){ { copy, key.len }, base, tr_ranges_new() };
	if (copy)
		memcpy(copy, key.data, key.len);
	if (copy && object->ranges &&
	    tr_map_put(&merge->by_key, object->key, (void *)(merge->object_count + 1))) {
		merge->object_count++;
		return object;
	}
	free(copy);
	tr_ranges_free(object->ranges);
	return NULL;
}

static enum tr_status put_load(struct tr_merge *merge, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_loaded_object loaded;
	struct tr_text key;
	enum tr_status status = tr_merge_columns(record, 5, &merge->text, &key, err);

	if (status != TR_OK)
		return status;
	size_t id = (size_t)tr_map_get(&merge->by_key, key);
	status = tr_layout_load(&merge->layout, record, id ? id : merge->object_count + 1, &loaded,
				err);
	if (status != TR_OK || id)
		return status;
	return add_object(merge, key, loaded.first) ? TR_OK : tr_error_memory(err);
}

static enum tr_status put_block(struct tr_merge *merge, struct tr_record *record,
				struct tr_error *err)
{
	const struct tr_object *object;
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	if (status != TR_OK || merge->left_out || block.op == TR_EXEC_SPECIAL)
		return status;
	if (merge->digits && block.digits != merge->digits)
		return left_out(err, "an address of another width than those before");
	merge->digits = block.digits;
	if (!tr_layout_place(&merge->layout, &block, &object))
		return TR_OK;
	struct tr_range range = { block.address, tr_block_last(&block), block.op };
	/* gnatcov takes an empty block at 0 for all of memory, which no trace can say */
	if (!block.size || range.last < range.first) /* a fault in a known block is no news */
		return block.op == TR_EXEC_FAULT ? TR_OK : left_out(err, "an empty block");
	if (!object)
		return tr_ranges_add(merge->program, range) ? TR_OK : tr_error_memory(err);
	/* what lies behind an object's end would be another's, or nobody's, when it is read again
	 */
	bool beyond = range.last > object->last - object->first;
	if (beyond)
		range.last = object->last - object->first;
	if (!tr_ranges_add(merge->objects[object->id - 1].ranges, range))
		return tr_error_memory(err);
	return beyond ? left_out(err, "the part of a block after the end of its shared object")
		      : TR_OK;
}

static enum tr_status put_execution(struct tr_merge *merge, struct tr_record *record,
				 struct tr_error *err)
{
	uint64_t address;
	uint8_t digits;

	if (tr_text_is(record->kind, "block"))
		return put_block(merge, record, err);
	if (tr_text_is(record->kind, "section"))
		return put_section(merge, record, err);
	if (tr_text_is(record->kind, "info"))
		return put_info(merge, record, err);
	if (merge->left_out)
		return TR_OK;
	if (tr_text_is(record->kind, "load"))
		return put_load(merge, record, err);
	bool unload = tr_text_is(record->kind, "unload");
	if (!unload && !tr_text_is(record->kind, "loadaddr"))
		return TR_OK;
	if (!tr_address_read(&record->name, &address, &digits))
		return left_out(err, "no address of 8 or 16 digits");
	if (unload)
		tr_layout_unload(&merge->layout, address);
	else
		tr_layout_loadaddr(&merge->layout, address);
	return TR_OK;
}

/* By the name of the format where the header has it. */
static enum tr_merge_form form_of_header(struct tr_record *header)
{
	struct tr_field *format = tr_record_field(header, "format");

	if (!format)
		return TR_MERGE_UNKNOWN;
	return tr_text_is(format->text, "srctrace") ? TR_MERGE_UNITS
	       : tr_text_is(format->text, "drcov")  ? TR_MERGE_MODULES
	       : tr_text_is(format->text, "gnatcov") ? TR_MERGE_EXECUTION
						     : TR_MERGE_UNKNOWN;
}

/* By a record; information comes after a section, but not in source traces. */
static enum tr_merge_form form_of_record(struct tr_record *record)
{
	if (tr_text_is(record->kind, "unit") || tr_text_is(record->kind, "info"))
		return TR_MERGE_UNITS;
	if (tr_text_is(record->kind, "module") ||
	    (tr_text_is(record->kind, "block") && tr_record_field(record, "module")))
		return TR_MERGE_MODULES;
	return tr_text_is(record->kind, "section") || tr_text_is(record->kind, "block") ||
			       tr_text_is(record->kind, "load") ||
			       tr_text_is(record->kind, "loadaddr")
		       ? TR_MERGE_EXECUTION
		       : TR_MERGE_UNKNOWN;
}

static enum tr_status other_form(enum tr_merge_form form, struct tr_error *err)
{
	static const char *const names[] = { "", "an execution trace (gnatcov)",
					     "a source trace (srctrace)", "a drcov trace" };

	tr_error_set(err, TR_CAUSE_INPUT, "left out: the first trace is %s, and this is none",
		     names[form]);
	return TR_WARN;
}

/* The form of the segment is known; header is NULL where it has none. */
static enum tr_status begin_segment(struct tr_merge *merge, enum tr_merge_form form,
				    struct tr_record *header, struct tr_error *err)
{
	merge->segment = form;
	if (!merge->form)
		merge->form = form;
	merge->passes = form != merge->form;
	if (merge->passes)
		return other_form(merge->form, err);
	if (form == TR_MERGE_UNITS) {
		if (!merge->units && !(merge->units = tr_merge_units_new()))
			return tr_error_memory(err);
		return tr_merge_units_begin(merge->units, header, err);
	}
	if (form == TR_MERGE_MODULES) {
		if (!merge->modules && !(merge->modules = tr_merge_modules_new()))
			return tr_error_memory(err);
		return tr_merge_modules_begin(merge->modules, header, err);
	}
	return TR_OK;
}

/* A record before any that says what kind of trace it is in. */
static enum tr_status put_unknown(struct tr_merge *merge, struct tr_record *record,
				  struct tr_error *err)
{
	static const char *const context[] = { "meta", "env", "envset", "raw", "lost" };

	for (size_t i = 0; i < sizeof context / sizeof *context; i++)
		if (tr_text_is(record->kind, context[i]))
			return TR_OK;
	if (merge->told_none)
		return TR_OK;
	merge->told_none = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "left out: records of kind %.*s: what can be merged is gnatcov, srctrace and "
		     "drcov",
		     (int)(record->kind.len < 40 ? record->kind.len : 40), record->kind.data);
	return TR_WARN;
}

static enum tr_status put_record(struct tr_merge *merge, struct tr_record *record,
				 struct tr_error *err)
{
	if (!merge->segment) {
		enum tr_merge_form form = form_of_record(record);
		if (!form)
			return put_unknown(merge, record, err);
		enum tr_status status = begin_segment(merge, form, NULL, err);
		if (status != TR_OK)
			return status;
	}
	if (merge->passes)
		return TR_OK;
	if (merge->form == TR_MERGE_UNITS)
		return tr_merge_units_put(merge->units, record, err);
	if (merge->form == TR_MERGE_MODULES)
		return tr_merge_modules_put(merge->modules, record, err);
	return put_execution(merge, record, err);
}

enum tr_status tr_merge_put(struct tr_merge *merge, struct tr_record *record, struct tr_error *err)
{
	if (record->type == TR_RECORD)
		return put_record(merge, record, err);
	if (record->type != TR_HEADER && record->type != TR_TRAILER)
		return TR_OK;
	tr_layout_section(&merge->layout, true);
	merge->in_info = merge->left_out = merge->passes = false;
	merge->segment = TR_MERGE_UNKNOWN;
	if (record->type != TR_HEADER)
		return TR_OK;
	if (tr_record_split(record, NULL) == TR_FATAL)
		return tr_error_memory(err);
	enum tr_merge_form form = form_of_header(record);
	return form ? begin_segment(merge, form, record, err) : TR_OK;
}
