/* SPDX-License-Identifier: MIT */
/* Call sets: what apitrace itself selects, what is wrong with a text, files, many ranges. */

#include <stdlib.h>
#include <unistd.h>

#include "format/format.h"
#include "record/calls.h"
#include "record/vectors.h"
#include "tap.h"

/* The calls of tests/data/apitrace/call-sets.tsv. */
static const char *const calls[] = {
	"glFlush",
	"glClear",
	"glBindFramebuffer",
	"glDrawArrays",
	"glFlush",
	"glXSwapBuffers",
	"glDrawArrays",
	"glDrawElements",
	"glFlush",
	"glBindFramebuffer",
	"glClear",
	"glXSwapBuffers",
	"glFlush",
	"glFlush",
	"glDrawArrays",
	"glDrawArrays",
	"glXSwapBuffers",
	"glBindFramebuffer",
	"glEnd",
	"glFlush",
	"glXSwapBuffers",
	"glFinish",
};

/* The numbers of the calls that the set has, one blank between. */
static void list(const struct tr_call_set *set, struct tr_buffer *to)
{
	tr_buffer_reset(to);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (!tr_call_set_has(set, i, tr_format_call_kinds(tr_text_from(calls[i]))))
			continue;
		if (to->len)
			tr_buffer_put_byte(to, ' ');
		tr_buffer_put_decimal(to, i);
	}
}

static void test_table(void)
{
	struct tr_buffer have = TR_BUFFER_INIT;
	struct vectors v;

	if (!ok(vectors_open(&v, "../apitrace/call-sets.tsv"), "the table is there"))
		return;
	while (vectors_next(&v)) {
		struct tr_call_set set = { 0 };
		struct tr_text text = v.column[0];
		bool read = tr_call_set_add(&set, text, NULL);
		list(&set, &have);
		ok(read && tr_text_equal(tr_buffer_text(&have), v.column[1]), "%.*s", (int)text.len,
		   text.data);
		tr_call_set_free(&set);
	}
	tr_buffer_free(&have);
	vectors_close(&v);
}

