/* SPDX-License-Identifier: MIT */
/* Lines of the stream and the objects they are shown as. */
#include "view/json_records.h"

#include <stdlib.h>

#include "core/buffer.h"
#include "tap.h"

/* Where the views write to. */
static struct tr_buffer shown;

static bool sink_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	(void)sink;
	(void)err;
	tr_buffer_put(&shown, data, len);
	return true;
}

static bool sink_done(struct tr_sink *sink, struct tr_error *err)
{
	(void)sink;
	(void)err;
	return true;
}

static void sink_close(struct tr_sink *sink)
{
	free(sink);
}

static struct tr_output *buffer_output(void)
{
	struct tr_sink *sink = calloc(1, sizeof *sink);
	if (!sink)
		return NULL;
	*sink = (struct tr_sink){ sink_write, sink_done, sink_done, sink_close };
	return tr_output_new(sink);
}

/* Shows the lines of text; the worst status. */
static enum tr_status show(const char *text, struct tr_json_view_config config)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	struct tr_output *out = buffer_output();
	struct tr_json_view *view = tr_json_view_new(&config, out);
	enum tr_status worst = TR_OK;
	tr_buffer_reset(&shown);
	for (const char *p = text, *end; *p; p = end) {
		end = strchr(p, '\n') + 1;
		struct tr_record record = { .arena = &arena };
		tr_error_clear(&err);
		enum tr_status status = TR_FATAL;
		if (tr_record_from_line(&record, tr_text_span(p, end), &err))
			status = tr_json_view_put(view, &record, &err);
		if (status != TR_OK && !err.cause)
			status = TR_FATAL;
		if (status > worst)
			worst = status;
	}
	tr_json_view_finish(view);
	tr_json_view_free(view);
	tr_output_finish(out, &err);
	tr_arena_free(&arena);
	return worst;
}

#define CALL(kind, seq) \
	"{\"kind\":\"" kind "\",\"seq\":" seq ",\"time\":null,\"task\":null,\"name\":\"g\""

static bool is_shown(const char *wanted)
{
	if (tr_text_is(tr_buffer_text(&shown), wanted))
		return true;
	diag("%.*s", (int)shown.len, shown.data);
	return false;
}

/* The value, and what it is shown as. */
static const char *const values[][2] = {
	{ "null", "null" },
	{ "[true,false]", "[true,false]" },
	{ "9007199254740991", "9007199254740991" },
	{ "9007199254740992", "\"9007199254740992\"" },
	{ "-9007199254740991", "-9007199254740991" },
	{ "-9007199254740992", "\"-9007199254740992\"" },
	{ "18446744073709551615", "\"18446744073709551615\"" },
	{ "+5", "5" },
	{ "-0", "0" },
	{ "0x0", "\"0x0\"" },
	{ "0x7fff5fbff8c0", "\"0x7fff5fbff8c0\"" },
	{ "1.5", "1.5" },
	{ "-0.0", "-0.0" },
	{ "1e16", "1e16" },
	{ "0.1f", "0.1" },
	{ "1e16f", "1e16" },
	{ "inf", "\"inf\"" },
	{ "-inff", "\"-inf\"" },
	{ "nan", "\"nan\"" },
	{ "nanf:7fc00001", "\"nan\"" },
	{ "\"a\\n\\\"\\u007f\"", "\"a\\n\\\"\\u007f\"" },
	{ "\"\\u0041\\/\"", "\"A/\"" },
	{ "\"\\\\xff\"", "\"\\\\xff\"" },
	{ "\"a\\xff\"", "{\"$bytes\":\"Yf8=\"}" },
	{ "\"\\ud800\"", "{\"$bytes\":\"7aCA\"}" },
	{ "[\"\\ud83d\\ude00\"]", "[\"\xf0\x9f\x98\x80\"]" },
	{ "\"ab\"...", "{\"$cut\":\"ab\"}" },
	{ "\"\\xff\"...", "{\"$cut\":{\"$bytes\":\"/w==\"}}" },
	{ "[1,2]...", "{\"$cut\":[1,2]}" },
	{ "L\"w\xc3\xa4\\n\"", "\"w\xc3\xa4\\n\"" },
	{ "L\"\\u{d800}\"", "{\"$wide\":\"\\\\u{d800}\"}" },
	{ "b64:", "{\"$bytes\":\"\"}" },
	{ "b64:AAE=", "{\"$bytes\":\"AAE=\"}" },
	{ "blob:12", "{\"$blob\":{\"length\":12}}" },
	{ "file:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855:7",
	  "{\"$blob\":{\"length\":7,\"sha256\":"
	  "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}}" },
	{ "GL_LINES(1@E3)", "\"GL_LINES\"" },
	{ "?(99@E3)", "99" },
	{ "?(-3@E3)", "-3" },
	{ "A|B(0x3@M1)", "\"A|B\"" },
	{ "A|0x4(0x5@M1)", "\"A|0x4\"" },
	{ "?(0x40@M3)", "\"0x40\"" },
	{ "?(0x0)", "\"0x0\"" },
	{ "none", "\"none\"" },
	{ "\"GL-X\"(4@E1)", "\"GL-X\"" },
	{ "\"\\xff\"(4@E1)", "{\"$bytes\":\"/w==\"}" },
	{ "{}", "{}" },
	{ "{\"a\":{\"b\":[1]},\"c\":null}", "{\"a\":{\"b\":[1]},\"c\":null}" },
	{ "{\"\\xff\":0x1}", "{\"\\\\xff\":\"0x1\"}" },
	{ "{=}", "{}" },
	{ "{x=1,\"a b\"={y=0.5f}@S2}@S1", "{\"x\":1,\"a b\":{\"y\":0.5}}" },
	{ "<\"1 KiB\";1024>", "\"1 KiB\"" },
	{ "[ 1, 2 ]", "[1,2]" },
};

