/* SPDX-License-Identifier: MIT */
/* What the files of the Chrome view share. */
#ifndef TR_VIEW_CHROME_PRIVATE_H
#define TR_VIEW_CHROME_PRIVATE_H

#include "core/map.h"
#include "process/forest.h"
#include "record/calls.h"
#include "view/chrome.h"

/* "Processes" of the viewer's, in each segment. */
enum tr_chrome_group { TR_CHROME_RUNS, TR_CHROME_CALLS, TR_CHROME_REST, TR_CHROME_GROUPS };

/* API calls of a segment. */
struct tr_chrome_calls {
	struct tr_map live; /* enters that have not returned, by task and seq */
	uint64_t frame, calls, draws;
	int64_t frame_began;
};

struct tr_chrome {
	struct tr_output *out;
	struct tr_call_kinds call_kinds;
	struct tr_forest forest;
	struct tr_buffer line;
	bool any; /* an event was written */
	bool finished;

	/* the segment */
	uint64_t segment;
	bool decided; /* timed says whether there are times */
	bool timed;
	bool sequence;	   /* some segment had none */
	int64_t base, now; /* nanoseconds; ordinals of records count as microseconds */
	uint64_t records;
	bool named[TR_CHROME_GROUPS];
	struct tr_map tasks;	/* struct task of chrome_event.c, by id */
	uint64_t strange_tasks; /* those whose id is no small number */
	struct tr_arena arena;	/* of tasks */
	struct tr_chrome_calls calls;
	struct tr_buffer origins; /* JSON: the first time of each segment */
};

/*
 * chrome_event.c: an event in chrome->line: begin opens it with what all have, then fields are
 * appended (",\"dur\":…"), end writes it.
 */
void tr_chrome_begin(struct tr_chrome *chrome, char phase, struct tr_text name_json,
		     const char *category, int64_t time, enum tr_chrome_group group, uint64_t tid);
void tr_chrome_duration(struct tr_chrome *chrome, int64_t duration);
void tr_chrome_end(struct tr_chrome *chrome);

/* What the viewer is to call a lane of runs; they count from 1. */
void tr_chrome_name_lane(struct tr_chrome *chrome, uint64_t lane);

/* The number of the task of a record, named on first sight. False: memory is out. */
bool tr_chrome_task(struct tr_chrome *chrome, struct tr_record *record, enum tr_chrome_group group,
		    uint64_t *tid);

/* Appends "KEY":VALUE of the record's fields, blobs as their lengths; comma: one goes in front. */
bool tr_chrome_fields(struct tr_record *record, bool comma, struct tr_buffer *to);

/* chrome_runs.c: what is kept of a program; a segment's runs. */
bool tr_chrome_describe(void *context, struct tr_record *record, struct tr_buffer *text);
bool tr_chrome_runs(struct tr_chrome *chrome, struct tr_error *err);

/* chrome_calls.c */
bool tr_chrome_call(struct tr_chrome *chrome, struct tr_record *record);
void tr_chrome_calls_end(struct tr_chrome *chrome);

#endif
