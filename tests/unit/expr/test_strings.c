/* SPDX-License-Identifier: MIT */
/* Comparing strings in the text of a line gives the same answers as comparing trees. */
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
	"v == \"ab\"",
	"v == \"a,\"",
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

/* Whether a record whose v is this text matches. */
static bool matches(const char *expression, struct tr_text value)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(tr_text_from(expression), &error);
	struct tr_expr_state *judge = tr_expr_state_new(expr);
	struct tr_record record;

	put(&line, "exec\t0\t-\t1\tx\tv=");
	tr_buffer_put_text(&line, value);
	put(&line, "\n");
	tr_record_init(&record, &arena);
	bool match = tr_record_from_line(&record, tr_buffer_text(&line), NULL) &&
		     tr_expr_match(judge, &record, NULL, false, NULL) == TR_MATCH_YES;
	tr_expr_state_free(judge);
	tr_expr_free(expr);
	tr_buffer_free(&line);
	tr_arena_free(&arena);
	return match;
}

/* A string of any length is found anywhere in a list, and no string that differs in one byte. */
static void test_places(void)
{
	struct tr_buffer expression = TR_BUFFER_INIT, value = TR_BUFFER_INIT;
	unsigned missed = 0, wrong = 0;

	for (size_t len = 0; len < 140; len += len < 3 ? 1 : 1 + next_random(9)) {
		char word[141];
		memset(word, 'w', len);
		word[len] = '\0';
		tr_buffer_reset(&expression);
		tr_buffer_put(&expression, "v == \"", 6);
		put(&expression, word);
		tr_buffer_put(&expression, "\"\0", 2);
		for (size_t before = 0; before < 130; before++) {
			tr_buffer_reset(&value);
			put(&value, "[\"");
			for (size_t i = 0; i < before; i++)
				tr_buffer_put_byte(&value, 'v');
			put(&value, before ? "\",\"" : "");
			size_t begin = value.len;
			put(&value, word);
			put(&value, before % 2 ? "\"]" : "\",\"x\"]");
			missed += !matches(expression.data, tr_buffer_text(&value));
			if (!len)
				continue;
			value.data[begin + next_random((uint32_t)len)] = 'v';
			wrong += matches(expression.data, tr_buffer_text(&value));
		}
	}
	ok(missed == 0, "strings are found wherever they are");
	ok(wrong == 0, "other strings are not");
	ok(!matches("v == \"a\\\",\\\"b\"", TR_TEXT("[\"a\",\"b\"]")), "two strings are not one");
	ok(!matches("v == \"a\"", TR_TEXT("\"a\",\"b\"")), "strings without brackets are no list");
	tr_buffer_free(&expression);
	tr_buffer_free(&value);
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
	ok(silent == 0, "a bad value is reported, a good one is not");
	test_places();
	tr_buffer_free(&line);
	tr_arena_free(&arena);
	return done_testing();
}
