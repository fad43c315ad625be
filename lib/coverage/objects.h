/*
 * The shared objects that are loaded at a point of an execution trace: ranges
 * of addresses that do not overlap.
 */
#ifndef TR_COVERAGE_OBJECTS_H
#define TR_COVERAGE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_object {
	uint64_t first, last;
	size_t id; /* the owner's */
};

struct tr_objects {
	struct tr_object *list; /* sorted */
	size_t count, cap;
};

/* Far more than any program loads; a trace must not be able to fill the memory. */
enum { TR_OBJECTS_MAX = 4096 };

enum tr_objects_answer {
	TR_OBJECTS_ADDED,
	TR_OBJECTS_OVERLAP, /* with one that is loaded, or last is before first */
	TR_OBJECTS_FULL,
	TR_OBJECTS_MEMORY,
};

enum tr_objects_answer tr_objects_load(struct tr_objects *objects, struct tr_object object);

/* The one that has the address, or NULL. Good until the next load or unload. */
const struct tr_object *tr_objects_find(const struct tr_objects *objects, uint64_t address);

/* The loaded object that has the address gets another id. */
void tr_objects_rename(struct tr_objects *objects, uint64_t address, size_t id);

/* Any address of it will do. False: none is there. */
bool tr_objects_unload(struct tr_objects *objects, uint64_t address);

/* Forgets all, keeps the memory. */
static inline void tr_objects_clear(struct tr_objects *objects)
{
	objects->count = 0;
}

void tr_objects_free(struct tr_objects *objects);

#endif
