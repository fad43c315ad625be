/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at every single allocation of a record's way from its line
 * to its canonical line (linked with --wrap, so it works under sanitizers).
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
	enum { MANY = 3000 };
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

/* True when the outcome is the right one for whether an allocation failed. */
static bool respells(struct tr_text line, struct tr_text wanted)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer out = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_error err;
	tr_error_clear(&err);
	tr_record_init(&record, &arena);
	bool read = tr_record_from_line(&record, line, &err);
	enum tr_status status = read ? tr_record_write(&record, &out, &err) : TR_WARN;
	bool right = failed ? status == TR_FATAL && err.cause == TR_CAUSE_MEMORY
			    : status == TR_OK && tr_text_equal(wanted, tr_buffer_text(&out));
	if (!right)
		diag("status %d: %s", status, err.text);
	tr_buffer_free(&out);
	tr_arena_free(&arena);
	return right;
}

int main(void)
{
	struct tr_buffer line = TR_BUFFER_INIT, wanted = TR_BUFFER_INIT;
	make_line(&line, &wanted);
	bool right = true;
	int n = 0;
	do {
		failed = false;
		countdown = ++n;
		right = respells(tr_buffer_text(&line), tr_buffer_text(&wanted)) && right;
		countdown = 0;
	} while (failed);
	ok(right, "memory may run out at any of %d allocations", n - 1);
	ok(n > 10, "there are some");
	tr_buffer_free(&line);
	tr_buffer_free(&wanted);
	return done_testing();
}
