/* SPDX-License-Identifier: MIT */
/* The record stream as a format: what is recognised, what is damage, what comes out. */
#include "core/buffer.h"
#include "format/format.h"
#include "memory.h"
#include "tap.h"

#define HEADER "%trec\t1\tformat=klocwork\n"
#define EXEC "exec\t0\t-\t-\tgcc\targv=[\"gcc\"]\n"

static int bid(const char *text, size_t piece)
{
	struct tr_input *in = memory_input(tr_text_from(text), piece, false);
	int bits = tr_format_trec.bid(in);

	tr_input_free(in);
	return bits;
}

static void test_bid(void)
{
	static const char *const streams[] = {
		HEADER EXEC,
		EXEC,
		"%trec\t2\n",
		"%fn\tF1\tf\targs=[]\n",
		"!end\t3\n" EXEC,
		"# comment\n# another\n" EXEC,
		"exec\t0\t-\t-\tgcc\targv=[\"cut",
	};
	static const char *const others[] = {
		"",
		"\n",
		"{\"version\":101}\n",
		"hello world\n",
		"a\tb\tc\n",
		"\x1f\x8b",
		"exec\t0\t\t-\tgcc\n",
		"%PDF-1.4\n",
		"#!/bin/sh\necho a\necho b\n",
	};

	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
		ok(bid(streams[i], 1) > 0 && bid(streams[i], 4096) > 0, "is trec: %zu", i);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ok(bid(others[i], 1) == 0 && bid(others[i], 4096) == 0, "is not trec: %zu", i);
	ok(bid("%\n" EXEC EXEC, 4096) > 0, "is trec where the first line is damaged");
	ok(bid("-c\"]\n" EXEC, 4096) > 0, "is trec where the first line is the rest of one");
	ok(bid("-c\"]\nno more\n" EXEC, 4096) == 0, "but not where that is all there is for it");
	for (size_t i = 1; i <= 100; i += 33) {
		struct tr_buffer text = TR_BUFFER_INIT;
		for (size_t k = 0; k < i; k++)
			tr_buffer_put_literal(&text, "# comment\n");
		tr_buffer_put_byte(&text, '\0');
		ok(bid(text.data, 1) > 0, "%zu comments", i);
		text.len--;
		tr_buffer_put_literal(&text, EXEC);
		tr_buffer_put_byte(&text, '\0');
		ok(bid(text.data, 1) > bid("# comment\n", 1) && bid(text.data, 4096) > 1,
		   "and a record after them");
		tr_buffer_free(&text);
	}
	ok(bid("%trec\t1\n", 1) > bid(EXEC, 4096), "a header is more than a line");
}

/* Writes what a reader returns: "o" a line, "w" a warning, "f" fatal, "s" counted in silence. */
static void read_all(const char *text, size_t piece, bool fails, char *says, size_t cap)
{
	struct tr_read_config config = { .limits = TR_LIMITS_DEFAULT };
	struct tr_input *in = memory_input(tr_text_from(text), piece, fails);
	struct tr_error err;
	struct tr_reader *reader = tr_format_trec.open(&config, in, &err);
	struct tr_record *record;
	enum tr_status status;
	size_t n = 0;

	do {
		status = tr_reader_read(reader, &record, &err);
		bool silent = status == TR_WARN && err.cause == TR_CAUSE_NONE;
		bool cut = status == TR_WARN && err.cause == TR_CAUSE_CUT;
		if (status != TR_END && n + 1 < cap)
			says[n++] = silent ? 's' : cut ? 'c' : "o.wf"[status];
	} while (status == TR_OK || status == TR_WARN);
	says[n] = '\0';
	tr_reader_free(reader);
	tr_input_free(in);
}

static void test_read(void)
{
	static const struct {
		const char *name, *text, *says;
		bool fails;
	} rows[] = {
		{ "a stream", HEADER EXEC "!end\t1\n", "ooo", false },
		{ "nothing", "", "", false },
		{ "an empty line", EXEC "\n" EXEC, "owo", false },
		{ "a control byte", EXEC "exec\t0\t-\t-\tg\001\n" EXEC, "owo", false },
		{ "bad UTF-8", EXEC "exec\t0\t-\t-\tg\377\n" EXEC EXEC, "owoo", false },
		{ "several in a row", "\001\n\002\n\377\n" EXEC "\003\n", "wwwow", false },
		{ "CR LF is reported once", "a\r\n" EXEC "b\r\nc\r\n", "woss", false },
		{ "no end of line", EXEC "exec\t0\t-\t-\tg", "oc", false },
		{ "a damaged window has its own message", EXEC "exec\t0\t-\t-\tg", "o", true },
		{ "another version is fatal", HEADER "%trec\t2\n" EXEC, "of", false },
		{ "a version that is none", "%trec\t-\n", "f", false },
		{ "no version", "%trec\n" EXEC, "wo", false },
		{ "a byte order mark within", EXEC "\xef\xbb\xbf" EXEC, "ow", false },
		{ "a value that is not read", "exec\t0\t-\t-\tg\targv=[\n", "o", false },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t piece = 1; piece <= 4096; piece *= 16) {
			char says[20];
			read_all(rows[i].text, piece, rows[i].fails, says, sizeof says);
			if (!ok(strcmp(says, rows[i].says) == 0, "%s, %zu bytes at a time",
				rows[i].name, piece))
				diag("%s instead of %s", says, rows[i].says);
		}
}

/* What the writer makes of one line; its severity and status in *what: "ok", "flaw", "damage". */
static void rewrite(const char *line, struct tr_buffer *to, const char **what)
{
	struct tr_output *out = tr_output_new(memory_sink(to, NULL));
	struct tr_write_config config = { .strict = false };
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record;
	struct tr_error err;
	struct tr_writer *writer = tr_format_trec.create(&config, out, &err);

	tr_record_init(&record, &arena);
	tr_record_from_line(&record, tr_text_from(line), &err);
	enum tr_status status = tr_writer_put(writer, &record, &err);
	*what = status == TR_OK ? "ok" : err.severity == TR_FLAW ? "flaw" : "damage";
	tr_writer_free(writer);
	tr_output_finish(out, &err);
	tr_arena_free(&arena);
}

static void test_write(void)
{
	static const struct {
		const char *line, *out, *what;
	} rows[] = {
		{ EXEC, EXEC, "ok" },
		{ "exec\t0\t-\t-\tg\ta=[ 1 ]\n", "exec\t0\t-\t-\tg\ta=[1]\n", "ok" },
		{ "exec\t0\t-\t-\tg\ta=[\n", "exec\t0\t-\t-\tg\ta=[\n", "flaw" },
		{ "exec\t0\t-\t-\tg\tnofield\n", "exec\t0\t-\t-\tg\tnofield\n", "flaw" },
		{ "#\tany thing \\x\n", "#\tany thing \\x\n", "ok" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tr_buffer to = TR_BUFFER_INIT;
		const char *what;
		rewrite(rows[i].line, &to, &what);
		ok(tr_text_is(tr_buffer_text(&to), rows[i].out), "written: row %zu", i);
		ok(strcmp(what, rows[i].what) == 0, "%s: row %zu", rows[i].what, i);
		tr_buffer_free(&to);
	}
}

int main(void)
{
	test_bid();
	test_read();
	test_write();
	return done_testing();
}
