/* SPDX-License-Identifier: MIT */
/*
 * The text of drcov files, except the blocks: the lines before the module table, its columns and
 * rows, and the lines before the other tables. Execution traces that were converted from drcov keep
 * their list of modules as the same text.
 *
 *	lines -> tr_drcov_head_line -> columns -> tr_module_parse -> tr_module_line -> record
 *	record -> tr_module_list_add -> list of rows -> tr_module_list_write -> lines
 *
 * A row is
 *
 *	  0,   0, 0x0000000000400000, 0x0000000000621000, ...,  /usr/bin/ls
 *
 * The columns, which differ between versions and systems, are named in a line of their own. Only
 * the last one, the path, may contain commas.
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
	TR_MODULE_CONTAINING_ID, /*
				  * the module of which this is a segment; its own id if it is a
				  * complete module
				  */
	TR_MODULE_BASE,		 /* also called start */
	TR_MODULE_END,
	TR_MODULE_ENTRY,
	TR_MODULE_OFFSET, /* in the file */
	TR_MODULE_PREFERRED_BASE,
	TR_MODULE_CHECKSUM,
	TR_MODULE_TIMESTAMP,
	TR_MODULE_SIZE, /* in tables that have nothing else */
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

/*
 * Parses a row without its line end. False: it has too few cells, or a cell is not a number where
 * one is required.
 */
bool tr_module_parse(const struct tr_module_columns *columns, struct tr_text row,
		     struct tr_module *module);

/* Appends the row as DynamoRIO writes it, with its line feed. digits: of an address, 8 or 16. */
void tr_module_write(const struct tr_module_columns *columns, const struct tr_module *module,
		     unsigned digits, struct tr_buffer *to);

/* Returns the number in that column, or `otherwise`. */
uint64_t tr_module_number(const struct tr_module_columns *columns, const struct tr_module *module,
			  enum tr_module_column kind, uint64_t otherwise);

/*
 * Reads the row of a record of kind module in a table of these columns. A cell without a field is
 * TR_MODULE_NONE. TR_OK; TR_WARN: the record is malformed; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_module_read(const struct tr_module_columns *columns, struct tr_record *record,
			      struct tr_module *module, struct tr_error *err);

/* Where a module is loaded, according to a record of kind module. */
struct tr_module_fact {
	uint64_t id;	     /* TR_MODULE_NO_ID: it has none, and no block can name it */
	uint64_t containing; /* the module of which it is a segment; its own id: it is complete */
	uint64_t base;
	struct tr_text path; /* its bytes, in the arena of the record */
};

/* TR_OK; TR_FATAL: memory is exhausted. What is malformed counts as absent. */
enum tr_status tr_module_ask(struct tr_record *record, struct tr_module_fact *fact,
			     struct tr_error *err);

/* Appends the line of a record with the columns as fields, without its line feed. */
void tr_module_line(const struct tr_module_columns *columns, const struct tr_module *module,
		    uint64_t seq, struct tr_buffer *line);

#define TR_DRCOV_VERSION "DRCOV VERSION:"

struct tr_drcov_head {
	uint64_t version;
	struct tr_text flavor; /* points into the parsed text; data NULL: there is no such line */
	uint64_t table;	       /* version of the module table, 1 if it is not stated; 0: no table */
	uint64_t count;	       /* number of modules according to the line of the table */
	struct tr_module_columns columns; /* count 0: there is no such line */
	bool has_version;
	bool odd;	  /* it has unknown lines before that of the table */
	bool bad_columns; /* the line of columns has too many, or repeats one */
};

/*
 * Takes the next line of a file, with or without its line end, if it belongs to the head. Unknown
 * lines before that of the table do, too: they are kept. False: the head ends before this line, or
 * has bad columns, or the text has none.
 */
bool tr_drcov_head_line(struct tr_drcov_head *head, struct tr_text line);

/* True if no line can follow; a table of version 2 or later has a line of columns. */
bool tr_drcov_head_whole(const struct tr_drcov_head *head);

/* True if the text begins as a head does, so that it can be a list of modules. */
bool tr_drcov_head_begins(struct tr_text text);

/*
 * Parses all lines of text. False: it is not a head alone, as it has other lines after that of the
 * table, or the last line has no end.
 */
bool tr_drcov_head_parse(struct tr_drcov_head *head, struct tr_text text);

void tr_drcov_head_write(const struct tr_drcov_head *head, struct tr_buffer *to);

#define TR_DRCOV_TEXT_LINE "module id, start, size:"
#define TR_DRCOV_TEXT_MARK "module id" /* this prefix means that the blocks are text */

