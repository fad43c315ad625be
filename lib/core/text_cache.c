/* SPDX-License-Identifier: MIT */
/*
 * Each pair of numbers has one slot, which contains the text that was put last. When all texts
 * together exceed the bound, all are dropped; those that are still needed are soon added again.
 */
#include "core/text_cache.h"

#include <stdlib.h>
#include <string.h>

#include "core/map.h"

enum { SLOT_BITS = 10, MAX_TEXT = 32 << 10, MAX_BYTES = 2 << 20 };

static size_t slot_of(uint64_t a, uint64_t b)
{
	return (size_t)(tr_number_hash(tr_number_hash(0, a), b) >> (64 - SLOT_BITS));
}

const struct tr_cached_text *tr_text_cache_find(const struct tr_text_cache *cache, uint64_t a,
						uint64_t b)
{
	if (!cache->slots)
		return NULL;
	const struct tr_cached_text *slot = &cache->slots[slot_of(a, b)];
	return slot->text.data && slot->a == a && slot->b == b ? slot : NULL;
}

void tr_text_cache_put(struct tr_text_cache *cache, uint64_t a, uint64_t b, struct tr_text text,
		       const uint64_t notes[2])
{
	if (text.len > MAX_TEXT)
		return;
	if (cache->bytes + text.len > MAX_BYTES)
		tr_text_cache_free(cache);
	if (!cache->slots)
		cache->slots = calloc((size_t)1 << SLOT_BITS, sizeof *cache->slots);
	char *copy = cache->slots ? malloc(text.len + 1) : NULL;
	if (!copy)
		return;
	if (text.len)
		memcpy(copy, text.data, text.len);
	struct tr_cached_text *slot = &cache->slots[slot_of(a, b)];
	cache->bytes += text.len - slot->text.len;
	free((char *)slot->text.data);
	*slot = (struct tr_cached_text){ a, b, { copy, text.len }, { 0, 0 } };
	if (notes)
		memcpy(slot->notes, notes, sizeof slot->notes);
}

void tr_text_cache_free(struct tr_text_cache *cache)
{
	for (size_t i = 0; cache->slots && i < (size_t)1 << SLOT_BITS; i++)
		free((char *)cache->slots[i].text.data);
	free(cache->slots);
	*cache = (struct tr_text_cache)TR_TEXT_CACHE_INIT;
}
