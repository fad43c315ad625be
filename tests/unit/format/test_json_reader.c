/* SPDX-License-Identifier: MIT */
/* Arrays as they come in files: on lines, over lines, damaged; windows of any size. */
#include "format/format.h"

#include "core/buffer.h"
#include "memory.h"
#include "tap.h"

static struct tr_buffer lines, messages;

/* All that the reader gives, and "LINE " for each message. */
static enum tr_status read_all(struct tr_text text, size_t piece, const struct tr_limits *limits)
{
	struct tr_read_config config = { .limits = *limits };
	struct tr_input *in = memory_input(text, piece, false);
	struct tr_error err;
	struct tr_reader *reader = tr_format_json.open(&config, in, &err);
	enum tr_status status;
	tr_buffer_reset(&lines);
	tr_buffer_reset(&messages);
	for (;;) {
		struct tr_record *record;
		tr_error_clear(&err);
		status = tr_reader_read(reader, &record, &err);
		if (status == TR_OK) {
			tr_buffer_put_text(&lines, record->line);
			continue;
		}
		if (status == TR_END)
			break;
		tr_buffer_put_decimal(&messages, err.line);
		tr_buffer_put_literal(&messages, " ");
		if (status == TR_FATAL)
			break;
	}
	tr_reader_free(reader);
	tr_input_free(in);
	return status;
}

struct row {
	const char *name, *text, *lines, *messages;
};

#define A "[\"x\",0,null,null,\"a\"]"
#define B "[\"x\",1,null,null,\"b\",[\"k\",[1]]]"
#define LINE_A "x\t0\t-\t-\ta\n"
#define LINE_B "x\t1\t-\t-\tb\tk=[1]\n"
#define PRETTY_B \
	"[\n  \"x\",\n  1,\n  null,\n  null,\n  \"b\",\n  [\n    \"k\",\n    [\n      1\n    ]\n " \
	" ]\n]"
#define FLAT_B "[\n\"x\",\n1,\nnull,\nnull,\n\"b\",\n[\n\"k\",\n[\n1\n]\n]\n]"

static const struct row rows[] = {
	{ "nothing", "", "", "" },
	{ "blanks", " \n\t\r\n\n", "", "" },
	{ "one a line", A "\n" B "\n", LINE_A LINE_B, "" },
	{ "CR LF", A "\r\n" B "\r\n", LINE_A LINE_B, "" },
	{ "no last line end", A "\n" B, LINE_A LINE_B, "" },
	{ "several on a line", A " " B B "\n" A, LINE_A LINE_B LINE_B LINE_A, "" },
	{ "over lines", PRETTY_B "\n" PRETTY_B "\n" A "\n", LINE_B LINE_B LINE_A, "" },
	{ "over lines, not indented", FLAT_B "\n" FLAT_B, LINE_B LINE_B, "" },
	{ "an empty list, not indented",
	  "[\n\"x\",\n0,\nnull,\nnull,\n\"a\",\n[\n\"k\",\n[]\n]\n]\n" A "\n",
	  "x\t0\t-\t-\ta\tk=[]\n" LINE_A, "" },
	{ "over lines, next on the same", PRETTY_B " " PRETTY_B A, LINE_B LINE_B LINE_A, "" },
	{ "garbage", "make: done\n" A "\n", LINE_A, "1 " },
	{ "garbage behind", A " x\n" B "\n", LINE_A LINE_B, "1 " },
	{ "commas behind", A ",\n" B "\n", LINE_A LINE_B, "1 " },
	{ "two bad lines", "x\ny\n" A "\n", LINE_A, "1 2 " },
	{ "a bad number", "[\"x\",0,null,null,\"a\",[\"k\",1.5]]\n" A "\n", LINE_A, "1 " },
	{ "a bad kind", "[\"X\",0,null,null,\"a\"]\n" A "\n", LINE_A, "1 " },
	{ "a cut line", "[\"x\",0,null,\n" A "\n" B "\n", LINE_A LINE_B, "1 " },
	{ "a line cut in a string", "[\"x\",0,null,\"ab\n" A "\n", LINE_A, "1 " },
	{ "a line cut between fields", "[\"x\",0,null,null,\"a\"\n" A "\n", LINE_A, "1 " },
	{ "cut at the end", A "\n[\"x\",1,null", LINE_A, "2 " },
	{ "cut at the end over lines", A "\n[\n  \"x\",\n", LINE_A, "2 " },
	{ "cut over lines", "[\n  \"x\",\n  0,\n" PRETTY_B "\n", LINE_B, "1 " },
	{ "bad over lines", "[\n  \"x\",\n  0.5,\n  null,\n  [\n  1]]\n" PRETTY_B "\n", LINE_B,
	  "3 " },
	{ "a string cut over lines", "[\n  \"x,\n  0,\n  [1]\n]\n" PRETTY_B "\n", LINE_B, "2 " },
	{ "brackets that do not match", "[\"x\",0,null,null,\"a\"}\n" A "\n", LINE_A, "1 " },
	{ "brackets over lines that do not match", "[\n  0}\n]\n" A "\n", LINE_A, "2 3 " },
	{ "a deep one", "[[[[[[\n" A "\n", LINE_A, "1 " },
};

