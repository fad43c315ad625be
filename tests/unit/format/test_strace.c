/* SPDX-License-Identifier: MIT */
/* The cases of tests/data/strace, and what a missing or cut line does to the others. */
#include "strace_reading.h"
#include "tap.h"

struct test_case {
	char name[128];
	struct tr_buffer log, lines, messages;
};

static void case_reset(struct test_case *c)
{
	tr_buffer_reset(&c->log);
	tr_buffer_reset(&c->lines);
	tr_buffer_reset(&c->messages);
}

static void same_text(const char *what, const char *name, const struct tr_buffer *got,
		      const struct tr_buffer *want)
{
	bool same = tr_text_equal(tr_buffer_text(got), tr_buffer_text(want));

	ok(same, "%s: %s", name, what);
	if (!same)
		printf("# got:\n%.*s# want:\n%.*s", (int)got->len, got->len ? got->data : "",
		       (int)want->len, want->len ? want->data : "");
}

static void check_case(const struct test_case *c)
{
	static const size_t pieces[] = { 1 << 16, 1 };

	for (int i = 0; c->name[0] && i < 2; i++) {
		struct reading got = { 0 };
		ok(read_log(tr_buffer_text(&c->log), pieces[i], NULL, &got), "%s: read by %zu",
		   c->name, pieces[i]);
		same_text("the records", c->name, &got.lines, &c->lines);
		same_text("the messages", c->name, &got.messages, &c->messages);
		reading_free(&got);
	}
}

static void put_line(struct tr_buffer *to, struct tr_text line, size_t skip)
{
	tr_buffer_put(to, line.data + skip, line.len - skip);
	tr_buffer_put_byte(to, '\n');
}

static void take_line(struct test_case *c, struct tr_text line)
{
	if (tr_text_starts(line, TR_TEXT("@ "))) {
		check_case(c);
		case_reset(c);
		snprintf(c->name, sizeof c->name, "%.*s", (int)line.len - 2, line.data + 2);
	} else if (tr_text_starts(line, TR_TEXT("< "))) {
		put_line(&c->log, line, 2);
	} else if (tr_text_starts(line, TR_TEXT("> "))) {
		put_line(&c->lines, line, 2);
	} else if (tr_text_starts(line, TR_TEXT("! ")) || tr_text_starts(line, TR_TEXT("~ "))) {
		put_line(&c->messages, line, 0);
	}
}

static FILE *open_data(const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[4096];

	snprintf(path, sizeof path, "%s/tests/data/strace/%s", top ? top : ".", name);
	FILE *file = fopen(path, "rb");
	ok(file != NULL, "%s is there", name);
	return file;
}

static void run_file(const char *name)
{
	FILE *file = open_data(name);
	struct test_case c = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	while (file && (len = getline(&line, &cap, file)) > 0)
		take_line(&c, (struct tr_text){ line, (size_t)len - (line[len - 1] == '\n') });
	check_case(&c);
	tr_buffer_free(&c.log);
	tr_buffer_free(&c.lines);
	tr_buffer_free(&c.messages);
	free(line);
	if (file)
		fclose(file);
}

/* Whether an exec record with this argv is among the lines, and whose it is. */
static bool has_exec(const struct tr_buffer *lines, struct tr_text argv)
{
	const char *p = lines->len ? lines->data : "", *end = p + lines->len;

	while ((p = memmem(p, (size_t)(end - p), argv.data, argv.len))) {
		const char *begin = p;
		while (begin > lines->data && begin[-1] != '\n')
			begin--;
		if (tr_text_starts(tr_text_span(begin, end), TR_TEXT("exec\t")))
			return true;
		p += argv.len;
	}
	return false;
}

/* How many executions of `whole`, told by their arguments, are not in `part`. */
static size_t lost_execs(const struct tr_buffer *whole, const struct tr_buffer *part)
{
	const char *p = whole->data, *end = p + whole->len;
	size_t lost = 0;

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		const char *argv = memmem(p, (size_t)(lf - p), "\targv=", 6);
		const char *env = memmem(p, (size_t)(lf - p), "\tenv=", 5);
		if (tr_text_starts(tr_text_span(p, lf), TR_TEXT("exec\t")) && argv && env)
			lost += !has_exec(part, tr_text_span(argv, env));
		p = lf + 1;
	}
	return lost;
}

