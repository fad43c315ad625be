/* What is decided goes out, or behind what waits: lines, rows, or nothing but a count. */
#include "config.h"

#include "tr_filter.h"

#include <stdlib.h>

bool tr_filter_out_of_memory(struct tr_filter *filter)
{
	struct tr_error err;

	tr_error_memory(&err);
	tr_cli_report(filter->cli, &err);
	filter->cli->stop = true;
	return false;
}

bool tr_filter_full(const struct tr_filter *filter)
{
	return filter->limited && filter->selected >= filter->limit;
}

bool tr_filter_sated(const struct tr_filter *filter)
{
	return filter->limited && filter->selected + filter->waiting >= filter->limit;
}

bool tr_filter_writes_lines(const struct tr_filter *filter)
{
	return !filter->count_only && !filter->fields;
}

static bool put(struct tr_cli *cli, struct tr_text line)
{
	tr_output_put_text(cli->out, line);
	tr_output_record_end(cli->out);
	if (cli->out->failed)
		cli->stop = true;
	return !cli->stop;
}

/* A line and the definitions that it uses. */
static bool put_line(struct tr_filter *filter, struct tr_text line)
{
	struct tr_output *out = filter->cli->out;

	if (filter->definitions.waiting && !tr_definitions_write(&filter->definitions, line, out))
		return tr_filter_out_of_memory(filter);
	return put(filter->cli, line);
}

static bool drain(struct tr_filter *filter, struct tr_queue *queue);

/* The context that came before the first record that is kept. */
static bool put_pending(struct tr_filter *filter)
{
	filter->any_kept = true;
	return drain(filter, &filter->pending);
}

/* What is decided need not wait in memory. */
static bool relieve(struct tr_filter *filter, struct tr_queue *queue)
{
	struct tr_error err;

	if (tr_queue_relieve(queue, &err))
		return true;
	tr_cli_abort(filter->cli, &err);
	return false;
}

static bool emit_context(struct tr_filter *filter, struct tr_text line)
{
	if (filter->any_kept) {
		filter->written++;
		return put_line(filter, line);
	}
	if (!tr_queue_add(&filter->pending, TR_ITEM_CONTEXT, line, NULL))
		return tr_filter_out_of_memory(filter);
	return relieve(filter, &filter->pending);
}

/* An enter and its leave are one for the trailer, even where the enter was cut away: by its name.
 */
static bool line_counts(struct tr_text line)
{
	struct tr_record record = { .arena = NULL };

	return !tr_text_starts(line, TR_TEXT("leave\t")) ||
	       (tr_record_from_line(&record, line, NULL) && record.name.type == TR_CELL_ABSENT);
}

static bool emit_selected(struct tr_filter *filter, struct tr_text text, struct tr_call *call)
{
	if (tr_filter_full(filter))
		return true;
	filter->selected++;
	if (call) {
		call->kept = true;
		filter->owed += call->awaited;
	}
	if (filter->count_only)
		return true;
	if (!filter->fields) {
		filter->written += line_counts(text);
		return (filter->any_kept || put_pending(filter)) && put_line(filter, text);
	}
	tr_output_put_text(filter->cli->out, text);
	tr_output_record_end(filter->cli->out);
	return !filter->cli->out->failed;
}

static bool emit_leave(struct tr_filter *filter, struct tr_text line, struct tr_call *call)
{
	bool kept = !call || call->kept;

	free(call);
	return !kept || !tr_filter_writes_lines(filter) || put_line(filter, line);
}

static bool emit(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		 struct tr_call *call)
{
	switch (type) {
	case TR_ITEM_PASS:
		return !text.len || !tr_filter_writes_lines(filter) || put_line(filter, text);
	case TR_ITEM_CONTEXT:
		return !tr_filter_writes_lines(filter) || emit_context(filter, text);
	case TR_ITEM_SELECTED:
		return emit_selected(filter, text, call);
	case TR_ITEM_LEAVE:
		return emit_leave(filter, text, call);
	case TR_ITEM_RUN:
		break;
	}
	return true;
}