static void test_errors(void)
{
	static const char *const rows[][2] = {
		{ "", "byte 1: the set is empty" },
		{ " ", "byte 1: the set is empty" },
		{ "foo", "byte 1: numbers such as 10-19 or a class (frame, rendertarget, fbo, "
			 "render, draw) expected, not foo" },
		{ "1 frameset", "byte 3: numbers such as 10-19 or a class (frame, rendertarget, "
				"fbo, render, draw) expected, not "
				"frameset" },
		{ "3/overlongclassname",
		  "byte 3: numbers such as 10-19 or a class (frame, rendertarget, fbo, render, "
		  "draw) expected, not overlongclassna" },
		{ "5-3", "byte 1: the range ends before it begins" },
		{ "1,5/0", "byte 5: a step cannot be 0" },
		{ "5/", "byte 3: a number or a class of calls expected after '/'" },
		{ "1-3/2/draw", "byte 6: a number, '*' or a class of calls expected" },
		{ "-5", "byte 1: a number, '*' or a class of calls expected" },
		{ "5--7", "byte 3: a number, '*' or a class of calls expected" },
		{ "1;2", "byte 2: a number, '*' or a class of calls expected" },
		{ "18446744073709551616", "byte 1: the number is too large" },
		{ "1, @", "byte 5: file name expected after '@'" },
		{ "@/dev/null/x", "/dev/null/x: Not a directory" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tr_call_set set = { 0 };
		struct tr_error err = { 0 };
		bool read = tr_call_set_add(&set, tr_text_from(rows[i][0]), &err);
		if (!ok(!read && strcmp(err.text, rows[i][1]) == 0, "wrong: '%s'", rows[i][0]))
			diag("%s", err.text);
		tr_call_set_free(&set);
	}
}

/* Returns the numbers of a file with this text, or the message after the name of the file. */
static void from_file(const char *text, const char *expected)
{
	char path[] = "/tmp/trec-call-set-XXXXXX", argument[64];
	struct tr_buffer have = TR_BUFFER_INIT;
	struct tr_call_set set = { 0 };
	struct tr_error err = { 0 };
	int fd = mkstemp(path);

	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	snprintf(argument, sizeof argument, "@%s", path);
	if (written && tr_call_set_add(&set, tr_text_from(argument), &err))
		list(&set, &have);
	else if (strlen(err.text) > strlen(path))
		tr_buffer_put_text(&have, tr_text_from(err.text + strlen(path)));
	if (!ok(tr_text_is(tr_buffer_text(&have), expected), "a file: %.20s", expected))
		diag("%.*s", (int)have.len, have.data);
	tr_call_set_free(&set);
	tr_buffer_free(&have);
	close(fd);
	unlink(path);
}

static void test_files(void)
{
	char large[3 * 5000 + 8] = "";

	from_file("5", "5");
	from_file("1\n3\r\n 7-9/2,\n,draw", "1 3 6 7 9 10 14 15 18");
	from_file("", "");
	from_file("4,\n@x", ", byte 4: a number, '*' or a class of calls expected");
	for (int i = 0; i < 5000; i++)
		memcpy(large + 3 * i, i % 2 ? "12\n" : " 3,", 3);
	strcpy(large + 15000, "x");
	from_file(large, ", byte 15001: numbers such as 10-19 or a class (frame, rendertarget, "
			 "fbo, render, draw) expected, not x");
	large[15000] = '\0';
	from_file(large, "3 12");
}

/* The same question to every range. */
static bool any_has(const struct tr_call_range *ranges, size_t count, uint64_t n, unsigned kinds)
{
	for (size_t i = 0; i < count; i++) {
		const struct tr_call_range *r = &ranges[i];
		if (n >= r->first && n <= r->last && (n - r->first) % r->step == 0 &&
		    (!r->kinds || (r->kinds & kinds)))
			return true;
	}
	return false;
}

/* A range that misses none of its numbers has n. */
static bool whole_has(const struct tr_call_range *ranges, size_t count, uint64_t n)
{
	for (size_t i = 0; i < count; i++) {
		const struct tr_call_range *r = &ranges[i];
		if (!r->kinds && (r->step == 1 || r->first == r->last) && n >= r->first &&
		    n <= r->last)
			return true;
	}
	return false;
}

/* Beyond `most` only ranges without an end have anything. */
static enum tr_call_set_rest any_rest(const struct tr_call_range *ranges, size_t count, uint64_t n,
				      uint64_t most)
{
	bool some = false, all = whole_has(ranges, count, UINT64_MAX);

	for (size_t i = 0; i < count; i++)
		some = some || ranges[i].last >= n;
	for (; all && n < most; n++)
		all = whole_has(ranges, count, n);
	return all ? TR_CALL_SET_ALL : some ? TR_CALL_SET_SOME : TR_CALL_SET_NONE;
}

/* The range as text: "3-7/2", "3-/draw". */
static bool add_range(struct tr_call_set *set, const struct tr_call_range *range, const char *class)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_error err;

	tr_buffer_put_decimal(&text, range->first);
	tr_buffer_put_byte(&text, '-');
	if (range->last != UINT64_MAX)
		tr_buffer_put_decimal(&text, range->last);
	tr_buffer_put_byte(&text, '/');
	if (class)
		tr_buffer_put_text(&text, tr_text_from(class));
	else
		tr_buffer_put_decimal(&text, range->step);
	bool added = !text.failed && tr_call_set_add(set, tr_buffer_text(&text), &err);
	tr_buffer_free(&text);
	return added;
}

