/* SPDX-License-Identifier: MIT */
/*
 * Writes what is selected, in its order. A line or row is written at once, unless the queue
 * (record/pending.h) has items: it begins with an item that is pending, because only the leave of
 * an enter can decide whether the enter is selected, or because the parent of an exec record, and
 * so the environment to write (--rebase), is unknown.
 *
 *	whole, enter, leave -> judge -> render, or hold -> queue -> drain -> emit -> output
 *
 * With -m it is known only when an item is emitted whether it is within the limit. Then the item of
 * an enter, and that of its leave, point to the call, which notes that for the leave.
 */

#include "tr_filter.h"

#include <stdlib.h>

#include "process/env_line.h"
#include "record/join.h"
#include "record/vocabulary.h"

/* The data of an item of the queue. */
struct queued {
	enum tr_item_type type;
	/*
	 * The call of an open enter, and with -m of a selected enter and of a leave, which owns it.
	 */
	struct tr_call *call;
};

/* An enter without its leave. */
struct tr_call {
	struct tr_call *before, *after; /* in the order of the enters */
	unsigned kinds;			/* calls.h, of tr_filter_call_kinds */
	enum tr_match match;
	bool awaited;		      /* the leave may still come */
	bool kept;		      /* written or counted: the leave follows */
	struct tr_pending_item *item; /* while the enter is in the queue */
	uint64_t source_line, source_offset;
	size_t key_len;
	char key[]; /* task and seq */
};

/* An exec record in the queue whose parent is unknown. */
struct tr_held {
	struct tr_held *next;
	struct tr_pending_item *item;
	struct tr_exec_env *exec;
	uint64_t source_line, source_offset;
};

enum {
	MUCH = 16 << 20, /* bytes of items from which on they are spilled */
	/* bytes that an item takes besides its text, with those of malloc */
	OVERHEAD = sizeof(struct tr_pending_item) + sizeof(struct queued) + TR_INPUT_PAD + 16,
};

/*
 * A queue that moves items to a temporary file from MUCH bytes on. The file has no limit of its
 * own.
 */
static struct tr_pending empty_queue(void)
{
	struct tr_pending queue = TR_PENDING_INIT(struct queued);

	queue.spill_weight = MUCH;
	queue.max_spool = INT64_MAX;
	return queue;
}

/*
 * Adds an item at the end. One that a call points to is pinned, so that its address stays the
 * same. NULL: memory is exhausted.
 */
static struct tr_pending_item *add_item(struct tr_pending *queue, enum tr_item_type type,
					struct tr_text text, struct tr_call *call)
{
	struct queued queued = { type, call };
	struct tr_pending_item *item = tr_pending_add(queue, &queued, text, text.len + OVERHEAD);

	if (item)
		item->pinned = call != NULL;
	return item;
}

/* The item, which stays in the queue, is about no call any more. */
static void forget_call(struct tr_pending_item *item)
{
	((struct queued *)item->data)->call = NULL;
	item->pinned = false;
}

/* Moves items to the temporary file if they take too much memory. False: reported. */
static inline bool spill(struct tr_filter *filter, struct tr_pending *queue)
{
	struct tr_error err;

	return tr_pending_spill(queue, &err) || tr_cli_abort(filter->cli, &err);
}

bool tr_filter_full(const struct tr_filter *filter)
{
	return filter->limited && filter->selected >= filter->limit;
}

/* True if -m records are selected or will be, from the queue. */
static bool has_enough(const struct tr_filter *filter)
{
	return filter->limited && filter->selected + filter->waiting >= filter->limit;
}

