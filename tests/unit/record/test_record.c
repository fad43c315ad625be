/* SPDX-License-Identifier: MIT */
/* Lines: the tables of good and bad ones, and records that are built. */

#include "record/record.h"

#include "core/buffer.h"
#include "record/line.h"
#include "record/literal.h"

#include "tap.h"
#include "vectors.h"

static int hex(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Undoes the escapes of the table, and adds what the table leaves out: the LF. */
static void unescape_line(struct tr_text row, struct tr_buffer *line)
{
	tr_buffer_reset(line);
	for (const char *p = row.data, *end = p + row.len; p < end; p++) {
		char c = *p;
		if (c == '\\') {
			switch (*++p) {
			case 't':
				c = '\t';
				break;
			case 'n':
				c = '\n';
				break;
			case 'r':
				c = '\r';
				break;
			case 'x':
				c = (char)(hex(p[1]) << 4 | hex(p[2]));
				p += 2;
				break;
			default:
				c = '\\';
			}
		}
		tr_buffer_put_byte(line, c);
	}
	tr_buffer_put_byte(line, '\n');
	/* the scan of the line reads beyond the end */
	if (tr_buffer_room(line, 64))
		memset(line->data + line->len, 0, 64);
}

static const char *const type_names[] = { "record", "definition", "header", "trailer", "comment" };
static const unsigned fixed_columns[] = { 5, 3, 2, 2, 1 };

static unsigned long number(struct tr_text digits)
{
	return strtoul(digits.data, NULL, 10);
}

static bool check_good(struct tr_record *record, const struct vectors *v, struct tr_buffer *line,
		       struct tr_buffer *out, struct tr_error *err)
{
	struct tr_text text = tr_buffer_text(line);
	const char *end = line->data + line->len;
	tr_buffer_reset(out);
	if (tr_line_scan(line->data, end) != end || !tr_record_from_line(record, text, err) ||
	    tr_record_split(record, err) != TR_OK)
		return false;
	unsigned long columns =
		fixed_columns[record->type] + record->count + (record->arrow != TR_NO_ARROW);
	if (!tr_text_is(v->column[1], type_names[record->type]) ||
	    number(v->column[2]) != columns || number(v->column[3]) != record->count)
		return false;
	return tr_record_write(record, out, err) == TR_OK &&
	       tr_text_equal(text, tr_buffer_text(out));
}

static void good_lines(struct tr_arena *arena, struct tr_buffer *line, struct tr_buffer *out)
{
	struct vectors v;
	if (!ok(vectors_open(&v, "lines-good.tsv"), "lines-good.tsv opens"))
		return;
	while (vectors_next(&v)) {
		struct tr_record record = { .arena = arena };
		struct tr_error err;
		tr_error_clear(&err);
		unescape_line(v.column[0], line);
		if (!ok(check_good(&record, &v, line, out, &err), "good %u: %.*s", v.row,
			(int)v.column[0].len, v.column[0].data))
			diag("%s, %zu fields; written: %.*s; %s", type_names[record.type],
			     record.count, (int)out->len, out->data, err.text);
		tr_arena_reset(arena);
	}
	vectors_close(&v);
}

/* True when a column, a key or a value of the line is spelled so. */
static bool holds(struct tr_text line, struct tr_text wanted)
{
	const char *p = line.data, *end = p + line.len;
	while ((p = memmem(p, (size_t)(end - p), wanted.data, wanted.len))) {
		const char *after = p + wanted.len;
		if (p > line.data && strchr("\t=", p[-1]) && strchr("\t=\n", *after))
			return true;
		p++;
	}
	return false;
}

/* The first layer that reports something, and the outcome of writing. */
static const char *judge(struct tr_record *record, struct tr_buffer *line, struct tr_buffer *out,
			 struct tr_error *err)
{
	const char *end = line->data + line->len;
	tr_buffer_reset(out);
	if (!tr_record_from_line(record, tr_buffer_text(line), err) ||
	    tr_line_scan(line->data, end) != end)
		return "line";
	if (tr_record_split(record, err) != TR_OK)
		return "field";
	if (tr_record_write(record, out, err) == TR_OK)
		return "none";
	return strstr(err->text, ": column ") ? "value" : "cell";
}

/* Reasons of the line layer that the line itself does not show, or that the line scan finds. */
static bool reason_is_ours(struct tr_text reason)
{
	return !tr_text_starts(reason, TR_TEXT("raw control")) &&
	       !tr_text_starts(reason, TR_TEXT("no valid UTF-8"));
}

static bool has_reason(const struct tr_error *err, struct tr_text reason)
{
	const char *semicolon = memchr(reason.data, ';', reason.len);
	const char *column = memmem(reason.data, reason.len, " column ", 8);
	size_t len = semicolon ? (size_t)(semicolon - reason.data) : reason.len;
	/* "empty column 6" is "column 6: empty column" here */
	if (column && column < reason.data + len)
		len = (size_t)(column - reason.data);
	return memmem(err->text, strlen(err->text), reason.data, len) != NULL;
}

static void bad_lines(struct tr_arena *arena, struct tr_buffer *line, struct tr_buffer *out)
{
	struct vectors v;
	if (!ok(vectors_open(&v, "lines-bad.tsv"), "lines-bad.tsv opens"))
		return;
	struct tr_text noncanonical = TR_TEXT("noncanonical: ");
	while (vectors_next(&v)) {
		struct tr_record record = { .arena = arena };
		struct tr_text reason = v.column[2];
		struct tr_error err;
		tr_error_clear(&err);
		unescape_line(v.column[0], line);
		const char *layer = judge(&record, line, out, &err);
		bool right;
		if (tr_text_starts(reason, noncanonical)) {
			const char *from = reason.data + noncanonical.len;
			const char *to = memchr(from, ';', reason.len - noncanonical.len);
			right = strcmp(layer, "none") == 0 &&
				holds(tr_buffer_text(out),
				      tr_text_span(from, to ? to : reason.data + reason.len));
		} else {
			right = tr_text_is(v.column[1], layer) &&
				(!reason_is_ours(reason) || has_reason(&err, reason));
		}
		if (!ok(right, "bad %u: %.*s", v.row, (int)v.column[0].len, v.column[0].data))
			diag("layer %s, wanted %.*s: %.*s; written: %.*s; error: %s", layer,
			     (int)v.column[1].len, v.column[1].data, (int)reason.len, reason.data,
			     (int)out->len, out->data, err.text);
		tr_arena_reset(arena);
	}
	vectors_close(&v);
}

static void lazy_fields(struct tr_arena *arena, struct tr_buffer *out)
{
	struct tr_record record = { .arena = arena };
	struct tr_error err;
	struct tr_text line =
		TR_TEXT("call\t1\t-\t0\tf\ta=1\tbroken\tb=0x0F\t->\ta=[2, 3]\tc=\\q\n");
	ok(tr_record_from_line(&record, line, &err) && !record.split, "columns first");
	ok(tr_record_split(&record, &err) == TR_WARN && record.count == 5,
	   "a column that is no field is kept and reported: %s", err.text);
	ok(record.fields[1].bad && tr_text_is(record.fields[1].text, "broken"), "its text is kept");
	struct tr_field *field = tr_record_field(&record, "a");
	ok(field == &record.fields[3] && record.arrow == 3, "the last of a repeated key");
	struct tr_value *value = tr_field_value(&record, field, &err);
	ok(value && value->type == TR_LIST && value->count == 2,
	   "values are parsed when they are needed");
	field = tr_record_field(&record, "c");
	ok(!tr_field_value(&record, field, &err) && field->bad, "a bad value is bad: %s", err.text);
	ok(!tr_record_field(&record, "broken"), "what is no field has no key");
	tr_buffer_put_literal(out, "before");
	ok(tr_record_write(&record, out, &err) == TR_WARN &&
		   tr_text_is(tr_buffer_text(out), "before"),
	   "it cannot be written, and nothing is");
	tr_arena_reset(arena);
}

static void built_record(struct tr_arena *arena, struct tr_buffer *out)
{
	struct tr_record record;
	struct tr_value values[20] = { 0 };
	tr_record_init(&record, arena);
	record.kind = TR_TEXT("block");
	record.seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = 7 };
	record.name = (struct tr_cell){ .type = TR_CELL_ADDRESS, .number = 0x400, .width = 8 };
	bool added = true;
	for (int i = 0; i < 20; i++) {
		values[i] = (struct tr_value){ .type = TR_UINT, .as.number = (uint64_t)i };
		if (i == 18)
			record.arrow = record.count;
		added &= tr_record_add(&record, TR_TEXT("k"), &values[i]) != NULL;
	}
	tr_buffer_reset(out);
	ok(added && tr_record_write(&record, out, NULL) == TR_OK &&
		   tr_text_is(tr_buffer_text(out),
			      "block\t7\t-\t-\t0x00000400\tk=0\tk=1\tk=2\tk=3\tk=4\tk=5\tk=6\t"
			      "k=7\tk=8\tk=9\tk=10\tk=11\tk=12\tk=13\tk=14\tk=15\tk=16\t"
			      "k=17\t->\tk=18\tk=19\n"),
	   "a built record is written");
	record.arrow = record.count;
	tr_buffer_reset(out);
	ok(tr_record_write(&record, out, NULL) == TR_OK && out->len > 4 &&
		   memcmp(out->data + out->len - 4, "\t->\n", 4) == 0,
	   "nothing may come out of a call");
	ok(tr_record_field(&record, "k") == &record.fields[19], "fields of a built one are found");
	tr_arena_reset(arena);
}

