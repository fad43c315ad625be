/*
 * The stream goes by once. Of a segment its header and trailer pass, the
 * trailer with the count of what is left. Records are judged as they come and
 * written as the bytes they came as. Definitions wait until a kept record uses
 * them, context until any record is kept, and what comes behind an enter that
 * only its leave can decide waits in the queue.
 */
#include "config.h"

#include "tr_filter.h"

/* Of the segment, given or left out. */
static bool saw_records(const struct tr_filter *filter)
{
	return filter->has_records ||
	       (filter->sieve && filter->sieve->left_out != filter->left_out_before);
}

static bool begin_segment(struct tr_filter *filter)
{
	filter->has_records = filter->any_kept = false;
	filter->left_out_before = filter->sieve ? filter->sieve->left_out : 0;
	filter->written = 0;
	tr_queue_free(&filter->pending);
	tr_definitions_free(&filter->definitions);
	tr_filter_begin_frames(filter);
	if ((filter->root && !tr_task_tree_begin(&filter->tree, tr_text_from(filter->root))) ||
	    (filter->rebases &&
	     !tr_rebase_begin(&filter->rebase, &filter->cli->config.read.limits)))
		return tr_filter_out_of_memory(filter);
	return true;
}

static bool pass(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_text line;

	/* rows and counts are no stream: nothing else is among them */
	if (!tr_filter_writes_lines(filter))
		return true;
	return tr_filter_render(filter, record, NULL, &line)
		       ? tr_filter_emit(filter, TR_ITEM_PASS, line, NULL)
		       : !filter->cli->stop;
}

static bool header(struct tr_filter *filter, struct tr_record *record)
{
	if (!tr_filter_end_calls(filter))
		return false;
	/* a definition in front of the header, as sort puts it there, belongs to it */
	if ((filter->has_header || saw_records(filter)) && !begin_segment(filter))
		return false;
	filter->has_header = true;
	return pass(filter, record);
}

/* Its count is that of the records that went out; all else in it passes. */
static bool trailer(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_buffer *line = &filter->text;
	bool ours = filter->has_header || saw_records(filter);

	if (!tr_filter_end_calls(filter))
		return false;
	uint64_t count = ours ? filter->written : record->seq.number;
	bool fine = true;
	if (!filter->count_only && !filter->fields) {
		tr_buffer_reset(line);
		tr_buffer_put_literal(line, "!end\t");
		tr_buffer_put_decimal(line, count);
		tr_buffer_put_text(line, record->rest);
		tr_buffer_put_byte(line, '\n');
		fine = line->failed
			       ? tr_filter_out_of_memory(filter)
			       : tr_filter_emit(filter, TR_ITEM_PASS, tr_buffer_text(line), NULL);
	}
	filter->has_header = false;
	return fine && begin_segment(filter);
}

static bool definition(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_text line;

	if (filter->definitions_mode == TR_DEFINITIONS_NONE)
		return true;
	if (filter->definitions_mode == TR_DEFINITIONS_ALL || !tr_definition_is_known(record))
		return pass(filter, record);
	if (filter->count_only || filter->fields)
		return true;
	if (!tr_filter_render(filter, record, NULL, &line))
		return !filter->cli->stop;
	return tr_definitions_add(&filter->definitions, line) || tr_filter_out_of_memory(filter);
}

static bool context(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_text line;

	if (filter->no_context || filter->count_only || filter->fields || tr_filter_full(filter))
		return true;
	return tr_filter_render(filter, record, NULL, &line)
		       ? tr_filter_emit(filter, TR_ITEM_CONTEXT, line, NULL)
		       : !filter->cli->stop;
}

static bool keep(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_text text;

	if (tr_filter_sated(filter))
		return !filter->cli->stop;
	if (filter->rebases && tr_filter_writes_lines(filter) &&
	    tr_rebase_must_wait(&filter->rebase))
		return tr_filter_line_of(filter, record, &text)
			       ? tr_filter_hold_exec(filter, record, text)
			       : !filter->cli->stop;
	if (!tr_filter_render(filter, record, NULL, &text))
		return !filter->cli->stop;
	return tr_filter_emit(filter, TR_ITEM_SELECTED, text, NULL);
}

static bool plain(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	if (tr_filter_sated(filter) ||
	    tr_filter_judge(filter, record, NULL, false, in_tree) != TR_MATCH_YES)
		return !filter->cli->stop;
	return keep(filter, record);
}

