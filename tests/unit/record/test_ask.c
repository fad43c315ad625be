/* SPDX-License-Identifier: MIT */
/* Values of fields as writers ask for them, and the numbers of lists. */

#include <inttypes.h>

#include "core/buffer.h"
#include "core/input.h"
#include "record/ask.h"
#include "tap.h"

static const char line[] =
	"exec\t1\t-\t5\ta\\x41\tn=7\ts=\"x\\n\"\ttwo=block|br0\tone=gpl\tenum=gpl(1)\tbad=[\t"
	"l=[0,3,36]\tnone=[]\tminus=[1,-2]\tcut=[1]...\tbig=[1,18446744073709551615]\t"
	"blank=[ 4 ]\tzero=[01]\tcomma=[1,]\tl2=[9999999999999999999]\tpart=\"x\"...\n";

static void test_asking(struct tr_record *record)
{
	struct tr_error err;
	tr_error_clear(&err);
	ok(tr_ask_number(record, "n", 9, &err) == 7, "a number");
	ok(tr_ask_number(record, "s", 9, &err) == 9 && tr_ask_number(record, "x", 9, &err) == 9,
	   "a string or nothing instead of one");
	ok(tr_text_is(tr_ask_string(record, "s", &err), "x\n"), "a string is decoded");
	ok(!tr_ask_string(record, "n", &err).data, "a number is not one");
	ok(tr_ask_is(record, "one", "gpl", &err) && !tr_ask_is(record, "one", "gp", &err),
	   "a word");
	ok(!tr_ask_is(record, "two", "block", &err) && !tr_ask_is(record, "enum", "gpl", &err),
	   "two words, or one with a number, are not that word");
	ok(tr_ask_has(record, "bad", &err) && !tr_ask_has(record, "ba", &err), "a field is there");
	ok(!tr_ask_any(record, "bad", &err) && err.cause == TR_CAUSE_NONE,
	   "a malformed value counts as absent");
}

