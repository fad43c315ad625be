/* SPDX-License-Identifier: MIT */
/* The cases of tests/data/strace, and what a missing or cut line does to the others. */
#include <inttypes.h>

#include "process/forest.h"
#include "tap.h"
#include "transcript.h"

struct test_case {
	char name[128];
	bool parents; /* the lines are those of parent.cases */
	struct tr_buffer log, lines, messages;
};

static void case_reset(struct test_case *c)
{
	tr_buffer_reset(&c->log);
	tr_buffer_reset(&c->lines);
	tr_buffer_reset(&c->messages);
}

/* Reads a log. setting: "key=value" or NULL. False: memory was exhausted or the reader failed. */
static bool read_log(struct tr_text log, size_t piece, const char *setting, struct transcript *got)
{
	const char *equals = setting ? strchr(setting, '=') : NULL;
	char key[16] = "";
	struct reading how = { .format = &tr_format_strace, .piece = piece };

	if (equals) {
		snprintf(key, sizeof key, "%.*s", (int)(equals - setting), setting);
		how.key = key;
		how.value = equals + 1;
	}
	return read_trace(log, &how, got);
}

/* Finds the parents of exec records; by_task: without the field parent. */
static void find_parents(struct tr_text lines, bool by_task, struct tr_buffer *to)
{
	struct tr_forest forest;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	char text[64];

	tr_forest_init(&forest, 1 << 20, NULL, NULL);
	for (const char *p = lines.data, *end = p + lines.len, *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_text line = tr_arena_copy(&arena, tr_text_span(p, lf + 1));
		char *parent = memmem(line.data, line.len, "\tparent=", 8);
		struct tr_record record;
		if (by_task && parent)
			memcpy(parent, "\tunused=", 8);
		tr_record_init(&record, &arena);
		ok(tr_record_from_line(&record, line, &err) &&
			   tr_forest_put(&forest, &record, &err),
		   "a record is read");
	}
	ok(tr_forest_link(&forest), "the records are linked");
	for (const struct tr_forest_node *node = forest.nodes; node < forest.nodes + forest.count;
	     node++) {
		if (!node->program)
			continue;
		const struct tr_forest_node *parent = node;
		do /* a process without a program has that of its parent */
			parent = parent->parent == TR_FOREST_NONE ? NULL
								  : &forest.nodes[parent->parent];
		while (parent && !parent->program);
		snprintf(text, sizeof text, "> %" PRIu64 " ", node->seq);
		tr_buffer_put_text(to, tr_text_from(text));
		snprintf(text, sizeof text, "%" PRIu64, parent ? parent->seq : 0);
		tr_buffer_put_text(to, tr_text_from(parent ? text : "-"));
		tr_buffer_put_byte(to, '\n');
		if (node->replaces != TR_FOREST_NONE && forest.nodes[node->replaces].program) {
			snprintf(text, sizeof text, "= %" PRIu64 " %" PRIu64 "\n", node->seq,
				 forest.nodes[node->replaces].seq);
			tr_buffer_put_text(to, tr_text_from(text));
		}
	}
	tr_forest_free(&forest);
	tr_arena_free(&arena);
}

static void check_parents(const struct test_case *c)
{
	struct transcript got = { 0 };
	struct tr_buffer parents = TR_BUFFER_INIT;

	ok(read_log(tr_buffer_text(&c->log), 1 << 16, NULL, &got), "%s: read", c->name);
	find_parents(tr_buffer_text(&got.lines), false, &parents);
	same_text("parents by the field", c->name, &parents, &c->lines);
	tr_buffer_reset(&parents);
	find_parents(tr_buffer_text(&got.lines), true, &parents);
	same_text("parents by tasks", c->name, &parents, &c->lines);
	tr_buffer_free(&parents);
	transcript_free(&got);
}