/* A call that is whole, or any other record. */
static bool whole(struct tr_filter *filter, struct tr_record *record, bool in_tree)
{
	unsigned kinds = tr_filter_call_kinds(filter, record);

	return plain(filter, record, in_tree) && tr_filter_returned(filter, kinds);
}

/* What --tree and --rebase have to see of every record. */
static bool follow(struct tr_filter *filter, struct tr_record *record, enum tr_record_sort sort,
		   bool *in_tree)
{
	*in_tree = true;
	if (filter->root && sort != TR_SORT_CONTEXT) {
		if (!tr_task_tree_follow(&filter->tree, record, in_tree))
			return tr_filter_out_of_memory(filter);
		filter->found_root |= *in_tree;
	}
	return !filter->rebases || tr_filter_follow_rebase(filter, record);
}

static bool one_record(struct tr_filter *filter, struct tr_record *record)
{
	bool in_tree;

	filter->has_records = true;
	if (record->chosen)
		return keep(filter, record);
	if (filter->needs_start || filter->unknown_kinds)
		tr_filter_look_at(filter, record);
	enum tr_record_sort sort = tr_filter_sort(filter, record);
	if (!follow(filter, record, sort, &in_tree))
		return false;
	switch (sort) {
	case TR_SORT_CONTEXT:
		return context(filter, record);
	case TR_SORT_ENTER:
		return tr_filter_enter(filter, record, in_tree);
	case TR_SORT_LEAVE:
		return tr_filter_leave(filter, record, in_tree);
	case TR_SORT_PLAIN:
		break;
	}
	return whole(filter, record, in_tree);
}

static bool one_line(struct tr_filter *filter, struct tr_record *record)
{
	if (filter->computed && !tr_computed_follow(filter->computed, record))
		return tr_filter_out_of_memory(filter);
	if (filter->merge)
		return tr_filter_merge_line(filter, record);
	switch (record->type) {
	case TR_RECORD:
		return one_record(filter, record);
	case TR_DEFINITION:
		return definition(filter, record);
	case TR_HEADER:
		return header(filter, record);
	case TR_TRAILER:
		return trailer(filter, record);
	case TR_COMMENT:
		return pass(filter, record);
	}
	return true;
}

/* What is left of the segment is not read, so its trailer is ours. */
static void close_segment(struct tr_filter *filter)
{
	struct tr_output *out = filter->cli->out;
	uint64_t errors;
	bool truncated;

	if (!tr_filter_end_calls(filter) || !filter->has_header || !tr_filter_writes_lines(filter))
		return;
	tr_trace_damage(filter->cli->trace, &errors, &truncated);
	tr_buffer_reset(&filter->text);
	tr_trailer_put(filter->written, errors + filter->gave_up, truncated || filter->gave_up,
		       &filter->text);
	tr_buffer_put_byte(&filter->text, '\n');
	tr_output_put_text(out, tr_buffer_text(&filter->text));
}

/* All that is wanted went out, but for leaves that belong to it. */
static bool is_done(const struct tr_filter *filter)
{
	return filter->gave_up || (tr_filter_full(filter) && !filter->owed);
}

static bool one_place(struct tr_filter *filter)
{
	struct tr_record *record;

	filter->has_header = false;
	if (!begin_segment(filter))
		return false;
	while (tr_cli_next_here(filter->cli, &record)) {
		if (!one_line(filter, record))
			return false;
		if (is_done(filter)) {
			filter->left_rest = true;
			close_segment(filter);
			return false;
		}
		if (tr_filter_has_sets(filter) && tr_filter_past_sets(filter)) {
			filter->left_rest = true;
			close_segment(filter);
			return !filter->cli->stop;
		}
	}
	return tr_filter_end_calls(filter);
}

void tr_filter_run(struct tr_filter *filter)
{
	struct tr_trace_place *place;

	while (!is_done(filter) && tr_cli_step(filter->cli, &place) && one_place(filter))
		;
	filter->merge_errors += filter->gave_up;
	filter->merge_truncated |= filter->gave_up;
	if (filter->merge && !filter->cli->stop)
		tr_filter_merge_end(filter);
	if (filter->count_only && !filter->cli->stop) {
		tr_buffer_reset(&filter->text);
		tr_buffer_put_decimal(&filter->text, filter->selected);
		tr_buffer_put_byte(&filter->text, '\n');
		tr_output_put_text(filter->cli->out, tr_buffer_text(&filter->text));
	}
	if (!filter->selected)
		tr_cli_status(filter->cli, 1);
	tr_filter_note_unseen(filter);
}
