/* SPDX-License-Identifier: MIT */
/* Judges records: by expressions, by sets of calls and frames, and by the tree of a task. */

#include "tr_filter.h"

#include <inttypes.h>
#include <stdlib.h>

#include "process/instant.h"
#include "process/parent.h"
#include "record/calls.h"
#include "record/vocabulary.h"
#include "record/literal.h"

/* An exec record of a task that is inside. */
struct task_exec {
	struct task_exec *next;
	struct tr_text seq; /* in the memory after it; key of tree->seqs */
};

struct task {
	struct task_exec *execs; /* all of them: a child may name one before the last */
	bool forked;		 /* a fork put it inside, not the parent that its exec names */
};

/* The exit of a task whose fork has not been seen. */
struct ended {
	int64_t time; /* TR_INSTANT_NONE: unknown */
	bool inside;  /* its exec named a parent that is inside */
};

/*
 * The number of exits that are remembered for a late fork. Task ids are reused and forks are
 * printed soon after, so the oldest exits are of no use any more; the list is dropped as a whole.
 */
enum { ENDED_MAX = 4096 };

/* Adds an item of that size, all zero and with the name after it. NULL: memory is exhausted. */
static void *add_named(struct tr_map *map, struct tr_text name, size_t size)
{
	char *item = calloc(1, size + name.len);

	if (!item)
		return NULL;
	memcpy(item + size, name.data, name.len);
	if (tr_map_put(map, (struct tr_text){ item + size, name.len }, item))
		return item;
	free(item);
	return NULL;
}

/* Puts a task inside the tree, if it is not inside already. NULL: memory is exhausted. */
static struct task *add_task(struct tr_task_tree *tree, struct tr_text name)
{
	struct task *task = tr_map_get(&tree->tasks, name);

	return task ? task : add_named(&tree->tasks, name, sizeof *task);
}

/*
 * Adds an exec record that children may name as their parent. A repeated number (in a mangled
 * stream) stays with its first task. False: memory is exhausted.
 */
static bool add_exec(struct tr_task_tree *tree, struct task *task, struct tr_text seq)
{
	struct task_exec *exec;

	if (tr_map_get(&tree->seqs, seq))
		return true;
	exec = add_named(&tree->seqs, seq, sizeof *exec);
	if (!exec)
		return false;
	*exec = (struct task_exec){ task->execs, { (char *)(exec + 1), seq.len } };
	task->execs = exec;
	return true;
}

/* Frees a task that is not in the tree any more, and its exec records. */
static void free_task(struct tr_task_tree *tree, struct task *task)
{
	struct task_exec *next;

	for (struct task_exec *exec = task->execs; exec; exec = next) {
		next = exec->next;
		tr_map_take(&tree->seqs, exec->seq);
		free(exec);
	}
	free(task);
}

/* Takes a task out of the tree: its id may be given to another task. */
static void remove_task(struct tr_task_tree *tree, struct tr_text name)
{
	struct task *task = tr_map_take(&tree->tasks, name);

	if (task)
		free_task(tree, task);
}

/* Sets *inside if the parent of a program is in the tree. False: memory is exhausted. */
static bool has_parent(struct tr_task_tree *tree, struct tr_record *record, bool *inside)
{
	struct tr_parent parent;

	if (tr_record_split(record, NULL) == TR_FATAL || !tr_parent_read(record, &parent))
		return false;
	if (parent.kind == TR_PARENT_RECORD)
		*inside = tr_map_get(&tree->seqs, parent.text) != NULL;
	else
		*inside = parent.text.data && tr_map_get(&tree->tasks, parent.text);
	return true;
}

/*
 * An exec record puts its task inside if its parent is inside, and children may name it. False:
 * memory is exhausted.
 */
static bool follow_exec(struct tr_task_tree *tree, struct tr_record *record, struct tr_text task,
			bool *inside)
{
	struct tr_text seq;

	if (!*inside && !has_parent(tree, record, inside))
		return false;
	if (!*inside)
		return true;
	struct task *added = add_task(tree, task);
	return added && tr_parent_cell(record, &record->seq, &seq) &&
	       (!seq.data || add_exec(tree, added, seq));
}

/* Forgets all exits whose fork has not been seen. */
static void forget_ended(struct tr_task_tree *tree)
{
	size_t position = 0;
	void *ended;

	while ((ended = tr_map_next(&tree->ended, &position)))
		free(ended);
	tr_map_clear(&tree->ended);
}

