/* SPDX-License-Identifier: MIT */
/*
 * An environment is stored as its difference to a base. To keep chains short without copying large
 * environments, every so often one is full: a trie holds all its known variables and shares its
 * nodes with the tries of others. From top to bottom this file has the table that finds equal
 * environments, the comparison that both making and printing use, the making of environments, the
 * pool with its settings, and the differences as text.
 */
#include "process/environment.h"

#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/map.h"
#include "core/text_cache.h"
#include "process/atom.h"
#include "record/literal.h"

struct entry {
	struct tr_atom *name;
	struct tr_atom *value; /* NULL: the variable is removed */
};

struct tr_environment {
	/* the entries apply to this one; NULL if the environment is both full and whole */
	struct tr_environment *base;
	uint64_t id, base_id; /* never reused; base_id 0: it has no base */
	/* the unknown environment at the end of the chain of bases; NULL: it is whole */
	const struct tr_environment *origin;
	struct tr_trie *trie; /* if full: all known variables */
	uint64_t hash;
	size_t references;
	uint32_t size;	/* variables known to be set */
	uint32_t place; /* see tr_environment_place */
	uint64_t stamp; /* order of the first entry; it rises along the chain */
	uint32_t count;
	uint16_t depth; /* environments between this one and a full one */
	bool full;
	struct entry entries[];
};

/* One name in a comparison. Side 0 is the base, side 1 the environment derived from it. */
struct pair {
	struct tr_atom *key; /* the name, folded if the pool folds names */
	struct tr_atom *name[2], *value[2];
	uint64_t stamp[2]; /* the position in that environment */
	bool has[2];	   /* known on that side: set, or with value NULL, not set */
};

struct tr_environments {
	struct tr_atoms atoms;
	struct tr_environment_rules rules;
	bool fold;

	struct tr_id_map equals; /* environments that may be derived again, by their hash */
	uint64_t last_id;
	size_t weight; /* bytes of all environments, excluding atoms and tries */

	unsigned ratio; /* see tr_environments_limit */
	bool spent;
	uint64_t records, bytes_read, variables_written, bytes_written;

	struct tr_recent records_used; /* the environments of records, a reference each */

	/* texts that repeat in most traces: see tr_environments_recall and put_again */
	struct tr_text_cache read, written;

	/* scratch: the names of the current comparison, each once */
	struct pair *pairs;
	size_t pair_count, pair_cap;
	size_t named;	/* the first so many pairs come from a map */
	uint64_t round; /* number of the current comparison */
};

/* open: an unknown variable differs from one that is known not to be set. */
static bool pair_differs(const struct pair *pair, bool open)
{
	return pair->value[0] != pair->value[1] || (open && pair->has[0] != pair->has[1]);
}

/* The atom that identifies a name: the name itself or its folded form. NULL: out of memory. */
static struct tr_atom *key_of(struct tr_environments *pool, struct tr_atom *name)
{
	return pool->fold ? tr_atom_fold(&pool->atoms, name) : name;
}

/* The table of all environments, which finds equal ones. */

/* Atoms are unique, so hashing their addresses is enough. */
static uint64_t mix(uint64_t hash, const void *pointer)
{
	hash = (hash ^ (uintptr_t)pointer) * UINT64_C(0x9fb21c651e98df25);
	return hash ^ hash >> 29;
}

/*
 * Sets the hash of env and returns an environment that has equal entries over the same base, or
 * NULL. Environments that were derived in different ways may be equal, too, but are not recognized;
 * that costs only memory.
 */
static struct tr_environment *find_equal(struct tr_environments *pool, struct tr_environment *env)
{
	env->hash = env->base_id * UINT64_C(0x9e3779b97f4a7c15);
	for (uint32_t i = 0; i < env->count; i++)
		env->hash = mix(mix(env->hash, env->entries[i].name), env->entries[i].value);
	struct tr_environment *other = tr_id_map_get(&pool->equals, env->hash);
	bool same = other && other->base_id == env->base_id && other->count == env->count &&
		    memcmp(other->entries, env->entries, env->count * sizeof *env->entries) == 0;
	return same ? other : NULL;
}