static void changed_record(struct tr_arena *arena, struct tr_buffer *out)
{
	struct tr_record record = { .arena = arena };
	struct tr_value yes = { .type = TR_TRUE };
	struct tr_text line = TR_TEXT("x\t0\t-\t1\tf\ta=[1, 2]\t->\tb=0xF\n");
	bool read =
		tr_record_from_line(&record, line, NULL) && tr_record_split(&record, NULL) == TR_OK;
	record.line.data = NULL;
	record.task = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = 12 };
	read = read && tr_record_add(&record, TR_TEXT("c"), &yes);
	tr_buffer_reset(out);
	ok(read && tr_record_write(&record, out, NULL) == TR_OK &&
		   tr_text_is(tr_buffer_text(out), "x\t0\t-\t12\tf\ta=[1,2]\t->\tb=0xf\tc=true\n"),
	   "a record from text is changed");
	tr_arena_reset(arena);
}

struct walked {
	unsigned fields, arrows, troubles, stop_at;
};

static bool visit(void *context, struct tr_field *field, const struct tr_error *trouble)
{
	struct walked *walked = context;
	walked->arrows += !field;
	walked->troubles += trouble != NULL;
	return ++walked->fields != walked->stop_at;
}

static void walks(struct tr_arena *arena)
{
	struct tr_record record = { .arena = arena };
	struct tr_text line = TR_TEXT("call\t1\t-\t0\tf\ta=1\tbroken\t->\tb=2\t->\tc=3\n");
	for (int split = 0; split < 2; split++) {
		struct walked all = { 0 }, some = { .stop_at = 3 };
		ok(tr_record_from_line(&record, line, NULL) &&
			   (!split || tr_record_split(&record, NULL) == TR_WARN) &&
			   tr_record_walk(&record, visit, &all) && all.fields == 6 &&
			   all.arrows == 1 && all.troubles == (split ? 0 : 2),
		   "a walk over a record that is %ssplit", split ? "" : "not ");
		ok(!tr_record_walk(&record, visit, &some) && some.fields == 3,
		   "and one that stops");
	}
	tr_arena_reset(arena);
}

