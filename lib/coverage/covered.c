/* SPDX-License-Identifier: MIT */
/*
 * Collects what a trace has covered.
 *
 *	module, load, ... -> which object an address belongs to: the program, a shared object of gnatcov,
 *	a module of drcov, each known by its path
 *	block -> ranges of its object (ranges.h)
 *	unit -> its bits, as ranges of one number
 *	srcline, srcfunction, srcbranch -> files (sources.h)
 */
#include "coverage/covered.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/map.h"
#include "coverage/block.h"
#include "coverage/layout.h"
#include "coverage/module_table.h"
#include "coverage/ranges.h"
#include "coverage/sources.h"
#include "coverage/unit.h"
#include "record/ask.h"

/* The executed code of a program, a shared object or a module, or the set bits of a unit. */
struct object {
	struct tr_ranges *ranges;
	size_t number; /* in the list, from 1 */
};

/* A module of a drcov trace. */
struct module {
	struct object *object;
	uint64_t base;
};

/* The bits of a unit of source. */
struct unit {
	struct object *sets[TR_UNIT_SETS];
};

/* The subject of a record. */
enum { CODE, UNITS, LINES, KINDS };

struct tr_covered {
	struct object **objects;
	size_t object_count, object_cap;
	struct tr_map by_path; /* objects; the program has an empty path */
	struct tr_layout layout;
	struct tr_id_map modules; /* of this segment, by their ids */
	struct tr_map units;	  /* by name and fingerprints */
	struct tr_sources sources;
	struct tr_buffer key; /* scratch */
	struct tr_arena memory;
	bool any[KINDS];
};

struct tr_covered *tr_covered_new(void)
{
	return calloc(1, sizeof(struct tr_covered));
}

void tr_covered_free(struct tr_covered *covered)
{
	if (!covered)
		return;
	for (size_t i = 0; i < covered->object_count; i++)
		tr_ranges_free(covered->objects[i]->ranges);
	free(covered->objects);
	tr_map_free(&covered->by_path);
	tr_layout_free(&covered->layout);
	tr_id_map_free(&covered->modules);
	tr_map_free(&covered->units);
	tr_sources_free(&covered->sources);
	tr_buffer_free(&covered->key);
	tr_arena_free(&covered->memory);
	free(covered);
}

/* Begins a segment: forgets what was loaded. */
static void begin_segment(struct tr_covered *covered)
{
	tr_layout_section(&covered->layout, true);
	tr_id_map_free(&covered->modules);
	covered->modules = (struct tr_id_map)TR_ID_MAP_INIT;
	covered->sources.last = NULL;
}

/* Adds an object. NULL: memory is exhausted. */
static struct object *add_object(struct tr_covered *covered)
{
	struct object *object = tr_arena_alloc(&covered->memory, sizeof *object);
	if (!object || !tr_array_room(covered->objects, covered->object_count, covered->object_cap))
		return NULL;
	*object = (struct object){ tr_ranges_new(), covered->object_count + 1 };
	if (!object->ranges)
		return NULL;
	covered->objects[covered->object_count++] = object;
	return object;
}

/* Returns the object of that path, which is added if it is new. NULL: memory is exhausted. */
static struct object *find_object(struct tr_covered *covered, struct tr_text path)
{
	struct object *object = tr_map_get(&covered->by_path, path);
	if (object)
		return object;
	struct tr_text copy = tr_arena_copy(&covered->memory, path);
	object = add_object(covered);
	return object && copy.data && tr_map_put(&covered->by_path, copy, object) ? object : NULL;
}

/* Takes a module of drcov. */
static enum tr_status put_module(struct tr_covered *covered, struct tr_record *record,
				 struct tr_error *err)
{
	struct module *module = tr_arena_alloc(&covered->memory, sizeof *module);
	struct tr_module_fact fact;
	if (!module || tr_module_ask(record, &fact, err) == TR_FATAL)
		return tr_error_memory(err);
	if (fact.id == TR_MODULE_NO_ID)
		return TR_OK;
	/* a segment has the base of the module that contains it */
	const struct module *whole = fact.containing != fact.id
					     ? tr_id_map_get(&covered->modules, fact.containing)
					     : NULL;
	*module = (struct module){ find_object(covered, fact.path), fact.base };
	if (whole && whole->object == module->object)
		module->base = whole->base;
	if (!module->object || !tr_id_map_put(&covered->modules, fact.id, module))
		return tr_error_memory(err);
	return TR_OK;
}

