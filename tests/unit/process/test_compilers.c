/* SPDX-License-Identifier: MIT */
/*
 * The table of compilers: the arrays that compilers.awk makes are those that compilers_read.c reads
 * of the same text, and the cases of tests/data/process/compilers.cases, which describe tables of
 * users.
 */
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/file.h"
#include "process/compilers.h"
#include "tap.h"

static const struct tr_compilers nothing = { .texts = "" };

/* Two tables, and whether they are equal so far. */
struct pair {
	const struct tr_compilers *a, *b;
	bool equal;
};

static bool same_text(const struct pair *pair, struct tr_piece a, struct tr_piece b)
{
	return tr_text_equal(tr_compilers_text(pair->a, a), tr_compilers_text(pair->b, b));
}

static bool same_section(const struct pair *pair, const struct tr_section *a,
			 const struct tr_section *b)
{
	return same_text(pair, a->family, b->family) && same_text(pair, a->prefix, b->prefix) &&
	       same_text(pair, a->product, b->product) && same_text(pair, a->object, b->object) &&
	       same_text(pair, a->assembly, b->assembly) &&
	       same_text(pair, a->compile_only, b->compile_only) &&
	       memcmp(&a->options, &b->options, sizeof a->options) == 0 &&
	       memcmp(&a->sources, &b->sources, sizeof a->sources) == 0 &&
	       memcmp(&a->respfiles, &b->respfiles, sizeof a->respfiles) == 0 &&
	       memcmp(&a->variables, &b->variables, sizeof a->variables) == 0 &&
	       a->like == b->like && a->linker == b->linker && a->kind == b->kind &&
	       a->notation == b->notation && a->any_case == b->any_case &&
	       a->compiles == b->compiles && a->beside == b->beside && a->foreign == b->foreign &&
	       a->comments == b->comments && a->windows == b->windows;
}

static bool same_numbered(const struct pair *pair, const struct tr_numbered *a,
			  const struct tr_numbered *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!same_text(pair, a[i].text, b[i].text) || a[i].number != b[i].number)
			return false;
	return true;
}

static bool same_option(const struct pair *pair, const struct tr_option_name *a,
			const struct tr_option_name *b)
{
	return same_text(pair, (struct tr_piece){ a->at, a->len },
			 (struct tr_piece){ b->at, b->len }) &&
	       a->role == b->role && a->place == b->place && a->mode == b->mode;
}

static void compare(const struct tr_compilers *a, const struct tr_compilers *b)
{
	struct pair pair = { a, b, true };

	if (!ok(a->section_count == b->section_count && a->name_count == b->name_count &&
			a->option_count == b->option_count && a->call_count == b->call_count &&
			a->respfile_count == b->respfile_count &&
			a->variable_count == b->variable_count &&
			a->source_count == b->source_count,
		"both have the same number of sections, names, options, ..."))
		return;
	for (uint32_t i = 0; i < a->section_count; i++)
		if (!same_section(&pair, &a->sections[i], &b->sections[i]))
			pair.equal = ok(false, "section %u is the same", i);
	for (uint32_t i = 0; i < a->name_count; i++) {
		const struct tr_program_name *x = &a->names[i], *y = &b->names[i];
		if (!same_text(&pair, x->text, y->text) || x->folders != y->folders ||
		    x->section != y->section || x->exe != y->exe)
			pair.equal = ok(false, "name %u is the same", i);
	}
	for (uint32_t i = 0; i < a->option_count; i++)
		if (!same_option(&pair, &a->options[i], &b->options[i]))
			pair.equal = ok(false, "option %u is the same", i);
	for (uint32_t i = 0; i < a->source_count; i++)
		pair.equal &= same_text(&pair, a->sources[i], b->sources[i]);
	ok(pair.equal && same_numbered(&pair, a->respfiles, b->respfiles, a->respfile_count) &&
		   same_numbered(&pair, a->variables, b->variables, a->variable_count) &&
		   same_numbered(&pair, a->calls, b->calls, a->call_count) &&
		   memcmp(a->by_length, b->by_length, sizeof a->by_length) == 0,
	   "compilers.awk and compilers_read.c read the same");
}

