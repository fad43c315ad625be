/* SPDX-License-Identifier: MIT */
/* What the trace makes of streams: headers, trailers, counts, damage that travels. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/buffer.h"
#include "format/reader_base.h"
#include "format/trace.h"
#include "tap.h"

#define HEADER "%trec\t1\tformat=klocwork\n"
#define EXEC "exec\t0\t-\t-\tgcc\n"
#define BAD "ex_ec\t0\t-\t-\tgcc\n"
#define ENTER "enter\t1\t-\t1\tglFinish\n"
#define LEAVE "leave\t1\t-\t1\tglFinish\n"
#define ORPHAN "leave\t1\t-\t1\t-\n"

static char path[2][40] = { "test_trace.XXXXXX", "test_trace.XXXXXX" };

static void fill(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	fwrite(text, 1, strlen(text), f);
	fclose(f);
}

/* All lines of the operands, each message as "W" (damage), "N" (note) or "F" and its line. */
static void run(const char *const *operands, size_t count, size_t lost_at,
		const struct tr_format *format, struct tr_buffer *to)
{
	struct tr_trace_config config = { .read.limits = TR_LIMITS_DEFAULT, .format = format };
	struct tr_trace *trace = tr_trace_open(operands, count, &config);
	struct tr_trace_place *place;
	struct tr_record *record;
	struct tr_error err;
	enum tr_status status;
	size_t lines = 0;

	tr_buffer_reset(to);
	while ((status = tr_trace_step(trace, &place, &err)) != TR_END) {
		if (status != TR_OK) {
			tr_buffer_put_literal(to, "?");
			continue;
		}
		while ((status = tr_trace_next(trace, &record, &err)) != TR_END) {
			if (status == TR_OK) {
				tr_buffer_put_text(to, record->line);
				if (++lines == lost_at)
					tr_trace_lost(trace, record);
				continue;
			}
			tr_buffer_put_byte(to, err.severity == TR_NOTE ? 'N' : ".EWF"[status]);
			if (status == TR_FATAL)
				break;
		}
	}
	tr_trace_free(trace);
}

struct row {
	const char *name, *in, *out;
	size_t lost_at;
};

