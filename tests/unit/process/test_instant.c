/* SPDX-License-Identifier: MIT */
/* Points in time, read and written; words of a shell. */
#include "process/instant.h"

#include <string.h>

#include "process/command.h"
#include "record/literal.h"
#include "tap.h"

static const struct {
	const char *text;
	int64_t instant;
} instants[] = {
	{ "0", 0 },
	{ "1.5", 1500000000 },
	{ "1586953334.420390722", 1586953334420390722 },
	{ "1.1234567899", 1123456789 }, /* the tenth digit is cut */
	{ "12345678.87654321", 12345678876543210 },
	{ "00000000000000000001.5", 1500000000 },
	{ "1234567/.5", TR_INSTANT_NONE },
	{ "12345:78.5", TR_INSTANT_NONE },
	{ "1.\xb0"
	  "1234567",
	  TR_INSTANT_NONE },
	{ "1.1234567a", TR_INSTANT_NONE },
	{ "-2.000000001", -2000000001 },
	{ "4611686018.427387903", TR_INSTANT_MAX },
	{ "-4611686018.427387903", -TR_INSTANT_MAX },
	{ "4611686018.427387904", TR_INSTANT_NONE },
	{ "-4611686018.427387904", TR_INSTANT_NONE },
	{ "9223372036.854775808", TR_INSTANT_NONE },
	{ "99999999999999999999", TR_INSTANT_NONE },
	{ "1.", 1000000000 },
	{ "", TR_INSTANT_NONE },
	{ "-", TR_INSTANT_NONE },
	{ ".5", TR_INSTANT_NONE },
	{ "1,5", TR_INSTANT_NONE },
	{ "1.5s", TR_INSTANT_NONE },
	{ "12:30", TR_INSTANT_NONE },
};

static const struct {
	int64_t instant;
	unsigned digits;
	const char *text;
} written[] = {
	{ 0, 0, "0" },
	{ 1999999999, 0, "2" },
	{ 1999999999, 3, "2.000" },
	{ 1214499999, 3, "1.214" },
	{ 1214500000, 3, "1.215" },
	{ -1500000000, 1, "-1.5" },
	{ 1586953334420390722, 9, "1586953334.420390722" },
	{ INT64_MIN, 9, "-9223372036.854775808" },
};

static const struct {
	int64_t instant;
	const char *text;
} micros[] = {
	{ 0, "0" },
	{ 1500, "1.500" },
	{ -20, "-0.020" },
	{ 3499999999999, "3499999999.999" },
	{ INT64_MIN, "-9223372036854775.808" },
};

static const struct {
	const char *bytes, *word, *shown;
} words[] = {
	{ "", "''", "''" },
	{ "a-b.c/d=e:f,g+h@i%j_k", "a-b.c/d=e:f,g+h@i%j_k", "a-b.c/d=e:f,g+h@i%j_k" },
	{ "a b", "'a b'", "'a b'" },
	{ "it's", "'it'\\''s'", "'it'\\''s'" },
	{ "$x`y`\\", "'$x`y`\\'", "'$x`y`\\'" },
	{ "a\nb'\\\x1b"
	  "1",
	  "'a\nb'\\''\\\x1b"
	  "1'",
	  "$'a\\nb\\'\\\\\\0331'" },
	{ "caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9" },
	{ "\xff", "\xff", "$'\\377'" },
};

static void try_record(const char *line, size_t limit, const char *wanted)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer shown = TR_BUFFER_INIT;
	struct tr_record record;
	struct tr_error err;
	char copy[300];

	snprintf(copy, sizeof copy, "%s", line);
	tr_record_init(&record, &arena);
	bool fine = tr_record_from_line(&record, tr_text_from(copy), &err) &&
		    tr_record_split(&record, &err) == TR_OK &&
		    tr_command_show(&record, limit, &shown);
	if (!ok(fine && tr_text_is(tr_buffer_text(&shown), wanted), "command: %s", wanted))
		diag("%.*s", (int)shown.len, shown.data);
	tr_buffer_free(&shown);
	tr_arena_free(&arena);
}

