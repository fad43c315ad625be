/* SPDX-License-Identifier: MIT */

#include "core/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ITEMS = 16 };

bool tr_array_grow(void *items, size_t *cap, size_t needed, size_t item_size)
{
	void *old, *larger;
	size_t count = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;

	if (needed <= *cap)
		return true;
	if (count < FIRST_ITEMS)
		count = FIRST_ITEMS;
	if (count < needed)
		count = needed;
	if (count > PTRDIFF_MAX / item_size)
		return false;
	/* pointers to all types of objects look alike, but only char may alias them */
	memcpy(&old, items, sizeof old);
	larger = realloc(old, count * item_size);
	if (!larger)
		return false;
	memcpy(items, &larger, sizeof larger);
	*cap = count;
	return true;
}
