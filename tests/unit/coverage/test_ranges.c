/* SPDX-License-Identifier: MIT */
/* Ranges against the rule in its plainest form: gnatcov's, with a list and recursion. */
#include "coverage/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "coverage/block.h"
#include "tap.h"

enum { MOST = 4096 };

static struct tr_range plain[MOST];
static size_t plain_count;

static void plain_insert(struct tr_range range)
{
	size_t at = plain_count++;
	for (; at > 0 && plain[at - 1].first > range.first; at--)
		plain[at] = plain[at - 1];
	plain[at] = range;
}

static void plain_add(uint64_t first, uint64_t last, uint8_t op)
{
	size_t found = plain_count;
	for (size_t i = 0; i < plain_count; i++)
		if (plain[i].first <= last && plain[i].last >= first)
			found = i;
	if (found == plain_count) {
		plain_insert((struct tr_range){ first, last, op });
		return;
	}
	struct tr_range old = plain[found];
	if (!(op & (TR_EXEC_BLOCK | TR_EXEC_FAULT))) {
		plain[found].op |= op;
		return;
	}
	memmove(plain + found, plain + found + 1, (--plain_count - found) * sizeof *plain);
	uint64_t low = first > old.first ? first : old.first;
	uint64_t high = last < old.last ? last : old.last;
	if (old.first < low)
		plain_insert((struct tr_range){ old.first, low - 1, old.op });
	plain_insert((struct tr_range){ low, high, old.op | op });
	if (old.last > high)
		plain_insert((struct tr_range){ high + 1, old.last, old.op });
	if (first < low)
		plain_add(first, low - 1, op);
	if (last > high)
		plain_add(high + 1, last, op);
}

static bool same(const struct tr_ranges *ranges)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;
	size_t count = 0;
	while (tr_ranges_next(ranges, &position, &range)) {
		if (count == plain_count || range.first != plain[count].first ||
		    range.last != plain[count].last || range.op != plain[count].op)
			return false;
		count++;
	}
	return count == plain_count;
}

/*
 * Begins both sets. used: with a range far from all others that was added so often that the set
 * remembers ranges now. False: memory is exhausted.
 */
static bool begin(struct tr_ranges **ranges, bool used)
{
	static const struct tr_range far = { UINT64_C(1) << 40, UINT64_C(1) << 40, 0x10 };
	bool good = (*ranges = tr_ranges_new()) != NULL;

	plain_count = 0;
	if (used)
		plain_insert(far);
	for (unsigned i = 0; good && used && i < 1 << 15; i++)
		good = tr_ranges_add(*ranges, &far);
	return good;
}

/*
 * `rounds` ranges of up to `longest` addresses below `space`, from base on. Every other seed has a
 * used set.
 */
static bool random_round(unsigned seed, unsigned rounds, unsigned space, unsigned longest,
			 uint64_t base)
{
	static const uint8_t ops[] = { 0x10, 0x11, 0x12, 0x20, 0x30, 0x01, 0x02, 0x00, 0x90, 0x13 };
	struct tr_ranges *ranges;
	bool good = begin(&ranges, seed % 2);
	srand(seed);
	for (unsigned i = 0; good && i < rounds; i++) {
		uint64_t first = base + (unsigned)rand() % space;
		uint64_t last = first + (unsigned)rand() % longest;
		uint8_t op = ops[(unsigned)rand() % sizeof ops];
		if (last < first)
			last = UINT64_MAX;
		plain_add(first, last, op);
		good = tr_ranges_add(ranges, &(struct tr_range){ first, last, op });
	}
	good = good && same(ranges);
	tr_ranges_free(ranges);
	return good;
}

/*
 * A branch is added again after a range that it overlaps was inserted after the one it was added
 * to.
 */
static bool branch_again(void)
{
	static const struct tr_range added[] = {
		{ 0x100, 0x10f, 0x10 }, { 0x100, 0x11f, 0x01 }, { 0x110, 0x11f, 0x10 },
		{ 0x100, 0x11f, 0x01 }, { 0x118, 0x11f, 0x20 }, { 0x100, 0x11f, 0x01 },
	};
	struct tr_ranges *ranges;
	bool good = begin(&ranges, true);

	for (size_t i = 0; good && i < sizeof added / sizeof *added; i++) {
		plain_add(added[i].first, added[i].last, added[i].op);
		good = tr_ranges_add(ranges, &added[i]) && same(ranges);
	}
	tr_ranges_free(ranges);
	return good;
}

int main(void)
{
	ok(branch_again(),
	   "a branch that was added before belongs to the highest range of those present");
	for (unsigned seed = 1; seed <= 40; seed++)
		ok(random_round(seed, 300, 200, 20, 0), "short ranges, few addresses, seed %u",
		   seed);
	for (unsigned seed = 1; seed <= 10; seed++)
		ok(random_round(seed, 900, 4000, 3, 1000), "many chunks, seed %u", seed);
	for (unsigned seed = 1; seed <= 10; seed++)
		ok(random_round(seed, 900, 3000, 2000, 7), "long ranges over many, seed %u", seed);
	ok(random_round(3, 300, 200, 100, UINT64_MAX - 220), "at the top of memory");

	/* a hostile trace: every range would be compared with all others */
	struct tr_ranges *ranges = tr_ranges_new();
	bool good = ranges != NULL;
	for (uint64_t i = 0; good && i < 65536; i++)
		good = tr_ranges_add(ranges, &(struct tr_range){ i, i, 0x10 });
	for (uint64_t i = 0; good && i < 65536; i++)
		good = tr_ranges_add(ranges,
				     &(struct tr_range){ i % 7, 65535 - i % 11, 0x10 | (i & 15) });
	ok(good, "64 thousand ranges over 64 thousand others end soon");
	tr_ranges_free(ranges);
	return done_testing();
}
