/* SPDX-License-Identifier: MIT */
/* Objects in a row: lists, lines, what is between them, and how they arrive. */
#include "record/json.h"

#include "memory.h"
#include "tap.h"

struct trial {
	const char *text, *want; /* objects, each followed by "|"; "!": an error; "?": cut */
	bool lines;
};

static const struct trial trials[] = {
	{ "[{\"a\":1},{\"b\":[2,{}]}]", "{\"a\":1}|{\"b\":[2,{}]}|", false },
	{ "\xef\xbb\xbf [\n {}\n,\n{ \"a\" : null } ]\n", "{}|{ \"a\" : null }|", false },
	{ "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}|{\"b\":2}|", true },
	{ "{\"a\":\n1}{\"b\":2}", "{\"a\":\n1}|{\"b\":2}|", true },
	{ "", "", false },
	{ "[]", "", false },
	{ "[", "?", false },
	{ "[{\"a\":1}", "{\"a\":1}|?", false },
	{ "[{\"a\":1", "?", false },
	{ "[{\"a\":{\"b\":1},", "?{\"b\":1}|", false },
	{ "noise {\"a\":1} noise {\"b\":2}", "!{\"a\":1}|!{\"b\":2}|", false },
	{ "noise {\"a\":1}\nnoise\n{\"b\":2}\n", "!!{\"b\":2}|", true },
	{ "{\"a\" 1}\n{\"b\":2}\n", "!{\"b\":2}|", true },
	{ "{\"a\":\"x\n{\"b\":2}\n", "!{\"b\":2}|", true },
	{ "{\"a\":1]}{\"b\":2}", "!{\"b\":2}|", false },
	{ "{\"a\":\"\\\"}{\\\\\"}", "{\"a\":\"\\\"}{\\\\\"}|", false },
	{ "{\"a\":tru", "?", false },
	{ "{\"a\":12", "?", false },
	{ "{\"a\":\"x\\", "?", false },
	{ "{\"a\":1}x", "{\"a\":1}|!", true },
	/* strings that are scanned many at a time */
	{ "{\"a\":\"b\",\"c\":[\"d\",\"e\"],\"f\":\"\\\"}\",\"g\":\"h\"}{}",
	  "{\"a\":\"b\",\"c\":[\"d\",\"e\"],\"f\":\"\\\"}\",\"g\":\"h\"}|{}|", true },
	{ "{\"a\":\"b\",\"c\"}{}", "!{}|", false },
	{ "{\"a\":\"b\",\"c\",\"d\":\"e\"}{}", "!{}|", false },
	{ "{\"a\":\"b\" \"c\":\"d\"}{}", "!{}|", false },
	{ "{\"a\":[\"b\":\"c\"]}{}", "!{}|", false },
	{ "{\"a\":\"b\",}{}", "!{}|", false },
};

static void gather(const struct trial *trial, size_t piece, struct tr_buffer *got)
{
	struct tr_input *in = memory_input(tr_text_from(trial->text), piece, false);
	struct tr_json_items items;
	struct tr_text object;
	struct tr_error err;
	uint64_t line;
	enum tr_status status;

	tr_json_items_init(&items, in, trial->lines);
	while ((status = tr_json_items_next(&items, &object, &line, &err)) != TR_END) {
		if (status == TR_OK)
			tr_buffer_put_text(got, object);
		tr_buffer_put_byte(got, status == TR_OK		    ? '|'
					: err.cause == TR_CAUSE_CUT ? '?'
								    : '!');
	}
	tr_input_free(in);
}

static void test_trials(void)
{
	static const size_t pieces[] = { 0, 1, 2, 3, 7 };
	for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
		bool same = true;
		for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
			struct tr_buffer got = TR_BUFFER_INIT;
			gather(&trials[i], pieces[k], &got);
			same &= tr_text_is(tr_buffer_text(&got), trials[i].want);
			if (!same)
				diag("by %zu: got %.*s", pieces[k], (int)got.len, got.data);
			tr_buffer_free(&got);
		}
		ok(same, "text %zu", i);
	}
}

static void test_lines(void)
{
	struct tr_input *in = memory_input(TR_TEXT("[\n\n{\n}\n,\n\n{}]"), 3, false);
	struct tr_json_items items;
	struct tr_text object;
	struct tr_error err;
	uint64_t line = 0;
	tr_json_items_init(&items, in, false);
	ok(tr_json_items_next(&items, &object, &line, &err) == TR_OK && line == 3, "a line");
	ok(tr_json_items_next(&items, &object, &line, &err) == TR_OK && line == 7, "another");
	tr_input_free(in);
}

