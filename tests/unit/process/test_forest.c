/* SPDX-License-Identifier: MIT */
/* What becomes of exec, fork and exit records: who is whose child, and how long each ran. */
#include "process/forest.h"

#include <stdlib.h>
#include <string.h>

#include "process/command.h"
#include "tap.h"

struct test {
	const char *what;
	const char *
		lines; /* the columns kind, seq, time, task, name separated by blanks, and fields */
	const char *tree; /* SEQ, then [seconds], then how it ended; indented by depth; lines end in
			     ";" */
};

static const struct test tests[] = {
	{ "a fork becomes its program, and its time begins there",
	  "exec 0 1 1 make\nfork 1 2 1 - child=2\nexec 2 3.5 2 cc parent=0\nexit 3 5 2 - status=0\n"
	  "exit 4 6 1 - status=2\n",
	  "0[5]=2; 2[1.5]=0;" },
	{ "a fork without a program",
	  "exec 0 1 1 make\nfork 1 2 1 - child=2\nexit 2 4 2 - signal=SIGINT\n",
	  "0=?; 1[2]=SIGINT;" },
	{ "threads are no processes, and their end ends none",
	  "exec 0 1 1 a\nfork 1 2 1 - child=2 flags=CLONE_VM|CLONE_THREAD\nexit 2 3 2 - status=0\n"
	  "exit 3 4 1 - status=0\n",
	  "0[3]=0;" },
	{ "what a thread forks is a child of its process",
	  "exec 0 1 1 a\nfork 1 2 1 - child=2 flags=CLONE_THREAD\nfork 2 3 2 - child=3\n",
	  "0=?; 2=?;" },
	{ "exec in place", "exec 0 1 1 sh\nexec 1 2 1 cc\nexit 2 4 1 - status=0\n",
	  "0[1]=exec;1[2]=0;" },
	{ "children of both programs of a process",
	  "exec 0 - 1 sh\nexec 1 - 2 a parent=0\nexec 2 - 1 cc\nexec 3 - 3 b parent=2\n",
	  "0=exec; 1=?;2=?; 3=?;" },
	{ "parent by ppid alone", "exec 0 - 7 a\nexec 1 - 8 b ppid=7\n", "0=?; 1=?;" },
	{ "ids that are strings", "exec 0 - \"x\" a\nexec 1 - 8 b ppid=\"x\"\n", "0=?; 1=?;" },
	{ "an id with a zero before it is another id",
	  "exec 0 - 7 a\nexec 1 - 07 b\nexec 2 - 8 c ppid=7\n", "0=?; 2=?;1=?;" },
	{ "a parent that comes later", "exec 0 - 7 a parent=1\nexec 1 - 8 b\n", "1=?; 0=?;" },
	{ "a parent that has ended", "exec 0 1 7 a\nexit 1 2 7 - status=0\nexec 2 3 8 b parent=0\n",
	  "0[1]=0; 2=?;" },
	{ "a parent that is not there", "exec 0 - 7 a parent=9\n", "0=?;" },
	{ "itself as a parent", "exec 0 - 7 a parent=0\n", "0=?;" },
	{ "a cycle", "exec 0 - 1 a parent=2\nexec 1 - 2 b parent=0\nexec 2 - 3 c parent=1\n",
	  "1=?; 2=?;  0=?;" },
	{ "a cycle through an exec in place",
	  "exec 0 - 1 a parent=2\nexec 1 - 1 b parent=2\nexec 2 - 3 c parent=1\n",
	  "2=?; 0=exec; 1=?;" },
	{ "an id that is used anew", "exec 0 1 1 a\nexit 1 2 1 - status=0\nexec 2 3 1 b\n",
	  "0[1]=0;2=?;" },
	{ "an id of letters that is used anew",
	  "exec 0 1 a1 a\nexit 1 2 a1 - status=0\nexec 2 3 a1 b\n", "0[1]=0;2=?;" },
	{ "an id that is used again without an end",
	  "exec 0 - 1 p\nexec 1 - 2 a parent=0\nexec 2 - 3 q\nexec 3 - 2 b parent=2\n",
	  "0=?; 1=?;2=?; 3=?;" },
	{ "a child whose record comes before its fork",
	  "exec 0 1 1 a\nfork 1 1 1 - child=2\nexec 2 2 2 b\nfork 3 3 3 - child=4\nexec 4 3 5 c\n"
	  "fork 5 4 2 - child=5\nexit 6 5 5 - status=1\n",
	  "0=?; 2=?;  4[2]=1;3=?; 3=?;" },
	{ "a child whose record comes before its fork and has its parent",
	  "exec 0 1 1 a\nexec 1 3 2 b parent=0\nfork 2 2 1 - child=2\nexit 3 5 2 - status=7\n",
	  "0=?; 1[2]=7;" },
	{ "an id that is forked again without an end",
	  "exec 0 1 1 a\nfork 1 2 1 - child=2\nexec 2 3 2 b\nfork 3 4 1 - child=2\nexec 4 5 2 c\n",
	  "0=?; 2=?; 4=?;" },
	{ "a thread whose record comes before its fork",
	  "exec 0 1 1 a\nfork 1 2 2 - child=3\nfork 2 2 1 - child=2 flags=CLONE_THREAD\n",
	  "0=?;1=?; 1=?;" },
	{ "an exec that failed is none", "exec 0 - 1 a\nexec 1 - 1 b error=ENOENT\n", "0=?;" },
	{ "its end is in the exec record",
	  "exec 0 1 1 a end=4.5 status=0\nexec 1 2 2 b ppid=1 end=3.0 signal=\"SIGKILL\"\n",
	  "0[3.5]=0; 1[1]=SIGKILL;" },
	{ "an end before its beginning has no duration",
	  "exec 0 5 1 a\nexit 1 3 1 - status=0\nexec 2 5 2 b\nexit 3 5 2 - status=0\n",
	  "0=0;2[0]=0;" },
	{ "exec in place by a process that names its parent each time",
	  "exec 0 1 1 a\nexec 1 2 2 b parent=0\nexec 2 3 2 c parent=0\n", "0=?; 1[1]=exec; 2=?;" },
	{ "exec in place by a process that names what it was as its parent",
	  "exec 0 1 1 a\nexec 1 2 1 b parent=0\n", "0[1]=exec;1=?;" },
	{ "exec in place by a process that was forked, whatever parent it names",
	  "exec 0 1 1 a\nfork 1 1 1 - child=2\nexec 2 2 2 b parent=0\nexec 3 3 2 c parent=9\n",
	  "0=?; 2[1]=exec; 3=?;" },
	{ "an id with another parent is another process",
	  "exec 0 1 1 a\nexec 1 1 3 b\nexec 2 2 2 c parent=0\nexec 3 3 2 d parent=1\n",
	  "0=?; 2=?;1=?; 3=?;" },
	{ "an id with another parent, neither of which is there",
	  "exec 0 1 2 a parent=8\nexec 1 2 2 b parent=9\n", "0=?;1=?;" },
	{ "exec in place with a parent that is not there",
	  "exec 0 1 2 a parent=9\nexec 1 2 2 b parent=9\n", "0[1]=exec;1=?;" },
	{ "an exec after an exec record with an end is another process",
	  "exec 0 1 1 a end=2.0 status=0\nexec 1 3 1 b\n", "0[1]=0;1=?;" },
	{ "an ancestor that is found twice",
	  "exec 0 - 1 a parent=1\nexec 1 - 2 b parent=0\nexec 2 - 3 c parent=1\n"
	  "exec 3 - 4 d parent=2\nexec 4 - 5 e parent=1\n",
	  "1=?; 0=?; 2=?;  3=?; 4=?;" },
	{ "a number that comes twice: children belong to the first",
	  "exec 5 - 1 a\nexec 5 - 2 b\nexec 6 - 3 c parent=5\n", "5=?; 6=?;5=?;" },
	{ "records without a task", "exec 0 - - a\nexec 1 - - b parent=0\n", "0=?; 1=?;" },
	{ "nothing that can be used",
	  "fork 0 - - - child=2\nfork 1 - 1 -\nexit 2 - 1 -\nexit 3 - - -\n", "" },
};

