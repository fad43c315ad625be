/* SPDX-License-Identifier: MIT */
/*
 * A sieve gives the answers of the judge, or leaves the line to it. It decides by itself where the
 * text of the line is enough.
 */
#include "expr/expr.h"

#include <string.h>

#include "tap.h"

static const struct tr_text always[] = { { "enter", 5 }, { "leave", 5 }, { "meta", 4 } };

static const char *const lines[] = {
	"exec\t1\t-\t7\t/usr/bin/gcc\targv=[\"gcc\",\"-c\"]\n",
	"exec\t2\t1.5\t8\t/usr/bin/cc1\targv=[\"-c\"]\n",
	"exec\t3\t-\t8\t\\-\targv=[\n",
	"exec\t4\t-\t8\t-\targv=[\"x\"]\n",
	"exec\t5\t-\t8\t/a\\tb\n",
	"exec\t6\t-\t8\t/a\\qb\targv=[\"-c\"]\n",
	"exit\t7\t2.25\t7\t-\tstatus=0\n",
	"sys\t8\t3\t9\topen\tpath=\"a\"\tflags=O_CREAT|O_TRUNC\n",
	"block\t9\t-\t-\t0x00401000\tsize=12\n",
	"block\t10\t-\t-\t0x00401010\tsize=\n",
	"call\t11\t-\t0\tglDrawArrays\tmode=GL_TRIANGLES(4@E12)\n",
	"enter\t12\t-\t0\tglFinish\n",
	"leave\t12\t-\t0\tglFinish\t->\n",
	"meta\t0\t-\t-\tversion\tvalue=101\n",
	"a-kind\t13\t-\t7\t/usr/bin/gcc\n",
	"longerkind\t14\t-\t7\t/usr/bin/gcc\n",
	"exec\t15\t-\t8\tx\targv=[\"-c\",]\n",
	"exec\t16\t-\t8\tx\targv=[\"-c\"]\targv=[\"x\"]\n",
	"exec\t17\t-\t8\tx\targv=[\"x\"]\tar\\gv=[\"-c\"]\n",
	"exec\t18\t-\t8\tx\targv=[\"x\\\"\",\"-c\"]\n",
	"exec\t19\t-\t8\tx\tcwd=\"/\"\tcolumn\n",
	"exec\t20\t-\t8\tx\targv=[]\tenv={\"A\":\"b\"}\n",
};
enum { LINES = sizeof lines / sizeof *lines };

static const struct {
	const char *expr;
	bool useful; /* there is a sieve at all */
} rows[] = {
	{ "exec", true },
	{ "not exec", true },
	{ "exec and name == \"/usr/bin/gcc\"", true },
	{ "name == \"/usr/bin/gcc\" and exec", true },
	{ "name != \"/usr/bin/gcc\"", true },
	{ "name == \"-\"", true },
	{ "not name == \"-\"", true },
	{ "name in {\"open\", \"/usr/bin/gcc\", 0x401000}", true },
	{ "exec and basename(name) == \"cc1\"", true },
	{ "exec and len(name) > 5", true },
	{ "name ^= \"/usr\" and name $= \"c\" and name *= \"bin\"", true },
	{ "name =~ /gcc$/", false },
	{ "exec and name =~ /gcc$/", true },
	{ "exec and argv == \"-c\"", true },
	{ "argv == \"-c\" and exec", true },
	{ "argv == \"-c\" or exec", true },
	{ "exec and not argv == \"-c\"", true },
	{ "argv != \"-c\"", true },
	{ "argv in {\"-c\", \"x\"} and exec", false },
	{ "basename(argv) == \"gcc\" and exec", false },
	{ "->path == \"a\" and sys", false },
	{ "path == \"a\" and sys", true },
	{ "argv == \"\\\"\" or path == \"a\"", true },
	{ "has(argv) and exec", false },
	{ "env[\"A\"] == \"b\"", false },
	{ "exec or argv == \"-c\"", true },
	{ "(exec and argv == \"-c\") or name == \"open\"", true },
	{ "not (exec and argv == \"-c\")", true },
	{ "block and name in {0x400000..0x4fffff}", true },
	{ "seq < 5 or seq == 11", true },
	{ "time >= 1.5 and time < 3", true },
	{ "has(time)", true },
	{ "task == 7 and (exec or exit)", true },
	{ "kind == \"exec\" or kind == \"a-kind\"", true },
	{ "kind ^= \"e\" and not kind == \"exit\"", true },
	{ "kind *= \"x\" and name *= \"cc\"", true },
	{ "call and mode == GL_TRIANGLES", true },
	{ "meta and name == \"version\"", true },
	{ "sys and flags has O_CREAT", true },
	{ "exec and name == \"/usr/bin/gcc\" and argv == \"-c\" and task == 7", true },
};