static void test_members(void)
{
	static const char text[] =
		"{ \"a\" : [1, {\"b\":\"]\"}] ,\"a\":\"x\\\"\", \"c\":-1.5e3,\"d\":{}}";
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_json_member *members = NULL;
	char copy[sizeof text + TR_INPUT_PAD] = { 0 };
	size_t count;
	memcpy(copy, text, sizeof text);
	ok(tr_json_members((struct tr_text){ copy, sizeof text - 1 }, &arena, &members, &count) &&
		   count == 4,
	   "members");
	const struct tr_json_member *a = tr_json_member_find(members, count, "a");
	ok(a && a->type == TR_JSON_STRING && tr_text_is(a->value, "\"x\\\"\""), "the last counts");
	ok(tr_text_is(members[0].value, "[1, {\"b\":\"]\"}]"), "a list");
	ok(tr_text_is(members[2].value, "-1.5e3") && members[2].type == TR_JSON_NUMBER, "a number");
	ok(!tr_json_member_find(members, count, "b"), "not one of a member's");
	bool fine = true;
	for (size_t n = 0; n < sizeof text - 1; n++) {
		fine &= tr_json_members((struct tr_text){ copy, n }, &arena, &members, &count);
		fine &= count <= 4;
	}
	ok(fine, "cut anywhere");
	tr_arena_free(&arena);
}

/* Objects are listed as deep as wanted; what is deeper, and any list, is a text of its own. */
static void test_levels(void)
{
	static const char text[] = "{\"s\":{\"e\":{\"v\":{\"A\":\"b\",\"C\":\"d]}\",\"E\":\"\\\"\","
				   "\"F\":[\"x\",\"}\"],\"G\":\"h\"},"
				   "\"n\":[\"i\",\"j\\\\\",\"k\"]}},\"z\":2}";
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_json_member *top = NULL;
	char copy[sizeof text + TR_INPUT_PAD] = { 0 };
	size_t count;
	memcpy(copy, text, sizeof text);
	struct tr_text object = { copy, sizeof text - 1 };
	ok(tr_json_members_deep(object, 2, NULL, &arena, &top, &count) && count == 2 &&
		   top[0].count == 1 && top[0].members[0].count == 2,
	   "two levels");
	const struct tr_json_member *inner = top[0].members[0].members;
	ok(tr_text_is(inner[0].value, "{\"A\":\"b\",\"C\":\"d]}\",\"E\":\"\\\"\","
				      "\"F\":[\"x\",\"}\"],\"G\":\"h\"}") &&
		   !inner[0].members,
	   "what is deeper is a text");
	ok(tr_text_is(inner[1].value, "[\"i\",\"j\\\\\",\"k\"]"), "a list");
	ok(tr_json_members_deep(object, 0, NULL, &arena, &top, &count) && count == 2 &&
		   !top[0].members && tr_text_is(top[1].value, "2"),
	   "no level");
	tr_arena_free(&arena);
}

/*
 * An object that comes again is found without a scan: here it would not pass one, so the same bytes
 * are no object where they are not recent, or deeper.
 */
static void test_recent(void)
{
	static const char broken[] = "{\"no\":json at all}";
	struct tr_json_recent recent = { .next = 0 };
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_json_items items;
	struct tr_json_member *members;
	struct tr_text object;
	struct tr_error err;
	size_t count, found = 0, bad = 0;
	uint64_t line;
	enum tr_status status;
	const struct tr_text text = TR_TEXT("{\"a\":{\"no\":json at all},\"b\":{\"c\":1}}\n"
					    "{\"a\":[{\"no\":json at all}]}\n"
					    "{\"a\":{\"no\":json at all]}}\n"
					    "{\"a\":{\"b\":{\"no\":json at all}}}\n");

	tr_json_recent_put(&recent, tr_text_from(broken), 1, TR_TEXT("spelling"));
	struct tr_input *in = memory_input(text, text.len, false);
	tr_json_items_init(&items, in, true);
	items.recent = &recent;
	while ((status = tr_json_items_next(&items, &object, &line, &err)) != TR_END) {
		bad += status == TR_WARN;
		if (status != TR_OK)
			continue;
		found++;
		ok(line == 1 &&
			   tr_json_members_deep(object, 3, &recent, &arena, &members, &count) &&
			   count == 2 && tr_text_is(members[0].value, broken) &&
			   !members[0].members && members[1].count == 1,
		   "a recent object is not listed, others are");
	}
	ok(found == 1 && bad == 3,
	   "a recent object is found, but not in a list, changed, or deeper");
	tr_input_free(in);

	const struct tr_json_recent_object *known =
		tr_json_recent_find(&recent, broken, broken + sizeof broken - 1, 1);
	ok(known && tr_text_is(tr_buffer_text(&known->spelling), "spelling"), "its spelling");
	ok(!tr_json_recent_find(&recent, broken, broken + sizeof broken - 2, 1), "it is cut");
	for (unsigned i = 0; i < TR_JSON_RECENT; i++) {
		char other[] = "{\"other\":0}";
		other[sizeof other - 3] = (char)('0' + i);
		tr_json_recent_put(&recent, tr_text_from(other), 1, TR_TEXT(""));
	}
	ok(!tr_json_recent_find(&recent, broken, broken + sizeof broken - 1, 1), "it is forgotten");
	tr_json_recent_free(&recent);
	tr_arena_free(&arena);
}

int main(void)
{
	test_trials();
	test_lines();
	test_members();
	test_levels();
	test_recent();
	return done_testing();
}
