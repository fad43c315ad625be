/* SPDX-License-Identifier: MIT */
/*
 * Judges records by an expression. tr_expr_match walks the tree of the expression; a test on a
 * column looks at the cell, and one on a key finds the field in the text of the line (locate.c).
 * Strings and lists of strings, as in argv, are compared in that text (test_strings); only other
 * values are parsed.
 *
 * Fields that no record has, and failed comparisons, are remembered (struct tr_seen, trouble),
 * because an expression with a mistake would otherwise just select nothing.
 */

#include <stdlib.h>
#include <string.h>

#include "expr/match.h"
#include "record/vocabulary.h"

/*
 * Bounds of what is kept for suggestions: a trace with a new key in each record must not fill the
 * memory.
 */
enum {
	MOST_KEYS = 1024,
	LONGEST_KEY = 64,
};

bool tr_seen_begin(struct tr_seen *seen, size_t count)
{
	*seen = (struct tr_seen){ .count = count };
	seen->uses = calloc(count ? count : 1, sizeof *seen->uses);
	return seen->uses != NULL;
}

void tr_seen_free(struct tr_seen *seen)
{
	tr_map_free(&seen->keys);
	tr_arena_free(&seen->arena);
	free(seen->uses);
}

/* Keeps a key for suggestions. A failure only means one suggestion less. */
static void keep_key(struct tr_seen *seen, struct tr_text key)
{
	if (key.len == 0 || key.len > LONGEST_KEY || seen->keys.count >= MOST_KEYS ||
	    tr_map_get(&seen->keys, key))
		return;
	struct tr_seen_key *kept = tr_arena_alloc(&seen->arena, sizeof *kept);
	struct tr_text copy = tr_arena_copy(&seen->arena, key);
	if (!kept || !copy.data || !tr_map_put(&seen->keys, copy, kept))
		return;
	*kept = (struct tr_seen_key){ .key = copy };
	*(seen->last ? &seen->last->next : &seen->first) = kept;
	seen->last = kept;
}

/* Keeps the keys of a record: from its line, or from its fields if it has no line. */
static void keep_keys(struct tr_seen *seen, const struct tr_record *record)
{
	if (!record->line.data) {
		for (size_t i = 0; i < record->count; i++)
			keep_key(seen, record->fields[i].key);
		return;
	}
	const char *p = record->rest.data, *end = p + record->rest.len;
	while (p < end) {
		const char *key = p + 1; /* after the TAB */
		const char *tab = memchr(key, '\t', (size_t)(end - key));
		const char *next = tab ? tab : end;
		const char *equals = memchr(key, '=', (size_t)(next - key));
		if (equals)
			keep_key(seen, tr_text_span(key, equals));
		p = next;
	}
}

void tr_seen_keep_keys(struct tr_seen *seen, const struct tr_record *record,
		       const struct tr_record *leave)
{
	keep_keys(seen, record);
	if (leave)
		keep_keys(seen, leave);
}

/* Whether two uses mean the same field, so that it is reported once. */
static bool is_same_field(const struct tr_path *a, const struct tr_path *b)
{
	return a->subject == b->subject && a->after_arrow == b->after_arrow &&
	       tr_text_equal(a->key, b->key);
}

/* True if this is the first use of a field that no use found. */
static bool is_unseen(const struct tr_seen *seen, const struct tr_use *use, bool *tested)
{
	*tested = false;
	for (size_t i = 0; i < seen->count; i++) {
		const struct tr_use *other = &seen->uses[i];
		if (!other->path || !is_same_field(use->path, other->path))
			continue;
		if (other->found || other < use)
			return false;
		*tested |= other->misses > 0;
	}
	return true;
}

/*
 * Suggests a field. There is none for a field that trec(5) defines: it is absent, not misspelled.
 */
static struct tr_text suggest(const struct tr_seen *seen, const struct tr_path *path)
{
	struct tr_similar similar;