static bool describe(void *context, struct tr_record *record, struct tr_buffer *text)
{
	(void)context;
	return tr_command_show(record, 0, text);
}

/* Columns and fields are separated by TABs in the stream. */
static void put_lines(struct tr_forest *forest, const char *lines)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;

	while (*lines) {
		size_t len = (size_t)(strchr(lines, '\n') - lines) + 1;
		char *line = malloc(len + 64);
		for (size_t i = 0; i < len; i++)
			line[i] = (char)(lines[i] == ' ' ? '\t' : lines[i]);
		struct tr_record record;
		tr_record_init(&record, &arena);
		if (!tr_record_from_line(&record, (struct tr_text){ line, len }, &err) ||
		    !tr_forest_put(forest, &record, &err))
			diag("%s", err.text);
		tr_arena_reset(&arena);
		free(line);
		lines += len;
	}
	tr_arena_free(&arena);
}

static void put_seconds(int64_t time, struct tr_buffer *to)
{
	tr_buffer_put_byte(to, '[');
	tr_instant_write(time, 9, to);
	while (to->data[to->len - 1] == '0')
		to->len--;
	to->len -= to->data[to->len - 1] == '.';
	tr_buffer_put_byte(to, ']');
}

static void show(const struct tr_forest *forest, struct tr_buffer *to)
{
	size_t depth;

	for (uint32_t at = TR_FOREST_NONE;
	     (at = tr_forest_next(forest, at, &depth)) != TR_FOREST_NONE;) {
		const struct tr_forest_node *node = &forest->nodes[at];
		for (size_t i = 0; i < depth; i++)
			tr_buffer_put_byte(to, ' ');
		tr_buffer_put_decimal(to, node->seq);
		if (tr_forest_duration(node) != TR_INSTANT_NONE)
			put_seconds(tr_forest_duration(node), to);
		tr_buffer_put_byte(to, '=');
		if (node->fate == TR_RUN_EXITED && node->end != UINT64_MAX)
			tr_buffer_put_decimal(to, node->end);
		else if (node->fate == TR_RUN_KILLED)
			tr_buffer_put_text(to, tr_text_from(forest->signals[node->end]));
		else
			tr_buffer_put_text(
				to, tr_text_from(node->fate == TR_RUN_REPLACED ? "exec" : "?"));
		/* the depth is counted down, because it is computed again */
		tr_buffer_put_byte(to, ';');
		depth = 0;
		for (uint32_t up = node->parent; up != TR_FOREST_NONE;
		     up = forest->nodes[up].parent)
			depth++;
	}
}