/* Rebases the line of an exec record whose environment is known. */
static bool rebase_line(struct tr_filter *filter, const struct tr_record *record,
			const struct tr_exec_env *exec, struct tr_text *line)
{
	struct tr_rebase *rebase = &filter->rebase;
	const char *key;

	tr_buffer_reset(&rebase->map);
	tr_environments_may_write(tr_env_tracker_pool(rebase->tracker), line->len);
	enum tr_status status =
		tr_exec_env_convert(rebase->tracker, exec, TR_ENV_FORM_TOP, &key, &rebase->map);
	if (status == TR_FATAL)
		return tr_cli_out_of_memory(filter->cli);
	/* a whole environment is self-contained; without one in the record, nothing is lost */
	if (status != TR_OK && !tr_exec_env_is_silent(exec) && exec->form != TR_ENV_FORM_WHOLE)
		tr_cli_remark(filter->cli, record, TR_CAUSE_INPUT, TR_FLAW,
			      "%s: this environment is not rebased",
			      tr_exec_env_trouble(rebase->tracker, exec));
	if (filter->cli->stop || status == TR_WARN)
		return !filter->cli->stop;
	tr_buffer_reset(&rebase->line);
	if (!tr_env_line_put(*line, record, key, tr_buffer_text(&rebase->map), &rebase->line))
		return tr_cli_out_of_memory(filter->cli);
	*line = tr_buffer_text(&rebase->line);
	return true;
}

/*
 * Makes the row of --fields: one column for each field, and "-" for an absent field, or nothing
 * with --raw. leave has the results of an enter; NULL: there is none.
 */
static bool render_row(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave)
{
	struct tr_buffer *to = &filter->text;
	size_t count = tr_field_list_count(filter->fields);

	for (size_t i = 0; i < count; i++) {
		struct tr_error err;
		if (i > 0)
			tr_buffer_put_byte(to, '\t');
		if (tr_field_list_write(filter->fields, i, record, leave, filter->raw, to, &err))
			continue;
		if (err.cause != TR_CAUSE_NONE)
			tr_cli_report_record(filter->cli, record, &err, false);
		if (!filter->raw)
			tr_buffer_put_byte(to, '-');
	}
	tr_buffer_put_byte(to, filter->nul ? '\0' : '\n');
	return !to->failed || tr_cli_out_of_memory(filter->cli);
}

/* Makes the row of --fields or the line of the record; empty for -c. False: reported. */
static bool render(struct tr_filter *filter, struct tr_record *record, struct tr_record *leave,
		   struct tr_text *text)
{
	const struct tr_exec_env *exec = filter->rebase.exec;

	if (tr_filter_writes_lines(filter))
		return tr_cli_line(filter->cli, record, &filter->text, text) &&
		       (!exec || !tr_text_is(record->kind, "exec") ||
			rebase_line(filter, record, exec, text));
	tr_buffer_reset(&filter->text);
	if (filter->fields && !render_row(filter, record, leave))
		return false;
	*text = tr_buffer_text(&filter->text);
	return true;
}

/* Writes a line after the definitions that it uses. */
static bool put_line(struct tr_filter *filter, struct tr_text line)
{
	struct tr_definitions *definitions = &filter->definitions;

	if (definitions->waiting) {
		if (!tr_definitions_use(definitions, line))
			return tr_cli_out_of_memory(filter->cli);
		for (size_t i = 0; i < definitions->wanted_count; i++)
			tr_output_put_text(filter->cli->out, definitions->wanted[i]->line);
	}
	return tr_cli_put_text(filter->cli, line);
}

static bool drain(struct tr_filter *filter, struct tr_pending *queue);

/*
 * False for a leave that has a name: its enter was cut away, and the trailer counts the two of
 * them as one.
 */
static bool line_counts(struct tr_text line)
{
	struct tr_record record = { .arena = NULL };

	return !tr_text_starts(line, TR_TEXT("leave\t")) ||
	       (tr_record_from_line(&record, line, NULL) && record.name.type == TR_CELL_ABSENT);
}

/*
 * Writes or counts a selected record whose turn it is, after the context that was pending for the
 * first one. Beyond -m it does nothing.
 */
