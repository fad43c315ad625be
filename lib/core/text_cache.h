/* SPDX-License-Identifier: MIT */
/*
 * A cache of texts that are often made from the same data, which two numbers identify. Texts are
 * dropped to bound its memory, or if memory is exhausted. Not thread safe.
 */
#ifndef TR_CORE_TEXT_CACHE_H
#define TR_CORE_TEXT_CACHE_H

#include <stdint.h>

#include "core/text.h"

struct tr_cached_text {
	uint64_t a, b; /* the numbers */
	struct tr_text text;
	uint64_t notes[2]; /* what the caller keeps with the text */
};

struct tr_text_cache {
	struct tr_cached_text *slots; /* NULL until the first text */
	size_t bytes;		      /* of all texts */
};

#define TR_TEXT_CACHE_INIT \
	{ \
		NULL, 0 \
	}

/* Returns the text for two numbers, valid until the next put. NULL: it is not in the cache. */
const struct tr_cached_text *tr_text_cache_find(const struct tr_text_cache *cache, uint64_t a,
						uint64_t b);

/* Copies a text into the cache, unless it is large. notes may be NULL. */
void tr_text_cache_put(struct tr_text_cache *cache, uint64_t a, uint64_t b, struct tr_text text,
		       const uint64_t notes[2]);

/* Frees all texts. The cache can be used again. */
void tr_text_cache_free(struct tr_text_cache *cache);

#endif
