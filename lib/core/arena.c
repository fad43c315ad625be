/* SPDX-License-Identifier: MIT */
/*
 * The blocks of an arena. A reset keeps the largest one for the next record.
 */
#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_BLOCK = 16 << 10, POPULATED_BLOCK = 64 << 10, KEPT_BLOCK = 1 << 20 };

struct tr_arena_block {
	_Alignas(16) struct tr_arena_block *next;
	size_t size; /* usable bytes after this header */
};

/* The bytes after the header stay aligned to 16. */
_Static_assert(sizeof(struct tr_arena_block) % 16 == 0, "block header breaks alignment");

/* Returns the bytes after the header of a block. */
static char *block_bytes(struct tr_arena_block *block)
{
	return (char *)(block + 1);
}

/*
 * Makes the system provide the pages of a block in one call. All of the block will be used soon,
 * and if an arena grows by many blocks, page faults would take a tenth of the time. Older systems
 * cannot.
 */
static void populate(void *block, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)block % page;
	size_t skipped = before ? page - before : 0;

	if (size > skipped + page)
		(void)madvise((char *)block + skipped, (size - skipped) / page * page,
			      MADV_POPULATE_WRITE);
#else
	(void)block;
	(void)size;
#endif
}

/*
 * The sizes of blocks double up to KEPT_BLOCK and then begin again with FIRST_BLOCK, or with what
 * the allocation needs.
 */
void *tr_arena_grow(struct tr_arena *arena, size_t size, size_t room)
{
	size_t want = FIRST_BLOCK;
	if (arena->blocks && arena->blocks->size <= KEPT_BLOCK / 2)
		want = arena->blocks->size * 2;
	if (want < room)
		want = room;
	if (want > PTRDIFF_MAX - sizeof(struct tr_arena_block))
		return NULL;
	/* written without a sum, which could overflow */
	if (arena->limit && (want > arena->limit || arena->held > arena->limit - want)) {
		arena->limited = true;
		return NULL;
	}
	struct tr_arena_block *block = malloc(sizeof *block + want);
	if (!block)
		return NULL;
	if (want >= POPULATED_BLOCK && want <= KEPT_BLOCK)
		populate(block, want);
	block->next = arena->blocks;
	block->size = want;
	arena->blocks = block;
	arena->held += want;
	arena->grown = true;
	arena->pos = block_bytes(block) + room;
	arena->end = block_bytes(block) + want;
	tr_arena_close(block_bytes(block) + size, want - size);
	return block_bytes(block);
}

struct tr_text tr_arena_copy(struct tr_arena *arena, struct tr_text t)
{
	char *copy = tr_arena_alloc(arena, t.len);
	if (!copy)
		return (struct tr_text){ NULL, 0 };
	if (t.len)
		memcpy(copy, t.data, t.len);
	return (struct tr_text){ copy, t.len };
}

/*
 * Frees all blocks but the largest that may be kept: a stream of similar records then needs no
 * more malloc.
 */
void tr_arena_shrink(struct tr_arena *arena)
{
	struct tr_arena_block *kept = NULL;
	for (struct tr_arena_block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		if (block->size > KEPT_BLOCK || (kept && block->size <= kept->size)) {
			free(block);
		} else {
			free(kept);
			kept = block;
		}
	}
	arena->blocks = kept;
	arena->grown = false;
	arena->empty = arena->end = NULL;
	arena->held = kept ? kept->size : 0;
	if (kept) {
		kept->next = NULL;
		arena->empty = block_bytes(kept);
		arena->end = arena->empty + kept->size;
		tr_arena_close(arena->empty, kept->size);
	}
	arena->pos = arena->empty;
}

void tr_arena_free(struct tr_arena *arena)
{
	for (struct tr_arena_block *block = arena->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	size_t limit = arena->limit;
	*arena = (struct tr_arena)TR_ARENA_INIT;
	arena->limit = limit;
}

void tr_arena_limit(struct tr_arena *arena, uint64_t max_record)
{
	enum { BOOKKEEPING = 1 << 20 };

	arena->limit =
		max_record < PTRDIFF_MAX - BOOKKEEPING ? (size_t)max_record + BOOKKEEPING : 0;
}

static const char over_limit[] =
	"once decoded, it takes more than %zu bytes of memory (--max-record raises it)";

/* A limit is reported once; if err is NULL, it is reported by the next call. */
enum tr_status tr_arena_error(struct tr_arena *arena, struct tr_error *err)
{
	if (!arena->limited)
		return tr_error_memory(err);
	arena->limited = !err;
	tr_error_set(err, TR_CAUSE_LIMIT, over_limit, arena->limit);
	return TR_FATAL;
}

void tr_arena_defer(struct tr_arena *arena, const struct tr_error *err)
{
	if (err->cause == TR_CAUSE_LIMIT && err->pattern == over_limit)
		arena->limited = true;
}