/* Follows a record that states where code is. TR_END: it is of another kind. */
static enum tr_status follow(struct tr_covered *covered, struct tr_record *record,
			     struct tr_error *err)
{
	struct tr_loaded_object loaded;
	uint64_t address;
	uint8_t digits;
	if (tr_text_is(record->kind, "module"))
		return put_module(covered, record, err);
	if (tr_text_is(record->kind, "info"))
		return tr_layout_info(&covered->layout, record, err);
	if (tr_text_is(record->kind, "section")) {
		tr_layout_section(&covered->layout, record->name.type == TR_CELL_TEXT &&
							    tr_text_is(record->name.text, "INFO"));
		return TR_OK;
	}
	if (tr_text_is(record->kind, "load")) {
		enum tr_status status = tr_layout_load(&covered->layout, record, &loaded, err);
		struct object *object = status == TR_OK ? find_object(covered, loaded.path) : NULL;
		if (status == TR_OK && !object)
			return tr_error_memory(err);
		if (object)
			tr_layout_find(&covered->layout, loaded.first)->id = object->number;
		return status;
	}
	bool unload = tr_text_is(record->kind, "unload");
	if (!unload && !tr_text_is(record->kind, "loadaddr"))
		return TR_END;
	if (tr_address_read(&record->name, &address, &digits)) {
		if (unload)
			tr_layout_unload(&covered->layout, address);
		else
			tr_layout_loadaddr(&covered->layout, address);
	}
	return TR_OK;
}

/* Finds the object and the range of a block. *object NULL: it belongs to none. */
static enum tr_status place_block(struct tr_covered *covered, struct tr_record *record,
				  struct object **object, struct tr_range *range,
				  struct tr_error *err)
{
	struct tr_block block;
	const struct tr_object *loaded = NULL;
	*object = NULL;
	enum tr_status status = tr_block_read(record, &block, err);
	if (status != TR_OK || block.op == TR_EXEC_SPECIAL || !block.size)
		return status;
	uint64_t id = tr_ask_number(record, "module", UINT64_MAX, err);
	const struct module *module = tr_id_map_get(&covered->modules, id);
	if (module) {
		*object = module->object;
		block.address -= module->base;
	} else if (tr_layout_place(&covered->layout, &block, &loaded)) {
		*object = loaded ? covered->objects[loaded->id - 1]
				 : find_object(covered, TR_TEXT(""));
		if (!*object)
			return tr_error_memory(err);
	}
	*range = (struct tr_range){ block.address, tr_block_last(&block), block.op };
	if (range->last < range->first)
		*object = NULL;
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

/*
 * Finds the unit that a record names, or adds it if add is set. *unit NULL: the trace has no unit
 * with this name and these fingerprints.
 */
static enum tr_status find_unit(struct tr_covered *covered, struct tr_record *record, bool add,
				struct unit **unit, struct tr_error *err)
{
	tr_buffer_reset(&covered->key);
	tr_cell_write(&record->name, &covered->key);
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		struct tr_text hash = tr_ask_string(record, tr_unit_hash_keys[i], err);
		tr_buffer_put_byte(&covered->key, '\t');
		tr_buffer_put_text(&covered->key, hash);
	}
	if (covered->key.failed || tr_error_is_memory(err))
		return tr_error_memory(err);
	*unit = tr_map_get(&covered->units, tr_buffer_text(&covered->key));
	if (*unit || !add)
		return TR_OK;
	struct tr_text key = tr_arena_copy(&covered->memory, tr_buffer_text(&covered->key));
	*unit = tr_arena_alloc(&covered->memory, sizeof **unit);
	if (!*unit || !key.data || !tr_map_put(&covered->units, key, *unit))
		return tr_error_memory(err);
	for (int i = 0; i < TR_UNIT_SETS; i++) {
		(*unit)->sets[i] = add_object(covered);
		if (!(*unit)->sets[i])
			return tr_error_memory(err);
	}
	return TR_OK;
}

