#include "process/environment.h"

#include <stdlib.h>
#include <string.h>

#include "process/atom.h"
#include "record/literal.h"

/*
 * A diff is followed down to the root of its chain, so chains are cut: every
 * DEPTH-th environment says all that it holds.
 */
enum { DEPTH = 64, SETS = 1 << 14, WAYS = 8 };

struct entry {
	struct tr_atom *name;
	struct tr_atom *value; /* NULL: removed */
};

struct tr_environment {
	struct tr_environment *base;
	size_t references;
	unsigned depth;
	size_t count;
	struct entry entries[];
};

/* What a record's environment is; used 0: free. */
struct memory {
	uint64_t seq, used;
	struct tr_environment *env;
};

struct tr_environments {
	struct tr_atoms atoms;
	struct memory *memories; /* sets of WAYS; NULL until the first */
	uint64_t clock;
	/* scratch: names seen in this round, each once; the atoms hold what was seen */
	struct tr_atom **names;
	size_t name_count, name_cap;
	uint64_t round;
};

struct tr_environments *tr_environments_new(void)
{
	struct tr_environments *pool = calloc(1, sizeof *pool);
	if (pool && !tr_atoms_init(&pool->atoms)) {
		free(pool);
		return NULL;
	}
	return pool;
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
		for (size_t i = 0; i < env->count; i++) {
			tr_atom_release(&pool->atoms, env->entries[i].name);
			tr_atom_release(&pool->atoms, env->entries[i].value);
		}
		free(env);
		env = base;
	}
}

void tr_environments_free(struct tr_environments *pool)
{
	if (!pool)
		return;
	if (pool->memories)
		for (size_t i = 0; i < (size_t)SETS * WAYS; i++)
			tr_environment_release(pool, pool->memories[i].env);
	free(pool->memories);
	free(pool->names);
	tr_atoms_free(&pool->atoms);
	free(pool);
}

/* Begins to gather names: none is seen yet. */
static void begin_round(struct tr_environments *pool)
{
	pool->round++;
	pool->name_count = 0;
}

/* The name is seen in this round, if it was not before. False: memory is out. */
static bool see(struct tr_environments *pool, struct tr_atom *name)
{
	if (name->round == pool->round)
		return true;
	if (pool->name_count == pool->name_cap) {
		size_t cap = pool->name_cap ? pool->name_cap * 2 : 64;
		struct tr_atom **names = realloc(pool->names, cap * sizeof *names);
		if (!names)
			return false;
		pool->names = names;
		pool->name_cap = cap;
	}
	name->round = pool->round;
	name->has[0] = name->has[1] = false;
	name->value[0] = name->value[1] = NULL;
	pool->names[pool->name_count++] = name;
	return true;
}

/* Gathers what an environment holds as side 0 or 1: the newest word on a name counts. */
static bool gather(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	for (; env; env = env->base) {
		for (size_t i = 0; i < env->count; i++) {
			const struct entry *entry = &env->entries[i];
			if (!see(pool, entry->name))
				return false;
			if (entry->name->has[side])
				continue;
			entry->name->has[side] = true;
			entry->name->value[side] = entry->value;
		}
	}
	return true;
}

/* Gathers what a map says as side 1. True with everything in the atoms' hands. */
static bool gather_map(struct tr_environments *pool, const struct tr_value *map, bool *failed)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	for (size_t i = 0; i < map->count && !*failed; i++) {
		const struct tr_member *member = &map->as.members[i];
		struct tr_atom *name = tr_atom_get(&pool->atoms, member->key), *value = NULL;
		*failed = !name || !see(pool, name);
		if (!*failed && member->value->type != TR_NULL) {
			tr_buffer_reset(&text);
			tr_literal_write(member->value, &text);
			value = text.failed ? NULL
					    : tr_atom_get(&pool->atoms, tr_buffer_text(&text));
			*failed = !value;
		}
		if (*failed) {
			tr_atom_release(&pool->atoms, name);
			break;
		}
		if (name->has[1]) { /* of a repeated name the last counts */
			tr_atom_release(&pool->atoms, name->value[1]);
			tr_atom_release(&pool->atoms, name);
		}
		name->has[1] = true;
		name->value[1] = value;
	}
	tr_buffer_free(&text);
	return !*failed;
}

/* Gives the references back that gather_map took. */
static void drop_map(struct tr_environments *pool)
{
	for (size_t i = 0; i < pool->name_count; i++) {
		struct tr_atom *name = pool->names[i];
		if (!name->has[1])
			continue;
		tr_atom_release(&pool->atoms, name->value[1]);
		tr_atom_release(&pool->atoms, name);
	}
}

