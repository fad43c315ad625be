/* SPDX-License-Identifier: MIT */
/*
 * The text of drcov files, except the blocks: the lines before the module table, its columns
 * and rows, and the lines before the other tables. Execution traces keep a list of modules in
 * the same words (module_list.h).
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

/* Adds the column of that name. False: too many, too long, or it is there already. */
bool tr_module_columns_add(struct tr_module_columns *columns, struct tr_text name);

/* Those of a table's version; with checksum and timestamp, as Windows has them. */
void tr_module_columns_of(struct tr_module_columns *columns, unsigned table, bool windows);

bool tr_module_columns_have(const struct tr_module_columns *columns, enum tr_module_column kind);
bool tr_module_columns_equal(const struct tr_module_columns *a, const struct tr_module_columns *b);

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

bool tr_module_equal(const struct tr_module_columns *columns, const struct tr_module *a,
		     const struct tr_module *b);

/* The number of that column, or `otherwise`. */
uint64_t tr_module_number(const struct tr_module_columns *columns, const struct tr_module *module,
			  enum tr_module_column kind, uint64_t otherwise);

/* Appends the record's line, less its line feed. Its fields are the columns. */
void tr_module_line(const struct tr_module_columns *columns, const struct tr_module *module,
		    uint64_t seq, struct tr_buffer *line);

/*
 * The row that a record of kind module is in a table of these columns; what it
 * does not say is TR_MODULE_NONE. TR_OK, TR_WARN, TR_FATAL: memory.
 */
enum tr_status tr_module_read(const struct tr_module_columns *columns, struct tr_record *record,
			      struct tr_module *module, struct tr_error *err);

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

/* The columns that go with the version, where no line says them. */
void tr_drcov_head_supply(struct tr_drcov_head *head);

/* All lines of text. */
void tr_drcov_head_parse(struct tr_drcov_head *head, struct tr_text text);

void tr_drcov_head_write(const struct tr_drcov_head *head, struct tr_buffer *to);
bool tr_drcov_head_equal(const struct tr_drcov_head *a, const struct tr_drcov_head *b);

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

#endif
