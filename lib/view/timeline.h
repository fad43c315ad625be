/* SPDX-License-Identifier: MIT */
/*
 * The base of views that draw a timeline: the times of records, and API calls with their
 * beginnings, ends and frames.
 *
 *	record -> tr_timeline_see -> now
 *	enter, leave, call -> tr_timeline_put -> begin, end (of a call), end_frame
 *
 * Times are nanoseconds. In a trace without times each record takes a microsecond.
 */
#ifndef TR_VIEW_TIMELINE_H
#define TR_VIEW_TIMELINE_H

#include "core/error.h"
#include "record/calls.h"

enum { TR_MICROSECOND = 1000 };

/* A call. The struct of a view begins with this one. */
struct tr_timeline_call {
	struct tr_live_call live;
	bool whole; /* one record is the whole call, or all that the trace has of it */
	unsigned kinds;
	int64_t began;
	uint64_t number;       /* of its first record in the input */
	struct tr_buffer text; /* the view's, freed with the call */
};

/* False: err is filled, or memory is exhausted. */
struct tr_timeline_steps {
	size_t call_size; /* of the view's struct for a call */
	/* Takes the first record of a call. */
	bool (*begin)(void *view, struct tr_timeline_call *call, struct tr_record *record);
	/* Takes the last record of a call; NULL: it has not returned. */
	bool (*end)(void *view, struct tr_timeline_call *call, struct tr_record *record,
		    int64_t ended, struct tr_error *err);
	/* The frame of the timeline is complete. */
	void (*end_frame)(void *view, int64_t ended);
};

/* All zero at first, but for the view, its steps and kinds.ask. */
struct tr_timeline {
	void *view;
	const struct tr_timeline_steps *steps;
	struct tr_call_kinds kinds;
	struct tr_live_calls live;

	uint64_t records; /* so far; counted by the view */
	bool decided;	  /* timed is set: by the first record, or the first of each segment */
	bool timed;	  /* it has a time */
	int64_t base, now;

	uint64_t frame, calls, draws; /* of the frame that is not complete */
	int64_t frame_began;
};

/* Sets `now` to the time of a record. The first record decides whether the trace has times. */
void tr_timeline_see(struct tr_timeline *timeline, const struct tr_record *record);

/* Takes a call, an enter or a leave. False: err is filled, or memory is exhausted. */
bool tr_timeline_put(struct tr_timeline *timeline, struct tr_record *record, struct tr_error *err);

/* Ends the calls of a segment that have not returned, and its frames. */
bool tr_timeline_end_calls(struct tr_timeline *timeline, struct tr_error *err);

void tr_timeline_free(struct tr_timeline *timeline);

#endif
