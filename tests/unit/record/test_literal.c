/* SPDX-License-Identifier: MIT */
/* Values: the tables of good and bad ones. */
#include "record/literal.h"

#include "tap.h"
#include "vectors.h"

static const char *const spelling_names[] = { "canonical", "noncanonical", "malformed" };

/* Parses and writes; the text in `to` is what came out. */
static bool rewrite(struct tr_text text, struct tr_arena *arena, struct tr_buffer *to,
		    struct tr_error *err)
{
	tr_buffer_reset(to);
	const struct tr_value *value = tr_literal_parse(text, arena, err);
	if (!value)
		return false;
	tr_literal_write(value, to);
	return !to->failed;
}

static void good_values(struct tr_arena *arena, struct tr_buffer *out)
{
	struct vectors v;
	if (!ok(vectors_open(&v, "values-good.tsv"), "values-good.tsv opens"))
		return;
	while (vectors_next(&v)) {
		struct tr_text text = v.column[0];
		struct tr_error err;
		tr_error_clear(&err);
		enum tr_spelling spelling = tr_literal_check(text, NULL, &err);
		bool same =
			rewrite(text, arena, out, &err) && tr_text_equal(text, tr_buffer_text(out));
		if (!ok(spelling == TR_CANONICAL && same, "good %u: %.*s", v.row, (int)text.len,
			text.data))
			diag("%s; written: %.*s; %s", spelling_names[spelling], (int)out->len,
			     out->data, err.text);
		tr_arena_reset(arena);
	}
	vectors_close(&v);
}

/* The column is exact in our table; reasons may continue after a ";". */
static bool same_reason(struct tr_text wanted, const char *reason)
{
	size_t len = strlen(reason);
	return wanted.len >= len && memcmp(wanted.data, reason, len) == 0 &&
	       (wanted.len == len || wanted.data[len] == ';');
}

static void bad_values(struct tr_arena *arena, struct tr_buffer *out)
{
	struct vectors v;
	if (!ok(vectors_open(&v, "values-bad.tsv"), "values-bad.tsv opens"))
		return;
	struct tr_text noncanonical = TR_TEXT("noncanonical: ");
	while (vectors_next(&v)) {
		struct tr_text text = v.column[0], wanted = v.column[1];
		struct tr_error err;
		tr_error_clear(&err);
		bool json = true, right;
		enum tr_spelling spelling = tr_literal_check(text, &json, &err);
		bool parsed = rewrite(text, arena, out, &err);
		if (tr_text_starts(wanted, noncanonical))
			right = spelling == TR_NONCANONICAL && parsed && !json &&
				tr_text_equal(tr_buffer_text(out),
					      tr_text_span(wanted.data + noncanonical.len,
							   wanted.data + wanted.len));
		else
			right = spelling == TR_MALFORMED && !parsed && !json &&
				same_reason(wanted, err.text);
		if (!ok(right, "bad %u: %.*s", v.row, (int)text.len, text.data))
			diag("%s; written: %.*s; error: %s; wanted: %.*s", spelling_names[spelling],
			     (int)out->len, out->data, err.text, (int)wanted.len, wanted.data);
		tr_arena_reset(arena);
	}
	vectors_close(&v);
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer out = TR_BUFFER_INIT;
	good_values(&arena, &out);
	bad_values(&arena, &out);
	tr_buffer_free(&out);
	tr_arena_free(&arena);
	return done_testing();
}
