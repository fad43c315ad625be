/* SPDX-License-Identifier: MIT */
/*
 * Enters and leaves put together: as lines, as built records, and mixed; and
 * with every single allocation failing (linked with --wrap).
 */
#include "record/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"

#include "failing_alloc.h"
#include "tap.h"

enum shape { LINES, BUILT, ENTERS_BUILT, LEAVES_BUILT, SHAPES };

static const char *const shape_names[] = { "lines", "built", "enters built", "leaves built" };

static const struct {
	const char *name, *in, *out;
	bool lines_only; /* has a column that is no field: no built record has */
} rows[] = {
	{ "nothing", "", "", false },
	{ "what needs no partner",
	  "%trec\t1\ncall\t0\t-\t0\tf\ta=1\t->\n%fn\tF1\tf\n# c\nexec\t1\t-\t0\tg\n!end\t2\n",
	  "%trec\t1\ncall\t0\t-\t0\tf\ta=1\t->\n%fn\tF1\tf\n# c\nexec\t1\t-\t0\tg\n!end\t2\n",
	  false },
	{ "two threads",
	  "enter\t7\t-\t0\tf\ta=1\nenter\t8\t-\t1\tg\tb={x=2}@S1\nleave\t8\t-\t1\tg\t->\treturn=3\n"
	  "leave\t7\t-\t0\tf\t->\tc=A|B(0x3@M1)\n",
	  "call\t8\t-\t1\tg\tb={x=2}@S1\t->\treturn=3\ncall\t7\t-\t0\tf\ta=1\t->\tc=A|B(0x3@M1)\n",
	  false },
	{ "nothing in it", "enter\t7\t-\t0\tf\nleave\t7\t-\t0\tf\t->\n", "call\t7\t-\t0\tf\t->\n",
	  false },
	{ "the same number in two tasks",
	  "enter\t7\t-\t0\tf\nenter\t7\t-\t1\tg\nleave\t7\t-\t0\tf\t->\tr=1\nleave\t7\t-\t1\tg\t->"
	  "\tr=2\n",
	  "call\t7\t-\t0\tf\t->\tr=1\ncall\t7\t-\t1\tg\t->\tr=2\n", false },
	{ "never returned, in the order of enters",
	  "enter\t1\t-\t0\ta\nenter\t2\t-\t1\tb\nenter\t3\t-\t2\tc\tk=[\"x\",L\"y\"]\nleave\t2\t-"
	  "\t1\tb\t->\n!end\t3\n",
	  "call\t2\t-\t1\tb\t->\nenter\t1\t-\t0\ta\nenter\t3\t-\t2\tc\tk=[\"x\",L\"y\"]\n!end\t3\n",
	  false },
	{ "enters after the first and the last returned",
	  "enter\t1\t-\t0\ta\nenter\t2\t-\t1\tb\nenter\t3\t-\t2\tc\nleave\t3\t-\t2\tc\t->\n"
	  "enter\t4\t-\t2\td\nleave\t1\t-\t0\ta\t->\nenter\t5\t-\t0\te\n",
	  "call\t3\t-\t2\tc\t->\ncall\t1\t-\t0\ta\t->\nenter\t2\t-\t1\tb\nenter\t4\t-\t2\td\n"
	  "enter\t5\t-\t0\te\n",
	  false },
	{ "a header ends the segment before it",
	  "enter\t1\t-\t0\ta\n%trec\t1\nleave\t1\t-\t0\ta\t->\n",
	  "enter\t1\t-\t0\ta\n%trec\t1\nleave\t1\t-\t0\ta\t->\n", false },
	{ "and so does the input", "enter\t1\t-\t0\ta\nenter\t2\t-\t0\tb\n",
	  "enter\t1\t-\t0\ta\nenter\t2\t-\t0\tb\n", false },
	{ "a leave without an enter", "leave\t1\t-\t0\t-\t->\treturn=1\nleave\t2\t-\t0\tf\t->\n",
	  "leave\t1\t-\t0\t-\t->\treturn=1\nleave\t2\t-\t0\tf\t->\n", false },
	{ "two enters that look the same",
	  "enter\t1\t-\t0\ta\tk=1\nenter\t1\t-\t0\ta\tk=2\nleave\t1\t-\t0\ta\t->\nleave\t1\t-"
	  "\t0\ta\t->\n",
	  "enter\t1\t-\t0\ta\tk=1\ncall\t1\t-\t0\ta\tk=2\t->\nleave\t1\t-\t0\ta\t->\n", false },
	{ "arrows in odd places",
	  "enter\t1\t-\t0\ta\tk=1\t->\tl=2\nleave\t1\t-\t0\ta\tm=3\t->\tn=4\n"
	  "enter\t2\t-\t0\ta\nleave\t2\t-\t0\ta\tm=3\n",
	  "call\t1\t-\t0\ta\tk=1\tl=2\t->\tm=3\tn=4\ncall\t2\t-\t0\ta\t->\tm=3\n", false },
	{ "columns that are no fields", "enter\t1\t-\t0\ta\tk\nleave\t1\t-\t0\ta\t->\t->x\t\n",
	  "call\t1\t-\t0\ta\tk\t->\t->x\t\n", true },
	{ "every type of value",
	  "enter\t1\t-\t0\ta\tk=[null,true,-1,+2,0x3,1.5,0.1f,\"s\"...,L\"w\",b64:AAE=,blob:3,{},{="
	  "},"
	  "{\"m\":[1]},A(1@E2),none,<\"h\";1>]\nleave\t1\t-\t0\ta\t->\n",
	  "call\t1\t-\t0\ta\tk=[null,true,-1,+2,0x3,1.5,0.1f,\"s\"...,L\"w\",b64:AAE=,blob:3,{},{=}"
	  ","
	  "{\"m\":[1]},A(1@E2),none,<\"h\";1>]\t->\n",
	  false },
};

