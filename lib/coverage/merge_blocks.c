/* SPDX-License-Identifier: MIT */
/*
 * Merges execution traces by the rule of ranges.h: what was executed in any of them, each range
 * once, sorted, at the address that it has in its own file.
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

#include "core/buffer.h"
#include "core/map.h"
#include "coverage/layout.h"
#include "coverage/merge_private.h"
#include "coverage/ranges.h"
#include "record/literal.h"

/* A shared object: key is all that its load records say, less seq and address. */
struct object {
	struct tr_text key; /* owned */
	uint64_t base;
	struct tr_ranges *ranges;
};

/* What all traces have to share. */
struct section {
	struct tr_text bits, endian, machine; /* spelled values, owned */
};

struct merge {
	struct tr_ranges *program;
	struct object *objects;
	size_t object_count, object_cap;
	struct tr_map by_key; /* to index + 1 */
	struct tr_layout layout;

	struct tr_buffer infos; /* lines of the first trace, without kind and seq */
	struct tr_map
		programs;      /* those of them that name its program; the values have no meaning */
	bool has_infos;	       /* the first trace has begun with its entries */
	struct tr_arena arena; /* of programs and section */
	struct section section;
	uint8_t digits;

	bool in_info;  /* the last section was INFO */
	bool left_out; /* this section is not an execution, or of another machine */
	bool told_other;
	struct tr_buffer text;
	uint64_t seq;
};

static void *create(void)
{
	struct merge *merge = calloc(1, sizeof *merge);

	if (merge)
		merge->program = tr_ranges_new();
	if (!merge || merge->program)
		return merge;
	free(merge);
	return NULL;
}

static void discard(void *self)
{
	struct merge *merge = self;

	tr_ranges_free(merge->program);
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

static enum tr_status begin(void *self, struct tr_record *header, struct tr_error *err)
{
	struct merge *merge = self;

	(void)header;
	(void)err;
	tr_layout_section(&merge->layout, true);
	merge->in_info = merge->left_out = false;
	return TR_OK;
}

static enum tr_status left_out(struct tr_error *err, const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "left out: %s", what);
	return TR_WARN;
}

/* The canonical spelling of a field, in the record's arena; empty where it is absent. */
static enum tr_status spelled(struct merge *merge, struct tr_record *record, const char *key,
			      struct tr_text *spelling, struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);
	struct tr_value *value = field ? tr_field_value(record, field, err) : NULL;

	*spelling = TR_TEXT("");
	if (field && !value)
		return tr_error_status(err);
	if (!value)
		return TR_OK;
	tr_buffer_reset(&merge->text);
	tr_literal_write(value, &merge->text);
	*spelling = tr_arena_copy(record->arena, tr_buffer_text(&merge->text));
	return merge->text.failed || !spelling->data ? tr_error_memory(err) : TR_OK;
}

static enum tr_status read_form(struct merge *merge, struct tr_record *record, struct section *form,
				struct tr_error *err)
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

static bool keep_form(struct merge *merge, const struct section *form)
{
	merge->section.bits = tr_arena_copy(&merge->arena, form->bits);
	merge->section.endian = tr_arena_copy(&merge->arena, form->endian);
	merge->section.machine = tr_arena_copy(&merge->arena, form->machine);
	merge->has_infos = true;
	return merge->section.bits.data && merge->section.endian.data &&
	       merge->section.machine.data;
}

