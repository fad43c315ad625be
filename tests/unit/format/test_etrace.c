/* SPDX-License-Identifier: MIT */
/* The cases of tests/data/etrace, texts of every awkward length, what is no such log. */
#include "cases.h"

#include "format/etrace/writer.h"
#include "format/etrace/line.h"
#include "record/literal.h"

enum { SEED = 20261121 };

static uint64_t state = SEED;

static unsigned rnd(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

/* A text near the lengths where it comes in pieces, with line ends and bytes of all kinds. */
static void put_text(struct tr_buffer *to, bool line_ends)
{
	static const unsigned lengths[] = { 0, 1, 5, 899, 900, 901, 1799, 1800, 1801, 2500 };
	static const char bytes[] = "ab\t|[]\"\\\xc3\xa9\xff\r=,!";
	struct tr_buffer raw = TR_BUFFER_INIT;
	unsigned len = lengths[rnd(sizeof lengths / sizeof *lengths)];
	unsigned often = line_ends ? 1 + rnd(1200) : 0;

	for (unsigned i = 0; i < len; i++)
		tr_buffer_put_byte(&raw,
				   often && rnd(often) == 0 ? '\n' : bytes[rnd(sizeof bytes - 1)]);
	tr_string_escape(tr_buffer_text(&raw), to);
	tr_buffer_free(&raw);
}

#define put(to, literal) tr_buffer_put_literal(to, literal)

static void put_number(struct tr_buffer *to, unsigned number)
{
	tr_buffer_put_decimal(to, number);
}

static void put_exec(struct tr_buffer *to, unsigned seq)
{
	unsigned arguments = rnd(6);

	put(to, "exec\t");
	put_number(to, seq);
	put(to, "\t");
	put_number(to, seq);
	put(to, ".000000005\t2\t/bin/x\tppid=1\tcwd=\"");
	put_text(to, true);
	put(to, "\"\targv=[");
	for (unsigned i = 0; i < arguments; i++) {
		put(to, "\"");
		if (rnd(3))
			put_text(to, true);
		tr_buffer_put_text(to, i + 1 < arguments ? TR_TEXT("\",") : TR_TEXT("\""));
	}
	put(to, "]\tinterp=\"");
	put_text(to, true);
	put(to, "x\"\tcpu=3\n");
}

static void put_open(struct tr_buffer *to, unsigned seq)
{
	put(to, "sys\t");
	put_number(to, seq);
	put(to, "\t");
	put_number(to, seq);
	put(to, ".000000006\t2\topen\tpath=\"");
	put_text(to, true);
	put(to, "\"\torig=\"");
	put_text(to, true);
	put(to, "/\"\tflags=O_RDONLY\tcpu=3\t->\treturn=7\n");
}

static void put_envset(struct tr_buffer *to, unsigned seq)
{
	put(to, "envset\t");
	put_number(to, seq);
	put(to, "\t");
	put_number(to, seq);
	put(to, ".000000000\t0\t-\tvar=\"");
	put_text(to, true);
	put(to, "\"\ttasks=[2,3]\tcpu=0\n");
}

/* What is written is read as the same events, whatever their texts are. */
static void check_texts(void)
{
	struct reading how = { .format = &tr_format_etrace, .piece = 1 << 16 };
	struct tr_buffer want = TR_BUFFER_INIT, stream = TR_BUFFER_INIT;
	struct transcript written = { 0 }, read = { 0 };
	unsigned seq = 0;

	put(&want, "fork\t0\t0.000000000\t1\t-\tchild=2\tcpu=0\n");
	while (seq < 600) {
		put_exec(&want, ++seq);
		put_open(&want, ++seq);
	}
	while (seq < 900)
		put_envset(&want, ++seq);
	put(&stream, "%trec\t1\tformat=etrace\n");
	tr_buffer_put_text(&stream, tr_buffer_text(&want));
	put(&stream, "!end\t901\n");
	ok(write_trace(&tr_format_etrace, tr_buffer_text(&stream), &written) &&
		   !written.messages.len,
	   "texts of all lengths are written");
	bool same = read_trace(tr_buffer_text(&written.lines), &how, &read);
	same = same && !read.messages.len &&
	       tr_text_equal(tr_buffer_text(&read.lines), tr_buffer_text(&want));
	ok(same, "and read again");
	const char *line = written.lines.data, *end = line + written.lines.len;
	size_t longest = 0;
	for (const char *lf; line < end; line = lf + 1) {
		lf = memchr(line, '\n', (size_t)(end - line));
		longest = (size_t)(lf - line) > longest ? (size_t)(lf - line) : longest;
	}
	ok(longest < 1024, "no line is longer than the tracer's");
	transcript_free(&written);
	transcript_free(&read);
	tr_buffer_free(&want);
	tr_buffer_free(&stream);
}

#define HEADER "%trec\t1\tformat=etrace\n"

static void check_writer(void)
{
	check_written(&tr_format_etrace, HEADER "exit\t0\t1.5\t7\t-\tsignal=SIGKILL(9)\n!end\t1\n",
		      "0: 7,0,1,500000000!Exit|status=0\n", "", "fewer digits, a signal");
	check_written(&tr_format_etrace, HEADER "exit\t0\t-\t7\t-\nexit\t1\t-\t8\t-\n!end\t2\n",
		      "0: 7,0,0,0!Exit|\n0: 8,0,0,1!Exit|\n",
		      "~ -: records without a time: each of their lines gets the time of the line "
		      "before and 1 ns\n",
		      "no time");
	check_written(
		&tr_format_etrace,
		"%trec\t1\tformat=strace\nexec\t0\t1.5\t7\t/a\tcwd=\"/w\"\targv=[\"a\"]\n!end\t1\n",
		"INITCWD=/w\n"
		"0: 7,0,1,500000000!New_proc|argsize=2,prognameisize=2,prognamepsize=2,cwdsize=2\n"
		"0: 7,0,1,500000001!PI|/a\n0: 7,0,1,500000002!PP|/a\n"
		"0: 7,0,1,500000003!CW|/w\n0: 7,0,1,500000004!A[0]a\n"
		"0: 7,0,1,500000005!End_of_args|\n",
		"~ -: the stream has no INITCWD: added\n", "another format");
	check_written(&tr_format_etrace,
		      "%trec\t1\tformat=strace\nraw\t0\t-\t-\t-\ttext=\"x = ?\"\treason=\"y\"\n"
		      "exit\t1\t1.5\t7\t-\n!end\t2\n",
		      "INITCWD=/\n0: 7,0,1,500000000!Exit|\n",
		      "~ -: the stream has no INITCWD: added\n"
		      "~ -: etrace cannot hold raw records: 1 left out (the text is a line of "
		      "another format)\n",
		      "what another format could not read");
	/* nothing is written of what lacks something */
	check_written(&tr_format_etrace,
		      HEADER "exec\t0\t1.5\t7\t/a\targv=[\"a\"]\n"
			     "exec\t0\t1.5\t7\t-\tcwd=\"/\"\targv=[\"a\"]\n"
			     "exec\t0\t1.5\t7\t/a\tcwd=\"/\"\n"
			     "exec\t0\t1.5\tx\t/a\tcwd=\"/\"\targv=[\"a\"]\n"
			     "exec\t0\t1.5\t7\t/a\tcwd=\"/\"\targv=[\"a\",1]\n"
			     "exec\t0\t1.5\t7\t/a\tcwd=\"/\"...\targv=[\"a\"]\n"
			     "sys\t0\t1.5\t7\topen\tpath=\"/a\"\tflags=O_RDONLY\n"
			     "sys\t0\t1.5\t7\topen\tpath=\"/a\"\tflags=O_ODD\t->\treturn=3\n"
			     "sys\t0\t1..5\t7\tclose\tfd=3\n!end\t0\n",
		      "",
		      "! -: no cwd, which the log needs\n"
		      "! -: no executable, which the log needs\n"
		      "! -: no argv, which the log needs\n"
		      "! -: task: not a number\n"
		      "! -: argv: an item is not a complete string\n"
		      "! -: cwd: not a complete string\n"
		      "! -: no return, which the log needs\n"
		      "! -: flags: a word is not a flag of this call\n"
		      "! -: time: not a decimal number\n",
		      "what lacks something");
	check_written(
		&tr_format_etrace,
		HEADER "sys\t0\t1.5\t7\topen\tpath=\"/a\"\t->\terror=ENOENT\n"
		       "sys\t1\t1.5\t7\tread\ta0=3\nsignal\t2\t1.5\t7\tSIGCHLD\n"
		       "exit\t3\t1.5\t7\t-\n!end\t4\n",
		"0: 7,0,1,500000000!Exit|\n",
		"~ -: etrace cannot hold sys open records: 1 left out (only calls that "
		"succeeded have events)\n"
		"~ -: etrace cannot hold sys read records: 1 left out (its only calls are open, "
		"close, pipe, dup, rename, link, symlink, mount, umount and their variants)\n"
		"~ -: etrace cannot hold signal records: 1 left out (it has only events of "
		"programs, tasks and files)\n",
		"what has no place");
}

static int bid_of(const char *text, size_t piece)
{
	struct tr_input *in = memory_input(tr_text_from(text), piece, false);
	int bits = tr_format_etrace.bid(in);

	tr_input_free(in);
	return bits;
}

static void check_bids(void)
{
	static const char *const good[] = {
		"INITCWD=/w\n",
		"INITCWD=/w",
		"0: 1,0,1,1!Exit|status=0\n",
		"1,0,1,1!Exit|status=0\n",
		"make-1 [000] 1.2: 0: 1,0,1,1!Exit|status=0\n",
		"CPU:0 [LOST 3 EVENTS]\n0: 1,0,1,1!A[0]x\n",
		"=3\n0: 1,0,1,1!FN|/x\n",
		"\xef\xbb\xbfINITCWD=/w\n",
	};
	static const char *const bad[] = {
		"",
		"\n",
		"0: 1,0,1,1!Foo|status=0\n",
		"0: 1,0,1!Exit|status=0\n",
		"{\"version\":101}\n",
		"[\"%trec\",1]\n0: 1,0,1,1!Exit|status=0\n",
		"%trec\t1\n",
		"12345 1700000000.123456 execve(\"/bin/sh\", [\"sh\"], 0x7ffd /* 3 vars */) = 0\n",
		"##---------- CPU 0 ---------- ##\nentries: 0\n",
	};

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		ok(bid_of(good[i], 1 << 16) > 0, "is a log: %zu", i);
		ok(bid_of(good[i], 1) > 0, "byte by byte");
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(bid_of(bad[i], 1 << 16) == 0, "is no log: %zu", i);
}

/* A line for each of many tasks that never end, and events that are only begun. */
static void check_bounds(void)
{
	struct reading how = { .format = &tr_format_etrace, .piece = 1 << 16 };
	struct tr_buffer trace = TR_BUFFER_INIT;
	struct transcript read = { 0 };
	size_t count = 40000;

	for (unsigned i = 1; i <= count; i++) {
		put(&trace, "0: ");
		put_number(&trace, i);
		put(&trace, ",0,1,1!Open|fnamesize=5,forigsize=5,flags=0,mode=0,fd=3\n0: ");
		put_number(&trace, i);
		put(&trace, ",0,1,1!FN|/abc\n");
	}
	bool good = read_trace(tr_buffer_text(&trace), &how, &read);
	ok(good && read.records == count, "events that are only begun are all there");
	transcript_free(&read);
	tr_buffer_free(&trace);
}

/* Memory depends on the tasks that are alive, and a task never has a time twice. */
static void check_clock(void)
{
	enum { TASKS = 500000, REMEMBERED = 1 << 16 };
	const struct tr_etrace_moment five = { 5, TR_ETRACE_NANOSECONDS - 1 }, six = { 6, 0 };
	struct tr_etrace_clock clock = { 0 };
	struct tr_etrace_moment time;
	size_t most = 0;
	bool back, good = true;

	good &= tr_etrace_clock_stop(&clock, TASKS, true, five, six, false);
	for (uint64_t i = 0; i < TASKS; i++) {
		good &= tr_etrace_clock_stop(&clock, i, true, five, six, true);
		most = clock.tasks.count > most ? clock.tasks.count : most;
		time = five;
		good &= tr_etrace_clock_start(&clock, i, true, &time, &back) && time.sec == 6 &&
			time.nsec == 0 && !back;
	}
	ok(good, "a number that is used again continues after its last line");
	ok(most <= REMEMBERED + 1, "tasks that ended are forgotten: %zu", most);
	time = five;
	ok(tr_etrace_clock_start(&clock, TASKS, true, &time, &back) && time.sec == 6,
	   "one that lives is not");
	time = (struct tr_etrace_moment){ 4, 0 };
	ok(tr_etrace_clock_start(&clock, TASKS, true, &time, &back) && time.sec == 6 && back,
	   "a decreasing time is noticed");
	tr_etrace_clock_free(&clock);
}

/* Reads a log in the window of -O reorder. */
static void check_reorder(void)
{
	static const char log[] =
		"0: 1,0,5,3!Close|fd=3\n0: 1,0,5,1!Close|fd=1\nnoise\n"
		"0: 1,0,4,9!Close|fd=0\n0: 1,0,5,2!Close|fd=2\n0: 1,0,6,0!Close|fd=6\n";
	static const struct {
		const char *window, *order;
	} cases[] = { { "0", "31-026" }, { "1", "1-0236" }, { "2", "10-236" }, { "9", "01-236" } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct reading how = { &tr_format_etrace, 1 << 16,	  false, false,
				       "reorder",	  cases[i].window };
		struct transcript read = { 0 };
		char got[16] = "";
		size_t count = 0;
		read_trace(tr_text_from(log), &how, &read);
		tr_buffer_put_byte(&read.lines, '\0');
		for (const char *p = read.lines.data; p && *p && count < 15; count++) {
			got[count] = *p == 'r' ? '-' : strstr(p, "fd=")[3];
			p = strchr(p, '\n') + 1;
		}
		ok(strcmp(got, cases[i].order) == 0, "a window of %s lines: %s", cases[i].window,
		   got);
		transcript_free(&read);
	}
}

int main(void)
{
	check_clock();
	check_reorder();
	run_cases(&tr_format_etrace, "good.cases", true);
	run_cases(&tr_format_etrace, "bad.cases", false);
	run_write_cases(&tr_format_etrace, "write.cases");
	check_texts();
	check_writer();
	check_bids();
	check_bounds();
	return done_testing();
}
