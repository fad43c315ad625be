/* SPDX-License-Identifier: MIT */
#include "coverage/layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/ask.h"

/* The index of the first that ends at or after the address. */
static size_t lower_bound(const struct tr_objects *objects, uint64_t address)
{
	size_t low = 0, high = objects->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (objects->list[middle].last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum tr_objects_answer tr_objects_load(struct tr_objects *objects, struct tr_object object)
{
	size_t at = lower_bound(objects, object.first);

	if (object.last < object.first ||
	    (at < objects->count && objects->list[at].first <= object.last))
		return TR_OBJECTS_OVERLAP;
	if (objects->count == TR_OBJECTS_MAX)
		return TR_OBJECTS_FULL;
	if (!tr_array_room(objects->list, objects->count, objects->cap))
		return TR_OBJECTS_MEMORY;
	struct tr_object *place = &objects->list[at];
	memmove(place + 1, place, (objects->count - at) * sizeof *place);
	*place = object;
	objects->count++;
	return TR_OBJECTS_ADDED;
}

const struct tr_object *tr_objects_find(const struct tr_objects *objects, uint64_t address)
{
	size_t at = lower_bound(objects, address);

	return at < objects->count && objects->list[at].first <= address ? &objects->list[at]
									 : NULL;
}

void tr_objects_rename(struct tr_objects *objects, uint64_t address, size_t id)
{
	size_t at = lower_bound(objects, address);

	if (at < objects->count && objects->list[at].first <= address)
		objects->list[at].id = id;
}

bool tr_objects_unload(struct tr_objects *objects, uint64_t address)
{
	size_t at = lower_bound(objects, address);

	if (at == objects->count || objects->list[at].first > address)
		return false;
	struct tr_object *place = &objects->list[at];
	memmove(place, place + 1, (--objects->count - at) * sizeof *place);
	return true;
}

void tr_objects_free(struct tr_objects *objects)
{
	free(objects->list);
	*objects = (struct tr_objects){ NULL, 0, 0 };
}

void tr_layout_section(struct tr_layout *layout, bool info)
{
	if (info)
		layout->kernel = layout->kernel_asked = false;
	layout->loaded = false;
	layout->load = 0;
	tr_objects_clear(&layout->objects);
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
	*number = 0;
	text = tr_text_trimmed(text);
	for (size_t i = 0; i < text.len; i++) {
		unsigned digit = (unsigned char)text.data[i] - '0';
		if (digit > 9 || *number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return text.len > 0;
}

enum tr_status tr_layout_load(struct tr_layout *layout, struct tr_record *record, size_t id,
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
	tr_error_set(err, TR_CAUSE_INPUT, "a shared object without a path, an address or a size");
	if (!tr_address_read(&record->name, &object->first, &object->digits) ||
	    !object->path.data || !tr_ada_number(digits, &size) || size == 0)
		return TR_WARN;
	object->last = object->first + size - 1;
	if (object->digits == 8)
		object->last = size > UINT32_MAX ? 0 : (uint32_t)object->last;
	struct tr_object added = { object->first, object->last, id };
	switch (tr_objects_load(&layout->objects, added)) {
	case TR_OBJECTS_ADDED:
		return TR_OK;
	case TR_OBJECTS_MEMORY:
		return tr_error_memory(err);
	default:
		tr_error_set(err, TR_CAUSE_INPUT, "a shared object over another one");
		return TR_WARN;
	}
}

void tr_layout_unload(struct tr_layout *layout, uint64_t address)
{
	tr_objects_unload(&layout->objects, address);
}

bool tr_layout_place(const struct tr_layout *layout, struct tr_block *block,
		     const struct tr_object **object)
{
	*object = NULL;
	if (layout->kernel && (!layout->loaded || block->address < layout->load))
		return false;
	if (layout->objects.count)
		*object = tr_objects_find(&layout->objects, block->address);
	block->address -= *object ? (*object)->first : layout->load;
	return true;
}

void tr_layout_free(struct tr_layout *layout)
{
	tr_objects_free(&layout->objects);
}