	tr_similar_begin(&similar, path->key);
	if (path->subject != TR_SUBJECT_KEY || tr_is_known_field(path->key))
		return similar.found;
	for (const struct tr_seen_key *key = seen->first; key; key = key->next)
		tr_similar_offer(&similar, key->key);
	tr_offer_fields(&similar);
	return similar.found;
}

bool tr_seen_next(const struct tr_seen *seen, size_t *position, struct tr_unseen *unseen)
{
	while (*position < seen->count) {
		const struct tr_use *use = &seen->uses[(*position)++];
		if (!use->path || !is_unseen(seen, use, &unseen->tested))
			continue;
		unseen->name = use->path->key;
		unseen->after_arrow = use->path->after_arrow;
		unseen->suggestion = suggest(seen, use->path);
		if (unseen->tested ||
		    (use->path->subject == TR_SUBJECT_KEY && unseen->suggestion.data))
			return true;
	}
	return false;
}

/*
 * The message depends on what is most likely: a test that was never reached, a field of other
 * records, or a misspelled name.
 */
void tr_unseen_note(const struct tr_unseen *unseen, const char *record, const char *owners,
		    struct tr_error *note)
{
	const char *arrow = unseen->after_arrow ? "->" : "";
	int len = (int)unseen->name.len, other = (int)unseen->suggestion.len;

	if (!unseen->tested)
		tr_error_set(note, TR_CAUSE_USAGE,
			     "no record reached the test of '%s%.*s'; did you mean %s%.*s?", arrow,
			     len, unseen->name.data, arrow, other, unseen->suggestion.data);
	else if (owners)
		tr_error_set(note, TR_CAUSE_USAGE,
			     "no %s has the field '%s%.*s'; it is a field of %s", record, arrow,
			     len, unseen->name.data, owners);
	else if (unseen->suggestion.data)
		tr_error_set(note, TR_CAUSE_USAGE,
			     "no %s has the field '%s%.*s'; did you mean %s%.*s?", record, arrow,
			     len, unseen->name.data, arrow, other, unseen->suggestion.data);
	else
		tr_error_set(note, TR_CAUSE_USAGE, "no %s has the field '%s%.*s'", record, arrow,
			     len, unseen->name.data);
	tr_error_is_note(note);
}

/* A record that is being judged: the arguments of tr_expr_match. */
struct trial {
	struct tr_expr_state *state;
	struct tr_record *record, *leave;
	bool open;
	struct tr_error *err;
};

/* False for has() of a field that trec(5) defines: it is used to find out that no record has it. */
static bool expects_field(const struct tr_test *test)
{
	return test->op != TR_OP_EXISTS ||
	       (test->path.subject == TR_SUBJECT_KEY && !tr_is_known_field(test->path.key));
}

/* True if the strings of a test are kinds. */
static bool names_kinds(const struct tr_test *test)
{
	return test->path.subject == TR_SUBJECT_KIND && !test->path.steps && test->op == TR_OP_EQ;
}

/* Visits the kinds that the expression names, until a visit returns false; returns false then. */
static bool walk_kinds(const struct tr_node *node,
		       bool (*visit)(void *context, struct tr_text kind), void *context)
{
	if (node->type == TR_NODE_KIND)
		return visit(context, node->kind);
	if (node->type == TR_NODE_TEST && names_kinds(node->test))
		for (const struct tr_literal *word = node->test->literals; word; word = word->next)
			if (word->type == TR_LITERAL_STRING && !visit(context, word->text))
				return false;
	for (const struct tr_node *child = node->children; child; child = child->next)
		if (!walk_kinds(child, visit, context))
			return false;
	return true;
}

/* Keeps a kind that trec(5) does not define, once. False: memory is exhausted. */
static bool add_unknown_kind(void *context, struct tr_text kind)
{
	struct tr_expr_state *state = context;

	if (tr_is_known_kind(kind))
		return true;
	for (size_t i = 0; i < state->kind_count; i++)
		if (tr_text_equal(state->kinds[i].kind, kind))
			return true;
	if (!tr_array_room(state->kinds, state->kind_count, state->kind_cap))
		return false;
	state->kinds[state->kind_count++] = (struct tr_unknown_kind){ .kind = kind };
	return true;
}

