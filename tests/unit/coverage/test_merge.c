/* SPDX-License-Identifier: MIT */
/*
 * Merging traces: the cases of tests/data/coverage/merge.cases. In each, every allocation fails
 * once: the merge then fails, or its result is the same.
 */
#include "coverage/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "failing_alloc.h"
#include "memory.h"
#include "record/line.h"
#include "tap.h"

struct merge_case {
	char name[160];
	struct tr_buffer stream, want, messages;
};

/*
 * Merges the stream; line numbers in messages count from 1 in the stream. Each line is overwritten
 * after it was put, because a merge must copy what it keeps of a record.
 */
static bool merge(struct tr_text stream, struct tr_buffer *lines, struct tr_buffer *messages)
{
	struct tr_sink *sink = memory_sink(lines, NULL);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	struct tr_merge *merge = tr_merge_new();
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer copy = TR_BUFFER_INIT;
	const char *p = stream.data, *end = p + stream.len;
	struct tr_error err;
	bool good = out && merge;

	for (unsigned line = 1; good && p < end; line++) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_record record;
		tr_error_clear(&err);
		tr_record_init(&record, &arena);
		tr_buffer_reset(&copy);
		tr_buffer_put_text(&copy, tr_text_span(p, lf + 1));
		good = !copy.failed && tr_record_from_line(&record, tr_buffer_text(&copy), &err);
		enum tr_status status = good ? tr_merge_put(merge, &record, &err) : TR_OK;
		if (status != TR_OK) {
			char text[TR_ERROR_TEXT + 32];
			int len = snprintf(text, sizeof text, "%c %u: %s\n",
					   err.severity == TR_NOTE ? '~' : '!', line, err.text);
			tr_buffer_put(messages, text, (size_t)len);
		}
		good = good && status != TR_FATAL;
		if (copy.len)
			memset(copy.data, '#', copy.len);
		tr_arena_reset(&arena);
		p = lf + 1;
	}
	good = good && tr_merge_write(merge, 0, false, out);
	tr_merge_free(merge);
	tr_arena_free(&arena);
	tr_buffer_free(&copy);
	if (out && !tr_output_finish(out, &err))
		good = false;
	return good;
}

static void check_text(const char *what, const struct merge_case *c, const struct tr_buffer *got,
		       const struct tr_buffer *want)
{
	if (!ok(tr_text_equal(tr_buffer_text(got), tr_buffer_text(want)), "%s: %s", c->name, what))
		printf("# got:\n%.*s# want:\n%.*s", (int)got->len, got->len ? got->data : "",
		       (int)want->len, want->len ? want->data : "");
}

/* Memory runs out at each allocation in turn. */
static void check_memory(struct merge_case *c)
{
	struct tr_buffer lines = TR_BUFFER_INIT, messages = TR_BUFFER_INIT;
	bool good = true;
	int at = 0;

	for (failed = true; good && failed;) {
		tr_buffer_free(&lines);
		tr_buffer_free(&messages);
		failed = false;
		countdown = ++at;
		bool merged = merge(tr_buffer_text(&c->stream), &lines, &messages);
		countdown = 0;
		good = merged ? tr_text_equal(tr_buffer_text(&lines), tr_buffer_text(&c->want))
			      : failed;
	}
	if (!ok(good && at > 1, "%s: without memory", c->name))
		diag("allocation %d: %.*s", at, (int)lines.len, lines.data);
	tr_buffer_free(&lines);
	tr_buffer_free(&messages);
}

/* The case, and what came out merged once more, which has to stay as it is. */
static void check_case(struct merge_case *c)
{
	struct tr_buffer lines = TR_BUFFER_INIT, messages = TR_BUFFER_INIT, again = TR_BUFFER_INIT;

	if (c->name[0]) {
		ok(merge(tr_buffer_text(&c->stream), &lines, &messages), "%s: merged", c->name);
		check_text("the records", c, &lines, &c->want);
		check_text("the messages", c, &messages, &c->messages);
		tr_buffer_reset(&messages);
		merge(tr_buffer_text(&lines), &again, &messages);
		check_text("merged again", c, &again, &lines);
		ok(messages.len == 0, "%s: merged again without messages", c->name);
		check_memory(c);
	}
	tr_buffer_free(&lines);
	tr_buffer_free(&messages);
	tr_buffer_free(&again);
	tr_buffer_reset(&c->stream);
	tr_buffer_reset(&c->want);
	tr_buffer_reset(&c->messages);
}

static void take_line(struct merge_case *c, struct tr_text line)
{
	struct tr_text rest = { line.data + 2, line.len - 2 };

	if (tr_text_starts(line, TR_TEXT("@ "))) {
		check_case(c);
		snprintf(c->name, sizeof c->name, "%.*s", (int)rest.len - 1, rest.data);
	} else if (tr_text_starts(line, TR_TEXT("< "))) {
		tr_buffer_put_text(&c->stream, rest);
	} else if (tr_text_starts(line, TR_TEXT("> "))) {
		tr_buffer_put_text(&c->want, rest);
	} else if (tr_text_starts(line, TR_TEXT("! ")) || tr_text_starts(line, TR_TEXT("~ "))) {
		tr_buffer_put_text(&c->messages, line);
	}
}

/* Modules that are alike are found without counting through those before them. */
static void check_alike(void)
{
	enum { MODULES = 60000, SECONDS = 20 };
	struct tr_buffer stream = TR_BUFFER_INIT, lines = TR_BUFFER_INIT, messages = TR_BUFFER_INIT;
	clock_t begin = clock();

	tr_buffer_put_literal(&stream, "%trec\t1\tformat=drcov\tversion=2\ttable=2\t"
				       "columns=[\"id\",\"base\",\"end\",\"entry\",\"path\"]\n");
	for (unsigned i = 0; i < MODULES; i++) {
		tr_buffer_put_literal(&stream, "module\t0\t-\t-\t/a\tid=");
		tr_buffer_put_decimal(&stream, i);
		tr_buffer_put_literal(&stream, "\tbase=0x1000\tend=0x2000\tentry=0x0\n");
	}
	ok(merge(tr_buffer_text(&stream), &lines, &messages) && !messages.len,
	   "%d modules that are alike", MODULES);
	ok(clock() - begin < SECONDS * CLOCKS_PER_SEC, "take less than %d seconds", SECONDS);
	tr_buffer_free(&stream);
	tr_buffer_free(&lines);
	tr_buffer_free(&messages);
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	struct merge_case c = { .name = "" };
	char path[4096], *line = NULL;
	size_t cap = 0;
	ssize_t len;

	snprintf(path, sizeof path, "%s/tests/data/coverage/merge.cases", top ? top : ".");
	FILE *file = fopen(path, "rb");
	if (ok(file != NULL, "the cases are there")) {
		while ((len = getline(&line, &cap, file)) > 0)
			take_line(&c, (struct tr_text){ line, (size_t)len });
		check_case(&c);
		fclose(file);
	}
	tr_buffer_free(&c.stream);
	tr_buffer_free(&c.want);
	tr_buffer_free(&c.messages);
	free(line);
	check_alike();
	return done_testing();
}
