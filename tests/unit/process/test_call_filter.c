/* SPDX-License-Identifier: MIT */
/* The calls of a build that are kept: the cases of tests/data/process/call_filter.cases. */
#include "process/call_filter.h"

#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "process/command.h"
#include "tap.h"

struct filter_case {
	char name[256];
	struct tr_call_filter filter;
	struct tr_buffer got; /* "output\n" for each that was emitted and not expected yet */
	struct tr_arena arena;
	enum tr_call_verdict verdict; /* of the last record */
};

static bool emit(void *context, struct tr_text output)
{
	struct tr_buffer *got = context;

	tr_buffer_put_text(got, output);
	tr_buffer_put_byte(got, '\n');
	return !got->failed;
}

static enum tr_stage stage_of(const char *word)
{
	static const char *const words[] = { "other",  "driver",    "compiler", "assembler",
					     "linker", "collector", "tool" };

	for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	ok(false, "%s is a stage", word);
	return TR_STAGE_OTHER;
}

/* Parts of other calls are taken without their stage, which decides nothing. */
static bool parts;

static enum tr_call_verdict put(struct tr_call_filter *filter, struct tr_arena *arena,
				const char *seq, const char *parent, const char *stage,
				const char *output, const char *product, struct tr_buffer *got)
{
	char line[256];
	struct tr_record record;
	struct tr_error err;
	struct tr_text file = { NULL, 0 };
	int len;

	if (strcmp(parent, "-") == 0)
		len = snprintf(line, sizeof line, "exec\t%s\t-\t-\t-\n", seq);
	else
		len = snprintf(line, sizeof line, "exec\t%s\t-\t-\t-\tparent=%s\n", seq, parent);
	tr_arena_reset(arena);
	tr_record_init(&record, arena);
	if (!tr_record_from_line(&record, (struct tr_text){ line, (size_t)len }, &err) ||
	    tr_record_split(&record, &err) != TR_OK)
		return TR_CALL_FAILED;
	if (product)
		file = tr_text_from(product);
	if (parts) {
		enum tr_call_verdict verdict = tr_call_filter_put_part(filter, &record, emit, got);
		if (verdict != TR_CALL_KEPT)
			return verdict;
	}
	return tr_call_filter_put(filter, &record, stage_of(stage), file,
				  strcmp(output, "-") == 0 ? TR_TEXT("") : tr_text_from(output),
				  emit, got);
}

static const char *name_of(enum tr_call_verdict verdict)
{
	static const char *const names[] = { "kept", "hidden", "pending", "failed" };

	return names[verdict];
}

/* All that was emitted must have been expected. */
static void check_rest(struct filter_case *c)
{
	if (!ok(c->got.len == 0, "%s: nothing else is emitted", c->name))
		diag("got: %.*s", (int)c->got.len, c->got.data);
	tr_buffer_reset(&c->got);
}

static void end_case(struct filter_case *c)
{
	if (!c->name[0])
		return;
	check_rest(c);
	ok(tr_call_filter_end(&c->filter, emit, &c->got), "%s: ends", c->name);
	check_rest(c);
}

static void expect(struct filter_case *c, const char *output)
{
	size_t len = strlen(output);
	bool there = c->got.len > len && memcmp(c->got.data, output, len) == 0 &&
		     c->got.data[len] == '\n';

	if (!ok(there, "%s: %s is emitted", c->name, output))
		diag("got: %.*s", (int)c->got.len, c->got.len ? c->got.data : "");
	if (there) {
		c->got.len -= len + 1;
		memmove(c->got.data, c->got.data + len + 1, c->got.len);
	}
}

static void take_line(struct filter_case *c, char *line)
{
	line[strcspn(line, "\n")] = 0;
	if (line[0] == '@') {
		end_case(c);
		snprintf(c->name, sizeof c->name, "%s", line + 2);
	} else if (line[0] == '<') {
		const char *words[5] = { NULL };
		char *rest = NULL, *word = strtok_r(line + 2, " ", &rest);
		for (unsigned i = 0; i < 5 && word; i++, word = strtok_r(NULL, " ", &rest))
			words[i] = word;
		check_rest(c);
		/* a linker has a product, which may be unknown */
		const char *product = words[4] ? words[4] : strcmp(words[2], "linker") ? NULL : "";
		c->verdict = put(&c->filter, &c->arena, words[0], words[1], words[2], words[3],
				 product, &c->got);
	} else if (line[0] == '>') {
		expect(c, line + 2);
	} else if (line[0] == '=') {
		ok(strcmp(name_of(c->verdict), line + 2) == 0, "%s: %s", c->name, line + 2);
	} else if (line[0] == '.') {
		check_rest(c);
		ok(tr_call_filter_end(&c->filter, emit, &c->got), "%s: the end", c->name);
	}
}

/* Memory and time, which a table cannot show. */
static void check_many(void)
{
	struct tr_call_filter filter = TR_CALL_FILTER_INIT;
	struct tr_buffer got = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	char seq[24], parent[24] = "-";
	bool right = true;

	for (unsigned i = 0; i < 100000; i++) {
		snprintf(seq, sizeof seq, "%u", i);
		right &=
			put(&filter, &arena, seq, parent, "other", "-", NULL, &got) == TR_CALL_KEPT;
		memcpy(parent, seq, sizeof seq);
	}
	ok(right && filter.pages.count < 100000 / 60, "half a byte is kept of each process");
	for (unsigned i = 200000; i > 100001; i--) {
		snprintf(seq, sizeof seq, "%u", i + 200000);
		snprintf(parent, sizeof parent, "%u", i + 200001);
		right &= put(&filter, &arena, seq, parent, "other", "-", NULL, &got) ==
			 TR_CALL_PENDING;
	}
	ok(right && filter.pending.count > 90000, "a long chain is pending");
	ok(tr_call_filter_end(&filter, emit, &got) && !got.len, "and resolved without recursion");
	tr_buffer_free(&got);
	tr_arena_free(&arena);
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	struct filter_case c = { .filter = TR_CALL_FILTER_INIT };
	char path[4096], line[256];

	snprintf(path, sizeof path, "%s/tests/data/process/call_filter.cases", top ? top : ".");
	for (int i = 0; i < 2; i++) {
		parts = i;
		FILE *file = fopen(path, "rb");
		if (!ok(file != NULL, "the cases are there"))
			break;
		while (fgets(line, sizeof line, file))
			take_line(&c, line);
		end_case(&c);
		c.name[0] = '\0';
		fclose(file);
	}
	tr_call_filter_free(&c.filter);
	tr_buffer_free(&c.got);
	tr_arena_free(&c.arena);
	check_many();
	return done_testing();
}