/* Nothing is kept of the fields of a line that has many. */
static void wide_line(struct tr_buffer *line, struct tr_buffer *out)
{
	enum { MANY = 100000 };
	struct tr_buffer wanted = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record = { .arena = &arena };
	tr_buffer_reset(line);
	tr_buffer_reset(out);
	tr_buffer_put_literal(line, "exec\t0\t-\t-\tx");
	tr_buffer_put_literal(&wanted, "exec\t0\t-\t-\tx");
	for (int i = 0; i < MANY; i++) {
		tr_buffer_put_literal(line, "\ta=[1, 0x0A]");
		tr_buffer_put_literal(&wanted, "\ta=[1,0xa]");
	}
	tr_buffer_put_literal(line, "\t->\n");
	tr_buffer_put_literal(&wanted, "\t->\n");
	ok(tr_record_from_line(&record, tr_buffer_text(line), NULL) &&
		   tr_record_write(&record, out, NULL) == TR_OK &&
		   tr_text_equal(tr_buffer_text(out), tr_buffer_text(&wanted)),
	   "a line of %d fields", MANY);
	ok(!record.split && !arena.blocks && record.arena == &arena, "takes no memory for them");
	tr_arena_free(&arena);
	tr_buffer_free(&wanted);
}

static void cells(struct tr_arena *arena, struct tr_buffer *out)
{
	static const struct {
		struct tr_text bytes;
		bool key;
		const char *spelling;
	} table[] = {
		{ { "", 0 }, false, "\\e" },
		{ { "-", 1 }, false, "\\-" },
		{ { "--", 2 }, false, "--" },
		{ { "a=b", 3 }, false, "a=b" },
		{ { "a=b", 3 }, true, "a\\x3db" },
		{ { ".raw", 4 }, true, "\\x2eraw" },
		{ { ".raw", 4 }, false, ".raw" },
		{ { "#1.#", 4 }, true, "\\x231.#" },
		{ { "\0\t\n\r\\\x7f", 6 }, false, "\\x00\\t\\n\\r\\\\\\x7f" },
		{ { "\xc3\xa9\xc3(\xed\xa0\x80", 7 }, false, "é\\xc3(\\xed\\xa0\\x80" },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		tr_buffer_reset(out);
		tr_cell_escape(table[i].bytes, table[i].key, out);
		struct tr_text spelling = tr_buffer_text(out), bytes;
		ok(tr_text_is(spelling, table[i].spelling), "a cell is spelled %s",
		   table[i].spelling);
		ok(tr_cell_bytes(spelling, arena, &bytes, NULL) &&
			   tr_text_equal(bytes, table[i].bytes),
		   "%s means those bytes", table[i].spelling);
	}
	tr_arena_reset(arena);
}

int main(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_buffer line = TR_BUFFER_INIT, out = TR_BUFFER_INIT;
	good_lines(&arena, &line, &out);
	bad_lines(&arena, &line, &out);
	tr_buffer_reset(&out);
	lazy_fields(&arena, &out);
	built_record(&arena, &out);
	changed_record(&arena, &out);
	walks(&arena);
	wide_line(&line, &out);
	cells(&arena, &out);
	tr_buffer_free(&line);
	tr_buffer_free(&out);
	tr_arena_free(&arena);
	return done_testing();
}
