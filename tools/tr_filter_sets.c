/*
 * --calls and --frames. A call is numbered at its enter, but belongs to the
 * frame in which it returns, as apitrace has it, whose tools see a call when
 * it has returned: the first frame ends with the return of the first call that
 * ends a frame. What never returned counts as if it did at the very end.
 */
#include "config.h"

#include "tr_filter.h"

#include "call/call_kind.h"
#include "record/context.h"

bool tr_filter_has_sets(const struct tr_filter *filter)
{
	return filter->sets.has_calls || filter->sets.has_frames;
}

bool tr_filter_add_set(struct tr_filter *filter, bool frames, const char *text)
{
	struct tr_call_sets *sets = &filter->sets;
	struct tr_error err;

	*(frames ? &sets->has_frames : &sets->has_calls) = true;
	for (const char *p = text; (p = strchr(p, '@')); p += strcspn(p, ","))
		tr_cli_reads(filter->cli, (struct tr_text){ p + 1, strcspn(p + 1, ",") });
	if (tr_call_set_add(frames ? &sets->wanted : &sets->calls, tr_text_from(text), &err))
		return true;
	return tr_cli_usage(filter->cli, "%s: %s", frames ? "--frames" : "--calls", err.text);
}

void tr_filter_free_sets(struct tr_filter *filter)
{
	tr_call_set_free(&filter->sets.calls);
	tr_call_set_free(&filter->sets.wanted);
}

void tr_filter_begin_frames(struct tr_filter *filter)
{
	struct tr_call_sets *sets = &filter->sets;

	sets->next_call = 0;
	sets->frame = 0;
	sets->rest = tr_call_set_rest(&sets->wanted, 0);
}

unsigned tr_filter_call_kinds(const struct tr_filter *filter, const struct tr_record *record)
{
	const struct tr_call_sets *sets = &filter->sets;
	bool matters = sets->has_frames || sets->calls.filtered.count;

	return matters && record->name.type == TR_CELL_TEXT ? tr_call_kinds(record->name.text) : 0;
}

static bool in_calls(struct tr_call_sets *sets, const struct tr_record *record, unsigned kinds)
{
	uint64_t number;

	if (!tr_cell_number(&record->seq, &number))
		return false;
	if (number >= sets->next_call && number < UINT64_MAX)
		sets->next_call = number + 1;
	return tr_call_set_has(&sets->calls, number, kinds);
}

enum tr_match tr_filter_in_sets(struct tr_filter *filter, const struct tr_record *record, bool open)
{
	struct tr_call_sets *sets = &filter->sets;

	if (!tr_filter_has_sets(filter))
		return TR_MATCH_YES;
	if (!tr_kind_is_call(record->kind))
		return TR_MATCH_NO;
	unsigned kinds = tr_filter_call_kinds(filter, record);
	if (sets->has_frames && !open && sets->frame >= sets->frames)
		sets->frames = sets->frame + 1;
	if (sets->has_calls && !in_calls(sets, record, kinds))
		return TR_MATCH_NO;
	if (!sets->has_frames)
		return TR_MATCH_YES;
	if (sets->rest == TR_CALL_SET_NONE)
		return TR_MATCH_NO;
	if (open && sets->rest == TR_CALL_SET_SOME)
		return TR_MATCH_OPEN; /* the frame may end before the call does */
	if (sets->rest == TR_CALL_SET_SOME && !tr_call_set_has(&sets->wanted, sets->frame, kinds))
		return TR_MATCH_NO;
	sets->met_frames = true;
	return TR_MATCH_YES;
}

bool tr_filter_end_frame(struct tr_filter *filter, unsigned kinds)
{
	struct tr_call_sets *sets = &filter->sets;
	enum tr_call_set_rest rest = sets->rest;

	if (!sets->has_frames || !(kinds & TR_CALL_END_FRAME))
		return false;
	sets->frame++;
	sets->rest = tr_call_set_rest(&sets->wanted, sets->frame);
	return sets->rest != rest;
}

bool tr_filter_past_sets(const struct tr_filter *filter)
{
	const struct tr_call_sets *sets = &filter->sets;
	const struct tr_trace_place *place = tr_trace_here(filter->cli->trace);

	/* a stream may have been put into another order, and other segments may follow */
	if (filter->invert || filter->owed || filter->queue.first ||
	    (place->format->flags & TR_FORMAT_STREAM))
		return false;
	return (sets->has_frames && sets->rest == TR_CALL_SET_NONE) ||
	       (sets->has_calls &&
		tr_call_set_rest(&sets->calls, sets->next_call) == TR_CALL_SET_NONE);
}
