/* SPDX-License-Identifier: MIT */
/* The worked examples of every version, read whole and a byte at a time. */
#include "harness.h"
#include "tap.h"

/* Strings of bytes: pieces end where a hex digit would follow an escape. */
#define BYTES(...) ((struct tr_text){ (__VA_ARGS__), sizeof(__VA_ARGS__) - 1 })

/* Versions 0 to 2 differ in their first byte alone: no threads, an enum is its one value. */
#define OLD_CALLS \
	"\x00\x04\x11glXQueryExtension\x03\x03" \
	"dpy\x06" \
	"errorb\x05" \
	"event\x01\x00\x0d\xaa\xab\x01\x00" \
	"\x01\x00\x01\x01\x0b\x01\x04\x00\x01\x02\x0b\x01\x03\x05\x02\x02\x00" \
	"\x00\x05\x0cglDrawArrays\x03\x04mode\x05" \
	"first\x05" \
	"count\x01\x00\x09\x01\x0cGL_TRIANGLES\x04\x04\x01\x01\x04\x00\x01\x02\x04\x03\x00" \
	"\x01\x01\x00" \
	"\x00\x05\x01\x00\x09\x01\x01\x01\x04\x00\x01\x02\x04\x06\x00\x01\x02\x00" \
	"\x00\x06\x07glClear\x01\x04mask\x01\x00\x0a\x01\x02\x13GL_DEPTH_BUFFER_BIT\x80\x02" \
	"\x13GL_COLOR_BUFFER_BIT\x80\x80\x01\x80\x82\x01\x00\x01\x03\x00"

#define OLD_LINES \
	"%fn\tF4\tglXQueryExtension\targs=[\"dpy\",\"errorb\",\"event\"]\n" \
	"call\t0\t-\t-\tglXQueryExtension\tdpy=0x55aa\t->\terrorb=[0]\tevent=[-5]\treturn=true\n" \
	"%fn\tF5\tglDrawArrays\targs=[\"mode\",\"first\",\"count\"]\n" \
	"%enum\tE1\t-\tGL_TRIANGLES=4\n" \
	"call\t1\t-\t-\tglDrawArrays\tmode=GL_TRIANGLES(4@E1)\tfirst=0\tcount=3\t->\n" \
	"call\t2\t-\t-\tglDrawArrays\tmode=GL_TRIANGLES(4@E1)\tfirst=0\tcount=6\t->\n" \
	"%fn\tF6\tglClear\targs=[\"mask\"]\n" \
	"%mask\tM1\t-\tGL_DEPTH_BUFFER_BIT=256\tGL_COLOR_BUFFER_BIT=16384\n" \
	"call\t3\t-\t-\tglClear\tmask=GL_DEPTH_BUFFER_BIT|GL_COLOR_BUFFER_BIT(0x4100@M1)\t->\n"

/* Version 3: an enum has all its values. */
#define TABLE_CALL \
	"\x05\x0cglDrawArrays\x03\x04mode\x05" \
	"first\x05" \
	"count\x01\x00\x09\x01\x02\x0cGL_TRIANGLES\x04\x04\x08GL_QUADS\x04\x07\x04\x04" \
	"\x01\x01\x04\x00\x01\x02\x04\x03\x00\x01\x00\x00"

#define TABLE_DEFINITIONS \
	"%fn\tF5\tglDrawArrays\targs=[\"mode\",\"first\",\"count\"]\n" \
	"%enum\tE1\t-\tGL_TRIANGLES=4\tGL_QUADS=7\n"

/* Versions 5 and 6: a backtrace before the arguments. */
#define FRAME \
	"\x04\x01\x01\x01\x09libfoo.so\x02\x04main\x03\x03" \
	"a.c\x04\x0c\x05\x1f\x00"