/*
 * A test whose field is asked for with has() is not watched, if trec(5) defines the field: that no
 * record has it is then an answer.
 */
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
	state->noted_word = calloc(expr->test_count, sizeof *state->noted_word);
	if (has_regex)
		state->compare.scratch = tr_regex_scratch_new();
	if (!state->noted_word || (has_regex && !state->compare.scratch) ||
	    !tr_seen_begin(&state->seen, expr->test_count) ||
	    !walk_kinds(expr->root, add_unknown_kind, state)) {
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
	free(state->noted_word);
	free(state);
}

/* Only the first error of a record is reported, because others usually have the same cause. */
static bool may_report(const struct trial *trial)
{
	return trial->err && trial->err->cause == TR_CAUSE_NONE;
}

/* Sets the error of the record. It is a flaw and not damage: the record itself is complete. */
static void report(const struct trial *trial, const struct tr_error *what)
{
	*trial->err = *what;
	if (what->cause != TR_CAUSE_MEMORY)
		trial->err->severity = TR_FLAW;
}

/* Reports a value that is malformed. */
static void report_bad(const struct trial *trial, const struct tr_path *path, struct tr_error *why)
{
	if (!may_report(trial))
		return;
	if (why->cause != TR_CAUSE_MEMORY)
		tr_error_set(why, why->cause, "%.*s counts as absent: %s",
			     TR_SHOWN(path->text, 100), why->text);
	report(trial, why);
}

/*
 * Reports why a comparison has no result. That a string was compared with a WORD is reported once
 * for each test, because it is probably true for every record.
 */
static void report_trouble(const struct trial *trial, const struct tr_test *test)
{
	unsigned trouble = trial->state->compare.trouble;
	const struct tr_path *path = &test->path;
	struct tr_error err;
	if (!may_report(trial))
		return;
	if (trouble & TR_TROUBLE_MEMORY) {
		tr_error_memory(&err);
	} else if (tr_expr_gave_up(trial->state)) {
		tr_error_set(
			&err, TR_CAUSE_LIMIT,
			"%.*s %s /%.*s/ took more than 20 s on values where it is slow; reading "
			"stops here. Avoid nested repetition such as (a+)+ and lookahead, or "
			"test something cheaper before it (… and …)",
			TR_SHOWN(path->text, 100), test->negated ? "!~" : "=~",
			TR_SHOWN(test->pattern, 100));
	} else if (trouble & TR_TROUBLE_REGEX) {
		tr_error_set(&err, TR_CAUSE_LIMIT,
			     "%.*s: the regular expression takes more than 1 s or 64 MB on this "
			     "value; it counts as not matching",
			     TR_SHOWN(path->text, 100));
	} else if (!trial->state->noted_word[test->number]) {
		trial->state->noted_word[test->number] = true;
		tr_error_set(&err, TR_CAUSE_USAGE,
			     "%.*s is a string here: quote what it is compared with (reported "
			     "once)",
			     TR_SHOWN(path->text, 100));
	} else {
		return;
	}
	report(trial, &err);
}

/* True for a test that asks for nothing but numbers. */
static bool is_numeric(const struct tr_test *test)
{
	if (test->op < TR_OP_EQ || test->op > TR_OP_GE || test->path.steps || !test->literals)
		return false;
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (literal->type != TR_LITERAL_NUMBER && literal->type != TR_LITERAL_RANGE)
			return false;
	}
	return true;
}