/* The bytes of an environment without its trie and its atoms. */
static size_t size_of(const struct tr_environment *env)
{
	return sizeof *env + env->count * sizeof *env->entries;
}

/* Counts a new environment, and gives it an id. */
static void count_environment(struct tr_environments *pool, struct tr_environment *env)
{
	env->id = ++pool->last_id;
	pool->weight += size_of(env);
}

struct tr_environment *tr_environment_retain(struct tr_environment *env)
{
	if (env)
		env->references++;
	return env;
}

/* A loop and not recursion, because a chain of bases may be as long as a trace. */
void tr_environment_release(struct tr_environments *pool, struct tr_environment *env)
{
	while (env && --env->references == 0) {
		struct tr_environment *base = env->base;
		if (tr_id_map_get(&pool->equals, env->hash) == env)
			tr_id_map_take(&pool->equals, env->hash);
		pool->weight -= size_of(env);
		for (size_t i = 0; i < env->count; i++) {
			tr_atom_release(&pool->atoms, env->entries[i].name);
			tr_atom_release(&pool->atoms, env->entries[i].value);
		}
		tr_trie_release(&pool->atoms, env->trie);
		free(env);
		env = base;
	}
}

/* The comparison of two environments, or of an environment and a map. */

/* Empties the list of pairs. */
static void begin_comparison(struct tr_environments *pool)
{
	pool->round++;
	pool->pair_count = pool->named = 0;
}

/* The pair of a name; it is added if it is new. NULL: out of memory. */
static struct pair *pair_for(struct tr_environments *pool, struct tr_atom *name)
{
	struct tr_atom *key = key_of(pool, name);
	if (!key)
		return NULL;
	if (key->round == pool->round)
		return &pool->pairs[key->slot];
	if (pool->pair_count == UINT32_MAX)
		return NULL;
	if (!tr_array_room(pool->pairs, pool->pair_count, pool->pair_cap))
		return NULL;
	key->round = pool->round;
	key->slot = (uint32_t)pool->pair_count;
	struct pair *pair = &pool->pairs[pool->pair_count++];
	*pair = (struct pair){ .key = key };
	return pair;
}

/* Sets one side of a pair to an entry. */
static void set_side(struct pair *pair, int side, const struct entry *entry, uint64_t stamp)
{
	pair->has[side] = true;
	pair->name[side] = entry->name;
	pair->value[side] = entry->value;
	pair->stamp[side] = stamp;
}

/* Adds the entries of an environment that is not full. */
static bool add_delta(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	for (uint32_t i = 0; i < env->count; i++) {
		struct pair *pair = pair_for(pool, env->entries[i].name);
		if (!pair)
			return false;
		if (!pair->has[side]) /* newer entries come first */
			set_side(pair, side, &env->entries[i], env->stamp + i);
	}
	return true;
}

/* The context of add_trie_entry. */
struct walk {
	struct tr_environments *pool;
	int side;
};

/* Adds a variable of a trie, unless a newer entry has set it. */
static bool add_trie_entry(void *context, const struct tr_trie_entry *entry)
{
	const struct walk *walk = context;
	const struct entry stated = { entry->name, entry->value };
	struct pair *pair = pair_for(walk->pool, entry->name);
	if (pair && !pair->has[walk->side])
		set_side(pair, walk->side, &stated, entry->stamp);
	return pair;
}

/* Adds all known variables of an environment as one side. */
static bool add_environment(struct tr_environments *pool, const struct tr_environment *env,
			    int side)
{
	struct walk walk = { pool, side };
	for (; !env->full; env = env->base) {
		if (!add_delta(pool, env, side))
			return false;
	}
	return tr_trie_walk(env->trie, add_trie_entry, &walk);
}

/* Adds only the name; both sides are looked up later. */
static bool add_trie_name(void *context, const struct tr_trie_entry *entry)
{
	return pair_for(context, entry->name);
}

