/* SPDX-License-Identifier: MIT */
/* The filter language, with the tables in tests/data/trec/expr-*.tsv and tests/data/expr. */
#include "expr/expr.h"

#include "record/vectors.h"
#include "tap.h"

enum { MAX_RECORDS = 200 };

/* The records of a stream; an enter and its leave are one. */
struct stream {
	struct vectors file;
	struct tr_arena arena;
	struct tr_record records[MAX_RECORDS];
	struct tr_record *leaves[MAX_RECORDS];
	bool paired[MAX_RECORDS]; /* a leave whose enter is there */
	size_t count;
};

static void pair_up(struct stream *s, size_t leave)
{
	for (size_t i = 0; i < leave; i++) {
		if (tr_text_is(s->records[i].kind, "enter") && !s->leaves[i] &&
		    tr_text_equal(s->records[i].seq.text, s->records[leave].seq.text)) {
			s->leaves[i] = &s->records[leave];
			s->paired[leave] = true;
			return;
		}
	}
}

static bool stream_open(struct stream *s, const char *name)
{
	memset(s, 0, sizeof *s);
	if (!vectors_open(&s->file, name))
		return false;
	for (const char *p = s->file.pos, *end = s->file.end; p < end;) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));
		struct tr_record *record = &s->records[s->count];
		tr_record_init(record, &s->arena);
		if (!tr_record_from_line(record, tr_text_span(p, line_end + 1), NULL))
			return false;
		p = line_end + 1;
		if (record->type != TR_RECORD)
			continue;
		if (tr_text_is(record->kind, "leave"))
			pair_up(s, s->count);
		s->count++;
	}
	return true;
}

static void stream_close(struct stream *s)
{
	tr_arena_free(&s->arena);
	vectors_close(&s->file);
}

static void put_seq(struct tr_buffer *to, const struct tr_record *record)
{
	if (to->len)
		tr_buffer_put_byte(to, ' ');
	tr_buffer_put_text(to, record->seq.text);
}

static struct tr_text list_text(struct tr_buffer *list)
{
	if (!list->len)
		tr_buffer_put_byte(list, '-');
	return tr_buffer_text(list);
}

/* Without the leave, an answer other than "open" must be the final one. */
static bool foretells(struct tr_expr_state *state, struct tr_record *record, enum tr_match final)
{
	enum tr_match early = tr_expr_match(state, record, NULL, true, NULL);
	return early == TR_MATCH_OPEN || early == final;
}

static void run_row(struct stream *s, struct vectors *v, bool with_reports)
{
	struct tr_text text = v->column[0];
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(text, &error);
	if (!ok(expr != NULL, "compiles: %.*s", (int)text.len, text.data)) {
		diag("%zu: %s", error.column, error.text);
		return;
	}
	struct tr_expr_state *state = tr_expr_state_new(expr);
	struct tr_buffer selected = TR_BUFFER_INIT, reported = TR_BUFFER_INIT;
	bool foretold = true;
	for (size_t i = 0; i < s->count; i++) {
		struct tr_error err;
		if (s->paired[i])
			continue;
		enum tr_match match =
			tr_expr_match(state, &s->records[i], s->leaves[i], false, &err);
		if (match == TR_MATCH_YES)
			put_seq(&selected, &s->records[i]);
		if (err.cause != TR_CAUSE_NONE)
			put_seq(&reported, &s->records[i]);
		if (s->leaves[i])
			foretold = foretold && foretells(state, &s->records[i], match);
	}
	bool same = tr_text_equal(list_text(&selected), v->column[1]) &&
		    (!with_reports || tr_text_equal(list_text(&reported), v->column[2]));
	if (!ok(same, "%.*s", (int)text.len, text.data))
		diag("selected %.*s reported %.*s", (int)selected.len, selected.data,
		     (int)reported.len, reported.data);
	ok(foretold, "an early answer does not change");
	tr_buffer_free(&selected);
	tr_buffer_free(&reported);
	tr_expr_state_free(state);
	tr_expr_free(expr);
}

/*
 * Turns lines into records as readers of binary formats build them: fields with trees, and no text.
 * Malformed lines stay lines.
 */
static void build(struct stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct tr_record *record = &s->records[i];
		bool good = tr_record_split(record, NULL) == TR_OK;
		for (size_t k = 0; k < record->count; k++) {
			struct tr_text key = record->fields[k].key;
			good = good && tr_field_value(record, &record->fields[k], NULL) &&
			       !memchr(key.data, '\\', key.len);
		}
		if (!good)
			continue;
		record->line.data = NULL;
		for (size_t k = 0; k < record->count; k++)
			record->fields[k].text.data = NULL;
	}
}

static void good_rows(const char *table, const char *records, bool with_reports, bool built)
{
	struct stream *s = malloc(sizeof *s);
	struct vectors v;
	if (!ok(s && stream_open(s, records) && vectors_open(&v, table), "%s opens", table))
		return;
	if (built)
		build(s);
	while (vectors_next(&v))
		run_row(s, &v, with_reports);
	vectors_close(&v);
	stream_close(s);
	free(s);
}

