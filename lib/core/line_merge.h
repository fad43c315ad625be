/* SPDX-License-Identifier: MIT */
/*
 * Merges the lines of several windows into one source, in the order of their times. A line without
 * a time follows the line before it in its own window. Not thread safe.
 */
#ifndef TR_CORE_LINE_MERGE_H
#define TR_CORE_LINE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/input.h"
#include "core/source.h"

/* Compared number by number from left to right; of equal times the earlier part is first. */
struct tr_line_merge_time {
	uint64_t seconds, fraction, rank;
};

enum { TR_LINE_MERGE_PREFIX = 24 };

struct tr_line_merge_part {
	struct tr_input *in;
	uint64_t number;		   /* number of the task, for tr_line_merge_tasks */
	struct tr_line_merge_time time;	   /* of the lines before the first one with a time */
	char prefix[TR_LINE_MERGE_PREFIX]; /* written before each line; NUL-terminated */
};

/*
 * Creates the source. look: sets the time that a line (without its LF) contains. Takes ownership of
 * the windows, also if it fails; parts is copied. NULL: memory is exhausted. An error of a part is
 * reported after all lines.
 */
struct tr_source *tr_line_merge_new(const struct tr_line_merge_part *parts, size_t count,
				    void (*look)(struct tr_text line,
						 struct tr_line_merge_time *time));

/* How a line affects the part of another task, if each part has the lines of one task. */
enum tr_line_merge_act {
	TR_LINE_NOTHING,
	TR_LINE_CALLS, /* it creates the task, whose lines follow it */
	TR_LINE_NEEDS, /* the lines of the task precede it */
};

/*
 * Orders the parts of a new source as tasks. Of the lines of one time, those of a part that is
 * called follow the call and precede the next line of the caller. timed false: no line has a time.
 * A part then sleeps until a line of another one calls or needs it; if all parts sleep, the one
 * with the lowest number continues.
 */
void tr_line_merge_tasks(struct tr_source *source, bool timed,
			 enum tr_line_merge_act (*act)(struct tr_text line, uint64_t *number));

#endif
