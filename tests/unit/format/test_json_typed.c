/* SPDX-License-Identifier: MIT */
/* Typed JSON: the tables in both directions, what has to be refused, random values. */
#include "format/json/typed.h"

#include <stdlib.h>

#include "core/input.h"
#include "record/literal.h"
#include "record/vectors.h"
#include "tap.h"

static struct tr_arena arena;
static struct tr_buffer padded, out;

/* The scanner wants readable bytes behind its text. */
static struct tr_json json_of(struct tr_text text)
{
	tr_buffer_reset(&padded);
	tr_buffer_put_text(&padded, text);
	char *pad = tr_buffer_room(&padded, TR_INPUT_PAD);
	if (pad)
		memset(pad, 0, TR_INPUT_PAD);
	return (struct tr_json){ padded.data, padded.data + text.len };
}

static struct tr_typed_reader reader_of(struct tr_text text, struct tr_error *err)
{
	tr_error_clear(err);
	tr_buffer_reset(&out);
	return (struct tr_typed_reader){
		.max_depth = TR_LITERAL_DEPTH,
		.arena = &arena,
		.json = json_of(text),
		.to = &out,
		.err = err,
	};
}

/* Reads a value; what it is in trec is in `out`. */
static bool read_value(struct tr_text text, struct tr_error *err)
{
	struct tr_typed_reader reader = reader_of(text, err);
	bool good = tr_typed_read_value(&reader) && reader.json.pos == reader.json.end;
	tr_buffer_free(&reader.scratch);
	return good;
}

static enum tr_status read_record(struct tr_text text, struct tr_error *err)
{
	struct tr_typed_reader reader = reader_of(text, err);
	enum tr_status status = tr_typed_read_record(&reader);
	tr_buffer_free(&reader.scratch);
	return status;
}

static bool is_out(struct tr_text wanted)
{
	if (tr_text_equal(tr_buffer_text(&out), wanted))
		return true;
	diag("%.*s", (int)out.len, out.data);
	return false;
}

static void good_values(void)
{
	struct vectors v;
	struct tr_error err;
	if (!ok(vectors_open(&v, "values-good.tsv"), "values-good.tsv opens"))
		return;
	while (vectors_next(&v)) {
		struct tr_text value = v.column[0], typed = v.column[1];
		tr_buffer_reset(&out);
		tr_typed_put_value(value, &out);
		ok(is_out(typed), "%.*s to typed JSON", (int)value.len, value.data);
		ok(read_value(typed, &err) && is_out(value), "%.*s to trec", (int)typed.len,
		   typed.data);
		tr_arena_reset(&arena);
	}
	vectors_close(&v);
}

static void good_lines(void)
{
	struct vectors v;
	struct tr_error err;
	struct tr_buffer line = TR_BUFFER_INIT;
	if (!ok(vectors_open(&v, "lines-good.tsv"), "lines-good.tsv opens"))
		return;
	while (vectors_next(&v)) {
		struct tr_text escaped = v.column[0], typed = v.column[4], bytes;
		struct tr_record record = { .arena = &arena };
		tr_buffer_reset(&line);
		if (!ok(tr_cell_bytes(escaped, &arena, &bytes, &err), "row %u", v.row))
			continue;
		tr_buffer_put_text(&line, bytes);
		tr_buffer_put_byte(&line, '\n');
		tr_buffer_reset(&out);
		ok(tr_record_from_line(&record, tr_buffer_text(&line), &err) &&
			   tr_typed_put_record(&record, &out, &err) == TR_OK && is_out(typed),
		   "%.*s to typed JSON", (int)escaped.len, escaped.data);
		ok(read_record(typed, &err) == TR_OK && is_out(tr_buffer_text(&line)),
		   "%.*s to trec", (int)typed.len, typed.data);
		tr_arena_reset(&arena);
	}
	vectors_close(&v);
	tr_buffer_free(&line);
}

