/* SPDX-License-Identifier: MIT */
/* The cases of tests/data/klocwork; what needs more than a few lines is here. */
#include "cases.h"

/* One event that is pending on a parent, and others before that parent comes. */
static void check_look_ahead(size_t ahead, bool found)
{
	struct tr_buffer trace = TR_BUFFER_INIT;
	struct transcript got = { 0 };
	struct reading how = { .format = &tr_format_klocwork, .piece = 1 << 16 };
	tr_buffer_put_literal(&trace, "{\"id\":1,\"parent_id\":999999}\n");
	for (size_t i = 2; i <= ahead; i++) {
		tr_buffer_put_literal(&trace, "{\"id\":");
		tr_buffer_put_decimal(&trace, i);
		tr_buffer_put_literal(&trace, "}\n");
	}
	tr_buffer_put_literal(&trace, "{\"id\":999999}\n");
	ok(read_trace(tr_buffer_text(&trace), &how, &got) && got.records == ahead + 1,
	   "%zu events from a pending one to its parent", ahead);
	struct tr_text first = { got.lines.data, 40 };
	const char *parent = memmem(first.data, first.len, "\tparent=", 8);
	ok((parent != NULL) == found, "its parent is %sin reach", found ? "" : "not ");
	transcript_free(&got);
	tr_buffer_free(&trace);
}

/* Two queued events that take that many bytes in the trace, with LFs, then the parent of the first.
 */
static void check_look_ahead_bytes(size_t bytes, bool found)
{
	static const char first[] = "{\"id\":1,\"parent_id\":9}", second[] = "{\"id\":2,\"x\":\"";
	struct tr_buffer trace = TR_BUFFER_INIT;
	struct transcript got = { 0 };
	struct reading how = { .format = &tr_format_klocwork, .piece = 1 << 16 };
	tr_buffer_put_literal(&trace, "{\"id\":1,\"parent_id\":9}\n{\"id\":2,\"x\":\"");
	for (size_t i = sizeof first - 1 + sizeof second - 1 + 4; i < bytes; i++)
		tr_buffer_put_byte(&trace, 'x');
	tr_buffer_put_literal(&trace, "\"}\n{\"id\":9}\n");
	ok(read_trace(tr_buffer_text(&trace), &how, &got) && got.records == 3,
	   "%zu bytes of events after a parent is pending", bytes);
	const char *parent = memmem(got.lines.data, 40, "\tparent=", 8);
	ok((parent != NULL) == found, "it is %sin reach", found ? "" : "not ");
	transcript_free(&got);
	tr_buffer_free(&trace);
}

/* Returns one line and a part of the next one, and then would wait. */
struct stalled_source {
	struct tr_source base;
	bool given;
};

static ssize_t stalled_read(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	static const char line[] = "{\"id\":1,\"parent_id\":2}\n{\"id\":";
	struct stalled_source *s = (struct stalled_source *)source;
	(void)err;
	if (s->given || cap < sizeof line - 1)
		return 0;
	s->given = true;
	memcpy(buf, line, sizeof line - 1);
	return sizeof line - 1;
}

static bool stalled_would_wait(struct tr_source *source)
{
	return ((struct stalled_source *)source)->given;
}

static void stalled_close(struct tr_source *source)
{
	(void)source;
}

static void check_idle(void)
{
	static const struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct stalled_source source = {
		{ .read = stalled_read, .would_wait = stalled_would_wait, .close = stalled_close },
		false
	};
	struct tr_read_config config = { .limits = limits };
	struct tr_error err;
	struct tr_record *record = NULL;
	struct tr_input *in = tr_input_new(&source.base, &limits, 0);
	struct tr_reader *reader = tr_format_klocwork.open(&config, in, &err);
	ok(tr_reader_read(reader, &record, &err) == TR_OK && !in->at_end,
	   "a pending record is delivered when no more input comes");
	tr_reader_free(reader);
	tr_input_free(in);
}

static void check_env_base(void)
{
	struct reading how = {
		.format = &tr_format_klocwork, .piece = 1 << 16, .key = "env-base", .value = "top"
	};
	struct transcript got = { 0 };
	read_trace(TR_TEXT("{\"id\":1,\"env-diff\":{\"A\":null}}\n"), &how, &got);
	ok(tr_text_is(tr_buffer_text(&got.lines), "exec\t0\t-\t1\t-\tenvtop={\"A\":null}\n"),
	   "-O env-base=top");
	transcript_free(&got);
}

