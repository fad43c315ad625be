/* SPDX-License-Identifier: MIT */
/*
 * The lines of several windows as one source: always the line that is first in
 * time. A line without a time stays behind the one that it stood behind.
 */
#ifndef TR_CORE_LINE_MERGE_H
#define TR_CORE_LINE_MERGE_H

#include <stdbool.h>
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
	uint64_t number;		   /* of its task, for tr_line_merge_tasks */
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

/* What a line does to other parts, where each is what one task did. */
enum tr_line_merge_act {
	TR_LINE_NOTHING,
	TR_LINE_CALLS, /* it makes that task */
	TR_LINE_NEEDS, /* what that task did comes before it */
};

/*
 * For the parts of a source that was just made. Of lines of one time those of a part that is
 * called come behind the call, and before what the caller says next. Untimed: no line has a
 * time. Then a part sleeps until a line of another one calls or needs it; where nobody is awake
 * the lowest number is.
 */
void tr_line_merge_tasks(struct tr_source *source, bool timed,
			 enum tr_line_merge_act (*act)(struct tr_text line, uint64_t *number));

#endif