/* Typed JSON that is right though no writer of ours makes it. */
static void other_spellings(void)
{
	static const char *const rows[][2] = {
		{ " [ 1 , 2 ] ", NULL },
		{ "[ 1 , [ ] ]", "[1,[]]" },
		{ "\"\\u0041\\/\\ud83d\\ude00\"", "\"A/\xf0\x9f\x98\x80\"" },
		{ "\"\\ud800\"", "\"\\ud800\"" },
		{ "{\"$\\u0069nt\":\"+5\"}", "+5" },
		{ "{ \"$int\" : \"5\" }", "5" },
		{ "{\"$int\":\"-7\"}", "-7" },
		{ "{\"$str\":\"\\\"a\\\"\"}", "\"a\"" },
		{ "{\"$str\":\"\\\"\\\\u0041\\\"\"}", "\"A\"" },
		{ "{\"$real\":\"1.50\"}", "1.5" },
		{ "{\"$real\":\"1E2\"}", "100.0" },
		{ "{\"$ptr\":\"0x00FF\"}", "0xff" },
		{ "{\"$blob\":\"blob:7\"}", "blob:7" },
		{ "{\"$map\":[[{\"$str\":\"\\\"a\\\"\"},1]]}", "{\"a\":1}" },
		{ "{\"$struct\":[null,[\"null\",1]]}", "{\"null\"=1}" },
		{ "{\"$raw\":\"01\"}", "01" },
		{ "{\"$raw\":\"\"}", "" },
	};
	struct tr_error err;
	for (size_t i = 1; i < sizeof rows / sizeof *rows; i++)
		ok(read_value(tr_text_from(rows[i][0]), &err) && is_out(tr_text_from(rows[i][1])),
		   "%s is understood", rows[i][0]);
}

/* The text, and a word of the message. */
static void bad_values(void)
{
	static const char *const rows[][2] = {
		{ "1.5", "$real" },
		{ "1e3", "$real" },
		{ "1E3", "$real" },
		{ "-0.0", "$real" },
		{ "9007199254740992", "$int" },
		{ "-9007199254740992", "$int" },
		{ "12345678901234567890", "$int" },
		{ "-0", "$int" },
		{ "{\"$int\":\"x\"}", "another type" },
		{ "{\"$int\":\"0x5\"}", "another type" },
		{ "{\"$int\":\"1.0\"}", "another type" },
		{ "{\"$int\":\" 1\"}", "$int holds no" },
		{ "{\"$int\":\"18446744073709551616\"}", "$int holds no" },
		{ "{\"$int\":\"\"}", "$int holds no" },
		{ "{\"$int\":5}", "spelling" },
		{ "{\"$ptr\":\"5\"}", "another type" },
		{ "{\"$real\":\"1\"}", "another type" },
		{ "{\"$real\":\"1e999\"}", "$real holds no" },
		{ "{\"$str\":\"a\"}", "another type" },
		{ "{\"$str\":\"L\\\"a\\\"\"}", "another type" },
		{ "{\"$wstr\":\"\\\"a\\\"\"}", "another type" },
		{ "{\"$blob\":\"b64:A\"}", "$blob holds no" },
		{ "{\"$sym\":\"null\"}", "another type" },
		{ "{\"$sym\":\"\\\"a\\\"\"}", "another type" },
		{ "{\"$sym\":\"[a]\"}", "another type" },
		{ "{\"$str\":\"\\\"a\\nb\\\"\"}", "byte 0a" },
		{ "{\"$raw\":\"a\\tb\"}", "byte 09" },
		{ "[{\"$raw\":\"1\"}]", "no tag" },
		{ "{\"$cut\":\"a\"}", "$cut" },
		{ "{\"$map\":{}}", "$map" },
		{ "{\"$map\":[\"a\"]}", "pair" },
		{ "{\"$map\":[[\"a\"]]}", "value" },
		{ "{\"$map\":[[1,2]]}", "key" },
		{ "{\"$map\":[[\"a\",1,2]]}", "pair" },
		{ "{\"$map\":[[{\"$str\":\"\\\"a\\\"...\"},1]]}", "cut" },
		{ "{\"$struct\":[]}", "$struct" },
		{ "{\"$struct\":[\"5\"]}", "identifier" },
		{ "{\"$struct\":[\"S05\"]}", "identifier" },
		{ "{\"$struct\":[\"S5}\"]}", "identifier" },
		{ "{\"$repr\":[1]}", "two" },
		{ "{\"$repr\":[1,2,3]}", "two" },
		{ "{\"a\":1}", "$map" },
		{ "{}", "tag" },
		{ "{\"$int\":\"5\",\"a\":1}", "one key" },
		{ "[1,]", "value" },
		{ "[1 2]", "\"]\"" },
		{ "tru ", "JSON" },
		{ "\"\\q\"", "JSON" },
	};
	struct tr_error err;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool good = read_value(tr_text_from(rows[i][0]), &err);
		if (!ok(!good && strstr(err.text, rows[i][1]), "%s is refused: %s", rows[i][0],
			rows[i][1]))
			diag("%s", good ? "accepted" : err.text);
		tr_arena_reset(&arena);
	}
}

