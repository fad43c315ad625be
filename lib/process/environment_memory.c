/* SPDX-License-Identifier: MIT */
/* Which record has which environment: a table of fixed size, the least recently used falls out. */
#include "process/environment_private.h"

#include <stdlib.h>

enum { SETS = 1 << 14, WAYS = 8 };

struct tr_environment_memory {
	uint64_t seq, used; /* used 0: free */
	struct tr_environment *env;
};

static struct tr_environment_memory *set_of(struct tr_environments *pool, uint64_t seq)
{
	uint64_t hash = seq * UINT64_C(0x9e3779b97f4a7c15);
	return pool->memory + (hash >> 40 & (SETS - 1)) * WAYS;
}

bool tr_environments_remember(struct tr_environments *pool, uint64_t seq,
			      struct tr_environment *env)
{
	if (!pool->memory)
		pool->memory = calloc((size_t)SETS * WAYS, sizeof *pool->memory);
	if (!pool->memory)
		return false;
	struct tr_environment_memory *set = set_of(pool, seq), *place = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].used && set[i].seq == seq) {
			place = &set[i];
			break;
		}
		if (set[i].used < place->used)
			place = &set[i];
	}
	tr_environment_release(pool, place->env);
	*place = (struct tr_environment_memory){ seq, ++pool->clock, tr_environment_retain(env) };
	return true;
}

struct tr_environment *tr_environments_of(struct tr_environments *pool, uint64_t seq)
{
	if (!pool->memory)
		return NULL;
	struct tr_environment_memory *set = set_of(pool, seq);
	for (unsigned i = 0; i < WAYS; i++) {
		if (!set[i].used || set[i].seq != seq)
			continue;
		set[i].used = ++pool->clock;
		return set[i].env;
	}
	return NULL;
}

void tr_environments_forget(struct tr_environments *pool)
{
	for (size_t i = 0; pool->memory && i < (size_t)SETS * WAYS; i++)
		tr_environment_release(pool, pool->memory[i].env);
	free(pool->memory);
	pool->memory = NULL;
}