static void test_table(void)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	const char *top = getenv("top_srcdir");
	char path[4096];
	struct tr_error err;

	snprintf(path, sizeof path, "%s/lib/process/compilers.txt", top ? top : ".");
	if (!ok(tr_file_read(tr_text_from(path), 1 << 20, &text, &err), "the table is there"))
		return;
	struct tr_compilers *read = tr_compilers_extend(&nothing, true, &err);
	bool fine = read &&
		    tr_compilers_add(read, tr_buffer_text(&text), TR_TEXT("compilers.txt"), &err);
	if (ok(fine, "the table can be read"))
		compare(&tr_compilers_known, read);
	else
		diag("%s", err.text);
	ok(tr_text_is(tr_compilers_text(&tr_compilers_known, tr_compilers_known.sections->family),
		      "gcc"),
	   "the options of unknown programs are those of GCC");
	tr_compilers_free(read);
	tr_buffer_free(&text);
}

struct runner {
	struct tr_compilers *table;
	struct tr_buffer text, got, name;
	bool only;
};

static void put(struct runner *r, const char *text)
{
	tr_buffer_put_text(&r->got, tr_text_from(text));
}

/* Takes the first word off. */
static struct tr_text take(struct tr_text *rest)
{
	const char *blank = memchr(rest->data, ' ', rest->len), *end = rest->data + rest->len;
	struct tr_text word = tr_text_span(rest->data, blank ? blank : end);

	*rest = tr_text_span(blank ? blank + 1 : end, end);
	return word;
}

static void find(struct runner *r, struct tr_text rest)
{
	enum { MOST = 8 };
	struct tr_text path = take(&rest), words[MOST];
	size_t count = 0;

	while (rest.len && count < MOST)
		words[count++] = take(&rest);
	struct tr_program program = tr_program_find(r->table, path, words, count);
	if (!program.section) {
		put(r, program.calls ? "its arguments decide" : "unknown");
		return;
	}
	tr_buffer_put_text(&r->got, tr_compilers_text(program.table, program.section->family));
	put(r, " ");
	put(r, tr_section_kind(program.section));
	if (program.words > 1) {
		put(r, " words=");
		tr_buffer_put_decimal(&r->got, program.words);
	}
}

static void execute(struct runner *r, struct tr_text rest)
{
	struct tr_text operation = take(&rest);
	struct tr_error err = { 0 };

	tr_buffer_reset(&r->got);
	if (!r->table)
		r->table = tr_compilers_extend(&tr_compilers_known, !r->only, &err);
	if (!r->table)
		return;
	if (tr_text_is(operation, "find"))
		find(r, rest);
	else if (tr_text_is(operation, "name"))
		put(r, tr_compilers_add_name(r->table, rest, &err) ? "fine" : err.text);
	else if (tr_text_is(operation, "check"))
		put(r, tr_compilers_check(r->table, &err) ? "fine" : err.text);
	else if (tr_text_is(operation, "add"))
		put(r,
		    tr_compilers_add(r->table, tr_buffer_text(&r->text), TR_TEXT("own.txt"), &err)
			    ? "fine"
			    : err.text);
}

static void take_line(struct runner *r, struct tr_text line)
{
	struct tr_text rest = line, mark = take(&rest);

	if (tr_text_is(mark, "@")) {
		tr_compilers_free(r->table);
		r->table = NULL;
		r->only = tr_text_starts(rest, TR_TEXT("only "));
		tr_buffer_reset(&r->text);
		tr_buffer_reset(&r->name);
		tr_buffer_put_text(&r->name, rest);
	} else if (tr_text_is(mark, "+")) {
		tr_buffer_put_text(&r->text, rest);
		tr_buffer_put_byte(&r->text, '\n');
	} else if (tr_text_is(mark, "<")) {
		execute(r, rest);
	} else if (tr_text_is(mark, ">")) {
		if (!ok(tr_text_equal(tr_buffer_text(&r->got), rest), "%.*s: %.*s",
			(int)r->name.len, r->name.data, (int)rest.len, rest.data))
			diag("it is %.*s", (int)r->got.len, r->got.data);
	}
}

static void run_file(void)
{
	struct runner r = { .table = NULL };
	const char *top = getenv("top_srcdir");
	char path[4096], *line = NULL;
	size_t cap = 0;
	ssize_t len;

	snprintf(path, sizeof path, "%s/tests/data/process/compilers.cases", top ? top : ".");
	FILE *file = fopen(path, "rb");
	if (ok(file != NULL, "the cases are there")) {
		while ((len = getline(&line, &cap, file)) > 0)
			take_line(&r, (struct tr_text){ line, (size_t)len - 1 });
		fclose(file);
	}
	tr_compilers_free(r.table);
	tr_buffer_free(&r.text);
	tr_buffer_free(&r.got);
	tr_buffer_free(&r.name);
	free(line);
}

int main(void)
{
	test_table();
	run_file();
	return done_testing();
}