static const struct row rows[] = {
	{ "a whole stream", HEADER EXEC "!end\t1\n", HEADER EXEC "!end\t1\n", 0 },
	{ "nothing", "", "", 0 },
	{ "an anonymous segment gets nothing", EXEC EXEC, EXEC EXEC, 0 },
	{ "its trailer is not checked", EXEC "!end\t7\n", EXEC "!end\t7\n", 0 },
	{ "unless something is lost", EXEC BAD EXEC, EXEC "W" EXEC "!end\t2\terrors=1\n", 0 },
	{ "a missing trailer stays missing", HEADER EXEC, HEADER EXEC, 0 },
	{ "also between segments", HEADER EXEC HEADER EXEC "!end\t1\n",
	  HEADER EXEC HEADER EXEC "!end\t1\n", 0 },
	{ "a wrong count stays wrong", HEADER EXEC "!end\t2\n", HEADER EXEC "!end\t2\n", 0 },
	{ "damage", HEADER BAD EXEC "!end\t2\n", HEADER "W" EXEC "!end\t1\terrors=1\n", 0 },
	{ "damage without a trailer", HEADER BAD EXEC, HEADER "W" EXEC "!end\t1\terrors=1\n", 0 },
	{ "damage before the next header", HEADER BAD EXEC HEADER EXEC "!end\t1\n",
	  HEADER "W" EXEC "!end\t1\terrors=1\n" HEADER EXEC "!end\t1\n", 0 },
	{ "upstream errors", HEADER EXEC "!end\t1\terrors=3\n", HEADER EXEC "W!end\t1\terrors=3\n",
	  0 },
	{ "upstream cut", HEADER EXEC "!end\t1\ttruncated=true\n",
	  HEADER EXEC "W!end\t1\ttruncated=true\n", 0 },
	{ "no cut", HEADER EXEC "!end\t1\ttruncated=false\n",
	  HEADER EXEC "!end\t1\ttruncated=false\n", 0 },
	{ "errors add up, other fields stay", HEADER BAD EXEC "!end\t9\ta=1\terrors=3\tb=2\n",
	  HEADER "W" EXEC "W!end\t1\terrors=4\ta=1\tb=2\n", 0 },
	{ "upstream of an anonymous segment", EXEC BAD "!end\t7\terrors=1\n",
	  EXEC "WW!end\t7\terrors=2\n", 0 },
	{ "a sorted stream: the trailer comes first", "!end\t2\n" HEADER EXEC EXEC,
	  "!end\t2\n" HEADER EXEC EXEC, 0 },
	{ "no end of the last line", HEADER EXEC "exec\t1\t-\t-\tg",
	  HEADER EXEC "W!end\t1\terrors=1\ttruncated=true\n", 0 },
	{ "CR LF is counted in silence", HEADER EXEC "a\r\nb\r\n!end\t1\n",
	  HEADER EXEC "W!end\t1\terrors=2\n", 0 },
	{ "enter and leave are one", HEADER ENTER LEAVE "!end\t1\n", HEADER ENTER LEAVE "!end\t1\n",
	  0 },
	{ "a leave without enter is one too", HEADER ORPHAN "!end\t1\n", HEADER ORPHAN "!end\t1\n",
	  0 },
	{ "definitions and comments do not count", HEADER "%fn\tF1\tf\n# x\n!end\t0\n",
	  HEADER "%fn\tF1\tf\n# x\n!end\t0\n", 0 },
	{ "another version", HEADER EXEC "!end\t1\n%trec\t2\n" EXEC,
	  HEADER EXEC "!end\t1\nW!end\t0\terrors=1\ttruncated=true\n", 0 },
	{ "an unknown feature", "%trec\t1\tfeature=x\n" EXEC,
	  "W!end\t0\terrors=1\ttruncated=true\n", 0 },
	{ "a byte order mark", "\xef\xbb\xbf" HEADER EXEC "!end\t1\n", HEADER EXEC "!end\t1\n", 0 },
	{ "what the tool could not use", HEADER EXEC "!end\t1\n", HEADER EXEC "!end\t0\terrors=1\n",
	  2 },
	{ "no known format", "hello\n", "F", 0 },
};

static void test_rows(void)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	const char *const operands[] = { path[0] };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		fill(path[0], rows[i].in);
		run(operands, 1, rows[i].lost_at, NULL, &to);
		if (!ok(tr_text_is(tr_buffer_text(&to), rows[i].out), "%s", rows[i].name))
			diag("got: %.*s", (int)to.len, to.data);
	}
	tr_buffer_free(&to);
}

static void test_operands(void)
{
	struct tr_buffer to = TR_BUFFER_INIT;
	const char *const operands[] = { path[0], "/nonexistent/file", "/", path[1] };

	fill(path[0], HEADER EXEC "!end\t1\n");
	fill(path[1], EXEC);
	run(operands, 4, 0, NULL, &to);
	ok(tr_text_is(tr_buffer_text(&to), HEADER EXEC "!end\t1\n??" EXEC),
	   "what cannot be opened is reported, the others are read");
	tr_buffer_free(&to);
}

/* A format whose reader returns what belongs into headers; its bytes are commands. */
struct letters {
	struct tr_reader base;
	struct tr_value one;
};

