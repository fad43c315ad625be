/* SPDX-License-Identifier: MIT */
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
	bool same = tr_environment_diff(pool, base, env, &to) == TR_OK &&
		    tr_text_is(tr_buffer_text(&to), want);
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
		pool, top, map("{\"B\":null,\"D\":\"d\",\"A\":\"a\",\"X\":null}"), NULL);
	ok(differs(pool, NULL, top, "{\"A\":\"a\",\"B\":\"b\",\"C\":\"c\"}"), "a whole one");
	ok(differs(pool, top, child, "{\"D\":\"d\",\"B\":null}"),
	   "what changes nothing is left out");
	ok(differs(pool, child, top, "{\"B\":\"b\",\"D\":null}"), "and back");
	ok(differs(pool, top, top, "{}"), "none to itself");
	struct tr_environment *same = tr_environment_apply(pool, child, map("{}"), NULL);
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

/* The result for a spelling and a base is reused only for the same spelling and base. */
static void test_recall(void)
{
	struct tr_environments *pool = tr_environments_new();
	const struct tr_text set = TR_TEXT("{\"B\":\"b\"}"), none = TR_TEXT("{}");
	struct tr_environment *base = tr_environment_whole(pool, NULL, map("{\"A\":\"a\"}"));
	struct tr_environment *other = tr_environment_whole(pool, NULL, map("{\"A\":\"b\"}"));
	struct tr_environment *child = tr_environment_apply(pool, base, map(set.data), NULL);
	bool minimal = false;
	ok(!tr_environments_recall(pool, base, set, &minimal), "nothing to recall at first");
	tr_environments_keep(pool, base, set, child, true);
	struct tr_environment *again = tr_environments_recall(pool, base, set, &minimal);
	ok(again == child && minimal, "an equal difference to the same environment");
	tr_environments_keep(pool, base, none, base,
			     false); /* may take the place of the other one */
	struct tr_environment *same = tr_environments_recall(pool, base, none, &minimal);
	ok(same == base && !minimal, "a difference that changes nothing");
	ok(!tr_environments_recall(pool, other, set, &minimal), "not for another environment");
	ok(!tr_environments_recall(pool, NULL, set, &minimal), "not for a whole one");
	ok(!tr_environments_recall(pool, base, TR_TEXT("{\"B\":\"c\"}"), &minimal),
	   "not for another spelling");
	tr_environment_release(pool, again);
	tr_environment_release(pool, child);
	ok(!tr_environments_recall(pool, base, set, &minimal),
	   "what is recalled is not kept alive by that");
	child = tr_environment_apply(pool, base, map(set.data), NULL);
	ok(!tr_environments_recall(pool, base, set, &minimal), "an equal one of later is another");
	tr_environments_keep(pool, base, set, child, true);
	tr_environments_fold(pool, true);
	ok(!tr_environments_recall(pool, base, set, &minimal),
	   "nor when names compare differently");
	tr_environment_release(pool, child);
	tr_environment_release(pool, same);
	tr_environment_release(pool, other);
	tr_environment_release(pool, base);
	tr_environments_free(pool);
}