static bool wants_built(const struct tr_record *record, enum shape shape)
{
	if (record->type != TR_RECORD || shape == LINES)
		return false;
	return shape == BUILT || tr_join_is_kind(record, shape == ENTERS_BUILT ? "enter" : "leave");
}

/* Takes the line away: what is left is as a binary reader would build it. */
static void build(struct tr_record *record)
{
	tr_record_split(record, NULL);
	for (size_t i = 0; i < record->count; i++) {
		struct tr_field *field = &record->fields[i];
		tr_field_value(record, field, NULL);
		field->text = (struct tr_text){ NULL, 0 };
	}
	record->line = record->rest = (struct tr_text){ NULL, 0 };
}

/* All that comes out for what was put. False: memory ran out. */
static bool drain(struct tr_join *join, struct tr_buffer *out)
{
	struct tr_record *record;
	struct tr_error err;
	enum tr_status status;
	while ((status = tr_join_next(join, &record, &err)) == TR_OK) {
		if (record->line.data)
			tr_buffer_put_text(out, record->line);
		else if (tr_record_write(record, out, &err) != TR_OK)
			return false;
	}
	return status == TR_END;
}

/* Every line in an arena and a copy of its own, which are overwritten before the next comes. */
static bool run(const char *in, enum shape shape, struct tr_buffer *out)
{
	struct tr_join *join = tr_join_new();
	bool fine = join != NULL;
	for (const char *p = in, *end; fine && *p; p = end) {
		char copy[512] = "";
		struct tr_arena arena = TR_ARENA_INIT;
		struct tr_record record;
		int meanwhile = countdown;
		end = strchr(p, '\n') + 1;
		memcpy(copy, p, (size_t)(end - p));
		countdown = 0;
		tr_record_init(&record, &arena);
		tr_record_from_line(&record, (struct tr_text){ copy, (size_t)(end - p) }, NULL);
		if (wants_built(&record, shape))
			build(&record);
		countdown = meanwhile;
		tr_join_put(join, &record);
		fine = drain(join, out);
		memset(copy, 'x', sizeof copy);
		tr_arena_free(&arena);
	}
	if (fine) {
		tr_join_put(join, NULL);
		fine = drain(join, out);
	}
	tr_join_free(join);
	return fine;
}

static void all_rows(enum shape shape)
{
	struct tr_buffer out = TR_BUFFER_INIT;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].lines_only && shape != LINES)
			continue;
		tr_buffer_reset(&out);
		bool fine = run(rows[i].in, shape, &out);
		if (!ok(fine && tr_text_is(tr_buffer_text(&out), rows[i].out), "%s: %s",
			shape_names[shape], rows[i].name))
			diag("%.*s", (int)out.len, out.data);
	}
	tr_buffer_free(&out);
}

/* A failed allocation is reported, and nothing leaks (which the sanitizers check). */
static void memory_runs_out(enum shape shape)
{
	struct tr_buffer out = TR_BUFFER_INIT;
	bool good = true;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].lines_only && shape != LINES)
			continue;
		failed = true;
		for (int at = 1; failed && good; at++) {
			failed = false;
			tr_buffer_free(&out);
			countdown = at;
			bool fine = run(rows[i].in, shape, &out);
			countdown = 0;
			good = fine == !failed || out.failed;
		}
	}
	ok(good, "%s: memory runs out", shape_names[shape]);
	tr_buffer_free(&out);
}

/* What never returns does not fill the memory: the oldest come out, in order, none is lost. */
static void lost_calls(void)
{
	enum { LOST = 100000, MOST = 70000 };
	struct tr_join *join = tr_join_new();
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record, *ready;
	struct tr_error err;
	enum tr_status status;
	size_t out = 0, reported = 0, kept = 0;
	bool in_order = true;
	for (size_t i = 0; i <= LOST; i++) {
		char line[256] = "!end\t0\n";
		if (i < LOST)
			snprintf(line, sizeof line, "enter\t%zu\t-\t0\tf\n", i);
		tr_record_init(&record, &arena);
		tr_record_from_line(&record, tr_text_from(line), NULL);
		tr_join_put(join, &record);
		while ((status = tr_join_next(join, &ready, &err)) != TR_END) {
			reported += status == TR_WARN && err.severity == TR_FLAW;
			if (status != TR_OK || ready == &record)
				continue;
			uint64_t number = 0;
			in_order =
				in_order && tr_cell_number(&ready->seq, &number) && number == out;
			out++;
		}
		if (i < LOST && i + 1 - out > kept)
			kept = i + 1 - out;
	}
	ok(out == LOST && in_order, "calls that never return all come out, in order: %zu", out);
	ok(reported == 1 && kept < MOST, "not all at the end: %zu are kept, reported %zu times",
	   kept, reported);
	tr_join_free(join);
	tr_arena_free(&arena);
}

int main(void)
{
	for (enum shape shape = LINES; shape < SHAPES; shape++) {
		all_rows(shape);
		memory_runs_out(shape);
	}
	lost_calls();
	return done_testing();
}