/*
 * An exit ends its task. It is remembered if no fork put the task inside, because the fork may be
 * printed later. False: memory is exhausted.
 */
static bool follow_exit(struct tr_task_tree *tree, const struct tr_record *record,
			struct tr_text name, bool inside)
{
	const struct task *task = tr_map_get(&tree->tasks, name);
	struct ended *ended;

	bool forked = task && task->forked;
	remove_task(tree, name);
	if (forked)
		return true;
	free(tr_map_take(&tree->ended, name));
	if (tree->ended.count == ENDED_MAX)
		forget_ended(tree);
	ended = add_named(&tree->ended, name, sizeof *ended);
	if (ended)
		*ended = (struct ended){ tr_instant_from_cell(&record->time), inside };
	return ended;
}

/*
 * The child may have ended before its fork was printed; then it is not inside any more. Without
 * times, an exit counts as its own if its exec named a parent inside; others had its number before.
 */
static bool follow_fork(struct tr_task_tree *tree, const struct tr_record *record,
			struct tr_text child)
{
	struct ended *ended = tr_map_take(&tree->ended, child);
	int64_t now = tr_instant_from_cell(&record->time);
	bool timed = ended && now != TR_INSTANT_NONE && ended->time != TR_INSTANT_NONE &&
		     now != ended->time;
	bool early = timed ? now < ended->time : ended && ended->inside;

	tree->missed += early && !ended->inside;
	free(ended);
	if (early)
		return true;
	struct task *task = add_task(tree, child);
	if (task)
		task->forked = true;
	return task;
}

/*
 * Follows a record, and sets *inside if it belongs to the tree. Records come in the order in which
 * the tracer printed them, which is not always the order of the events. False: memory is
 * exhausted.
 */
static __attribute__((noinline)) bool follow_tree(struct tr_task_tree *tree,
						  struct tr_record *record, bool *inside)
{
	struct tr_text task, child;

	if (!tr_parent_cell(record, &record->task, &task))
		return false;
	*inside = task.data && tr_map_get(&tree->tasks, task);
	if (task.data && tr_text_equal(record->kind, TR_TEXT("exec")))
		return follow_exec(tree, record, task, inside);
	if (task.data && tr_text_equal(record->kind, TR_TEXT("exit")))
		return follow_exit(tree, record, task, *inside);
	if (*inside && tr_text_equal(record->kind, TR_TEXT("fork")))
		return tr_record_split(record, NULL) != TR_FATAL &&
		       tr_parent_text(record, tr_record_field(record, "child"), &child) &&
		       (!child.data || follow_fork(tree, record, child));
	return true;
}

/* Frees all tasks; --tree begins anew in each segment. */
static void free_tree(struct tr_task_tree *tree)
{
	size_t position = 0;
	struct task *task;

	while ((task = tr_map_next(&tree->tasks, &position)))
		free_task(tree, task);
	tr_map_free(&tree->tasks);
	tr_map_free(&tree->seqs);
	forget_ended(tree);
	tr_map_free(&tree->ended);
}

/* Begins a segment with the root task alone. False: memory is exhausted. */
static bool begin_tree(struct tr_task_tree *tree, struct tr_text root)
{
	struct tr_buffer quoted = TR_BUFFER_INIT;

	free_tree(tree);
	/* the cells of ids that are strings in the source have quotes, which users do not type */
	tr_buffer_put_byte(&quoted, '"');
	tr_buffer_put_text(&quoted, root);
	tr_buffer_put_byte(&quoted, '"');
	bool fine =
		!quoted.failed && add_task(tree, root) && add_task(tree, tr_buffer_text(&quoted));
	tr_buffer_free(&quoted);
	return fine;
}

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

unsigned tr_filter_call_kinds(struct tr_filter *filter, const struct tr_record *record)
{
	struct tr_call_sets *sets = &filter->sets;
	bool matters = sets->has_frames || sets->calls.filtered.count || filter->computed;

	return matters && record->name.type == TR_CELL_TEXT
		       ? tr_call_kinds_of(&sets->kinds, record->name.text)
		       : 0;
}

/*
 * True if the number of a call is in --calls. Also follows the largest number, which decides
 * whether the rest of the file can contain one.
 */