/* Tests a column. An absent or malformed one does not match. */
static bool test_column(const struct trial *trial, const struct tr_test *test)
{
	struct tr_cell kind;
	const struct tr_cell *cell = tr_locate_column(test->path.subject, trial->record, &kind);
	struct tr_text bytes;
	struct tr_error why;
	/* a number that was never spelled, as the addresses of execution traces, needs no text */
	if ((cell->type == TR_CELL_ADDRESS || cell->type == TR_CELL_NUMBER) && is_numeric(test)) {
		struct tr_leaf leaf = { .type = TR_LEAF_TEXT, .has_number = true };
		leaf.number = tr_number_from_count(cell->number);
		tr_seen_hit(&trial->state->seen, test->number);
		return tr_compare_leaf(&trial->state->compare, test, &leaf);
	}
	why.cause = TR_CAUSE_NONE;
	enum tr_status status = tr_cell_decode(cell, &trial->state->arena, &bytes, &why);
	if (status == TR_END) {
		tr_seen_miss(&trial->state->seen, test->number, NULL, NULL);
		return false;
	}
	tr_seen_hit(&trial->state->seen, test->number);
	if (status != TR_OK) {
		report_bad(trial, &test->path, &why);
		return false;
	}
	return tr_test_cell(&trial->state->compare, test, bytes);
}

/* Applies a test to a string. */
static bool test_string(const struct trial *trial, const struct tr_test *test, struct tr_text bytes)
{
	struct tr_leaf leaf;
	leaf.type = TR_LEAF_TEXT;
	leaf.is_value = true;
	leaf.has_number = false;
	leaf.bytes = bytes;
	return tr_walk_leaf(&trial->state->compare, test, &leaf, test->path.steps);
}

/* The strings of the text "…" or ["…","…"], one after the other, without a tree. */
struct strings {
	const char *pos, *end; /* end is before the list's bracket */
	bool list;
	bool escapes;	     /* there is a backslash in the text */
	struct tr_text text; /* of the current string, without the quotes */
};

enum strings_step {
	NEXT,  /* text is that of the next string */
	END,   /* there are no more, and the text is a valid value */
	OTHER, /* the text is something else, or must be parsed */
};

/* Begins a walk over the strings. False: the text is neither a string nor a list. */
static bool strings_begin(struct strings *strings, struct tr_text text)
{
	const char *p = text.data, *end = p + text.len;
	if (text.len < 2)
		return false;
	strings->list = *p == '[' && end[-1] == ']';
	if (!strings->list && *p != '"')
		return false;
	strings->pos = p + strings->list;
	strings->end = end - strings->list;
	strings->escapes = memchr(p, '\\', text.len) != NULL;
	return true;
}

/*
 * Returns the closing quote of the string that begins at p, or NULL. Only escapes of two bytes are
 * handled here. The parser has to check the others.
 */
static const char *closing_quote(const char *p, const char *end, bool escapes)
{
	if (!escapes)
		return memchr(p, '"', (size_t)(end - p));
	for (; p < end && *p != '"'; p++) {
		if (*p == '\\' && (++p == end || !memchr("\"\\/bfnrt", *p, 8)))
			return NULL;
	}
	return p < end ? p : NULL;
}

/* Steps to the next string. */
static enum strings_step strings_next(struct strings *strings)
{
	const char *p = strings->pos, *end = strings->end;
	if (p == end)
		return END;
	const char *quote = *p == '"' ? closing_quote(p + 1, end, strings->escapes) : NULL;
	if (!quote)
		return OTHER;
	strings->text = tr_text_span(p + 1, quote);
	strings->pos = ++quote;
	if (quote == end)
		return NEXT;
	/* a string must follow the comma; blanks and cuts are left to the parser */
	if (!strings->list || *quote != ',' || quote + 1 == end)
		return OTHER;
	strings->pos++;
	return NEXT;
}

/*
 * Compares a string or a list of strings with strings, without a tree. TR_UNKNOWN: parse the value.
 */
