/* Which records: expressions, sets, --tree, and what context is. */
#include "config.h"

#include "tr_filter.h"

void tr_filter_name_kinds(struct tr_filter *filter)
{
	for (int kind = 0; kind < TR_CONTEXT_KINDS; kind++) {
		for (size_t i = 0; i < filter->expr_count; i++) {
			if (tr_expr_names_kind(filter->exprs[i],
					       tr_text_from(tr_context_kinds[kind])))
				filter->named[kind] = true;
		}
	}
}

void tr_filter_make_sieve(struct tr_filter *filter)
{
	size_t count = 0;

	if (filter->invert || filter->root || filter->rebases || tr_filter_has_sets(filter))
		return;
	filter->always[count++] = TR_TEXT("enter");
	filter->always[count++] = TR_TEXT("leave");
	for (int kind = 0; kind < TR_CONTEXT_KINDS; kind++) {
		if (!filter->named[kind])
			filter->always[count++] = tr_text_from(tr_context_kinds[kind]);
	}
	filter->sieve = tr_expr_sieve_new(filter->exprs, filter->expr_count, filter->always, count);
	if (filter->sieve && !filter->limited && !filter->fields) {
		filter->sieve->take = tr_filter_take;
		filter->sieve->taker = filter;
	}
	if (filter->sieve)
		filter->sieve->guard = tr_cli_fault_guard();
	filter->cli->config.read.sieve = filter->sieve;
}

enum tr_record_sort tr_filter_sort(const struct tr_filter *filter, const struct tr_record *record)
{
	struct tr_text kind = record->kind;

	/* the commonest first, and the first letters that the others have */
	if (tr_text_equal(kind, TR_TEXT("exec")) || tr_text_equal(kind, TR_TEXT("sys")) ||
	    !memchr("eilmsu", *kind.data, 6))
		return TR_SORT_PLAIN;
	if (tr_text_equal(kind, TR_TEXT("enter")))
		return TR_SORT_ENTER;
	if (tr_text_equal(kind, TR_TEXT("leave")))
		return TR_SORT_LEAVE;
	int context = tr_context_kind(kind);
	if (context >= 0)
		return filter->named[context] ? TR_SORT_PLAIN : TR_SORT_CONTEXT;
	return TR_SORT_PLAIN;
}

static enum tr_match judge(struct tr_filter *filter, struct tr_record *record,
			   struct tr_record *leave, bool open)
{
	enum tr_match result = tr_filter_in_sets(filter, record, open);

	for (size_t i = 0; i < filter->expr_count && result != TR_MATCH_NO; i++) {
		struct tr_error err;
		enum tr_match match = tr_expr_match(filter->states[i], record, leave, open, &err);
		if (err.cause != TR_CAUSE_NONE)
			tr_cli_report_record(filter->cli, record, &err, false);
		if (match == TR_MATCH_NO)
			return TR_MATCH_NO;
		if (match == TR_MATCH_OPEN)
			result = TR_MATCH_OPEN;
	}
	return result;
}

enum tr_match tr_filter_judge(struct tr_filter *filter, struct tr_record *record,
			      struct tr_record *leave, bool open, bool in_tree)
{
	enum tr_match match = in_tree ? judge(filter, record, leave, open) : TR_MATCH_NO;

	if (filter->invert && match != TR_MATCH_OPEN)
		match = match == TR_MATCH_YES ? TR_MATCH_NO : TR_MATCH_YES;
	/* a row shows fields of both: it has to wait for the leave too */
	if (open && match == TR_MATCH_YES && filter->fields &&
	    tr_field_list_needs_leave(filter->fields))
		match = TR_MATCH_OPEN;
	return match;
}
