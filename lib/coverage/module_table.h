/*
 * Tables of modules as coverage tools write them (drcov): the columns, and rows
 * of text. A row is
 *
 *	  0,   0, 0x0000000000400000, 0x0000000000621000, ...,  /usr/bin/ls
 *
 * Which columns there are is said by a line of their own, and differs between
 * versions and systems; only the last, the path, may hold commas.
 */
#ifndef TR_COVERAGE_MODULE_TABLE_H
#define TR_COVERAGE_MODULE_TABLE_H

#include "core/error.h"
#include "coverage/module_columns.h"
#include "record/record.h"

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

/* The path, "" where there is none. */
struct tr_text tr_module_path(const struct tr_module_columns *columns,
			      const struct tr_module *module);

/* Appends the record's line, less its line feed. Its fields are the columns. */
void tr_module_line(const struct tr_module_columns *columns, const struct tr_module *module,
		    uint64_t seq, struct tr_buffer *line);

/*
 * The row that a record of kind module is in a table of these columns; what it
 * does not say is TR_MODULE_NONE. TR_OK, TR_WARN, TR_FATAL: memory.
 */
enum tr_status tr_module_read(const struct tr_module_columns *columns, struct tr_record *record,
			      struct tr_module *module, struct tr_error *err);

#endif