static bool emit_selected(struct tr_filter *filter, struct tr_text text, struct tr_call *call)
{
	if (tr_filter_full(filter))
		return true;
	filter->selected++;
	if (call) {
		call->kept = true;
		/* after -m records, reading goes on until the leaves of these calls have come */
		filter->owed += call->awaited;
	}
	if (filter->count_only)
		return true;
	if (filter->fields)
		return tr_cli_put_text(filter->cli, text);
	filter->written += line_counts(text);
	if (!filter->any_kept) {
		filter->any_kept = true;
		if (!drain(filter, &filter->pending)) /* the context from before it */
			return false;
	}
	return put_line(filter, text);
}

/* Writes an item whose turn it is. Takes call over of TR_ITEM_LEAVE. */
static bool emit(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		 struct tr_call *call)
{
	bool kept = !call || call->kept;

	switch (type) {
	case TR_ITEM_PASS:
		break;
	case TR_ITEM_CONTEXT:
		if (!filter->any_kept)
			return add_item(&filter->pending, type, text, NULL)
				       ? spill(filter, &filter->pending)
				       : tr_cli_out_of_memory(filter->cli);
		filter->written++;
		break;
	case TR_ITEM_SELECTED:
		return emit_selected(filter, text, call);
	case TR_ITEM_LEAVE:
		free(call);
		if (!kept || !text.len)
			return true;
		break;
	}
	return put_line(filter, text);
}

/* Emits text, or adds it to the queue if that is not empty. Takes call over of TR_ITEM_LEAVE. */
static bool put(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		struct tr_call *call)
{
	/* a leave is written without its enter only with a limit */
	if (!filter->limited && type == TR_ITEM_LEAVE)
		free(call);
	/* without a limit, every selected enter is written, so its leave is too */
	if (!filter->limited)
		call = NULL;
	if (!filter->queue.first)
		return emit(filter, type, text, call);
	struct tr_pending_item *item = add_item(&filter->queue, type, text, call);
	if (!item && type == TR_ITEM_LEAVE)
		free(call);
	if (!item)
		return tr_cli_out_of_memory(filter->cli);
	if (type == TR_ITEM_SELECTED) {
		filter->waiting++;
		if (call)
			call->item = item;
	}
	return spill(filter, &filter->queue);
}

bool tr_filter_pass(struct tr_filter *filter, struct tr_text line)
{
	return put(filter, TR_ITEM_PASS, line, NULL);
}

bool tr_filter_put(struct tr_filter *filter, enum tr_item_type type, struct tr_record *record)
{
	struct tr_text text;

	return render(filter, record, NULL, &text) ? put(filter, type, text, NULL)
						   : !filter->cli->stop;
}

/* False: the file was changed since the line was found. */
static bool is_whole(struct tr_text line)
{
	return line.data[line.len - 1] == '\n';
}

/*
 * Writes a line that may lie in a mapped file which another process changes: code that reads the
 * line more than once gets a copy, and the line is checked just before it is written. False: it
 * was not written.
 */
static bool put_mapped_line(struct tr_filter *filter, struct tr_text line,
			    const struct tr_columns *columns)
{
	struct tr_buffer *copy = &filter->text;

	if (filter->definitions.waiting &&
	    !tr_definitions_are_settled(&filter->definitions, line, columns)) {
		tr_buffer_reset(copy);
		tr_buffer_put_text(copy, line);
		if (copy->failed)
			return tr_cli_out_of_memory(filter->cli);
		return is_whole(tr_buffer_text(copy)) && put_line(filter, tr_buffer_text(copy));
	}
	return tr_output_room(filter->cli->out, line.len) && is_whole(line) &&
	       tr_cli_put_text(filter->cli, line);
}

bool tr_filter_take(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns)
{
	struct tr_filter *filter = sieve->taker;

	if (filter->queue.first)
		return false; /* the queue comes first */
	if (!filter->count_only) {
		if (!filter->any_kept)
			return false; /* pending context comes first */
		if (!put_mapped_line(filter, line, columns))
			return false;
		filter->written++;
	}
	filter->selected++;
	return true;
}