/* A map that is written again is the same, and counts again for the bound. */
static void test_write_again(void)
{
	struct tr_environments *pool = tr_environments_new();
	struct tr_environment *a = tr_environment_whole(pool, NULL, map("{\"A\":\"a\"}"));
	struct tr_environment *b = tr_environment_apply(
		pool, a, map("{\"A\":null,\"B\":\"b\",\"SECRET\":\"s\"}"), NULL);
	const char *difference = "{\"B\":\"b\",\"SECRET\":\"s\",\"A\":null}";
	const char *back = "{\"A\":\"a\",\"B\":null,\"SECRET\":null}";
	bool same = true;
	for (unsigned i = 0; i < 2; i++) {
		same &= differs(pool, a, b, difference) && differs(pool, b, a, back);
		same &= differs(pool, NULL, a, "{\"A\":\"a\"}") &&
			differs(pool, NULL, b, "{\"B\":\"b\",\"SECRET\":\"s\"}");
	}
	ok(same, "each difference is the same when it is written again");

	enum { FREE_VARIABLES = 1 << 18 };
	bool may = true;
	unsigned written = 0;
	tr_environments_limit(pool, 1);
	for (; may && written < FREE_VARIABLES; written++) {
		may = tr_environments_may_write(pool, 1);
		same &= differs(pool, a, b, difference);
	}
	ok(same && !may && written > FREE_VARIABLES / 4,
	   "the bound counts what is written again: %u maps", written);
	tr_environment_release(pool, a);
	tr_environment_release(pool, b);
	tr_environments_free(pool);
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
		struct tr_environment *next = tr_environment_apply(pool, env, map(text), NULL);
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

/* What is known of environments that are not known as a whole. */
static void test_unknown(struct tr_environments *pool)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	struct tr_environment *first = tr_environment_unknown(pool);
	struct tr_environment *other = tr_environment_unknown(pool);
	bool lean = false;
	struct tr_environment *child =
		tr_environment_apply(pool, first, map("{\"A\":null,\"B\":\"b\"}"), &lean);
	ok(lean, "a removal of a variable that may be set is not redundant");
	ok(differs(pool, first, child, "{\"B\":\"b\",\"A\":null}"), "and is written again");
	ok(tr_environment_diff(pool, other, child, &to) == TR_END, "not against another one");
	ok(tr_environment_diff(pool, NULL, child, &to) == TR_END, "nor as a whole");
	ok(tr_environment_diff(pool, child, first, &to) == TR_END && to.len == 0,
	   "nor what is not known any more");
	ok(!tr_environment_is_whole(child) && !tr_environment_is_unknown(child) &&
		   tr_environment_is_unknown(first),
	   "what is known");
	struct tr_environment *whole = tr_environment_whole(pool, child, map("{\"C\":\"c\"}"));
	ok(tr_environment_is_whole(whole) && differs(pool, NULL, whole, "{\"C\":\"c\"}"),
	   "a whole one inherits nothing from it");
	ok(tr_environment_diff(pool, first, whole, &to) == TR_END, "what a whole one lacks");
	tr_environment_release(pool, first);
	tr_environment_release(pool, other);
	tr_environment_release(pool, child);
	tr_environment_release(pool, whole);
	tr_buffer_free(&to);
}

/* S is hidden, X is not there. */
static bool judge(void *context, struct tr_text name, bool fold, unsigned *verdict)
{
	(void)context;
	*verdict = tr_text_is(name, "X") ? 0 : TR_NAME_SELECTED;
	if (name.data[0] == 'S' || (fold && name.data[0] == 's'))
		*verdict |= TR_NAME_HIDDEN;
	return true;
}

static void test_rules(void)
{
	const struct tr_environment_rules rules = { judge, NULL };
	struct tr_environments *pool = tr_environments_new();
	tr_environments_set_rules(pool, &rules);
	size_t empty = tr_environments_weight(pool);
	struct tr_environment *a = tr_environment_whole(
		pool, NULL, map("{\"S\":\"1\",\"X\":\"2\",\"s\":\"3\",\"P\":\"4\"}"));
	struct tr_environment *b =
		tr_environment_apply(pool, a, map("{\"S\":\"9\",\"X\":\"8\",\"P\":\"4\"}"), NULL);
	ok(differs(pool, NULL, a, "{\"S\":\"***\",\"s\":\"3\",\"P\":\"4\"}"), "hidden, left out");
	ok(differs(pool, a, b, "{\"S\":\"***\"}"), "that it changed can be seen");
	struct tr_buffer plain = TR_BUFFER_INIT;
	ok(tr_environment_write_plain(pool, a, &plain) &&
		   tr_text_is(tr_buffer_text(&plain), "{\"S\":\"1\",\"s\":\"3\",\"P\":\"4\"}"),
	   "written in plain, after it was written with hidden values");
	tr_buffer_free(&plain);
	unsigned verdict = 0;
	ok(tr_environments_judge(pool, TR_TEXT("X"), &verdict) && verdict % 4 == 0, "judged");
	struct tr_environment *folded = tr_environment_fold(pool, a);
	ok(differs(pool, NULL, folded, "{\"s\":\"***\",\"P\":\"4\"}"), "folded: the last counts");
	struct tr_environment *c = tr_environment_apply(pool, folded, map("{\"p\":null}"), NULL);
	ok(differs(pool, folded, c, "{\"P\":null}"), "a name in other letters");
	tr_environment_release(pool, a);
	tr_environment_release(pool, b);
	tr_environment_release(pool, c);
	tr_environment_release(pool, folded);
	ok(tr_environments_weight(pool) == empty, "nothing is left of excluded variables");
	tr_environments_free(pool);
}