static void check_case(const struct test_case *c)
{
	static const size_t pieces[] = { 1 << 16, 1 };

	if (c->name[0] && c->parents) {
		check_parents(c);
		return;
	}
	for (int i = 0; c->name[0] && i < 2; i++) {
		struct transcript got = { 0 };
		ok(read_log(tr_buffer_text(&c->log), pieces[i], NULL, &got), "%s: read by %zu",
		   c->name, pieces[i]);
		same_text("the records", c->name, &got.lines, &c->lines);
		same_text("the messages", c->name, &got.messages, &c->messages);
		transcript_free(&got);
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
	} else if (c->parents && (line.len && (*line.data == '>' || *line.data == '='))) {
		put_line(&c->lines, line, 0);
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

static void run_file(const char *name, bool parents)
{
	FILE *file = open_data(name);
	struct test_case c = { .parents = parents };
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

/* Counts the executions of `whole`, by their arguments, that are not in `part`. */
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
	struct transcript whole = { 0 };

	ok(read_log(text, 1 << 16, NULL, &whole), "%s: read", name);
	size_t records = count_lines(&whole.lines);
	for (const char *p = text.data, *end = p + text.len, *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		const char *cuts[] = { p, p + (lf - p) / 3, p + (lf - p) / 2, lf - 1 };
		for (int i = 0; i < 4; i++, tried++) {
			struct tr_buffer part = TR_BUFFER_INIT;
			struct transcript got = { 0 };
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
			transcript_free(&got);
		}
	}
	ok(tried > 0 && bad == 0, "%s: %zu times a line was missing or cut", name, tried);
	transcript_free(&whole);
	free(log);
	if (file)
		fclose(file);
}

static void check_setting(const char *setting, const char *log, const char *want)
{
	struct transcript got = { 0 };

	read_log(tr_text_from(log), 1 << 16, setting, &got);
	ok(tr_text_is(tr_buffer_text(&got.lines), want), "-O %s", setting);
	transcript_free(&got);
}

/*
 * A child that is pending on the return of its fork, with some records and a long one after it. If
 * these are too many, it becomes an orphan.
 */
static void check_look_ahead(int records, size_t bytes, bool orphan)
{
	struct tr_buffer log = TR_BUFFER_INIT;
	struct transcript got = { 0 };

	tr_buffer_put_literal(&log, "1 execve(\"/a\", [\"a\"], []) = 0\n"
				    "1 clone(flags=SIGCHLD <unfinished ...>\n"
				    "2 execve(\"/b\", [\"b\"], []) = 0\n"
				    "2 write(1, \"");
	for (size_t i = 0; i < bytes; i++)
		tr_buffer_put_byte(&log, 'x');
	tr_buffer_put_literal(&log, "\", 1) = 1\n");
	for (int i = 1; i < records; i++)
		tr_buffer_put_literal(&log, "2 getpid() = 2\n");
	tr_buffer_put_literal(&log, "1 <... clone resumed>) = 2\n");
	ok(read_log(tr_buffer_text(&log), 1 << 16, "cwd=/w", &got) &&
		   count_lines(&got.lines) == (size_t)records + 3,
	   "%d records of %zu bytes come out", records, bytes);
	ok(!memmem(got.lines.data, got.lines.len, "\"orphan\"", 8) == !orphan,
	   "the record before them is %s orphan", orphan ? "an" : "no");
	tr_buffer_free(&log);
	transcript_free(&got);
}

/* A record is where its call began, also if it was pending. */
static void check_places(void)
{
	struct transcript got = { 0 };

	read_log(TR_TEXT("1 execve(\"/a\", [\"a\"], []) = 0\n"
			 "1 vfork( <unfinished ...>\n"
			 "2 execve(\"/b\", [\"b\"], []) = 0\n"
			 "1 <... vfork resumed>) = 2\n"
			 "1 getpid() = 1\n"),
		 1 << 16, "cwd=/", &got);
	ok(tr_text_is(tr_buffer_text(&got.places), " 1@0 3@56 2@30 5@113"),
	   "lines and offsets: %.*s", (int)got.places.len, got.places.data);
	transcript_free(&got);
}

static void put_ends(struct tr_buffer *log, const char *format, int first, int last)
{
	char line[80];

	for (int i = first; i <= last; i++) {
		snprintf(line, sizeof line, format, i);
		tr_buffer_put_text(log, tr_text_from(line));
	}
}

/*
 * The ends of 17 processes that call exit_group before any +++ line comes. If a log has such lines,
 * they end the processes. If not, that is clear from 16 ends without one.
 */
static void check_ends(bool printed)
{
	struct tr_buffer log = TR_BUFFER_INIT;
	struct transcript got = { 0 };
	size_t exits = 0, early = 0;

	tr_buffer_put_literal(&log, "1 execve(\"/a\", [\"a\"], []) = 0\n");
	put_ends(&log, "1 vfork() = %d\n", 2, 19);
	put_ends(&log, "%d exit_group(0) = ?\n", 2, 2);
	if (printed)
		put_ends(&log, "%d +++ exited with 0 +++\n", 2, 2);
	put_ends(&log, "%d exit_group(1) = ?\n", 3, 19);
	tr_buffer_put_literal(&log, "1 getpid() = 1\n");
	if (printed)
		put_ends(&log, "%d +++ exited with 1 +++\n", 3, 19);
	ok(read_log(tr_buffer_text(&log), 1 << 16, "cwd=/w", &got), "a log with many ends is read");
	tr_buffer_put_byte(&got.lines, '\0');
	const char *call = strstr(got.lines.data, "getpid");
	for (const char *p = got.lines.data; (p = strstr(p, "\nexit\t")); p++) {
		exits++;
		early += p < call;
	}
	ok(exits == 18, "%zu exits of 18", exits);
	ok(early == (printed ? 1 : 2), "%zu of them early", early);
	tr_buffer_free(&log);
	transcript_free(&got);
}

int main(void)
{
	run_file("good.cases", false);
	run_file("bad.cases", false);
	run_file("parent.cases", true);
	damage("small.strace");
	check_setting("cwd=/w/x", "1 execve(\"a\", [\"a\"], [\"PWD=/no\"]) = 0\n",
		      "exec\t0\t-\t1\t/w/x/a\tcwd=\"/w/x\"\targv=[\"a\"]\tenv={\"PWD\":\"/no\"}\n");
	check_setting("failed=yes",
		      "1 execve(\"/a\", [\"a\"], []) = 0\n"
		      "2 execve(\"/b\", [\"b\"], []) = -1 ENOENT (No such file)\n"
		      "1 clone(flags=CLONE_THREAD) = 2\n"
		      "2 execve(\"/c\", [\"c\"], []) = -1 EACCES\n",
		      "exec\t0\t-\t1\t/a\targv=[\"a\"]\tenv={}\n"
		      "exec\t1\t-\t2\t/b\tparent=0\targv=[\"b\"]\tenv={}\terror=ENOENT\ttgid=1\n"
		      "fork\t2\t-\t1\t-\tchild=2\tflags=CLONE_THREAD\n"
		      "exec\t3\t-\t2\t/c\targv=[\"c\"]\tenv={}\terror=EACCES\ttgid=1\n");
	check_setting("failed=yes", "1 execve(\"/a\", [\"a\"], []) = -1 ENOENT (No such file)\n",
		      "exec\t0\t-\t1\t/a\targv=[\"a\"]\tenv={}\terror=ENOENT\n");
	check_setting(
		"failed=yes", "1 <... execve resumed>) = -1 ENOENT (No such file)\n",
		"exec\t0\t-\t1\t-\terror=ENOENT\tflagged=[\"env-unknown\",\"missing:begin\"]\n");
	check_look_ahead(1023, 0, false);
	check_look_ahead(1024, 0, true);
	/* both records together have 78 bytes without the long string */
	check_look_ahead(1, (4 << 20) - 78, false);
	check_look_ahead(1, (4 << 20) - 77, true);
	check_places();
	check_setting("cwd=/w",
		      "1 execve(\"a\", [\"a\"], []) = 0\n"
		      "1 +++ exited with 0 +++\n"
		      "1 execve(\"b\", [\"b\"], []) = 0\n",
		      "exec\t0\t-\t1\t/w/a\tcwd=\"/w\"\targv=[\"a\"]\tenv={}\n"
		      "exit\t1\t-\t1\t-\tstatus=0\n"
		      "exec\t2\t-\t1\tb\targv=[\"b\"]\tenv={}\n");
	check_ends(true);
	check_ends(false);
	return done_testing();
}