static const struct {
	const char *name;
	struct tr_text stream;
	const char *lines;
} vectors[] = {
	{ "version 0", BYTES("\x00" OLD_CALLS), "%trec\t1\tversion=0\n" OLD_LINES },
	{ "version 1", BYTES("\x01" OLD_CALLS), "%trec\t1\tversion=1\n" OLD_LINES },
	{ "version 2", BYTES("\x02" OLD_CALLS), "%trec\t1\tversion=2\n" OLD_LINES },
	{ "version 3", BYTES("\x03\x00" TABLE_CALL),
	  "%trec\t1\tversion=3\n" TABLE_DEFINITIONS
	  "call\t0\t-\t-\tglDrawArrays\tmode=GL_TRIANGLES(4@E1)\tfirst=0\tcount=3\t->\n" },
	{ "version 4: threads", BYTES("\x04\x00\x02" TABLE_CALL),
	  "%trec\t1\tversion=4\n" TABLE_DEFINITIONS
	  "call\t0\t-\t2\tglDrawArrays\tmode=GL_TRIANGLES(4@E1)\tfirst=0\tcount=3\t->\n" },
	{ "version 5: backtraces",
	  BYTES("\x05\x00\x00\x07\x01g\x00" FRAME "\x00\x01\x00\x00"
		"\x00\x00\x07\x04\x01\x01\x00\x01\x01\x00"),
	  "%trec\t1\tversion=5\n"
	  "%fn\tF7\tg\targs=[]\n"
	  "%frame\tK1\t-\tmodule=\"libfoo.so\"\tfunction=\"main\"\tfile=\"a.c\"\tline=12\toffset="
	  "31\n"
	  "call\t0\t-\t0\tg\t.bt=[K1]\t->\n"
	  "call\t1\t-\t0\tg\t.bt=[K1]\t->\n" },
	{ "version 6: properties, flags",
	  BYTES("\x06\x06\x0cprocess.name\x0d/usr/bin/demo\x00"
		"\x00\x00\x07\x01g\x00\x05\x01\x00\x01\x00\x00"),
	  "%trec\t1\tversion=6\tsemantic=6\tproperties=[[\"process.name\",\"/usr/bin/demo\"]]\n"
	  "%fn\tF7\tg\targs=[]\n"
	  "call\t0\t-\t0\tg\t.flags=1\t->\n" },
	{ "two calls that interleave, one that does not return",
	  BYTES("\x04\x00\x00\x01\x01o\x01\x01x\x01\x00\x04\x05\x00"
		"\x00\x01\x02\x01i\x00\x00"
		"\x01\x00\x02\x01\x00"
		"\x00\x00\x02\x00"),
	  "%trec\t1\tversion=4\n"
	  "%fn\tF1\to\targs=[\"x\"]\n"
	  "enter\t0\t-\t0\to\tx=5\n"
	  "%fn\tF2\ti\targs=[]\n"
	  "enter\t1\t-\t1\ti\n"
	  "leave\t0\t-\t0\to\t->\treturn=false\n"
	  "enter\t2\t-\t0\ti\n" },
	{ "a leave without an enter", BYTES("\x04\x01\x09\x01\x02\x04\x01\x02\x02\x00"),
	  "%trec\t1\tversion=4\n"
	  "? 0x1 at call 9: a leave of a call that was not entered\n"
	  "leave\t9\t-\t-\t-\t->\t#2=1\treturn=true\n" },
	{ "an argument that the function does not have",
	  BYTES("\x02\x00\x01\x01g\x01\x01x\x01\x05\x00\x00\x01\x00\x00"),
	  "%trec\t1\tversion=2\n"
	  "%fn\tF1\tg\targs=[\"x\"]\n"
	  "? 0x9 call 0: argument 5 of a function that has 1\n"
	  "call\t0\t-\t-\tg\t#5=null\t->\n" },
	{ "a leave that is bad: its enter is a record of its own",
	  BYTES("\x02\x00\x01\x01g\x00\x00\x01\x00\x09\x00"),
	  "%trec\t1\tversion=2\n"
	  "%fn\tF1\tg\targs=[]\n"
	  "enter\t0\t-\t-\tg\n"
	  "! 0x9 at call 0: 9 is not a part of a call; nothing after it can be read\n" },
	{ "a leave that is cut: its enter is a record of its own",
	  BYTES("\x02\x00\x01\x01g\x00\x00\x01\x00\x02\x07\x05xy"),
	  "%trec\t1\tversion=2\n"
	  "%fn\tF1\tg\targs=[]\n"
	  "enter\t0\t-\t-\tg\n"
	  "! 0x7 at call 0: truncated: at least 10 bytes needed, 7 left\n"
	  "raw\t0\t-\t-\t-\ttext=b64:AQACBwV4eQ==\treason=\"truncated\"\t.offset=7\n" },
	{ "a number of more than 64 bits",
	  BYTES("\x02\x00\x01\x01g\x00\x02\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00"),
	  "%trec\t1\tversion=2\n"
	  "! 0x8 at call 0: a number has more than 64 bits; nothing after it can be read\n" },
	{ "a newer version", BYTES("\x07\x07\x00"),
	  "! 0xffffffffffffffff at the head of the trace: version 7 of the format is not known: "
	  "the newest known is 6; nothing after it can be read\n" },
};