static enum tr_status letters_next(struct tr_reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	struct letters *letters = tr_container(reader, struct letters, base);

	if (!tr_input_more(reader->in, 1))
		return TR_END;
	char order = *reader->in->pos;
	tr_input_skip(reader->in, 1);
	tr_arena_reset(&reader->arena);
	tr_record_init(&reader->record, &reader->arena);
	*record = &reader->record;
	tr_error_set(err, TR_CAUSE_INPUT, "as ordered");
	switch (order) {
	case 'h':
		reader->record.type = TR_HEADER;
		tr_record_add(&reader->record, TR_TEXT("n"), &letters->one);
		return TR_OK;
	case 'r':
		return tr_record_from_line(&reader->record, TR_TEXT(EXEC), err) ? TR_OK : TR_FATAL;
	case 'w':
		return TR_WARN;
	default:
		return TR_FATAL;
	}
}

static struct tr_reader *letters_open(const struct tr_read_config *config, struct tr_input *in,
				      struct tr_error *err)
{
	struct letters *letters =
		tr_reader_new(sizeof *letters, letters_next, NULL, config, in, err);

	letters->one = (struct tr_value){ .type = TR_UINT, .as.number = 1 };
	return &letters->base;
}

#define PLAIN "%trec\t1\tformat=letters\n"
#define HEAD "%trec\t1\tformat=letters\tn=1\n"

static const struct row head_rows[] = {
	{ "its fields are in the header", "hr", HEAD EXEC "!end\t1\n", 0 },
	{ "each header is a segment", "hrrhhr",
	  HEAD EXEC EXEC "!end\t2\n" HEAD "!end\t0\n" HEAD EXEC "!end\t1\n", 0 },
	{ "errors belong to the segment after or around them", "whrwh",
	  "W" HEAD EXEC "W!end\t1\terrors=2\n" HEAD "!end\t0\n", 0 },
	{ "a plain header where the reader gets to none", "x",
	  "W" PLAIN "!end\t0\terrors=1\ttruncated=true\n", 0 },
	{ "or the input is empty", "", PLAIN "!end\t0\n", 0 },
};

static void test_heads(void)
{
	static const struct tr_format letters = {
		.name = "letters",
		.flags = TR_FORMAT_READS | TR_FORMAT_HEADS,
		.open = letters_open,
	};
	const char *const operands[] = { path[0] };
	struct tr_buffer to = TR_BUFFER_INIT;

	for (size_t i = 0; i < sizeof head_rows / sizeof *head_rows; i++) {
		fill(path[0], head_rows[i].in);
		run(operands, 1, 0, &letters, &to);
		if (!ok(tr_text_is(tr_buffer_text(&to), head_rows[i].out), "%s", head_rows[i].name))
			diag("got: %.*s", (int)to.len, to.data);
	}
	tr_buffer_free(&to);
}

static void test_progress(void)
{
	const char *const operands[] = { path[0] };
	struct tr_trace_config config = { .read.limits = TR_LIMITS_DEFAULT };
	struct tr_trace *trace;
	struct tr_trace_place *place;
	struct tr_record *record;
	struct tr_error err;
	uint64_t done, total;

	fill(path[0], HEADER EXEC);
	trace = tr_trace_open(operands, 1, &config);
	ok(tr_trace_here(trace) == NULL, "nowhere before the first step");
	tr_trace_progress(trace, &done, &total);
	ok(done == 0 && total == strlen(HEADER EXEC), "the total size is known");
	tr_trace_step(trace, &place, &err);
	ok(place->size == (int64_t)total && place->format == &tr_format_trec && !place->member &&
		   strcmp(place->name, path[0]) == 0,
	   "the position is known");
	while (tr_trace_next(trace, &record, &err) == TR_OK)
		;
	tr_trace_progress(trace, &done, &total);
	ok(done == total, "at the end, all is done");
	ok(tr_trace_step(trace, &place, &err) == TR_END, "ends");
	tr_trace_progress(trace, &done, &total);
	ok(done == total, "and remains so");
	tr_trace_free(trace);
}

int main(void)
{
	close(mkstemp(path[0]));
	close(mkstemp(path[1]));
	test_rows();
	test_operands();
	test_heads();
	test_progress();
	unlink(path[0]);
	unlink(path[1]);
	return done_testing();
}
