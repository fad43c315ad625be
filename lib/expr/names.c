/* What an expression says about kinds and times, without a record. */
#include "config.h"

#include <stdlib.h>

#include "expr/state.h"
#include "record/vocabulary.h"

bool tr_expr_lone_kind(const struct tr_expr *expr, struct tr_text *kind)
{
	if (expr->root->type != TR_NODE_KIND)
		return false;
	*kind = expr->root->kind;
	return true;
}

/* Whether its strings are kinds. */
static bool names_kinds(const struct tr_test *test)
{
	return test->path.subject == TR_SUBJECT_KIND && !test->path.steps && test->op == TR_OP_EQ;
}

static bool test_names(const struct tr_test *test, struct tr_text kind)
{
	if (!names_kinds(test))
		return false;
	for (const struct tr_literal *literal = test->literals; literal; literal = literal->next) {
		if (literal->type == TR_LITERAL_STRING && tr_text_equal(literal->text, kind))
			return true;
	}
	return false;
}

static bool node_names(const struct tr_node *node, struct tr_text kind)
{
	if (node->type == TR_NODE_KIND)
		return tr_text_equal(node->kind, kind);
	if (node->type == TR_NODE_TEST)
		return test_names(node->test, kind);
	for (const struct tr_node *child = node->children; child; child = child->next) {
		if (node_names(child, kind))
			return true;
	}
	return false;
}

bool tr_expr_names_kind(const struct tr_expr *expr, struct tr_text kind)
{
	return node_names(expr->root, kind);
}

/* Counts an unknown kind, and keeps it where there is room. */
static void add_unknown(struct tr_expr_state *state, struct tr_text kind)
{
	if (tr_is_known_kind(kind))
		return;
	if (state->kinds)
		state->kinds[state->kind_count].kind = kind;
	state->kind_count++;
}

static void add_unknown_kinds(struct tr_expr_state *state, const struct tr_node *node)
{
	if (node->type == TR_NODE_KIND) {
		add_unknown(state, node->kind);
	} else if (node->type == TR_NODE_TEST && names_kinds(node->test)) {
		for (const struct tr_literal *literal = node->test->literals; literal;
		     literal = literal->next) {
			if (literal->type == TR_LITERAL_STRING)
				add_unknown(state, literal->text);
		}
	}
	for (const struct tr_node *child = node->children; child; child = child->next)
		add_unknown_kinds(state, child);
}

bool tr_state_find_unknown_kinds(struct tr_expr_state *state)
{
	add_unknown_kinds(state, state->expr->root);
	if (!state->kind_count)
		return true;
	state->kinds = calloc(state->kind_count, sizeof *state->kinds);
	state->kind_count = 0;
	if (state->kinds)
		add_unknown_kinds(state, state->expr->root);
	return state->kinds != NULL;
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

static bool is_first_mention(const struct tr_expr_state *state, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (tr_text_equal(state->kinds[i].kind, state->kinds[index].kind))
			return false;
	}
	return true;
}

bool tr_expr_next_unseen_kind(const struct tr_expr_state *state, size_t *position,
			      struct tr_unseen *unseen)
{
	while (*position < state->kind_count) {
		size_t i = (*position)++;
		struct tr_similar similar;
		if (state->kinds[i].seen || !is_first_mention(state, i))
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