/*
 * Adds the names on the chain from env down to the next full environment, and returns that one.
 * NULL: the chain reaches `end` first, or memory is exhausted and *fine is false.
 */
static const struct tr_environment *add_names(struct tr_environments *pool,
					      const struct tr_environment *env,
					      const struct tr_environment *end, bool *fine)
{
	for (; env != end; env = env->base) {
		if (env->full)
			return env;
		for (uint32_t i = 0; i < env->count && *fine; i++)
			*fine = pair_for(pool, env->entries[i].name);
	}
	return NULL;
}

/* Adds every name in which two environments with the same origin may differ. */
static bool add_differing_names(struct tr_environments *pool, const struct tr_environment *a,
				const struct tr_environment *b)
{
	bool fine = true;
	const struct tr_environment *x = add_names(pool, a, b, &fine);
	if (!x || !fine)
		return fine; /* a is derived from b, so its own entries are enough */
	const struct tr_environment *y = add_names(pool, b, NULL, &fine);
	return fine && tr_trie_walk_differences(x->trie, y->trie, add_trie_name, pool);
}

/* Sets one side of a pair to the newest entry on the chain that has its name. */
static void look_up(struct tr_environments *pool, const struct tr_environment *env,
		    struct pair *pair, int side)
{
	for (; !env->full; env = env->base) {
		for (uint32_t i = 0; i < env->count; i++) {
			if (key_of(pool, env->entries[i].name) != pair->key)
				continue;
			set_side(pair, side, &env->entries[i], env->stamp + i);
			return;
		}
	}
	const struct tr_trie_entry *entry = tr_trie_find(env->trie, pair->key);
	if (entry)
		set_side(pair, side, &(struct entry){ entry->name, entry->value }, entry->stamp);
}

/* Sets one side of all pairs to the state of their variables in env; NULL leaves them unset. */
static void look_up_all(struct tr_environments *pool, const struct tr_environment *env, int side)
{
	for (size_t i = 0; i < pool->pair_count && env; i++)
		look_up(pool, env, &pool->pairs[i], side);
}

enum { JUDGED = 0x80 };

/* Applies the rules to a name, once: the verdict is kept in the atom. False: out of memory. */
static bool judge_name(struct tr_environments *pool, struct tr_atom *name, unsigned *verdict)
{
	const struct tr_environment_rules *rules = &pool->rules;
	uint8_t *kept = &name->verdicts[pool->fold];

	*verdict = rules->judge ? *kept : TR_NAME_SELECTED;
	if (*verdict)
		return true;
	if (!rules->judge(rules->context, tr_atom_text(name), pool->fold, verdict))
		return false;
	*kept = (uint8_t)(*verdict | JUDGED);
	return true;
}

bool tr_environments_judge(struct tr_environments *pool, struct tr_text name, unsigned *verdict)
{
	struct tr_atom *atom = tr_atom_get(&pool->atoms, name);
	if (!atom)
		return false;
	bool fine = judge_name(pool, atom, verdict);
	tr_atom_release(&pool->atoms, atom);
	return fine;
}

/* The value as an atom; NULL for null, which removes, or with *failed, for exhausted memory. */
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

/* Adds one variable of a map, unless the rules exclude it. The pair owns the atoms until
 * release_map. */
static bool add_member(struct tr_environments *pool, const struct tr_member *member,
		       struct tr_buffer *scratch)
{
	bool failed = false;
	struct tr_atom *name = tr_atom_get(&pool->atoms, member->key);
	if (!name)
		return false;
	unsigned verdict = 0;
	failed = !judge_name(pool, name, &verdict);
	bool selected = verdict & TR_NAME_SELECTED;
	struct tr_atom *value = selected ? value_atom(pool, member->value, scratch, &failed) : NULL;
	struct pair *pair = selected && !failed ? pair_for(pool, name) : NULL;
	if (!pair) {
		tr_atom_release(&pool->atoms, value);
		tr_atom_release(&pool->atoms, name);
		return !selected && !failed;
	}
	if (pair->has[1]) { /* the last of repeated names counts */
		tr_atom_release(&pool->atoms, pair->value[1]);
		tr_atom_release(&pool->atoms, pair->name[1]);
	}
	pair->has[1] = true;
	pair->name[1] = name;
	pair->value[1] = value;
	return true;
}