static size_t count_lines(const struct tr_buffer *lines)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->len; i++)
		count += lines->data[i] == '\n';
	return count;
}

/*
 * Every line of a log left out, or cut in the middle: no more than its own
 * execution is lost, and no more than three records come or go.
 */
static void damage(const char *name)
{
	FILE *file = open_data(name);
	char *log = NULL;
	size_t cap = 0, bad = 0, tried = 0;
	ssize_t len = file ? getdelim(&log, &cap, '\0', file) : 0;
	struct tr_text text = { log, len > 0 ? (size_t)len : 0 };
	struct reading whole = { 0 };

	ok(read_log(text, 1 << 16, NULL, &whole), "%s: read", name);
	size_t records = count_lines(&whole.lines);
	for (const char *p = text.data, *end = p + text.len, *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		const char *cuts[] = { p, p + (lf - p) / 3, p + (lf - p) / 2, lf - 1 };
		for (int i = 0; i < 4; i++, tried++) {
			struct tr_buffer part = TR_BUFFER_INIT;
			struct reading got = { 0 };
			tr_buffer_put(&part, text.data, (size_t)(cuts[i] - text.data));
			if (i > 0)
				tr_buffer_put_byte(&part, '\n');
			tr_buffer_put(&part, lf + 1, (size_t)(end - lf - 1));
			bool good = read_log(tr_buffer_text(&part), 1 << 16, NULL, &got);
			size_t now = count_lines(&got.lines),
			       lost = lost_execs(&whole.lines, &got.lines);
			good = good && lost <= 1 && now + 3 >= records && now <= records + 3;
			if (!good && !bad++)
				printf("# %s: %zu executions lost, %zu records of %zu at: %.*s\n",
				       name, lost, now, records, (int)(lf - p), p);
			tr_buffer_free(&part);
			reading_free(&got);
		}
	}
	ok(tried > 0 && bad == 0, "%s: %zu times a line was missing or cut", name, tried);
	reading_free(&whole);
	free(log);
	if (file)
		fclose(file);
}

static void check_setting(const char *setting, const char *log, const char *want)
{
	struct reading got = { 0 };

	read_log(tr_text_from(log), 1 << 16, setting, &got);
	ok(tr_text_is(tr_buffer_text(&got.lines), want), "-O %s", setting);
	reading_free(&got);
}

/* As many children as one likes come and go, and the reader holds no more than a few. */
static void check_look_ahead(void)
{
	struct tr_buffer log = TR_BUFFER_INIT;
	struct reading got = { 0 };

	tr_buffer_put_literal(&log, "1 execve(\"/a\", [\"a\"], []) = 0\n");
	tr_buffer_put_literal(&log, "1 clone(flags=SIGCHLD <unfinished ...>\n");
	tr_buffer_put_literal(&log, "2 execve(\"/b\", [\"b\"], []) = 0\n");
	for (int i = 0; i < 3000; i++)
		tr_buffer_put_literal(&log, "2 getpid() = 2\n");
	tr_buffer_put_literal(&log, "1 <... clone resumed>) = 2\n");
	ok(read_log(tr_buffer_text(&log), 1 << 16, NULL, &got) && count_lines(&got.lines) == 3003,
	   "a record does not wait for ever");
	ok(memmem(got.lines.data, got.lines.len, "\"orphan\"", 8) != NULL, "and says so");
	tr_buffer_free(&log);
	reading_free(&got);
}

int main(void)
{
	run_file("good.cases");
	run_file("bad.cases");
	damage("small.strace");
	check_setting("cwd=/w/x", "1 execve(\"a\", [\"a\"], [\"PWD=/no\"]) = 0\n",
		      "exec\t0\t-\t1\t/w/x/a\tcwd=\"/w/x\"\targv=[\"a\"]\tenv={\"PWD\":\"/no\"}\n");
	check_setting("failed=yes", "1 execve(\"/a\", [\"a\"], []) = -1 ENOENT (No such file)\n",
		      "exec\t0\t-\t1\t/a\targv=[\"a\"]\tenv={}\terror=ENOENT\n");
	check_look_ahead();
	return done_testing();
}
