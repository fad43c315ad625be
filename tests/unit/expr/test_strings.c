/* SPDX-License-Identifier: MIT */
/* Strings are compared in the text of a line, everything else in a tree: both have to agree. */
#include "expr/expr.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "record/literal.h"
#include "tap.h"

enum { ROUNDS = 60000 };

static uint32_t state = 7;

static uint32_t next_random(uint32_t below)
{
	state = state * UINT32_C(1664525) + UINT32_C(1013904223);
	return (state >> 8) % below;
}

static void put(struct tr_buffer *to, const char *text)
{
	tr_buffer_put_text(to, tr_text_from(text));
}

static void put_string(struct tr_buffer *to)
{
	static const char *const parts[] = { "a",    "b",   "ab",    "/",	"x/a", "\\\"",
					     "\\\\", "\\n", "\\x80", "\\u0001", ",",   "\xc3\xa9",
					     "[",    "]",   "{",     "\\/" };
	put(to, "\"");
	/* mostly plain, sometimes longer than a block */
	uint32_t kinds = next_random(3) ? 3 : sizeof parts / sizeof *parts;
	for (uint32_t n = next_random(20) ? next_random(4) : 60 + next_random(20); n; n--)
		put(to, parts[next_random(kinds)]);
	put(to, next_random(40) ? "\"" : "\"...");
}

/* A list or string, or something that looks like one up to a point. */
static void put_value(struct tr_buffer *to)
{
	bool list = next_random(4);
	if (list)
		put(to, "[");
	for (uint32_t n = list ? next_random(12) : 1; n; n--) {
		put_string(to);
		if (n > 1)
			put(to, next_random(30) ? "," : next_random(2) ? ", " : ",,");
	}
	if (list)
		put(to, next_random(30) ? "]" : next_random(2) ? ",]" : "]...");
	if (!next_random(40))
		put(to, "\"");
}

static const char *const expressions[] = {
	"v == \"a\"",
	"v == \"\"",
	"v in {\"ab\",\"b\",\"a\\\"\"}",
	"v ^= \"ab\"",
	"v $= \"b\"",
	"v *= \"\\\"\"",
	"v =~ /^a.b/",
	"v != \"a\"",
	"v < \"a\"",
	"basename(v) == \"a\"",
	"basename(v) ^= \"b\"",
	"len(basename(v)) == 1",
	"v == \"a\\\"\"",
	"v == \"\\x80\"",
	"v == 5",
	"has(v)",
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

/* The answer over the same record with a tree, as binary readers build it. */
static enum tr_match judge_tree(struct tr_expr_state *judge, struct tr_record *record,
				struct tr_value *value)
{
	struct tr_record built = *record;
	built.line.data = NULL;
	built.split = true;
	built.fields = NULL;
	built.count = 0;
	if (value)
		tr_record_add(&built, TR_TEXT("v"), value);
	return tr_expr_match(judge, &built, NULL, false, NULL);
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_expr *exprs[EXPRESSIONS];
	struct tr_expr_state *states[EXPRESSIONS];
	unsigned wrong[EXPRESSIONS] = { 0 }, bad = 0, silent = 0;
	struct tr_expr_error error;

	for (int i = 0; i < EXPRESSIONS; i++) {
		exprs[i] = tr_expr_compile(tr_text_from(expressions[i]), &error);
		states[i] = tr_expr_state_new(exprs[i]);
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct tr_record record;
		tr_arena_reset(&arena);
		tr_buffer_reset(&line);
		put(&line, "exec\t0\t-\t1\tx\tw=1\tv=");
		size_t begin = line.len;
		put_value(&line);
		struct tr_text text = { line.data + begin, line.len - begin };
		put(&line, "\n");
		tr_record_init(&record, &arena);
		if (!tr_record_from_line(&record, tr_buffer_text(&line), NULL))
			return 1;
		struct tr_value *value = tr_literal_parse(text, &arena, NULL);
		int i = round % EXPRESSIONS;
		struct tr_error err;
		enum tr_match match = tr_expr_match(states[i], &record, NULL, false, &err);
		wrong[i] += match != judge_tree(states[i], &record, value);
		bad += !value;
		silent += (err.cause != TR_CAUSE_NONE) != !value;
	}
	for (int i = 0; i < EXPRESSIONS; i++) {
		ok(wrong[i] == 0, "%s", expressions[i]);
		tr_expr_state_free(states[i]);
		tr_expr_free(exprs[i]);
	}
	ok(bad > ROUNDS / 100 && bad < ROUNDS / 2, "some values are bad");
	ok(silent == 0, "a bad value is told, a good one is not");
	tr_buffer_free(&line);
	tr_arena_free(&arena);
	return done_testing();
}
