/* SPDX-License-Identifier: MIT */
/*
 * Times and calls for views that draw a timeline. An enter is kept with the data of the view until
 * its leave comes; calls are ended when they return, so that a view can write them at once.
 */
#include "view/timeline.h"

#include <stdlib.h>

#include "core/container.h"
#include "process/instant.h"

void tr_timeline_see(struct tr_timeline *timeline, const struct tr_record *record)
{
	int64_t time = tr_instant_from_cell(&record->time);
	int64_t place = (int64_t)timeline->records * TR_MICROSECOND;

	if (!timeline->decided) {
		timeline->decided = true;
		timeline->timed = time != TR_INSTANT_NONE;
		timeline->base = timeline->timed ? time : place;
	}
	if (!timeline->timed)
		timeline->now = place;
	else if (time != TR_INSTANT_NONE)
		timeline->now = time;
}

static void free_call(struct tr_timeline_call *call)
{
	tr_buffer_free(&call->text);
	free(call);
}

/* Begins a call: asks the view to keep what it needs of the record. */
static bool begin(struct tr_timeline *timeline, struct tr_timeline_call *call,
		  struct tr_record *record)
{
	call->began = timeline->now;
	call->number = timeline->records;
	if (record->name.type == TR_CELL_TEXT)
		call->kinds = tr_call_kinds_of(&timeline->kinds, record->name.text);
	return timeline->steps->begin(timeline->view, call, record);
}

/* Ends a call. Without times it ends a microsecond after its last record began. */
static bool end(struct tr_timeline *timeline, struct tr_timeline_call *call,
		struct tr_record *record, struct tr_error *err)
{
	int64_t ended = timeline->now + (timeline->timed ? 0 : TR_MICROSECOND);

	if (ended < call->began)
		ended = call->began;
	/* the first frame begins with the first call */
	if (!timeline->frame && !timeline->calls)
		timeline->frame_began = call->began;
	if (!timeline->steps->end(timeline->view, call, record, ended, err))
		return false;
	timeline->calls++;
	timeline->draws += (call->kinds & TR_CALL_RENDER) != 0;
	if (call->kinds & TR_CALL_END_FRAME) {
		timeline->steps->end_frame(timeline->view, ended);
		timeline->frame++;
		timeline->frame_began = ended;
		timeline->calls = timeline->draws = 0;
	}
	return true;
}

/* Ends and frees a call that was taken out. */
static bool finish(struct tr_timeline *timeline, struct tr_timeline_call *call,
		   struct tr_record *record, struct tr_error *err)
{
	bool fine = end(timeline, call, record, err);

	free_call(call);
	return fine;
}

/* Sorts calls by their beginning, and equal ones by their position in the input. */
static int by_beginning(const void *a, const void *b)
{
	const struct tr_timeline_call *x = *(struct tr_timeline_call *const *)a;
	const struct tr_timeline_call *y = *(struct tr_timeline_call *const *)b;

	if (x->began != y->began)
		return x->began < y->began ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* Ends all calls that have not returned, in the order of their beginning: times may go back. */
static bool end_all(struct tr_timeline *timeline, struct tr_error *err)
{
	struct tr_live_calls *live = &timeline->live;
	size_t count = 0;
	struct tr_timeline_call **list = malloc((live->by_key.count + 1) * sizeof *list);
	bool fine = list;

	while (list && live->first)
		list[count++] = tr_live_calls_remove(live, live->first);
	if (list)
		qsort(list, count, sizeof *list, by_beginning);
	for (size_t i = 0; i < count; i++) {
		fine = fine && end(timeline, list[i], NULL, err);
		free_call(list[i]);
	}
	free(list);
	return fine;
}

/*
 * Keeps a call that was entered. If too many are open, their leaves are lost, and all are ended.
 * An open call with the same task and number has lost its leave, too.
 */
static bool enter(struct tr_timeline *timeline, struct tr_record *record, struct tr_error *err)
{
	struct tr_live_calls *live = &timeline->live;
	struct tr_live_call *twin;

	if (tr_calls_are_lost(live->by_key.count, 0) && !end_all(timeline, err))
		return false;
	struct tr_timeline_call *call =
		tr_live_calls_add(live, record, timeline->steps->call_size, &twin);
	if (!call ||
	    (twin &&
	     !finish(timeline, tr_container(twin, struct tr_timeline_call, live), NULL, err)) ||
	    !begin(timeline, call, record))
		return false;
	tr_buffer_trim(&call->text);
	return true;
}

/* Takes a record that is a whole call, or a leave whose enter is missing. */
static bool put_whole(struct tr_timeline *timeline, struct tr_record *record, struct tr_error *err)
{
	struct tr_timeline_call *call = calloc(1, timeline->steps->call_size);

	if (!call)
		return false;
	call->whole = true;
	bool fine = begin(timeline, call, record) && end(timeline, call, record, err);
	free_call(call);
	return fine;
}

bool tr_timeline_put(struct tr_timeline *timeline, struct tr_record *record, struct tr_error *err)
{
	struct tr_timeline_call *call = NULL;

	if (tr_text_is(record->kind, "enter"))
		return enter(timeline, record, err);
	if (tr_text_is(record->kind, "leave"))
		call = tr_live_calls_take(&timeline->live, record);
	if (timeline->live.key.failed)
		return false;
	return call ? finish(timeline, call, record, err) : put_whole(timeline, record, err);
}

bool tr_timeline_end_calls(struct tr_timeline *timeline, struct tr_error *err)
{
	bool fine = end_all(timeline, err);

	timeline->frame = timeline->calls = timeline->draws = 0;
	return fine;
}

void tr_timeline_free(struct tr_timeline *timeline)
{
	struct tr_live_calls *live = &timeline->live;

	while (live->first)
		free_call(tr_live_calls_remove(live, live->first));
	tr_live_calls_free(live);
}
