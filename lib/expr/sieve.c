/* SPDX-License-Identifier: MIT */
/*
 * An expression as a sieve, which judges lines before records are made of them: by their columns,
 * and by whether a field is a certain string, or a list that has it. It makes the tests of match.c
 * in the same order, up to the first one that needs a record or may report something. Much depends
 * on the kind alone, and a trace has few kinds, so the answers for kinds are kept.
 */

#include <stdlib.h>

#include "expr/match.h"
#include "expr/expr.h"

/* One of the conditions that all have to hold. */
struct need {
	const struct tr_node *node;
	struct tr_expr_state *state; /* of its expression */
	bool about_kind;	     /* it depends on the kind alone */
	/* not NULL: the condition is that the column is one of these words, without escapes */
	const struct tr_literal *words;
	enum tr_column column;
};

/*
 * The table of kinds has 16 slots; kinds that share one displace each other, which only costs
 * time.
 */
enum { SLOT_BITS = 4 };

/*
 * What is known about a kind: the answer or, if that is IN, the first need that is left to judge.
 */
struct slot {
	uint64_t kind; /* as in tr_columns; 0: the slot is free */
	enum tr_sift answer;
	size_t first;
};

struct sieve {
	struct tr_sieve base;
	struct tr_compare compare;
	struct tr_expr_state *const *states;
	size_t state_count;
	bool needs_start; /* the time of the first record */
	const struct tr_text *always;
	size_t always_count;
	struct slot slots[1 << SLOT_BITS];
	size_t count;
	struct need needs[];
};

/* A line that is judged. */
struct line {
	const struct tr_columns *columns;
	const char *lf;
};

/* True for a test of a column that never reports anything. */
static bool is_plain(const struct tr_test *test)
{
	return test->path.subject != TR_SUBJECT_KEY && test->op != TR_OP_REGEX &&
	       test->op != TR_OP_HAS_WORDS;
}

_Static_assert((int)TR_SUBJECT_KIND == (int)TR_COLUMN_KIND &&
		       (int)TR_SUBJECT_SEQ == (int)TR_COLUMN_SEQ &&
		       (int)TR_SUBJECT_TIME == (int)TR_COLUMN_TIME &&
		       (int)TR_SUBJECT_TASK == (int)TR_COLUMN_TASK &&
		       (int)TR_SUBJECT_NAME == (int)TR_COLUMN_NAME,
	       "subjects are columns");

/* Returns the string that a field is compared with, if the text of the line suffices; or NULL. */
static const struct tr_text *string_of_key(const struct tr_test *test)
{
	const struct tr_path *path = &test->path;

	if (path->subject != TR_SUBJECT_KEY || path->after_arrow || path->environment)
		return NULL;
	return tr_test_string(test);
}

/*
 * Judges whether a field is a string or has it. Until a record has the field, those without it are
 * left to match.c, which remembers their keys.
 */
static enum tr_sift judge_key(struct tr_expr_state *state, const struct tr_test *test,
			      const struct line *line)
{
	const struct tr_text *string = string_of_key(test);
	struct tr_text columns = tr_text_span(line->columns->start[TR_COLUMNS] - 1, line->lf);
	struct tr_text value;

	if (!string)
		return TR_SIFT_OPEN;
	enum tr_answer answer = tr_locate_in_line(columns, test->path.key, &value);
	if (answer == TR_YES) {
		answer = tr_strings_have(value, *string);
		tr_seen_hit(&state->seen, test->number);
	} else if (!state->seen.uses[test->number].found) {
		return TR_SIFT_OPEN;
	}
	if (answer == TR_UNKNOWN)
		return TR_SIFT_OPEN;
	return (answer == TR_YES) != test->negated ? TR_SIFT_IN : TR_SIFT_OUT;
}