/* Adds the variables of a map as side 1. It must come first; release_map is needed in any case. */
static bool add_map(struct tr_environments *pool, const struct tr_value *map)
{
	struct tr_buffer scratch = TR_BUFFER_INIT;
	bool fine = true;
	for (size_t i = 0; i < map->count && fine; i++)
		fine = add_member(pool, &map->as.members[i], &scratch);
	tr_buffer_free(&scratch);
	pool->named = pool->pair_count;
	return fine;
}

/* Drops the references to atoms that add_map took. */
static void release_map(struct tr_environments *pool)
{
	for (size_t i = 0; i < pool->named; i++) {
		struct pair *pair = &pool->pairs[i];
		if (!pair->has[1])
			continue; /* memory was exhausted before it was set */
		tr_atom_release(&pool->atoms, pair->value[1]);
		tr_atom_release(&pool->atoms, pair->name[1]);
	}
	pool->named = 0;
}

/* The making of environments. */

/* Bounds for environments that are not full: their entries, and how many follow each other. */
enum { DELTA_ENTRIES = 8, DELTA_DEPTH = 8 };

/* An environment with room for entries, which is not in the table yet. */
static struct tr_environment *allocate(size_t count)
{
	struct tr_environment *env = malloc(sizeof *env + count * sizeof *env->entries);
	if (env)
		*env = (struct tr_environment){ .references = 1 };
	return env;
}

/*
 * Sets or removes a variable in a trie. open: a removal is kept as an entry, because a variable
 * without one is unknown.
 */
static bool put(struct tr_environments *pool, struct tr_trie **trie, struct tr_atom *name,
		struct tr_atom *value, uint64_t stamp, bool open)
{
	struct tr_atom *key = key_of(pool, name);
	struct tr_trie_entry entry = { key, name, value, stamp };
	if (!key)
		return false;
	return value || open ? tr_trie_put(&pool->atoms, trie, &entry)
			     : tr_trie_remove(&pool->atoms, trie, key);
}

/* Makes a trie of the nearest full environment and the entries on the chain from there to env. */
static bool put_chain(struct tr_environments *pool, struct tr_trie **trie,
		      const struct tr_environment *env)
{
	const struct tr_environment *chain[DELTA_DEPTH + 2];
	size_t length = 0;
	for (; env && !env->full; env = env->base)
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

/* Makes env full if it has many entries or the chain has become long. */
static bool set_trie(struct tr_environments *pool, struct tr_environment *env)
{
	env->depth = env->base->full ? 1 : (uint16_t)(env->base->depth + 1);
	env->full = false;
	if (env->count <= DELTA_ENTRIES && env->depth <= DELTA_DEPTH)
		return true;
	if (!put_chain(pool, &env->trie, env)) {
		tr_trie_release(&pool->atoms, env->trie);
		return false;
	}
	env->full = true;
	env->depth = 0;
	return true;
}

/* Returns an equal environment if there is one, else env. Consumes env. */
static struct tr_environment *share(struct tr_environments *pool, struct tr_environment *env)
{
	struct tr_environment *other = find_equal(pool, env);
	/* the entries hold no references yet, so only the struct is freed */
	if (other || !set_trie(pool, env)) {
		free(env);
		return tr_environment_retain(other);
	}
	/* the trie of a full and whole one has everything, so its base need not be kept alive */
	if (env->full && !env->origin)
		env->base = NULL;
	tr_environment_retain(env->base);
	for (uint32_t i = 0; i < env->count; i++) {
		tr_atom_retain(env->entries[i].name);
		tr_atom_retain(env->entries[i].value);
	}
	count_environment(pool, env);
	/*
	 * an environment with the same hash may have its place in the table; this one is not found
	 * again
	 */
	if (!tr_id_map_get(&pool->equals, env->hash))
		tr_id_map_put(&pool->equals, env->hash, env);
	return env;
}

/* Sorts variables in the order of the base. */
static int by_base_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return (x->stamp[0] > y->stamp[0]) - (x->stamp[0] < y->stamp[0]);
}

