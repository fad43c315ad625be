/* SPDX-License-Identifier: MIT */
/*
 * The text of drcov files, except the blocks: the lines before the module table, its columns
 * and rows, and the lines before the other tables. Execution traces keep a list of modules in
 * the same words.
 *
 *	lines -> tr_drcov_head_line -> columns -> tr_module_parse -> struct tr_module ->
 *tr_module_line record -> tr_module_read -> struct tr_module -> tr_module_write -> row
 *
 * A row is
 *
 *	  0,   0, 0x0000000000400000, 0x0000000000621000, ...,  /usr/bin/ls
 *
 * A line of its own names the columns; they differ between versions and systems. Only the
 * last one, the path, may contain commas.
 */
#ifndef TR_COVERAGE_MODULE_TABLE_H
#define TR_COVERAGE_MODULE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/text.h"
#include "record/record.h"

enum { TR_MODULE_COLUMNS = 16, TR_MODULE_COLUMNS_TEXT = 320 };

enum tr_module_column {
	TR_MODULE_ID,
	TR_MODULE_CONTAINING_ID, /* of the module whose segment this is; its own where it is whole
				  */
	TR_MODULE_BASE,		 /* also called start */
	TR_MODULE_END,
	TR_MODULE_ENTRY,
	TR_MODULE_OFFSET, /* in the file */
	TR_MODULE_PREFERRED_BASE,
	TR_MODULE_CHECKSUM,
	TR_MODULE_TIMESTAMP,
	TR_MODULE_SIZE, /* of tables that know nothing else */
	TR_MODULE_PATH,
	TR_MODULE_OTHER,
};

struct tr_module_columns {
	size_t count;
	enum tr_module_column kinds[TR_MODULE_COLUMNS];
	uint16_t ends[TR_MODULE_COLUMNS]; /* of each name in text: no pointers, so it can be copied
					   */
	char text[TR_MODULE_COLUMNS_TEXT];
};

static inline struct tr_text tr_module_column_name(const struct tr_module_columns *columns,
						   size_t i)
{
	size_t begin = i ? columns->ends[i - 1] : 0;
	return (struct tr_text){ columns->text + begin, columns->ends[i] - begin };
}

#define TR_MODULE_NO_ID UINT64_MAX /* the number of a containing_id of -1 */

struct tr_module_cell {
	enum { TR_MODULE_NONE, TR_MODULE_NUMBER, TR_MODULE_TEXT } type;
	uint64_t number;
	struct tr_text text;
};

/* A row: a cell for each column of its table. Borrows its texts. */
struct tr_module {
	struct tr_module_cell cells[TR_MODULE_COLUMNS];
};

/* row: without its line end. False: it has fewer cells, or one that should be a number is none. */
bool tr_module_parse(const struct tr_module_columns *columns, struct tr_text row,
		     struct tr_module *module);

/* Appends the row as DynamoRIO spells it, with its line feed. digits: of an address, 8 or 16. */
void tr_module_write(const struct tr_module_columns *columns, const struct tr_module *module,
		     unsigned digits, struct tr_buffer *to);

/* The number of that column, or `otherwise`. */
uint64_t tr_module_number(const struct tr_module_columns *columns, const struct tr_module *module,
			  enum tr_module_column kind, uint64_t otherwise);

/* Appends the record's line, less its line feed. Its fields are the columns. */
void tr_module_line(const struct tr_module_columns *columns, const struct tr_module *module,
		    uint64_t seq, struct tr_buffer *line);

#define TR_DRCOV_VERSION "DRCOV VERSION:"

struct tr_drcov_head {
	uint64_t version;
	struct tr_text flavor; /* into what was parsed; data NULL: there is no such line */
	uint64_t table;	       /* version of the module table; 1 where it does not say */
	uint64_t count;	       /* of modules, as the table's line has it */
	struct tr_module_columns columns;
	bool has_version, has_table, has_columns;
};

/* Takes in one line, with or without its line end. False: it is none that belongs there. */
bool tr_drcov_head_line(struct tr_drcov_head *head, struct tr_text line);

/* A table of version 2 and later has a line of columns; true also when that is there. */
bool tr_drcov_head_whole(const struct tr_drcov_head *head);

/* All lines of text. */
void tr_drcov_head_parse(struct tr_drcov_head *head, struct tr_text text);

void tr_drcov_head_write(const struct tr_drcov_head *head, struct tr_buffer *to);

#define TR_DRCOV_TEXT_LINE "module id, start, size:"
#define TR_DRCOV_TEXT_MARK "module id" /* so much of it says that the blocks are text */

/* "BB Table: 12 bbs". False: it is something else. */
bool tr_drcov_blocks_line(struct tr_text line, uint64_t *count);
void tr_drcov_blocks_write(uint64_t count, bool text, struct tr_buffer *to);

/* "Hit Count Table: version 1, count 12". */
bool tr_drcov_hits_line(struct tr_text line, uint64_t *count);
void tr_drcov_hits_write(uint64_t count, struct tr_buffer *to);

/* The next line of text, with its line feed; len 0 at the end. */
struct tr_text tr_drcov_next_line(struct tr_text *text);

/*
 * A list of modules that is being written: the head of a drcov file and the
 * rows of its module table. Execution traces keep it in their USER_DATA, so
 * that coverage which became a trace becomes the same coverage again.
 */

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
