/* SPDX-License-Identifier: MIT */
/* The input window over sources that give bytes in inconvenient ways. */
#include "core/input.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* Gives data `repeat` times, in pieces of 1 to `most` bytes; then fails, if that is set. */
struct pieces {
	struct tr_source base;
	const char *data;
	size_t len, at;
	uint64_t repeat;
	size_t most, turn;
	size_t reads, largest_ask;
	bool fails, *closed;
};

static ssize_t pieces_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct pieces *s = (struct pieces *)source;
	s->reads++;
	if (cap > s->largest_ask)
		s->largest_ask = cap;
	if (s->at == s->len && s->repeat > 1) {
		s->at = 0;
		s->repeat--;
	}
	if (s->at == s->len) {
		if (s->fails)
			tr_error_set(err, TR_CAUSE_INPUT, "broken");
		return s->fails ? -1 : 0;
	}
	size_t n = 1 + s->turn++ % s->most;
	if (n > cap)
		n = cap;
	if (n > s->len - s->at)
		n = s->len - s->at;
	memcpy(buf, s->data + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

static void pieces_close(struct tr_source *source)
{
	struct pieces *s = (struct pieces *)source;
	if (s->closed)
		*s->closed = true;
	free(s);
}

static struct pieces *pieces_new(struct tr_text data, size_t most)
{
	struct pieces *s = calloc(1, sizeof *s);
	*s = (struct pieces){
		.base = { .read = pieces_read, .close = pieces_close },
		.data = data.data,
		.len = data.len,
		.repeat = 1,
		.most = most,
	};
	return s;
}

static const struct tr_limits limits = TR_LIMITS_DEFAULT;

/* All lines of data, numbered back to back, must be data again. */
static bool lines_are(struct tr_text data, size_t most, size_t window)
{
	struct tr_input *in = tr_input_new(&pieces_new(data, most)->base, &limits, window);
	size_t at = 0;
	struct tr_text line;
	struct tr_error err;
	bool same = true;
	while (tr_input_line(in, &line, &err) == TR_OK) {
		const char *lf = memchr(data.data + at, '\n', data.len - at);
		size_t expected = lf ? (size_t)(lf + 1 - (data.data + at)) : data.len - at;
		same = same && in->offset == at && line.len == expected &&
		       memcmp(line.data, data.data + at, expected) == 0;
		at += line.len;
		tr_input_skip(in, line.len);
	}
	same = same && at == data.len && in->at_end && !in->damaged;
	tr_input_free(in);
	return same;
}

static void test_lines(void)
{
	static const char *const texts[] = { "",
					     "\n",
					     "a",
					     "a\n",
					     "a\nb",
					     "\n\n\n",
					     "one\nand two\n\nthree is longer than the others\nx" };
	bool same = true;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t most = 1; most < 9; most++)
			for (size_t window = 1; window < 20; window++)
				same = same && lines_are(tr_text_from(texts[i]), most, window);
	ok(same, "lines from short reads into small windows");

	char *large = malloc(3 << 20);
	for (size_t i = 0; i < 3 << 20; i++)
		large[i] = i % 1000003 == 1000 || i % 77777 < 5 ? '\n' : 'x';
	struct tr_text text = { large, 3 << 20 };
	ok(lines_are(text, 1 << 16, 0) && lines_are(text, 5000, 1) && lines_are(text, 1, 64),
	   "long lines");
	free(large);
}

static void test_remembers(void)
{
	struct tr_input *in =
		tr_input_new(&pieces_new(TR_TEXT("abc\ndef\ng"), 2)->base, &limits, 1);
	struct tr_text line;
	bool same = tr_input_line(in, &line, NULL) == TR_OK && tr_text_is(line, "abc\n") &&
		    tr_input_line(in, &line, NULL) == TR_OK && tr_text_is(line, "abc\n");
	ok(same, "the same line again where nothing was skipped");
	tr_input_skip(in, 2);
	ok(tr_input_line(in, &line, NULL) == TR_OK && tr_text_is(line, "c\n"),
	   "the rest of a line");
	ok(tr_input_more(in, 3), "more than the line");
	tr_input_skip(in, 3);
	ok(tr_input_line(in, &line, NULL) == TR_OK && tr_text_is(line, "ef\n"),
	   "from within the next line");
	tr_input_skip(in, 3);
	ok(tr_input_line(in, &line, NULL) == TR_OK && tr_text_is(line, "g") && in->at_end,
	   "a cut last line");
	tr_input_skip(in, 1);
	ok(tr_input_line(in, &line, NULL) == TR_END && tr_input_line(in, &line, NULL) == TR_END,
	   "the end stays the end");
	tr_input_free(in);
}

