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

#include "core/buffer.h"
#include "core/error.h"
#include "record/record.h"

enum { TR_MODULE_COLUMNS = 16, TR_MODULE_COLUMNS_TEXT = 320 };

enum tr_module_column {
	TR_MODULE_ID,
	TR_MODULE_CONTAINING_ID, /* of the module whose segment this is; its own where it is whole */
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
	uint16_t ends[TR_MODULE_COLUMNS]; /* of each name in text: no pointers, so it can be copied */
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

/* From "id, base, end, path". False: there are none, too many, or one twice. */
bool tr_module_columns_parse(struct tr_module_columns *columns, struct tr_text list);

/* Those of a table's version; with checksum and timestamp, as Windows has them. */
void tr_module_columns_of(struct tr_module_columns *columns, unsigned table, bool windows);

bool tr_module_columns_have(const struct tr_module_columns *columns, enum tr_module_column kind);
bool tr_module_columns_equal(const struct tr_module_columns *a, const struct tr_module_columns *b);
void tr_module_columns_write(const struct tr_module_columns *columns, struct tr_buffer *to);

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