/* Removes the decided items at the beginning, after a failure. */
static void drop_decided(struct tr_pending *queue)
{
	struct tr_pending_item *item;

	while ((item = queue->first) && !item->pending) {
		const struct queued *queued = item->data;
		if (queued->call)
			queued->call->item = NULL;
		if (queued->type == TR_ITEM_LEAVE)
			free(queued->call);
		tr_pending_remove(queue, item);
		tr_pending_free_item(item);
	}
}

/* Emits the decided items at the beginning of a queue. */
static bool drain(struct tr_filter *filter, struct tr_pending *queue)
{
	const struct tr_pending_item *item;
	struct tr_error err;
	enum tr_status status = TR_OK;
	bool fine = true;

	while (fine && (status = tr_pending_next(queue, &item, &err)) == TR_OK) {
		const struct queued *queued = item->data;
		/* it is counted as selected when it is emitted, if -m allows it */
		filter->waiting -= queued->type == TR_ITEM_SELECTED;
		if (queued->call)
			queued->call->item = NULL;
		fine = emit(filter, queued->type, item->text, queued->call);
	}
	if (status == TR_FATAL)
		tr_cli_abort(filter->cli, &err);
	fine = fine && status == TR_END;
	/*
	 * an item that was decided must not block the queue for ever, and nothing more is written
	 * anyway
	 */
	if (!fine)
		drop_decided(queue);
	return fine;
}

/* --rebase: exec records whose parent is unknown. */

/* Adds an exec record to the queue until the environment of its parent is known. */
static bool hold_exec(struct tr_filter *filter, const struct tr_record *record, struct tr_text line)
{
	struct tr_rebase *rebase = &filter->rebase;
	struct tr_held *held = malloc(sizeof *held);
	struct tr_pending_item *item =
		held ? add_item(&filter->queue, TR_ITEM_SELECTED, line, NULL) : NULL;

	if (!item) {
		free(held);
		return tr_cli_out_of_memory(filter->cli);
	}
	item->pending = true;
	filter->waiting++;
	*held = (struct tr_held){ NULL, item, rebase->exec, record->source_line,
				  record->source_offset };
	/* the record has passed before its environment is known */
	rebase->exec->references++;
	*(rebase->first ? &rebase->last->next : &rebase->first) = held;
	rebase->last = held;
	return spill(filter, &filter->queue);
}

/* Rebases a held record; its environment is known or stays unknown. */
static bool decide_exec(struct tr_filter *filter, const struct tr_held *held)
{
	struct tr_record place = { .source_line = held->source_line,
				   .source_offset = held->source_offset };
	struct tr_text line = held->item->text;

	if (!rebase_line(filter, &place, held->exec, &line))
		return false;
	return line.data == held->item->text.data ||
	       tr_pending_replace(&filter->queue, held->item, line) ||
	       tr_cli_out_of_memory(filter->cli);
}

/* Decides the first held records that are settled, or all. fine: they are rebased. */
static bool decide_execs(struct tr_filter *filter, bool all, bool fine)
{
	struct tr_rebase *rebase = &filter->rebase;

	while (rebase->first && (all || !rebase->first->exec->pending)) {
		struct tr_held *held = rebase->first;
		fine = fine && decide_exec(filter, held);
		held->item->pending = false;
		rebase->first = held->next;
		tr_env_tracker_release(rebase->tracker, held->exec);
		free(held);
	}
	return fine;
}

bool tr_filter_follow_rebase(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_rebase *rebase = &filter->rebase;
	struct tr_error err;

	tr_env_tracker_release(rebase->tracker, rebase->exec);
	rebase->exec = NULL;
	enum tr_status status = tr_env_tracker_follow(rebase->tracker, record, &rebase->exec, &err);
	if (status == TR_FATAL)
		return tr_cli_abort(filter->cli, &err);
	if (status != TR_OK)
		tr_cli_report_record(filter->cli, record, &err, false);
	/* items are emitted in order, so only a decision about the first one matters */
	if (!rebase->first || rebase->first->exec->pending)
		return !filter->cli->stop;
	return decide_execs(filter, false, true) && drain(filter, &filter->queue);
}

