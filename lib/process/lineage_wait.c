/* SPDX-License-Identifier: MIT */
/* Exec records whose parent has not come yet. */
#include "process/lineage_private.h"

#include <stdlib.h>

#include "record/literal.h"

static const char left_out[] = "the environment of its parent is unknown";
static const char circle[] = "it is its own ancestor";

void tr_lineage_note_seq(struct tr_lineage *lineage, uint64_t seq)
{
	lineage->numbered++;
	if (!lineage->any_seq || seq > lineage->highest)
		lineage->highest = seq;
	else
		lineage->disorder = lineage->numbered;
	lineage->any_seq = true;
}

bool tr_lineage_has_passed(const struct tr_lineage *lineage, uint64_t seq)
{
	return lineage->any_seq && seq < lineage->highest &&
	       lineage->numbered - lineage->disorder >= TR_LINEAGE_ORDER &&
	       !tr_id_map_get(&lineage->pending, seq);
}

bool tr_lineage_is_waiting(const struct tr_lineage *lineage)
{
	return lineage->waiting > 0;
}

bool tr_lineage_wait(struct tr_lineage *lineage, struct tr_heir *heir)
{
	struct tr_heir *before = tr_id_map_get(&lineage->waiters, heir->wanted);
	heir->next = before;
	if (!tr_id_map_put(&lineage->waiters, heir->wanted, heir))
		return false;
	if (heir->has_seq && heir->waits_for_own &&
	    !tr_id_map_put(&lineage->pending, heir->seq, heir)) {
		if (before)
			tr_id_map_put(&lineage->waiters, heir->wanted, before); /* replaces */
		else
			tr_id_map_take(&lineage->waiters, heir->wanted);
		return false;
	}
	if (lineage->last)
		lineage->last->later = heir;
	else
		lineage->first = heir;
	lineage->last = heir;
	heir->waits = true;
	heir->since = lineage->numbered;
	heir->references++;
	lineage->waiting++;
	return true;
}

/* Those at the front that wait no longer leave the list. */
static void trim(struct tr_lineage *lineage)
{
	while (lineage->first && !lineage->first->waits) {
		struct tr_heir *heir = lineage->first;
		lineage->first = heir->later;
		if (!lineage->first)
			lineage->last = NULL;
		tr_lineage_release(lineage, heir);
	}
}

bool tr_lineage_link(struct tr_lineage *lineage, const struct tr_heir *heir)
{
	void *parent = (void *)(uintptr_t)(heir->wanted + 1);

	return !parent || tr_id_map_put(&lineage->links, heir->seq, parent);
}

/* A circle has a record that waited; the others of it came while somebody did. */
static bool is_own_ancestor(const struct tr_lineage *lineage, const struct tr_heir *heir)
{
	uint64_t at = heir->wanted;

	/* beyond so many they are taken for no circle: nobody is to walk on and on */
	for (unsigned steps = 0; heir->has_seq && steps < 1000; steps++) {
		void *parent = tr_id_map_get(&lineage->links, at);
		if (!parent)
			return false;
		at = (uint64_t)(uintptr_t)parent - 1;
		if (at == heir->seq)
			return true;
	}
	return false;
}

/* What it tells depends on nobody, but its parent's environment was wanted, too. */
static bool meet_parent(struct tr_lineage *lineage, struct tr_heir *heir,
			struct tr_environment *parent)
{
	if (!is_own_ancestor(lineage, heir)) {
		heir->parent = tr_environment_retain(parent);
		return true;
	}
	heir->trouble = circle;
	heir->parent = tr_environment_unknown(lineage->pool);
	return heir->parent;
}

/* Its parent's environment is known now, so it goes on. False: memory. */
static bool go_on(struct tr_lineage *lineage, struct tr_heir *heir, struct tr_environment *parent)
{
	struct tr_arena arena = TR_ARENA_INIT;
	const struct tr_value *map = NULL;
	bool fine = true;

	heir->waits = false;
	lineage->waiting--;
	if (!heir->waits_for_own)
		return meet_parent(lineage, heir, parent);
	heir->parent = tr_environment_retain(parent);
	if (heir->has_seq && tr_id_map_get(&lineage->pending, heir->seq) == heir)
		tr_id_map_take(&lineage->pending, heir->seq);
	if (heir->literal.data) {
		map = tr_literal_parse(heir->literal, &arena, NULL);
		fine = map != NULL; /* it could be parsed before */
	}
	fine = fine && tr_heir_inherit(lineage, heir, map);
	tr_arena_free(&arena);
	return fine;
}

