/*
 * The lines of several windows as one source: always the line that is first in
 * time. A line without a time stays behind the one that it stood behind.
 */
#ifndef TR_CORE_LINE_MERGE_H
#define TR_CORE_LINE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/input.h"
#include "core/source.h"

/* Of two lines the one with the lower numbers is first, from left to right; then the earlier part.
 */
struct tr_line_merge_time {
	uint64_t seconds, fraction, rank;
};

enum { TR_LINE_MERGE_PREFIX = 24 };

struct tr_line_merge_part {
	struct tr_input *in;
	uint64_t number;		   /* for tr_line_merge_calls */
	struct tr_line_merge_time time;	   /* of lines before the first that has one */
	char prefix[TR_LINE_MERGE_PREFIX]; /* put in front of each line; NUL-terminated */
};

/*
 * look: sets what a line (without its LF) says of its time, and leaves the rest.
 * The windows belong to the source, and are freed also where that is NULL: memory
 * is out. parts is copied. An error of a part is reported when everything is given.
 */
struct tr_source *tr_line_merge_new(const struct tr_line_merge_part *parts, size_t count,
				    void (*look)(struct tr_text line,
						 struct tr_line_merge_time *time));

/*
 * For parts without times, of a source that was just made: a part sleeps until a
 * line of another one calls it (true, and its number), and then has all its
 * lines before that one goes on. Where nobody is awake the lowest number is.
 */
void tr_line_merge_calls(struct tr_source *source,
			 bool (*calls)(struct tr_text line, uint64_t *number));

#endif