/* Judges a test, and counts whether records have the column. OPEN: it needs the record. */
static enum tr_sift judge_test(struct sieve *s, struct tr_expr_state *state,
			       const struct tr_test *test, const struct line *line)
{
	if (test->path.subject == TR_SUBJECT_KEY)
		return judge_key(state, test, line);
	if (!is_plain(test))
		return TR_SIFT_OPEN;
	const struct tr_columns *columns = line->columns;
	struct tr_text cell = tr_columns_text(columns, (enum tr_column)test->path.subject);
	bool absent = cell.len == 1 && *cell.data == '-';
	bool matches = !absent && tr_test_cell(&s->compare, test, cell);
	/* hits and misses are counted as match.c does, for the notes at the end */
	if (absent)
		tr_seen_miss(&state->seen, test->number, NULL, NULL);
	else
		tr_seen_hit(&state->seen, test->number);
	return matches != test->negated ? TR_SIFT_IN : TR_SIFT_OUT;
}

/*
 * Judges a node as match.c does. The first operand that is OPEN ends a chain: what comes after it
 * must not be counted before it is judged.
 */
static enum tr_sift judge(struct sieve *s, struct tr_expr_state *state, const struct tr_node *node,
			  const struct line *line)
{
	enum tr_sift passing = node->type == TR_NODE_OR ? TR_SIFT_OUT : TR_SIFT_IN;
	enum tr_sift answer = passing;

	switch (node->type) {
	case TR_NODE_KIND: /* "call" includes enter and leave, but these are never sifted */
		return tr_text_equal(tr_columns_text(line->columns, TR_COLUMN_KIND), node->kind)
			       ? TR_SIFT_IN
			       : TR_SIFT_OUT;
	case TR_NODE_TEST:
		return judge_test(s, state, node->test, line);
	case TR_NODE_NOT:
		answer = judge(s, state, node->children, line);
		return answer == TR_SIFT_OPEN  ? TR_SIFT_OPEN
		       : answer == TR_SIFT_OUT ? TR_SIFT_IN
					       : TR_SIFT_OUT;
	case TR_NODE_AND:
	case TR_NODE_OR:
		for (node = node->children; node && answer == passing; node = node->next)
			answer = judge(s, state, node, line);
		break;
	}
	return answer;
}

/* Fills the slot of a kind: of a new one, or of one that another kind has displaced. */
static void fill_slot(struct sieve *s, struct slot *slot, const struct line *line)
{
	const struct tr_columns *columns = line->columns;

	*slot = (struct slot){ .kind = columns->kind, .answer = TR_SIFT_IN };
	for (size_t i = 0; i < s->state_count; i++)
		tr_expr_saw_kind(s->states[i], tr_columns_text(columns, TR_COLUMN_KIND));
	for (size_t i = 0; i < s->always_count; i++) {
		if (tr_text_equal(tr_columns_text(columns, TR_COLUMN_KIND), s->always[i]))
			slot->answer = TR_SIFT_OPEN;
	}
	while (slot->answer == TR_SIFT_IN && slot->first < s->count &&
	       s->needs[slot->first].about_kind) {
		const struct need *need = &s->needs[slot->first++];
		slot->answer = judge(s, need->state, need->node, line);
	}
}

static bool is_any(struct tr_text cell, const struct tr_literal *word)
{
	for (; word; word = word->next) {
		if (tr_text_equal(cell, word->text))
			return true;
	}
	return false;
}

/* Sets the start of expressions that need it, if this line is the first with a time. */
static void look_for_start(struct sieve *s, const struct tr_columns *columns)
{
	struct tr_text time = tr_columns_text(columns, TR_COLUMN_TIME);
	s->needs_start = false;
	for (size_t i = 0; i < s->state_count; i++) {
		if (tr_expr_needs_start(s->states[i]->expr) &&
		    !tr_expr_set_start(s->states[i]->expr, time))
			s->needs_start = true;
	}
}

