/* SPDX-License-Identifier: MIT */
#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "core/buffer.h"

#include "tap.h"

static void arrays(void)
{
	uint16_t *items = NULL;
	size_t count = 0, cap = 0;
	bool fine = true;

	for (; count < 1000 && fine; count++) {
		fine = tr_array_room(items, count, cap) && cap > count;
		if (fine)
			items[count] = (uint16_t)count;
	}
	ok(fine && items[0] == 0 && items[16] == 16 && items[999] == 999,
	   "an array keeps its items where it grows");
	ok(cap == 1024, "it doubles");
	uint16_t *before = items;
	ok(tr_array_grow(&items, &cap, 1024, sizeof *items) && items == before && cap == 1024,
	   "it grows no sooner than it has to");
	ok(tr_array_grow(&items, &cap, 5000, sizeof *items) && cap == 5000 && items[999] == 999,
	   "it grows to what is needed");
	before = items;
	ok(!tr_array_grow(&items, &cap, SIZE_MAX / 2, sizeof *items) && items == before &&
		   cap == 5000,
	   "an absurd size leaves it as it was");
	free(items);
}

int main(void)
{
	arrays();
	struct tr_arena arena = TR_ARENA_INIT;
	char *a = tr_arena_alloc(&arena, 3);
	char *b = tr_arena_alloc(&arena, 5);
	ok(a && b && b >= a + 3, "allocations do not overlap");
	ok((uintptr_t)b % 16 == 0, "allocations are aligned");
	ok(tr_arena_alloc(&arena, SIZE_MAX) == NULL, "an absurd size gives NULL");

	struct tr_text copy = tr_arena_copy(&arena, TR_TEXT("trace"));
	ok(tr_text_is(copy, "trace"), "copies text");

	char *large = tr_arena_alloc(&arena, 3 << 20);
	ok(large != NULL, "takes what is larger than a block");
	memset(large, 7, 3 << 20);
	tr_arena_reset(&arena);
	ok(arena.blocks != NULL, "keeps a block over a reset");
	ok(tr_arena_alloc(&arena, 100) != NULL, "an arena can be used after a reset");
	tr_arena_free(&arena);
	ok(arena.blocks == NULL, "gives all back");
	return done_testing();
}