/* The environment that applies the pairs which differ to base. NULL: out of memory. */
static struct tr_environment *derive(struct tr_environments *pool, struct tr_environment *base)
{
	size_t named = pool->named, gone = pool->pair_count - named, count = 0;
	for (size_t i = 0; i < pool->pair_count; i++)
		count += pair_differs(&pool->pairs[i], base->origin);
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
	/* variables that only base has follow in the order of base; the map does not order them */
	if (gone)
		qsort(pool->pairs + named, gone, sizeof *pool->pairs, by_base_order);
	for (size_t i = 0; i < pool->pair_count; i++) {
		const struct pair *pair = &pool->pairs[i];
		if (!pair_differs(pair, base->origin))
			continue;
		/* names are spelled as in the map, and those that it does not have as in base */
		env->entries[env->count++] =
			(struct entry){ pair->name[i < named], pair->value[1] };
		env->size += !pair->value[0];
		env->size -= !pair->value[1];
	}
	return share(pool, env);
}

/* An environment with no base, which holds side 1 of the first `pairs` pairs. */
static struct tr_environment *make(struct tr_environments *pool, size_t pairs)
{
	struct tr_environment *env = allocate(0);
	bool fine = env;
	for (size_t i = 0; i < pairs && fine; i++) {
		struct tr_atom *name = pool->pairs[i].name[1], *value = pool->pairs[i].value[1];
		struct tr_atom *key = value ? key_of(pool, name) : NULL;
		if (!value)
			continue;
		env->size += key && !tr_trie_find(env->trie, key);
		fine = key && put(pool, &env->trie, name, value, env->stamp++, false);
	}
	if (!fine) {
		if (env)
			tr_trie_release(&pool->atoms, env->trie);
		free(env);
		return NULL;
	}
	env->full = true;
	count_environment(pool, env);
	return env;
}

struct tr_environment *tr_environment_unknown(struct tr_environments *pool)
{
	begin_comparison(pool);
	struct tr_environment *env = make(pool, 0);
	if (env)
		env->origin = env;
	return env;
}

/* Sorts variables in the order of the environment itself. */
static int by_own_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return (x->stamp[1] > y->stamp[1]) - (x->stamp[1] < y->stamp[1]);
}

struct tr_environment *tr_environment_fold(struct tr_environments *pool, struct tr_environment *env)
{
	begin_comparison(pool);
	if (!add_environment(pool, env, 1))
		return NULL;
	if (pool->pair_count)
		qsort(pool->pairs, pool->pair_count, sizeof *pool->pairs, by_own_order);
	tr_environments_fold(pool, true);
	return make(pool, pool->pair_count);
}

struct tr_environment *tr_environment_apply(struct tr_environments *pool,
					    struct tr_environment *base, const struct tr_value *map,
					    bool *minimal)
{
	struct tr_environment *env = NULL;
	begin_comparison(pool);
	base = base ? tr_environment_retain(base) : make(pool, 0);
	if (!base)
		return NULL;
	if (add_map(pool, map)) {
		look_up_all(pool, base, 0); /* variables that are not in the map stay */
		env = derive(pool, base);
	}
	if (env && minimal)
		*minimal =
			map->count == 0 || (env->base_id == base->id && env->count == map->count);
	release_map(pool);
	tr_environment_release(pool, base);
	return env;
}

