/* SPDX-License-Identifier: MIT */
/* Whole environments, and what is remembered of what was used last. */
#include "process/follow.h"

#include "tap.h"

static struct tr_arena arena = TR_ARENA_INIT;

/* The environment after that line; "-": not known; "!": trouble. */
static bool gives(struct tr_follow *follow, const char *line, const char *want)
{
	char padded[400] = { 0 };
	struct tr_record record;
	struct tr_buffer got = TR_BUFFER_INIT;
	struct tr_error err;
	snprintf(padded, sizeof padded, "%s\n", line);
	tr_record_init(&record, &arena);
	if (!tr_record_from_line(&record, tr_text_from(padded), &err))
		return false;
	if (tr_follow_record(follow, &record, &err) != TR_OK)
		tr_buffer_put_byte(&got, '!');
	else if (!follow->own)
		tr_buffer_put_byte(&got, '-');
	else
		tr_environment_write(follow->pool, follow->own, &got);
	bool same = tr_text_is(tr_buffer_text(&got), want);
	if (!same)
		diag("got %.*s", (int)got.len, got.data);
	tr_buffer_free(&got);
	return same;
}

static void test_follow(void)
{
	struct tr_follow f = { .pool = NULL };
	ok(gives(&f, "env\t0\t-\t-\t-\tvars={\"A\":\"a\",\"B\":\"b\"}", "-"), "the first");
	ok(gives(&f, "exec\t1\t-\t1\tx", "{\"A\":\"a\",\"B\":\"b\"}"),
	   "of a record without an environment");
	ok(gives(&f, "exec\t2\t-\t2\tx\tparent=1\tenvdiff={\"A\":null,\"C\":\"c\"}",
		 "{\"B\":\"b\",\"C\":\"c\"}"),
	   "against the parent's");
	ok(gives(&f, "exec\t3\t-\t3\tx\tparent=2", "{\"B\":\"b\",\"C\":\"c\"}"), "the parent's");
	ok(gives(&f, "exec\t4\t-\t4\tx\tparent=2\tenvtop={\"B\":\"x\"}",
		 "{\"A\":\"a\",\"B\":\"x\"}"),
	   "against the first");
	ok(gives(&f, "exec\t5\t-\t5\tx\tparent=2\tenv={\"D\":\"d\"}", "{\"D\":\"d\"}"), "whole");
	ok(gives(&f, "exec\t6\t-\t6\tx\tparent=99\tenvdiff={\"D\":\"d\"}", "-"),
	   "a stranger's child");
	ok(gives(&f, "exec\t7\t-\t7\tx\tparent=6", "-"), "and its child");
	ok(gives(&f, "exec\t8\t-\t8\tx\tparent=5\tflagged=[\"env-unknown\"]", "-"), "flagged");
	ok(gives(&f, "exec\t9\t-\t9\tx\tenv=[1]", "!"), "no map");
	ok(gives(&f, "exec\t10\t-\t9\tx\tparent=5", "{\"D\":\"d\"}"), "later records are followed");
	tr_follow_free(&f);
	ok(gives(&f, "exec\t1\t-\t1\tx\tenvdiff={\"A\":\"a\"}", "{\"A\":\"a\"}"),
	   "without an env record the first is empty");
	tr_follow_free(&f);
}

/* Fields that came before are not read again; what they mean depends on their parent. */
static void test_repeated(void)
{
	struct tr_follow f = { .pool = NULL };
	ok(gives(&f, "exec\t1\t-\t1\tx\tenv={\"A\":\"a\"}", "{\"A\":\"a\"}") && !f.minimal,
	   "whole");
	ok(gives(&f, "exec\t2\t-\t2\tx\tparent=1\tenvdiff={\"B\":\"b\"}",
		 "{\"A\":\"a\",\"B\":\"b\"}") &&
		   f.minimal,
	   "a difference");
	ok(gives(&f, "exec\t3\t-\t3\tx\tparent=1\tenvdiff={\"B\":\"b\"}",
		 "{\"A\":\"a\",\"B\":\"b\"}") &&
		   f.minimal,
	   "the same one again");
	ok(gives(&f, "exec\t4\t-\t4\tx\tparent=2\tenvdiff={\"B\":\"b\"}",
		 "{\"A\":\"a\",\"B\":\"b\"}") &&
		   !f.minimal,
	   "the same one, but to a parent that has the variable");
	ok(gives(&f, "exec\t41\t-\t4\tx\tparent=2\tenvdiff={\"B\":\"b\"}",
		 "{\"A\":\"a\",\"B\":\"b\"}") &&
		   !f.minimal,
	   "and that again");
	ok(gives(&f, "exec\t5\t-\t5\tx\tparent=4\tenvdiff={}", "{\"A\":\"a\",\"B\":\"b\"}") &&
		   !f.minimal,
	   "an empty one");
	ok(gives(&f, "exec\t6\t-\t6\tx\tparent=4", "{\"A\":\"a\",\"B\":\"b\"}") && f.minimal,
	   "none");
	ok(gives(&f, "exec\t7\t-\t7\tx\tparent=6\tenvtop={\"B\":\"b\"}", "{\"B\":\"b\"}") &&
		   !f.minimal,
	   "the same map, but to the first environment");
	ok(gives(&f, "exec\t8\t-\t8\tx\tparent=7\tenv={\"B\":\"b\"}", "{\"B\":\"b\"}"),
	   "as a whole");
	ok(gives(&f, "env\t9\t-\t-\t-\tvars={\"C\":\"c\"}", "{\"B\":\"b\"}"), "another first one");
	ok(gives(&f, "exec\t10\t-\t7\tx\tparent=6\tenvtop={\"B\":\"b\"}",
		 "{\"C\":\"c\",\"B\":\"b\"}"),
	   "the same map to that");
	ok(gives(&f, "exec\t11\t-\t8\tx\tparent=99\tenvdiff={\"B\":\"b\"}", "-") && !f.minimal,
	   "to an unknown parent");
	tr_follow_free(&f);
	/* 100 fields to 100 parents, twice: more than there are places for */
	bool same = true;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 10000; i++) {
			char line[100], want[100];
			unsigned parent = i % 100, value = i / 100, seq = 100 + 10000 * round + i;
			if (value == 0) {
				snprintf(line, sizeof line, "exec\t%u\t-\t1\tx\tenv={\"P\":\"%u\"}",
					 parent, parent);
				snprintf(want, sizeof want, "{\"P\":\"%u\"}", parent);
				same &= gives(&f, line, want);
				continue;
			}
			snprintf(line, sizeof line,
				 "exec\t%u\t-\t1\tx\tparent=%u\tenvdiff={\"V\":\"%u\"}", seq,
				 parent, value);
			snprintf(want, sizeof want, "{\"P\":\"%u\",\"V\":\"%u\"}", parent, value);
			same &= gives(&f, line, want) && f.minimal;
		}
	}
	ok(same, "many fields to many parents");
	tr_follow_free(&f);
}

int main(void)
{
	test_follow();
	test_repeated();
	tr_arena_free(&arena);
	return done_testing();
}