static bool in_calls(struct tr_call_sets *sets, const struct tr_record *record, unsigned kinds)
{
	uint64_t number;

	if (!tr_cell_number(&record->seq, &number))
		return false;
	if (number >= sets->next_call && number < UINT64_MAX)
		sets->next_call = number + 1;
	return tr_call_set_has(&sets->calls, number, kinds);
}

/*
 * Judges a record by --calls and --frames. A call belongs to the frame in which it returns, so a
 * call that is open may be undecided.
 */
static enum tr_match in_sets(struct tr_filter *filter, const struct tr_record *record, bool open)
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
		return TR_MATCH_OPEN; /* the frame may end before the call returns */
	if (sets->rest == TR_CALL_SET_SOME && !tr_call_set_has(&sets->wanted, sets->frame, kinds))
		return TR_MATCH_NO;
	sets->met_frames = true;
	return TR_MATCH_YES;
}

bool tr_filter_ends_frame(struct tr_filter *filter, unsigned kinds)
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

	/* a stream may be sorted differently, and other segments may follow */
	if (filter->invert || filter->owed || filter->queue.first ||
	    (place->format->flags & TR_FORMAT_STREAM))
		return false;
	/* one set is enough, because a call has to be in both */
	return (sets->has_frames && sets->rest == TR_CALL_SET_NONE) ||
	       (sets->has_calls &&
		tr_call_set_rest(&sets->calls, sets->next_call) == TR_CALL_SET_NONE);
}

/*
 * Finds the context kinds that an expression names, which are selected and counted like other
 * records.
 */
static void name_kinds(struct tr_filter *filter)
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

/* Sets the time of the first record in expressions that need it, if this record has a time. */
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

/*
 * Shows a record to the expressions that depend on records that are not selected. Not in line: few
 * expressions need it.
 */
static __attribute__((noinline)) void show_expressions(struct tr_filter *filter,
						       const struct tr_record *record)
{
	if (filter->needs_start)
		set_start(filter, record);
	for (size_t i = 0; filter->unknown_kinds && i < filter->expr_count; i++)
		tr_expr_saw_kind(filter->states[i], record->kind);
}

/* Notes the kinds in an expression that no record has. The user may have meant a name. */
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

/* If nothing is selected, notes bounds in time or in frames that leave no record. */
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

/*
 * Notes what the user named and no record has: the result is then probably not what was meant. If
 * the rest of the input was not read, such a record may be in it.
 */
