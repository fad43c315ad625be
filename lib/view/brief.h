/* SPDX-License-Identifier: MIT */
/* Short forms of values and cells, for views with little room. */
#ifndef TR_VIEW_BRIEF_H
#define TR_VIEW_BRIEF_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buffer.h"
#include "record/record.h"

/*
 * Appends a field's value as trec spells it, but a blob as blob:LEN. After `limit` bytes it is cut
 * and ends in "…". False: memory is exhausted.
 */
bool tr_brief_value(struct tr_record *record, struct tr_field *field, size_t limit,
		    struct tr_buffer *to);

/* Cuts what was appended from offset `from` on in the same way. Returns whether it was longer. */
bool tr_brief_cut(struct tr_buffer *to, size_t from, size_t limit);

/* Appends a cell of any content as a JSON string. */
void tr_brief_cell(const struct tr_cell *cell, struct tr_arena *arena, struct tr_buffer *to);

/* Returns the name of a program without its path. A cell that is not text stays as it is. */
struct tr_cell tr_brief_program(const struct tr_cell *name);

#endif