#define HEADER "%trec\t1\tformat=klocwork\n"
#define SUPPLIED "{\"version\":101}\n{\"creator\":\"trec-tools 0.1.0\"}\n"

static void check_writer(void)
{
	check_written(&tr_format_klocwork, HEADER "exec\t0\t-\t1\ta\n!end\t1\n",
		      "{\"id\":1,\"executable\":\"a\"}\n", "", "a klocwork stream");
	check_written(&tr_format_klocwork, "exec\t0\t-\t1\ta\n",
		      SUPPLIED "{\"id\":1,\"executable\":\"a\"}\n",
		      "~ -: the stream has no version and creator: added\n",
		      "a stream without header");
	check_written(&tr_format_klocwork, "meta\t0\t-\t-\tversion\tvalue=100\nexec\t1\t-\t-\t-\n",
		      "{\"version\":100}\n{\"id\":1}\n", "", "an id from seq");
	check_written(&tr_format_klocwork, HEADER "exec\t0\t-\t1\ta\n",
		      "{\"id\":1,\"executable\":\"a\"}\n",
		      "~ -: a segment of the stream has no trailer: it may be incomplete\n",
		      "no trailer");
	check_written(&tr_format_klocwork, HEADER "exec\t0\t-\t1\ta\n!end\t2\n",
		      "{\"id\":1,\"executable\":\"a\"}\n",
		      "~ -: the trailer counts 2 records, 1 were there\n", "a wrong trailer");
	check_written(&tr_format_klocwork,
		      HEADER "fork\t0\t-\t1\t-\tchild=2\nfork\t1\t-\t1\t-\tchild=3\n"
			     "module\t2\t-\t-\t/a\nexec\t3\t-\t1\ta\n!end\t4\n",
		      "{\"id\":1,\"executable\":\"a\"}\n",
		      "~ -: klocwork cannot hold fork records: 2 left out\n", "other kinds");
	/* what is left out is out of the trailer's count, too */
	check_written(&tr_format_klocwork,
		      HEADER "exec\t0\t-\t1\ta\targv=[0x1]\nexec\t1\t-\t2\ta\targv=[\n"
			     "exec\t2\t-\t3\ta\tzork\n!end\t0\n",
		      "",
		      "! -: argv: JSON cannot hold an address\n"
		      "! -: argv: column 2: empty value\n"
		      "! -: column 6: field without =\n",
		      "values that have no place");
	check_written(&tr_format_klocwork,
		      HEADER "exec\t0\t-\t1\ta\textra={\"x\":0x1}\nexec\t1\t-\t2\ta\textra=7\n"
			     "exec\t2\t-\t3\ta\textra={\nmeta\t3\t-\t-\tx\tvalue=b64:\n!end\t0\n",
		      "",
		      "! -: extra: JSON cannot hold an address\n"
		      "! -: extra: not a map\n"
		      "! -: extra: column 2: key expected\n"
		      "! -: value: JSON cannot hold a blob\n",
		      "messages name the field");
	check_written(&tr_format_klocwork,
		      HEADER "exec\t6\t-\t2\ta\tparent=7\tppid=9\n"
			     "exec\t7\t-\t9\ta\tppid=-1\n!end\t2\n",
		      "{\"id\":2,\"parent_id\":9,\"executable\":\"a\"}\n"
		      "{\"id\":9,\"parent_id\":-1,\"executable\":\"a\"}\n",
		      "", "a parent that comes later");
	check_written(&tr_format_klocwork, HEADER "exec\t5\t-\t1\ta\tparent=3\tppid=9\n!end\t1\n",
		      "{\"id\":1,\"parent_id\":9,\"executable\":\"a\"}\n",
		      "~ -: events whose parent is not in this trace, nor the environment that "
		      "their env-diff refers to: 1\n",
		      "a parent that was filtered out");
	check_written(&tr_format_klocwork,
		      HEADER
		      "exec\t0\t-\t7\ta\t.raw=\"{\\\"id\\\" : 7,\\\"executable\\\":\\\"a\\\"}\"\n"
		      "exec\t1\t-\t8\tb\t.raw=\"{\\\"id\\\":8,\\\"executable\\\":\\\"a\\\"} \\n\"\n"
		      "!end\t2\n",
		      "{\"id\" : 7,\"executable\":\"a\"}\n{\"id\":8,\"executable\":\"b\"}\n", "",
		      ".raw is written if it holds the same record; an edit takes precedence");
	check_written(
		&tr_format_klocwork,
		"%trec\t1\tformat=strace\nexec\t0\t1.5\t100\t/bin/sh\targv=[\"sh\"]\n"
		"exec\t1\t1.6\t101\t/bin/ls\tparent=0\targv=[\"ls\"]\n!end\t2\n",
		SUPPLIED
		"{\"id\":100,\"executable\":\"/bin/sh\",\"args\":[\"sh\"]}\n"
		"{\"id\":101,\"parent_id\":100,\"executable\":\"/bin/ls\",\"args\":[\"ls\"]}\n",
		"~ -: the stream has no version and creator: added\n", "records of another format");
}

