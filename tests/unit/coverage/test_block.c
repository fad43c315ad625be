/* SPDX-License-Identifier: MIT */
/* Blocks and op words: built, as lines, and back. */
#include "coverage/block.h"

#include <stdlib.h>

#include "coverage/layout.h"
#include "record/literal.h"
#include "tap.h"

static struct tr_arena arena = TR_ARENA_INIT;

/*
 * Reads the op of a block, from the text if its fields are in the usual order, otherwise from the
 * parsed value. -1: the block is refused.
 */
static int op_of(struct tr_text spelling, bool usual)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_block block;
	struct tr_error err;

	tr_buffer_put_literal(&line, "block\t7\t-\t-\t0x00001000");
	tr_buffer_put_text(&line, usual ? TR_TEXT("\tsize=4\top=") : TR_TEXT("\top="));
	tr_buffer_put_text(&line, spelling);
	tr_buffer_put_text(&line, usual ? TR_TEXT("\n") : TR_TEXT("\tsize=4\n"));
	tr_record_init(&record, &arena);
	bool read = tr_record_from_line(&record, tr_buffer_text(&line), NULL) &&
		    tr_block_read(&record, &block, &err) == TR_OK;
	tr_buffer_free(&line);
	return read ? block.op : -1;
}

static void test_ops(void)
{
	struct tr_op_values *values = tr_op_values_new();
	bool spelled = values, canonical = values, read = values;
	for (unsigned op = 0; values && op < 256; op++) {
		struct tr_buffer text = TR_BUFFER_INIT;
		char room[TR_OP_SPELLED];
		struct tr_text spelling = { room, tr_op_spell((uint8_t)op, room) };
		tr_literal_write(&values->values[op], &text);
		spelled = spelled && tr_text_equal(spelling, tr_buffer_text(&text));
		canonical = canonical && tr_literal_check(spelling, NULL, NULL) == TR_CANONICAL;
		read = read && op_of(spelling, true) == (int)op &&
		       op_of(spelling, false) == (int)op;
		tr_buffer_free(&text);
	}
	ok(spelled, "every op is spelled as its value");
	ok(canonical, "in the one spelling");
	ok(read, "and reads back");
	free(values);

	static const struct {
		const char *spelling;
		int op;
	} others[] = { { "br0|block", 0x11 }, { "17", 17 },	 { "nonsense", -1 }, { "256", -1 },
		       { "block|", -1 },      { "block|x", -1 }, { "", -1 } };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		for (int usual = 0; usual < 2; usual++)
			ok(op_of(tr_text_from(others[i].spelling), usual) == others[i].op, "op %s",
			   others[i].spelling);
}

/* spell: the record's own way to its line; else from its fields. */
static bool line_is(struct tr_record *record, bool spell, const char *want)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	if (!spell)
		record->spell = NULL;
	bool good = tr_record_write(record, &line, NULL) == TR_OK &&
		    tr_text_is(tr_buffer_text(&line), want);
	tr_buffer_free(&line);
	return good;
}

static bool same_block(const struct tr_block *a, const struct tr_block *b)
{
	return a->address == b->address && a->size == b->size && a->op == b->op &&
	       a->digits == b->digits && a->pad == b->pad;
}

static void test_records(void)
{
	static const struct {
		struct tr_block block;
		const char *line;
	} cases[] = {
		{ { 0x1000, 0, 4, 0x11, 8 }, "block\t7\t-\t-\t0x00001000\tsize=4\top=block|br0\n" },
		{ { UINT64_MAX, 0x10, 65535, 0x00, 16 },
		  "block\t7\t-\t-\t0xffffffffffffffff\tsize=65535\top=none\t.pad=0x10\n" },
		{ { 0, 0xffffffffff, 0, 0x4c, 16 },
		  "block\t7\t-\t-\t0x0000000000000000\tsize=0\top=?(0x4c)\t.pad=0xffffffffff\n" },
		{ { 0xabcdef, 0, 1, 0xff, 8 },
		  "block\t7\t-\t-\t0x00abcdef\tsize=1\top=block|fault|br0|br1|special|0x4c\n" },
	};
	struct tr_op_values *ops = tr_op_values_new();
	struct tr_block_record built;
	struct tr_block block;
	tr_block_record_init(&built, ops, &arena);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tr_block_record_set(&built, &cases[i].block, 7, 0);
		ok(tr_block_read(&built.record, &block, NULL) == TR_OK &&
			   same_block(&block, &cases[i].block),
		   "case %zu, built, describes its block", i);
		ok(line_is(&built.record, true, cases[i].line), "its own spelling");
		ok(line_is(&built.record, false, cases[i].line), "is that of its fields");
		ok(tr_block_read(&built.record, &block, NULL) == TR_OK &&
			   same_block(&block, &cases[i].block),
		   "without it the fields are read");
		struct tr_record record;
		tr_record_init(&record, &arena);
		ok(tr_record_from_line(&record, tr_text_from(cases[i].line), NULL) &&
			   tr_block_read(&record, &block, NULL) == TR_OK &&
			   same_block(&block, &cases[i].block),
		   "the line describes the same block");
	}
	free(ops);
}