/* A section of entries: of the first trace it says how all have to be. */
static enum tr_status begin_entries(struct merge *merge, struct tr_record *record,
				    struct tr_error *err)
{
	struct section form;

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

static enum tr_status put_section(struct merge *merge, struct tr_record *record,
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
static bool keep_program(struct merge *merge, struct tr_text line)
{
	if (tr_map_get(&merge->programs, line))
		return true;
	line = tr_arena_copy(&merge->arena, line);
	return line.data && tr_map_put(&merge->programs, line, merge);
}

/* The name of a program that is not the first one's: said once. */
static enum tr_status other_program(struct merge *merge, struct tr_text line, struct tr_error *err)
{
	if (merge->told_other || tr_map_get(&merge->programs, line))
		return TR_OK;
	merge->told_other = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "a trace of another program than the first: merged all the same");
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status put_info(struct merge *merge, struct tr_record *record, struct tr_error *err)
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
static struct object *add_object(struct merge *merge, struct tr_text key, uint64_t base)
{
	if (!tr_array_room(merge->objects, merge->object_count, merge->object_cap))
		return NULL;
	struct object *object = &merge->objects[merge->object_count];
	char *copy = malloc(key.len);
	*object = (struct object){ { copy, key.len }, base, tr_ranges_new() };
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

static enum tr_status put_load(struct merge *merge, struct tr_record *record, struct tr_error *err)
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

static enum tr_status put_block(struct merge *merge, struct tr_record *record, struct tr_error *err)
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
		return left_out(err, "no address of 8 or 16 digits");
	if (unload)
		tr_layout_unload(&merge->layout, address);
	else
		tr_layout_loadaddr(&merge->layout, address);
	return TR_OK;
}

/* Columns up to the name. */
static void begin_line(struct merge *merge, const char *kind)
{
	tr_buffer_put_text(&merge->text, tr_text_from(kind));
	tr_buffer_put_byte(&merge->text, '\t');
	tr_buffer_put_decimal(&merge->text, merge->seq++);
	tr_buffer_put_byte(&merge->text, '\t');
}

static void end_line(struct merge *merge, struct tr_output *out)
{
	tr_output_put_text(out, tr_buffer_text(&merge->text));
	tr_output_record_end(out);
	merge->text.len = 0;
}

static void write_section(struct merge *merge, const char *kind, struct tr_output *out)
{
	static const char *const keys[] = { "bits", "endian", "machine" };
	const struct tr_text values[] = { merge->section.bits, merge->section.endian,
					  merge->section.machine };

	begin_line(merge, "section");
	tr_buffer_put_literal(&merge->text, "-\t-\t");
	tr_buffer_put_text(&merge->text, tr_text_from(kind));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (!values[i].len)
			continue;
		tr_buffer_put_byte(&merge->text, '\t');
		tr_buffer_put_text(&merge->text, tr_text_from(keys[i]));
		tr_buffer_put_byte(&merge->text, '=');
		tr_buffer_put_text(&merge->text, values[i]);
	}
	tr_buffer_put_byte(&merge->text, '\n');
	end_line(merge, out);
}

static void write_infos(struct merge *merge, struct tr_output *out)
{
	struct tr_text left = tr_buffer_text(&merge->infos);

	while (left.len) {
		const char *end = left.data + left.len, *lf = memchr(left.data, '\n', left.len);
		begin_line(merge, "info");
		tr_buffer_put_text(&merge->text, tr_text_span(left.data, lf + 1));
		end_line(merge, out);
		left = tr_text_span(lf + 1, end);
	}
}

static void put_address(struct merge *merge, uint64_t address)
{
	tr_buffer_put_literal(&merge->text, "-\t-\t0x");
	tr_buffer_put_hex(&merge->text, address, merge->digits);
}

/* base: what the addresses of an object are counted from. */
static void write_ranges(struct merge *merge, const struct tr_ranges *ranges, uint64_t base,
			 struct tr_output *out)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;
	char op[TR_OP_SPELLED];

	while (tr_ranges_next(ranges, &position, &range)) {
		uint64_t address = base + range.first;
		begin_line(merge, "block");
		put_address(merge, merge->digits == 8 ? (uint32_t)address : address);
		tr_buffer_put_literal(&merge->text, "\tsize=");
		tr_buffer_put_decimal(&merge->text, range.last - range.first + 1);
		tr_buffer_put_literal(&merge->text, "\top=");
		tr_buffer_put(&merge->text, op, tr_op_spell(range.op, op));
		tr_buffer_put_byte(&merge->text, '\n');
		end_line(merge, out);
	}
}

static void write_object(struct merge *merge, const struct object *object, struct tr_output *out)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;

	if (!tr_ranges_next(object->ranges, &position, &range))
		return; /* nothing of it was executed, or kept */
	begin_line(merge, "load");
	put_address(merge, object->base);
	tr_buffer_put_byte(&merge->text, '\t');
	tr_buffer_put_text(&merge->text, object->key);
	end_line(merge, out);
	write_ranges(merge, object->ranges, object->base, out);
	begin_line(merge, "unload");
	put_address(merge, object->base);
	tr_buffer_put_byte(&merge->text, '\n');
	end_line(merge, out);
}

static bool write(void *self, uint64_t *seq, struct tr_output *out)
{
	struct merge *merge = self;

	tr_buffer_reset(&merge->text);
	merge->seq = *seq;
	tr_output_put_literal(out, "%trec\t1\tformat=gnatcov\n");
	if (merge->has_infos) {
		write_section(merge, "INFO", out);
		write_infos(merge, out);
		write_section(merge, "FLAT", out);
	}
	write_ranges(merge, merge->program, 0, out);
	for (size_t i = 0; i < merge->object_count; i++)
		write_object(merge, &merge->objects[i], out);
	*seq = merge->seq;
	return !merge->text.failed;
}

const struct tr_merge_form tr_merge_blocks = {
	.format = "gnatcov",
	.name = "an execution trace (gnatcov)",
	.create = create,
	.discard = discard,
	.begin = begin,
	.put = put,
	.write = write,
};