/* A new environment over base of the names whose side 1 is another value than side 0. */
static struct tr_environment *make(struct tr_environments *pool, struct tr_environment *base)
{
	size_t count = 0;
	for (size_t i = 0; i < pool->name_count; i++)
		count += pool->names[i]->value[0] != pool->names[i]->value[1];
	if (!count && base)
		return tr_environment_retain(base);
	struct tr_environment *env = malloc(sizeof *env + count * sizeof *env->entries);
	if (!env)
		return NULL;
	*env = (struct tr_environment){ .base = tr_environment_retain(base),
					.references = 1,
					.depth = base ? base->depth + 1 : 0 };
	for (size_t i = 0; i < pool->name_count; i++) {
		struct tr_atom *name = pool->names[i];
		if (name->value[0] == name->value[1])
			continue;
		env->entries[env->count++] =
			(struct entry){ tr_atom_retain(name), tr_atom_retain(name->value[1]) };
	}
	return env;
}

/* The same environment without a chain below it, where the chain has become long. */
static struct tr_environment *flatten(struct tr_environments *pool, struct tr_environment *env)
{
	if (!env || env->depth < DEPTH)
		return env;
	begin_round(pool);
	struct tr_environment *flat = gather(pool, env, 1) ? make(pool, NULL) : NULL;
	tr_environment_release(pool, env);
	return flat;
}

struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base, const struct tr_value *map)
{
	bool failed = false;
	begin_round(pool);
	gather_map(pool, map, &failed);
	/* what the map does not name stays: both sides say the same of it */
	size_t named = pool->name_count;
	failed = failed || !gather(pool, base, 0);
	for (size_t i = named; i < pool->name_count; i++)
		pool->names[i]->value[1] = pool->names[i]->value[0];
	struct tr_environment *env = failed ? NULL : make(pool, base);
	drop_map(pool);
	return flatten(pool, env);
}

struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near, const struct tr_value *map)
{
	bool failed = false;
	begin_round(pool);
	gather_map(pool, map, &failed);
	failed = failed || !gather(pool, near, 0);
	struct tr_environment *env = failed ? NULL : make(pool, near);
	drop_map(pool);
	return flatten(pool, env);
}

bool tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
			 struct tr_environment *env, struct tr_buffer *to)
{
	begin_round(pool);
	if (!gather(pool, env, 1) || !gather(pool, base, 0))
		return false;
	char before = '{';
	for (size_t i = 0; i < pool->name_count; i++) {
		const struct tr_atom *name = pool->names[i], *value = name->value[1];
		if (name->value[0] == value)
			continue;
		tr_buffer_put_byte(to, before);
		before = ',';
		tr_buffer_put_byte(to, '"');
		tr_buffer_put_text(to, tr_atom_text(name));
		tr_buffer_put_literal(to, "\":");
		tr_buffer_put_text(to, value ? tr_atom_text(value) : TR_TEXT("null"));
	}
	if (before == '{')
		tr_buffer_put_byte(to, before);
	tr_buffer_put_byte(to, '}');
	return !to->failed;
}

static struct memory *memory_set(struct tr_environments *pool, uint64_t seq)
{
	uint64_t hash = seq * UINT64_C(0x9e3779b97f4a7c15);
	return pool->memories + (hash >> 40 & (SETS - 1)) * WAYS;
}

bool tr_environments_remember(struct tr_environments *pool, uint64_t seq,
			      struct tr_environment *env)
{
	if (!pool->memories)
		pool->memories = calloc((size_t)SETS * WAYS, sizeof *pool->memories);
	if (!pool->memories)
		return false;
	struct memory *set = memory_set(pool, seq), *place = set;
	for (unsigned i = 0; i < WAYS; i++) {
		if (set[i].used && set[i].seq == seq) {
			place = &set[i];
			break;
		}
		if (set[i].used < place->used)
			place = &set[i];
	}
	tr_environment_release(pool, place->env);
	*place = (struct memory){ seq, ++pool->clock, tr_environment_retain(env) };
	return true;
}

struct tr_environment *tr_environments_of(struct tr_environments *pool, uint64_t seq)
{
	if (!pool->memories)
		return NULL;
	struct memory *set = memory_set(pool, seq);
	for (unsigned i = 0; i < WAYS; i++) {
		if (!set[i].used || set[i].seq != seq)
			continue;
		set[i].used = ++pool->clock;
		return set[i].env;
	}
	return NULL;
}