static enum tr_status status_of(const char *line)
{
	struct tr_record record;
	struct tr_block block;
	struct tr_error err;
	tr_record_init(&record, &arena);
	if (!tr_record_from_line(&record, tr_text_from(line), &err))
		return TR_FATAL;
	return tr_block_read(&record, &block, &err);
}

static void test_bad_lines(void)
{
	static const char *const bad[] = {
		"block\t0\t-\t-\t0x1000\tsize=4\n",
		"block\t0\t-\t-\t-\tsize=4\n",
		"block\t0\t-\t-\t0x0000100g\tsize=4\n",
		"block\t0\t-\t-\t0x00001000\n",
		"block\t0\t-\t-\t0x00001000\tsize=65536\top=block\n",
		"block\t0\t-\t-\t0x00001000\tsize=-1\top=block\n",
		"block\t0\t-\t-\t0x00001000\tsize=04\top=block\n",
		"block\t0\t-\t-\t0x00001000\tsize=4\top=\"block\"\n",
		"block\t0\t-\t-\t0x00001000\tsize=4\top=\n",
		"block\t0\t-\t-\t0x00001000\tsize=4\top=block\t.pad=0x100\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(status_of(bad[i]) == TR_WARN, "bad line %zu", i);
	ok(status_of("block\t0\t-\t-\t0x00001000\tmodule=1\tsize=4\n") == TR_OK,
	   "other fields do no harm, and op may be absent");
}

static void test_objects(void)
{
	struct tr_layout layout = { .kernel = false };
	ok(tr_layout_add(&layout, 100, 16, 100) == TR_LAYOUT_ADDED, "one");
	ok(tr_layout_add(&layout, 50, 16, 50) == TR_LAYOUT_ADDED, "one right below");
	ok(tr_layout_add(&layout, 199, 16, 102) == TR_LAYOUT_OVERLAP, "one byte too many");
	ok(tr_layout_add(&layout, 300, 16, UINT64_MAX) == TR_LAYOUT_OVERLAP, "none wraps around");
	tr_layout_find(&layout, 60)->id = 2;
	ok(tr_layout_find(&layout, 99)->id == 2 && tr_layout_find(&layout, 100)->id == 0 &&
		   !tr_layout_find(&layout, 200) && !tr_layout_find(&layout, 49),
	   "found by any of its addresses");
	ok(tr_layout_unload(&layout, 150) && !tr_layout_find(&layout, 100) &&
		   !tr_layout_unload(&layout, 150) && tr_layout_find(&layout, 50),
	   "unloaded once, and no other with it");
	tr_layout_section(&layout, true);
	ok(!tr_layout_find(&layout, 50), "a section begins without objects");
	ok(tr_layout_add(&layout, 0xfffffff0, 8, 16) == TR_LAYOUT_ADDED &&
		   tr_layout_find(&layout, 0xffffffff),
	   "32 bits: one that ends at the top of memory");
	ok(tr_layout_unload(&layout, 0xffffffff) &&
		   tr_layout_add(&layout, 0xfffffff0, 8, 17) == TR_LAYOUT_OVERLAP,
	   "32 bits: one that would end beyond it");
	ok(tr_layout_add(&layout, 1, 8, UINT64_C(1) << 32) == TR_LAYOUT_OVERLAP,
	   "32 bits: one of more than all memory");
	enum tr_layout_answer answer = TR_LAYOUT_ADDED;
	for (uint64_t i = 0; i <= TR_OBJECTS_MAX && answer == TR_LAYOUT_ADDED; i++)
		answer = tr_layout_add(&layout, i, 16, 1);
	ok(answer == TR_LAYOUT_FULL && layout.count == TR_OBJECTS_MAX, "there is an end to them");
	tr_layout_free(&layout);
}

int main(void)
{
	test_ops();
	test_records();
	test_bad_lines();
	test_objects();
	tr_arena_free(&arena);
	return done_testing();
}
