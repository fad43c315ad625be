/* SPDX-License-Identifier: MIT */
/*
 * Cases as data: a trace, the records that it gives, and the messages. The first
 * lines of tests/data/klocwork/good.cases say how they are written.
 */
#ifndef TR_TESTS_CASES_H
#define TR_TESTS_CASES_H

#include "tap.h"
#include "transcript.h"

struct test_case {
	const struct tr_format *format;
	bool rewrites; /* what is written and read again is the same */
	bool writes;   /* the trace is a stream, and the lines are the trace that it becomes */
	char name[128];
	struct tr_buffer trace, lines, messages;
};

static void case_reset(struct test_case *c)
{
	tr_buffer_reset(&c->trace);
	tr_buffer_reset(&c->lines);
	tr_buffer_reset(&c->messages);
}

/* %hh is a byte. */
static void put_unescaped(struct tr_text text, struct tr_buffer *to)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned byte;
		char hex[3] = { 0 };
		if (text.data[i] == '%' && i + 2 < text.len) {
			memcpy(hex, text.data + i + 1, 2);
			if (sscanf(hex, "%2x", &byte) == 1) {
				tr_buffer_put_byte(to, (char)byte);
				i += 2;
				continue;
			}
		}
		tr_buffer_put_byte(to, text.data[i]);
	}
}

static void check_reading(const struct test_case *c, size_t piece)
{
	char what[64];
	struct reading how = { .format = c->format, .piece = piece };
	struct transcript got = { 0 };
	ok(read_trace(tr_buffer_text(&c->trace), &how, &got), "%s: read by %zu", c->name, piece);
	snprintf(what, sizeof what, "the records, by %zu", piece);
	same_text(what, c->name, &got.lines, &c->lines);
	snprintf(what, sizeof what, "the messages, by %zu", piece);
	same_text(what, c->name, &got.messages, &c->messages);
	transcript_free(&got);
}

/* What is written and read again is the same stream. */
static void check_writing(const struct test_case *c)
{
	struct reading how = { .format = c->format, .piece = 1 << 16 };
	struct transcript read = { 0 }, written = { 0 }, again = { 0 };
	struct tr_buffer stream = TR_BUFFER_INIT;
	read_trace(tr_buffer_text(&c->trace), &how, &read);
	wrap_segment(c->format, &read, &stream);
	ok(write_trace(c->format, tr_buffer_text(&stream), &written), "%s: written", c->name);
	read_trace(tr_buffer_text(&written.lines), &how, &again);
	same_text("written and read again", c->name, &again.lines, &read.lines);
	transcript_free(&read);
	transcript_free(&written);
	transcript_free(&again);
	tr_buffer_free(&stream);
}

/* With --exact, or --lines where the format has that, every byte comes back. */
static void check_exact(const struct test_case *c)
{
	bool lines = c->format->flags & TR_FORMAT_LINES;
	struct reading how = {
		.format = c->format, .piece = 1 << 16, .exact = !lines, .lines = lines
	};
	struct transcript read = { 0 }, written = { 0 };
	struct tr_buffer stream = TR_BUFFER_INIT;
	read_trace(tr_buffer_text(&c->trace), &how, &read);
	wrap_segment(c->format, &read, &stream);
	write_trace(c->format, tr_buffer_text(&stream), &written);
	same_text(lines ? "--lines and back" : "--exact and back", c->name, &written.lines,
		  &c->trace);
	transcript_free(&read);
	transcript_free(&written);
	tr_buffer_free(&stream);
}

/* What a writer makes of a stream. */
static inline void check_written(const struct tr_format *format, const char *stream,
				 const char *trace, const char *messages, const char *name)
{
	struct transcript got = { 0 };
	ok(write_trace(format, tr_text_from(stream), &got), "%s: written", name);
	bool same = ok(tr_text_is(tr_buffer_text(&got.lines), trace), "%s: the trace", name);
	same = ok(tr_text_is(tr_buffer_text(&got.messages), messages), "%s: the messages", name) &&
	       same;
	if (!same)
		printf("# got:\n%.*s%.*s", (int)got.lines.len, got.lines.data,
		       (int)got.messages.len, got.messages.len ? got.messages.data : "");
	transcript_free(&got);
}

static void check_case(struct test_case *c)
{
	if (!c->name[0])
		return;
	if (c->writes) {
		tr_buffer_put_byte(&c->trace, '\0');
		tr_buffer_put_byte(&c->lines, '\0');
		tr_buffer_put_byte(&c->messages, '\0');
		check_written(c->format, c->trace.data, c->lines.data, c->messages.data, c->name);
		return;
	}
	check_reading(c, 1 << 16);
	check_reading(c, 1);
	if (c->rewrites)
		check_writing(c);
	check_exact(c);
}

static void take_line(struct test_case *c, struct tr_text line)
{
	if (tr_text_starts(line, TR_TEXT("@ "))) {
		check_case(c);
		case_reset(c);
		snprintf(c->name, sizeof c->name, "%.*s", (int)line.len - 2, line.data + 2);
	} else if (tr_text_starts(line, TR_TEXT("< "))) {
		put_unescaped((struct tr_text){ line.data + 2, line.len - 2 }, &c->trace);
		tr_buffer_put_byte(&c->trace, '\n');
	} else if (tr_text_starts(line, TR_TEXT("<| "))) {
		put_unescaped((struct tr_text){ line.data + 3, line.len - 3 }, &c->trace);
	} else if (tr_text_starts(line, TR_TEXT("> "))) {
		tr_buffer_put(&c->lines, line.data + 2, line.len - 2);
		tr_buffer_put_byte(&c->lines, '\n');
	} else if (tr_text_starts(line, TR_TEXT("! ")) || tr_text_starts(line, TR_TEXT("~ "))) {
		tr_buffer_put_text(&c->messages, line);
		tr_buffer_put_byte(&c->messages, '\n');
	}
}

static void run_file(struct test_case c, const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[4096], *line = NULL;
	snprintf(path, sizeof path, "%s/tests/data/%s/%s", top ? top : ".", c.format->name, name);
	FILE *file = fopen(path, "rb");
	if (!ok(file != NULL, "%s is there", name))
		return;
	size_t cap = 0;
	ssize_t len;
	while ((len = getline(&line, &cap, file)) > 0)
		take_line(&c, (struct tr_text){ line, (size_t)len - (line[len - 1] == '\n') });
	check_case(&c);
	tr_buffer_free(&c.trace);
	tr_buffer_free(&c.lines);
	tr_buffer_free(&c.messages);
	free(line);
	fclose(file);
}

/* The cases in tests/data, in the folder of the format. */
static inline void run_cases(const struct tr_format *format, const char *name, bool rewrites)
{
	run_file((struct test_case){ .format = format, .rewrites = rewrites }, name);
}

/* The same for cases of the writer. */
static inline void run_write_cases(const struct tr_format *format, const char *name)
{
	run_file((struct test_case){ .format = format, .writes = true }, name);
}

#endif
