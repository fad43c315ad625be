/* SPDX-License-Identifier: MIT */
/*
 * Keeps the objects that are loaded, sorted by address, and the load address of a kernel. The
 * address of a block is converted to one in the file of the object that contains it.
 */
#include "coverage/layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/ask.h"

/* Returns the index of the first object that ends at or after the address. */
static size_t lower_bound(const struct tr_layout *layout, uint64_t address)
{
	return tr_array_search(i, 0, layout->count, layout->objects[i].last < address);
}

/* Returns the last address of an object; one before the first if it ends beyond all addresses. */
static uint64_t last_of(uint64_t first, uint8_t digits, uint64_t size)
{
	uint64_t last = first + size - 1;

	if (digits == 8)
		return size > UINT32_MAX ? 0 : (uint32_t)last;
	return last;
}

enum tr_layout_answer tr_layout_add(struct tr_layout *layout, uint64_t first, uint8_t digits,
				    uint64_t size)
{
	uint64_t last = last_of(first, digits, size);
	size_t at = lower_bound(layout, first);

	if (last < first || (at < layout->count && layout->objects[at].first <= last))
		return TR_LAYOUT_OVERLAP;
	if (layout->count == TR_OBJECTS_MAX)
		return TR_LAYOUT_FULL;
	if (!tr_array_room(layout->objects, layout->count, layout->cap))
		return TR_LAYOUT_MEMORY;
	struct tr_object *place = &layout->objects[at];
	memmove(place + 1, place, (layout->count++ - at) * sizeof *place);
	*place = (struct tr_object){ first, last, 0 };
	return TR_LAYOUT_ADDED;
}

struct tr_object *tr_layout_find(const struct tr_layout *layout, uint64_t address)
{
	size_t at = lower_bound(layout, address);

	return at < layout->count && layout->objects[at].first <= address ? &layout->objects[at]
									  : NULL;
}

bool tr_layout_unload(struct tr_layout *layout, uint64_t address)
{
	struct tr_object *place = tr_layout_find(layout, address);

	if (!place)
		return false;
	size_t after = layout->count-- - (size_t)(place - layout->objects) - 1;
	memmove(place, place + 1, after * sizeof *place);
	return true;
}

void tr_layout_section(struct tr_layout *layout, bool info)
{
	if (info)
		layout->kernel = layout->kernel_asked = false;
	layout->loaded = false;
	layout->load = 0;
	layout->count = 0;
}

enum tr_status tr_layout_info(struct tr_layout *layout, struct tr_record *record,
			      struct tr_error *err)
{
	if (layout->kernel_asked || record->name.type != TR_CELL_TEXT ||
	    !tr_text_is(record->name.text, "KERNEL_FILE_NAME"))
		return TR_OK;
	tr_error_clear(err);
	struct tr_text path = tr_ask_string(record, "data", err);
	layout->kernel_asked = true;
	layout->kernel = path.len > 0;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
}

bool tr_layout_loadaddr(struct tr_layout *layout, uint64_t address)
{
	if (!layout->kernel || layout->loaded || address == 0)
		return false;
	layout->loaded = true;
	layout->load = address;
	return true;
}

bool tr_ada_number(struct tr_text text, uint64_t *number)
{
	return tr_decimal_read(tr_text_trimmed(text), UINT64_MAX, number);
}

enum tr_status tr_layout_load(struct tr_layout *layout, struct tr_record *record,
			      struct tr_loaded_object *object, struct tr_error *err)
{
	uint64_t size;

	tr_error_clear(err);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	object->path = tr_ask_string(record, "EXEC_FILE_NAME", err);
	struct tr_text digits = tr_ask_string(record, "EXEC_CODE_SIZE", err);
	if (err->cause == TR_CAUSE_MEMORY)
		return TR_FATAL;
	/* one message for all ways in which the record can be malformed */
	tr_error_set(err, TR_CAUSE_INPUT, "a shared object without a path, an address or a size");
	if (!tr_address_read(&record->name, &object->first, &object->digits) ||
	    !object->path.data || !tr_ada_number(digits, &size) || size == 0)
		return TR_WARN;
	object->last = last_of(object->first, object->digits, size);
	switch (tr_layout_add(layout, object->first, object->digits, size)) {
	case TR_LAYOUT_ADDED:
		return TR_OK;
	case TR_LAYOUT_MEMORY:
		return tr_error_memory(err);
	default:
		tr_error_set(err, TR_CAUSE_INPUT, "a shared object over another one");
		return TR_WARN;
	}
}

bool tr_layout_place(const struct tr_layout *layout, struct tr_block *block,
		     const struct tr_object **object)
{
	*object = NULL;
	if (layout->kernel && (!layout->loaded || block->address < layout->load))
		return false;
	if (layout->count)
		*object = tr_layout_find(layout, block->address);
	block->address -= *object ? (*object)->first : layout->load;
	return true;
}

void tr_layout_free(struct tr_layout *layout)
{
	free(layout->objects);
}
