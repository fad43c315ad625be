/* SPDX-License-Identifier: MIT */
/* How environments are made, shared and given up. */
#include "process/environment_private.h"

#include <stdlib.h>
#include <string.h>

/* Light ones say little, and there are few of them in a row. */
enum { LIGHT_ENTRIES = 8, LIGHT_DEPTH = 8, FIRST_BUCKETS = 256 };

struct tr_environments *tr_environments_new(void)
{
	struct tr_environments *pool = calloc(1, sizeof *pool);
	if (!pool)
		return NULL;
	pool->bucket_count = FIRST_BUCKETS;
	pool->buckets = calloc(FIRST_BUCKETS, sizeof *pool->buckets);
	if (!pool->buckets || !tr_atoms_init(&pool->atoms)) {
		free(pool->buckets);
		free(pool);
		return NULL;
	}
	return pool;
}

void tr_environments_free(struct tr_environments *pool)
{
	if (!pool)
		return;
	tr_environments_forget(pool);
	free(pool->findings);
	free(pool->buckets);
	tr_atoms_free(&pool->atoms);
	free(pool);
}

void tr_environments_spill(struct tr_environments *pool, size_t max_here, uint64_t max_spool)
{
	pool->atoms.max_here = max_here;
	pool->atoms.max_spool = max_spool;
}

size_t tr_environments_weight(const struct tr_environments *pool)
{
	return pool->weight + pool->atoms.weight;
}

size_t tr_environment_references(const struct tr_environment *env)
{
	return env->references;
}

void tr_environments_fail(struct tr_environments *pool, const struct tr_error *err)
{
	pool->atoms.error = *err;
}

void tr_environments_error(const struct tr_environments *pool, struct tr_error *err)
{
	if (pool->atoms.error.cause == TR_CAUSE_NONE)
		tr_error_memory(err);
	else
		*err = pool->atoms.error;
}

void tr_environments_set_rules(struct tr_environments *pool,
			       const struct tr_environment_rules *rules)
{
	pool->rules = *rules;
}

void tr_environments_fold(struct tr_environments *pool, bool fold)
{
	if (fold == pool->fold)
		return;
	pool->fold = fold;
	tr_atoms_forget_verdicts(&pool->atoms);
}

bool tr_environments_are_folded(const struct tr_environments *pool)
{
	return pool->fold;
}

bool tr_environment_is_whole(const struct tr_environment *env)
{
	return !env->origin;
}

bool tr_environment_is_unknown(const struct tr_environment *env)
{
	return env->origin == env;
}

static struct tr_environment *allocate(size_t count)
{
	struct tr_environment *env = malloc(sizeof *env + count * sizeof *env->entries);
	if (env)
		*env = (struct tr_environment){ .references = 1 };
	return env;
}

/* The trie has that value under the name, or nothing. open: that is known, and so is kept. */
static bool put(struct tr_environments *pool, struct tr_trie **trie, struct tr_atom *name,
		struct tr_atom *value, uint64_t stamp, bool open)
{
	struct tr_atom *key = tr_name_key(pool, name);
	struct tr_trie_entry entry = { key, name, value, stamp };
	if (!key)
		return false;
	return value || open ? tr_trie_put(&pool->atoms, trie, &entry)
			     : tr_trie_remove(&pool->atoms, trie, key);
}

/* Puts what the light environments up to env say into the trie of the heavy one below. */
static bool put_chain(struct tr_environments *pool, struct tr_trie **trie,
		      const struct tr_environment *env)
{
	const struct tr_environment *chain[LIGHT_DEPTH + 2];
	size_t length = 0;
	for (; env && !env->heavy; env = env->base)
		chain[length++] = env;
	*trie = tr_trie_retain(env ? env->trie : NULL);
	while (length-- > 0) {
		const struct tr_environment *link = chain[length];
		for (uint32_t i = 0; i < link->count; i++) {
			if (!put(pool, trie, link->entries[i].name, link->entries[i].value,
				 link->stamp + i, link->origin))
				return false;
		}
	}
	return true;
}

/* Where the environment has become long it gets all that is known of it in a trie. */
static bool settle(struct tr_environments *pool, struct tr_environment *env)
{
	env->depth = env->base->heavy ? 1 : (uint16_t)(env->base->depth + 1);
	env->heavy = false;
	if (env->count <= LIGHT_ENTRIES && env->depth <= LIGHT_DEPTH)
		return true;
	if (!put_chain(pool, &env->trie, env)) {
		tr_trie_release(&pool->atoms, env->trie);
		return false;
	}
	env->heavy = true;
	env->depth = 0;
	return true;
}

/* The new environment, or the one that is there already and says the same. Takes env over. */
static struct tr_environment *share(struct tr_environments *pool, struct tr_environment *env)
{
	struct tr_environment *other = tr_environments_find(pool, env);
	if (other || !settle(pool, env)) {
		free(env);
		return tr_environment_retain(other);
	}
	/* what is whole and has all of it needs nothing else: chains do not keep what nobody asks
	 * for */
	if (env->heavy && !env->origin)
		env->base = NULL;
	tr_environment_retain(env->base);
	for (uint32_t i = 0; i < env->count; i++) {
		tr_atom_retain(env->entries[i].name);
		tr_atom_retain(env->entries[i].value);
	}
	tr_environments_keep(pool, env);
	return env;
}

