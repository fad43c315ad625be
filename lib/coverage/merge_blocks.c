/* SPDX-License-Identifier: MIT */
/*
 * Merges execution traces by the rule of ranges.h. The result has each executed range once, sorted,
 * at its address in its own file.
 *
 *	section, info -> the first trace's, the others are compared
 *	block, load ... -> layout.h -> ranges of the program and of each shared object -> records
 *
 *  - The information is that of the first trace, without the kernel's name: its load address
 *    is subtracted.
 *  - Shared objects stay separate: each is loaded once, at its first address, has its blocks,
 *    and is unloaded. Two objects are the same if all that is stated about them is the same.
 *  - Traces of another machine or width are left out, and so are decision maps, which record no
 *    execution.
 */
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "coverage/layout.h"
#include "coverage/merge_private.h"
#include "coverage/ranges.h"
#include "record/ask.h"
#include "record/literal.h"

/* A shared object. */
struct object {
	struct tr_text key; /* all fields of its load records, with the TABs between them and LF */
	uint64_t base;
	struct tr_ranges *ranges;
};

/* The form of a trace: fields of its section of entries, spelled. */
enum { BITS, ENDIAN, MACHINE, FORM };
static const char *const form_keys[FORM] = { "bits", "endian", "machine" };

struct merge {
	struct tr_ranges *program;
	struct object *objects;
	size_t object_count, object_cap;
	struct tr_map by_key; /* to index + 1 */
	struct tr_layout layout;

	struct tr_buffer infos;	   /* of the first trace, for tr_merge_infos */
	struct tr_map programs;	   /* the infos that name its program, as a set */
	bool has_infos;		   /* the first trace has begun with its entries */
	struct tr_text form[FORM]; /* of the first trace; other traces must have the same */
	struct tr_arena arena;	   /* of keys, programs and form */
	uint8_t digits;		   /* of all addresses; 0: none was seen */

	bool in_info;	       /* this section is INFO */
	bool left_out;	       /* this section is not an execution, or of another machine */
	bool reported_other;   /* a trace of another program was reported */
	struct tr_buffer text; /* scratch */
};

/* Frees what the merge holds. */
static void discard(void *self)
{
	struct merge *merge = self;

	tr_ranges_free(merge->program);
	for (size_t i = 0; i < merge->object_count; i++)
		tr_ranges_free(merge->objects[i].ranges);
	free(merge->objects);
	tr_map_free(&merge->by_key);
	tr_map_free(&merge->programs);
	tr_layout_free(&merge->layout);
	tr_buffer_free(&merge->infos);
	tr_buffer_free(&merge->text);
	tr_arena_free(&merge->arena);
}

/*
 * Begins a trace: forgets the objects and sections of the one before. The merged trace needs
 * nothing of the header.
 */
static enum tr_status begin(void *self, struct tr_record *header, struct tr_error *err)
{
	struct merge *merge = self;

	(void)header;
	if (!merge->program && !(merge->program = tr_ranges_new()))
		return tr_error_memory(err);
	tr_layout_section(&merge->layout, true);
	merge->in_info = merge->left_out = false;
	return TR_OK;
}

/* Reads the form of a trace; the texts are in the record's arena, and empty for absent fields. */
static enum tr_status read_form(struct merge *merge, struct tr_record *record,
				struct tr_text form[FORM], struct tr_error *err)
{
	for (int i = 0; i < FORM; i++) {
		const struct tr_value *value;
		enum tr_status status = tr_field_find(record, form_keys[i], &value, err);
		if (status != TR_OK)
			return status;
		tr_buffer_reset(&merge->text);
		if (value)
			tr_literal_write(value, &merge->text);
		form[i] = tr_arena_copy(record->arena, tr_buffer_text(&merge->text));
		if (merge->text.failed || !form[i].data)
			return tr_error_memory(err);
	}
	return TR_OK;
}

/* Begins a section of entries. The first one determines the form of all traces. */
static enum tr_status begin_entries(struct merge *merge, struct tr_record *record,
				    struct tr_error *err)
{
	struct tr_text form[FORM];

