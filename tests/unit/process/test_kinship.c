/* SPDX-License-Identifier: MIT */
/* Who is part of whose call. */
#include "process/kinship.h"

#include "core/error.h"
#include "tap.h"

#define NONE TR_NO_POSITION

static void test_tree(void)
{
	struct tr_kinship k = TR_KINSHIP_INIT;
	ok(tr_kinship_judge(&k, 0, NONE, TR_KIN_OTHER) == TR_KIN_KEPT, "make");
	ok(tr_kinship_judge(&k, 1, 0, TR_KIN_DRIVER) == TR_KIN_KEPT, "gcc under make");
	ok(tr_kinship_judge(&k, 2, 1, TR_KIN_COMPILER) == TR_KIN_HIDDEN, "cc1 under gcc");
	ok(tr_kinship_judge(&k, 3, 1, TR_KIN_OTHER) == TR_KIN_HIDDEN, "something else under gcc");
	ok(tr_kinship_judge(&k, 4, 3, TR_KIN_PART) == TR_KIN_HIDDEN, "ld under it");
	ok(tr_kinship_judge(&k, 5, 3, TR_KIN_DRIVER) == TR_KIN_HIDDEN, "gcc under it");
	ok(tr_kinship_judge(&k, 6, 0, TR_KIN_PART) == TR_KIN_KEPT, "as under make");
	ok(tr_kinship_judge(&k, 7, 0, TR_KIN_OTHER) == TR_KIN_KEPT, "a driver with another name");
	ok(tr_kinship_judge(&k, 8, 7, TR_KIN_COMPILER) == TR_KIN_KEPT, "its cc1");
	ok(tr_kinship_judge(&k, 9, 7, TR_KIN_PART) == TR_KIN_HIDDEN, "its as");
	ok(tr_kinship_judge(&k, 10, NONE, TR_KIN_PART) == TR_KIN_HIDDEN, "as of nobody");
	ok(tr_kinship_judge(&k, 11, NONE, TR_KIN_DRIVER) == TR_KIN_KEPT, "gcc of nobody");
	ok(tr_kinship_judge(&k, NONE, 11, TR_KIN_PART) == TR_KIN_HIDDEN, "as without a number");
	ok(tr_kinship_judge(&k, 13, 13, TR_KIN_DRIVER) == TR_KIN_KEPT, "its own parent");
	ok(tr_kinship_judge(&k, 15, 14, TR_KIN_COMPILER) == TR_KIN_HIDDEN, "a parent left out");
	ok(tr_kinship_judge(&k, 16, 0, TR_KIN_COLLECTOR) == TR_KIN_KEPT, "collect2 under make");
	ok(tr_kinship_judge(&k, 17, 16, TR_KIN_LINKER) == TR_KIN_HIDDEN, "its ld");
	struct tr_text what;
	ok(!tr_kinship_next(&k, true, &what), "nobody waits");
	tr_kinship_free(&k);
}

static enum tr_kin_verdict come(struct tr_kinship *k, uint64_t seq, uint64_t parent,
				enum tr_kin kin, const char *what)
{
	enum tr_kin_verdict verdict = tr_kinship_judge(k, seq, parent, kin);
	if (verdict == TR_KIN_WAITS)
		tr_kinship_wait(k, seq, parent, kin, tr_text_from(what));
	return verdict;
}

static bool gives(struct tr_kinship *k, bool at_end, const char *want)
{
	struct tr_text what;
	bool there = tr_kinship_next(k, at_end, &what);
	return want ? there && tr_text_is(what, want) : !there;
}

static void test_waiting(void)
{
	struct tr_kinship k = TR_KINSHIP_INIT;
	ok(come(&k, 0, 3, TR_KIN_OTHER, "") == TR_KIN_WAITS, "a child before its parent");
	ok(come(&k, 1, 0, TR_KIN_DRIVER, "one") == TR_KIN_WAITS, "a child of that");
	ok(come(&k, 2, 3, TR_KIN_DRIVER, "two") == TR_KIN_WAITS, "another child");
	ok(gives(&k, false, NULL), "nothing yet");
	ok(come(&k, 3, NONE, TR_KIN_OTHER, "") == TR_KIN_KEPT, "the parent");
	ok(gives(&k, false, "two") && gives(&k, false, "one") && gives(&k, false, NULL),
	   "all of them are kept");
	ok(come(&k, 4, 6, TR_KIN_COMPILER, "cc1") == TR_KIN_WAITS, "cc1 before");
	ok(come(&k, 5, 4, TR_KIN_DRIVER, "below") == TR_KIN_WAITS, "and what it runs");
	ok(come(&k, 6, 3, TR_KIN_DRIVER, "") == TR_KIN_KEPT, "its driver");
	ok(gives(&k, false, NULL), "hides both");
	ok(come(&k, 7, 99, TR_KIN_DRIVER, "seven") == TR_KIN_WAITS &&
		   come(&k, 8, 9, TR_KIN_DRIVER, "eight") == TR_KIN_WAITS &&
		   come(&k, 9, 8, TR_KIN_DRIVER, "nine") == TR_KIN_WAITS &&
		   come(&k, 10, 98, TR_KIN_PART, "ten") == TR_KIN_WAITS,
	   "parents that never come, a circle");
	ok(gives(&k, true, "seven") && gives(&k, true, "eight") && gives(&k, true, NULL),
	   "at the end it is over");
	ok(come(&k, 11, 14, TR_KIN_DRIVER, "inner") == TR_KIN_WAITS &&
		   come(&k, 12, 11, TR_KIN_DRIVER, "innermost") == TR_KIN_WAITS &&
		   come(&k, 14, 99, TR_KIN_DRIVER, "outer") == TR_KIN_WAITS,
	   "children in front of one whose parent never comes");
	ok(gives(&k, true, "outer") && gives(&k, true, NULL), "they are that one's business");
	ok(come(&k, 20, 21, TR_KIN_DRIVER, "left") == TR_KIN_WAITS, "one is left");
	tr_kinship_free(&k);
	ok(gives(&k, true, NULL), "and forgotten");
	tr_kinship_free(&k);
}

static void test_many(void)
{
	struct tr_kinship k = TR_KINSHIP_INIT;
	bool right = true;
	for (uint64_t i = 0; i < 100000; i++)
		right &= tr_kinship_judge(&k, i, i ? i - 1 : NONE, TR_KIN_OTHER) == TR_KIN_KEPT;
	ok(right && k.pages.count < 100000 / 60, "half a byte each");
	for (uint64_t i = 100000; i > 1; i--)
		right &= come(&k, i + 200000, i + 200001, TR_KIN_OTHER, "") == TR_KIN_WAITS;
	ok(right && gives(&k, true, NULL), "a long chain of waiting is no recursion");
	tr_kinship_free(&k);
}

int main(void)
{
	test_tree();
	test_waiting();
	test_many();
	return done_testing();
}