static void all_values(void)
{
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char line[256], wanted[512];
		snprintf(line, sizeof line, "x\t0\t-\t-\t-\tk=%s\n", values[i][0]);
		snprintf(wanted, sizeof wanted,
			 "{\"kind\":\"x\",\"seq\":0,\"time\":null,\"task\":null,\"name\":null,"
			 "\"k\":%s}\n",
			 values[i][1]);
		ok(show(line, (struct tr_json_view_config){ 0 }) == TR_OK && is_shown(wanted), "%s",
		   values[i][0]);
	}
}

#define NO_TIME "\"time\":null,\"task\":null,"

static const struct {
	const char *name, *line, *object;
	enum tr_status status;
} rows[] = {
	{ "columns", "exec\t7\t1.50\t12\t/bin/a\n",
	  "{\"kind\":\"exec\",\"seq\":7,\"time\":\"1.50\",\"task\":\"12\",\"name\":\"/bin/a\"}\n",
	  0 },
	{ "a large seq", "x\t9007199254740992\t-\t-\t-\n",
	  "{\"kind\":\"x\",\"seq\":\"9007199254740992\"," NO_TIME "\"name\":null}\n", 0 },
	{ "a seq that is none", "x\t007\t-\t-\t-\n",
	  "{\"kind\":\"x\",\"seq\":\"007\"," NO_TIME "\"name\":null}\n", 0 },
	{ "an absent seq", "x\t-\t-\t-\t-\n",
	  "{\"kind\":\"x\",\"seq\":null," NO_TIME "\"name\":null}\n", 0 },
	{ "escapes in cells", "x\t0\t-\t\\-\ta\\tb\\x01\"\n",
	  "{\"kind\":\"x\",\"seq\":0,\"time\":null,\"task\":\"-\",\"name\":\"a\\tb\\u0001\\\"\"}\n",
	  0 },
	{ "bytes in cells", "x\t0\t-\t\\e\t\\xff\n",
	  "{\"kind\":\"x\",\"seq\":0,\"time\":null,\"task\":\"\",\"name\":{\"$bytes\":\"/w==\"}}\n",
	  0 },
	{ "a call", "call\t1\t-\t0\tf\t.sig=F2\ta=1\t.flags=[x]\t->\tb=2\treturn=3\n",
	  "{\"kind\":\"call\",\"seq\":1,\"time\":null,\"task\":\"0\",\"name\":\"f\",\".sig\":"
	  "\"F2\","
	  "\".flags\":[\"x\"],\"args\":{\"a\":1},\"results\":{\"b\":2},\"return\":3}\n",
	  0 },
	{ "an enter", "enter\t1\t-\t0\tf\n",
	  "{\"kind\":\"enter\",\"seq\":1,\"time\":null,\"task\":\"0\",\"name\":\"f\",\"args\":{}}"
	  "\n",
	  0 },
	{ "a leave", "leave\t1\t-\t0\t-\t->\n",
	  "{\"kind\":\"leave\",\"seq\":1,\"time\":null,\"task\":\"0\",\"name\":null,\"args\":{},"
	  "\"results\":{}}\n",
	  0 },
	{ "arguments named like columns",
	  "sys\t0\t-\t-\topen\tname=1\tkind=2\targs=3\t->\terror=E\n",
	  "{\"kind\":\"sys\",\"seq\":0," NO_TIME
	  "\"name\":\"open\",\"args\":{\"name\":1,\"kind\":2,"
	  "\"args\":3},\"results\":{\"error\":\"E\"}}\n",
	  0 },
	{ "fields named like columns", "x\t0\t-\t-\t-\tkind=1\ta=2\tmore=3\tresults=4\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\"a\":2,\"results\":4,"
	  "\"more\":[[\"kind\",1],[\"more\",3]]}\n",
	  0 },
	{ "an arrow in other kinds", "x\t0\t-\t-\t-\ta=1\tresults=2\t->\ta=3\treturn=4\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\"a\":1,\"results\":{\"a\":3},"
	  "\"return\":4,\"more\":[[\"results\",2]]}\n",
	  0 },
	{ "repeated keys", "x\t0\t-\t-\t-\ta=1\tb=2\ta=3\ta=4\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\"b\":2,\"a\":4,"
	  "\"more\":[[\"a\",1],[\"a\",3]]}\n",
	  0 },
	{ "many keys",
	  "x\t0\t-\t-\t-\ta=1\tb=2\tc=3\td=4\te=5\tf=6\tg=7\th=8\ti=9\ta=10\tb=11\ta=12\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME
	  "\"name\":null,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,"
	  "\"h\":8,\"i\":9,\"b\":11,\"a\":12,\"more\":[[\"a\",1],[\"b\",2],[\"a\",10]]}\n",
	  0 },
	{ "keys that are the same text", "x\t0\t-\t-\t-\t.a=1\t\\x2ea=2\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\".a\":2,\"more\":[[\".a\",1]]}\n",
	  0 },
	{ "keys with escapes", "x\t0\t-\t-\t-\ta\\x3d\\t=1\t\\xff=2\t\\e=3\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\"a=\\t\":1,\"\\\\xff\":2,\"\":3}\n",
	  0 },
	{ "a bad value", "x\t0\t-\t-\t-\ta=01\tb=2\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\"a\":{\"$raw\":\"01\"},\"b\":2}\n",
	  TR_WARN },
	{ "a bad cell", "x\t0\t-\t-\tC:\\a\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":{\"$raw\":\"C:\\\\a\"}}\n", TR_WARN },
	{ "what is no field", "x\t0\t-\t-\t-\tab\ta=1\t\n",
	  "{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null,\"a\":1,"
	  "\"more\":[{\"$raw\":\"ab\"},{\"$raw\":\"\"}]}\n",
	  TR_WARN },
	{ "other lines", "%trec\t1\n%enum\tE1\t-\tA=1\n# c\n!end\t0\n", "", 0 },
};

static void all_rows(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum tr_status status = show(rows[i].line, (struct tr_json_view_config){ 0 });
		ok(status == rows[i].status && is_shown(rows[i].object), "%s", rows[i].name);
	}
}