static int by_stamp(const void *a, const void *b)
{
	const struct tr_finding *x = a, *y = b;
	return (x->stamp[0] > y->stamp[0]) - (x->stamp[0] < y->stamp[0]);
}

static void add_entry(struct tr_environment *env, const struct tr_finding *finding, int name)
{
	env->entries[env->count++] = (struct tr_entry){ finding->name[name], finding->value[1] };
	env->size += finding->value[1] && !finding->value[0];
	env->size -= finding->value[0] && !finding->value[1];
}

/* A new environment over base of the findings whose side 1 is another than side 0. */
static struct tr_environment *derive(struct tr_environments *pool, struct tr_environment *base)
{
	size_t named = pool->named, gone = pool->finding_count - named, count = 0;
	for (size_t i = 0; i < pool->finding_count; i++)
		count += tr_finding_differs(&pool->findings[i], base->origin);
	if (!count)
		return tr_environment_retain(base);
	struct tr_environment *env = count < UINT32_MAX ? allocate(count) : NULL;
	if (!env)
		return NULL;
	env->base = base;
	env->base_id = base->id;
	env->origin = base->origin;
	env->size = base->size;
	env->stamp = base->stamp + base->count;
	/* what only base has stands behind the others, in its order: it is not sorted there */
	if (gone)
		qsort(pool->findings + named, gone, sizeof *pool->findings, by_stamp);
	for (size_t i = 0; i < pool->finding_count; i++) {
		if (tr_finding_differs(&pool->findings[i], base->origin))
			add_entry(env, &pool->findings[i], i < named);
	}
	return share(pool, env);
}

/* Adds a name to an environment that is being made of nothing. */
static bool add_name(struct tr_environments *pool, struct tr_environment *env,
		     const struct tr_finding *finding)
{
	struct tr_atom *key = tr_name_key(pool, finding->name[1]);
	if (!key)
		return false;
	env->size += !tr_trie_find(env->trie, key);
	return put(pool, &env->trie, finding->name[1], finding->value[1], env->stamp++, false);
}

/* A new environment of the first findings' side 1, and of nothing else. */
static struct tr_environment *make(struct tr_environments *pool, size_t findings)
{
	struct tr_environment *env = allocate(0);
	bool fine = env;
	for (size_t i = 0; i < findings && fine; i++) {
		if (pool->findings[i].value[1])
			fine = add_name(pool, env, &pool->findings[i]);
	}
	if (!fine) {
		if (env)
			tr_trie_release(&pool->atoms, env->trie);
		free(env);
		return NULL;
	}
	env->heavy = true;
	tr_environments_keep_alone(pool, env);
	return env;
}

struct tr_environment *tr_environment_unknown(struct tr_environments *pool)
{
	tr_findings_begin(pool);
	struct tr_environment *env = make(pool, 0);
	if (env)
		env->origin = env;
	return env;
}

static int by_new_stamp(const void *a, const void *b)
{
	const struct tr_finding *x = a, *y = b;
	return (x->stamp[1] > y->stamp[1]) - (x->stamp[1] < y->stamp[1]);
}

struct tr_environment *tr_environment_fold(struct tr_environments *pool, struct tr_environment *env)
{
	tr_findings_begin(pool);
	if (!tr_findings_add(pool, env, 1))
		return NULL;
	if (pool->finding_count)
		qsort(pool->findings, pool->finding_count, sizeof *pool->findings, by_new_stamp);
	tr_environments_fold(pool, true);
	return make(pool, pool->finding_count);
}

/* The empty environment stands for none. */
static struct tr_environment *base_or_empty(struct tr_environments *pool,
					    struct tr_environment *base)
{
	if (base)
		return tr_environment_retain(base);
	tr_findings_begin(pool);
	return make(pool, 0);
}

struct tr_environment *tr_environment_apply_lean(struct tr_environments *pool,
						 struct tr_environment *base,
						 const struct tr_value *map, bool *lean)
{
	struct tr_environment *env = NULL;
	base = base_or_empty(pool, base);
	if (!base)
		return NULL;
	tr_findings_begin(pool);
	if (tr_findings_add_map(pool, map)) {
		tr_findings_look_up(pool, base, 0); /* what the map does not name stays */
		env = derive(pool, base);
	}
	if (env)
		*lean = map->count == 0 || (env->base_id == base->id && env->count == map->count);
	tr_findings_drop_map(pool);
	tr_environment_release(pool, base);
	return env;
}

struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base, const struct tr_value *map)
{
	bool lean;
	return tr_environment_apply_lean(pool, base, map, &lean);
}

/* How many of the map's names have a value in near too. */
static size_t count_common(const struct tr_environments *pool)
{
	size_t common = 0;
	for (size_t i = 0; i < pool->named; i++)
		common += pool->findings[i].value[0] && pool->findings[i].value[1];
	return common;
}

struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near, const struct tr_value *map)
{
	struct tr_environment *env = NULL;
	tr_findings_begin(pool);
	bool fine = tr_findings_add_map(pool, map);
	bool alike = fine && near && !near->origin;
	if (alike) {
		tr_findings_look_up(pool, near, 0);
		size_t common = count_common(pool);
		/* what near has more is to be listed, and that must not cost more than the map */
		alike = common >= pool->named / 2 && near->size <= 2 * common;
		if (alike && near->size > common)
			fine = tr_findings_add(pool, near, 0);
	}
	if (fine)
		env = alike ? derive(pool, near) : make(pool, pool->named);
	tr_findings_drop_map(pool);
	return env;
}
