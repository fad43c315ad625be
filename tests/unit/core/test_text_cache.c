/* SPDX-License-Identifier: MIT */
#include "core/text_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* Counts the texts that the cache has; none of them may be wrong. */
static unsigned count_found(const struct tr_text_cache *cache, unsigned texts, bool *right)
{
	unsigned found = 0;
	for (unsigned i = 0; i < texts; i++) {
		char text[16];
		snprintf(text, sizeof text, "%u", i);
		const struct tr_cached_text *known = tr_text_cache_find(cache, i % 61, i * i);
		found += known != NULL;
		*right &= !known || (tr_text_is(known->text, text) && known->notes[1] == i);
	}
	return found;
}

int main(void)
{
	enum { TEXTS = 5000, LARGE = 32 << 10, BOUND = 2 << 20 };
	struct tr_text_cache cache = TR_TEXT_CACHE_INIT;
	const struct tr_cached_text *known;
	bool right = true;

	ok(!tr_text_cache_find(&cache, 1, 2), "empty at first");
	tr_text_cache_put(&cache, 1, 2, TR_TEXT(""), NULL);
	known = tr_text_cache_find(&cache, 1, 2);
	ok(known && !known->text.len && !known->notes[0], "an empty text is a text");
	ok(!tr_text_cache_find(&cache, 2, 1), "the order of the numbers counts");
	tr_text_cache_put(&cache, 1, 2, TR_TEXT("new"), NULL);
	known = tr_text_cache_find(&cache, 1, 2);
	ok(known && tr_text_is(known->text, "new"), "the last one put counts");

	tr_text_cache_free(&cache);
	ok(!tr_text_cache_find(&cache, 1, 2) && !cache.bytes, "after free it is empty");
	for (unsigned i = 0; i < TEXTS; i++) {
		char text[16];
		snprintf(text, sizeof text, "%u", i);
		tr_text_cache_put(&cache, i % 61, i * i, tr_text_from(text),
				  (const uint64_t[2]){ 0, i });
	}
	unsigned found = count_found(&cache, TEXTS, &right);
	ok(right && found > 512 && found <= 1024, "%u of %d texts are there, none is wrong", found,
	   TEXTS);

	char *large = malloc(LARGE + 1);
	if (!large)
		return 1;
	memset(large, 'x', LARGE + 1);
	tr_text_cache_put(&cache, 9, 9, (struct tr_text){ large, LARGE + 1 }, NULL);
	ok(!tr_text_cache_find(&cache, 9, 9), "a large text is not kept");
	size_t most = 0;
	for (unsigned i = 0; i < TEXTS; i++) {
		tr_text_cache_put(&cache, i, 0, (struct tr_text){ large, LARGE }, NULL);
		most = cache.bytes > most ? cache.bytes : most;
		right &= tr_text_cache_find(&cache, i, 0) != NULL;
	}
	ok(right && most <= BOUND, "the bytes are bounded, and the last text is there");
	free(large);
	tr_text_cache_free(&cache);
	return done_testing();
}
