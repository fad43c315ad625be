/* SPDX-License-Identifier: MIT */
/*
 * The load addresses of code, according to the records of an execution trace: that of the kernel,
 * and those of the shared objects of the current section.
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

/* A shared object that is loaded: a range of addresses. */
struct tr_object {
	uint64_t first, last;
	size_t id; /* 0 until the caller sets it */
};

/* Far more objects than any program loads; a trace must not exhaust the memory. */
enum { TR_OBJECTS_MAX = 4096 };

struct tr_layout {
	bool kernel_asked; /* a kernel or program was named; only the first name counts */
	bool kernel;	   /* blocks have no address in a file until the load address is known */
	bool loaded;
	uint64_t load;		   /* load address of the kernel; 0: none */
	struct tr_object *objects; /* sorted; they do not overlap */
	size_t count, cap;
};

/*
 * Reads a number as Ada's 'Image writes it, with a blank before the digits. False: it is not a
 * number.
 */
bool tr_ada_number(struct tr_text text, uint64_t *number);

/* Handles a record of kind section: forgets everything that was loaded. */
void tr_layout_section(struct tr_layout *layout, bool info);

/* Handles a record of kind info. TR_OK; TR_FATAL: memory is exhausted. */
enum tr_status tr_layout_info(struct tr_layout *layout, struct tr_record *record,
			      struct tr_error *err);

/* Sets the load address of the kernel. False: it is not allowed here. */
bool tr_layout_loadaddr(struct tr_layout *layout, uint64_t address);

enum tr_layout_answer {
	TR_LAYOUT_ADDED,
	TR_LAYOUT_OVERLAP, /* with a loaded object, or the object ends beyond the top of memory */
	TR_LAYOUT_FULL,
	TR_LAYOUT_MEMORY,
};

/* Loads an object of that size at an address; digits: 8 or 16, the width of addresses. */
enum tr_layout_answer tr_layout_add(struct tr_layout *layout, uint64_t first, uint8_t digits,
				    uint64_t size);

/* Returns the object that contains the address, or NULL. Valid until one is loaded or unloaded. */
struct tr_object *tr_layout_find(const struct tr_layout *layout, uint64_t address);

/*
 * Handles a record of kind load, and returns its content; tr_layout_find(first) is the new object.
 * TR_WARN: the record is incomplete, or the object overlaps another one, and is not loaded.
 */
struct tr_loaded_object {
	uint64_t first, last;
	uint8_t digits;
	struct tr_text path; /* its bytes */
};
enum tr_status tr_layout_load(struct tr_layout *layout, struct tr_record *record,
			      struct tr_loaded_object *object, struct tr_error *err);

/* Unloads the object that contains the address. False: there is none. */
bool tr_layout_unload(struct tr_layout *layout, uint64_t address);

/* True if every address is used unchanged. */
static inline bool tr_layout_is_plain(const struct tr_layout *layout)
{
	return !layout->kernel && !layout->count;
}

/*
 * Converts the address of a block to the one in its file. False: the block is not part of the
 * program that the trace is about (code outside the kernel). *object is NULL for the program
 * itself.
 */
bool tr_layout_place(const struct tr_layout *layout, struct tr_block *block,
		     const struct tr_object **object);

void tr_layout_free(struct tr_layout *layout);

#endif