static void test_doubts(struct tr_environments *pool)
{
	struct tr_environment_doubts doubts = { 0, 0 };
	struct tr_environment *top =
		tr_environment_whole(pool, NULL, map("{\"A\":\"a\",\"B\":\"b\"}"));
	ok(tr_environment_doubt(pool, top, map("{\"A\":\"a\",\"B\":null,\"C\":null,\"D\":\"d\"}"),
				&doubts) &&
		   doubts.redundant == 1 && doubts.impossible == 1,
	   "what speaks against a base");
	tr_environment_release(pool, top);
}

/* Values in the spool are compared and written like all others. */
static void test_spill(void)
{
	enum { VALUES = 200, LENGTH = 20000 };
	static char text[LENGTH + 64];
	struct tr_environments *pool = tr_environments_new();
	struct tr_environment *envs[VALUES], *env = NULL;
	struct tr_buffer to = TR_BUFFER_INIT;
	bool good = true;
	tr_environments_spill(pool, 3 * LENGTH, UINT64_C(1) << 30);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < VALUES; i++) {
			snprintf(text, sizeof text, "{\"V\":\"%0*d\"}", LENGTH, i);
			env = tr_environment_whole(pool, NULL, map(text));
			tr_buffer_reset(&to);
			good &= tr_environment_diff(pool, NULL, env, &to) == TR_OK &&
				tr_text_is(tr_buffer_text(&to), text);
			if (round) {
				tr_buffer_reset(&to);
				good &= tr_environment_diff(pool, envs[i], env, &to) == TR_OK &&
					tr_text_is(tr_buffer_text(&to), "{}");
				tr_environment_release(pool, env);
				tr_environment_release(pool, envs[i]);
			} else {
				envs[i] = env;
			}
			tr_arena_reset(&arena);
		}
	}
	ok(good, "values in a file");
	tr_buffer_free(&to);
	tr_environments_free(pool);
}

/* A full environment, a full difference to it, and the record that has each. */
static void test_weight_of_many(struct tr_environments *pool)
{
	enum { VARIABLES = 400, CHANGES = 20 };
	struct tr_environment *envs[2] = { NULL, NULL };
	struct tr_buffer text = TR_BUFFER_INIT;

	for (int i = 0; i < 2; i++) {
		tr_buffer_reset(&text);
		for (unsigned k = 0; k < (i ? CHANGES : VARIABLES); k++) {
			tr_buffer_put_text(&text, k ? TR_TEXT(",\"V") : TR_TEXT("{\"V"));
			tr_buffer_put_decimal(&text, k);
			tr_buffer_put_text(&text, i ? TR_TEXT("\":2") : TR_TEXT("\":1"));
		}
		tr_buffer_put_literal(&text, "}");
		envs[i] = tr_environment_apply(
			pool, envs[0], tr_literal_parse(tr_buffer_text(&text), &arena, NULL), NULL);
	}
	tr_buffer_free(&text);
	tr_environments_remember(pool, 1, envs[0]);
	tr_environments_remember(pool, 1, envs[1]);
	ok(tr_environments_of(pool, 1) == envs[1], "a record that is added again has the new one");
	tr_environments_remember(pool, 1, NULL);
	ok(tr_environment_references(envs[1]) == 1, "the record has given up its references");
	tr_environment_release(pool, envs[0]);
	tr_environment_release(pool, envs[1]);
}

/* The weight counts names and values in memory, and nothing once all environments are released. */
static void test_weight(void)
{
	enum { LENGTH = 1000 };
	char text[3 * LENGTH];
	struct tr_environments *pool = tr_environments_new();
	size_t before = tr_environments_weight(pool);

	snprintf(text, sizeof text, "{\"%0*d\":\"%0*d\"}", LENGTH, 1, LENGTH, 2);
	struct tr_environment *env = tr_environment_whole(pool, NULL, map(text));
	size_t one = tr_environments_weight(pool) - before;
	ok(one >= 2 * LENGTH && one < 3 * LENGTH, "%zu bytes for 2000 of text", one);
	struct tr_environment *child = tr_environment_apply(pool, env, map("{\"A\":\"a\"}"), NULL);
	size_t two = tr_environments_weight(pool) - before;
	ok(two > one && two < one + LENGTH, "%zu bytes with a small difference", two);
	ok(tr_environment_references(env) == 2, "the difference keeps its base");
	tr_environment_release(pool, child);
	ok(tr_environments_weight(pool) - before == one, "as before without it");
	tr_environment_release(pool, env);
	ok(tr_environments_weight(pool) == before, "nothing is left");
	tr_environments_spill(pool, 0, 4 * LENGTH);
	env = tr_environment_whole(pool, NULL, map(text));
	size_t spilled = tr_environments_weight(pool) - before;
	ok(spilled < one - LENGTH / 2, "%zu bytes with the value in the file", spilled);
	tr_environment_release(pool, env);
	ok(tr_environments_weight(pool) == before, "nothing is left in memory");
	test_weight_of_many(pool);
	ok(tr_environments_weight(pool) == before, "nothing is left of many variables");
	tr_environments_free(pool);
}

