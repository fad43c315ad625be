/* SPDX-License-Identifier: MIT */
/*
 * A heap: a queue from which the item with the least key is taken first. Of equal keys, the one
 * with the lower `order` is less; if that is unique, the result does not depend on the heap.
 */
#ifndef TR_CORE_HEAP_H
#define TR_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"

struct tr_heap_item {
	int64_t key;
	uint64_t order;
	void *value;
};

/* All zero at first; the user frees items. */
struct tr_heap {
	struct tr_heap_item *items; /* the first is the least */
	size_t count, cap;
};

static inline bool tr_heap_before(const struct tr_heap_item *a, const struct tr_heap_item *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* False: memory is exhausted. */
static inline bool tr_heap_push(struct tr_heap *heap, struct tr_heap_item item)
{
	if (!tr_array_room(heap->items, heap->count, heap->cap))
		return false;
	size_t i = heap->count++;
	for (; i && tr_heap_before(&item, &heap->items[(i - 1) / 2]); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = item;
	return true;
}

/* Takes the least item and puts another in its place. The heap is not empty. */
static inline struct tr_heap_item tr_heap_replace(struct tr_heap *heap, struct tr_heap_item item)
{
	struct tr_heap_item least = heap->items[0];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
		if (child + 1 < heap->count &&
		    tr_heap_before(&heap->items[child + 1], &heap->items[child]))
			child++;
		if (!tr_heap_before(&heap->items[child], &item))
			break;
		heap->items[i] = heap->items[child];
	}
	heap->items[i] = item;
	return least;
}

/* Takes the least item. The heap is not empty. */
static inline struct tr_heap_item tr_heap_pop(struct tr_heap *heap)
{
	struct tr_heap_item last = heap->items[--heap->count];

	return heap->count ? tr_heap_replace(heap, last) : last;
}

#endif
