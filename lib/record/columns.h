/* SPDX-License-Identifier: MIT */
/*
 * The fixed columns of a record's line, where they are as plain as nearly always.
 * What is not so is left to tr_record_from_line, which also says what is wrong
 * with it. Many lines at a time: tr_sieve_pick.
 */
#ifndef TR_RECORD_COLUMNS_H
#define TR_RECORD_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

enum tr_column {
	TR_COLUMN_KIND,
	TR_COLUMN_SEQ,
	TR_COLUMN_TIME,
	TR_COLUMN_TASK,
	TR_COLUMN_NAME,
	TR_COLUMNS,
};

struct tr_columns {
	/* where each begins, and what is behind the TAB or LF that ends the last of them */
	const char *start[TR_COLUMNS + 1];
	uint64_t kind; /* its bytes: the first one lowest, 0 behind the last */
	bool escapes;  /* a backslash stands in one of them */
};

static inline struct tr_text tr_columns_text(const struct tr_columns *columns,
					     enum tr_column column)
{
	return tr_text_span(columns->start[column], columns->start[column + 1] - 1);
}

/*
 * True when the line from p to its LF at lf is a record's, of a kind of up to
 * eight letters, and no fixed column of it is missing or empty. False says
 * nothing.
 */
bool tr_columns_find(const char *p, const char *lf, struct tr_columns *columns);

/* The kind as tr_columns has it; false: it is none that tr_columns_find accepts. */
bool tr_columns_kind(struct tr_text kind, uint64_t *word);

#endif