/* True if the sieve's answer, if any, is that of the judge, which needs no message for it. */
static bool agrees(struct tr_sieve *sieve, struct tr_expr_state *state, const char *line)
{
	char text[200];
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record;
	struct tr_columns columns;
	struct tr_error err;
	size_t len = strlen(line);

	memset(text, 0, sizeof text); /* columns are also searched after the end of the line */
	memcpy(text, line, len);
	if (!tr_columns_find(text, text + len - 1, &columns) || columns.escapes)
		return true;
	enum tr_sift said = sieve->sift(sieve, &columns, text + len - 1);
	tr_record_init(&record, &arena);
	bool good = tr_record_from_line(&record, (struct tr_text){ text, len }, NULL);
	enum tr_match match = tr_expr_match(state, &record, NULL, false, &err);
	tr_arena_free(&arena);
	for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
		if (tr_text_equal(record.kind, always[i]))
			return good && said == TR_SIFT_OPEN;
	}
	if (said == TR_SIFT_OPEN)
		return good;
	return good && err.cause == TR_CAUSE_NONE &&
	       match == (said == TR_SIFT_IN ? TR_MATCH_YES : TR_MATCH_NO);
}

static void test_row(size_t row)
{
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(tr_text_from(rows[row].expr), &error);
	if (!ok(expr != NULL, "%s", rows[row].expr))
		return;
	struct tr_expr_state *state = tr_expr_state_new(expr);
	struct tr_sieve *sieve = tr_expr_sieve_new(&state, 1, always, 3);
	bool same = true;

	/* twice: the second time uses what the sieve learned about kinds */
	for (size_t i = 0; sieve && i < 2 * LINES; i++) {
		bool fine = agrees(sieve, state, lines[i % LINES]);
		if (!fine)
			diag("of %s", lines[i % LINES]);
		same = same && fine;
	}
	ok(same, "the sieve and the expression give the same answer");
	ok((sieve != NULL) == rows[row].useful, "%s sieve", rows[row].useful ? "has a" : "has no");
	tr_expr_sieve_free(sieve);
	tr_expr_state_free(state);
	tr_expr_free(expr);
}

/* Returns the answer of the sieve for one line. */
static enum tr_sift ask(struct tr_sieve *sieve, const char *line)
{
	char text[200] = "";
	struct tr_columns columns;

	strcpy(text, line);
	return tr_columns_find(text, text + strlen(line) - 1, &columns)
		       ? sieve->sift(sieve, &columns, text + strlen(line) - 1)
		       : TR_SIFT_OPEN;
}

/* Fields are compared in the text of the line as far as that is possible. */
static void test_strings(void)
{
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(TR_TEXT("argv == \"-c\""), &error);
	struct tr_expr_state *state = tr_expr_state_new(expr);
	struct tr_sieve *sieve = tr_expr_sieve_new(&state, 1, always, 3);

	ok(ask(sieve, lines[4]) == TR_SIFT_OPEN, "no record had the field so far");
	/* only with SSE2 are lists searched without match.c (locate.c) */
#if defined __SSE2__ && !defined TR_PORTABLE
	bool lists = true;
#else
	bool lists = false;
#endif
	ok(ask(sieve, lines[0]) == (lists ? TR_SIFT_IN : TR_SIFT_OPEN),
	   "a list that has the string");
	ok(ask(sieve, lines[3]) == (lists ? TR_SIFT_OUT : TR_SIFT_OPEN), "a list that does not");
	ok(ask(sieve, lines[4]) == TR_SIFT_OUT, "the field is absent");
	ok(ask(sieve, lines[2]) == TR_SIFT_OPEN, "the value is malformed");
	tr_expr_sieve_free(sieve);
	tr_expr_state_free(state);
	tr_expr_free(expr);
}

static void test_several(void)
{
	struct tr_expr_error error;
	struct tr_expr *exprs[] = {
		tr_expr_compile(TR_TEXT("exec and task == 7"), &error),
		tr_expr_compile(TR_TEXT("name $= \"gcc\""), &error),
	};
	struct tr_expr_state *states[] = { tr_expr_state_new(exprs[0]),
					   tr_expr_state_new(exprs[1]) };
	struct tr_sieve *sieve = tr_expr_sieve_new(states, 2, always, 3);

	ok(ask(sieve, lines[0]) == TR_SIFT_IN, "all expressions hold");
	ok(ask(sieve, lines[1]) == TR_SIFT_OUT, "one of them does not");
	ok(ask(sieve, lines[6]) == TR_SIFT_OUT, "nor for another kind");
	ok(ask(sieve, lines[13]) == TR_SIFT_OPEN, "a kind that always comes through");
	tr_expr_sieve_free(sieve);
	ok(!tr_expr_sieve_new(states, 0, always, 3), "nothing to sift by");
	tr_expr_state_free(states[0]);
	tr_expr_state_free(states[1]);
	tr_expr_free(exprs[0]);
	tr_expr_free(exprs[1]);
}

static void test_many_kinds(void)
{
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(TR_TEXT("kind $= \"a\" and seq == 1"), &error);
	struct tr_expr_state *state = tr_expr_state_new(expr);
	struct tr_sieve *sieve = tr_expr_sieve_new(&state, 1, always, 3);
	bool same = true;

	for (int i = 0; i < 26 * 26; i++) {
		char line[] = "kaa\t1\t-\t-\t-\n";
		line[1] = (char)('a' + i / 26);
		line[2] = (char)('a' + i * 7 % 26);
		same = same && ask(sieve, line) == (line[2] == 'a' ? TR_SIFT_IN : TR_SIFT_OUT);
	}
	ok(same, "more kinds than there are places to keep them");
	tr_expr_sieve_free(sieve);
	tr_expr_state_free(state);
	tr_expr_free(expr);
}

int main(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		test_row(i);
	test_strings();
	test_several();
	test_many_kinds();
	return done_testing();
}
