/* SPDX-License-Identifier: MIT */
/* Two environments, or one and a map, side by side. */
#include "process/environment_private.h"

#include <stdlib.h>

#include "record/literal.h"

void tr_findings_begin(struct tr_environments *pool)
{
	pool->round++;
	pool->finding_count = pool->named = 0;
}

/* What is found under a name in this round, nothing at first. NULL: memory is out. */
static struct tr_finding *find(struct tr_environments *pool, struct tr_atom *name)
{
	struct tr_atom *key = tr_name_key(pool, name);
	if (!key)
		return NULL;
	if (key->round == pool->round)
		return &pool->findings[key->slot];
	if (pool->finding_count == UINT32_MAX)
		return NULL;
	if (pool->finding_count == pool->finding_cap) {
		size_t cap = pool->finding_cap ? pool->finding_cap * 2 : 64;
		struct tr_finding *list = realloc(pool->findings, cap * sizeof *list);
		if (!list)
			return NULL;
		pool->findings = list;
		pool->finding_cap = cap;
	}
	key->round = pool->round;
	key->slot = (uint32_t)pool->finding_count;
	struct tr_finding *finding = &pool->findings[pool->finding_count++];
	*finding = (struct tr_finding){ .key = key };
	return finding;
}

static void fill(struct tr_finding *finding, int side, const struct tr_entry *entry, uint64_t stamp)
{
	finding->has[side] = true;
	finding->name[side] = entry->name;
	finding->value[side] = entry->value;
	finding->stamp[side] = stamp;
}

/* Adds the names of a light environment, and as that side what it says. */
static bool add_light(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	for (uint32_t i = 0; i < env->count; i++) {
		struct tr_finding *finding = find(pool, env->entries[i].name);
		if (!finding)
			return false;
		if (!finding->has[side]) /* newer ones came first */
			fill(finding, side, &env->entries[i], env->stamp + i);
	}
	return true;
}

struct walk {
	struct tr_environments *pool;
	int side;
};

static bool add_entry(void *context, const struct tr_trie_entry *entry)
{
	const struct walk *walk = context;
	const struct tr_entry said = { entry->name, entry->value };
	struct tr_finding *finding = find(walk->pool, entry->name);
	if (finding && !finding->has[walk->side])
		fill(finding, walk->side, &said, entry->stamp);
	return finding;
}

bool tr_findings_add(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	struct walk walk = { pool, side };
	for (; !env->heavy; env = env->base) {
		if (!add_light(pool, env, side))
			return false;
	}
	return tr_trie_walk(env->trie, add_entry, &walk);
}

static bool add_name(void *context, const struct tr_trie_entry *entry)
{
	return find(context, entry->name);
}

/* The heavy one below; the names up to there, or up to `end`, are added. NULL: memory, or end. */
static const struct tr_environment *add_names(struct tr_environments *pool,
					      const struct tr_environment *env,
					      const struct tr_environment *end, bool *fine)
{
	for (; env != end; env = env->base) {
		if (env->heavy)
			return env;
		for (uint32_t i = 0; i < env->count && *fine; i++)
			*fine = find(pool, env->entries[i].name);
	}
	return NULL;
}

bool tr_findings_add_candidates(struct tr_environments *pool, const struct tr_environment *a,
				const struct tr_environment *b)
{
	bool fine = true;
	const struct tr_environment *x = add_names(pool, a, b, &fine);
	if (!x || !fine)
		return fine; /* b is what a was made of */
	const struct tr_environment *y = add_names(pool, b, NULL, &fine);
	return fine && tr_trie_walk_differences(x->trie, y->trie, add_name, pool);
}