/* A bit is a range of one number. */
static struct tr_range range_of(uint64_t bit)
{
	return (struct tr_range){ bit, bit, TR_EXEC_BLOCK };
}

/* Begins to read a list of bits; *field NULL: there is none. */
static enum tr_status begin_bits(struct tr_record *record, int set, struct tr_numbers *numbers,
				 struct tr_field **field, struct tr_error *err)
{
	*field = tr_record_field(record, tr_unit_list_keys[set]);
	return *field ? tr_numbers_begin(numbers, record, *field, err) : TR_OK;
}

/* Adds the bits of a unit. */
static enum tr_status add_unit(struct tr_covered *covered, struct tr_record *record,
			       struct tr_error *err)
{
	struct unit *unit;
	enum tr_status status = find_unit(covered, record, true, &unit, err);
	for (int set = 0; set < TR_UNIT_SETS && status == TR_OK; set++) {
		struct tr_numbers numbers;
		struct tr_field *field;
		uint64_t bit;
		status = begin_bits(record, set, &numbers, &field, err);
		while (field && status == TR_OK && tr_numbers_next(&numbers, &bit) == TR_OK)
			if (!tr_ranges_add(unit->sets[set]->ranges,
					   &(struct tr_range){ bit, bit, TR_EXEC_BLOCK }))
				status = tr_error_memory(err);
	}
	covered->any[UNITS] |= status == TR_OK;
	return status;
}

/* Removes bits from a unit; the record has its own lists afterwards. */
static enum tr_status test_unit(struct tr_covered *covered, struct tr_record *record, bool common,
				enum tr_covered_answer *answer, struct tr_error *err)
{
	struct unit *unit;
	enum tr_status status = find_unit(covered, record, false, &unit, err);
	bool left = false;
	for (int set = 0; set < TR_UNIT_SETS && status == TR_OK; set++) {
		struct tr_numbers numbers;
		struct tr_field *field;
		uint64_t bit;
		status = begin_bits(record, set, &numbers, &field, err);
		if (!field || status != TR_OK)
			continue;
		tr_buffer_reset(&covered->key);
		while (tr_numbers_next(&numbers, &bit) == TR_OK) {
			bool here = unit && tr_ranges_has(unit->sets[set]->ranges, range_of(bit));
			if (here != common)
				continue;
			tr_buffer_put_byte(&covered->key, covered->key.len ? ',' : '[');
			tr_buffer_put_decimal(&covered->key, bit);
		}
		left |= covered->key.len;
		if (!covered->key.len)
			tr_buffer_put_byte(&covered->key, '[');
		tr_buffer_put_byte(&covered->key, ']');
		field->text = tr_arena_copy(record->arena, tr_buffer_text(&covered->key));
		field->value = NULL;
		if (covered->key.failed || !field->text.data)
			status = tr_error_memory(err);
	}
	record->line.data = NULL;
	record->spell = NULL;
	/* the remaining bits are the requested ones */
	*answer = left == common ? TR_COVERED_YES : TR_COVERED_NO;
	return status;
}

/* True if a file has covered the subject of the record, in any test. */
static bool is_covered(struct tr_covered *covered, const struct tr_source_file *wanted)
{
	const struct tr_sources *sources = &covered->sources;
	size_t at = tr_array_search(i, 0, sources->count,
				    tr_text_compare(sources->list[i]->path, wanted->path) < 0);
	for (; at < sources->count && tr_text_equal(sources->list[at]->path, wanted->path); at++)
		if (tr_source_file_has(sources->list[at], wanted))
			return true;
	return false;
}