struct tr_environment *tr_environment_whole(struct tr_environments *pool,
					    struct tr_environment *near, const struct tr_value *map)
{
	struct tr_environment *env = NULL;
	begin_comparison(pool);
	bool fine = add_map(pool, map);
	bool alike = fine && near && !near->origin;
	if (alike) {
		look_up_all(pool, near, 0);
		size_t common = 0; /* variables that both the map and `near` set */
		for (size_t i = 0; i < pool->named; i++)
			common += pool->pairs[i].value[0] && pool->pairs[i].value[1];
		/* do not let the list of what only `near` sets take more than the map itself */
		alike = common >= pool->named / 2 && near->size <= 2 * common;
		if (alike && near->size > common)
			fine = add_environment(pool, near, 0);
	}
	if (fine)
		env = alike ? derive(pool, near) : make(pool, pool->named);
	release_map(pool);
	return env;
}

/*
 * Spellings that were read. The key is the id of the base (0: the map is whole) and a hash of the
 * spelling. The notes hold the id and the hash of the environment, which is looked up in the table,
 * because the cache does not keep it alive. A map that changes nothing makes the base itself, which
 * need not be in the table. The hash has no random seed, because it decides which spellings are
 * kept, and the order of variables can depend on that (see tr_environment_whole).
 */

struct tr_environment *tr_environments_recall(struct tr_environments *pool,
					      struct tr_environment *base, struct tr_text spelling,
					      bool *minimal)
{
	const struct tr_cached_text *known =
		tr_text_cache_find(&pool->read, base ? base->id : 0, tr_text_hash(0, spelling));

	if (!known || !tr_text_equal(known->text, spelling))
		return NULL;
	uint64_t id = known->notes[0] >> 1;
	struct tr_environment *env = tr_id_map_get(&pool->equals, known->notes[1]);
	if (base && base->id == id)
		env = base;
	if (!env || env->id != id)
		return NULL;
	*minimal = known->notes[0] & 1;
	return tr_environment_retain(env);
}

void tr_environments_keep(struct tr_environments *pool, const struct tr_environment *base,
			  struct tr_text spelling, const struct tr_environment *env, bool minimal)
{
	const uint64_t notes[] = { env->id << 1 | minimal, env->hash };

	if (env != base && tr_id_map_get(&pool->equals, env->hash) != env)
		return;
	tr_text_cache_put(&pool->read, base ? base->id : 0, tr_text_hash(0, spelling), spelling,
			  notes);
}

/* Forgets what depends on the rules or on how names are compared. */
static void forget_texts(struct tr_environments *pool)
{
	tr_text_cache_free(&pool->read);
	tr_text_cache_free(&pool->written);
}

/* The environments of records. */

bool tr_environments_remember(struct tr_environments *pool, uint64_t seq,
			      struct tr_environment *env)
{
	uint64_t value = (uintptr_t)env;
	if (!tr_recent_swap(&pool->records_used, seq, &value))
		return false;
	tr_environment_retain(env);
	tr_environment_release(pool, (struct tr_environment *)(uintptr_t)value);
	return true;
}

struct tr_environment *tr_environments_of(struct tr_environments *pool, uint64_t seq)
{
	uint64_t value = 0;
	tr_recent_find(&pool->records_used, seq, &value);
	return (struct tr_environment *)(uintptr_t)value;
}

/* The pool and its settings. */

struct tr_environments *tr_environments_new(void)
{
	struct tr_environments *pool = calloc(1, sizeof *pool);
	if (pool)
		tr_atoms_init(&pool->atoms, pool);
	return pool;
}

void tr_environments_free(struct tr_environments *pool)
{
	if (!pool)
		return;
	size_t position = 0;
	uint64_t env;
	while (tr_recent_next(&pool->records_used, &position, &env))
		tr_environment_release(pool, (struct tr_environment *)(uintptr_t)env);
	tr_recent_free(&pool->records_used);
	forget_texts(pool);
	tr_id_map_free(&pool->equals);
	free(pool->pairs);
	tr_atoms_free(&pool->atoms);
	free(pool);
}

void tr_environments_spill(struct tr_environments *pool, size_t max_here, uint64_t max_spool)
{
	pool->atoms.max_in_memory = max_here;
	pool->atoms.max_spool = max_spool;
}