static void test_long_lines(void)
{
	struct tr_limits small = limits;
	small.max_record = 10;
	static const char text[] = "123456789\n1234567890\n0\n12345678901234567890\n9\n1234567890";
	for (size_t window = 0; window < 3; window++) {
		struct tr_input *in =
			tr_input_new(&pieces_new(tr_text_from(text), 7)->base, &small, window);
		char got[80] = "";
		struct tr_text line;
		struct tr_error err;
		uint64_t where = 0;
		for (enum tr_status status; (status = tr_input_line(in, &line, &err)) != TR_END;) {
			if (status == TR_WARN) {
				strcat(got, "!");
				where = where * 100 + err.offset;
			} else {
				strncat(got, line.data, line.len);
				tr_input_skip(in, line.len);
			}
		}
		ok(!strcmp(got, "123456789\n!0\n!9\n1234567890") && where == 1023,
		   "lines beyond the limit are skipped, window %zu", window);
		ok(!in->damaged, "which is no damage of the stream");
		tr_input_free(in);
	}

	struct pieces *endless = pieces_new(TR_TEXT("0123456789abcdef"), 1 << 20);
	endless->repeat = 4 << 20;
	small.max_record = 1 << 20;
	struct tr_input *in = tr_input_new(&endless->base, &small, 0);
	struct tr_text line;
	struct tr_error err;
	ok(tr_input_line(in, &line, &err) == TR_WARN && err.cause == TR_CAUSE_LIMIT,
	   "a line without an end is skipped");
	ok(endless->largest_ask <= 256 << 10, "in constant memory");
	ok(tr_input_line(in, &line, &err) == TR_END, "up to the end");
	tr_input_free(in);
}

static void test_more(void)
{
	struct pieces *s = pieces_new(TR_TEXT("0123456789abcdefghij"), 3);
	bool closed = false;
	s->closed = &closed;
	struct tr_input *in = tr_input_new(&s->base, &limits, 4);
	ok(!in->at_end && s->reads == 0, "nothing is read before it is wanted");
	ok(tr_input_more(in, 1) && s->reads == 1 && tr_input_available(in) == 1, "one read");
	ok(tr_input_more(in, 1) && s->reads == 1, "no read where there is enough");
	tr_input_skip(in, 1);
	ok(tr_input_more(in, 15) && !memcmp(in->pos, "123456789abcdef", 15), "grows");
	bool zero = true;
	for (size_t i = 0; i < TR_INPUT_PAD; i++)
		zero = zero && in->end[i] == 0;
	ok(zero, "bytes after the end can be read");
	ok(!tr_input_more(in, 20) && in->at_end && !in->damaged && tr_input_available(in) == 19,
	   "what there is stays at the end");
	ok(tr_input_raw_offset(in) == 20 && in->offset == 1, "offsets");
	tr_input_free(in);
	ok(closed, "owns its source");
}

static void test_damage(void)
{
	struct pieces *s = pieces_new(TR_TEXT("ab\ncd"), 9);
	s->fails = true;
	struct tr_input *in = tr_input_new(&s->base, &limits, 0);
	struct tr_text line;
	struct tr_error err;
	ok(tr_input_line(in, &line, &err) == TR_OK && tr_text_is(line, "ab\n"), "before an error");
	tr_input_skip(in, 3);
	ok(tr_input_line(in, &line, &err) == TR_OK && tr_text_is(line, "cd"), "up to an error");
	tr_input_skip(in, 2);
	ok(tr_input_line(in, &line, &err) == TR_END && in->at_end && in->damaged, "then the end");
	tr_input_error(in, &err);
	ok(err.cause == TR_CAUSE_INPUT && !strcmp(err.text, "broken"), "and the reason");
	tr_input_free(in);

	struct tr_limits small = limits;
	small.max_record = 3;
	in = tr_input_new(&pieces_new(TR_TEXT("abcdef"), 9)->base, &small, 0);
	ok(!tr_input_more(in, 4) && in->damaged && !in->at_end, "a want beyond the limit");
	tr_input_error(in, &err);
	ok(err.cause == TR_CAUSE_LIMIT && err.offset == 0, "has its own error");
	tr_input_free(in);
}

static void count_call(void *context)
{
	++*(int *)context;
}

static bool never_waits(struct tr_source *source)
{
	(void)source;
	return false;
}

static void test_on_wait(void)
{
	struct pieces *s = pieces_new(TR_TEXT("abcdef"), 1);
	struct tr_input *in = tr_input_new(&s->base, &limits, 0);
	int calls = 0;
	tr_input_on_wait(in, count_call, &calls);
	ok(tr_input_more(in, 2) && calls == 2, "called before reads that may wait");
	ok(tr_input_more(in, 2) && calls == 2, "not without a read");
	s->base.would_wait = never_waits;
	ok(tr_input_more(in, 4) && calls == 2, "not before reads that do not wait");
	tr_input_free(in);
}

int main(void)
{
	test_lines();
	test_remembers();
	test_long_lines();
	test_more();
	test_damage();
	test_on_wait();
	return done_testing();
}