static void test_need(struct tr_record *record)
{
	static const struct {
		const char *key;
		enum tr_status status;
		const char *text;
	} rows[] = {
		{ "n", TR_OK, "" },
		{ "x", TR_WARN, "x: the field is missing" },
		{ "s", TR_WARN, "s: the value has another type" },
		{ "comma", TR_WARN, "comma: column 4: no value begins with ']'" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tr_value *value;
		struct tr_error err;
		tr_error_clear(&err);
		enum tr_status status = tr_field_need(record, rows[i].key, TR_UINT, &value, &err);
		if (!ok(status == rows[i].status && (status == TR_OK) == (value != NULL) &&
				strcmp(err.text, rows[i].text) == 0,
			"needs %s", rows[i].key))
			diag("%s", err.text);
	}
}

static void test_string(struct tr_record *record)
{
	struct tr_text bytes;
	struct tr_error err;

	tr_error_clear(&err);
	ok(tr_field_string(record, "s", &bytes, &err) == TR_OK && tr_text_is(bytes, "x\n"),
	   "finds a string and decodes it");
	ok(tr_field_string(record, "x", &bytes, &err) == TR_OK && !bytes.data, "finds no string");
	ok(tr_field_string(record, "part", &bytes, &err) == TR_WARN && !bytes.data &&
		   strcmp(err.text, "part: the value is cut") == 0,
	   "reports a cut string");
	ok(tr_field_string(record, "n", &bytes, &err) == TR_WARN && !bytes.data &&
		   strcmp(err.text, "n: the value has another type") == 0,
	   "reports a number instead of a string");
}

static void test_number(struct tr_record *record)
{
	uint64_t number = 1;
	struct tr_error err;

	tr_error_clear(&err);
	ok(tr_field_number(record, "x", 7, &number, &err) == TR_OK && number == 1,
	   "finds no number, and leaves what there was");
	ok(tr_field_number(record, "n", 6, &number, &err) == TR_WARN && number == 1 &&
		   strcmp(err.text, "n: at most 6") == 0,
	   "reports a number that is too large");
	ok(tr_field_number(record, "n", 7, &number, &err) == TR_OK && number == 7,
	   "finds a number");
	ok(tr_field_number(record, "s", 7, &number, &err) == TR_WARN, "reports another type");
}

static void test_find(struct tr_record *record)
{
	const struct tr_value *value;
	struct tr_error err;

	tr_error_clear(&err);
	ok(tr_field_find(record, "n", &value, &err) == TR_OK && value && value->as.number == 7,
	   "finds a value");
	ok(tr_field_find(record, "x", &value, &err) == TR_OK && !value, "finds none");
	ok(tr_field_find(record, "bad", &value, &err) == TR_WARN && !value && *err.text,
	   "reports a malformed one");
}

static void test_cells(struct tr_record *record)
{
	struct tr_error err;
	tr_error_clear(&err);
	struct tr_cell address = { .type = TR_CELL_ADDRESS, .width = 8, .number = 0x1f };
	struct tr_cell wrong = { .type = TR_CELL_TEXT, .text = TR_TEXT("\\q") };
	ok(tr_text_is(tr_ask_cell(&record->name, record->arena, &err), "aA"), "a cell is decoded");
	ok(tr_text_is(tr_ask_cell(&record->time, record->arena, &err), "-"), "an absent one");
	ok(tr_text_is(tr_ask_cell(&address, record->arena, &err), "0x0000001f"), "an address");
	ok(tr_text_is(tr_ask_cell(&wrong, record->arena, &err), "\\q") &&
		   err.cause == TR_CAUSE_NONE,
	   "a malformed one is as it is spelled");
}

/* Lists all numbers, and how the list ends: "." or "!". */
static void list(struct tr_record *record, const char *key, struct tr_buffer *to)
{
	struct tr_numbers numbers;
	struct tr_error err;
	uint64_t number;
	enum tr_status status;

	tr_buffer_reset(to);
	if (tr_numbers_begin(&numbers, record, tr_record_field(record, key), &err) != TR_OK) {
		tr_buffer_put_text(to, tr_text_from(err.text));
		return;
	}
	while ((status = tr_numbers_next(&numbers, &number)) == TR_OK) {
		tr_buffer_put_decimal(to, number);
		tr_buffer_put_byte(to, ' ');
	}
	tr_buffer_put_byte(to, status == TR_END ? '.' : '!');
}

static void test_numbers(struct tr_record *record)
{
	static const char *const rows[][2] = {
		{ "l", "0 3 36 ." },
		{ "none", "." },
		{ "minus", "1 !" },
		{ "cut", "the list is cut" },
		{ "n", "the value has another type" },
		{ "big", "1 18446744073709551615 ." },
		{ "l2", "9999999999999999999 ." },
		{ "blank", "4 ." },
		{ "zero", "column 2: leading zero in integer" },
	};
	struct tr_buffer have = TR_BUFFER_INIT;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		list(record, rows[i][0], &have);
		if (!ok(tr_text_is(tr_buffer_text(&have), rows[i][1]), "numbers of %s", rows[i][0]))
			diag("%.*s", (int)have.len, have.data);
		/* a field that is parsed already gives the same */
		struct tr_field *field = tr_record_field(record, rows[i][0]);
		if (!tr_field_value(record, field, NULL))
			continue;
		list(record, rows[i][0], &have);
		ok(tr_text_is(tr_buffer_text(&have), rows[i][1]), "and of its value");
	}
	tr_buffer_free(&have);
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_record record;

	tr_buffer_put_text(&text, tr_text_from(line));
	tr_record_init(&record, &arena);
	if (!ok(tr_buffer_room(&text, TR_INPUT_PAD) &&
			tr_record_from_line(&record, tr_buffer_text(&text), NULL),
		"the line is a record"))
		return done_testing();
	test_find(&record);
	test_need(&record);
	test_string(&record);
	test_number(&record);
	test_numbers(&record);
	test_asking(&record);
	test_cells(&record);
	tr_buffer_free(&text);
	tr_arena_free(&arena);
	return done_testing();
}
