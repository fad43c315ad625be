/* SPDX-License-Identifier: MIT */
/* The alignment of sequences and sets, on random ones. */
#include "diff/align.h"

#include "tap.h"

enum { MOST = 200000 };

static struct tr_diff_record records[2][MOST];
static uint32_t lists[2][MOST];

static uint64_t state = 42;

static uint64_t random_below(uint64_t limit)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (state >> 33) % limit;
}

static struct tr_align_side make_side(unsigned side, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		records[side][i].match = TR_ALIGN_NONE;
		records[side][i].moved = 0;
		lists[side][i] = (uint32_t)i;
	}
	return (struct tr_align_side){ records[side], lists[side], count };
}

static void fill(unsigned side, size_t at, uint64_t content)
{
	records[side][at].content = content;
	records[side][at].key = content / 4; /* four contents share a key */
}

/* What holds for any result. */
static bool is_sound(size_t a_count, size_t b_count, bool ordered)
{
	uint32_t last = 0;
	size_t matched[2] = { 0, 0 };

	for (size_t i = 0; i < a_count; i++) {
		const struct tr_diff_record *a = &records[0][i];
		if (a->match == TR_ALIGN_NONE)
			continue;
		const struct tr_diff_record *b = &records[1][a->match];
		if (a->match >= b_count || b->match != i || a->key != b->key ||
		    a->moved != b->moved || (a->moved && a->content != b->content))
			return false;
		matched[0]++;
		if (!ordered || a->moved)
			continue;
		if (a->match < last)
			return false;
		last = a->match + 1;
	}
	for (size_t j = 0; j < b_count; j++)
		matched[1] += records[1][j].match != TR_ALIGN_NONE;
	return matched[0] == matched[1];
}

static size_t count_single(unsigned side, size_t count)
{
	size_t single = 0;

	for (size_t i = 0; i < count; i++)
		single += records[side][i].match == TR_ALIGN_NONE;
	return single;
}

/* Equal records never stay without a partner on both sides. */
static bool is_complete(size_t a_count, size_t b_count, uint64_t contents)
{
	for (uint64_t content = 0; content < contents; content++) {
		bool single[2] = { false, false };
		for (size_t i = 0; i < a_count; i++)
			single[0] |= records[0][i].content == content &&
				     records[0][i].match == TR_ALIGN_NONE;
		for (size_t j = 0; j < b_count; j++)
			single[1] |= records[1][j].content == content &&
				     records[1][j].match == TR_ALIGN_NONE;
		if (single[0] && single[1])
			return false;
	}
	return true;
}

static void test_random(bool ordered)
{
	bool sound = true, complete = true, done = true;

	for (unsigned round = 0; round < 2000; round++) {
		size_t a_count = random_below(40), b_count = random_below(40);
		uint64_t contents = 1 + random_below(60);
		for (size_t i = 0; i < a_count; i++)
			fill(0, i, random_below(contents));
		for (size_t j = 0; j < b_count; j++)
			fill(1, j, random_below(contents));
		struct tr_align_side a = make_side(0, a_count), b = make_side(1, b_count);
		if (ordered)
			done &= tr_align_sequence(&a, &b);
		else
			tr_align_set(&a, &b, false);
		sound &= is_sound(a_count, b_count, ordered);
		complete &= is_complete(a_count, b_count, contents);
	}
	ok(done && sound, "%s: partners are equal or of one key, and in order",
	   ordered ? "sequences" : "sets");
	ok(complete, "%s: no equal records are left", ordered ? "sequences" : "sets");
}

/* A few edits of a long sequence are found exactly, whether its records are unique or not. */
static void test_edits(uint64_t contents, const char *what)
{
	bool exact = true;

	for (unsigned round = 0; round < 50; round++) {
		size_t count = 2000, b_count = 0, removed = 1 + random_below(20), added = 0;
		for (size_t i = 0; i < count; i++)
			fill(0, i, contents > count ? i * 4 : random_below(contents) * 4);
		for (size_t i = 0; i < count; i++) {
			if (i % 97 == 5 && i / 97 < removed)
				continue;
			fill(1, b_count++, records[0][i].content);
			if (i % 101 == 50 && added < 5) {
				fill(1, b_count++, 4000000 + 4 * i);
				added++;
			}
		}
		struct tr_align_side a = make_side(0, count), b = make_side(1, b_count);
		exact &= tr_align_sequence(&a, &b) && is_sound(count, b_count, true) &&
			 count_single(0, count) == removed && count_single(1, b_count) == added;
	}
	ok(exact, "edits of %s are found, and no others", what);
}

static void test_moved(void)
{
	size_t count = 1000;

	for (size_t i = 0; i < count; i++)
		fill(0, i, i * 4);
	for (size_t i = 0; i < count; i++)
		fill(1, i, (i < 100 || i > 700 ? i : i == 700 ? 100 : i + 1) * 4);
	struct tr_align_side a = make_side(0, count), b = make_side(1, count);
	ok(tr_align_sequence(&a, &b) && records[0][100].moved && records[0][100].match == 700 &&
		   !records[0][101].moved && records[0][101].match == 100,
	   "one record that moved by 600 places, and not the 600 others");
}

/*
 * Long lists are sorted by the upper half of the hashes first: few_upper has only a few of these,
 * so that the lower half decides.
 */
static void test_long_sets(bool few_upper, const char *what)
{
	size_t count = 5000, last = count - 1;

	for (size_t i = 0; i < count; i++) {
		uint64_t hash = few_upper ? (i * 7919 % count) | (uint64_t)(i % 3) << 40
					  : (uint64_t)(i + 1) * 0x9e3779b97f4a7c15;
		for (unsigned side = 0; side < 2; side++) {
			/* the second is in the other order */
			size_t at = side ? last - i : i;
			records[side][at].key = hash;
			records[side][at].content = hash + (side && i % 1000 == 500);
		}
	}
	struct tr_align_side a = make_side(0, count), b = make_side(1, count);
	tr_align_set(&a, &b, false);
	bool right = true;
	for (size_t i = 0; i < count; i++)
		right &= records[0][i].match == last - i;
	ok(right, "each record of a long set has its partner: %s", what);
}

/* Would take minutes if the time were the square of the number of records. */
static void test_hopeless(void)
{
	for (unsigned side = 0; side < 2; side++) {
		for (size_t i = 0; i < MOST; i++)
			fill(side, i, random_below(5) * 4);
	}
	struct tr_align_side a = make_side(0, MOST), b = make_side(1, MOST);
	ok(tr_align_sequence(&a, &b) && is_sound(MOST, MOST, true),
	   "long sequences with nothing in common");
}

int main(void)
{
	test_random(true);
	test_random(false);
	test_edits(UINT64_MAX, "unique records");
	test_edits(3, "records that repeat");
	test_moved();
	test_long_sets(false, "hashes of 64 bits");
	test_long_sets(true, "hashes that differ in the lower half");
	test_hopeless();
	return done_testing();
}
