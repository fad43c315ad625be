/* SPDX-License-Identifier: MIT */
/* The numbers that a map of recent ones keeps, whatever the distance between them. */
#include "process/recent.h"

#include "tap.h"

enum { KEPT = 131072, FEW = KEPT / 8 };

/* Puts that many numbers with a distance, and returns how many of the last `kept` are found. */
static size_t found(uint64_t first, uint64_t distance, size_t count, size_t kept)
{
	struct tr_recent recent = TR_RECENT_INIT;
	size_t found = 0;

	for (size_t i = 0; i < count; i++)
		tr_recent_put(&recent, first + i * distance, i + 1);
	for (size_t i = count - kept; i < count; i++) {
		uint64_t value = 0;
		found += tr_recent_find(&recent, first + i * distance, &value) && value == i + 1;
	}
	tr_recent_free(&recent);
	return found;
}

int main(void)
{
	ok(found(0, 1, 3 * KEPT, KEPT) > KEPT / 100 * 99, "the last numbers are kept");
	ok(found(4567, 1, 2 * KEPT, KEPT) > KEPT / 100 * 99, "of others, too");
	ok(found(UINT64_MAX - KEPT, 1, KEPT, KEPT) > KEPT / 100 * 99, "and the largest ones");
	for (unsigned bits = 1; bits < 48; bits++)
		ok(found(0, UINT64_C(1) << bits, FEW, FEW) > FEW / 10 * 9,
		   "nearly all of fewer with a distance of 2^%u are kept", bits);
	return done_testing();
}