static enum tr_answer test_strings(const struct trial *trial, const struct tr_test *test,
				   struct tr_text text)
{
	const struct tr_text *string = tr_test_string(test);
	enum tr_answer answer = string ? tr_strings_have(text, *string) : TR_UNKNOWN;
	struct strings strings;
	enum strings_step step;
	bool found = false, simple = tr_test_is_simple(test);
	if (answer != TR_UNKNOWN)
		return answer;
	if (!test->strings || !strings_begin(&strings, text))
		return TR_UNKNOWN;
	while ((step = strings_next(&strings)) == NEXT) {
		/* the rest is scanned too, because a match in a malformed value does not count */
		if (found)
			continue;
		struct tr_text bytes = strings.text;
		if (strings.escapes)
			bytes = tr_string_bytes(bytes, &trial->state->arena);
		if (!bytes.data)
			return TR_UNKNOWN;
		found = simple ? tr_test_equals(test, bytes) : test_string(trial, test, bytes);
	}
	return step == OTHER ? TR_UNKNOWN : found ? TR_YES : TR_NO;
}

/* True if the steps apply to each string of a list, so that test_strings can apply them. */
static bool steps_keep_strings(const struct tr_step *step)
{
	for (; step; step = step->next) {
		if (step->type != TR_STEP_BASENAME)
			return false;
	}
	return true;
}

/* Tests a field that the record does not store. */
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
		report_bad(trial, &test->path, &why);
	tr_seen_miss(&state->seen, test->number, trial->record, trial->leave);
	return false;
}

/*
 * Tests a field: by its text if that suffices, otherwise by its value. A match in the text counts
 * only if the whole value is well formed, so both ways give the same result.
 */
static bool test_key(const struct trial *trial, const struct tr_test *test)
{
	struct tr_place place;
	if (!tr_locate(&test->path, trial->record, trial->leave, &place))
		return test_computed(trial, test);
	tr_seen_hit(&trial->state->seen, test->number);
	/* the text is searched as it is; steps into a value need its tree */
	if (place.text.data && steps_keep_strings(test->path.steps)) {
		enum tr_answer answer = test_strings(trial, test, place.text);
		if (answer != TR_UNKNOWN)
			return answer == TR_YES;
		/* the value decides now, and may have the same trouble */
		trial->state->compare.trouble = 0;
	}
	struct tr_error why;
	why.cause = TR_CAUSE_NONE;
	struct tr_value *value = tr_place_value(&place, &why);
	if (!value) {
		report_bad(trial, &test->path, &why);
		return false;
	}
	return tr_walk_value(&trial->state->compare, test, value, test->path.steps);
}

/* Judges one test. Fields of an enter are undecided until its leave has come. */
static enum tr_match judge_test(const struct trial *trial, const struct tr_test *test)
{
	bool matches;
	/* the leave may have the field, and then it counts, even if the enter has it too */
	if (trial->open && test->path.subject == TR_SUBJECT_KEY)
		return TR_MATCH_OPEN;
	trial->state->compare.trouble = 0;
	matches = test->path.subject == TR_SUBJECT_KEY ? test_key(trial, test)
						       : test_column(trial, test);
	if (trial->state->compare.trouble)
		report_trouble(trial, test);
	return matches != test->negated ? TR_MATCH_YES : TR_MATCH_NO;
}

/* Whether a record is of a kind; "call" includes enter and leave. */
static bool is_kind(const struct tr_node *node, struct tr_text kind)
{
	return tr_text_equal(kind, node->kind) ||
	       (node->is_call && (tr_text_is(kind, "enter") || tr_text_is(kind, "leave")));
}

static enum tr_match judge(const struct trial *trial, const struct tr_node *node);

/* Kleene's and, or: a deciding operand decides, even if others are open. */
static enum tr_match judge_chain(const struct trial *trial, const struct tr_node *node,
				 enum tr_match deciding)
{
	enum tr_match result = deciding == TR_MATCH_NO ? TR_MATCH_YES : TR_MATCH_NO;
	for (const struct tr_node *child = node->children; child; child = child->next) {
		enum tr_match match = judge(trial, child);
		if (match == deciding)
			return deciding;
		/* a later operand may still decide */
		if (match == TR_MATCH_OPEN)
			result = TR_MATCH_OPEN;
	}
	return result;
}