static void check(const char *name, struct tr_text stream, const char *lines)
{
	static const size_t pieces[] = { SIZE_MAX / 4, 1, 2, 7 };
	for (size_t i = 0; i < 2 * sizeof pieces / sizeof *pieces; i++) {
		struct tr_buffer got = TR_BUFFER_INIT;
		size_t piece = pieces[i / 2] < stream.len ? pieces[i / 2] : stream.len;
		bool read = read_stream(stream, piece, i % 2 ? TEXT : FIELDS, &got);
		bool same = tr_text_is(tr_buffer_text(&got), lines);
		ok(read && same, "%s, read by %zu%s", name, piece, i % 2 ? ", as text" : "");
		if (!same)
			printf("# got:\n%.*s# want:\n%s", (int)got.len, got.data, lines);
		tr_buffer_free(&got);
	}
}

/* Definitions come once, and values that were spelled once come out the same again. */
static void test_repetition(void)
{
	static const char call[] = "\x00\x07\x01\x00\x09\x02\x04\x01\x01\x01\x0a\x02\x05\x00\x01";
	struct tr_buffer stream = TR_BUFFER_INIT, got = TR_BUFFER_INIT, want = TR_BUFFER_INIT;
	tr_buffer_put_literal(&stream, "\x03\x00\x07\x01"
				       "f\x02\x01"
				       "a\x01"
				       "b\x01\x00\x09\x02\x01\x01"
				       "A\x04\x01\x04\x01\x01\x01\x0a\x02\x01\x01"
				       "M\x01\x05\x00\x01\x00\x00");
	tr_buffer_put_literal(&want, "%trec\t1\tversion=3\n"
				     "%fn\tF7\tf\targs=[\"a\",\"b\"]\n"
				     "%enum\tE2\t-\tA=1\n"
				     "%mask\tM2\t-\tM=1\n");
	for (unsigned i = 0; i < 300; i++) {
		char line[96];
		snprintf(line, sizeof line, "call\t%u\t-\t-\tf\ta=A(1@E2)\tb=M|0x4(0x5@M2)\t->\n",
			 i);
		tr_buffer_put_text(&want, tr_text_from(line));
		if (i == 0)
			continue;
		char number[2] = { (char)(i < 128 ? i : i | 0x80), (char)(i >> 7) };
		tr_buffer_put(&stream, call, sizeof call - 1);
		tr_buffer_put(&stream, number, i < 128 ? 1 : 2);
		tr_buffer_put_byte(&stream, '\0');
	}
	tr_buffer_put_byte(&want, '\0');
	check("300 calls", tr_buffer_text(&stream), want.data);
	tr_buffer_free(&stream);
	tr_buffer_free(&got);
	tr_buffer_free(&want);
}

int main(void)
{
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		check(vectors[i].name, vectors[i].stream, vectors[i].lines);
	test_repetition();
	return done_testing();
}