/* Beside a table of what each of them has. */
enum { NAMES = 300, MODELS = 400 };
static struct tr_environment *envs[MODELS];
static int table[MODELS][NAMES]; /* 0: not there */

static uint32_t random_below(uint32_t n)
{
	static uint64_t state = 1;
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((state >> 33) % n);
}

/* Changes a row, and gives the map for it. */
static const struct tr_value *change(int *row, unsigned changes)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	char member[32];
	tr_buffer_put_byte(&text, '{');
	for (unsigned i = 0; i < changes; i++) {
		unsigned name = random_below(NAMES), value = random_below(4);
		row[name] = (int)value;
		snprintf(member, sizeof member, value ? "\"N%u\":%u" : "\"N%u\":null", name, value);
		tr_buffer_put(&text, i ? "," : "", i ? 1 : 0);
		tr_buffer_put_text(&text, tr_text_from(member));
	}
	tr_buffer_put_byte(&text, '}');
	struct tr_text copy = tr_arena_copy(&arena, tr_buffer_text(&text));
	tr_buffer_free(&text);
	return tr_literal_parse(copy, &arena, NULL);
}

/* Does the difference turn row a into row b, and say no more than that? */
static bool turns(struct tr_environments *pool, int a, int b)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	int row[NAMES] = { 0 };
	unsigned needed = 0;
	if (a >= 0)
		memcpy(row, table[a], sizeof row);
	for (int i = 0; i < NAMES; i++)
		needed += row[i] != table[b][i];
	if (tr_environment_diff(pool, a < 0 ? NULL : envs[a], envs[b], &to) != TR_OK)
		return false;
	const struct tr_value *map = tr_literal_parse(tr_buffer_text(&to), &arena, NULL);
	bool good = map->count == needed;
	for (size_t i = 0; i < map->count; i++) {
		unsigned name = 0;
		sscanf(map->as.members[i].key.data, "N%u", &name);
		row[name] = map->as.members[i].value->type == TR_NULL
				    ? 0
				    : (int)map->as.members[i].value->as.number;
	}
	good &= memcmp(row, table[b], sizeof row) == 0;
	tr_buffer_free(&to);
	return good;
}

static void test_against_table(struct tr_environments *pool)
{
	bool good = true;
	envs[0] = tr_environment_whole(pool, NULL, change(table[0], 200));
	for (int i = 1; i < MODELS; i++) {
		int base = random_below(2) ? i - 1 : (int)random_below((uint32_t)i);
		memcpy(table[i], table[base], sizeof table[i]);
		const struct tr_value *map =
			change(table[i], random_below(2) ? 1 + random_below(3) : random_below(40));
		envs[i] = tr_environment_apply(pool, envs[base], map, NULL);
		good &= turns(pool, base, i) && turns(pool, i, base) && turns(pool, -1, i) &&
			turns(pool, (int)random_below((uint32_t)i), i);
		/* written as a whole it is the same */
		struct tr_buffer text = TR_BUFFER_INIT, none = TR_BUFFER_INIT;
		good &= tr_environment_write(pool, envs[i], &text);
		struct tr_environment *whole =
			tr_environment_whole(pool, envs[random_below((uint32_t)i)],
					     tr_literal_parse(tr_buffer_text(&text), &arena, NULL));
		good &= tr_environment_diff(pool, envs[i], whole, &none) == TR_OK && none.len == 2;
		tr_environment_release(pool, whole);
		tr_buffer_free(&text);
		tr_buffer_free(&none);
		tr_arena_reset(&arena);
	}
	ok(good, "%d environments beside a table", MODELS);
	for (int i = 0; i < MODELS; i++)
		tr_environment_release(pool, envs[i]);
}

int main(void)
{
	struct tr_environments *pool = tr_environments_new();
	ok(pool != NULL, "a pool");
	test_differences(pool);
	test_unknown(pool);
	test_rules();
	test_recall();
	test_write_again();
	test_doubts(pool);
	test_spill();
	test_weight();
	test_against_table(pool);
	test_many(pool);
	tr_environments_free(pool);
	tr_arena_free(&arena);
	return done_testing();
}