/* Appends n with blanks before it up to the width. */
static inline void tr_drcov_put_padded(uint64_t n, unsigned width, struct tr_buffer *to)
{
	for (size_t len = tr_decimal_length(n); len < width; len++)
		tr_buffer_put_byte(to, ' ');
	tr_buffer_put_decimal(to, n);
}

/* Parses "BB Table: 12 bbs". False: it is something else. */
bool tr_drcov_blocks_line(struct tr_text line, uint64_t *count);
void tr_drcov_blocks_write(uint64_t count, bool text, struct tr_buffer *to);

/* Parses "Hit Count Table: version 1, count 12". False: it is something else. */
bool tr_drcov_hits_line(struct tr_text line, uint64_t *count);
void tr_drcov_hits_write(uint64_t count, struct tr_buffer *to);

/* Removes the next line from text and returns it with its line feed; len 0 at the end. */
struct tr_text tr_drcov_next_line(struct tr_text *text);

/*
 * A list of modules to be written: the head of a drcov file and the rows of its module table.
 * Execution traces keep it in their USER_DATA, so that coverage converted to a trace can be
 * converted back without loss. The owner frees it with tr_module_list_free.
 */

/* The place of a module, by the number of its row. */
struct tr_module_place {
	uint64_t base, end; /* of the row */
	uint64_t origin;    /* address from which starts of blocks are counted */
	uint64_t id;
};

struct tr_module_list {
	struct tr_drcov_head head; /* its count stays 0; see `count` */
	struct tr_buffer flavor;   /* head.flavor is in it */
	struct tr_buffer spelled;  /*
				    * the head as its source spells it; empty: the usual one
				    */
	struct tr_module_columns
		source;	 /* columns of the records; head.columns are those written */
	unsigned digits; /* of an address */
	struct tr_buffer rows;
	struct tr_module_place *places;
	size_t count, cap;
	uint32_t *by_id;  /* number of the row + 1, for the ids that blocks can have */
	uint32_t *sorted; /* rows by base; NULL: not needed yet */
};

void tr_module_list_free(struct tr_module_list *list);

/*
 * Clears the list and applies the header; NULL, or the header of another format, means version 2
 * with base, end, entry and path. TR_WARN: a part of the header is left out, because a table cannot
 * hold it; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_module_list_begin(struct tr_module_list *list, struct tr_record *header,
				    struct tr_error *err);

/* Selects the version of the table, or of the blocks, to be written. 0: unchanged. */
void tr_module_list_choose(struct tr_module_list *list, unsigned version, unsigned table);

/*
 * Adds the place of a module, whose cells are those of list->source, without a row. False: memory
 * is exhausted.
 */
bool tr_module_list_place(struct tr_module_list *list, const struct tr_module *module);

/* Adds a record of kind module. TR_OK; TR_WARN: it is malformed; TR_FATAL: memory is exhausted. */
enum tr_status tr_module_list_add(struct tr_module_list *list, struct tr_record *record,
				  struct tr_error *err);

/*
 * Adds a module of which nothing else is known; end is the first address after it. False: memory is
 * exhausted.
 */
bool tr_module_list_put(struct tr_module_list *list, uint64_t base, uint64_t end,
			struct tr_text path);

/*
 * Reads head and rows from text that tr_module_list_write made; version and table as for choose.
 * TR_OK; TR_END: it is not such text; TR_FATAL: memory is exhausted.
 */
enum tr_status tr_module_list_parse(struct tr_module_list *list, struct tr_text text,
				    unsigned version, unsigned table);

void tr_module_list_write(const struct tr_module_list *list, struct tr_buffer *to);

enum { TR_MODULE_IDS = 65535 }; /* 65535 is the id of blocks in no module */

/* Returns the module with that id, or NULL. */
static inline const struct tr_module_place *tr_module_list_id(const struct tr_module_list *list,
							      uint64_t id)
{
	uint32_t row = list->by_id && id < TR_MODULE_IDS ? list->by_id[id] : 0;
	return row ? &list->places[row - 1] : NULL;
}

/* Returns the digits of the addresses that tr_module_list_absolute computes. */
unsigned tr_module_list_digits(const struct tr_module_list *list);

/*
 * A table of version 1 has no bases, so the addresses of its blocks are starts. Gives each id 4 GiB
 * of its own. Changes *address, of a block in the module of that id, to an address that no other
 * module has.
 */
void tr_module_list_absolute(const struct tr_module_list *list, uint64_t id, uint64_t *address);

/*
 * The inverse: finds the module that contains such an address, and the start in it. Code in no
 * module has the id 65535, and the address itself. *failed: memory is exhausted.
 */
void tr_module_list_relative(struct tr_module_list *list, uint64_t address, uint64_t *id,
			     uint64_t *start, bool *failed);

#endif
