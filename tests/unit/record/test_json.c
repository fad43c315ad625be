/* SPDX-License-Identifier: MIT */
#include "record/json.h"

#include <stdlib.h>

#include "tap.h"

/* A copy with only PAD bytes after it, so that sanitizers report reads beyond them. */
static struct tr_json text_of(const char *bytes, size_t len, char **copy)
{
	enum { PAD = 64 };
	*copy = malloc(len + PAD);
	memcpy(*copy, bytes, len);
	memset(*copy + len, '"', PAD);
	return (struct tr_json){ *copy, *copy + len };
}

struct spelling {
	const char *json, *trec; /* trec NULL: the same bytes */
	bool rounded;
};

static const struct spelling spellings[] = {
	{ "null", NULL, 0 },
	{ "true", NULL, 0 },
	{ "false", NULL, 0 },
	{ "0", NULL, 0 },
	{ "-0", NULL, 0 },
	{ "18446744073709551615", NULL, 0 },
	{ "-18446744073709551615", NULL, 0 },
	{ "18446744073709551616", "1.8446744073709552e19", 1 },
	{ "100000000000000000000000", "1e23", 1 },
	{ "1.50", "1.5", 0 },
	{ "1E2", "100.0", 0 },
	{ "1e5", "100000.0", 0 },
	{ "-0.0", NULL, 0 },
	{ "0e9", "0.0", 0 },
	{ "\"\"", NULL, 0 },
	{ "\"a\"", NULL, 0 },
	{ "\"exactly sixteen.\"", NULL, 0 },
	{ "\"more than sixteen bytes, more than thirty-two\"", NULL, 0 },
	{ "\"\\n\\t\\r\\b\\f\\\\\\\"\"", NULL, 0 },
	{ "\"\\u0001\\u007f\\u001f\"", NULL, 0 },
	{ "\"\\u001F\"", "\"\\u001f\"", 0 },
	{ "\"\\/\\u0041\\u000a\"", "\"/A\\n\"", 0 },
	{ "\"\\u00e9\"", "\"\xc3\xa9\"", 0 },
	{ "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", 0 },
	{ "\"\\ud800\"", NULL, 0 },
	{ "\"\\uD800\"", "\"\\ud800\"", 0 },
	{ "\"\\udc80\\ud83d\"", NULL, 0 },
	{ "\"\\ud83d\\u0041\"", "\"\\ud83dA\"", 0 },
	{ "\"\\ud83d\\ud83d\\ude00\"", "\"\\ud83d\xf0\x9f\x98\x80\"", 0 },
	{ "\"Gr\xc3\xbc\xc3\x9f\x65 \xe2\x82\xac\"", NULL, 0 },
	{ "\"caf\xe9\"", "\"caf\\xe9\"", 0 },
	{ "\"\xed\xa0\x80\"", "\"\\xed\\xa0\\x80\"", 0 },
	{ "\"\xe2\x82\"", "\"\\xe2\\x82\"", 0 },
	{ "\"a\tb\r\x01\x7f\x1b\"", "\"a\\tb\\r\\u0001\\u007f\\u001b\"", 0 },
	{ "[]", NULL, 0 },
	{ "{}", NULL, 0 },
	{ "[[],{}]", NULL, 0 },
	{ "[\"a\",1,null,{\"b\":[true,false]}]", NULL, 0 },
	{ "{\"a\":{\"b\":{}},\"a\":1}", NULL, 0 },
	{ " [ \"a\" , 1 ] ", "[\"a\",1]", 0 },
	{ "{ \"a\" : \" b\", \"c\":\t[ ] }", "{\"a\":\" b\",\"c\":[]}", 0 },
};

static void test_spelling(const struct spelling *row)
{
	char *copy;
	struct tr_text want = tr_text_from(row->trec ? row->trec : row->json);
	struct tr_json json = text_of(row->json, strlen(row->json), &copy);
	struct tr_json skipped = json;
	struct tr_buffer to = TR_BUFFER_INIT;
	struct tr_json_changes changes = { false, false };
	struct tr_error err;
	enum tr_json_token token = tr_json_spell(&json, &to, &changes, &err);
	ok(token != TR_JSON_BAD && token != TR_JSON_CUT &&
		   tr_text_equal(tr_buffer_text(&to), want) &&
		   changes.respelled == (row->trec != NULL) && changes.rounded == row->rounded,
	   "%s is spelled %.*s", row->json, (int)want.len, want.data);
	if (!tr_text_equal(tr_buffer_text(&to), want))
		diag("got %.*s", (int)to.len, to.data);
	token = tr_json_skip(&skipped, &err);
	ok(token != TR_JSON_BAD && token != TR_JSON_CUT && skipped.pos == json.pos, "and skipped");
	tr_buffer_free(&to);
	free(copy);
}