/* Kleene's not: an open result stays open. */
static enum tr_match opposite(enum tr_match match)
{
	return match == TR_MATCH_OPEN ? match : match == TR_MATCH_YES ? TR_MATCH_NO : TR_MATCH_YES;
}

/* Judges a node. The recursion is as deep as the parentheses of the expression, at most 60. */
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
	/* decoded bytes are needed for one record only */
	tr_arena_reset(&state->arena);
	enum tr_match match = judge(&trial, state->expr->root);
	state->matched |= match == TR_MATCH_YES;
	return match;
}

bool tr_expr_never_matched(const struct tr_expr_state *state)
{
	return state->seen.uses[0].found && !state->matched;
}

bool tr_expr_lone_kind(const struct tr_expr *expr, struct tr_text *kind)
{
	if (expr->root->type != TR_NODE_KIND)
		return false;
	*kind = expr->root->kind;
	return true;
}

/* Ends the walk (false) at the kind that is searched for. */
static bool is_other_kind(void *context, struct tr_text kind)
{
	return !tr_text_equal(*(const struct tr_text *)context, kind);
}

bool tr_expr_names_kind(const struct tr_expr *expr, struct tr_text kind)
{
	return !walk_kinds(expr->root, is_other_kind, &kind);
}

bool tr_expr_names_unknown_kind(const struct tr_expr_state *state)
{
	return state->kind_count > 0;
}

void tr_expr_saw_kind(struct tr_expr_state *state, struct tr_text kind)
{
	for (size_t i = 0; i < state->kind_count; i++)
		state->kinds[i].seen |= tr_text_equal(state->kinds[i].kind, kind);
}

bool tr_expr_next_unseen_kind(const struct tr_expr_state *state, size_t *position,
			      struct tr_unseen *unseen)
{
	while (*position < state->kind_count) {
		size_t i = (*position)++;
		struct tr_similar similar;
		if (state->kinds[i].seen)
			continue;
		tr_similar_begin(&similar, state->kinds[i].kind);
		tr_offer_kinds(&similar);
		*unseen = (struct tr_unseen){ .name = state->kinds[i].kind,
					      .tested = true,
					      .suggestion = similar.found };
		return true;
	}
	return false;
}

bool tr_expr_next_unseen(const struct tr_expr_state *state, size_t *position,
			 struct tr_unseen *unseen)
{
	return tr_seen_next(&state->seen, position, unseen);
}

bool tr_expr_uses(const struct tr_expr *expr, const char *key)
{
	for (const struct tr_test *test = expr->tests; test; test = test->next) {
		if (test->path.text.data && test->path.subject == TR_SUBJECT_KEY &&
		    tr_text_is(test->path.key, key))
			return true;
	}
	return false;
}

bool tr_expr_uses_seq(const struct tr_expr *expr)
{
	for (const struct tr_test *test = expr->tests; test; test = test->next)
		if (test->path.subject == TR_SUBJECT_SEQ)
			return true;
	return false;
}

bool tr_expr_needs_start(const struct tr_expr *expr)
{
	return expr->late != NULL;
}

bool tr_expr_set_start(struct tr_expr *expr, struct tr_text cell)
{
	struct tr_buffer digits = TR_BUFFER_INIT;
	bool fine = true, fits;

	for (const struct tr_late_number *late = expr->late; late && fine; late = late->next) {
		tr_buffer_reset(&digits);
		fine = tr_moment_write(&late->moment, cell, &digits) && !digits.failed &&
		       tr_number_literal_read(tr_buffer_text(&digits), &expr->arena, late->number,
					      &fits);
	}
	tr_buffer_free(&digits);
	if (fine)
		expr->late = NULL;
	return fine;
}