static void bad_rows(const char *table)
{
	struct vectors v;
	if (!ok(vectors_open(&v, table), "%s opens", table))
		return;
	while (vectors_next(&v)) {
		struct tr_text text = v.column[0];
		struct tr_expr_error error = { 0 };
		struct tr_expr *expr = tr_expr_compile(text, &error);
		size_t column = strtoul(v.column[1].data, NULL, 10);
		if (!ok(!expr && error.column == column, "malformed: %.*s", (int)text.len,
			text.data))
			diag("column %zu, not %zu: %s", error.column, column, error.text);
		tr_expr_free(expr);
	}
	vectors_close(&v);
}

/* Limits that no expression exceeds. */
static void limits(void)
{
	enum { DEPTH = 100000 };
	struct tr_expr_error error;
	char *deep = malloc(DEPTH * 2 + 1);
	memset(deep, '(', DEPTH);
	ok(!tr_expr_compile((struct tr_text){ deep, DEPTH }, &error) && error.column == 61,
	   "parentheses have a limit");
	memset(deep, '!', DEPTH);
	deep[DEPTH] = 'x';
	struct tr_expr *expr = tr_expr_compile((struct tr_text){ deep, DEPTH + 1 }, &error);
	ok(expr != NULL, "not has none");
	tr_expr_free(expr);
	for (size_t i = 0; i < DEPTH; i += 5)
		memcpy(deep + i, "a or ", 5);
	deep[DEPTH] = 'a';
	expr = tr_expr_compile((struct tr_text){ deep, DEPTH + 1 }, &error);
	ok(expr != NULL, "nor have chains");
	tr_expr_free(expr);
	for (size_t i = 0; i < DEPTH * 2; i += 2)
		memcpy(deep + i, ".a", 2);
	deep[0] = 'a';
	memcpy(deep + DEPTH * 2 - 6, "==1   ", 6);
	expr = tr_expr_compile((struct tr_text){ deep, DEPTH * 2 }, &error);
	ok(expr != NULL, "nor have members");
	tr_expr_free(expr);
	free(deep);
}

static void hostile_regex(void)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_record record;
	struct tr_expr_error error;
	struct tr_error err;
	struct tr_text line = TR_TEXT("exec\t0\t-\t-\t"
				      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\n");
	struct tr_expr *expr = tr_expr_compile(TR_TEXT("name =~ /^(a+)+$/"), &error);
	struct tr_expr_state *state = tr_expr_state_new(expr);
	tr_record_init(&record, &arena);
	ok(tr_record_from_line(&record, line, NULL), "a name made for it");
	ok(tr_expr_match(state, &record, NULL, false, &err) == TR_MATCH_NO &&
		   err.cause == TR_CAUSE_LIMIT,
	   "a regex that would take too long stops with an error");
	tr_expr_state_free(state);
	tr_expr_free(expr);
	tr_arena_free(&arena);
}

static void kinds(void)
{
	struct tr_expr_error error;
	struct tr_text kind;
	struct tr_expr *expr = tr_expr_compile(TR_TEXT(" exec"), &error);
	ok(tr_expr_lone_kind(expr, &kind) && tr_text_is(kind, "exec"), "a lone kind");
	tr_expr_free(expr);
	expr = tr_expr_compile(TR_TEXT("exec or not (meta and has(x)) or kind in {\"env\"}"),
			       &error);
	ok(!tr_expr_lone_kind(expr, &kind), "no lone kind");
	ok(tr_expr_names_kind(expr, TR_TEXT("meta")), "a kind is named");
	ok(tr_expr_names_kind(expr, TR_TEXT("env")), "a kind is named as a string");
	ok(!tr_expr_names_kind(expr, TR_TEXT("x")), "a field is no kind");
	tr_expr_free(expr);
}

static void told_once(void)
{
	struct stream *s = malloc(sizeof *s);
	struct tr_expr_error error;
	struct tr_expr *expr = tr_expr_compile(TR_TEXT("argv == gcc or argv == make"), &error);
	struct tr_expr_state *state = tr_expr_state_new(expr);
	unsigned reported = 0;
	struct tr_error err;
	ok(s && stream_open(s, "filter.trec"), "filter.trec opens");
	for (size_t i = 0; i < s->count; i++) {
		tr_expr_match(state, &s->records[i], NULL, false, &err);
		reported += err.cause == TR_CAUSE_USAGE;
	}
	ok(reported == 2, "a word that was compared with a string is reported once for each test");
	tr_expr_state_free(state);
	tr_expr_free(expr);
	stream_close(s);
	free(s);
}

int main(void)
{
	for (int built = 0; built < 2; built++) {
		good_rows("expr-good.tsv", "filter.trec", false, built);
		good_rows("../expr/cases.tsv", "../expr/cases.trec", true, built);
		good_rows("../expr/calls.tsv", "../expr/calls.trec", true, built);
		good_rows("../expr/environment.tsv", "../expr/environment.trec", true, built);
	}
	bad_rows("expr-bad.tsv");
	bad_rows("../expr/bad.tsv");
	limits();
	hostile_regex();
	kinds();
	told_once();
	return done_testing();
}
