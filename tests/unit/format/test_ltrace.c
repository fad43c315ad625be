/* SPDX-License-Identifier: MIT */
/* The cases of tests/data/ltrace, and the bounds of what the reader remembers. */
#include "cases.h"

/* A call, more calls within it, and their returns: the first is unknown beyond 4096. */
static void check_depth(unsigned depth, bool found)
{
	struct tr_buffer trace = TR_BUFFER_INIT;
	struct transcript got = { 0 };
	struct reading how = { .format = &tr_format_ltrace, .piece = 1 << 16 };

	tr_buffer_put_literal(&trace, "first( <unfinished ...>\n");
	for (unsigned i = 1; i < depth; i++)
		tr_buffer_put_literal(&trace, "f( <unfinished ...>\n");
	tr_buffer_put_literal(&trace, "<... first resumed> ) = 1\n");
	ok(read_trace(tr_buffer_text(&trace), &how, &got) && got.records == depth + 2,
	   "%u calls in each other", depth);
	const char *orphan = memmem(got.lines.data, got.lines.len, "orphan", 6);
	ok(!orphan == found, "the first is %s", found ? "known" : "forgotten");
	transcript_free(&got);
	tr_buffer_free(&trace);
}

/* A line of ltrace's whose LF is at that byte, after a line of another kind. */
static void check_header(size_t lf, bool found)
{
	static const char line[] = "7 f()      = 1\n";
	struct tr_buffer trace = TR_BUFFER_INIT;
	struct transcript got = { 0 };
	struct reading how = { .format = &tr_format_ltrace, .piece = 4096 };

	while (trace.len < lf + 1 - sizeof line)
		tr_buffer_put_byte(&trace, 'x');
	tr_buffer_put_byte(&trace, '\n');
	tr_buffer_put(&trace, line, sizeof line - 1);
	ok(read_trace(tr_buffer_text(&trace), &how, &got) && got.records == 3, "LF at %zu", lf);
	ok(tr_text_starts(tr_buffer_text(&got.lines),
			  TR_TEXT("%trec\t1\tpids=plain\talign=12\n")) == found,
	   "the header %s it", found ? "is of" : "is before");
	transcript_free(&got);
	tr_buffer_free(&trace);
}

/* The table of -c is refused, whatever pieces it comes in; a line that only begins as it is not. */
static void check_summary(const char *line, size_t piece, bool refused)
{
	struct reading how = { .format = &tr_format_ltrace, .piece = piece };
	struct transcript got = { 0 };

	ok(read_trace(tr_text_from(line), &how, &got) != refused, "%s: %.8s... by %zu",
	   refused ? "refused" : "read", line, piece);
	transcript_free(&got);
}

/* What the lines of ltrace alone, and those that strace may print, count for. */
static void check_bids(void)
{
	static const struct {
		const char *trace;
		int bits;
	} rows[] = {
		{ "f()                                              = 1\n", 16 },
		{ "f()                                             = 1\n", 0 },
		{ "f(\"a long string, up to the column of resul\") = 1\n", 0 },
		{ "f(NULL)                                          = 1\n", 0 },
		{ "f() = 1\n", 0 },
		{ "f() = 1\nf() = 1\n", 10 },
		{ "f() = 1\nf() = 1\n\n", 0 },
		{ "f() = 1\nf() = nil\n", 16 },
		{ "\nf() = <void>\n", 16 },
		{ "f( <no return ...>\n", 16 },
		{ "f( <unfinished ...>\n", 0 },
		{ "a->f() = 1\n", 16 },
		{ "SYS_read(3) = 1\n", 16 },
		{ "+++ exited (status 0) +++\n", 16 },
		{ "+++ killed by SIGKILL +++\n", 0 },
		{ "+++ killed by SIGKILL +++\n+++ killed by SIGKILL +++\n", 10 },
		{ "--- SIGCHLD (Child exited) ---\n--- Called exec() ---\n", 32 },
		{ "% time     seconds  usecs/call     calls      function\n", 40 },
		{ "f() = 1", 0 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tr_input *in = memory_input(tr_text_from(rows[i].trace), 1 << 16, false);
		int bits = tr_format_ltrace.bid(in);
		ok(bits == rows[i].bits, "bid %zu: %d", i, bits);
		tr_input_free(in);
	}
}

int main(void)
{
	static const char table[] = "% time     seconds  usecs/call     calls      function\n";
	static const char longer[] = "% time     seconds  usecs/call     calls      functions\n";

	run_cases(&tr_format_ltrace, "good.cases", true);
	run_cases(&tr_format_ltrace, "bad.cases", true);
	run_write_cases(&tr_format_ltrace, "write.cases");
	check_bids();
	check_depth(4096, true);
	check_depth(4097, false);
	check_header((64 << 10) - 1, true);
	check_header(64 << 10, false);
	check_summary(table, 1, true);
	check_summary(table, 1 << 16, true);
	check_summary(longer, 1, false);
	return done_testing();
}