#define MISTAKEN(n) \
	"~ -: events whose parent_id is unknown or refers to a different event, so that their " \
	"env-diff refers to another environment: " n "\n"
#define ENV "env\t0\t-\t-\t-\tvars={\"A\":\"a\",\"B\":\"b\"}\n"
#define ENV_LINE "{\"env\":{\"A\":\"a\",\"B\":\"b\"}}\n"

/* Environments that have another form in the stream than in the trace. */
static void check_environments(void)
{
	check_written(
		&tr_format_klocwork,
		HEADER ENV "exec\t1\t-\t1\t-\tenvtop={\"A\":null}\n"
			   "exec\t2\t-\t2\t-\tparent=1\tppid=1\tenvtop={\"A\":null,\"C\":\"c\"}\n"
			   "exec\t3\t-\t3\t-\tparent=2\tppid=2\tenvtop={\"C\":\"c\"}\n"
			   "exec\t4\t-\t4\t-\tparent=3\tppid=3\tenvdiff={\"X\":\"x\"}\n"
			   "exec\t5\t-\t5\t-\tparent=4\tppid=4\tenv={\"X\":\"x\"}\n!end\t6\n",
		ENV_LINE
		"{\"id\":1,\"env-diff\":{\"A\":null}}\n"
		"{\"id\":2,\"parent_id\":1,\"env-diff\":{\"C\":\"c\"}}\n"
		"{\"id\":3,\"parent_id\":2,\"env-diff\":{\"A\":\"a\"}}\n"
		"{\"id\":4,\"parent_id\":3,\"env-diff\":{\"X\":\"x\"}}\n"
		"{\"id\":5,\"parent_id\":4,\"env-diff\":{\"A\":null,\"B\":null,\"C\":null}}\n",
		"", "envtop and env become env-diff");
	check_written(&tr_format_klocwork,
		      HEADER ENV
		      "exec\t1\t-\t1\t-\n"
		      "exec\t2\t-\t2\t-\tparent=1\tppid=1\tenvtop={\"A\":null}\n!end\t3\n",
		      ENV_LINE "{\"id\":1}\n{\"id\":2,\"parent_id\":1,\"env-diff\":{\"A\":null}}\n",
		      "", "a parent that has the env line's environment");
	check_written(&tr_format_klocwork,
		      HEADER ENV
		      "exec\t2\t-\t2\t-\tparent=1\tppid=1\tenvtop={\"A\":null}\n!end\t2\n",
		      ENV_LINE "{\"id\":2,\"parent_id\":-1,\"env-diff\":{\"A\":null}}\n", "",
		      "envtop is written where the parent was filtered out");
	check_written(&tr_format_klocwork,
		      HEADER ENV
		      "exec\t1\t-\t7\t-\tenvdiff={\"A\":\"x\"}\n"
		      "exec\t3\t-\t8\t-\tparent=2\tppid=7\tenvtop={\"C\":\"c\"}\n"
		      "exec\t4\t-\t9\t-\tparent=5\tppid=10\tenvtop={\"C\":\"c\"}\n!end\t4\n",
		      ENV_LINE "{\"id\":7,\"env-diff\":{\"A\":\"x\"}}\n"
			       "{\"id\":8,\"parent_id\":-1,\"env-diff\":{\"C\":\"c\"}}\n"
			       "{\"id\":9,\"parent_id\":-1,\"env-diff\":{\"C\":\"c\"}}\n",
		      "", "no parent_id where the parent is left out, or comes later");
	check_written(&tr_format_klocwork,
		      HEADER ENV
		      "exec\t1\t-\t7\t-\tenvdiff={\"A\":\"x\"}\nexec\t2\t-\t7\t-\n"
		      "exec\t3\t-\t8\t-\tparent=1\tppid=7\tenvdiff={\"C\":\"c\"}\n!end\t4\n",
		      ENV_LINE "{\"id\":7,\"env-diff\":{\"A\":\"x\"}}\n{\"id\":7}\n"
			       "{\"id\":8,\"parent_id\":7,\"env-diff\":{\"C\":\"c\"}}\n",
		      MISTAKEN("1"), "an event with the parent's id between parent and child");
	check_written(&tr_format_klocwork,
		      "%trec\t1\tformat=strace\nexec\t0\t-\t7\t/sh\tenv={\"A\":\"1\"}\n"
		      "exec\t1\t-\t7\t/b\tenv={\"A\":\"2\"}\n"
		      "exec\t2\t-\t8\t/c\tparent=0\tppid=7\tenv={\"A\":\"1\"}\n!end\t3\n",
		      SUPPLIED "{\"env\":{}}\n"
			       "{\"id\":7,\"executable\":\"/sh\",\"env-diff\":{\"A\":\"1\"}}\n"
			       "{\"id\":7,\"executable\":\"/b\",\"env-diff\":{\"A\":\"2\"}}\n"
			       "{\"id\":8,\"parent_id\":7,\"executable\":\"/c\","
			       "\"env-diff\":{\"A\":\"1\"}}\n",
		      "~ -: the stream has no version and creator: added\n",
		      "the parent has run another program since: the difference is against the "
		      "event that a reader takes for it");
	check_written(
		&tr_format_klocwork,
		HEADER ENV "exec\t1\t-\t1\t-\tenvdiff={\"A\":\"x\"}\n"
			   "exec\t2\t-\t2\t-\tparent=1\tppid=1\tenvtop={\"A\":null}\n!end\t3\n",
		ENV_LINE "{\"id\":1,\"env-diff\":{\"A\":\"x\"}}\n{\"id\":2,\"parent_id\":1}\n",
		"! -: events written without env-diff, because the environment of their "
		"parent is unknown: 1\n",
		"a parent whose environment was not computed");
	check_written(&tr_format_klocwork,
		      HEADER
		      "exec\t1\t-\t1\t-\tenv=7\nexec\t2\t-\t2\t-\tenv={\"A\":\"a\"}\n!end\t1\n",
		      "{\"id\":2,\"env-diff\":{\"A\":\"a\"}}\n",
		      "! -: an environment that is not a map\n", "no env line; no map");
}

