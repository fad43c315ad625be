/* SPDX-License-Identifier: MIT */
/*
 * A list of modules that is being written: the head of a drcov file and the
 * rows of its module table. Execution traces keep it in their USER_DATA, so
 * that coverage which became a trace becomes the same coverage again.
 */
#ifndef TR_COVERAGE_MODULE_LIST_H
#define TR_COVERAGE_MODULE_LIST_H

#include "coverage/module_table.h"

/* What a block's address counts from, by the number of its row. */
struct tr_module_place {
	uint64_t base, end; /* of the row */
	uint64_t origin;    /* what starts count from */
	uint64_t id;
};

struct tr_module_list {
	struct tr_drcov_head head;	 /* count stays 0: `count` is what is there */
	struct tr_buffer flavor;	 /* head.flavor is in it */
	struct tr_buffer spelled;	 /* the head as its source spells it; empty: as usual */
	struct tr_module_columns source; /* of the records; head.columns are those written */
	unsigned digits;		 /* of an address */
	struct tr_buffer rows;
	struct tr_module_place *places;
	size_t count, cap;
	uint32_t *by_id;  /* number of the row + 1, of ids that blocks can have */
	uint32_t *sorted; /* rows by base; NULL: not asked for yet */
};

void tr_module_list_free(struct tr_module_list *list);

/*
 * Empties the list and takes what the header says; NULL, or a header of
 * another format: version 2, with base, end, entry and path. False: memory.
 */
bool tr_module_list_begin(struct tr_module_list *list, struct tr_record *header);

/* Writes a table of that version, or blocks as that version counts them. 0: as it was. */
void tr_module_list_choose(struct tr_module_list *list, unsigned version, unsigned table);

/* A record of kind module. TR_OK, TR_WARN: it is none, TR_FATAL: memory. */
enum tr_status tr_module_list_add(struct tr_module_list *list, struct tr_record *record,
				  struct tr_error *err);

/* A module of which only this is known; end is the first address behind it. False: memory. */
bool tr_module_list_put(struct tr_module_list *list, uint64_t base, uint64_t end,
			struct tr_text path);

/*
 * Head and rows from text that tr_module_list_write made; version and table as
 * for choose. TR_OK; TR_END: it is none; TR_FATAL: memory.
 */
enum tr_status tr_module_list_parse(struct tr_module_list *list, struct tr_text text,
				    unsigned version, unsigned table);

void tr_module_list_write(const struct tr_module_list *list, struct tr_buffer *to);

/* The module with that id, or NULL. */
const struct tr_module_place *tr_module_list_id(const struct tr_module_list *list, uint64_t id);

/* Digits of the addresses that tr_module_list_absolute gives. */
unsigned tr_module_list_digits(const struct tr_module_list *list);

/*
 * A table of version 1 says no bases, so addresses are starts: there each id
 * gets 4 GiB of its own. *address, of a block in the module of that id, becomes
 * one that is no other module's.
 */
void tr_module_list_absolute(const struct tr_module_list *list, uint64_t id, uint64_t *address);

/*
 * The way back: the module that such an address lies in, with the start that
 * it has there. Code in no module has the id 65535, and the address. *failed:
 * memory is out.
 */
void tr_module_list_relative(struct tr_module_list *list, uint64_t address, uint64_t *id,
			     uint64_t *start, bool *failed);

#endif
