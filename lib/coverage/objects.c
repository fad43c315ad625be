#include "coverage/objects.h"

#include <stdlib.h>
#include <string.h>

/* The index of the first that ends at or behind the address. */
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

static bool reserve(struct tr_objects *objects)
{
	if (objects->count < objects->cap)
		return true;
	size_t cap = objects->cap ? objects->cap * 2 : 16;
	struct tr_object *list = realloc(objects->list, cap * sizeof *list);
	if (!list)
		return false;
	objects->list = list;
	objects->cap = cap;
	return true;
}

enum tr_objects_answer tr_objects_load(struct tr_objects *objects, struct tr_object object)
{
	size_t at = lower_bound(objects, object.first);

	if (object.last < object.first ||
	    (at < objects->count && objects->list[at].first <= object.last))
		return TR_OBJECTS_OVERLAP;
	if (objects->count == TR_OBJECTS_MAX)
		return TR_OBJECTS_FULL;
	if (!reserve(objects))
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