/* Decides all that is held, at the end of a segment. */
static bool settle_rebase(struct tr_filter *filter)
{
	struct tr_rebase *rebase = &filter->rebase;

	if (!rebase->first)
		return true;
	bool fine = !filter->cli->stop &&
		    (tr_env_tracker_settle(rebase->tracker) || tr_cli_out_of_memory(filter->cli));
	return decide_execs(filter, true, fine);
}

bool tr_filter_keep(struct tr_filter *filter, struct tr_record *record)
{
	const struct tr_exec_env *exec = filter->rebase.exec;
	struct tr_text line;

	if (has_enough(filter))
		return !filter->cli->stop;
	/* a count needs neither the line nor a place in the queue, unless that has items */
	if (filter->count_only && !filter->queue.first)
		return emit_selected(filter, TR_TEXT(""), NULL);
	/* rows and counts do not show the environment */
	if (!exec || !exec->pending || !tr_filter_writes_lines(filter))
		return tr_filter_put(filter, TR_ITEM_SELECTED, record);
	return tr_cli_line(filter->cli, record, &filter->text, &line)
		       ? hold_exec(filter, record, line)
		       : !filter->cli->stop;
}

/* Calls: pairs of enters and leaves. */

/* The task and the seq of a call, which its enter and its leave share; until the next call. */
static struct tr_text call_key(struct tr_filter *filter, const struct tr_record *record)
{
	tr_buffer_reset(&filter->key);
	tr_cell_write(&record->task, &filter->key);
	tr_buffer_put_byte(&filter->key, '\t');
	tr_cell_write(&record->seq, &filter->key);
	return tr_buffer_text(&filter->key);
}

/* Adds a call to the open ones. NULL: memory is exhausted. */
static struct tr_call *new_call(struct tr_filter *filter, struct tr_text key)
{
	struct tr_calls *calls = &filter->calls;
	struct tr_call *call = malloc(sizeof *call + key.len);

	/* a key that was cut by exhausted memory could be that of another call */
	if (!call || filter->key.failed) {
		free(call);
		return NULL;
	}
	*call = (struct tr_call){
		.before = calls->last, .match = TR_MATCH_NO, .awaited = true, .key_len = key.len
	};
	memcpy(call->key, key.data, key.len);
	if (!tr_map_put(&calls->by_key, (struct tr_text){ call->key, key.len }, call)) {
		free(call);
		return NULL;
	}
	*(calls->last ? &calls->last->after : &calls->first) = call;
	calls->last = call;
	return call;
}

/* Takes the call of this key out of the list; NULL: there is none. */
static struct tr_call *take_call(struct tr_filter *filter, struct tr_text key)
{
	struct tr_calls *calls = &filter->calls;
	struct tr_call *call = tr_map_take(&calls->by_key, key);

	if (!call)
		return NULL;
	*(call->before ? &call->before->after : &calls->first) = call->after;
	*(call->after ? &call->after->before : &calls->last) = call->before;
	call->awaited = false;
	filter->owed -= call->kept;
	return call;
}

/* Frees a call that is not in the list; its enter may still be in the queue. */
static void end_call(struct tr_call *call)
{
	if (call->item)
		forget_call(call->item);
	free(call);
}

/* Adds a copy of an open enter to the queue, to be judged together with its leave. */
static bool hold_enter(struct tr_filter *filter, struct tr_record *record, struct tr_call *call)
{
	struct tr_text line;

	if (!tr_cli_line(filter->cli, record, &filter->text, &line))
		return !filter->cli->stop;
	call->item = add_item(&filter->queue, TR_ITEM_SELECTED, line, call);
	if (!call->item)
		return tr_cli_out_of_memory(filter->cli);
	call->item->pending = true;
	call->match = TR_MATCH_OPEN;
	call->source_line = record->source_line;
	call->source_offset = record->source_offset;
	filter->calls.open_bytes += call->item->weight;
	return spill(filter, &filter->queue);
}