/* Parents are found by the value of an id, however it is spelled. */
static void check_ids(void)
{
	check_written(
		&tr_format_klocwork,
		HEADER ENV "exec\t1\t-\t\"a\\\\u0062\"\t-\tenvtop={\"A\":\"x\"}\n"
			   "exec\t2\t-\t1e3\t-\tparent=1\tppid=\"ab\"\tenvtop={\"B\":null}\n"
			   "exec\t3\t-\t9\t-\tparent=2\tppid=1000\tenvtop={\"B\":null}\n!end\t4\n",
		ENV_LINE "{\"id\":\"a\\u0062\",\"env-diff\":{\"A\":\"x\"}}\n"
			 "{\"id\":1e3,\"parent_id\":\"ab\",\"env-diff\":{\"A\":\"a\",\"B\":null}}\n"
			 "{\"id\":9,\"parent_id\":1000}\n",
		"", "strings with escapes, numbers with exponents");
	check_written(&tr_format_klocwork,
		      HEADER ENV "exec\t1\t-\t99999999999999999999\t-\tenvdiff={\"A\":\"x\"}\n"
				 "exec\t2\t-\t9\t-\tparent=1\tppid=1e20\tenvdiff={\"A\":\"y\"}"
				 "\t.raw=\"{\\\"id\\\":9,\\\"parent_id\\\":99999999999999999999,"
				 "\\\"env-diff\\\":{\\\"A\\\":\\\"y\\\"}}\"\n"
				 "exec\t3\t-\t10\t-\tparent=1\tppid=1e20\tenvdiff={}\n!end\t4\n",
		      ENV_LINE
		      "{\"id\":99999999999999999999,\"env-diff\":{\"A\":\"x\"}}\n"
		      "{\"id\":9,\"parent_id\":99999999999999999999,\"env-diff\":{\"A\":\"y\"}}\n"
		      "{\"id\":10,\"parent_id\":1e20,\"env-diff\":{}}\n",
		      MISTAKEN("1"), "of an id beyond 64 bits only .raw has all digits");
	check_written(&tr_format_klocwork,
		      "%trec\t1\tformat=strace\nexec\t0\t-\tabc\t/a\tenv={\"A\":\"1\"}\n"
		      "exec\t1\t-\t-7\t/b\tparent=0\tenv={\"B\":\"2\"}\n"
		      "exec\t2\t-\t8\t/c\tparent=1\tppid=5\tenv={\"B\":\"2\"}\n!end\t3\n",
		      SUPPLIED
		      "{\"env\":{}}\n"
		      "{\"id\":\"abc\",\"executable\":\"/a\",\"env-diff\":{\"A\":\"1\"}}\n"
		      "{\"id\":-7,\"parent_id\":\"abc\",\"executable\":\"/b\",\"env-diff\":"
		      "{\"B\":\"2\",\"A\":null}}\n"
		      "{\"id\":8,\"parent_id\":-7,\"executable\":\"/c\"}\n",
		      "~ -: the stream has no version and creator: added\n",
		      "tasks of another format that are not numbers");
}

