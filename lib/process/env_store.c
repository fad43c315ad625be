/* SPDX-License-Identifier: MIT */
/*
 * A value of the map is a pointer to an environment, or 2n + 1 for an environment at offset n of
 * the temporary file, which has its length and its map as a literal.
 */
#include "process/env_store.h"

#include <string.h>

#include "record/literal.h"

enum { MAX_WEIGHT = 128 << 20 };

/* True if a value of the map is an offset: pointers are even. */
static bool is_spilled(const void *value)
{
	return (uintptr_t)value & 1;
}

/* The offset in a value that is spilled. */
static uint64_t offset_of(const void *value)
{
	return (uintptr_t)value >> 1;
}

/* The n bytes of the file from there. NULL: the pool has the error. */
static const char *look(struct tr_env_store *store, uint64_t at, size_t n)
{
	struct tr_error err;
	const char *bytes = tr_spool_look(store->spool, &store->window, at, n, &err);
	if (!bytes)
		tr_environments_fail(store->pool, &err);
	return bytes;
}

/* Reads the environment at that offset; the caller owns a reference. NULL: failed. */
static struct tr_environment *fetch(struct tr_env_store *store, uint64_t at)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_environment *env = NULL;
	const char *bytes = look(store, at, sizeof(size_t));
	size_t len = 0;
	if (bytes)
		memcpy(&len, bytes, sizeof len);
	bytes = bytes ? look(store, at + sizeof len, len) : NULL;
	const struct tr_value *map =
		bytes ? tr_literal_parse((struct tr_text){ bytes, len }, &arena, NULL) : NULL;
	if (map)
		env = tr_environment_whole(store->pool, NULL, map);
	tr_arena_free(&arena);
	return env;
}

/*
 * An environment that is read back stays in memory, so that the next child of its record finds it
 * there.
 */
struct tr_environment *tr_env_store_find(struct tr_env_store *store, uint64_t seq, bool *failed)
{
	void *value = tr_id_map_get(&store->known, seq);
	*failed = false;
	if (!is_spilled(value))
		return value;
	struct tr_environment *env = fetch(store, offset_of(value));
	*failed = !env || !tr_id_map_put(&store->known, seq, env);
	if (!*failed)
		return env;
	tr_environment_release(store->pool, env);
	return NULL;
}

/* Writes an environment to the file and sets *value to its offset. False: no space. */
static bool spill(struct tr_env_store *store, struct tr_environment *env, void **value)
{
	struct tr_buffer *text = &store->scratch;
	struct tr_error ignored;
	size_t len = 0;
	if (!store->spool)
		store->spool = tr_spool_new(store->max_spool);
	if (!store->spool)
		return false;
	uint64_t at = tr_spool_size(store->spool);
	tr_buffer_reset(text);
	tr_buffer_put(text, (const char *)&len, sizeof len);
	if (at > UINTPTR_MAX >> 1 || !tr_environment_write_plain(store->pool, env, text))
		return false;
	len = text->len - sizeof len;
	memcpy(text->data, &len, sizeof len);
	if (!tr_spool_write(store->spool, text->data, text->len, &ignored))
		return false;
	*value = (void *)(uintptr_t)(at << 1 | 1);
	return true;
}

/*
 * Counts the records of each environment, times two, because even values are not offsets. False:
 * memory is exhausted.
 */
static bool count_holders(const struct tr_id_map *known, struct tr_id_map *holders)
{
	for (size_t i = 0; i < known->cap; i++) {
		void *env = known->slots[i].value;
		if (!env || is_spilled(env))
			continue;
		uintptr_t count = (uintptr_t)tr_id_map_get(holders, (uintptr_t)env);
		if (!tr_id_map_put(holders, (uintptr_t)env, (void *)(count + 2)))
			return false;
	}
	return true;
}

/*
 * Moves the environments that only this store refers to into the file. *any: some were moved.
 * False: there is no more space.
 */
static bool spill_all(struct tr_env_store *store, bool *any)
{
	struct tr_id_map *known = &store->known, holders = TR_ID_MAP_INIT;
	bool fine = count_holders(known, &holders);
	for (size_t i = 0; i < known->cap && fine; i++) {
		struct tr_environment *env = known->slots[i].value;
		if (!env || is_spilled(env) || !tr_environment_is_whole(env))
			continue;
		/* its offset, if another record of it came first */
		void *value = tr_id_map_get(&holders, (uintptr_t)env);
		if (!is_spilled(value)) {
			if (tr_environment_references(env) != (uintptr_t)value / 2)
				continue;
			fine = spill(store, env, &value) &&
			       tr_id_map_put(&holders, (uintptr_t)env, value);
			if (!fine)
				break;
		}
		known->slots[i].value = value;
		tr_environment_release(store->pool, env);
		*any = true;
	}
	tr_id_map_free(&holders);
	return fine;
}

/* Spills repeatedly, because an environment that is a difference keeps a reference to its base. */
static void spill_if_heavy(struct tr_env_store *store)
{
	size_t max = store->max_weight ? store->max_weight : MAX_WEIGHT;
	bool any = true, fine = true;
	if (!store->spill_at)
		store->spill_at = max;
	if (!store->max_spool || tr_environments_weight(store->pool) < store->spill_at)
		return;
	while (fine && any && tr_environments_weight(store->pool) > max / 2) {
		any = false;
		fine = spill_all(store, &any);
	}
	/* the next attempt has to be worth its time; after a failure there is none */
	size_t weight = tr_environments_weight(store->pool);
	store->spill_at = !fine ? SIZE_MAX : 2 * weight > max ? 2 * weight : max;
}

/* Of several records with one seq, the last counts for those that follow. */
bool tr_env_store_put(struct tr_env_store *store, uint64_t seq, struct tr_environment *env)
{
	void *old = tr_id_map_get(&store->known, seq);
	if (!tr_id_map_put(&store->known, seq, env))
		return false;
	tr_environment_retain(env);
	if (!is_spilled(old))
		tr_environment_release(store->pool, old);
	spill_if_heavy(store);
	return true;
}

void tr_env_store_free(struct tr_env_store *store)
{
	size_t position = 0;
	void *value;
	while ((value = tr_id_map_next(&store->known, &position))) {
		if (!is_spilled(value))
			tr_environment_release(store->pool, value);
	}
	tr_id_map_free(&store->known);
	tr_spool_free(store->spool);
	store->spool = NULL;
	tr_buffer_free(&store->scratch);
	tr_buffer_free(&store->window.bytes);
	store->window.at = 0;
	store->spill_at = 0;
}