static void bad_records(void)
{
	static const char *const rows[][2] = {
		{ "{}", "array" },
		{ "[]", "kind" },
		{ "[1]", "kind" },
		{ "[\"#\"]", "comment" },
		{ "[\"#a\",0,null,null,null]", "kind" },
		{ "[\"#\",1]", "comment" },
		{ "[\"#\",\"a\\nb\"]", "byte 0a" },
		{ "[\"#\",\"a\",\"b\"]", "comment" },
		{ "[\"exec\"]", "column" },
		{ "[\"exec\",0,null,null]", "column" },
		{ "[\"exec\",0.5,null,null,null]", "2^53-1" },
		{ "[\"exec\",-1,null,null,null]", "2^53-1" },
		{ "[\"exec\",9007199254740992,null,null,null]", "2^53-1" },
		{ "[\"exec\",0,1.5,null,null]", "cell" },
		{ "[\"exec\",0,null,7,null]", "cell" },
		{ "[\"exec\",0,null,null,[]]", "cell" },
		{ "[\"exec\",0,null,null,{\"$cell\":\"\\\\q\"}]", "escape" },
		{ "[\"exec\",0,null,null,{\"$int\":\"1\"}]", "$cell" },
		{ "[\"exec\",0,null,null,null,[null,1]]", "key" },
		{ "[\"exec\",0,null,null,null,[\"a\"]]", "value" },
		{ "[\"exec\",0,null,null,null,[\"a\",1,2]]", "field" },
		{ "[\"exec\",0,null,null,null,\"=>\"]", "->" },
		{ "[\"exec\",0,null,null,null,\"->\",\"->\"]", "once" },
		{ "[\"exec\",0,null,null,null,{\"a\":1}]", "[KEY,VALUE]" },
		{ "[\"exec\",0,null,null,null,1]", "[KEY,VALUE]" },
		{ "[\"%trec\",1,\"->\"]", "once" },
		{ "[\"ex\\tec\",0,null,null,null]", "byte 09" },
	};
	struct tr_error err;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum tr_status status = read_record(tr_text_from(rows[i][0]), &err);
		if (!ok(status == TR_WARN && strstr(err.text, rows[i][1]), "%s is refused: %s",
			rows[i][0], rows[i][1]))
			diag("%s", status == TR_OK ? "accepted" : err.text);
		tr_arena_reset(&arena);
	}
	struct tr_text whole =
		TR_TEXT("[\"exec\",0,null,{\"$cell\":\"\\\\xff\"},\"a\",[\"k\",[1]]]");
	bool all = true;
	for (size_t len = 0; len < whole.len; len++)
		all &= read_record((struct tr_text){ whole.data, len }, &err) == TR_END;
	ok(all, "a record cut anywhere is cut, not wrong");
}