#define LINES "%trec\t1\nx\t0\t-\t-\ta\te={}\nx\t1\t-\t-\tb\tl=[[],1]\tm={\"k\":\"a,b:{\\\"\"}\n"
#define PRETTY_0(in) \
	in "{\n" in "  \"kind\": \"x\",\n" in "  \"seq\": 0,\n" in "  \"time\": null,\n" in \
	   "  \"task\": null,\n" in "  \"name\": \"a\",\n" in "  \"e\": {}\n" in "}"
#define PRETTY_1(in) \
	in "{\n" in "  \"kind\": \"x\",\n" in "  \"seq\": 1,\n" in "  \"time\": null,\n" in \
	   "  \"task\": null,\n" in "  \"name\": \"b\",\n" in "  \"l\": [\n" in "    [],\n" in \
	   "    1\n" in "  ],\n" in "  \"m\": {\n" in "    \"k\": \"a,b:{\\\"\"\n" in "  }\n" in \
	   "}"

static void forms(void)
{
	show(LINES, (struct tr_json_view_config){ .pretty = true });
	ok(is_shown(PRETTY_0("") "\n" PRETTY_1("") "\n"), "indented");
	show(LINES, (struct tr_json_view_config){ .array = true, .pretty = true });
	ok(is_shown("[\n" PRETTY_0("  ") ",\n" PRETTY_1("  ") "\n]\n"), "an indented array");
	show("x\t0\t-\t-\t-\nx\t1\t-\t-\t-\n", (struct tr_json_view_config){ .array = true });
	ok(is_shown("[\n{\"kind\":\"x\",\"seq\":0," NO_TIME "\"name\":null},\n"
		    "{\"kind\":\"x\",\"seq\":1," NO_TIME "\"name\":null}\n]\n"),
	   "an array");
	show("%trec\t1\n", (struct tr_json_view_config){ .array = true });
	ok(is_shown("[]\n"), "an array of nothing");
}

