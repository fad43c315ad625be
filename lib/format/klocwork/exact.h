/*
 * --exact: every byte of the trace is in the stream. What the writer would not
 * give back by itself stands in the .raw of a record, also the blank lines
 * before it and the missing line end behind it.
 */
#ifndef TR_FORMAT_KLOCWORK_EXACT_H
#define TR_FORMAT_KLOCWORK_EXACT_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/buffer.h"
#include "core/text.h"

struct tr_klocwork_exact {
	bool on;
	bool amid_line;		   /* the unit before did not end its line */
	struct tr_buffer blank;	   /* blank lines since the last unit */
	struct tr_buffer rendered; /* scratch: what the writer would write */
};

/*
 * Adds .raw to a record's line (no LF) that was made of this unit and the blank
 * lines, where it needs it. Failures stick in line.
 */
void tr_klocwork_exact_add_raw(struct tr_klocwork_exact *exact, struct tr_text unit,
			       struct tr_buffer *line, struct tr_arena *arena);

/* Without --exact, for an object that the record's fields cannot hold: its bytes and a line end. */
void tr_klocwork_add_raw(struct tr_text object, struct tr_buffer *line);

void tr_klocwork_exact_free(struct tr_klocwork_exact *exact);

#endif
