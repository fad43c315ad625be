/* SPDX-License-Identifier: MIT */
/*
 * Texts as the tracer prints them, by rules of its own, which differ for paths and arguments
 * and lose some line ends: what is left of them is read, and what was lost is reported. Lines of
 * several tasks are interleaved.
 */
#include "tap.h"
#include "transcript.h"

#include "record/literal.h"

enum { SEED = 20261121, TASKS = 3, EVENTS = 400, PIECE = 900, PAGE = 4096 };

struct task {
	unsigned upid;
	struct tr_buffer lines; /* what it prints */
	struct tr_buffer want;	/* its records, without seq */
};

static uint64_t state = SEED;
static unsigned now; /* nanoseconds */

static unsigned rnd(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

static struct tr_text random_text(struct tr_buffer *to)
{
	static const unsigned lengths[] = {
		1, 2, 7, 40, 899, 900, 901, 1800, 2500, 4095, 4096, 9000
	};
	static const char bytes[] = "ab/|[]!\"\\\xc3\xa9\xff\r=,";
	unsigned len = lengths[rnd(rnd(4) ? 4 : sizeof lengths / sizeof *lengths)];
	unsigned often = rnd(3) ? 0 : 1 + rnd(len);

	tr_buffer_reset(to);
	for (unsigned i = 0; i < len; i++)
		tr_buffer_put_byte(to, often && !rnd(often) ? '\n' : bytes[rnd(sizeof bytes - 1)]);
	return tr_buffer_text(to);
}

static void print(struct task *task, const char *tag, struct tr_text text)
{
	char head[64];

	snprintf(head, sizeof head, "0: %u,0,1,%u!%s", task->upid, ++now, tag);
	tr_buffer_put_text(&task->lines, tr_text_from(head));
	tr_buffer_put_text(&task->lines, text);
	tr_buffer_put_byte(&task->lines, '\n');
}

static void print_part(struct task *task, const char *tag, unsigned n, struct tr_text text)
{
	char part[32];

	snprintf(part, sizeof part, "%s[%u]", tag, n);
	print(task, part, text);
}

/* Up to the first of that byte; all of it where there is none. */
static struct tr_text until(struct tr_text text, char byte)
{
	size_t len = 0;

	while (len < text.len && text.data[len] != byte)
		len++;
	return (struct tr_text){ text.data, len };
}

static struct tr_text without(struct tr_text text, size_t n)
{
	return tr_text_span(text.data + n, text.data + text.len);
}

static struct tr_text piece_of(struct tr_text text)
{
	return (struct tr_text){ text.data, text.len < PIECE ? text.len : PIECE };
}

/* A text below 900 bytes: all of it comes through. */
static void print_short(struct task *task, const char *tag, struct tr_text text)
{
	struct tr_text line = until(text, '\n');
	char bar[8];

	snprintf(bar, sizeof bar, "%s|", tag);
	print(task, bar, line);
	if (line.len == text.len)
		return;
	while (line.len < text.len) {
		text = without(text, line.len + 1);
		line = until(text, '\n');
		print(task, "Cont|", line);
	}
	print(task, "Cont_end|", TR_TEXT(""));
}

/* A longer one: lines that are empty are not printed. Appends to kept what is. */
static void print_long(struct task *task, const char *tag, struct tr_text text,
		       struct tr_buffer *kept)
{
	char end[16];
	unsigned n = 0;

	for (bool first = true, more = true; more; first = false) {
		struct tr_text line = until(text, '\n');
		more = line.len < text.len;
		text = more ? without(text, line.len + 1) : text;
		bool cont = !first, group = cont && line.len;
		for (struct tr_text piece; line.len; line = without(line, piece.len)) {
			piece = piece_of(line);
			if (cont) {
				print(task, "Cont|", piece);
				tr_buffer_put_byte(kept, '\n');
			} else {
				if (group)
					print(task, "Cont_end|", TR_TEXT(""));
				group = false;
				print_part(task, tag, n++, piece);
			}
			tr_buffer_put_text(kept, piece);
			cont = false;
		}
		if (group)
			print(task, "Cont_end|", TR_TEXT(""));
	}
	snprintf(end, sizeof end, "%s_end|", tag);
	print(task, end, TR_TEXT(""));
}

static void put_string(struct task *task, const char *key, struct tr_text text)
{
	tr_buffer_put_text(&task->want, tr_text_from(key));
	tr_buffer_put_literal(&task->want, "\"");
	tr_string_escape(text, &task->want);
	tr_buffer_put_literal(&task->want, "\"");
}

#define wanted(task, ...) \
	do { \
		char text_[256]; \
		snprintf(text_, sizeof text_, __VA_ARGS__); \
		tr_buffer_put_text(&(task)->want, tr_text_from(text_)); \
	} while (0)

static void print_open(struct task *task)
{
	struct tr_buffer bytes = TR_BUFFER_INIT, kept = TR_BUFFER_INIT;
	struct tr_text path = random_text(&bytes);
	char parameters[128];

	snprintf(parameters, sizeof parameters, "fnamesize=%zu,forigsize=2,flags=0,mode=0,fd=3",
		 path.len);
	print(task, "Open|", tr_text_from(parameters));
	wanted(task, "sys\t1.%09u\t%u\topen", now, task->upid);
	if (path.len < PIECE) {
		print_short(task, "FN", path);
		tr_buffer_put_text(&kept, path);
	} else {
		print_long(task, "FN", path, &kept);
	}
	print(task, "FO|", TR_TEXT("/o"));
	if (kept.len) {
		put_string(task, "\tpath=", tr_buffer_text(&kept));
		tr_buffer_put_literal(&task->want, "\torig=\"/o\"\tflags=O_RDONLY\tcpu=0");
	}
	if (kept.len < path.len)
		wanted(task, "\tflagged=[\"size:FN\"]\t.FN=%zu", path.len);
	tr_buffer_put_literal(&task->want, "\t->\treturn=3\n");
	tr_buffer_free(&bytes);
	tr_buffer_free(&kept);
}

/* The arguments that begin in a page of their block, each up to its NUL. Returns the next one's. */
static unsigned print_page(struct task *task, struct tr_text page, unsigned n,
			   struct tr_buffer *kept)
{
	bool group = rnd(3) == 0; /* the tracer does not set it */

	for (;; n++) {
		struct tr_text whole = until(page, '\0'), left = whole;
		bool cont = false;
		while (left.len) {
			struct tr_text piece = until(piece_of(left), '\n');
			bool lf = piece.len < left.len && left.data[piece.len] == '\n' &&
				  piece.len < PIECE;
			if (cont) {
				print(task, "Cont|", piece);
				tr_buffer_put_byte(&kept[n], '\n');
				group = true;
			} else {
				if (group)
					print(task, "Cont_end|", TR_TEXT(""));
				group = false;
				print_part(task, "A", n, piece);
				tr_buffer_room(&kept[n], 1); /* it is there, even if empty */
			}
			tr_buffer_put_text(&kept[n], piece);
			left = without(left, piece.len + lf);
			cont = lf;
		}
		if (group && whole.len) {
			if (whole.data[whole.len - 1] == '\n') {
				print(task, "Cont|", TR_TEXT(""));
				tr_buffer_put_byte(&kept[n], '\n');
			}
			print(task, "Cont_end|", TR_TEXT(""));
			group = false;
		}
		if (whole.len == page.len)
			return n;
		page = without(page, whole.len + 1);
		if (!page.len)
			return n + 1;
	}
}

static void print_exec(struct task *task)
{
	enum { MOST = 8 };
	struct tr_buffer block = TR_BUFFER_INIT, bytes = TR_BUFFER_INIT, kept[MOST + 1] = { 0 };
	unsigned count = 1 + rnd(MOST), n = 0, last = 0;
	char parameters[128];
	size_t size = 0;

	for (unsigned i = 0; i < count; i++) {
		if (rnd(4))
			tr_buffer_put_text(&block, random_text(&bytes));
		tr_buffer_put(&block, "", 1);
	}
	snprintf(parameters, sizeof parameters,
		 "argsize=%zu,prognameisize=2,prognamepsize=2,cwdsize=2", block.len);
	print(task, "New_proc|", tr_text_from(parameters));
	wanted(task, "exec\t1.%09u\t%u\t/p\tppid=1\tcwd=\"/w\"\targv=[", now, task->upid);
	print(task, "PI|", TR_TEXT("/p"));
	print(task, "PP|", TR_TEXT("/p"));
	print(task, "CW|", TR_TEXT("/w"));
	for (struct tr_text left = tr_buffer_text(&block); left.len;) {
		struct tr_text page = { left.data, left.len < PAGE ? left.len : PAGE };
		n = print_page(task, page, n, kept);
		left = without(left, page.len);
	}
	print(task, "End_of_args|", TR_TEXT(""));
	/* those of nothing at the end are not to be seen */
	for (unsigned i = 0; i <= MOST; i++)
		last = kept[i].data ? i + 1 : last;
	for (unsigned i = 0; i < last; size += kept[i++].len + 1)
		put_string(task, i ? "," : "", tr_buffer_text(&kept[i]));
	tr_buffer_put_literal(&task->want, "]\tcpu=0");
	if (size != block.len)
		wanted(task, "\tflagged=[\"argsize:-%zu\"]\t.argsize=%zu", block.len - size,
		       block.len);
	tr_buffer_put_byte(&task->want, '\n');
	for (unsigned i = 0; i <= MOST; i++)
		tr_buffer_free(&kept[i]);
	tr_buffer_free(&block);
	tr_buffer_free(&bytes);
}

/* The lines of all tasks, each in its order. */
static void mix(struct task *tasks, struct tr_buffer *trace)
{
	struct tr_text left[TASKS];
	unsigned open = 0;

	for (unsigned i = 0; i < TASKS; i++)
		left[i] = tr_buffer_text(&tasks[i].lines);
	do {
		unsigned i = rnd(TASKS);
		if (left[i].len) {
			struct tr_text line = until(left[i], '\n');
			tr_buffer_put(trace, line.data, line.len + 1);
			left[i] = without(left[i], line.len + 1);
		}
		open = 0;
		for (i = 0; i < TASKS; i++)
			open += left[i].len > 0;
	} while (open);
}

/* The records of a task, without seq. */
static void select_task(struct tr_text lines, unsigned upid, struct tr_buffer *to)
{
	char task[32];

	snprintf(task, sizeof task, "%u", upid);
	while (lines.len) {
		struct tr_text line = until(lines, '\n'), kind = until(line, '\t');
		lines = without(lines, line.len + 1);
		struct tr_text rest = without(line, kind.len + 1);
		rest = without(rest, until(rest, '\t').len); /* time is next */
		struct tr_text name = without(rest, 1);
		name = without(name, until(name, '\t').len + 1);
		if (!tr_text_is(until(name, '\t'), task))
			continue;
		tr_buffer_put_text(to, kind);
		tr_buffer_put_text(to, rest);
		tr_buffer_put_byte(to, '\n');
	}
}

static void check(struct task *tasks, struct tr_text trace, size_t piece)
{
	struct reading how = { .format = &tr_format_etrace, .piece = piece };
	struct transcript read = { 0 };

	ok(read_trace(trace, &how, &read), "read by %zu", piece);
	for (unsigned i = 0; i < TASKS; i++) {
		struct tr_buffer got = TR_BUFFER_INIT;
		select_task(tr_buffer_text(&read.lines), tasks[i].upid, &got);
		ok(tr_text_equal(tr_buffer_text(&got), tr_buffer_text(&tasks[i].want)),
		   "what task %u printed is read", tasks[i].upid);
		tr_buffer_free(&got);
	}
	ok(!read.lines.failed && !memmem(read.lines.data, read.lines.len, "\nraw\t", 5),
	   "every line belongs to something");
	transcript_free(&read);
}

int main(void)
{
	struct task tasks[TASKS] = { { .upid = 11 }, { .upid = 12 }, { .upid = 13 } };
	struct tr_buffer trace = TR_BUFFER_INIT;

	tr_buffer_put_literal(&trace, "0: 1,0,0,1!SchedFork|pid=11\n0: 1,0,0,2!SchedFork|pid=12\n"
				      "0: 1,0,0,3!SchedFork|pid=13\n");
	for (unsigned i = 0; i < EVENTS; i++) {
		struct task *task = &tasks[rnd(TASKS)];
		if (rnd(2))
			print_open(task);
		else
			print_exec(task);
	}
	mix(tasks, &trace);
	check(tasks, tr_buffer_text(&trace), 1 << 16);
	check(tasks, tr_buffer_text(&trace), 7);
	for (unsigned i = 0; i < TASKS; i++) {
		tr_buffer_free(&tasks[i].lines);
		tr_buffer_free(&tasks[i].want);
	}
	tr_buffer_free(&trace);
	return done_testing();
}
