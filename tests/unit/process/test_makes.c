/* SPDX-License-Identifier: MIT */
/*
 * A command that is derived from one that came before makes the same file as one that is parsed:
 * the calls of tests/data/process, of which each word in turn is replaced by, or joined with, words
 * that change the meaning of others.
 */
#include <stdlib.h>
#include <string.h>

#include "process/call.h"
#include "process/makes.h"
#include "tap.h"

enum { WORDS_MAX = 200 };

static const char *const others[] = { "",
				      "-",
				      "--",
				      "-o",
				      "-oz.o",
				      "-c",
				      "-E",
				      "-x",
				      "none",
				      "c",
				      "b.c",
				      "b.cpp",
				      "b.o",
				      "b",
				      "@b.rsp",
				      "/b",
				      "/b.c",
				      "/Fob",
				      "-Db=1",
				      "-Ib",
				      "-I",
				      "-cc1",
				      "-cc1as",
				      "-cc1x.c",
				      "-shared",
				      "-lb",
				      "-Wl,-b",
				      "-MFb",
				      "gcc",
				      "libtool",
				      "rcs",
				      "rb",
				      "-r",
				      "b.a",
				      "-S",
				      "-z",
				      "-outb",
				      "/link",
				      "a=b",
				      "b.C",
				      "-std=",
				      "-fsyntax-only",
				      "--output=b",
				      "-o=b",
				      "--version",
				      "\xc3\xbc.c",
				      "b\\\"c",
				      "b(c)",
				      "OJ(b.obj)",
				      "cc",
				      "ar",
				      "--via",
				      "--via=b",
				      "-f",
				      "src",
				      "8",
				      "-G",
				      "--driver-mode=cl",
				      "--driver-mode=g++",
				      NULL };

struct tester {
	struct tr_makes *makes;
	struct tr_arena arena;
	struct tr_buffer line;
	const char *fields; /* after argv */
	size_t checked, wrong, nothing;
};

/* Compares the results for a command with words[at] replaced; at too large: as it is. */
static void check(struct tester *t, struct tr_text program, const struct tr_text *words,
		  size_t count, size_t at, struct tr_text other)
{
	struct tr_record record;
	struct tr_text parsed, found;
	struct tr_error err;

	tr_arena_reset(&t->arena);
	tr_buffer_reset(&t->line);
	tr_buffer_put_literal(&t->line, "exec\t0\t-\t1\t");
	tr_buffer_put_text(&t->line, program);
	tr_buffer_put_literal(&t->line, "\targv=[");
	for (size_t i = 0; i < count; i++) {
		struct tr_text word = i == at ? other : words[i];
		tr_buffer_put_text(&t->line, i ? TR_TEXT(",\"") : TR_TEXT("\""));
		for (size_t k = 0; k < word.len; k++) {
			if (word.data[k] == '"' || word.data[k] == '\\')
				tr_buffer_put_byte(&t->line, '\\');
			tr_buffer_put_byte(&t->line, word.data[k]);
		}
		tr_buffer_put_byte(&t->line, '"');
	}
	tr_buffer_put_text(&t->line, tr_text_from(t->fields));
	tr_buffer_put_byte(&t->line, '\n');
	struct tr_text line = tr_arena_copy(&t->arena, tr_buffer_text(&t->line));
	tr_record_init(&record, &t->arena);
	bool fine = tr_record_from_line(&record, line, &err);
	bool nothing = fine && tr_makes_nothing(t->makes, &record);
	fine = fine && tr_makes_find(t->makes, &record, &found);
	tr_record_init(&record, &t->arena);
	fine = fine && tr_record_from_line(&record, line, &err) &&
	       tr_call_makes(&record, NULL, &parsed);
	t->checked++;
	t->nothing += nothing;
	if (fine && !(nothing && parsed.data) && !found.data == !parsed.data &&
	    tr_text_equal(found, parsed))
		return;
	if (t->wrong++ < 10)
		diag("%.*s: '%.*s', not '%.*s'", (int)line.len - 1, line.data, (int)found.len,
		     found.data ? found.data : "", (int)parsed.len, parsed.data ? parsed.data : "");
}

/* program: as the record names it; NULL: by the first word. */
static void check_call(struct tester *t, const char *program, char *text)
{
	struct tr_text words[WORDS_MAX];
	size_t count = 0;
	char joined[600];

	for (char *word = strtok(text, " \n"); word && count < WORDS_MAX;
	     word = strtok(NULL, " \n"))
		words[count++] = tr_text_from(word);
	if (!count)
		return;
	struct tr_text name = program ? tr_text_from(program) : *words;
	for (size_t at = program ? 0 : 1; at <= count; at++) {
		check(t, name, words, count, count, TR_TEXT(""));
		for (size_t i = 0; others[i]; i++) {
			struct tr_text other = tr_text_from(others[i]);
			check(t, name, words, count, at, other);
			if (at == count || words[at].len + other.len >= sizeof joined)
				continue;
			int len = snprintf(joined, sizeof joined, "%.*s%s", (int)words[at].len,
					   words[at].data, others[i]);
			check(t, name, words, count, at, (struct tr_text){ joined, (size_t)len });
			len = snprintf(joined, sizeof joined, "%s%.*s", others[i],
				       (int)words[at].len, words[at].data);
			check(t, name, words, count, at, (struct tr_text){ joined, (size_t)len });
		}
	}
}

int main(void)
{
	static const char *const files[] = { "call.cases", "logs.cases", "families.cases" };
	const char *top = getenv("top_srcdir");
	struct tester t = { .makes = tr_makes_new(NULL), .fields = "]" };
	char path[4096], line[8192];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/tests/data/process/%s", top ? top : ".", files[i]);
		FILE *file = fopen(path, "rb");
		if (!ok(file != NULL, "the cases are there"))
			break;
		while (fgets(line, sizeof line, file))
			if (strncmp(line, "< call ", 7) == 0)
				check_call(&t, NULL, line + 7);
		fclose(file);
	}
	char masked[] = "gcc -c a.c -o a.o"; /* by a link to ccache */
	check_call(&t, "/usr/bin/ccache", masked);
	static const char *const contents[] = { "-E", "-O2" };
	struct tr_text words[] = { TR_TEXT("gcc"), TR_TEXT("-c"), TR_TEXT("a.c"),
				   TR_TEXT("@a.rsp") };
	for (size_t i = 0; i < 2; i++) {
		snprintf(line, sizeof line, "]\trespfile={\"a.rsp\":\"%s\"}", contents[i]);
		t.fields = line;
		check(&t, *words, words, 4, 4, TR_TEXT(""));
	}
	/* a response file that does not begin with "@" */
	char iar[] = "iccarm a.c -o z.o -I inc x.rsp";
	t.fields = "]\trespfile={\"x.rsp\":\"inc -o y.o\"}";
	check_call(&t, NULL, iar);
	ok(t.checked > 10000 && t.wrong == 0,
	   "commands that are derived make what commands that are parsed make");
	char echo[] = "echo -o a.o";
	size_t before = t.nothing, all = t.checked;
	t.fields = "]";
	check_call(&t, NULL, echo);
	ok(t.wrong == 0 && t.nothing - before == t.checked - all,
	   "a program that is no build tool makes nothing, whatever its arguments are");
	tr_makes_free(t.makes);
	tr_arena_free(&t.arena);
	tr_buffer_free(&t.line);
	return done_testing();
}