	if (tr_text_is(record->name.text, "DECISION_MAP")) {
		merge->left_out = true;
		return tr_merge_left_out(err, "a decision map is not an execution trace");
	}
	enum tr_status status = read_form(merge, record, form, err);
	if (status != TR_OK)
		return status;
	for (int i = 0; i < FORM && !merge->has_infos; i++) {
		merge->form[i] = tr_arena_copy(&merge->arena, form[i]);
		if (!merge->form[i].data)
			return tr_error_memory(err);
	}
	merge->has_infos = true;
	merge->left_out = !tr_text_equal(form[MACHINE], merge->form[MACHINE]) ||
			  !tr_text_equal(form[BITS], merge->form[BITS]);
	return merge->left_out ? tr_merge_left_out(err, "a trace for another machine than the "
							"first")
			       : TR_OK;
}

/* Follows a section: INFO, whose entries come next, or entries. */
static enum tr_status put_section(struct merge *merge, struct tr_record *record,
				  struct tr_error *err)
{
	if (record->name.type != TR_CELL_TEXT)
		return tr_merge_left_out(err, "a section without a name");
	bool info = tr_text_is(record->name.text, "INFO");
	tr_layout_section(&merge->layout, info || !merge->in_info);
	merge->in_info = info;
	merge->left_out = false;
	return info ? TR_OK : begin_entries(merge, record, err);
}

/*
 * Keeps an information entry of the first trace, and compares the name of the program in the
 * others.
 */
static enum tr_status put_info(struct merge *merge, struct tr_record *record, struct tr_error *err)
{
	struct tr_text line;
	enum tr_status status = tr_layout_info(&merge->layout, record, err);

	if (status != TR_OK || record->name.type != TR_CELL_TEXT)
		return status;
	bool kernel = tr_text_is(record->name.text, "KERNEL_FILE_NAME");
	bool name = tr_text_is(record->name.text, "EXEC_FILE_NAME");
	/* of later traces only the name of the program is compared */
	if (kernel || (merge->has_infos && !name))
		return TR_OK;
	status = tr_merge_columns(record, 2, &merge->text, &line, err);
	if (status != TR_OK)
		return status;
	if (!merge->has_infos) {
		tr_buffer_put_text(&merge->infos, line);
		struct tr_text copy = tr_arena_copy(&merge->arena, line);
		if (merge->infos.failed || !copy.data ||
		    (name && !tr_map_put(&merge->programs, copy, merge)))
			return tr_error_memory(err);
		return TR_OK;
	}
	/* reported once, because many traces of the other program may follow */
	if (merge->reported_other || tr_map_get(&merge->programs, line))
		return TR_OK;
	merge->reported_other = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "a trace of another program than the first: merged anyway");
	tr_error_is_note(err);
	return TR_WARN;
}

/* Adds an object with that key. False: memory is exhausted. */
static bool add_object(struct merge *merge, struct tr_text key, uint64_t base)
{
	if (!tr_array_room(merge->objects, merge->object_count, merge->object_cap))
		return false;
	struct object *object = &merge->objects[merge->object_count];
	*object = (struct object){ tr_arena_copy(&merge->arena, key), base, tr_ranges_new() };
	if (object->ranges)
		merge->object_count++;
	return object->ranges && object->key.data &&
	       tr_map_put(&merge->by_key, object->key, (void *)merge->object_count);
}

/*
 * Follows the load of a shared object, which is the same as one of an earlier trace if all fields
 * are the same.
 */
static enum tr_status put_load(struct merge *merge, struct tr_record *record, struct tr_error *err)
{
	struct tr_loaded_object loaded;
	struct tr_text key;
	enum tr_status status = tr_merge_columns(record, 5, &merge->text, &key, err);

	if (status != TR_OK)
		return status;
	size_t id = (size_t)tr_map_get(&merge->by_key, key);
	status = tr_layout_load(&merge->layout, record, &loaded, err);
	if (status != TR_OK)
		return status;
	tr_layout_find(&merge->layout, loaded.first)->id = id ? id : merge->object_count + 1;
	return id || add_object(merge, key, loaded.first) ? TR_OK : tr_error_memory(err);
}

/*
 * Adds a block to the ranges of its program or shared object. TR_WARN: it, or a part of it, is
 * left out.
 */