/* Compares a line, a function or a branch. */
static enum tr_status test_source(struct tr_covered *covered, struct tr_record *record,
				  enum tr_covered_answer *answer, struct tr_error *err)
{
	struct tr_sources one = { .count = 0 };
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	enum tr_status status = tr_sources_put(&one, record, err);
	if (status == TR_OK && one.count) {
		tr_source_file_count(one.list[0], &shares);
		bool hit = shares.lines.hit || shares.functions.hit || shares.branches.hit;
		*answer = !hit				     ? TR_COVERED_NEVER
			  : is_covered(covered, one.list[0]) ? TR_COVERED_YES
							     : TR_COVERED_NO;
	}
	tr_sources_free(&one);
	return status;
}

/* True if the record states a line, a function or a branch. */
static bool is_of_source(const struct tr_record *record)
{
	static const char *const kinds[] = { "srcline", "srcfunction", "srcbranch", NULL };
	return tr_text_is_among(record->kind, kinds);
}

/* Prepares for a line. False: it is no record. */
static bool begin_record(struct tr_covered *covered, const struct tr_record *record,
			 struct tr_error *err)
{
	tr_error_clear(err);
	if (record->type == TR_HEADER)
		begin_segment(covered);
	return record->type == TR_RECORD;
}

/*
 * Adds a block. The outcome of its branch belongs to its last byte, where no other block can divide
 * it. False: memory is exhausted.
 */
static bool add_block(struct tr_ranges *ranges, const struct tr_range *block)
{
	struct tr_range bytes = { block->first, block->last, TR_EXEC_BLOCK };
	struct tr_range branch = { block->last, block->last, block->op | TR_EXEC_BLOCK };
	return tr_ranges_add(ranges, &bytes) &&
	       (!(block->op & (TR_EXEC_BR0 | TR_EXEC_BR1)) || tr_ranges_add(ranges, &branch));
}

enum tr_status tr_covered_add(struct tr_covered *covered, struct tr_record *record,
			      struct tr_error *err)
{
	struct object *object;
	struct tr_range range;
	if (!begin_record(covered, record, err))
		return TR_OK;
	if (tr_text_is(record->kind, "block")) {
		enum tr_status status = place_block(covered, record, &object, &range, err);
		covered->any[CODE] |= status == TR_OK;
		if (status == TR_OK && object && !add_block(object->ranges, &range))
			return tr_error_memory(err);
		return status;
	}
	if (tr_text_is(record->kind, "unit"))
		return add_unit(covered, record, err);
	enum tr_status status = tr_sources_put(&covered->sources, record, err);
	covered->any[LINES] |= status == TR_OK;
	if (status == TR_END)
		status = follow(covered, record, err);
	return status == TR_END ? TR_OK : status;
}

bool tr_covered_end(struct tr_covered *covered)
{
	tr_sources_sort(&covered->sources);
	begin_segment(covered);
	return covered->any[CODE] || covered->any[UNITS] || covered->any[LINES];
}

bool tr_covered_has_kind(const struct tr_covered *covered, const struct tr_record *record)
{
	return covered->any[tr_text_is(record->kind, "block")  ? CODE
			    : tr_text_is(record->kind, "unit") ? UNITS
							       : LINES];
}

enum tr_status tr_covered_test(struct tr_covered *covered, struct tr_record *record, bool common,
			       enum tr_covered_answer *answer, struct tr_error *err)
{
	struct object *object;
	struct tr_range range;
	*answer = TR_COVERED_OTHER;
	if (!begin_record(covered, record, err))
		return TR_OK;
	if (tr_text_is(record->kind, "block")) {
		enum tr_status status = place_block(covered, record, &object, &range, err);
		if (status == TR_OK)
			*answer = object && tr_ranges_has(object->ranges, range) ? TR_COVERED_YES
										 : TR_COVERED_NO;
		return status;
	}
	if (tr_text_is(record->kind, "unit"))
		return test_unit(covered, record, common, answer, err);
	if (is_of_source(record))
		return test_source(covered, record, answer, err);
	enum tr_status status = follow(covered, record, err);
	return status == TR_END ? TR_OK : status;
}