/*
 * Judges an open enter with its leave (NULL: without one). open: the leave may still come, and
 * the enter may stay open.
 */
static bool decide_call(struct tr_filter *filter, struct tr_call *call, struct tr_record *leave,
			bool open)
{
	struct tr_pending_item *item = call->item;
	struct tr_record enter;
	struct tr_text row;
	bool fine = true;

	tr_arena_reset(&filter->calls.arena);
	tr_record_init(&enter, &filter->calls.arena);
	if (!tr_record_from_line(&enter, item->text, NULL))
		return tr_cli_out_of_memory(filter->cli);
	enter.source_line = call->source_line;
	enter.source_offset = call->source_offset;
	call->match = tr_filter_judge(filter, &enter, leave, open, true);
	if (call->match == TR_MATCH_OPEN)
		return true;
	bool selected = call->match == TR_MATCH_YES;
	item->pending = false;
	filter->calls.open_bytes -= item->weight;
	filter->waiting += selected;
	if (selected && filter->fields) /* the row takes the place of the line */
		fine = render(filter, &enter, leave, &row) &&
		       (tr_pending_replace(&filter->queue, item, row) ||
			tr_cli_out_of_memory(filter->cli));
	if (!selected || !filter->limited)
		call->item = NULL;
	if (!selected) {
		tr_pending_remove(&filter->queue, item);
		tr_pending_free_item(item);
	} else if (!filter->limited) {
		forget_call(item);
	}
	return fine;
}

/* A call has ended and was judged: decides the open calls that a new frame number decides. */
static bool end_frame(struct tr_filter *filter, unsigned kinds)
{
	if (!tr_filter_ends_frame(filter, kinds))
		return true;
	for (struct tr_call *call = filter->calls.first; call; call = call->after) {
		if (call->match == TR_MATCH_OPEN && !decide_call(filter, call, NULL, true))
			return false;
	}
	return drain(filter, &filter->queue);
}

/* Ends a call whose leave is missing, as if it returned now. */
static bool lose_call(struct tr_filter *filter, struct tr_call *call)
{
	bool fine = call->match != TR_MATCH_OPEN || decide_call(filter, call, NULL, false);

	if (filter->computed)
		tr_computed_end_call(filter->computed, call->kinds & TR_CALL_END_FRAME);
	return fine && end_frame(filter, call->kinds);
}

/* Decides an enter without its leave, which belongs to a later enter of the same key. */
static bool give_up(struct tr_filter *filter, struct tr_text key)
{
	struct tr_call *call = take_call(filter, key);

	if (!call)
		return true;
	bool fine = lose_call(filter, call);
	end_call(call);
	return fine;
}

/*
 * Decides the oldest call without its leave if there are too many open calls: their leaves are
 * lost, and the queue would hold all that follows them.
 */
static bool bound_calls(struct tr_filter *filter)
{
	struct tr_calls *calls = &filter->calls;
	const struct tr_call *oldest = calls->first;

	if (!tr_calls_are_lost(calls->by_key.count, calls->open_bytes))
		return true;
	if (!calls->reported_many)
		tr_cli_remark(filter->cli, NULL, TR_CAUSE_LIMIT, TR_DAMAGE,
			      "too many calls have not returned: from here on, the oldest are "
			      "tested without their results");
	calls->reported_many = true;
	return !filter->cli->stop &&
	       give_up(filter, (struct tr_text){ oldest->key, oldest->key_len }) &&
	       drain(filter, &filter->queue);
}

bool tr_filter_enter(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	struct tr_text text, key = call_key(filter, record);
	enum tr_match match = has_enough(filter)
				      ? TR_MATCH_NO
				      : tr_filter_judge(filter, record, NULL, true, in_tree);

	if (!give_up(filter, key) || !bound_calls(filter))
		return false;
	struct tr_call *call = new_call(filter, key);
	if (!call)
		return tr_cli_out_of_memory(filter->cli);
	call->kinds = tr_filter_call_kinds(filter, record);
	if (match == TR_MATCH_OPEN)
		return hold_enter(filter, record, call);
	if (match == TR_MATCH_YES && render(filter, record, NULL, &text)) {
		call->match = TR_MATCH_YES;
		return put(filter, TR_ITEM_SELECTED, text, call);
	}
	return !filter->cli->stop;
}