static enum tr_status put_block(struct merge *merge, struct tr_record *record, struct tr_error *err)
{
	const struct tr_object *object;
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	if (status != TR_OK || merge->left_out || block.op == TR_EXEC_SPECIAL)
		return status;
	if (merge->digits && block.digits != merge->digits)
		return tr_merge_left_out(err, "an address of another width than the previous "
					      "ones");
	merge->digits = block.digits;
	if (!tr_layout_place(&merge->layout, &block, &object))
		return TR_OK;
	struct tr_range range = { block.address, tr_block_last(&block), block.op };
	/*
	 * To gnatcov an empty block at 0 is all of memory, which no trace can express. An empty
	 * fault lies in a block that is known already.
	 */
	if (!block.size || range.last < range.first)
		return block.op == TR_EXEC_FAULT ? TR_OK : tr_merge_left_out(err, "an empty block");
	if (!object)
		return tr_ranges_add(merge->program, &range) ? TR_OK : tr_error_memory(err);
	/*
	 * code after the end would be in another object, or in none, when the result is read again
	 */
	bool beyond = range.last > object->last - object->first;
	if (beyond)
		range.last = object->last - object->first;
	if (!tr_ranges_add(merge->objects[object->id - 1].ranges, &range))
		return tr_error_memory(err);
	return beyond ? tr_merge_left_out(err,
					  "the part of a block after the end of its shared object")
		      : TR_OK;
}

/* Adds a record (struct tr_merge_form). */
static enum tr_status put(void *self, struct tr_record *record, struct tr_error *err)
{
	struct merge *merge = self;
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
		return tr_merge_left_out(err, "not an address of 8 or 16 digits");
	if (unload)
		tr_layout_unload(&merge->layout, address);
	else
		tr_layout_loadaddr(&merge->layout, address);
	return TR_OK;
}

/* Writes the record of a section, in the form of the first trace. */
static void write_section(struct merge *merge, const char *name, struct tr_merge_lines *lines)
{
	tr_merge_begin(lines, "section");
	tr_buffer_put_literal(&lines->text, "-\t-\t");
	tr_buffer_put_text(&lines->text, tr_text_from(name));
	for (int i = 0; i < FORM; i++) {
		if (!merge->form[i].len)
			continue;
		tr_field_begin(tr_text_from(form_keys[i]), &lines->text);
		tr_buffer_put_text(&lines->text, merge->form[i]);
	}
	tr_merge_end(lines);
}

/* Begins a line whose name is an address. */
static void begin_at(const struct merge *merge, const char *kind, uint64_t address,
		     struct tr_merge_lines *lines)
{
	tr_merge_begin(lines, kind);
	tr_buffer_put_literal(&lines->text, "-\t-\t0x");
	tr_buffer_put_hex(&lines->text, merge->digits == 8 ? (uint32_t)address : address,
			  merge->digits);
}

/* Writes a block for each range; base is added to the addresses. */
static void write_ranges(const struct merge *merge, const struct tr_ranges *ranges, uint64_t base,
			 struct tr_merge_lines *lines)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;
	char op[TR_OP_SPELLED];

	while (ranges && tr_ranges_next(ranges, &position, &range)) {
		begin_at(merge, "block", base + range.first, lines);
		tr_buffer_put_literal(&lines->text, "\tsize=");
		tr_buffer_put_decimal(&lines->text, range.last - range.first + 1);
		tr_buffer_put_literal(&lines->text, "\top=");
		tr_buffer_put(&lines->text, op, tr_op_spell(range.op, op));
		tr_merge_end(lines);
	}
}

/*
 * Writes the merged trace: information, ranges of the program, and each shared object with its
 * ranges.
 */
static void write(void *self, struct tr_merge_lines *lines)
{
	struct merge *merge = self;

	tr_output_put_literal(lines->out, "%trec\t1\tformat=gnatcov\n");
	if (merge->has_infos) {
		write_section(merge, "INFO", lines);
		tr_merge_infos(lines, tr_buffer_text(&merge->infos));
		write_section(merge, "FLAT", lines);
	}
	write_ranges(merge, merge->program, 0, lines);
	for (size_t i = 0; i < merge->object_count; i++) {
		const struct object *object = &merge->objects[i];
		struct tr_ranges_position begin = { 0, 0 };
		struct tr_range range;
		/* an object of which nothing was executed is left out */
		if (!tr_ranges_next(object->ranges, &begin, &range))
			continue;
		begin_at(merge, "load", object->base, lines);
		tr_buffer_put_byte(&lines->text, '\t');
		tr_buffer_put(&lines->text, object->key.data, object->key.len - 1);
		tr_merge_end(lines);
		write_ranges(merge, object->ranges, object->base, lines);
		begin_at(merge, "unload", object->base, lines);
		tr_merge_end(lines);
	}
}

const struct tr_merge_form tr_merge_blocks = {
	.format = "gnatcov",
	.name = "an execution trace (gnatcov)",
	.size = sizeof(struct merge),
	.begin = begin,
	.put = put,
	.write = write,
	.discard = discard,
};