static void try(const struct test *test)
{
	struct tr_buffer shown = TR_BUFFER_INIT;
	struct tr_forest forest;

	tr_forest_init(&forest, 1 << 20, describe, NULL);
	put_lines(&forest, test->lines);
	ok(tr_forest_link(&forest), "%s: linked", test->what);
	show(&forest, &shown);
	if (!ok(tr_text_is(tr_buffer_text(&shown), test->tree), "%s", test->what))
		diag("%.*s", (int)shown.len, shown.data);
	tr_buffer_free(&shown);
	tr_forest_free(&forest);
}

/* Texts come back, also when they are many; the next segment begins anew. */
static void try_texts(void)
{
	enum { COUNT = 30000 };
	struct tr_buffer text = TR_BUFFER_INIT, lines = TR_BUFFER_INIT;
	struct tr_forest forest;
	struct tr_error err;
	bool right = true;

	tr_forest_init(&forest, (uint64_t)1 << 30, describe, NULL);
	for (int round = 0; round < 2; round++) {
		tr_buffer_reset(&lines);
		for (unsigned i = 0; i < COUNT; i++) {
			char line[200];
			int len = snprintf(line, sizeof line,
					   "exec %u - %u x argv=[\"%060u\",\"r%d\"]\n", i, i, i,
					   round);
			tr_buffer_put(&lines, line, (size_t)len);
		}
		tr_buffer_put_byte(&lines, '\0');
		put_lines(&forest, lines.data);
		right &= tr_forest_link(&forest) && forest.count == COUNT;
		for (unsigned i = 0; i < COUNT; i++) {
			char wanted[100];
			snprintf(wanted, sizeof wanted, "%060u r%d", i, round);
			right &= tr_forest_text(&forest, &forest.nodes[i], &text, &err) &&
				 tr_text_is(tr_buffer_text(&text), wanted);
		}
		tr_forest_clear(&forest);
	}
	ok(right, "texts of many runs, twice");
	tr_forest_free(&forest);
	tr_forest_init(&forest, 1000, describe, NULL);
	put_lines(&forest, "exec 0 - 1 a\n");
	ok(tr_forest_link(&forest), "a segment that is not shown");
	tr_forest_free(&forest);
	tr_buffer_free(&text);
	tr_buffer_free(&lines);
}