/* Judges a line (struct tr_sieve): first by what is known about its kind, then need by need. */
static enum tr_sift sift(struct tr_sieve *sieve, const struct tr_columns *columns, const char *lf)
{
	struct sieve *s = (struct sieve *)sieve;
	const struct line line = { columns, lf };
	if (s->needs_start)
		look_for_start(s, columns);
	struct slot *slot =
		&s->slots[columns->kind * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS)];

	/* kinds are at most eight letters here, so a word compares all of one */
	if (slot->kind != columns->kind)
		fill_slot(s, slot, &line);
	enum tr_sift answer = slot->answer;
	for (size_t i = slot->first; answer == TR_SIFT_IN && i < s->count; i++) {
		const struct need *need = &s->needs[i];
		if (!need->words) {
			answer = judge(s, need->state, need->node, &line);
			need->state->matched |= answer == TR_SIFT_IN;
		} else if (!is_any(tr_columns_text(columns, need->column), need->words)) {
			answer = TR_SIFT_OUT;
		}
	}
	return answer;
}

/* True if a condition depends on nothing but the kind. */
static bool is_about_kind(const struct tr_node *node)
{
	if (node->type == TR_NODE_KIND)
		return true;
	if (node->type == TR_NODE_TEST)
		return is_plain(node->test) && node->test->path.subject == TR_SUBJECT_KIND;
	for (node = node->children; node; node = node->next) {
		if (!is_about_kind(node))
			return false;
	}
	return true;
}

/* Returns the words of a node that only compares a column with words, or NULL. */
static const struct tr_literal *find_words(const struct tr_node *node)
{
	const struct tr_test *test = node->test;

	if (node->type != TR_NODE_TEST || test->negated || test->path.steps || test->many ||
	    !is_plain(test) || !tr_test_is_simple(test))
		return NULL;
	for (const struct tr_literal *word = test->literals; word; word = word->next) {
		if (tr_text_is(word->text, "-"))
			return NULL; /* such a cell is absent */
	}
	return test->literals;
}

/* Prepares a condition of an expression. */
static struct need make_need(struct tr_expr_state *state, const struct tr_node *node)
{
	const struct tr_literal *words = find_words(node);
	/* these words are compared without counting hits and misses, so none may be reported */
	if (words)
		state->seen.uses[node->test->number].path = NULL;
	return (struct need){
		.node = node,
		.state = state,
		.about_kind = is_about_kind(node),
		.words = words,
		.column = words ? (enum tr_column)node->test->path.subject : TR_COLUMN_KIND,
	};
}

/* True if the first test can be judged without a record; otherwise a sieve is useless. */
static bool begins_plain(const struct tr_node *node)
{
	while (node->children)
		node = node->children;
	return node->type == TR_NODE_KIND || is_plain(node->test) || string_of_key(node->test);
}

/* The conditions of an expression: the operands of an outermost "and", or the expression itself. */
static const struct tr_node *first_need(const struct tr_expr *expr)
{
	return expr->root->type == TR_NODE_AND ? expr->root->children : expr->root;
}

static const struct tr_node *next_need(const struct tr_expr *expr, const struct tr_node *need)
{
	return need == expr->root ? NULL : need->next;
}

/*
 * Each condition of an outermost "and" is a need of its own, so that the cheap ones are judged
 * first, in the order of the expression.
 */
struct tr_sieve *tr_expr_sieve_new(struct tr_expr_state *const *states, size_t count,
				   const struct tr_text *always, size_t always_count)
{
	size_t needs = 0;

	if (count == 0 || !begins_plain(states[0]->expr->root))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const struct tr_expr *expr = states[i]->expr;
		for (const struct tr_node *need = first_need(expr); need;
		     need = next_need(expr, need))
			needs++;
	}
	struct sieve *s = calloc(1, sizeof *s + needs * sizeof *s->needs);
	if (!s)
		return NULL;
	s->base.sift = sift;
	s->states = states;
	s->state_count = count;
	s->always = always;
	s->always_count = always_count;
	for (size_t i = 0; i < count; i++) {
		const struct tr_expr *expr = states[i]->expr;
		s->needs_start |= tr_expr_needs_start(expr);
		for (const struct tr_node *need = first_need(expr); need;
		     need = next_need(expr, need))
			s->needs[s->count++] = make_need(states[i], need);
	}
	return &s->base;
}

void tr_expr_sieve_free(struct tr_sieve *sieve)
{
	free(sieve);
}
