/* SPDX-License-Identifier: MIT */
/*
 * What writer.c and foreign.c share: the tables of blocks and hits, which are written after their
 * counts, and the blocks of a trace that is not a drcov file.
 */
#ifndef TR_FORMAT_DRCOV_WRITER_H
#define TR_FORMAT_DRCOV_WRITER_H

#include "core/map.h"
#include "core/output.h"
#include "coverage/layout.h"
#include "coverage/module_table.h"
#include "format/drcov/drcov.h"

struct tr_drcov_blocks {
	bool text, counted; /* as text; with hit counts */
	bool absolute;	    /* starts are addresses, as in the source */
	unsigned digits;    /* of an address */
	uint64_t count;
	struct tr_buffer table; /* entries or rows */
	struct tr_buffer hits;
	struct tr_buffer lines, hits_line; /* as the source spells them; empty: as usual */
};

/* spelled: the row of a text table as its source has it, or data NULL. False: memory is out. */
bool tr_drcov_blocks_add(struct tr_drcov_blocks *blocks, const struct tr_drcov_row *row,
			 uint64_t hits, struct tr_text spelled);

/*
 * Blocks of a trace that is no drcov file: absolute addresses, in the order of
 * their execution, again and again. Here they become a set, each with the
 * module that it lies in and how often it was there. What a trace says of that
 * comes first, then -O module, then one module for all the rest.
 */
struct tr_drcov_foreign_block;

struct tr_drcov_foreign {
	struct tr_layout layout; /* what is loaded where, now */
	struct tr_map by_range;	 /* objects that ever were loaded */
	struct tr_drcov_object {
		struct tr_drcov_object *next;
		size_t id;
		uint64_t base, end;
		struct tr_text path;
	} * first_object, **last_object;
	size_t object_count;
	size_t first_row;	  /* of the objects, in the list of modules */
	struct tr_buffer program; /* its path */
	struct tr_buffer list;	  /* the trace's own list of modules */
	uint64_t load;		  /* where the kernel was loaded; 0: not said */
	bool history;		  /* entries count executions */
	bool map;		  /* this section is a decision map */
	uint8_t digits;		  /* of an address; 0: none was seen */

	struct tr_map seen;
	struct tr_arena memory;
	struct tr_drcov_foreign_block *first, **last;
	size_t count;
	uint64_t empty;	  /* blocks without a size */
	uint64_t too_far; /* from every module */
};

void tr_drcov_foreign_begin(struct tr_drcov_foreign *foreign);
void tr_drcov_foreign_free(struct tr_drcov_foreign *foreign);

/*
 * True: the record is the list of modules of another dump, and one is here
 * already. Memory: as tr_ask.
 */
bool tr_drcov_foreign_is_next(const struct tr_drcov_foreign *foreign, struct tr_record *record,
			      struct tr_error *err);

/* Takes a record in. TR_END: it is of a kind that is none of ours. err is clear. */
enum tr_status tr_drcov_foreign_put(struct tr_drcov_foreign *foreign, struct tr_record *record,
				    struct tr_error *err);

/*
 * Makes the list of modules. settings: with -O module; version, table: -O, or 0.
 * False: memory is out.
 */
bool tr_drcov_foreign_list(struct tr_drcov_foreign *foreign, const struct tr_settings *settings,
			   struct tr_module_list *list, unsigned version, unsigned table);

/* Then the blocks. False: memory is out. */
bool tr_drcov_foreign_blocks(struct tr_drcov_foreign *foreign, struct tr_module_list *list,
			     struct tr_drcov_blocks *blocks);

#endif
