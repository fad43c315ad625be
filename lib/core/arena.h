/* SPDX-License-Identifier: MIT */
/*
 * Bump allocation for what lives as long as one record. Nothing is freed
 * alone; tr_arena_reset forgets all of it and keeps the largest block, so a
 * stream of records settles into no calls of malloc at all.
 * Not thread safe; one arena belongs to one reader.
 */
#ifndef TR_CORE_ARENA_H
#define TR_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/text.h"

struct tr_arena_block;

struct tr_arena {
	char *pos, *end; /* free bytes of the newest block */
	struct tr_arena_block *blocks;
	char *empty;	    /* the value of pos while nothing is allocated */
	bool grown;	    /* blocks came since the last reset: it has to look at them */
	bool limited;	    /* an allocation failed because of the limit */
	size_t held, limit; /* bytes of all blocks; at most this many, 0: any number */
};

#define TR_ARENA_INIT \
	{ \
		NULL, NULL, NULL, NULL, false, false, 0, 0 \
	}

/* Slow path of tr_arena_alloc. Use that. */
void *tr_arena_grow(struct tr_arena *arena, size_t size);

/* 16-byte aligned, uninitialised; NULL when memory is out. size 0 is fine. */
static inline void *tr_arena_alloc(struct tr_arena *arena, size_t size)
{
	if (size > PTRDIFF_MAX - 15)
		return NULL;
	size = (size + !size + 15) & ~(size_t)15;
	if (size <= (size_t)(arena->end - arena->pos)) {
		char *result = arena->pos;
		arena->pos += size;
		return result;
	}
	return tr_arena_grow(arena, size);
}

/* A copy of t that lives as long as the arena's content; data NULL when memory is out. */
struct tr_text tr_arena_copy(struct tr_arena *arena, struct tr_text t);

/* Slow path of tr_arena_reset. Use that. */
void tr_arena_shrink(struct tr_arena *arena);

static inline bool tr_arena_is_empty(const struct tr_arena *arena)
{
	return arena->pos == arena->empty;
}

/* Forgets every allocation. Blocks beyond the largest, and any above 1 MiB, go back. */
static inline void tr_arena_reset(struct tr_arena *arena)
{
	if (arena->grown)
		tr_arena_shrink(arena);
	else
		arena->pos = arena->empty;
}

/*
 * Limits the arena to what --max-record allows for a decoded record, and a
 * little for bookkeeping. Decoded values take many times the bytes of short ones.
 */
void tr_arena_limit(struct tr_arena *arena, uint64_t max_record);

/*
 * Fills err after an allocation failed: with the limit, or memory is out. Returns TR_FATAL.
 * Where err is NULL the limit is still to be reported, as after tr_arena_defer.
 */
enum tr_status tr_arena_error(struct tr_arena *arena, struct tr_error *err);

/*
 * Takes back an error that is dropped because a value counts as absent. If it was the limit, the
 * reader of the records reports it before it reads the next one.
 */
void tr_arena_defer(struct tr_arena *arena, const struct tr_error *err);

/* Gives all memory back; the arena is empty and usable afterwards, its limit stays. */
void tr_arena_free(struct tr_arena *arena);

#endif