static void put_line(struct tr_forest *forest, const char *format, unsigned seq, unsigned task)
{
	char line[100];

	snprintf(line, sizeof line, format, seq, task);
	put_lines(forest, line);
}

/* How the run of record seq ended; '?': unknown, '!': there is none. */
static char end_of(const struct tr_forest *forest, unsigned seq)
{
	for (size_t i = 0; i < forest->count; i++)
		if (forest->nodes[i].seq == seq)
			return forest->nodes[i].fate == TR_RUN_EXITED ? 'x' : '?';
	return '!';
}

/* Of tasks that end before their fork, the last 1024 are kept. */
static void try_ended(void)
{
	enum { KEPT = 1024 };
	static const char exit_line[] = "exit %u 9 %u - status=7\n";
	static const char fork_line[] = "fork %u 8 90000 - child=%u\n";
	struct tr_forest forest;

	tr_forest_init(&forest, 1 << 20, describe, NULL);
	put_line(&forest, fork_line, 5000, 90001); /* the run of their parent has this seq */
	for (unsigned i = 1; i <= KEPT + 1; i++)
		put_line(&forest, exit_line, i, i);
	put_line(&forest, fork_line, 5001, 1);
	put_line(&forest, fork_line, 5002, 2);
	put_line(&forest, exit_line, 5003, 80000); /* it has the place of task 2 */
	put_line(&forest, fork_line, 5004, 3);
	put_line(&forest, exit_line, 5005, 80001);
	put_line(&forest, exit_line, 5006, 80002);
	put_line(&forest, fork_line, 5007, 4);
	put_line(&forest, fork_line, 5008, 5);
	ok(tr_forest_link(&forest), "tasks that ended early: linked");
	ok(end_of(&forest, 5001) == '?', "the first of 1025 endings is not kept");
	ok(end_of(&forest, 5002) == 'x', "the second is");
	ok(end_of(&forest, 5004) == 'x', "an ending that was taken makes room for another");
	ok(end_of(&forest, 5007) == '?', "the oldest makes room");
	ok(end_of(&forest, 5008) == 'x', "and only the oldest");
	tr_forest_free(&forest);
}

/* Appends the seq of a run that ends, and a blank. */
static void note_end(void *context, const struct tr_run_report *report)
{
	struct tr_buffer *ends = context;

	if (report->event != TR_RUN_ENDED)
		return;
	tr_buffer_put_decimal(ends, report->run->seq);
	tr_buffer_put_byte(ends, ' ');
}

/*
 * Runs without an end end in the order of their beginning, also if they have the place of another.
 */
static void try_open(void)
{
	struct tr_buffer ends = TR_BUFFER_INIT;
	struct tr_forest forest;

	tr_forest_init(&forest, 1 << 20, NULL, NULL);
	forest.runs.report = note_end;
	forest.runs.context = &ends;
	put_lines(&forest, "exec 0 - 1 a\nfork 1 - 1 - child=2\nfork 2 - 1 - child=9 "
			   "flags=CLONE_THREAD\nexec 3 - 3 b\nexit 4 - 2 - status=0\nexit 5 - 9 - "
			   "status=0\nexec 6 - 4 c\nexec 7 - 5 d\n");
	tr_runs_finish(&forest.runs);
	ok(tr_text_is(tr_buffer_text(&ends), "1 0 3 6 7 "), "open runs end in their order: %.*s",
	   (int)ends.len, ends.data);
	tr_forest_free(&forest);
	tr_buffer_free(&ends);
}

int main(void)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		try(&tests[i]);
	try_texts();
	try_ended();
	try_open();
	ok(sizeof(struct tr_forest_node) <= 56 && sizeof(struct tr_run) <= 56,
	   "a run takes no more memory than its headers say");
	return done_testing();
}
