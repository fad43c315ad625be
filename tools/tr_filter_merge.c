/*
 * --merge: what is selected of all traces made one. Records of context are
 * needed to understand the blocks, so they go to the merge whether they are
 * asked for or not.
 */
#include "config.h"

#include "tr_filter.h"

#include "coverage/merge.h"

/* What trailers tell of the way so far. */
static void look_at_trailer(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_field *errors = tr_record_field(record, "errors");
	struct tr_value *value = errors ? tr_field_value(record, errors, NULL) : NULL;

	if (errors)
		filter->merge_errors += value && value->type == TR_UINT ? value->as.number : 1;
	if (tr_record_field(record, "truncated"))
		filter->merge_truncated = true;
}

static bool put(struct tr_filter *filter, struct tr_record *record)
{
	struct tr_error err;
	enum tr_status status = tr_merge_put(filter->merge, record, &err);

	if (status == TR_FATAL)
		return tr_filter_out_of_memory(filter);
	if (status == TR_OK)
		return true;
	filter->merge_errors += err.severity == TR_DAMAGE;
	tr_cli_report_record(filter->cli, record, &err, false);
	return !filter->cli->stop;
}

bool tr_filter_merge_line(struct tr_filter *filter, struct tr_record *record)
{
	bool selectable = record->type == TR_RECORD && (tr_text_is(record->kind, "block") ||
							tr_text_is(record->kind, "unit"));

	if (record->type == TR_TRAILER) {
		if (tr_record_split(record, NULL) == TR_FATAL)
			return tr_filter_out_of_memory(filter);
		look_at_trailer(filter, record);
	}
	if (selectable) {
		if (filter->expr_count &&
		    tr_filter_judge(filter, record, NULL, false, true) != TR_MATCH_YES)
			return !filter->cli->stop;
		filter->selected++;
	}
	return put(filter, record);
}

bool tr_filter_merge_end(struct tr_filter *filter)
{
	struct tr_output *out = filter->cli->out;

	return tr_merge_write(filter->merge, filter->merge_errors, filter->merge_truncated, out) ||
	       tr_filter_out_of_memory(filter);
}

bool tr_filter_merge_begin(struct tr_filter *filter)
{
	filter->merge = tr_merge_new();
	return filter->merge || tr_filter_out_of_memory(filter);
}

void tr_filter_merge_free(struct tr_filter *filter)
{
	tr_merge_free(filter->merge);
}
