/* SPDX-License-Identifier: MIT */
/*
 * Which record has which environment. When all of them take much memory, those
 * that nobody but this table holds go to a temporary file: a record's children
 * may come at any time, but most have come.
 *
 * The value of a record is its environment, or 2n + 1 for one that stands at n
 * in the file: its length, and its map as a literal.
 */
#include "process/lineage_private.h"

#include "record/literal.h"

enum { MAX_WEIGHT = 128 << 20 };

static bool is_parked(const void *value)
{
	return (uintptr_t)value & 1;
}

static uint64_t place_of(const void *value)
{
	return (uintptr_t)value >> 1;
}

/* The next n bytes of the file. NULL: the reason is set. */
static const char *look(struct tr_lineage *lineage, uint64_t at, size_t n)
{
	struct tr_error err;
	const char *bytes = tr_spool_look(lineage->parked, &lineage->window, at, n, &err);
	if (!bytes)
		tr_environments_fail(lineage->pool, &err);
	return bytes;
}

/* The environment at that place of the file; the caller owns a reference. NULL: it failed. */
static struct tr_environment *fetch(struct tr_lineage *lineage, uint64_t at)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_environment *env = NULL;
	const char *bytes = look(lineage, at, sizeof(size_t));
	size_t len = 0;
	if (bytes)
		memcpy(&len, bytes, sizeof len);
	bytes = bytes ? look(lineage, at + sizeof len, len) : NULL;
	const struct tr_value *map =
		bytes ? tr_literal_parse((struct tr_text){ bytes, len }, &arena, NULL) : NULL;
	if (map)
		env = tr_environment_whole(lineage->pool, NULL, map);
	tr_arena_free(&arena);
	return env;
}

struct tr_environment *tr_lineage_find(struct tr_lineage *lineage, uint64_t seq, bool *failed)
{
	void *value = tr_id_map_get(&lineage->known, seq);
	*failed = false;
	if (!is_parked(value))
		return value;
	struct tr_environment *env = fetch(lineage, place_of(value));
	*failed = !env || !tr_id_map_put(&lineage->known, seq, env);
	if (!*failed)
		return env;
	tr_environment_release(lineage->pool, env);
	return NULL;
}

/* Writes it to the file; *value is what stands for it then. False: there is no room. */
static bool park(struct tr_lineage *lineage, struct tr_environment *env, void **value)
{
	struct tr_buffer *text = &lineage->scratch;
	struct tr_error ignored;
	size_t len = 0;
	if (!lineage->parked)
		lineage->parked = tr_spool_new(lineage->config.max_spool);
	if (!lineage->parked)
		return false;
	uint64_t at = tr_spool_size(lineage->parked);
	tr_buffer_reset(text);
	tr_buffer_put(text, (const char *)&len, sizeof len);
	if (at > UINTPTR_MAX >> 1 || !tr_environment_write_plain(lineage->pool, env, text))
		return false;
	len = text->len - sizeof len;
	memcpy(text->data, &len, sizeof len);
	if (!tr_spool_write(lineage->parked, text->data, text->len, &ignored))
		return false;
	*value = (void *)(uintptr_t)(at << 1 | 1);
	return true;
}

/* How many records hold each environment, as 2n. False: memory. */
static bool count_holders(const struct tr_id_map *known, struct tr_id_map *holders)
{
	for (size_t i = 0; i < known->cap; i++) {
		void *env = known->slots[i].value;
		if (!env || is_parked(env))
			continue;
		uintptr_t count = (uintptr_t)tr_id_map_get(holders, (uintptr_t)env);
		if (!tr_id_map_put(holders, (uintptr_t)env, (void *)(count + 2)))
			return false;
	}
	return true;
}

/* Parks what only records hold. *any: some was. False: no more can be. */
static bool park_all(struct tr_lineage *lineage, bool *any)
{
	struct tr_id_map *known = &lineage->known, holders = TR_ID_MAP_INIT;
	bool fine = count_holders(known, &holders);
	for (size_t i = 0; i < known->cap && fine; i++) {
		struct tr_environment *env = known->slots[i].value;
		if (!env || is_parked(env) || !tr_environment_is_whole(env))
			continue;
		/* what stands for it now, where another record came to it first */
		void *value = tr_id_map_get(&holders, (uintptr_t)env);
		if (!is_parked(value)) {
			if (tr_environment_references(env) != (uintptr_t)value / 2)
				continue;
			fine = park(lineage, env, &value) &&
			       tr_id_map_put(&holders, (uintptr_t)env, value);
			if (!fine)
				break;
		}
		known->slots[i].value = value;
		tr_environment_release(lineage->pool, env);
		*any = true;
	}
	tr_id_map_free(&holders);
	return fine;
}

/* A light environment holds the one that it is a difference to: one goes after the other. */
static void relieve(struct tr_lineage *lineage)
{
	size_t max = lineage->config.max_weight ? lineage->config.max_weight : MAX_WEIGHT;
	bool any = true, fine = true;
	if (!lineage->park_at)
		lineage->park_at = max;
	if (!lineage->config.max_spool || tr_environments_weight(lineage->pool) < lineage->park_at)
		return;
	while (fine && any && tr_environments_weight(lineage->pool) > max / 2) {
		any = false;
		fine = park_all(lineage, &any);
	}
	/* what has to stay is not looked through again and again; without room, never */
	size_t weight = tr_environments_weight(lineage->pool);
	lineage->park_at = !fine ? SIZE_MAX : 2 * weight > max ? 2 * weight : max;
}

bool tr_lineage_remember(struct tr_lineage *lineage, uint64_t seq, struct tr_environment *env)
{
	void *old = tr_id_map_get(&lineage->known, seq);
	if (!tr_id_map_put(&lineage->known, seq, env))
		return false;
	tr_environment_retain(env);
	if (!is_parked(old))
		tr_environment_release(lineage->pool, old);
	relieve(lineage);
	return true;
}

void tr_lineage_forget(struct tr_lineage *lineage)
{
	size_t position = 0;
	void *value;
	while ((value = tr_id_map_next(&lineage->known, &position))) {
		if (!is_parked(value))
			tr_environment_release(lineage->pool, value);
	}
	tr_id_map_free(&lineage->known);
	tr_spool_free(lineage->parked);
	lineage->parked = NULL;
	tr_buffer_free(&lineage->window.bytes);
	lineage->window.at = 0;
	lineage->park_at = 0;
}