/*
 * All who wait for seq go on, and those who wait for them, and so on: who has
 * an environment of its own by that goes to the end of the list of work.
 */
static bool wake(struct tr_lineage *lineage, uint64_t seq, struct tr_environment *env)
{
	struct tr_heir *work = tr_id_map_take(&lineage->waiters, seq), *end = work;
	bool fine = true;

	for (struct tr_heir *heir = work; heir; heir = heir->next)
		heir->parent = tr_environment_retain(env);
	while (end && end->next)
		end = end->next;
	while (work && fine) {
		struct tr_heir *heir = work;
		struct tr_environment *parent = heir->parent;
		heir->parent = NULL;
		fine = go_on(lineage, heir, parent);
		tr_environment_release(lineage->pool, parent);
		if (fine && heir->waits_for_own && heir->has_seq) {
			struct tr_heir *more = tr_id_map_take(&lineage->waiters, heir->seq);
			fine = tr_lineage_remember(lineage, heir->seq, heir->own);
			for (struct tr_heir *child = more; child; child = child->next)
				child->parent = tr_environment_retain(heir->own);
			end->next = more;
			while (end->next)
				end = end->next;
		}
		work = heir->next;
		heir->next = NULL;
	}
	return fine;
}

bool tr_lineage_register(struct tr_lineage *lineage, uint64_t seq, struct tr_environment *env)
{
	if (!tr_lineage_remember(lineage, seq, env))
		return false;
	if (!lineage->waiting)
		return true;
	bool fine = wake(lineage, seq, env);
	trim(lineage);
	if (!lineage->waiting)
		tr_id_map_free(&lineage->links);
	return fine;
}

struct tr_environment *tr_lineage_missing(struct tr_lineage *lineage, uint64_t seq)
{
	struct tr_environment *env = tr_environment_unknown(lineage->pool);
	/* its children have it in common */
	bool fine = env && tr_lineage_remember(lineage, seq, env);
	tr_environment_release(lineage->pool, env);
	return fine ? env : NULL;
}

static bool give_up(struct tr_lineage *lineage, struct tr_heir *heir, const char *why)
{
	uint64_t seq = heir->wanted;
	struct tr_heir *waiter = tr_id_map_get(&lineage->waiters, seq);
	for (; waiter; waiter = waiter->next)
		waiter->trouble = why;
	struct tr_environment *env = tr_lineage_missing(lineage, seq);
	return env && wake(lineage, seq, env);
}

/* The one for whose parent the first in the list waits in the end; NULL: not to be found out. */
static struct tr_heir *blocker(const struct tr_lineage *lineage)
{
	struct tr_heir *heir = lineage->first;
	for (unsigned steps = 0; heir && steps < 64; steps++) {
		struct tr_heir *next = tr_id_map_get(&lineage->pending, heir->wanted);
		if (!next)
			return heir;
		heir = next;
	}
	return NULL;
}

bool tr_lineage_lose_patience(struct tr_lineage *lineage)
{
	bool fine = true;
	while (fine && lineage->waiting) {
		struct tr_heir *heir = blocker(lineage);
		if (!heir || heir->wanted >= lineage->highest)
			break;
		uint64_t since = heir->since > lineage->disorder ? heir->since : lineage->disorder;
		if (lineage->numbered - since < TR_LINEAGE_ORDER)
			break;
		fine = give_up(lineage, heir, left_out);
		trim(lineage);
	}
	return fine;
}

bool tr_lineage_settle(struct tr_lineage *lineage)
{
	bool fine = true;
	for (struct tr_heir *heir = lineage->first; heir && fine; heir = heir->later) {
		if (heir->waits && !tr_id_map_get(&lineage->pending, heir->wanted))
			fine = give_up(lineage, heir, left_out);
	}
	/* whoever waits yet waits in a circle, or for one */
	for (struct tr_heir *heir = lineage->first; heir && fine; heir = heir->later) {
		if (heir->waits)
			fine = give_up(lineage, heir, circle);
	}
	trim(lineage);
	return fine;
}

void tr_lineage_abandon(struct tr_lineage *lineage)
{
	for (struct tr_heir *heir = lineage->first; heir; heir = heir->later)
		heir->waits = false;
	trim(lineage);
	lineage->waiting = 0;
	tr_id_map_free(&lineage->pending);
	tr_id_map_free(&lineage->waiters);
	tr_id_map_free(&lineage->links);
}