static void look_up(struct tr_environments *pool, const struct tr_environment *env,
		    struct tr_finding *finding, int side)
{
	for (; !env->heavy; env = env->base) {
		for (uint32_t i = 0; i < env->count; i++) {
			if (tr_name_key(pool, env->entries[i].name) != finding->key)
				continue;
			fill(finding, side, &env->entries[i], env->stamp + i);
			return;
		}
	}
	const struct tr_trie_entry *entry = tr_trie_find(env->trie, finding->key);
	if (entry)
		fill(finding, side, &(struct tr_entry){ entry->name, entry->value }, entry->stamp);
}

void tr_findings_look_up(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	for (size_t i = 0; i < pool->finding_count && env; i++)
		look_up(pool, env, &pool->findings[i], side);
}

enum { JUDGED = 0x80 };

bool tr_name_judge(struct tr_environments *pool, struct tr_atom *name, unsigned *verdict)
{
	const struct tr_environment_rules *rules = &pool->rules;
	*verdict = TR_NAME_SELECTED;
	if (rules->judge && !name->verdicts) {
		if (!rules->judge(rules->context, tr_atom_text(name), pool->fold, verdict))
			return false;
		name->verdicts = (uint8_t)(*verdict | JUDGED);
	} else if (rules->judge) {
		*verdict = name->verdicts;
	}
	return true;
}

bool tr_environments_judge(struct tr_environments *pool, struct tr_text name, unsigned *verdict)
{
	struct tr_atom *atom = tr_atom_get(&pool->atoms, name);
	if (!atom)
		return false;
	bool fine = tr_name_judge(pool, atom, verdict);
	tr_atom_release(&pool->atoms, atom);
	return fine;
}

/* The value as an atom, NULL for what removes; *failed: memory is out. */
static struct tr_atom *value_atom(struct tr_environments *pool, const struct tr_value *value,
				  struct tr_buffer *scratch, bool *failed)
{
	if (value->type == TR_NULL)
		return NULL;
	tr_buffer_reset(scratch);
	tr_literal_write(value, scratch);
	struct tr_atom *atom =
		scratch->failed ? NULL : tr_atom_get_large(&pool->atoms, tr_buffer_text(scratch));
	*failed = !atom;
	return atom;
}

static bool add_member(struct tr_environments *pool, const struct tr_member *member,
		       struct tr_buffer *scratch)
{
	bool failed = false;
	struct tr_atom *name = tr_atom_get(&pool->atoms, member->key);
	if (!name)
		return false;
	unsigned verdict = 0;
	failed = !tr_name_judge(pool, name, &verdict);
	bool selected = verdict & TR_NAME_SELECTED;
	struct tr_atom *value = selected ? value_atom(pool, member->value, scratch, &failed) : NULL;
	struct tr_finding *finding = selected && !failed ? find(pool, name) : NULL;
	if (!finding) {
		tr_atom_release(&pool->atoms, value);
		tr_atom_release(&pool->atoms, name);
		return !selected && !failed;
	}
	if (finding->has[1]) { /* of a repeated name the last counts */
		tr_atom_release(&pool->atoms, finding->value[1]);
		tr_atom_release(&pool->atoms, finding->name[1]);
	}
	finding->has[1] = true;
	finding->name[1] = name;
	finding->value[1] = value;
	return true;
}

bool tr_findings_add_map(struct tr_environments *pool, const struct tr_value *map)
{
	struct tr_buffer scratch = TR_BUFFER_INIT;
	bool fine = true;
	for (size_t i = 0; i < map->count && fine; i++)
		fine = add_member(pool, &map->as.members[i], &scratch);
	tr_buffer_free(&scratch);
	pool->named = pool->finding_count;
	return fine;
}

void tr_findings_drop_map(struct tr_environments *pool)
{
	for (size_t i = 0; i < pool->named; i++) {
		struct tr_finding *finding = &pool->findings[i];
		if (!finding->has[1])
			continue; /* memory ran out under it */
		tr_atom_release(&pool->atoms, finding->value[1]);
		tr_atom_release(&pool->atoms, finding->name[1]);
	}
	pool->named = 0;
}
