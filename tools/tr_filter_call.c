/*
 * Enters and leaves: one call, judged together, kept together. An enter is
 * decided at once where its columns decide it; else it waits, and with it what
 * comes behind it.
 */
#include "config.h"

#include "tr_filter.h"

#include <stdlib.h>

#include "call/join.h"

/* Task and seq: the leave has the same. */
static struct tr_text call_key(struct tr_filter *filter, const struct tr_record *record)
{
	tr_buffer_reset(&filter->key);
	tr_cell_write(&record->task, &filter->key);
	tr_buffer_put_byte(&filter->key, '\t');
	tr_cell_write(&record->seq, &filter->key);
	return tr_buffer_text(&filter->key);
}

static struct tr_call *new_call(struct tr_filter *filter, struct tr_text key)
{
	struct tr_calls *calls = &filter->calls;
	struct tr_call *call = malloc(sizeof *call + key.len);

	if (!call || filter->key.failed) {
		free(call);
		return NULL;
	}
	*call = (struct tr_call){ .before = calls->last, .awaited = true, .key_len = key.len };
	memcpy(call->key, key.data, key.len);
	if (!tr_map_put(&calls->by_key, (struct tr_text){ call->key, key.len }, call)) {
		free(call);
		return NULL;
	}
	*(calls->last ? &calls->last->behind : &calls->first) = call;
	calls->last = call;
	return call;
}

/* The call that waits for a leave of this key; it waits no more. NULL: there is none. */
static struct tr_call *take_call(struct tr_filter *filter, struct tr_text key)
{
	struct tr_calls *calls = &filter->calls;
	struct tr_call *call = tr_map_take(&calls->by_key, key);

	if (!call)
		return NULL;
	*(call->before ? &call->before->behind : &calls->first) = call->behind;
	*(call->behind ? &call->behind->before : &calls->last) = call->before;
	call->awaited = false;
	filter->owed -= call->kept;
	return call;
}

/* Of a call that is not in the list any more; its enter may still wait to go out. */
static void end_call(struct tr_call *call)
{
	if (call->item)
		call->item->call = NULL;
	free(call);
}

/* Puts a copy of an enter into the queue: it is judged when its leave is there. */
static bool hold(struct tr_filter *filter, struct tr_record *record, struct tr_call *call)
{
	struct tr_text line = record->line;

	if (!line.data) {
		struct tr_error err;
		tr_buffer_reset(&filter->text);
		enum tr_status status = tr_record_write(record, &filter->text, &err);
		if (status == TR_FATAL)
			return tr_filter_out_of_memory(filter);
		if (status != TR_OK) {
			tr_cli_report_record(filter->cli, record, &err, true);
			return true;
		}
		line = tr_buffer_text(&filter->text);
	}
	struct tr_item *item = tr_queue_add(&filter->queue, TR_ITEM_PASS, line, NULL);
	if (!item)
		return tr_filter_out_of_memory(filter);
	tr_record_init(&call->record, &filter->calls.arena);
	if (!tr_record_from_line(&call->record, item->text, NULL))
		return tr_filter_out_of_memory(filter);
	item->type = TR_ITEM_SELECTED;
	item->open = true;
	item->call = call;
	call->item = item;
	call->match = TR_MATCH_OPEN;
	call->record.source_line = record->source_line;
	call->record.source_offset = record->source_offset;
	filter->calls.open_bytes += item->cost;
	return tr_filter_relieve(filter);
}

/* Replaces the copied line by the row that shows it. */
static bool show_row(struct tr_filter *filter, struct tr_call *call, struct tr_record *leave)
{
	struct tr_text row;

	return tr_filter_render(filter, &call->record, leave, &row) &&
	       (tr_queue_replace(&filter->queue, call->item, row) ||
		tr_filter_out_of_memory(filter));
}

/*
 * An open enter, with its leave or (NULL) without; open: the leave may still
 * come, and the enter may stay undecided.
 */
static bool decide(struct tr_filter *filter, struct tr_call *call, struct tr_record *leave,
		   bool open)
{
	struct tr_item *item = call->item;

	call->match = tr_filter_judge(filter, &call->record, leave, open, true);
	if (call->match == TR_MATCH_OPEN) {
		tr_arena_reset(&filter->calls.arena);
		return true;
	}
	bool selected = call->match == TR_MATCH_YES;
	item->open = false;
	filter->calls.open_bytes -= item->cost;
	filter->waiting += selected;
	bool fine = !selected || !filter->fields || show_row(filter, call, leave);
	tr_arena_reset(&filter->calls.arena);
	if (!selected) {
		/* nothing of it goes out; its place in the queue stays */
		item->type = TR_ITEM_PASS;
		item->text.len = 0;
	}
	if (!selected || !filter->limited) {
		call->item = NULL;
		item->call = NULL;
	}
	return fine;
}

