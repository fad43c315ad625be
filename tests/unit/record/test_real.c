/* Real numbers: the table both ways. */
#include "record/literal.h"

#include "tap.h"
#include "vectors.h"

static size_t spell(bool single, uint64_t bits, char *to)
{
	return single ? tr_real32_write((uint32_t)bits, to) : tr_real64_write(bits, to);
}

static void table(struct tr_arena *arena)
{
	struct vectors v;
	if (!ok(vectors_open(&v, "floats.tsv"), "floats.tsv opens"))
		return;
	while (vectors_next(&v)) {
		struct tr_text wanted = v.column[1];
		bool single = v.column[0].len == 8;
		uint64_t bits = strtoull(v.column[0].data, NULL, 16);
		char spelled[TR_REAL_MAX];
		size_t len = spell(single, bits, spelled);
		struct tr_text text = { spelled, len };
		ok(tr_text_equal(text, wanted), "%.*s is %.*s, spelled %.*s", (int)v.column[0].len,
		   v.column[0].data, (int)wanted.len, wanted.data, (int)len, spelled);
		struct tr_error err;
		tr_error_clear(&err);
		struct tr_value *value = tr_literal_parse(wanted, arena, &err);
		ok(value && value->type == (single ? TR_REAL32 : TR_REAL64) &&
			   value->as.number == bits,
		   "and reads back %s", err.text);
		tr_arena_reset(arena);
	}
	vectors_close(&v);
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	table(&arena);
	tr_arena_free(&arena);
	return done_testing();
}
