/* SPDX-License-Identifier: MIT */
/*
 * Values at random: what is written is canonical and reads back as the same
 * tree; and texts that are almost values, over which the check with its short
 * cuts, the parser and the writer have to agree.
 */
#include "record/literal.h"

#include "random_value.h"
#include "tap.h"

static const uint64_t SEED = UINT64_C(0x7ec05eed);

static bool same_value(const struct tr_value *a, const struct tr_value *b);

static bool same_symbol(const struct tr_symbol *a, const struct tr_symbol *b)
{
	if (a->numbered != b->numbered || a->number != b->number || a->id != b->id ||
	    a->unknown_bits != b->unknown_bits || a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!tr_text_equal(a->names[i].text, b->names[i].text))
			return false;
	return true;
}

static bool same_content(const struct tr_value *a, const struct tr_value *b)
{
	bool members = a->type == TR_MAP || a->type == TR_STRUCT;
	for (size_t i = 0; i < a->count; i++) {
		if (members && !tr_text_equal(a->as.members[i].key, b->as.members[i].key))
			return false;
		if (!same_value(members ? a->as.members[i].value : &a->as.items[i],
				members ? b->as.members[i].value : &b->as.items[i]))
			return false;
	}
	return true;
}

static bool same_value(const struct tr_value *a, const struct tr_value *b)
{
	if (a->type != b->type || a->flags != b->flags || a->id != b->id || a->count != b->count ||
	    !tr_text_equal(a->text, b->text))
		return false;
	if (a->type == TR_SYMBOL)
		return same_symbol(a->as.symbol, b->as.symbol);
	if (a->type >= TR_LIST)
		return same_content(a, b);
	return a->as.number == b->as.number;
}

static void round_trips(struct random *r, struct tr_buffer *text)
{
	enum { ROUNDS = 20000, DEPTH = 5 };
	unsigned failed = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct tr_value value;
		struct tr_error err;
		tr_error_clear(&err);
		random_value(r, DEPTH, &value);
		tr_buffer_reset(text);
		tr_literal_write(&value, text);
		enum tr_spelling spelling = tr_literal_check(tr_buffer_text(text), NULL, &err);
		const struct tr_value *back =
			tr_literal_parse(tr_buffer_text(text), r->arena, &err);
		if (spelling != TR_CANONICAL || !back || !same_value(&value, back)) {
			failed++;
			diag("round %u: %.*s: %s", i, (int)text->len, text->data, err.text);
		}
		tr_arena_reset(r->arena);
	}
	ok(failed == 0, "%d random values are written canonically and read back", ROUNDS);
}

/* One small change of the kind that hits a grammar: a byte of its own alphabet, put in or over. */
static void mutate(struct random *r, struct tr_buffer *text)
{
	static const char alphabet[] =
		"\"\\[]{}<>,:;=|()@?.-+ 0123456789aefxunLMES_\xc3\xa9\x01\x7f";
	size_t at = random_below(r, (unsigned)text->len + 1);
	char c = alphabet[random_below(r, sizeof alphabet - 1)];
	switch (random_below(r, 4)) {
	case 0: /* take out */
		if (at < text->len) {
			memmove(text->data + at, text->data + at + 1, text->len - at - 1);
			text->len--;
		}
		return;
	case 1: /* put in */
		if (!tr_buffer_room(text, 1))
			return;
		memmove(text->data + at + 1, text->data + at, text->len - at);
		text->data[at] = c;
		text->len++;
		return;
	case 2: /* put over */
		if (at < text->len)
			text->data[at] = c;
		return;
	default: /* cut */
		text->len = at;
	}
}

/* What the three say of one text; NULL: they agree. */
static const char *disagreement(struct tr_text text, struct tr_arena *arena,
				struct tr_buffer *again)
{
	struct tr_error err;
	tr_error_clear(&err);
	bool json;
	enum tr_spelling spelling = tr_literal_check(text, &json, &err);
	const struct tr_value *value = tr_literal_parse(text, arena, NULL);
	if (spelling == TR_MALFORMED) {
		if (value)
			return "malformed, but it parses";
		return json || err.cause == TR_CAUSE_NONE ? "malformed without a word" : NULL;
	}
	if (!value)
		return "a value that does not parse";
	tr_buffer_reset(again);
	tr_literal_write(value, again);
	bool same = tr_text_equal(text, tr_buffer_text(again));
	if (same != (spelling == TR_CANONICAL))
		return same ? "canonical, but the check denies it" : "not canonical";
	if (tr_literal_check(tr_buffer_text(again), NULL, NULL) != TR_CANONICAL)
		return "what is written is not canonical";
	return NULL;
}

static void mutations(struct random *r, struct tr_buffer *text)
{
	enum { ROUNDS = 60000, DEPTH = 3 };
	struct tr_buffer again = TR_BUFFER_INIT;
	unsigned failed = 0, still_values = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct tr_value value;
		random_value(r, DEPTH, &value);
		tr_buffer_reset(text);
		tr_literal_write(&value, text);
		for (unsigned n = random_below(r, 4); n > 0; n--)
			mutate(r, text);
		/* a copy of its very size, so that a sanitizer sees every byte read too much */
		char *exact = malloc(text->len + 1);
		if (!exact)
			abort();
		memcpy(exact, text->data, text->len);
		struct tr_text t = { exact, text->len };
		const char *trouble = disagreement(t, r->arena, &again);
		if (trouble) {
			failed++;
			diag("round %u: %s: %.*s -> %.*s", i, trouble, (int)t.len, t.data,
			     (int)again.len, again.data);
		}
		still_values += tr_literal_check(t, NULL, NULL) != TR_MALFORMED;
		free(exact);
		tr_arena_reset(r->arena);
	}
	tr_buffer_free(&again);
	ok(failed == 0, "check, parser and writer agree on %d changed texts", ROUNDS);
	ok(still_values > ROUNDS / 10 && still_values < ROUNDS, "%u of which are still values",
	   still_values);
}

static bool nested(unsigned depth, struct tr_buffer *text, struct tr_arena *arena)
{
	static const char *const brackets[] = { "[]", "<>", "{}" };
	tr_buffer_reset(text);
	for (unsigned i = 0; i < depth; i++) {
		tr_buffer_put_byte(text, brackets[i % 3][0]);
		tr_buffer_put_text(text, i % 3 == 1 ? TR_TEXT("1;") : TR_TEXT(""));
		tr_buffer_put_text(text, i % 3 == 2 ? TR_TEXT("a=") : TR_TEXT(""));
	}
	tr_buffer_put_byte(text, '1');
	for (unsigned i = depth; i-- > 0;)
		tr_buffer_put_byte(text, brackets[i % 3][1]);
	struct tr_error err;
	tr_error_clear(&err);
	bool parsed = tr_literal_parse(tr_buffer_text(text), arena, &err) != NULL;
	bool checked = tr_literal_check(tr_buffer_text(text), NULL, NULL) == TR_CANONICAL;
	return parsed == checked && (parsed || err.cause == TR_CAUSE_LIMIT) ? parsed : !parsed;
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct random r = { SEED, &arena, TR_BUFFER_INIT };
	diag("seed %#llx", (unsigned long long)SEED);
	round_trips(&r, &text);
	mutations(&r, &text);
	ok(nested(60, &text, &arena), "60 open brackets are fine");
	ok(!nested(61, &text, &arena), "61 are too many");
	ok(!nested(1000000, &text, &arena), "and so are a million");
	tr_buffer_free(&r.scratch);
	tr_buffer_free(&text);
	tr_arena_free(&arena);
	return done_testing();
}