static void all_rows(void)
{
	static const size_t pieces[] = { 1, 7, 1 << 20 };
	struct tr_limits limits = TR_LIMITS_DEFAULT;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool same = true;
		for (size_t j = 0; j < sizeof pieces / sizeof *pieces; j++) {
			read_all(tr_text_from(rows[i].text), pieces[j], &limits);
			same = same && tr_text_is(tr_buffer_text(&lines), rows[i].lines) &&
			       tr_text_is(tr_buffer_text(&messages), rows[i].messages);
			if (!same)
				diag("%.*s; %.*s", (int)lines.len, lines.data, (int)messages.len,
				     messages.data);
		}
		ok(same, "%s", rows[i].name);
	}
}

static void others(void)
{
	struct tr_limits limits = TR_LIMITS_DEFAULT;
	ok(read_all(TR_TEXT("[\"%trec\",2]\n" A "\n"), 100, &limits) == TR_FATAL,
	   "another version is fatal");
	limits.max_record = 40;
	read_all(TR_TEXT(PRETTY_B "\n" A "\n"), 1000, &limits);
	ok(tr_text_is(tr_buffer_text(&lines), LINE_A) &&
		   tr_text_is(tr_buffer_text(&messages), "1 "),
	   "an array beyond the limit is left out");
}

static void bids(void)
{
	static const struct {
		const char *text;
		bool ours;
	} starts[] = {
		{ "[\"%trec\",1]\n", true },
		{ "[\"%trec\",1", true },
		{ "[\"#\",\" a\"]\n", true },
		{ "[\"!end\",0]\n", true },
		{ "[\"exec\",0,null,null,null]\n", true },
		{ " [\n  \"exec\",\n  \"a\"", true },
		{ "[\"%fn\",\"F1\"", true },
		{ "[\"Exec\",0]", false },
		{ "[\"exec\"]", false },
		{ "[\"exec\",[", false },
		{ "[\"%\",1]", false },
		{ "[{\"directory\":\"/\"}]", false },
		{ "{\"version\":101}", false },
		{ "[1,2]", false },
		{ "[]", false },
		{ "[", false },
		{ "", false },
		{ "exec\t0", false },
	};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		struct tr_input *in = memory_input(tr_text_from(starts[i].text), 1, false);
		ok((tr_format_json.bid(in) > 0) == starts[i].ours, "%s: %s", starts[i].text,
		   starts[i].ours ? "typed JSON" : "not ours");
		ok(in->offset == 0, "nothing is consumed");
		tr_input_free(in);
	}
}

int main(void)
{
	all_rows();
	others();
	bids();
	tr_buffer_free(&lines);
	tr_buffer_free(&messages);
	return done_testing();
}