static const char *const bad[] = {
	"[01]",	    "1.x",	 "-a",	 "+1",	 "tru_",  "nulL",    "\"\\q\"",	 "\"\\u12g4\"",
	"\"a\nb\"", "[1 2]",	 "[,1]", "[1,]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
	"[1}",	    "{\"a\":1]", "'a'",	 "]",	 ",",	  ":",	     "[1,,2]",	 "{\"a\" 1}",
};

static const char *const cut[] = {
	"",	   "\"abc", "\"abc\\", "\"abc\\u12", "[1", "[",	      "{",	  "{\"a\"",
	"{\"a\":", "tr",    "-",       "1.",	     "1e", "[\"a\",", "{\"a\":1", "[[]",
};

static void test_refused(const char *text, enum tr_json_token want)
{
	char *copy;
	struct tr_json json = text_of(text, strlen(text), &copy);
	struct tr_json skipped = json;
	struct tr_buffer to = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	ok(tr_json_spell(&json, &to, NULL, &err) == want && err.cause == TR_CAUSE_INPUT, "%s is %s",
	   text, want == TR_JSON_BAD ? "bad" : "cut");
	ok(tr_json_skip(&skipped, &err) == want, "and is not skipped");
	tr_buffer_free(&to);
	free(copy);
}

static void test_depth(void)
{
	enum { LIMIT = 60 };
	for (int depth = LIMIT; depth <= LIMIT + 1; depth++) {
		char text[2 * (LIMIT + 1)], *copy;
		memset(text, '[', depth);
		memset(text + depth, ']', depth);
		struct tr_json json = text_of(text, 2 * depth, &copy);
		struct tr_json skipped = json;
		struct tr_buffer to = TR_BUFFER_INIT;
		struct tr_error err;
		enum tr_json_token want = depth <= LIMIT ? TR_JSON_ARRAY : TR_JSON_BAD;
		ok(tr_json_spell(&json, &to, NULL, &err) == want, "%d open brackets", depth);
		ok((tr_json_skip(&skipped, &err) == TR_JSON_BAD) == (depth > LIMIT), "skipped too");
		tr_buffer_free(&to);
		free(copy);
	}
}

static void test_walk_in_pieces(void)
{
	static const char *const pieces[] = { "{\n", "\"a\"\n", ":\n", "[1,\n", "\n", "2]", "} x" };
	struct tr_json_walk walk = TR_JSON_WALK_INIT;
	enum tr_json_token token = TR_JSON_CUT;
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		char *copy;
		struct tr_json json = text_of(pieces[i], strlen(pieces[i]), &copy);
		ok(token == TR_JSON_CUT, "the value continues");
		token = tr_json_walk_on(&json, &walk);
		ok(token != TR_JSON_CUT || json.pos == json.end, "all of piece %zu is taken", i);
		free(copy);
	}
	ok(token == TR_JSON_OBJECT_END, "and is complete");
}

/* The spelling of a value token by token; false where it is no JSON. */
static bool spell_slowly(struct tr_json json, struct tr_buffer *to)
{
	static const char marks[] = {
		[TR_JSON_OBJECT] = '{',	   [TR_JSON_OBJECT_END] = '}', [TR_JSON_ARRAY] = '[',
		[TR_JSON_ARRAY_END] = ']', [TR_JSON_COLON] = ':',      [TR_JSON_COMMA] = ','
	};
	struct tr_json skipped = json;
	struct tr_error err;
	enum tr_json_token token = tr_json_skip(&skipped, &err);
	if (token == TR_JSON_BAD || token == TR_JSON_CUT)
		return false;
	while (json.pos < skipped.pos) {
		struct tr_text text;
		token = tr_json_next(&json, &text);
		if (token == TR_JSON_STRING) {
			tr_buffer_put_byte(to, '"');
			tr_json_string_to_spelling(text, to);
			tr_buffer_put_byte(to, '"');
		} else if (token == TR_JSON_NUMBER) {
			tr_buffer_put_text(to, text);
		} else {
			tr_buffer_put_byte(to, marks[token]);
		}
	}
	return true;
}

/* A list or map over several blocks, with one byte of it changed to anything that matters. */
static void test_blocks(const char *text)
{
	static const char bytes[] = "\"\\,:[]{}1 a\n\x01\x7f\xc3\xff";
	size_t length = strlen(text), wrong = 0;
	struct tr_buffer slow = TR_BUFFER_INIT, fast = TR_BUFFER_INIT;
	struct tr_error err;
	char *copy;
	struct tr_json json = text_of(text, length, &copy);
	for (size_t at = 0; at < length; at++) {
		for (const char *byte = bytes; *byte; byte++) {
			copy[at] = *byte;
			struct tr_json quick = json;
			tr_buffer_reset(&slow);
			tr_buffer_reset(&fast);
			bool good = spell_slowly(json, &slow);
			enum tr_json_token token = tr_json_spell(&quick, &fast, NULL, &err);
			bool taken = token != TR_JSON_BAD && token != TR_JSON_CUT;
			wrong += taken != good || (good && !tr_text_equal(tr_buffer_text(&slow),
									  tr_buffer_text(&fast)));
		}
		copy[at] = text[at];
	}
	ok(wrong == 0, "%zu bytes, each changed to anything: %zu wrong", length, wrong);
	tr_buffer_free(&slow);
	tr_buffer_free(&fast);
	free(copy);
}

