/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow: items are allocated with malloc(3), count says how many are in use and cap how
 * many there is room for. An empty array is NULL, 0, 0. free(3) it.
 */
#ifndef TR_CORE_ARRAY_H
#define TR_CORE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for one more item. items is a pointer variable, cap a size_t variable; both are
 * changed. False: memory is exhausted, and the array is as it was.
 */
#define tr_array_room(items, count, cap) \
	((count) < (cap) || tr_array_grow(&(items), &(cap), (count) + 1, sizeof *(items)))

/* As above, for a total of needed items, at least doubled. items is the address of the pointer. */
bool tr_array_grow(void *items, size_t *cap, size_t needed, size_t item_size);

#endif