size_t tr_environments_weight(const struct tr_environments *pool)
{
	return pool->weight + pool->atoms.weight;
}

uint32_t tr_environment_place(const struct tr_environment *env)
{
	return env->place;
}

void tr_environment_set_place(struct tr_environment *env, uint32_t place)
{
	env->place = place;
}

size_t tr_environment_references(const struct tr_environment *env)
{
	return env->references;
}

uint64_t tr_environment_id(const struct tr_environment *env)
{
	return env->id;
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
	forget_texts(pool);
}

void tr_environments_fold(struct tr_environments *pool, bool fold)
{
	if (pool->fold != fold)
		forget_texts(pool);
	pool->fold = fold;
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

/* Environments and their differences as text. */

enum { FREE_VARIABLES = 1 << 18, FREE_BYTES = 64 << 20 };

void tr_environments_limit(struct tr_environments *pool, unsigned ratio)
{
	pool->ratio = ratio;
}

/* True if more than `free` was written and that exceeds ratio times what was read. */
static bool is_beyond(uint64_t written, uint64_t free, uint64_t read, unsigned ratio)
{
	return written > free && (written - free) / ratio > read;
}

bool tr_environments_may_write(struct tr_environments *pool, size_t record_bytes)
{
	pool->records++;
	pool->bytes_read += record_bytes;
	pool->spent =
		pool->ratio &&
		(is_beyond(pool->variables_written, FREE_VARIABLES, pool->records, pool->ratio) ||
		 is_beyond(pool->bytes_written, FREE_BYTES, pool->bytes_read, pool->ratio));
	return !pool->spent;
}

bool tr_environments_are_spent(const struct tr_environments *pool)
{
	return pool->spent;
}

/* Appends one variable to a map. *before: the bracket or comma before it. */
static bool put_member(struct tr_environments *pool, struct tr_atom *name,
		       const struct tr_atom *value, bool hides, char *before, struct tr_buffer *to)
{
	unsigned verdict = 0;
	if (hides && !judge_name(pool, name, &verdict))
		return false;
	tr_buffer_put_byte(to, *before);
	*before = ',';
	tr_buffer_put_byte(to, '"');
	tr_buffer_put_text(to, tr_atom_text(name));
	tr_buffer_put_literal(to, "\":");
	if (!value)
		tr_buffer_put_literal(to, "null");
	else if (verdict & TR_NAME_HIDDEN)
		tr_buffer_put_literal(to, "\"***\"");
	else
		return tr_atom_put(&pool->atoms, value, to);
	return !to->failed;
}

/* Variables that are set come first, in the order of env; then removals, in the order of base. */
static int by_diff_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	if (!x->value[1] != !y->value[1])
		return x->value[1] ? -1 : 1;
	if (!x->value[1] && x->has[0] != y->has[0])
		return x->has[0] ? -1 : 1;
	int side = x->value[1] || !x->has[0];
	return (x->stamp[side] > y->stamp[side]) - (x->stamp[side] < y->stamp[side]);
}

/* Counts what was written, for the bound of tr_environments_limit. */
static void count_written(struct tr_environments *pool, uint64_t variables, size_t bytes)
{
	pool->variables_written += variables;
	pool->bytes_written += bytes;
}

/*
 * Appends the pairs that differ as a map, and sets their number. hides: values that the rules hide
 * are replaced.
 */
static enum tr_status put_differences(struct tr_environments *pool, bool open, bool hides,
				      struct tr_buffer *to, uint64_t *variables)
{
	char before = '{';
	size_t count = 0, begin = to->len;
	for (size_t i = 0; i < pool->pair_count; i++) {
		if (pair_differs(&pool->pairs[i], open))
			pool->pairs[count++] = pool->pairs[i];
	}
	if (count > 1)
		qsort(pool->pairs, count, sizeof *pool->pairs, by_diff_order);
	for (size_t i = 0; i < count; i++) {
		const struct pair *pair = &pool->pairs[i];
		/* a removed variable is spelled as in base */
		int side = pair->value[1] || !pair->has[0];
		if (!put_member(pool, pair->name[side], pair->value[1], hides, &before, to))
			return TR_FATAL;
	}
	if (!count)
		tr_buffer_put_byte(to, before);
	tr_buffer_put_byte(to, '}');
	if (to->failed)
		return TR_FATAL;
	count_written(pool, count, to->len - begin);
	*variables = count;
	return TR_OK;
}