/*
 * Events for which a reader finds another parent than the record names, or one where it names none.
 */
static void check_mistaken(void)
{
	check_written(&tr_format_klocwork,
		      HEADER ENV
		      "exec\t1\t-\t2\t-\tppid=3\tenvdiff={\"A\":\"x\"}\tflagged=[\"orphan\"]\n"
		      "exec\t4\t-\t3\t-\tparent=3\tppid=5\tenvdiff={\"C\":\"c\"}\n!end\t3\n",
		      ENV_LINE "{\"id\":2,\"parent_id\":3,\"env-diff\":{\"A\":\"x\"}}\n"
			       "{\"id\":3,\"parent_id\":5,\"env-diff\":{\"C\":\"c\"}}\n",
		      "~ -: events whose parent is not in this trace, nor the environment that "
		      "their env-diff refers to: 1\n" MISTAKEN("1"),
		      "a cycle that is open because one of its events was left out");
	check_written(&tr_format_klocwork,
		      "exec\t1\t-\t7\t-\tenvdiff={\"A\":\"x\"}\n"
		      "exec\t2\t-\t7\t-\tppid=-1\nexec\t3\t-\t8\t-\tparent=1\tppid=7\n",
		      SUPPLIED
		      "{\"id\":7,\"env-diff\":{\"A\":\"x\"}}\n{\"id\":7,\"parent_id\":-1}\n"
		      "{\"id\":8,\"parent_id\":7}\n",
		      "~ -: the stream has no version and creator: added\n" MISTAKEN("1"),
		      "a child without an environment, in a trace where others have one");
	check_written(&tr_format_klocwork,
		      HEADER "exec\t0\t-\t7\t-\tenvdiff={\"A\":\"x\"}\n!end\t1\n" HEADER
			     "exec\t0\t-\t8\t-\tppid=7\tenvdiff={\"B\":\"x\"}\n!end\t1\n",
		      "{\"id\":7,\"env-diff\":{\"A\":\"x\"}}\n"
		      "{\"id\":8,\"parent_id\":7,\"env-diff\":{\"B\":\"x\"}}\n",
		      MISTAKEN("1"),
		      "an event of the segment before, where no version line is between");
	check_written(&tr_format_klocwork,
		      HEADER "exec\t1\t-\t8\t-\tparent=2\tppid=9\tenvdiff={\"A\":\"x\"}\n"
			     "exec\t2\t-\t5\t-\n!end\t2\n" HEADER "exec\t0\t-\t7\t-\n!end\t1\n",
		      "{\"id\":8,\"parent_id\":9,\"env-diff\":{\"A\":\"x\"}}\n"
		      "{\"id\":5}\n{\"id\":7}\n",
		      MISTAKEN("1"), "an event that is pending at the end of its segment");
	check_written(&tr_format_klocwork,
		      HEADER "exec\t0\t-\t7\t-\tenv={\"A\":\"x\"}\n!end\t1\n" HEADER
			     "exec\t0\t-\t8\t-\tppid=7\tenv={\"A\":\"x\"}\n!end\t1\n",
		      "{\"id\":7,\"env-diff\":{\"A\":\"x\"}}\n"
		      "{\"id\":8,\"parent_id\":-1,\"env-diff\":{\"A\":\"x\"}}\n",
		      "", "the same where the environment is whole");
	check_written(&tr_format_klocwork,
		      HEADER ENV
		      "exec\t1\t-\t2\t-\tppid=3\tenvtop={\"A\":\"x\"}\tflagged=[\"orphan\"]\n"
		      "exec\t4\t-\t3\t-\tparent=3\tppid=5\tenvtop={\"C\":\"c\"}\n!end\t3\n",
		      ENV_LINE "{\"id\":2,\"parent_id\":-1,\"env-diff\":{\"A\":\"x\"}}\n"
			       "{\"id\":3,\"parent_id\":-1,\"env-diff\":{\"C\":\"c\"}}\n",
		      "", "no parent_id, before an event with that id comes");
	check_written(&tr_format_klocwork,
		      HEADER ENV "exec\t1\t-\t7\t-\tenv={\"A\":\"x\"}\n"
				 "meta\t2\t-\t-\tversion\tvalue=101\n"
				 "exec\t3\t-\t7\t-\tenv={\"A\":\"x\"}\n!end\t4\n",
		      ENV_LINE "{\"id\":7,\"env-diff\":{\"A\":\"x\",\"B\":null}}\n"
			       "{\"version\":101}\n{\"id\":7,\"env-diff\":{\"A\":\"x\"}}\n",
		      "", "a trace begins within the segment, and has no env line");
}

