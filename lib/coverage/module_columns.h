/* The columns of a table of modules (module_table.h). */
#ifndef TR_COVERAGE_MODULE_COLUMNS_H
#define TR_COVERAGE_MODULE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

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

#endif
