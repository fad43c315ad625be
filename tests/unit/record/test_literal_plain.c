/* SPDX-License-Identifier: MIT */
/* The check of plain lists and maps, against the parser: at random, and nearly right. */
#include "record/literal.h"
#include "record/string_scan.h"

#include "tap.h"

enum { ROUNDS = 50000 };

static uint32_t seed = 7;

static unsigned pick(unsigned count)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % count;
}

static void put_string(struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '"');
	for (unsigned left = pick(4) ? pick(20) : pick(200); left > 0; left--)
		tr_buffer_put_byte(to, "abc,:[]{}=-xyz 019"[pick(18)]);
	tr_buffer_put_byte(to, '"');
}

static void put_container(struct tr_buffer *to, bool map)
{
	tr_buffer_put_byte(to, map ? '{' : '[');
	for (unsigned i = 0, count = pick(16); i < count; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		put_string(to);
		if (!map)
			continue;
		tr_buffer_put_byte(to, ':');
		put_string(to);
	}
	tr_buffer_put_byte(to, map ? '}' : ']');
}

/* One byte becomes another, goes away, or is doubled. */
static void harm(struct tr_buffer *b)
{
	static const char bytes[] = "\"\",:\\[]{}a \x7f\x01\x80";
	size_t at = pick((unsigned)b->len);
	switch (pick(3)) {
	case 0:
		b->data[at] = bytes[pick(sizeof bytes - 1)];
		break;
	case 1:
		memmove(b->data + at, b->data + at + 1, b->len - at - 1);
		b->len--;
		break;
	default:
		tr_buffer_put_byte(b, 0);
		memmove(b->data + at + 1, b->data + at, b->len - at - 1);
	}
}

/* Neither better nor worse than parsing and writing anew. */
static bool is_canonical(struct tr_text text)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer anew = TR_BUFFER_INIT;
	struct tr_value *value = tr_literal_parse(text, &arena, NULL);
	if (value)
		tr_literal_write(value, &anew);
	bool same = value && tr_text_equal(tr_buffer_text(&anew), text);
	tr_buffer_free(&anew);
	tr_arena_free(&arena);
	return same;
}

static void check(bool harmed, const char *name)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	unsigned plain = 0, wrong = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		tr_buffer_reset(&text);
		put_container(&text, pick(2));
		if (harmed)
			harm(&text);
		if (text.len < TR_PLAIN_LEAST ||
		    !tr_literal_is_plain(text.data, text.data + text.len)) {
			wrong += !harmed && text.len >= TR_PLAIN_LEAST && TR_PLAIN_BLOCKS;
			continue;
		}
		plain++;
		if (harmed && !is_canonical(tr_buffer_text(&text))) {
			diag("%.*s", (int)text.len, text.data);
			wrong++;
		}
	}
	ok(wrong == 0, "%s: %u found plain, %u wrongly judged", name, plain, wrong);
	tr_buffer_free(&text);
}

/*
 * Command lines that a writer of JSON copies: strings only, with nothing that JSON spells
 * differently.
 */
static void check_strings(void)
{
	static const struct {
		const char *text;
		bool strings;
	} cases[] = {
		{ "\"\"", true },
		{ "\"/srv/x\"", true },
		{ "[\"gcc\",\"-c\"]", true },
		{ "[\"a\\\"b\"]", true },
		{ "[\"\xc3\xbc\"]", true },
		{ "[\"a\",1]", false },
		{ "[\"a\",null]", false },
		{ "[\"a\",]", false },
		{ "[]", false },
		{ "[\"\\xff\"]", false },
		{ "[\"a\"]...", false },
		{ "\"a\"...", false },
		{ "[\"a\"", false },
		{ "\"a", false },
		{ "{\"a\":\"b\"}", false },
		{ "[[\"a\"]]", false },
		{ "\"", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(tr_literal_is_json_strings(tr_text_from(cases[i].text)) == cases[i].strings,
		   "%s: %s", cases[i].text, cases[i].strings ? "the same in JSON" : "not copied");
}

int main(void)
{
	check_strings();
	check(false, "right ones");
	check(true, "with a byte changed");
	return done_testing();
}