/* Ids of frames and their definitions; each segment has its own. */
static void backtraces(void)
{
	static const char lines[] = "%frame\tK1\t-\tmodule=\"a.so\"\tline=12\n"
				    "%trec\t1\n"
				    "%frame\tK2\t-\tfunction=\"f\\\"\"\n"
				    "call\t0\t-\t-\tg\t.bt=[K1,K2,K3]\tx=1\t->\n"
				    "call\t1\t-\t-\tg\t->\n"
				    "call\t2\t-\t-\tg\t.bt=[]\t->\n"
				    "%frame\tK1\t-\n"
				    "enter\t3\t-\t-\tg\t.bt=[K1]\n"
				    "exec\t4\t-\t-\tg\t.bt=[K1]\n"
				    "!end\t5\n"
				    "%trec\t1\n"
				    "call\t0\t-\t-\tg\t.bt=[K1]\t->\n";

	enum tr_status status = show(lines, (struct tr_json_view_config){ 0 });
	ok(status == TR_OK &&
		   is_shown(CALL(
			   "call",
			   "0") ",\".bt\":[\"K1\",\"K2\",\"K3\"],\"backtrace\":[{\"module\":\"a."
				"so\",\"line\":12},"
				"{\"function\":\"f\\\"\"},\"K3\"],\"args\":{\"x\":1},\"results\":{}"
				"}\n" CALL("call", "1") ",\"args\":{},\"results\":{}}\n" CALL(
					"call",
					"2") ",\".bt\":[],\"backtrace\":[],\"args\":{},\"results\":"
					     "{}}\n" CALL(
						     "enter",
						     "3") ",\".bt\":[\"K1\"],\"backtrace\":[{}"
							  "],\"args\":{}}\n" CALL(
								  "exec",
								  "4") ",\"."
								       "bt\":["
								       "\"K1\""
								       "]}"
								       "\n" CALL("call",
										 "0") ",\".bt\":["
										      "\"K1\"],"
										      "\"args\":{},"
										      "\"results\":"
										      "{}}\n"),
	   "backtraces");
	ok(show("%frame\tK1\t-\tmodule=bad\"\tx\ncall\t0\t-\t-\tg\t.bt=[K1]\t->\n",
		(struct tr_json_view_config){ 0 }) == TR_WARN &&
		   is_shown(CALL("call", "0") ",\".bt\":[\"K1\"],\"backtrace\":[{\"module\":{\"$"
					      "raw\":\"bad\\\"\"}}],"
					      "\"args\":{},\"results\":{}}\n"),
	   "a frame that is not in order");
}

int main(void)
{
	all_values();
	all_rows();
	backtraces();
	forms();
	tr_buffer_free(&shown);
	return done_testing();
}
