#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "expr/column.h"
#include "expr/locate.h"
#include "expr/state.h"
#include "expr/strings.h"
#include "expr/walk.h"
#include "record/vocabulary.h"

/* One record that is judged. */
struct trial {
	struct tr_expr_state *state;
	struct tr_record *record, *leave;
	bool open;
	struct tr_error *err;
};

/* has() may well ask for what is in no record. */
static bool expects_field(const struct tr_test *test)
{
	return test->op != TR_OP_EXISTS ||
	       (test->path.subject == TR_SUBJECT_KEY && !tr_is_known_field(test->path.key));
}

struct tr_expr_state *tr_expr_state_new(struct tr_expr *expr)
{
	struct tr_expr_state *state = calloc(1, sizeof *state);
	bool has_regex = false;
	if (!state)
		return NULL;
	for (const struct tr_test *test = expr->tests; test; test = test->next)
		has_regex = has_regex || test->regex;
	state->expr = expr;
	state->compare.arena = &state->arena;
	state->told = calloc(expr->test_count, sizeof *state->told);
	if (has_regex)
		state->compare.scratch = tr_regex_scratch_new();
	if (!state->told || (has_regex && !state->compare.scratch) ||
	    !tr_seen_begin(&state->seen, expr->test_count) ||
	    !tr_state_find_unknown_kinds(state)) {
		tr_expr_state_free(state);
		return NULL;
	}
	for (const struct tr_test *test = expr->tests; test; test = test->next) {
		if (test->path.text.data && expects_field(test))
			state->seen.uses[test->number].path = &test->path;
	}
	return state;
}

bool tr_expr_gave_up(const struct tr_expr_state *state)
{
	return state->compare.scratch && tr_regex_is_exhausted(state->compare.scratch);
}

void tr_expr_state_set_computed(struct tr_expr_state *state, struct tr_computed_fields *computed)
{
	state->computed = computed;
}

void tr_expr_state_free(struct tr_expr_state *state)
{
	if (!state)
		return;
	tr_regex_scratch_free(state->compare.scratch);
	tr_arena_free(&state->arena);
	tr_seen_free(&state->seen);
	free(state->kinds);
	free(state->told);
	free(state);
}

/*
 * The first trouble of a record is told; the others would say the same of it.
 * Nothing is lost: a record is passed on as it is, or not.
 */
static bool may_tell(const struct trial *trial)
{
	return trial->err && trial->err->cause == TR_CAUSE_NONE;
}

static void tell(const struct trial *trial, const struct tr_error *what)
{
	*trial->err = *what;
	if (what->cause != TR_CAUSE_MEMORY)
		trial->err->severity = TR_FLAW;
}

/* As much of a text as a message can hold. */
static int shown(struct tr_text text)
{
	return (int)(text.len < 100 ? text.len : 100);
}

static void tell_bad(const struct trial *trial, const struct tr_path *path, struct tr_error *why)
{
	if (!may_tell(trial))
		return;
	if (why->cause != TR_CAUSE_MEMORY)
		tr_error_set(why, why->cause, "%.*s counts as absent: %s", shown(path->text),
			     path->text.data, why->text);
	tell(trial, why);
}

static void tell_trouble(const struct trial *trial, const struct tr_test *test)
{
	unsigned trouble = trial->state->compare.trouble;
	const struct tr_path *path = &test->path;
	struct tr_error err;
	if (!may_tell(trial))
		return;
	if (trouble & TR_TROUBLE_MEMORY) {
		tr_error_memory(&err);
	} else if (tr_expr_gave_up(trial->state)) {
		tr_error_set(&err, TR_CAUSE_LIMIT,
			     "%.*s %s /%.*s/ took more than 20 s on values where it is slow; reading "
			     "stops here. Avoid nested repetition such as (a+)+ and lookahead, or "
			     "test something cheaper before it (… and …)",
			     shown(path->text), path->text.data, test->negated ? "!~" : "=~",
			     shown(test->pattern), test->pattern.data);
	} else if (trouble & TR_TROUBLE_REGEX) {
		tr_error_set(&err, TR_CAUSE_LIMIT,
			     "%.*s: the regular expression takes more than 1 s or 64 MB on this "
			     "value; it counts as not matching",
			     shown(path->text), path->text.data);
	} else if (!trial->state->told[test->number]) {
		trial->state->told[test->number] = true;
		tr_error_set(&err, TR_CAUSE_USAGE,
			     "%.*s is a string here: quote what it is compared with (said once)",
			     shown(path->text), path->text.data);
	} else {
		return;
	}
	tell(trial, &err);
}