bool tr_filter_whole(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	unsigned kinds = filter->sets.has_frames ? tr_filter_call_kinds(filter, record) : 0;
	bool selected = !has_enough(filter) &&
			tr_filter_judge(filter, record, NULL, false, in_tree) == TR_MATCH_YES;

	if (filter->cli->stop || (selected && !tr_filter_keep(filter, record)))
		return false;
	return !kinds || end_frame(filter, kinds);
}

/* Ends a call, which is not in the list any more, with its leave. */
static bool leave_call(struct tr_filter *filter, struct tr_call *call, struct tr_record *leave)
{
	struct tr_text text = { "", 0 };
	bool fine = call->match != TR_MATCH_OPEN || decide_call(filter, call, leave, false);

	if (!fine || call->match == TR_MATCH_NO) {
		end_call(call);
		return fine && drain(filter, &filter->queue);
	}
	if (tr_filter_writes_lines(filter) && !render(filter, leave, NULL, &text)) {
		filter->cli->stop = true;
		text.len = 0;
	}
	return put(filter, TR_ITEM_LEAVE, text, call) && drain(filter, &filter->queue);
}

bool tr_filter_leave(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	struct tr_call *call = take_call(filter, call_key(filter, record));

	if (!call)
		return tr_filter_whole(filter, record, in_tree);
	unsigned kinds = call->kinds;
	return leave_call(filter, call, record) && end_frame(filter, kinds);
}

bool tr_filter_end_calls(struct tr_filter *filter)
{
	bool fine = settle_rebase(filter);

	for (struct tr_call *call = filter->calls.first; call; call = call->after) {
		/* no leave comes any more, so each call is judged as it is */
		call->awaited = false;
		fine = fine && lose_call(filter, call);
		/* after an error an item may be undecided; it must not block those after it */
		if (call->item)
			call->item->pending = false;
	}
	fine = drain(filter, &filter->queue) && fine;
	for (struct tr_call *call = filter->calls.first, *next; call; call = next) {
		next = call->after;
		free(call);
	}
	tr_map_clear(&filter->calls.by_key);
	filter->calls.first = filter->calls.last = NULL;
	filter->calls.open_bytes = 0;
	filter->owed = 0;
	return fine;
}

bool tr_filter_begin_output(struct tr_filter *filter)
{
	const struct tr_limits *limits = &filter->cli->config.read.limits;
	struct tr_env_tracker_config config = { .max_spool = limits->max_spool,
						.max_ratio = limits->max_ratio };
	struct tr_env_tracker **tracker = &filter->rebase.tracker;

	tr_pending_free(&filter->pending);
	tr_definitions_free(&filter->definitions);
	filter->pending = empty_queue();
	if (!filter->queue.data_size)
		filter->queue = empty_queue();
	if (!filter->rebases)
		return true;
	bool fine = *tracker ? tr_env_tracker_begin(*tracker)
			     : (*tracker = tr_env_tracker_new(&config)) != NULL;
	return fine || tr_cli_out_of_memory(filter->cli);
}

void tr_filter_free_output(struct tr_filter *filter)
{
	struct tr_rebase *rebase = &filter->rebase;

	tr_definitions_free(&filter->definitions);
	tr_env_tracker_release(rebase->tracker, rebase->exec);
	tr_env_tracker_free(rebase->tracker);
	tr_buffer_free(&rebase->map);
	tr_buffer_free(&rebase->line);
	tr_pending_free(&filter->queue);
	tr_pending_free(&filter->pending);
	tr_map_free(&filter->calls.by_key);
	tr_arena_free(&filter->calls.arena);
	tr_buffer_free(&filter->text);
	tr_buffer_free(&filter->key);
}