/* Of two enters that look the same the first cannot have its leave any more. */
static bool give_up(struct tr_filter *filter, struct tr_text key)
{
	struct tr_call *call = take_call(filter, key);
	bool fine = true;

	if (!call)
		return true;
	if (call->match == TR_MATCH_OPEN)
		fine = decide(filter, call, NULL, false);
	end_call(call);
	return fine;
}

/* Of calls that have lost their leaves the oldest is taken as it is. */
static bool bound_calls(struct tr_filter *filter)
{
	struct tr_calls *calls = &filter->calls;
	struct tr_error err;

	if (!tr_calls_are_lost(calls->by_key.count, calls->open_bytes))
		return true;
	if (!calls->told_many) {
		calls->told_many = true;
		tr_error_set(&err, TR_CAUSE_LIMIT,
			     "too many calls have not returned: from here on the oldest are "
			     "judged without what may have come out of them");
		tr_cli_report(filter->cli, &err);
	}
	struct tr_call *oldest = calls->first;
	return !filter->cli->stop &&
	       give_up(filter, (struct tr_text){ oldest->key, oldest->key_len }) &&
	       tr_filter_drain(filter);
}

bool tr_filter_enter(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	struct tr_text text, key = call_key(filter, record);
	enum tr_match match = tr_filter_sated(filter)
				      ? TR_MATCH_NO
				      : tr_filter_judge(filter, record, NULL, true, in_tree);

	if (!give_up(filter, key) || !bound_calls(filter))
		return false;
	struct tr_call *call = new_call(filter, call_key(filter, record));
	if (!call)
		return tr_filter_out_of_memory(filter);
	call->kinds = tr_filter_call_kinds(filter, record);
	call->match = TR_MATCH_NO;
	if (match == TR_MATCH_OPEN)
		return hold(filter, record, call);
	if (match == TR_MATCH_YES && tr_filter_render(filter, record, NULL, &text)) {
		call->match = TR_MATCH_YES;
		return tr_filter_emit(filter, TR_ITEM_SELECTED, text, call);
	}
	return !filter->cli->stop;
}

/* A leave whose enter is not there is a record like any other. */
static bool lone_leave(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	struct tr_text text;

	if (!tr_filter_sated(filter) &&
	    tr_filter_judge(filter, record, NULL, false, in_tree) == TR_MATCH_YES &&
	    tr_filter_render(filter, record, NULL, &text))
		return tr_filter_emit(filter, TR_ITEM_SELECTED, text, NULL);
	return !filter->cli->stop;
}

/* The leave of a call that is known. Ends the call. */
static bool leave_call(struct tr_filter *filter, struct tr_call *call, struct tr_record *record)
{
	struct tr_text text = { "", 0 };

	bool fine = call->match != TR_MATCH_OPEN || decide(filter, call, record, false);
	if (!fine || call->match == TR_MATCH_NO) {
		end_call(call);
		return fine && tr_filter_drain(filter);
	}
	bool lines = !filter->fields && !filter->count_only;
	if (lines && !tr_filter_render(filter, record, NULL, &text)) {
		filter->cli->stop = true;
		text.len = 0;
	}
	return tr_filter_emit(filter, TR_ITEM_LEAVE, text, call) && tr_filter_drain(filter);
}

/* The frame tells now what it could not before: decides what is open and can be. */
static bool decide_calls(struct tr_filter *filter)
{
	for (struct tr_call *call = filter->calls.first; call; call = call->behind) {
		if (call->match == TR_MATCH_OPEN && !decide(filter, call, NULL, true))
			return false;
	}
	return tr_filter_drain(filter);
}

bool tr_filter_returned(struct tr_filter *filter, unsigned kinds)
{
	return !tr_filter_end_frame(filter, kinds) || decide_calls(filter);
}

bool tr_filter_leave(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	struct tr_call *call = take_call(filter, call_key(filter, record));
	unsigned kinds = call ? call->kinds : tr_filter_call_kinds(filter, record);
	bool fine = call ? leave_call(filter, call, record) : lone_leave(filter, record, in_tree);

	return fine && tr_filter_returned(filter, kinds);
}

bool tr_filter_end_calls(struct tr_filter *filter)
{
	bool fine = tr_filter_settle_rebase(filter);

	for (struct tr_call *call = filter->calls.first; call; call = call->behind) {
		call->awaited = false;
		if (fine && call->match == TR_MATCH_OPEN)
			fine = decide(filter, call, NULL, false);
		fine = fine && tr_filter_returned(filter, call->kinds);
		if (call->item)
			call->item->open = false;
	}
	fine = tr_filter_drain(filter) && fine;
	for (struct tr_call *call = filter->calls.first, *next; call; call = next) {
		next = call->behind;
		free(call);
	}
	tr_map_clear(&filter->calls.by_key);
	filter->calls.first = filter->calls.last = NULL;
	filter->calls.open_bytes = 0;
	filter->owed = 0;
	return fine;
}