/* What a line of the stream that is no trec is in typed JSON; it comes back. */
static void raw_lines(void)
{
	static const char *const rows[][2] = {
		{ "exec\t0\t-\t-\tgcc\ta=01\n",
		  "[\"exec\",0,null,null,\"gcc\",[\"a\",{\"$raw\":\"01\"}]]" },
		{ "exec\t0\t-\t-\tgcc\ta=\n",
		  "[\"exec\",0,null,null,\"gcc\",[\"a\",{\"$raw\":\"\"}]]" },
		{ "exec\t0\t-\t-\tC:\\gcc\n", "[\"exec\",0,null,null,{\"$raw\":\"C:\\\\gcc\"}]" },
		{ "exec\t0\t-\t-\tgcc\t-=1\n",
		  "[\"exec\",0,null,null,\"gcc\",[{\"$raw\":\"-\"},1]]" },
		{ "exec\t0\t-\t-\tgcc\t\\q=1\n",
		  "[\"exec\",0,null,null,\"gcc\",[{\"$raw\":\"\\\\q\"},1]]" },
		{ "exec\t0\t-\t-\tgcc\tab\n", "[\"exec\",0,null,null,\"gcc\",{\"$raw\":\"ab\"}]" },
		{ "exec\t0\t-\t-\tgcc\t\ta=1\n",
		  "[\"exec\",0,null,null,\"gcc\",{\"$raw\":\"\"},[\"a\",1]]" },
		{ "exec\t0\t-\t-\tgcc\t->\t->\n",
		  "[\"exec\",0,null,null,\"gcc\",\"->\",{\"$raw\":\"->\"}]" },
		{ "%trec\t1\t->\n", "[\"%trec\",1,{\"$raw\":\"->\"}]" },
	};
	struct tr_error err;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tr_text line = tr_text_from(rows[i][0]), typed = tr_text_from(rows[i][1]);
		struct tr_record record = { .arena = &arena };
		tr_buffer_reset(&out);
		tr_error_clear(&err);
		ok(tr_record_from_line(&record, line, &err) &&
			   tr_typed_put_record(&record, &out, &err) == TR_WARN &&
			   err.severity == TR_FLAW && is_out(typed),
		   "shown as it is: %s", rows[i][1]);
		ok(read_record(typed, &err) == TR_OK && is_out(line), "and comes back");
	}
}

static uint32_t seed = 1;

static unsigned pick(unsigned count)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % count;
}

/* Random canonical text, of all types, a few levels deep. */
static void random_value(struct tr_buffer *to, unsigned depth);

static void random_scalar(struct tr_buffer *to)
{
	static const char *const scalars[] = {
		"null",
		"true",
		"0",
		"7",
		"-1",
		"-0",
		"+3",
		"9007199254740991",
		"9007199254740992",
		"0xff",
		"1.5",
		"-0.0",
		"1e16f",
		"inf",
		"nanf:7fc00001",
		"\"\"",
		"\"a\\n\\\"b\\\\\"",
		"\"\\xff\"",
		"\"\\ud800\"",
		"\"cut\"...",
		"L\"w\"",
		"L\"\\u{d800}\"",
		"b64:AA==",
		"blob:12",
		"A|B",
		"A|\"x,]y\"(0x3@M1)",
		"?(4@E2)",
		"none",
		"f",
		"\"q}\"(1)",
	};

	tr_buffer_put_text(to, tr_text_from(scalars[pick(sizeof scalars / sizeof *scalars)]));
}

static void random_list(struct tr_buffer *to, unsigned depth, unsigned count)
{
	tr_buffer_put_byte(to, '[');
	for (unsigned i = 0; i < count; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		random_value(to, depth + 1);
	}
	tr_buffer_put_text(to, pick(3) ? TR_TEXT("]") : TR_TEXT("]..."));
}