static bool is_whole(struct tr_text line)
{
	return line.data[line.len - 1] == '\n';
}

/*
 * The line may lie in a file that somebody changes meanwhile: what looks at it more than
 * once looks at a copy, and it goes out if it still is one when there is nothing more to
 * wait for. False: it did not.
 */
static bool put_fleeting_line(struct tr_filter *filter, struct tr_text line,
			      const struct tr_columns *columns)
{
	struct tr_buffer *copy = &filter->text;

	if (filter->definitions.waiting &&
	    !tr_definitions_are_settled(&filter->definitions, line, columns)) {
		tr_buffer_reset(copy);
		tr_buffer_put_text(copy, line);
		if (copy->failed)
			return tr_filter_out_of_memory(filter);
		return is_whole(tr_buffer_text(copy)) && put_line(filter, tr_buffer_text(copy));
	}
	return tr_output_room(filter->cli->out, line.len) && is_whole(line) &&
	       put(filter->cli, line);
}

/* A record that is selected by its columns, where nothing but the line is wanted of it. */
bool tr_filter_take(struct tr_sieve *sieve, struct tr_text line, const struct tr_columns *columns)
{
	struct tr_filter *filter = sieve->taker;

	if (filter->queue.first)
		return false; /* it is not its turn */
	if (!filter->count_only) {
		if (!filter->any_kept)
			return false; /* what waits for the first one goes out before it */
		if (!put_fleeting_line(filter, line, columns))
			return false;
		filter->written++;
	}
	filter->selected++;
	return true;
}

bool tr_filter_relieve(struct tr_filter *filter)
{
	return relieve(filter, &filter->queue);
}

bool tr_filter_emit(struct tr_filter *filter, enum tr_item_type type, struct tr_text text,
		    struct tr_call *call)
{
	/* only a limit can part a leave from its enter */
	if (!filter->limited && type == TR_ITEM_LEAVE)
		free(call);
	if (!filter->limited)
		call = NULL;
	if (!filter->queue.first)
		return emit(filter, type, text, call);
	struct tr_item *item = tr_queue_add(&filter->queue, type, text, call);
	if (!item && type == TR_ITEM_LEAVE)
		free(call);
	if (!item)
		return tr_filter_out_of_memory(filter);
	if (type == TR_ITEM_SELECTED) {
		filter->waiting++;
		if (call)
			call->item = item;
	}
	return tr_filter_relieve(filter);
}

/* fine: it goes out; else nothing is left of it. */
static bool drain_item(struct tr_filter *filter, const struct tr_item *item, bool fine)
{
	filter->waiting -= item->type == TR_ITEM_SELECTED;
	if (item->call)
		item->call->item = NULL;
	if (fine)
		return emit(filter, item->type, item->text, item->call);
	if (item->type == TR_ITEM_LEAVE)
		free(item->call);
	return false;
}

static bool drain_run(struct tr_filter *filter, struct tr_queue *queue, struct tr_item *run,
		      bool fine)
{
	struct tr_item item;
	struct tr_error err;
	enum tr_status status;

	if (!fine)
		return false; /* the run may not even be in the spool */
	while ((status = tr_queue_read(queue, run, &item, &err)) == TR_OK)
		fine = drain_item(filter, &item, fine);
	if (status == TR_END)
		return fine;
	tr_cli_abort(filter->cli, &err);
	return false;
}

static bool drain(struct tr_filter *filter, struct tr_queue *queue)
{
	struct tr_item *item;
	bool fine = true;

	while ((item = tr_queue_take(queue))) {
		if (item->type == TR_ITEM_RUN)
			fine = drain_run(filter, queue, item, fine);
		else
			fine = drain_item(filter, item, fine);
		tr_item_free(item);
	}
	if (!queue->first && queue->spool)
		tr_queue_free(queue);
	return fine;
}

bool tr_filter_drain(struct tr_filter *filter)
{
	return drain(filter, &filter->queue);
}