static void test_random(void)
{
	enum { ROUNDS = 2000, MOST = 12, NUMBERS = 40, CLASSES = 3 };
	static const struct {
		const char *word;
		unsigned kinds;
	} classes[CLASSES] = {
		{ "frame", TR_CALL_END_FRAME },
		{ "fbo", TR_CALL_END_FRAME | TR_CALL_RENDER_TARGET },
		{ "draw", TR_CALL_RENDER },
	};
	bool same = true, rest = true;

	srandom(7);
	for (int round = 0; round < ROUNDS; round++) {
		struct tr_call_set set = { 0 };
		struct tr_call_range ranges[MOST];
		size_t count = (size_t)random() % MOST + 1;
		for (size_t i = 0; i < count; i++) {
			struct tr_call_range *r = &ranges[i];
			r->first = (uint64_t)random() % NUMBERS;
			r->last = random() % 9 ? r->first + (uint64_t)random() % 9 : UINT64_MAX;
			r->step = random() % 2 ? 1 : (uint64_t)random() % 5 + 1;
			size_t class = (size_t)random() % (2 * CLASSES);
			r->kinds = class < CLASSES ? classes[class].kinds : 0;
			r->step = class < CLASSES ? 1 : r->step;
			same = add_range(&set, r, class < CLASSES ? classes[class].word : NULL) &&
			       same;
		}
		for (uint64_t n = 0; n < NUMBERS + 12; n++) {
			unsigned kinds = (unsigned)random() % 16;
			same = same &&
			       tr_call_set_has(&set, n, kinds) == any_has(ranges, count, n, kinds);
			rest = rest && tr_call_set_rest(&set, n) ==
					       any_rest(ranges, count, n, NUMBERS + 12);
		}
		tr_call_set_free(&set);
	}
	ok(same, "%d sets of random ranges", ROUNDS);
	ok(rest, "the numbers that are left after a number");
}

static void test_merged(void)
{
	struct tr_buffer have = TR_BUFFER_INIT;
	struct tr_call_set set = { 0 };

	bool read = tr_call_set_add(&set, TR_TEXT("3-5"), NULL) &&
		    tr_call_set_add(&set, TR_TEXT("0,6"), NULL) &&
		    tr_call_set_add(&set, TR_TEXT("20-/frame"), NULL);
	list(&set, &have);
	ok(read && tr_text_is(tr_buffer_text(&have), "0 3 4 5 6 20") && set.whole.count == 2,
	   "one text after the other");
	ok(tr_call_set_rest(&set, UINT64_MAX) == TR_CALL_SET_SOME, "up to the largest number");
	ok(!tr_call_set_has(&set, UINT64_MAX, 0) &&
		   tr_call_set_has(&set, UINT64_MAX, TR_CALL_END_FRAME),
	   "the largest number");
	tr_call_set_free(&set);
	tr_buffer_free(&have);
}

static unsigned asked;

/* A function is of kind 1 to 15, by its last digit. */
static unsigned by_digit(struct tr_text name)
{
	asked++;
	return name.len ? 1 + (unsigned)(name.data[name.len - 1] - '0') : 0;
}

static void test_remembered_kinds(void)
{
	static struct tr_call_kinds kinds = { .ask = by_digit };
	char name[80];
	bool right = true;

	/* names of every length that share a slot with others: each displaces the one before */
	for (size_t len = 1; len < sizeof name; len++) {
		for (char digit = '0'; digit <= '9'; digit++) {
			memset(name, 'g', len);
			name[len - 1] = digit;
			for (int twice = 0; twice < 2; twice++)
				right &= tr_call_kinds_of(&kinds, (struct tr_text){ name, len }) ==
					 1 + (unsigned)(digit - '0');
		}
	}
	ok(right, "the kinds of a function are its own, however many there are");
	ok(tr_call_kinds_of(&kinds, (struct tr_text){ NULL, 0 }) == 0, "no name at all");
	asked = 0;
	for (int i = 0; i < 100; i++)
		(void)tr_call_kinds_of(&kinds, TR_TEXT("glDraw1"));
	ok(asked <= 1, "the format is asked once for calls of one function");
}

int main(void)
{
	test_table();
	test_errors();
	test_files();
	test_random();
	test_merged();
	test_remembered_kinds();
	return done_testing();
}
