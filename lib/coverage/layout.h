/*
 * Where code was loaded, as the records of an execution trace tell it: the
 * kernel's load address and the shared objects, of one section after the
 * other. From it the address that a block has in its own file.
 */
#ifndef TR_COVERAGE_LAYOUT_H
#define TR_COVERAGE_LAYOUT_H

#include "coverage/block.h"
#include "coverage/objects.h"
#include "record/record.h"

struct tr_layout {
	bool kernel_asked; /* the information named a kernel, or an empty one: only the first counts */
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