/* The number by which texts are cached: what they are differences to, and whether they hide. */
static uint64_t written_key(const struct tr_environment *base, bool hides)
{
	return (base ? base->id : 0) << 1 | hides;
}

/* Appends the map of a difference as it was written before. False: it is not in the cache. */
static bool put_again(struct tr_environments *pool, const struct tr_environment *base,
		      const struct tr_environment *env, bool hides, struct tr_buffer *to)
{
	const struct tr_cached_text *known =
		tr_text_cache_find(&pool->written, written_key(base, hides), env->id);

	if (!known)
		return false;
	tr_buffer_put_text(to, known->text);
	count_written(pool, known->notes[0], known->text.len);
	return true;
}

/* Appends the pairs that differ, and keeps the text: many processes have equal environments. */
static enum tr_status put_new(struct tr_environments *pool, const struct tr_environment *base,
			      const struct tr_environment *env, bool hides, struct tr_buffer *to)
{
	size_t begin = to->len;
	uint64_t notes[2] = { 0, 0 };
	enum tr_status status = put_differences(pool, env->origin, hides, to, &notes[0]);

	if (status == TR_OK)
		tr_text_cache_put(&pool->written, written_key(base, hides), env->id,
				  tr_text_span(to->data + begin, to->data + to->len), notes);
	return status;
}

enum tr_status tr_environment_diff(struct tr_environments *pool, struct tr_environment *base,
				   struct tr_environment *env, struct tr_buffer *to)
{
	if ((base ? base->origin : NULL) != env->origin)
		return TR_END;
	if (put_again(pool, base, env, true, to))
		return to->failed ? TR_FATAL : TR_OK;
	begin_comparison(pool);
	if (base ? !add_differing_names(pool, env, base) : !add_environment(pool, env, 1))
		return TR_FATAL;
	if (base) {
		look_up_all(pool, env, 1);
		look_up_all(pool, base, 0);
	}
	/* a map cannot express that a variable becomes unknown */
	for (size_t i = 0; i < pool->pair_count && env->origin; i++) {
		if (pool->pairs[i].has[0] && !pool->pairs[i].has[1])
			return TR_END;
	}
	return put_new(pool, base, env, true, to);
}

/* Appends the known variables; hides: values that the rules hide become "***". */
static bool write_all(struct tr_environments *pool, struct tr_environment *env, bool hides,
		      struct tr_buffer *to)
{
	if (put_again(pool, NULL, env, hides, to))
		return !to->failed;
	begin_comparison(pool);
	return add_environment(pool, env, 1) && put_new(pool, NULL, env, hides, to) == TR_OK;
}

bool tr_environment_write(struct tr_environments *pool, struct tr_environment *env,
			  struct tr_buffer *to)
{
	return write_all(pool, env, true, to);
}

bool tr_environment_write_plain(struct tr_environments *pool, struct tr_environment *env,
				struct tr_buffer *to)
{
	return write_all(pool, env, false, to);
}

bool tr_environment_doubt(struct tr_environments *pool, struct tr_environment *base,
			  const struct tr_value *map, struct tr_environment_doubts *doubts)
{
	begin_comparison(pool);
	bool open = base && base->origin, fine = add_map(pool, map);
	if (fine)
		look_up_all(pool, base, 0);
	for (size_t i = 0; i < pool->named && fine; i++) {
		const struct pair *pair = &pool->pairs[i];
		if (pair->value[1])
			doubts->redundant += pair->value[0] == pair->value[1];
		else
			doubts->impossible += pair->has[0] ? !pair->value[0] : !open;
	}
	release_map(pool);
	return fine;
}
