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

/* Replaces, removes or doubles one byte. */
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

/* The pairs of a map as lists, made from the parsed map. */
static void put_pairs(struct tr_text map, struct tr_buffer *to)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_value *value = tr_literal_parse(map, &arena, NULL);
	for (size_t i = 0; value && i < value->count; i++) {
		tr_buffer_put_text(to, i ? TR_TEXT(",[\"") : TR_TEXT("[\""));
		tr_buffer_put_text(to, value->as.members[i].key);
		tr_buffer_put_literal(to, "\",");
		tr_literal_write(value->as.members[i].value, to);
		tr_buffer_put_byte(to, ']');
	}
	tr_arena_free(&arena);
}

/* Pairs are appended exactly if the map is plain, and nothing else. */
static void check_pairs(void)
{
	struct tr_buffer text = TR_BUFFER_INIT, want = TR_BUFFER_INIT, got = TR_BUFFER_INIT;
	unsigned wrong = 0, made = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		tr_buffer_reset(&text);
		tr_buffer_reset(&want);
		tr_buffer_reset(&got);
		put_container(&text, pick(8));
		if (pick(2))
			harm(&text);
		struct tr_text map = tr_buffer_text(&text);
		bool plain = map.len >= TR_PLAIN_LEAST && *map.data == '{' &&
			     tr_literal_is_plain(map.data, map.data + map.len);
		if (plain)
			put_pairs(map, &want);
		wrong += tr_literal_put_plain_pairs(map, &got) != plain ||
			 !tr_text_equal(tr_buffer_text(&got), tr_buffer_text(&want));
		made += plain;
	}
	ok(wrong == 0, "%u maps as pairs, %u wrong", made, wrong);
	tr_buffer_free(&text);
	tr_buffer_free(&want);
	tr_buffer_free(&got);
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
	check_pairs();
	return done_testing();
}