/* A command is shown as its words are quoted, whatever byte is in them, and wherever. */
static void try_bytes(void)
{
	static const size_t places[] = { 0, 7, 15, 16, 31, 32, 35 };
	struct tr_buffer line = TR_BUFFER_INIT, shown = TR_BUFFER_INIT, wanted = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record;
	struct tr_error err;
	bool fine = true;

	for (int c = 1; c < 0x7f; c++)
		for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
			/* tr_string_quote_padded reads TR_STRING_PAD bytes after the text */
			char word[37 + 1 + TR_STRING_PAD] = "abcdefghijklmnopqrstuvwxyz-+:.=@%_/AZ";
			word[places[i]] = (char)c;
			tr_buffer_reset(&line);
			tr_buffer_reset(&shown);
			tr_buffer_reset(&wanted);
			tr_buffer_put_literal(&line, "exec\t0\t-\t1\t/bin/cc\targv=[\"w\",");
			tr_string_quote_padded(tr_text_from(word), &line);
			tr_buffer_put_literal(&line, ",\"\",\"x y\"]\n");
			tr_buffer_put_literal(&wanted, "w ");
			tr_shell_quote_printable(tr_text_from(word), &wanted);
			tr_buffer_put_literal(&wanted, " '' 'x y'");
			fine = fine &&
			       tr_record_from_buffer(&record, &arena, &line, &err) == TR_OK &&
			       tr_command_show(&record, 0, &shown) &&
			       tr_text_equal(tr_buffer_text(&shown), tr_buffer_text(&wanted));
			if (!fine) {
				diag("%.*s", (int)shown.len, shown.data);
				break;
			}
		}
	ok(fine, "a command is shown as its words are quoted");
	tr_buffer_free(&line);
	tr_buffer_free(&shown);
	tr_buffer_free(&wanted);
	tr_arena_free(&arena);
}

int main(void)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
		ok(tr_instant_from_text(tr_text_from(instants[i].text)) == instants[i].instant,
		   "\"%s\"", instants[i].text);
	for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
		tr_buffer_reset(&text);
		tr_instant_write(written[i].instant, written[i].digits, &text);
		ok(tr_text_is(tr_buffer_text(&text), written[i].text), "written: %s",
		   written[i].text);
	}
	for (size_t i = 0; i < sizeof micros / sizeof *micros; i++) {
		tr_buffer_reset(&text);
		tr_instant_write_micro(micros[i].instant, &text);
		ok(tr_text_is(tr_buffer_text(&text), micros[i].text), "microseconds: %s",
		   micros[i].text);
	}
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		tr_buffer_reset(&text);
		tr_shell_quote(tr_text_from(words[i].bytes), &text);
		ok(tr_text_is(tr_buffer_text(&text), words[i].word), "word %zu", i);
		tr_buffer_reset(&text);
		tr_shell_quote_printable(tr_text_from(words[i].bytes), &text);
		ok(tr_text_is(tr_buffer_text(&text), words[i].shown), "shown: %s", words[i].shown);
	}
	tr_buffer_free(&text);
	try_bytes();
	try_record("exec\t0\t-\t1\t/bin/cc\targv=[\"cc\",\"a b\",\"x\"...,7]\n", 0,
		   "cc 'a b' x... 7");
	try_record("exec\t0\t-\t1\t/bin/c c\targv=[]\n", 0, "'/bin/c c'");
	try_record("exec\t0\t-\t1\t/bin/cc\n", 5, "/b\xe2\x80\xa6");
	try_record("exec\t0\t-\t1\ta\targv=[\"caf\xc3\xa9\xc3\xa9\"]\n", 6, "caf\xe2\x80\xa6");
	try_record("exec\t0\t-\t1\ta\targv=[\"a\"]...\n", 0, "a ...");
	return done_testing();
}