static void random_members(struct tr_buffer *to, unsigned depth, unsigned count)
{
	enum { MAP, WORDS, STRUCT } shape = (int)pick(3);
	/* no words: those have no quotes in structures */
	static const char *const keys[] = { "\"a b\"", "\"b:c\"", "\"\\xc3\"", "\"\"", "\"}{\"" };

	tr_buffer_put_byte(to, '{');
	for (unsigned i = 0; i < count; i++) {
		if (i)
			tr_buffer_put_byte(to, ',');
		if (shape == WORDS && pick(2))
			tr_buffer_put_literal(to, "word");
		else
			tr_buffer_put_text(to, tr_text_from(keys[pick(5)]));
		tr_buffer_put_byte(to, shape == MAP ? ':' : '=');
		random_value(to, depth + 1);
	}
	if (count == 0 && shape != MAP)
		tr_buffer_put_byte(to, '=');
	tr_buffer_put_text(to, shape == STRUCT ? TR_TEXT("}@S12") : TR_TEXT("}"));
}

static void random_value(struct tr_buffer *to, unsigned depth)
{
	unsigned shape = depth < 4 ? pick(10) : 9, count = pick(4);

	if (shape < 3) {
		random_list(to, depth, count);
	} else if (shape < 6) {
		random_members(to, depth, count);
	} else if (shape == 6) {
		tr_buffer_put_byte(to, '<');
		random_value(to, depth + 1);
		tr_buffer_put_byte(to, ';');
		random_value(to, depth + 1);
		tr_buffer_put_byte(to, '>');
	} else {
		random_scalar(to);
	}
}

static void random_values(void)
{
	enum { ROUNDS = 20000 };
	struct tr_buffer value = TR_BUFFER_INIT, typed = TR_BUFFER_INIT;
	struct tr_error err;
	unsigned canonical = 0, same = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		tr_buffer_reset(&value);
		tr_buffer_reset(&typed);
		random_value(&value, 0);
		struct tr_text text = tr_buffer_text(&value);
		if (tr_literal_check(text, NULL, &err) == TR_CANONICAL)
			canonical++;
		else
			diag("%.*s: %s", (int)text.len, text.data, err.text);
		tr_typed_put_value(text, &typed);
		same += read_value(tr_buffer_text(&typed), &err) && is_out(text);
		tr_arena_reset(&arena);
	}
	ok(canonical == ROUNDS, "%u random values are canonical", canonical);
	ok(same == ROUNDS, "%u of them come back", same);
	tr_buffer_free(&value);
	tr_buffer_free(&typed);
}

/* depth brackets around nothing, in trec and typed. */
static void deep(unsigned depth, const char *open, const char *close)
{
	struct tr_buffer typed = TR_BUFFER_INIT;
	for (unsigned i = 0; i < depth; i++)
		tr_buffer_put_text(&typed, tr_text_from(open));
	tr_buffer_put_literal(&typed, "1");
	for (unsigned i = 0; i < depth; i++)
		tr_buffer_put_text(&typed, tr_text_from(close));
	struct tr_error err;
	bool good = read_value(tr_buffer_text(&typed), &err);
	if (depth <= TR_LITERAL_DEPTH)
		ok(good, "%u open %s are read", depth, open);
	else
		ok(!good && err.cause == TR_CAUSE_LIMIT, "%u open %s are too many", depth, open);
	tr_buffer_free(&typed);
}

int main(void)
{
	good_values();
	good_lines();
	other_spellings();
	bad_values();
	bad_records();
	raw_lines();
	random_values();
	for (unsigned depth = 60; depth <= 61; depth++) {
		deep(depth, "[", "]");
		deep(depth, "{\"$map\":[[\"a\",", "]]}");
		deep(depth, "{\"$struct\":[null,[\"a\",", "]]}");
		deep(depth, "{\"$repr\":[1,", "]}");
		deep(depth, "{\"$cut\":[", "]}");
	}
	deep(1000000, "[", "]");
	tr_arena_free(&arena);
	tr_buffer_free(&padded);
	tr_buffer_free(&out);
	return done_testing();
}
