/* SPDX-License-Identifier: MIT */
/*
 * Bump allocation for data that lives as long as one record.
 *
 *	tr_arena_alloc, tr_arena_copy -> record -> tr_arena_reset
 *
 * Single allocations are never freed. tr_arena_reset drops all of them and keeps the largest
 * block, so after a few records a stream needs no more calls of malloc. An arena belongs to its
 * declarer and is freed with tr_arena_free. Not thread safe; one arena belongs to one reader.
 */
#ifndef TR_CORE_ARENA_H
#define TR_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

/*
 * With AddressSanitizer, an allocation can be used only until the next reset, and the bytes between
 * two allocations cannot be used. This finds pointers that are kept for too long and indices that
 * are too large, which would read the bytes of another allocation.
 */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define TR_ARENA_GUARDED
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined TR_ARENA_GUARDED
#include <sanitizer/asan_interface.h>
#define TR_ARENA_GAP 16
#define tr_arena_open(p, size) ASAN_UNPOISON_MEMORY_REGION(p, size)
#define tr_arena_close(p, size) ASAN_POISON_MEMORY_REGION(p, size)
#else
#define TR_ARENA_GAP 0
#define tr_arena_open(p, size) ((void)(p), (void)(size))
#define tr_arena_close(p, size) ((void)(p), (void)(size))
#endif

struct tr_arena_block;

struct tr_arena {
	char *pos, *end; /* free bytes of the newest block */
	struct tr_arena_block *blocks;
	char *empty;	    /* the value of pos while nothing is allocated */
	bool grown;	    /* set after a new block was allocated since the last reset */
	bool limited;	    /* an allocation failed because of the limit */
	size_t held, limit; /* bytes in all blocks, and their maximum; 0: unlimited */
};

#define TR_ARENA_INIT \
	{ \
		NULL, NULL, NULL, NULL, false, false, 0, 0 \
	}

/* The slow path of tr_arena_alloc, which callers use instead. `room` includes the alignment. */
void *tr_arena_grow(struct tr_arena *arena, size_t size, size_t room);

/* Allocates size bytes (0 is allowed), aligned to 16, not initialised. NULL: out of memory. */
static inline void *tr_arena_alloc(struct tr_arena *arena, size_t size)
{
	if (size > PTRDIFF_MAX - 15 - TR_ARENA_GAP)
		return NULL;
	size_t room = (size + !size + 15 + TR_ARENA_GAP) & ~(size_t)15;
	if (room <= (size_t)(arena->end - arena->pos)) {
		char *result = arena->pos;
		arena->pos += room;
		tr_arena_open(result, size);
		return result;
	}
	return tr_arena_grow(arena, size, room);
}

/* Copies t into the arena. data is NULL when memory is exhausted. */
struct tr_text tr_arena_copy(struct tr_arena *arena, struct tr_text t);

/* The slow path of tr_arena_reset, which callers use instead. */
void tr_arena_shrink(struct tr_arena *arena);

static inline bool tr_arena_is_empty(const struct tr_arena *arena)
{
	return arena->pos == arena->empty;
}

/* Drops every allocation. Frees all blocks but the largest, and any block above 1 MiB. */
static inline void tr_arena_reset(struct tr_arena *arena)
{
	if (arena->grown) {
		tr_arena_shrink(arena);
		return;
	}
	tr_arena_close(arena->empty, (size_t)(arena->pos - arena->empty));
	arena->pos = arena->empty;
}

/*
 * Limits the arena to the memory that --max-record allows for one decoded record, plus some
 * bookkeeping. A decoded value takes many times the bytes of a short spelling.
 */
void tr_arena_limit(struct tr_arena *arena, uint64_t max_record);

/*
 * Fills err after an allocation failed: with the limit, or with exhausted memory. Returns TR_FATAL.
 * If err is NULL, the limit stays to be reported later, as after tr_arena_defer.
 */
enum tr_status tr_arena_error(struct tr_arena *arena, struct tr_error *err);

/*
 * Keeps an error that a caller drops because the value counts as absent. If the error was the
 * limit, the reader of the records reports it before it reads the next record.
 */
void tr_arena_defer(struct tr_arena *arena, const struct tr_error *err);

/* Frees all memory. The arena is empty and usable afterwards, and keeps its limit. */
void tr_arena_free(struct tr_arena *arena);

#endif