static int bid_of(const char *text, size_t piece)
{
	struct tr_input *in = memory_input(tr_text_from(text), piece, false);
	int bits = tr_format_klocwork.bid(in);
	ok(in->offset == 0, "a bid skips nothing");
	tr_input_free(in);
	return bits;
}

static void check_bids(void)
{
	static const char *const good[] = {
		"{\"version\":101}\n",
		"{\"version\":101}",
		"{\"version\" : 101}\r\n{\"creator\":\"x\"}\r\n",
		"\xef\xbb\xbf{\"version\":101}\n",
		"{\"env\":{\"A\":\"b\"}}\n{\"id\":1,\"executable\":\"a\",\"args\":[]}\n",
		"make: hello\n\n{\"args\":[],\"executable\":\"a\",\"id\":\"1\"}\n",
		"{\n \"id\": 1,\n \"executable\": \"a\",\n \"work_dir\": \"/\"\n}\n",
		"{\"zork\":1}\n{\"id\":1,\"executable\":\"a\",\"parent_id\":-1}\n",
		"{\"version\":101}\n{\"zork\":1}\n",
	};
	static const char *const bad[] = {
		"",
		"\n",
		"hello\n",
		"[\n{\"directory\":\"/\",\"arguments\":[\"gcc\"],\"file\":\"a.c\"}\n]\n",
		"{\"id\":1,\"name\":\"x\"}\n",
		"{\"id\":1,\"executable\":\"a\"}\n",
		"{\"version\":1,\"id\":2}\n{\"a\":1}\n",
		"{\"version\":1}\n{\"a\":1}\n",
		"{\"version\":1.0}\n{\"a\":1}\n",
		"{\"rid\":1,\"started\":{\"execution\":{\"executable\":\"a\"}}}\n",
		"[\"%trec\",1]\n[\"exec\",0,null,\"1\",\"a\"]\n",
		"%trec\t1\nexec\t0\t-\t1\ta\n",
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		ok(bid_of(good[i], 1 << 16) > 0, "is a trace: %zu", i);
		ok(bid_of(good[i], 1) > 0, "byte by byte");
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(bid_of(bad[i], 1 << 16) == 0, "is no trace: %zu", i);
}

int main(void)
{
	run_cases(&tr_format_klocwork, "good.cases", true);
	run_cases(&tr_format_klocwork, "bad.cases", true);
	check_look_ahead(256, true);
	check_look_ahead(257, false);
	check_look_ahead_bytes(1 << 20, true);
	check_look_ahead_bytes((1 << 20) + 1, false);
	check_idle();
	check_env_base();
	check_writer();
	check_environments();
	check_ids();
	check_mistaken();
	check_bids();
	return done_testing();
}