static bool test_column(const struct trial *trial, const struct tr_test *test)
{
	struct tr_cell kind;
	const struct tr_cell *cell = tr_locate_column(test->path.subject, trial->record, &kind);
	struct tr_text bytes;
	struct tr_error why;
	if ((cell->type == TR_CELL_ADDRESS || cell->type == TR_CELL_NUMBER) &&
	    tr_test_is_numeric(test)) {
		tr_seen_hit(&trial->state->seen, test->number);
		return tr_test_number(&trial->state->compare, test, cell->number);
	}
	why.cause = TR_CAUSE_NONE;
	enum tr_status status = tr_cell_decode(cell, &trial->state->arena, &bytes, &why);
	if (status == TR_END) {
		tr_seen_miss(&trial->state->seen, test->number, NULL, NULL);
		return false;
	}
	tr_seen_hit(&trial->state->seen, test->number);
	if (status != TR_OK) {
		tell_bad(trial, &test->path, &why);
		return false;
	}
	return tr_test_cell(&trial->state->compare, test, bytes);
}

enum answer { NO, YES, UNKNOWN };

/* One string, spelled without quotes, against the test. */
static bool test_string(const struct trial *trial, const struct tr_test *test, struct tr_text bytes)
{
	struct tr_leaf leaf;
	leaf.type = TR_LEAF_TEXT;
	leaf.is_value = true;
	leaf.has_number = false;
	leaf.bytes = bytes;
	return tr_walk_leaf(&trial->state->compare, test, &leaf, test->path.steps);
}

/* A string or a list of strings against strings, without a tree. UNKNOWN: it has to be parsed. */
static enum answer test_strings(const struct trial *trial, const struct tr_test *test,
				struct tr_text text)
{
	struct tr_strings strings;
	enum tr_strings_step step;
	bool found = false, simple = tr_test_is_simple(test);
	if (!test->strings || !tr_strings_begin(&strings, text))
		return UNKNOWN;
	while ((step = tr_strings_next(&strings)) == TR_STRINGS_NEXT) {
		/* the rest is stepped through all the same: a value has to be good as a whole */
		if (found)
			continue;
		struct tr_text bytes = { strings.begin, strings.len };
		if (strings.escapes)
			bytes = tr_string_bytes(bytes, &trial->state->arena);
		if (!bytes.data)
			return UNKNOWN;
		found = simple ? tr_test_equals(test, bytes) : test_string(trial, test, bytes);
	}
	return step == TR_STRINGS_OTHER ? UNKNOWN : found ? YES : NO;
}

/* Steps that apply to each string: the short way is open. */
static bool steps_keep_strings(const struct tr_step *step)
{
	for (; step; step = step->next) {
		if (step->type != TR_STEP_BASENAME)
			return false;
	}
	return true;
}

/* A field that the record does not have itself. */
static bool test_computed(const struct trial *trial, const struct tr_test *test)
{
	struct tr_expr_state *state = trial->state;
	struct tr_error why;
	const struct tr_value *value = NULL;
	why.cause = TR_CAUSE_NONE;
	if (state->computed)
		value = tr_locate_computed(&test->path, state->computed, trial->record,
					   trial->leave, &why);
	if (value) {
		tr_seen_hit(&state->seen, test->number);
		return tr_walk_value(&state->compare, test, value, test->path.steps);
	}
	if (why.cause != TR_CAUSE_NONE)
		tell_bad(trial, &test->path, &why);
	tr_seen_miss(&state->seen, test->number, trial->record, trial->leave);
	return false;
}

