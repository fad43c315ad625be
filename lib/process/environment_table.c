/* SPDX-License-Identifier: MIT */
/* All environments of a pool, where one that says the same as another is found. */
#include "process/environment_private.h"

#include <stdlib.h>
#include <string.h>

static struct tr_environment **bucket_of(struct tr_environments *pool, uint64_t hash)
{
	return &pool->buckets[hash & (pool->bucket_count - 1)];
}

void tr_environments_drop(struct tr_environments *pool, struct tr_environment *env)
{
	struct tr_environment **place = bucket_of(pool, env->hash);
	while (*place != env)
		place = &(*place)->next;
	*place = env->next;
	pool->count--;
	pool->weight -= sizeof *env + env->count * sizeof *env->entries;
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
	return a->hash == b->hash && a->base_id == b->base_id && a->count == b->count &&
	       memcmp(a->entries, b->entries, a->count * sizeof *a->entries) == 0;
}

static uint64_t hash_of(const struct tr_environment *env)
{
	uint64_t hash = env->base_id * UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t i = 0; i < env->count; i++)
		hash = mix(mix(hash, env->entries[i].name), env->entries[i].value);
	return hash;
}

struct tr_environment *tr_environments_find(struct tr_environments *pool,
					    struct tr_environment *env)
{
	env->hash = hash_of(env);
	struct tr_environment *other = *bucket_of(pool, env->hash);
	while (other && !is_same(env, other))
		other = other->next;
	return other;
}

void tr_environments_keep(struct tr_environments *pool, struct tr_environment *env)
{
	struct tr_environment **bucket = bucket_of(pool, env->hash);
	env->next = *bucket;
	*bucket = env;
	env->id = ++pool->last_id;
	pool->weight += sizeof *env + env->count * sizeof *env->entries;
	if (++pool->count > pool->bucket_count)
		grow(pool);
}

void tr_environments_keep_alone(struct tr_environments *pool, struct tr_environment *env)
{
	env->hash = mix(0, env);
	tr_environments_keep(pool, env);
}

struct tr_environment *tr_environment_retain(struct tr_environment *env)
{
	if (env)
		env->references++;
	return env;
}

void tr_environment_release(struct tr_environments *pool, struct tr_environment *env)
{
	while (env && --env->references == 0) {
		struct tr_environment *base = env->base;
		tr_environments_drop(pool, env);
		for (size_t i = 0; i < env->count; i++) {
			tr_atom_release(&pool->atoms, env->entries[i].name);
			tr_atom_release(&pool->atoms, env->entries[i].value);
		}
		tr_trie_release(&pool->atoms, env->trie);
		free(env);
		env = base;
	}
}
