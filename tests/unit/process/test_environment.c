#include "process/environment.h"

#include <stdio.h>

#include "record/literal.h"
#include "tap.h"

static struct tr_arena arena = TR_ARENA_INIT;

static const struct tr_value *map(const char *text)
{
	struct tr_error err;
	return tr_literal_parse(tr_text_from(text), &arena, &err);
}

static bool differs(struct tr_environments *pool, struct tr_environment *base,
		    struct tr_environment *env, const char *want)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	bool same =
		tr_environment_diff(pool, base, env, &to) == TR_OK && tr_text_is(tr_buffer_text(&to), want);
	if (!same)
		diag("got %.*s", (int)to.len, to.data);
	tr_buffer_free(&to);
	return same;
}

static void test_differences(struct tr_environments *pool)
{
	struct tr_environment *top =
		tr_environment_whole(pool, NULL, map("{\"A\":\"a\",\"B\":\"b\",\"C\":\"c\"}"));
	struct tr_environment *child = tr_environment_apply(
		pool, top, map("{\"B\":null,\"D\":\"d\",\"A\":\"a\",\"X\":null}"));
	ok(differs(pool, NULL, top, "{\"A\":\"a\",\"B\":\"b\",\"C\":\"c\"}"), "a whole one");
	ok(differs(pool, top, child, "{\"B\":null,\"D\":\"d\"}"),
	   "what says nothing new is left out");
	ok(differs(pool, child, top, "{\"B\":\"b\",\"D\":null}"), "and back");
	ok(differs(pool, top, top, "{}"), "none to itself");
	struct tr_environment *same = tr_environment_apply(pool, child, map("{}"));
	ok(same == child, "no difference is no new environment");
	struct tr_environment *whole =
		tr_environment_whole(pool, child, map("{\"C\":\"c\",\"A\":\"a\",\"D\":\"d\"}"));
	ok(whole == child, "a whole one that is the same is the same");
	struct tr_environment *other = tr_environment_whole(
		pool, child, map("{\"A\":1,\"A\":[2],\"E\\xff\":\"\\u0001\"}"));
	ok(differs(pool, child, other, "{\"A\":[2],\"E\\xff\":\"\\u0001\",\"C\":null,\"D\":null}"),
	   "values of any type, repeated names, names that are no UTF-8");
	tr_environment_release(pool, top);
	tr_environment_release(pool, child);
	tr_environment_release(pool, same);
	tr_environment_release(pool, whole);
	ok(differs(pool, NULL, other, "{\"A\":[2],\"E\\xff\":\"\\u0001\"}"),
	   "it holds what it was made of");
	tr_environment_release(pool, other);
}

/* Chains of any length stay cheap, and so does remembering. */
static void test_many(struct tr_environments *pool)
{
	enum { MANY = 300000 };
	struct tr_environment *env = tr_environment_whole(pool, NULL, map("{\"A\":\"a\"}"));
	bool good = tr_environments_remember(pool, 0, env);
	for (unsigned i = 1; i < MANY && good; i++) {
		char text[64];
		snprintf(text, sizeof text, "{\"N%u\":\"%u\"}", i % 7, i);
		struct tr_environment *next = tr_environment_apply(pool, env, map(text));
		tr_environment_release(pool, env);
		env = next;
		good = env && tr_environments_remember(pool, i, env);
		if (i % 1000 == 0)
			good &= tr_environments_of(pool, 0) != NULL;
		tr_arena_reset(&arena);
	}
	ok(good, "a chain of %d, the first of which stays in use", MANY);
	ok(tr_environments_of(pool, MANY - 1) == env, "the newest is remembered");
	ok(tr_environments_of(pool, 1) == NULL, "an old one is not");
	ok(tr_environments_of(pool, MANY + 7) == NULL, "nor what never was");
	tr_environment_release(pool, env);
}

int main(void)
{
	struct tr_environments *pool = tr_environments_new();
	ok(pool != NULL, "a pool");
	test_differences(pool);
	test_many(pool);
	tr_environments_free(pool);
	tr_arena_free(&arena);
	return done_testing();
}