static bool test_key(const struct trial *trial, const struct tr_test *test)
{
	struct tr_place place;
	if (!tr_locate(&test->path, trial->record, trial->leave, &place))
		return test_computed(trial, test);
	tr_seen_hit(&trial->state->seen, test->number);
	if (place.text.data && steps_keep_strings(test->path.steps)) {
		enum answer answer = test_strings(trial, test, place.text);
		if (answer != UNKNOWN)
			return answer == YES;
		trial->state->compare.trouble = 0;
	}
	struct tr_error why;
	why.cause = TR_CAUSE_NONE;
	struct tr_value *value = tr_place_value(&place, &why);
	if (!value) {
		tell_bad(trial, &test->path, &why);
		return false;
	}
	return tr_walk_value(&trial->state->compare, test, value, test->path.steps);
}

static enum tr_match judge_test(const struct trial *trial, const struct tr_test *test)
{
	bool matches;
	/* the leave may bring the field, or bring it again: the last counts */
	if (trial->open && test->path.subject == TR_SUBJECT_KEY)
		return TR_MATCH_OPEN;
	trial->state->compare.trouble = 0;
	matches = test->path.subject == TR_SUBJECT_KEY ? test_key(trial, test)
						       : test_column(trial, test);
	if (trial->state->compare.trouble)
		tell_trouble(trial, test);
	return matches != test->negated ? TR_MATCH_YES : TR_MATCH_NO;
}

static bool is_kind(const struct tr_node *node, struct tr_text kind)
{
	return tr_text_equal(kind, node->kind) ||
	       (node->is_call && (tr_text_is(kind, "enter") || tr_text_is(kind, "leave")));
}

static enum tr_match judge(const struct trial *trial, const struct tr_node *node);

/* Kleene's and, or: what is decided without the open ones is decided. */
static enum tr_match judge_chain(const struct trial *trial, const struct tr_node *node,
				 enum tr_match deciding)
{
	enum tr_match result = deciding == TR_MATCH_NO ? TR_MATCH_YES : TR_MATCH_NO;
	for (const struct tr_node *child = node->children; child; child = child->next) {
		enum tr_match match = judge(trial, child);
		if (match == deciding)
			return deciding;
		if (match == TR_MATCH_OPEN)
			result = TR_MATCH_OPEN;
	}
	return result;
}

static enum tr_match opposite(enum tr_match match)
{
	return match == TR_MATCH_OPEN ? match : match == TR_MATCH_YES ? TR_MATCH_NO : TR_MATCH_YES;
}

static enum tr_match judge(const struct trial *trial, const struct tr_node *node)
{
	switch (node->type) {
	case TR_NODE_AND:
		return judge_chain(trial, node, TR_MATCH_NO);
	case TR_NODE_OR:
		return judge_chain(trial, node, TR_MATCH_YES);
	case TR_NODE_NOT:
		return opposite(judge(trial, node->children));
	case TR_NODE_KIND:
		return is_kind(node, trial->record->kind) ? TR_MATCH_YES : TR_MATCH_NO;
	case TR_NODE_TEST:
		return judge_test(trial, node->test);
	}
	return TR_MATCH_NO;
}

enum tr_match tr_expr_match(struct tr_expr_state *state, struct tr_record *record,
			    struct tr_record *leave, bool open, struct tr_error *err)
{
	struct trial trial = { state, record, leave, open, err };
	if (err)
		err->cause = TR_CAUSE_NONE;
	tr_arena_reset(&state->arena);
	enum tr_match match = judge(&trial, state->expr->root);
	state->matched |= match == TR_MATCH_YES;
	return match;
}

bool tr_expr_never_matched(const struct tr_expr_state *state)
{
	return state->seen.uses[0].found && !state->matched;
}
