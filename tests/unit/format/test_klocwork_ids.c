/* SPDX-License-Identifier: MIT */
#include "format/klocwork/parents.h"

#include <stdio.h>

#include "tap.h"

static bool finds(struct tr_klocwork_ids *ids, const char *id, uint64_t want)
{
	uint64_t value;
	return tr_klocwork_ids_find(ids, tr_text_from(id), &value) && value == want;
}

static bool lacks(struct tr_klocwork_ids *ids, const char *id)
{
	uint64_t value;
	return !tr_klocwork_ids_find(ids, tr_text_from(id), &value);
}

static void put(struct tr_klocwork_ids *ids, const char *id, uint64_t value)
{
	ok(tr_klocwork_ids_put(ids, tr_text_from(id), value), "%s is put", id);
}

int main(void)
{
	struct tr_klocwork_ids ids = { .runs = NULL };
	ok(lacks(&ids, "1"), "nothing in an empty map");
	put(&ids, "10", 0);
	put(&ids, "11", 1);
	put(&ids, "12", 3);
	put(&ids, "5", 4);
	put(&ids, "11", 5);
	put(&ids, "\"11\"", 6);
	put(&ids, "-11", 7);
	put(&ids, "18446744073709551615", 8);
	put(&ids, "18446744073709551616", 9);
	ok(finds(&ids, "10", 0) && finds(&ids, "12", 3) && finds(&ids, "5", 4), "numbers");
	ok(finds(&ids, "11", 5), "the last value counts");
	ok(finds(&ids, "\"11\"", 6) && finds(&ids, "-11", 7), "other spellings are other ids");
	ok(finds(&ids, "18446744073709551615", 8) && finds(&ids, "18446744073709551616", 9),
	   "around 2^64");
	ok(lacks(&ids, "13") && lacks(&ids, "9") && lacks(&ids, "\"12\""),
	   "ids that were never put");
	tr_klocwork_ids_forget(&ids);
	ok(lacks(&ids, "10") && lacks(&ids, "5") && lacks(&ids, "-11"), "forgotten");
	put(&ids, "5", 1);
	ok(finds(&ids, "5", 1) && lacks(&ids, "11"), "ids that are put after that");
	tr_klocwork_ids_forget(&ids);

	enum { MANY = 3 << 20 };
	bool all = true;
	for (uint64_t i = 0; i < MANY; i++)
		all &= tr_klocwork_ids_put_number(&ids, 7 + i, i);
	ok(all && ids.run_count == 1 && finds(&ids, "7", 0),
	   "any number of consecutive ids is one run");

	all = true;
	for (uint64_t i = 1; i < MANY; i++) { /* every other id: a run each */
		all &= tr_klocwork_ids_put_number(&ids, 2 * MANY + 2 * i, i);
		if (i % 1000 == 0)
			all &= finds(&ids, "8", 1);
	}
	ok(all && ids.run_cap <= 1 << 16,
	   "gaps take bounded memory, and an id that is in use is kept");
	uint64_t value;
	ok(tr_klocwork_ids_find_number(&ids, 2 * MANY + 2 * (MANY - 1), &value) &&
		   value == MANY - 1,
	   "the newest are there");
	char text[32];
	all = true;
	for (unsigned i = 0; i < 1 << 19; i++) {
		snprintf(text, sizeof text, "\"%u\"", i);
		all &= tr_klocwork_ids_put(&ids, tr_text_from(text), i);
	}
	ok(all && finds(&ids, text, (1 << 19) - 1), "more strings than the table holds");
	tr_klocwork_ids_free(&ids);
	return done_testing();
}