static void test_cell(const char *body, const char *want, bool unique)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	char *copy;
	struct tr_json json = text_of(body, strlen(body), &copy);
	bool result = tr_json_string_to_cell(tr_text_span(json.pos, json.end), &to);
	ok(tr_text_is(tr_buffer_text(&to), want) && result == unique, "%s as a cell is %s", body,
	   want);
	tr_buffer_free(&to);
	free(copy);
}

static void test_bytes(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	char *copy;
	const char body[] = "a\\n\\u00e9\\ud800\\\"\xff";
	struct tr_json json = text_of(body, sizeof body - 1, &copy);
	struct tr_text bytes = tr_string_bytes(tr_text_span(json.pos, json.end), &arena);
	ok(tr_text_is(bytes, "a\n\xc3\xa9\xed\xa0\x80\"\xff"), "a body is decoded to bytes");
	tr_arena_free(&arena);
	free(copy);
}

static void test_back(const char *trec, const char *json)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	char *copy;
	struct tr_json text = text_of(trec, strlen(trec), &copy);
	bool result = tr_json_from_literal(tr_text_span(text.pos, text.end), &arena, &to, &err);
	ok(result == (json != NULL) && (!json || tr_text_is(tr_buffer_text(&to), json)),
	   "%s is %s in JSON", trec, json ? json : "nothing");
	tr_buffer_free(&to);
	tr_arena_free(&arena);
	free(copy);
}

static void test_wtf8(const char *bytes, const char *json)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	tr_json_string_from_wtf8(tr_text_from(bytes), &to);
	ok(tr_text_is(tr_buffer_text(&to), json), "bytes that make %s", json);
	tr_buffer_free(&to);
}

int main(void)
{
	for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
		test_spelling(&spellings[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		test_refused(bad[i], TR_JSON_BAD);
	for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
		test_refused(cut[i], TR_JSON_CUT);

	test_depth();
	test_walk_in_pieces();
	test_blocks("[\"gcc\",\"-O3\",\"\",\"-D_LARGEFILE64_SOURCE=1\",\"-DHAVE_HIDDEN\",\"-I.\","
		    "\"-c\","
		    "\"-o\",\"a,b\",\"[x]\",\"a rather long name of a file that goes over a "
		    "block.o\"]");
	test_blocks(
		"{\"A\":\"\",\"COLLECT_GCC\":\"gcc\",\"OFFLOAD_TARGET_NAMES\":\"nvptx-none:"
		"amdgcn\","
		"\"COLLECT_GCC_OPTIONS\":\"'-O3' '-D' 'HAVE_HIDDEN' '-I' '.' '-c'\",\"B\":\"b,\"}");
	test_cell("/usr/bin/gcc", "/usr/bin/gcc", true);
	test_cell("", "\\e", true);
	test_cell("-", "\\-", true);
	test_cell("a\\tb\\\\c", "a\\tb\\\\c", true);
	test_cell("caf\xe9", "caf\\xe9", true);
	test_cell("\xc3\xa9\\u00e9", "\xc3\xa9\xc3\xa9", true);
	test_cell("\\ud800", "\\xed\\xa0\\x80", false);
	test_bytes();
	test_back("[\"a\",1]", "[\"a\",1]");
	test_back("\"caf\\xe9\"", "\"caf\xe9\"");
	test_back("{\"k\\xff\":[null,18446744073709551615,-0,-1.5,1e16]}",
		  "{\"k\xff\":[null,18446744073709551615,-0,-1.5,1e16]}");
	test_back("\"\\ud800\\u007f\"", "\"\\ud800\\u007f\"");
	test_wtf8("a\xc3\xa9\t\"", "\"a\xc3\xa9\\t\\\"\"");
	test_wtf8("a\xed\xa0\x80z\xed\xbf\xbf", "\"a\\ud800z\\udfff\"");
	test_wtf8("\xed\xbf\xbf\xed\xa0\x80", "\"\\udfff\\ud800\"");
	test_wtf8("\xed\xa0\xbd\xed\xb8\x80\xed\xb8\x80", "\"\xed\xa0\xbd\xed\xb8\x80\\ude00\"");
	test_wtf8("\\xed\\xa0\\x80\xed\xa0\xe9\xed\xa0",
		  "\"\\\\xed\\\\xa0\\\\x80\xed\xa0\xe9\xed\xa0\"");
	test_back("0x10", NULL);
	test_back("\"cut\"...", NULL);
	test_back("[1.5f]", NULL);
	test_back("nan", NULL);
	test_back("+1", NULL);
	return done_testing();
}
