#include "core/arena.h"

#include <stdint.h>

#include "tap.h"

int main(void)
{
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
	ok(tr_arena_alloc(&arena, 100) != NULL, "goes on after a reset");
	tr_arena_free(&arena);
	ok(arena.blocks == NULL, "gives all back");
	return done_testing();
}
