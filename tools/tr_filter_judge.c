/* Which records: expressions, sets, --tree, and what context is. */
#include "config.h"

#include "tr_filter.h"

#include <inttypes.h>

void tr_filter_name_kinds(struct tr_filter *filter)
{
	for (int kind = 0; kind < TR_CONTEXT_KINDS; kind++) {
		for (size_t i = 0; i < filter->expr_count; i++) {
			if (tr_expr_names_kind(filter->exprs[i],
					       tr_text_from(tr_context_kinds[kind])))
				filter->named[kind] = true;
		}
	}
	for (size_t i = 0; i < filter->expr_count; i++) {
		filter->unknown_kinds |= tr_expr_names_unknown_kind(filter->states[i]);
		filter->needs_start |= tr_expr_needs_start(filter->exprs[i]);
	}
}

/* The time of the record, if that of the first record is wanted and no record had one. */
static void set_start(struct tr_filter *filter, const struct tr_record *record)
{
	struct tr_buffer time = TR_BUFFER_INIT;

	tr_cell_write(&record->time, &time);
	filter->needs_start = false;
	for (size_t i = 0; i < filter->expr_count; i++) {
		if (tr_expr_needs_start(filter->exprs[i]) &&
		    !tr_expr_set_start(filter->exprs[i], tr_buffer_text(&time)))
			filter->needs_start = true;
	}
	tr_buffer_free(&time);
}

void tr_filter_look_at(struct tr_filter *filter, const struct tr_record *record)
{
	if (filter->needs_start)
		set_start(filter, record);
	for (size_t i = 0; filter->unknown_kinds && i < filter->expr_count; i++)
		tr_expr_saw_kind(filter->states[i], record->kind);
}

static void note_kinds(struct tr_filter *filter, const struct tr_expr_state *state)
{
	struct tr_unseen unseen;

	for (size_t at = 0; tr_expr_next_unseen_kind(state, &at, &unseen);) {
		int len = (int)unseen.name.len, other = (int)unseen.suggestion.len;
		if (unseen.suggestion.data)
			tr_cli_note(filter->cli, "no records of kind '%.*s'; did you mean %.*s?",
				    len, unseen.name.data, other, unseen.suggestion.data);
		else
			tr_cli_note(filter->cli,
				    "no records of kind '%.*s'; did you mean name == \"%.*s\"?",
				    len, unseen.name.data, len, unseen.name.data);
	}
}

/* The first of the bounds in time or in frames that leaves nothing, where nothing is selected. */
static void note_bounds(struct tr_filter *filter)
{
	const char *since = filter->since, *until = filter->until;
	bool in_time = true;

	if (filter->selected || filter->invert)
		return;
	for (size_t i = 0; i < filter->bounds; i++)
		in_time &= !tr_expr_never_matched(filter->states[i]);
	if (!in_time && since && until)
		tr_cli_note(filter->cli, "no record is between --since=%s and --until=%s", since,
			    until);
	else if (!in_time)
		tr_cli_note(filter->cli, "no record is at or %s=%s",
			    since ? "after --since" : "before --until", since ? since : until);
	else if (!filter->sets.has_frames || filter->sets.met_frames || filter->left_rest)
		return;
	else if (filter->sets.frames)
		tr_cli_note(filter->cli, "--frames selects none: the last frame is %" PRIu64,
			    filter->sets.frames - 1);
	else
		tr_cli_note(filter->cli, "--frames selects none: no record is an API call");
}

void tr_filter_note_unseen(struct tr_filter *filter)
{
	struct tr_unseen unseen;
	struct tr_error note;

	if (filter->cli->stop)
		return;
	if (filter->root && !filter->found_root && !filter->left_rest)
		tr_cli_note(filter->cli, "--tree: no record of task '%s'", filter->root);
	note_bounds(filter);
	for (size_t i = 0; i < filter->expr_count; i++) {
		if (!filter->left_rest)
			note_kinds(filter, filter->states[i]);
		for (size_t at = 0; tr_expr_next_unseen(filter->states[i], &at, &unseen);) {
			tr_unseen_note(&unseen, "record that was tested",
				       tr_computed_records(unseen.name), &note);
			tr_cli_note(filter->cli, "%s", note.text);
		}
	}
	for (size_t at = 0;
	     filter->fields && tr_field_list_next_unseen(filter->fields, &at, &unseen);) {
		tr_unseen_note(&unseen, "selected record", tr_computed_records(unseen.name), &note);
		tr_cli_note(filter->cli, "--fields: %s", note.text);
	}
}

static bool uses(const struct tr_filter *filter, const char *name)
{
	bool used = filter->fields && tr_field_list_uses(filter->fields, name);

	for (size_t i = 0; i < filter->expr_count && !used; i++)
		used = tr_expr_uses(filter->exprs[i], name);
	return used;
}

bool tr_filter_begin_computed(struct tr_filter *filter)
{
	bool used = false;

	for (size_t i = 0; i < TR_COMPUTED_NAMES; i++)
		used |= uses(filter, tr_computed_names[i]);
	if (!used)
		return true;
	filter->computed = tr_computed_new();
	if (!filter->computed)
		return tr_filter_out_of_memory(filter);
	struct tr_computed_fields *fields = tr_computed_fields(filter->computed);
	for (size_t i = 0; i < filter->expr_count; i++)
		tr_expr_state_set_computed(filter->states[i], fields);
	if (filter->fields)
		tr_field_list_set_computed(filter->fields, fields);
	return true;
}

void tr_filter_make_sieve(struct tr_filter *filter)
{
	size_t count = 0;

	if (filter->invert || filter->root || filter->computed || filter->rebases || tr_filter_has_sets(filter))
		return;
	filter->always[count++] = TR_TEXT("enter");
	filter->always[count++] = TR_TEXT("leave");
	for (int kind = 0; kind < TR_CONTEXT_KINDS; kind++) {
		if (!filter->named[kind])
			filter->always[count++] = tr_text_from(tr_context_kinds[kind]);
	}
	filter->sieve = tr_expr_sieve_new(filter->states, filter->expr_count, filter->always,
					  count);
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
		filter->gave_up |= tr_expr_gave_up(filter->states[i]);
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
