/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at each allocation while a record is written as a canonical line (linked with
 * --wrap, so it works under sanitizers).
 */
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "record/literal.h"
#include "record/record.h"

#include "failing_alloc.h"
#include "tap.h"

/* A line on which nothing is canonical, with more of everything than is allocated at first. */
static void make_line(struct tr_buffer *line, struct tr_buffer *wanted)
{
	enum { MANY = 5000 }; /* more than 64 KiB, which are walked with another arena */
	tr_buffer_put_literal(line, "exec\t0\t-\t-\t\\x41");
	tr_buffer_put_literal(wanted, "exec\t0\t-\t-\tA");
	for (int i = 0; i < 20; i++) {
		tr_buffer_put_literal(line, "\tk\\x41=\"\\u0041\"|\"b\"|c|d|e|f|0xA");
		tr_buffer_put_literal(wanted, "\tkA=A|b|c|d|e|f|0xa");
	}
	tr_buffer_put_literal(line, "\tlist=[b64:AAAA");
	tr_buffer_put_literal(wanted, "\tlist=[b64:AAAA");
	for (int i = 0; i < MANY; i++) {
		tr_buffer_put_literal(line, ", {\"a\"=\"\\u0020\"}");
		tr_buffer_put_literal(wanted, ",{a=\" \"}");
	}
	tr_buffer_put_literal(line, "]\n");
	tr_buffer_put_literal(wanted, "]\n");
}

/* What a record is made of before it is written. */
enum form {
	LINE,	   /* the line, which is not canonical */
	CANONICAL, /* the line, which is */
	SPELLED,   /* a function that writes the line */
	BUILT,	   /* values, whose text is the line */
};

static size_t spell(const struct tr_record *record, char *to)
{
	static const char line[] = "exec\t7\t-\t-\tx\n";
	(void)record;
	memcpy(to, line, sizeof line - 1);
	return sizeof line - 1;
}

/* Makes the record without a failure. */
static void prepare(struct tr_record *record, enum form form, struct tr_text line,
		    struct tr_arena *arena)
{
	tr_record_init(record, arena);
	if (form == LINE || form == CANONICAL) {
		if (!tr_record_from_line(record, line, NULL))
			abort();
		record->canonical = form == CANONICAL;
		return;
	}
	record->kind = TR_TEXT("exec");
	record->name = (struct tr_cell){ .type = TR_CELL_TEXT, .text = TR_TEXT("\\x41") };
	record->spell = form == SPELLED ? spell : NULL;
	if (form == BUILT)
		tr_record_add(record, TR_TEXT("k\\x41"), tr_literal_parse(line, arena, NULL));
}

/*
 * True if the outcome is the right one for the failure of allocation n. The buffer begins with
 * almost no memory, so that each way of appending to it has to grow it.
 */
static bool respells(enum form form, struct tr_text line, struct tr_text wanted, int n)
{
	struct tr_arena arena = TR_ARENA_INIT;
	char memory[4];
	struct tr_buffer out = tr_buffer_over(memory, sizeof memory);
	struct tr_record record;
	struct tr_error err;
	tr_error_clear(&err);
	prepare(&record, form, line, &arena);
	failed = false;
	countdown = n;
	enum tr_status status = tr_record_write(&record, &out, &err);
	countdown = 0;
	bool right = failed ? status == TR_FATAL && err.cause == TR_CAUSE_MEMORY
			    : status == TR_OK && tr_text_equal(wanted, tr_buffer_text(&out));
	if (!right)
		diag("allocation %d, status %d: %s", n, status, err.text);
	tr_buffer_free(&out);
	tr_arena_free(&arena);
	return right;
}

static void at_each_allocation(enum form form, struct tr_text line, struct tr_text wanted,
			       int least)
{
	bool right = true;
	int n = 0;
	do
		right = respells(form, line, wanted, ++n) && right;
	while (failed);
	ok(right, "memory may run out at any of %d allocations: %.*s", n - 1,
	   line.len < 30 ? (int)line.len - 1 : 30, line.data);
	ok(n > least, "there are %d or more", least);
}

int main(void)
{
	static const struct {
		enum form form;
		struct tr_text line, wanted;
	} rows[] = {
		{ CANONICAL, TR_TEXT("call\t1\t-\t-\tf\n"), TR_TEXT("call\t1\t-\t-\tf\n") },
		{ SPELLED, TR_TEXT("spelled"), TR_TEXT("exec\t7\t-\t-\tx\n") },
		{ BUILT, TR_TEXT("<{a=[1,L\"x\"]}@S1;b64:AAAA>"),
		  TR_TEXT("exec\t-\t-\t-\tA\tkA=<{a=[1,L\"x\"]}@S1;b64:AAAA>\n") },
		{ LINE, TR_TEXT("%enum\tE\\x31\t-\tnames=[ ]\n"),
		  TR_TEXT("%enum\tE1\t-\tnames=[]\n") },
		{ LINE, TR_TEXT("%trec\t1\tformat=\"\\u0041\"\n"),
		  TR_TEXT("%trec\t1\tformat=\"A\"\n") },
		{ LINE, TR_TEXT("!end\t3\terrors=[ ]\n"), TR_TEXT("!end\t3\terrors=[]\n") },
		{ LINE, TR_TEXT("# words\n"), TR_TEXT("# words\n") },
	};
	struct tr_buffer line = TR_BUFFER_INIT, wanted = TR_BUFFER_INIT;
	make_line(&line, &wanted);
	at_each_allocation(LINE, tr_buffer_text(&line), tr_buffer_text(&wanted), 10);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		at_each_allocation(rows[i].form, rows[i].line, rows[i].wanted, 1);
	tr_buffer_free(&line);
	tr_buffer_free(&wanted);
	return done_testing();
}
