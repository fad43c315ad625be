/* How environments are made, shared and given up. */
#include "process/environment_private.h"

#include <stdlib.h>
#include <string.h>

/*
 * A difference is followed down to the root of its chain, so chains are cut:
 * every DEPTH-th environment says all that is known of it.
 */
enum { DEPTH = 64, FIRST_BUCKETS = 256 };

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

struct tr_environment *tr_environment_retain(struct tr_environment *env)
{
	if (env)
		env->references++;
	return env;
}

bool tr_environment_is_whole(const struct tr_environment *env)
{
	return !env->origin;
}

bool tr_environment_is_unknown(const struct tr_environment *env)
{
	return env->origin == env;
}

static struct tr_environment **bucket_of(struct tr_environments *pool, uint64_t hash)
{
	return &pool->buckets[hash & (pool->bucket_count - 1)];
}

static void remove_from_bucket(struct tr_environments *pool, struct tr_environment *env)
{
	struct tr_environment **place = bucket_of(pool, env->hash);
	while (*place != env)
		place = &(*place)->next;
	*place = env->next;
	pool->count--;
}

void tr_environment_release(struct tr_environments *pool, struct tr_environment *env)
{
	while (env && --env->references == 0) {
		struct tr_environment *base = env->base;
		remove_from_bucket(pool, env);
		for (size_t i = 0; i < env->count; i++) {
			tr_atom_release(&pool->atoms, env->entries[i].name);
			tr_atom_release(&pool->atoms, env->entries[i].value);
		}
		free(env);
		env = base;
	}
}

/* Twice as many buckets; without memory the chains get longer. */
static void grow(struct tr_environments *pool)
{
	size_t count = pool->bucket_count * 2;
	struct tr_environment **buckets = calloc(count, sizeof *buckets);
	if (!buckets)
		return;
	for (size_t i = 0; i < pool->bucket_count; i++) {
		struct tr_environment *next;
		for (struct tr_environment *env = pool->buckets[i]; env; env = next) {
			struct tr_environment **bucket = &buckets[env->hash & (count - 1)];
			next = env->next;
			env->next = *bucket;
			*bucket = env;
		}
	}
	free(pool->buckets);
	pool->buckets = buckets;
	pool->bucket_count = count;
}

static uint64_t mix(uint64_t hash, const void *pointer)
{
	hash = (hash ^ (uintptr_t)pointer) * UINT64_C(0x9fb21c651e98df25);
	return hash ^ hash >> 29;
}

static bool is_same(const struct tr_environment *a, const struct tr_environment *b)
{
	return a->hash == b->hash && a->base == b->base && a->count == b->count &&
	       a->origin == b->origin &&
	       memcmp(a->entries, b->entries, a->count * sizeof *a->entries) == 0;
}

/* The new environment, or the one that is there already and says the same. Takes env over. */
static struct tr_environment *share(struct tr_environments *pool, struct tr_environment *env)
{
	env->hash = mix(0, env->base);
	for (size_t i = 0; i < env->count; i++)
		env->hash = mix(mix(env->hash, env->entries[i].name), env->entries[i].value);
	struct tr_environment **bucket = bucket_of(pool, env->hash);
	for (struct tr_environment *other = *bucket; other; other = other->next) {
		if (is_same(env, other)) {
			free(env);
			return tr_environment_retain(other);
		}
	}
	tr_environment_retain(env->base);
	for (size_t i = 0; i < env->count; i++) {
		tr_atom_retain(env->entries[i].name);
		tr_atom_retain(env->entries[i].value);
	}
	env->next = *bucket;
	*bucket = env;
	if (++pool->count > pool->bucket_count)
		grow(pool);
	return env;
}

/* Room for count entries over base, which is borrowed until it is shared. */
static struct tr_environment *allocate(struct tr_environment *base, size_t count)
{
	struct tr_environment *env = malloc(sizeof *env + count * sizeof *env->entries);
	if (env)
		*env = (struct tr_environment){ .base = base,
						.origin = base ? base->origin : NULL,
						.references = 1,
						.depth = base ? base->depth + 1 : 0 };
	return env;
}

static void add_entry(struct tr_environment *env, const struct tr_finding *finding, int name)
{
	env->entries[env->count++] = (struct tr_entry){ finding->name[name], finding->value[1] };
}

/* A new environment over base of the first findings whose side 1 is another than side 0. */
static struct tr_environment *make(struct tr_environments *pool, struct tr_environment *base,
				   size_t findings)
{
	bool open = base && base->origin;
	size_t count = 0;
	for (size_t i = 0; i < findings; i++)
		count += tr_finding_differs(&pool->findings[i], open);
	if (!count && base)
		return tr_environment_retain(base);
	struct tr_environment *env = allocate(base, count);
	for (size_t i = 0; i < pool->named && env; i++) {
		if (tr_finding_differs(&pool->findings[i], open))
			add_entry(env, &pool->findings[i], 1);
	}
	/* what only base has is gone; it came in reverse order */
	for (size_t i = findings; i-- > pool->named && env;) {
		if (tr_finding_differs(&pool->findings[i], open))
			add_entry(env, &pool->findings[i], 0);
	}
	return env ? share(pool, env) : NULL;
}

/* The same environment without a chain below it, where the chain has become long. */
static struct tr_environment *flatten(struct tr_environments *pool, struct tr_environment *env)
{
	if (!env || env->depth < DEPTH)
		return env;
	struct tr_environment *flat = NULL, *origin = (struct tr_environment *)env->origin;
	tr_findings_begin(pool);
	if (tr_findings_add(pool, env, 1))
		flat = allocate(origin, pool->finding_count);
	for (size_t i = pool->finding_count; i-- > 0 && flat;) {
		if (pool->findings[i].value[1] || origin)
			add_entry(flat, &pool->findings[i], 1);
	}
	if (flat)
		flat = share(pool, flat);
	tr_environment_release(pool, env);
	return flat;
}

struct tr_environment *tr_environment_unknown(struct tr_environments *pool)
{
	struct tr_environment *env = allocate(NULL, 0);
	if (!env)
		return NULL;
	env->origin = env; /* so that it is never the same as another */
	return share(pool, env);
}

struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base, const struct tr_value *map)
{
	tr_findings_begin(pool);
	struct tr_environment *env = NULL;
	if (tr_findings_add_map(pool, map) && tr_findings_add(pool, base, 0))
		env = make(pool, base, pool->named); /* what the map does not name stays */
	tr_findings_drop_map(pool);
	return flatten(pool, env);
}

struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near, const struct tr_value *map)
{
	struct tr_environment *env = NULL;
	if (near && near->origin)
		near = NULL; /* what is not known of it would be inherited */
	tr_findings_begin(pool);
	if (tr_findings_add_map(pool, map) && tr_findings_add(pool, near, 0))
		env = make(pool, near, pool->finding_count);
	tr_findings_drop_map(pool);
	return flatten(pool, env);
}