void tr_filter_note_unseen(struct tr_filter *filter)
{
	struct tr_unseen unseen;
	struct tr_error note;

	if (filter->cli->stop)
		return;
	if (filter->root && !filter->found_root && !filter->left_rest)
		tr_cli_note(filter->cli, "--tree: no record of task '%s'", filter->root);
	if (filter->tree.missed)
		tr_cli_note(filter->cli,
			    "--tree: %" PRIu64
			    " exit records are left out because they come before "
			    "the fork of their task",
			    filter->tree.missed);
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

/* True if an expression or --fields uses the field. */
static bool uses(const struct tr_filter *filter, const char *name)
{
	bool used = filter->fields && tr_field_list_uses(filter->fields, name);

	for (size_t k = 0; k < filter->expr_count && !used; k++)
		used = tr_expr_uses(filter->exprs[k], name);
	return used;
}

/*
 * Prepares the computed fields if an expression or --fields uses one; otherwise records do not pay
 * for them. False: reported.
 */
static bool begin_computed(struct tr_filter *filter)
{
	struct tr_compilers *compilers = tr_cli_compilers(filter->cli);
	bool used = false, has_programs = tr_cli_programs(filter->cli, &filter->programs);

	if (filter->cli->stop)
		return false;
	for (size_t i = 0; i < TR_COMPUTED_NAMES && !used; i++)
		used = uses(filter, tr_computed_names[i]);
	for (size_t i = 0; i < TR_COMPUTED_SYMBOLS && has_programs && !used; i++)
		used = uses(filter, tr_computed_symbols[i]);
	if (!used)
		return true;
	filter->computed = tr_computed_new(tr_format_call_kinds, compilers);
	if (!filter->computed)
		return tr_cli_out_of_memory(filter->cli);
	if (has_programs)
		tr_computed_set_programs(filter->computed, &filter->programs);
	struct tr_computed_fields *fields = tr_computed_fields(filter->computed);
	for (size_t i = 0; i < filter->expr_count; i++)
		tr_expr_state_set_computed(filter->states[i], fields);
	if (filter->fields)
		tr_field_list_set_computed(filter->fields, fields);
	return true;
}

/*
 * Makes the sieve, which judges lines by their columns before they become records. It is of no use
 * where every record has to be seen: with --tree, --rebase, sets, computed fields and -v.
 */
static void make_sieve(struct tr_filter *filter)
{
	size_t count = 0;

	if (filter->invert || filter->root || filter->computed || filter->rebases ||
	    tr_filter_has_sets(filter))
		return;
	filter->always[count++] = TR_TEXT("enter");
	filter->always[count++] = TR_TEXT("leave");
	for (int kind = 0; kind < TR_CONTEXT_KINDS; kind++) {
		if (!filter->named[kind])
			filter->always[count++] = tr_text_from(tr_context_kinds[kind]);
	}
	filter->sieve =
		tr_expr_sieve_new(filter->states, filter->expr_count, filter->always, count);
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

	/* the most frequent kinds first, then the first letters of the others */
	if (tr_text_equal(kind, TR_TEXT("call")) || tr_text_equal(kind, TR_TEXT("exec")) ||
	    tr_text_equal(kind, TR_TEXT("sys")) || !memchr("eilmsu", *kind.data, 6))
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

/*
 * Judges a record by the sets and all expressions, which all have to match. An error in a test
 * counts as no match, and is reported.
 */
static enum tr_match judge_tests(struct tr_filter *filter, struct tr_record *record,
				 struct tr_record *leave, bool open)
{
	enum tr_match result = in_sets(filter, record, open);

	for (size_t i = 0; i < filter->expr_count && result != TR_MATCH_NO; i++) {
		struct tr_error err;
		enum tr_match match = tr_expr_match(filter->states[i], record, leave, open, &err);
		if (err.cause != TR_CAUSE_NONE) {
			tr_cli_report_record(filter->cli, record, &err, false);
			filter->gave_up |= tr_expr_gave_up(filter->states[i]);
		}
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
	enum tr_match match = in_tree ? judge_tests(filter, record, leave, open) : TR_MATCH_NO;

	if (filter->invert && match != TR_MATCH_OPEN)
		match = match == TR_MATCH_YES ? TR_MATCH_NO : TR_MATCH_YES;
	/* a row has fields of both, so it needs the leave */
	if (open && match == TR_MATCH_YES && filter->fields &&
	    tr_field_list_needs_leave(filter->fields))
		match = TR_MATCH_OPEN;
	return match;
}

bool tr_filter_begin_sets(struct tr_filter *filter)
{
	filter->sets.next_call = filter->sets.frame = 0;
	filter->sets.rest = tr_call_set_rest(&filter->sets.wanted, 0);
	return !filter->root || begin_tree(&filter->tree, tr_text_from(filter->root)) ||
	       tr_cli_out_of_memory(filter->cli);
}

bool tr_filter_look_at(struct tr_filter *filter, struct tr_record *record, enum tr_record_sort sort,
		       bool *in_tree)
{
	*in_tree = true;
	if (filter->needs_start || filter->unknown_kinds)
		show_expressions(filter, record);
	if (!filter->root || sort == TR_SORT_CONTEXT)
		return true;
	if (!follow_tree(&filter->tree, record, in_tree))
		return tr_cli_out_of_memory(filter->cli);
	filter->found_root |= *in_tree;
	return true;
}

bool tr_filter_begin_select(struct tr_filter *filter)
{
	name_kinds(filter);
	if (!begin_computed(filter))
		return false;
	if (!filter->merges && !filter->cover_count)
		make_sieve(filter);
	return true;
}

void tr_filter_free_select(struct tr_filter *filter)
{
	for (size_t i = 0; i < filter->expr_count; i++) {
		tr_expr_state_free(filter->states[i]);
		tr_expr_free(filter->exprs[i]);
	}
	free(filter->states);
	free(filter->exprs);
	tr_computed_free(filter->computed);
	tr_cli_programs_end(filter->cli, &filter->programs);
	tr_field_list_free(filter->fields);
	tr_call_set_free(&filter->sets.calls);
	tr_call_set_free(&filter->sets.wanted);
	free_tree(&filter->tree);
}
