/* SPDX-License-Identifier: MIT */
/*
 * Where code was loaded, as the records of an execution trace report it: the load address of
 * the kernel, and the shared objects of one section after the other.
 *
 *	section, info, load, unload, loadaddr -> struct tr_layout -> tr_layout_place(block)
 *
 * The result is the address that a block has in its own file.
 */
#ifndef TR_COVERAGE_LAYOUT_H
#define TR_COVERAGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coverage/block.h"
#include "record/record.h"

/* The loaded shared objects: ranges of addresses that do not overlap. */
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

struct tr_layout {
	bool kernel_asked; /* the information named a kernel, or an empty one: only the first counts
			    */
	bool kernel;	   /* code has no place before its load address is known */
	bool loaded;
	uint64_t load; /* of the kernel; 0: none */
	struct tr_objects objects;
};

/* A number as Ada's 'Image has it, digits behind a blank. False: it is none. */
bool tr_ada_number(struct tr_text text, uint64_t *number);

/* A record of kind section: what was loaded before does not hold any more. */
void tr_layout_section(struct tr_layout *layout, bool info);

/* A record of kind info. TR_OK, TR_FATAL: memory. */
enum tr_status tr_layout_info(struct tr_layout *layout, struct tr_record *record,
			      struct tr_error *err);

/* The load address of the kernel. False: it was not the time for it. */
bool tr_layout_loadaddr(struct tr_layout *layout, uint64_t address);

/*
 * An object that was loaded, from its record: its range, and its path. TR_WARN:
 * the record does not say, or it lies over another one; it is not loaded then.
 */
struct tr_loaded_object {
	uint64_t first, last;
	uint8_t digits;
	struct tr_text path; /* its bytes */
};
enum tr_status tr_layout_load(struct tr_layout *layout, struct tr_record *record, size_t id,
			      struct tr_loaded_object *object, struct tr_error *err);

void tr_layout_unload(struct tr_layout *layout, uint64_t address);

/* True: every address is its own place. */
static inline bool tr_layout_is_plain(const struct tr_layout *layout)
{
	return !layout->kernel && !layout->objects.count;
}

/*
 * The address as the file that it belongs to has it. False: it belongs to
 * nothing that the trace is about (code outside the kernel). *object is NULL
 * for the program itself.
 */
bool tr_layout_place(const struct tr_layout *layout, struct tr_block *block,
		     const struct tr_object **object);

void tr_layout_free(struct tr_layout *layout);

#endif
