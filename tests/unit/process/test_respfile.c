/* SPDX-License-Identifier: MIT */
/* Response files and the configuration of tools. */
#include "process/respfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/tool.h"
#include "record/literal.h"
#include "tap.h"

static struct tr_arena arena = TR_ARENA_INIT;
static char directory[] = "/tmp/test_respfile.XXXXXX";
static struct tr_file_roots roots; /* holds the directory, except in test_roots */

static void write_file(const char *name, const char *content)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	fputs(content, file);
	fclose(file);
}

static void remove_file(const char *name)
{
	char path[200];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	remove(path);
}

static void expand(const char *const *argv, const struct tr_respfile_rules *rules,
		   const char *recorded, enum tr_quoting quoting, struct tr_expansion *result)
{
	struct tr_text words[32];
	struct tr_error err;
	size_t argc = 0;
	for (; argv[argc]; argc++)
		words[argc] = tr_text_from(argv[argc]);
	struct tr_respfile_source source = { tr_text_from(directory), NULL, &roots, quoting,
					     false };
	if (recorded)
		source.recorded = tr_literal_parse(tr_text_from(recorded), &arena, &err);
	tr_respfile_expand(words, argc, rules, &source, &arena, result, &err);
}

static void same(const struct tr_expansion *result, const char *want, size_t missing)
{
	struct tr_buffer all = TR_BUFFER_INIT;
	for (size_t i = 0; i < result->count; i++) {
		if (i)
			tr_buffer_put_byte(&all, '|');
		tr_buffer_put_text(&all, result->words[i].text);
	}
	if (!ok(tr_text_is(tr_buffer_text(&all), want) && result->missing == missing, "%s", want))
		diag("got %.*s, %zu missing", (int)all.len, all.data, result->missing);
	tr_buffer_free(&all);
}

#define LINE(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_files(void)
{
	struct tr_expansion result;
	write_file("a.rsp", "-O1 \"-DX=a b\"\n@b.rsp\n");
	write_file("b.rsp", "\xef\xbb\xbf-Wall 'c d.c'");
	write_file("empty.rsp", "");
	write_file("self.rsp", "-x @self.rsp @self.rsp");
	expand(LINE("gcc", "-c", "@a.rsp", "x.c"), &tr_respfile_usual, NULL, TR_QUOTING_GNU,
	       &result);
	same(&result, "gcc|-c|-O1|-DX=a b|-Wall|c d.c|x.c", 0);
	ok(result.words[4].from_file && result.words[4].origin == 2 && !result.words[6].from_file &&
		   result.words[6].origin == 3,
	   "each word has its origin");
	expand(LINE("gcc", "@gone.rsp", "@a.rsp", "@empty.rsp", "@"), &tr_respfile_usual, NULL,
	       TR_QUOTING_GNU, &result);
	same(&result, "gcc|@gone.rsp|-O1|-DX=a b|-Wall|c d.c|@", 1);
	ok(tr_text_is(result.left.name, "gone.rsp"), "the missing one has a name");
	expand(LINE("@a.rsp", "@/", "@rpath/x"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result, "@a.rsp|@/|@rpath/x", 1);
	expand(LINE("gcc", "@self.rsp"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	ok(result.files == 2000, "files that name themselves come to an end");
	remove_file("a.rsp");
	remove_file("b.rsp");
	remove_file("empty.rsp");
	remove_file("self.rsp");
}

static void test_odd_files(void)
{
	struct tr_expansion result;
	char path[200];
	snprintf(path, sizeof path, "%s/fifo", directory);
	mkfifo(path, 0600);
	expand(LINE("gcc", "@fifo", "@/dev/zero"), &tr_respfile_usual, NULL, TR_QUOTING_GNU,
	       &result);
	same(&result, "gcc|@fifo|@/dev/zero", 2);
	remove(path);
	ok(mkfifo(path, 0600) == 0 || errno == EEXIST, "a pipe without a writer causes no wait");
	remove(path);
}

/* A file is read if it is below a root after all links are resolved, and in no other case. */
static void test_roots(void)
{
	struct tr_file_roots all = roots, none = { 0 };
	struct tr_expansion result;
	struct tr_error err;
	char path[200], target[200];
	snprintf(path, sizeof path, "%s/sub", directory);
	mkdir(path, 0700);
	snprintf(target, sizeof target, "%s/alias", directory);
	ok(symlink("sub", target) == 0, "links");
	write_file("sub/in", "-in");
	write_file("out", "-out");
	snprintf(path, sizeof path, "%s/sub/leads-out", directory);
	snprintf(target, sizeof target, "%s/out", directory);
	ok(symlink(target, path) == 0, "links");
	static const char *const line[] = { "gcc",
					    "@sub/in",
					    "@alias/in",
					    "@sub/../sub/in",
					    "@out",
					    "@sub/leads-out",
					    "@sub",
					    "@sub/none",
					    "@/proc/self/environ",
					    NULL };
	roots = none;
	expand(line, &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result,
	     "gcc|@sub/in|@alias/in|@sub/../sub/in|@out|@sub/leads-out|@sub|@sub/none|@/proc/self/"
	     "environ",
	     8);
	snprintf(path, sizeof path, "%s/alias", directory);
	ok(tr_file_roots_add(&roots, tr_text_from(path), &err), "a root may be a link");
	expand(line, &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result, "gcc|-in|-in|-in|@out|@sub/leads-out|@sub|@sub/none|@/proc/self/environ", 5);
	snprintf(path, sizeof path, "%s/su", directory);
	mkdir(path, 0700);
	ok(tr_file_roots_add(&roots, tr_text_from(path), &err), "a second root");
	expand(LINE("gcc", "@sub/in", "@out"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result, "gcc|-in|@out", 1);
	tr_file_roots_free(&roots);
	ok(tr_file_roots_add(&roots, tr_text_from(path), &err), "a name that begins another");
	expand(LINE("gcc", "@sub/in"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result, "gcc|@sub/in", 1);
	ok(tr_file_roots_add(&roots, TR_TEXT("/"), &err), "everything");
	expand(LINE("gcc", "@sub/in", "@out"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result, "gcc|-in|-out", 0);
	snprintf(path, sizeof path, "%s/out", directory);
	ok(!tr_file_roots_add(&roots, tr_text_from(path), &err), "a file is no root: %s", err.text);
	tr_file_roots_free(&roots);
	roots = all;
	remove_file("sub/leads-out");
	remove_file("sub/in");
	remove_file("alias");
	remove_file("sub");
	remove_file("su");
	remove_file("out");
}

static void leaves(const struct tr_expansion *result, enum tr_respfile_reason reason,
		   const char *name, const char *message)
{
	struct tr_error err;

	tr_error_clear(&err);
	enum tr_status status = tr_respfile_report(&result->left, &roots, &err);
	ok(result->left.reason == reason && tr_text_is(result->left.name, name) &&
		   status == TR_WARN && err.severity == TR_FLAW && strstr(err.text, message),
	   "%s is left: %s", name, err.text);
}

static void holds_all(const struct tr_expansion *result, size_t count)
{
	struct tr_error err;

	ok(result->count == count && !result->missing &&
		   tr_respfile_report(&result->left, &roots, &err) == TR_OK,
	   "%zu words: within the limit", count);
}

static void test_deep_files(void)
{
	struct tr_expansion result;
	struct tr_buffer map = TR_BUFFER_INIT;
	char entry[64];

	for (int i = 1; i <= TR_RESPFILE_NESTED + 1; i++) {
		snprintf(entry, sizeof entry, "%s\"f%d\":\"-%d @f%d\"", i > 1 ? "," : "{", i, i,
			 i + 1);
		tr_buffer_put_text(&map, tr_text_from(entry));
	}
	tr_buffer_put_literal(&map, ",\"last\":\"a.c\"}");
	tr_buffer_put_byte(&map, '\0');
	expand(LINE("gcc", "@f1"), &tr_respfile_usual, map.data, TR_QUOTING_GNU, &result);
	ok(result.count == 1 + TR_RESPFILE_NESTED + 1,
	   "32 files nested, then the name of one more");
	leaves(&result, TR_RESPFILE_TOO_DEEP, "f33", "nested more than 32 levels deep");
	memcpy(strstr(map.data, "-32 @f33"), "-32  a.c", 8);
	expand(LINE("gcc", "@f1"), &tr_respfile_usual, map.data, TR_QUOTING_GNU, &result);
	holds_all(&result, 1 + TR_RESPFILE_NESTED + 1);
	tr_buffer_free(&map);
}

static void test_many_files(void)
{
	struct tr_expansion result;
	struct tr_buffer map = TR_BUFFER_INIT;

	tr_buffer_put_literal(&map, "{\"one\":\"-x\",\"all\":\"");
	for (int i = 1; i < TR_RESPFILE_FILES; i++)
		tr_buffer_put_literal(&map, "@one ");
	tr_buffer_put_literal(&map, "\"}");
	tr_buffer_put_byte(&map, '\0');
	expand(LINE("gcc", "@all"), &tr_respfile_usual, map.data, TR_QUOTING_GNU, &result);
	holds_all(&result, TR_RESPFILE_FILES);
	expand(LINE("gcc", "@all", "@one", "@gone"), &tr_respfile_usual, map.data, TR_QUOTING_GNU,
	       &result);
	leaves(&result, TR_RESPFILE_TOO_MANY, "one", "names more than 2000 files");
	tr_buffer_free(&map);
	tr_arena_reset(&arena);
}

static void test_large_files(void)
{
	struct tr_expansion result;
	char *blank = malloc(TR_RESPFILE_MAX + 2);

	memset(blank, ' ', TR_RESPFILE_MAX + 1);
	blank[TR_RESPFILE_MAX + 1] = '\0';
	write_file("large", blank);
	write_file("few", "a");
	expand(LINE("gcc", "@large"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	leaves(&result, TR_RESPFILE_TOO_LARGE, "large", "exceed 16 MiB");
	blank[TR_RESPFILE_MAX] = '\0';
	write_file("large", blank);
	expand(LINE("gcc", "@large"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	holds_all(&result, 1);
	expand(LINE("gcc", "@gone", "@large", "@few"), &tr_respfile_usual, NULL, TR_QUOTING_GNU,
	       &result);
	leaves(&result, TR_RESPFILE_TOO_LARGE, "few", "exceed 16 MiB");
	remove_file("large");
	remove_file("few");
	free(blank);
	tr_arena_reset(&arena);
}

static void test_many_words(void)
{
	struct tr_expansion result;
	char *words = malloc(2 * (TR_RESPFILE_WORDS + 1) + 1);
	for (size_t i = 0; i <= TR_RESPFILE_WORDS; i++)
		memcpy(words + 2 * i, "a ", 3);
	write_file("many", words);
	write_file("few", "-c a.c");
	expand(LINE("gcc", "@few", "@many"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	same(&result, "gcc|-c|a.c|@many", 1);
	leaves(&result, TR_RESPFILE_TOO_WORDY, "many", "more than 1048576 words");
	words[2 * TR_RESPFILE_WORDS] = '\0';
	write_file("many", words);
	expand(LINE("gcc", "@many"), &tr_respfile_usual, NULL, TR_QUOTING_GNU, &result);
	holds_all(&result, 1 + TR_RESPFILE_WORDS);
	remove_file("many");
	remove_file("few");
	free(words);
	tr_arena_reset(&arena);
}

static void test_recorded(void)
{
	struct tr_expansion result;
	write_file("a.rsp", "disk");
	expand(LINE("gcc", "@a.rsp", "@b.rsp"), &tr_respfile_usual, "\"from record\\n\"",
	       TR_QUOTING_GNU, &result);
	same(&result, "gcc|from|record|@b.rsp", 1);
	expand(LINE("gcc", "@a.rsp", "@b.rsp"), &tr_respfile_usual,
	       "{\"b.rsp\":\"x\\\\y @a.rsp\",\"n\":1}", TR_QUOTING_WINDOWS, &result);
	same(&result, "gcc|disk|x\\y|disk", 0);
	expand(LINE("gcc", "@a.rsp"), &tr_respfile_usual, "\"cut\"...", TR_QUOTING_GNU, &result);
	same(&result, "gcc|disk", 0);
	remove_file("a.rsp");
}

static void test_options(void)
{
	static const char json[] = "[{\"binary\":\"armlink\",\"responseFileArgs\":["
				   "{\"argument\":\"--Via\",\"argFormat\":[\"space\",\"equal\"]},"
				   "{\"argument\":\"-f\",\"argFormat\":[\"attached\",\"space\"]}]},"
				   "{\"binary\":\"CL\"}]";
	struct tr_error err;
	struct tr_expansion result;
	struct tr_tool_config *config =
		tr_tool_config_parse(tr_text_from(json), TR_TEXT("test"), &err);
	if (!ok(config, "a configuration"))
		return;
	const struct tr_respfile_rules *rules =
		tr_tool_config_find(config, TR_TEXT("C:\\arm\\ArmLink.EXE"));
	ok(rules, "names are of any case");
	ok(!tr_tool_config_find(config, TR_TEXT("armar")), "others do not matter");
	ok(tr_tool_config_find(config, TR_TEXT("cl.exe")), "a tool without response files");
	write_file("v", "# comment\n-x\n; another\n-y #z\n");
	expand(LINE("armlink", "--via=v", "--VIA", "v", "--via", "-fv", "-f", "v", "@v"), rules,
	       NULL, TR_QUOTING_GNU, &result);
	same(&result, "armlink|-x|-y|#z|-x|-y|#z|--via|-fv|-x|-y|#z|@v", 1);
	expand(LINE("armlink", "x", "--via", "no"), rules, NULL, TR_QUOTING_GNU, &result);
	same(&result, "armlink|x|--via|no", 1);
	ok(result.words[2].origin == 2 && result.words[3].origin == 3,
	   "both arguments of a file that is left keep their index");
	expand(LINE("armlink", "-fv", "-F", "v", "--via"), rules, NULL, TR_QUOTING_GNU, &result);
	same(&result, "armlink|-x|-y|#z|-F|v|--via", 0);
	remove_file("v");
	tr_tool_config_free(config);
}

static void test_configurations(void)
{
	static const char *const bad[] = {
		"",
		"{",
		"{}",
		"[1]",
		"[{}]",
		"[{\"binary\":1}]",
		"[{\"binary\":\"\"}]",
		"[] x",
		"[",
		"[{\"binary\":\"a\",\"responseFileArgs\":{}}]",
		"[{\"binary\":\"a\",\"responseFileArgs\":[{}]}]",
		("[{\"binary\":\"a\",\"responseFileArgs\":[{\"argument\":\"@\",\"argFormat\":["
		 "\"x\"]"
		 "}]}]"),
		"[{\"binary\":\"a\",\"responseFileArgs\":[{\"argument\":\"\",\"argFormat\":[]}]}]",
	};
	struct tr_error err;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!tr_tool_config_parse(tr_text_from(bad[i]), TR_TEXT("test"), &err),
		   "no configuration: %s", bad[i]);
	struct tr_tool_config *every =
		tr_tool_config_parse(TR_TEXT("\xef\xbb\xbf [ ] \n"), TR_TEXT("test"), &err);
	ok(every && tr_tool_config_find(every, TR_TEXT("make")) == &tr_respfile_usual,
	   "the empty list means every program");
	tr_tool_config_free(every);
	struct tr_tool_config *edges =
		tr_tool_config_parse(TR_TEXT("[{\"binary\":\"azAZ@[\"}]"), TR_TEXT("test"), &err);
	ok(edges && tr_tool_config_find(edges, TR_TEXT("AZaz@[.eXe")),
	   "names of programs match in any case, from A to Z");
	ok(!tr_tool_config_find(edges, TR_TEXT("azAZ`[")) &&
		   !tr_tool_config_find(edges, TR_TEXT("azAZ@{")),
	   "the neighbours of A and Z are not letters");
	ok(!tr_tool_config_find(edges, TR_TEXT("azAZ@")), "a prefix is another program");
	tr_tool_config_free(edges);
	struct tr_tool_config *xcalbuild = tr_tool_config_xcalbuild(&err);
	ok(xcalbuild && tr_tool_config_find(xcalbuild, TR_TEXT("/usr/bin/llvm-g++")) &&
		   !tr_tool_config_find(xcalbuild, TR_TEXT("gcc-12")),
	   "xcalbuild's own list");
	tr_tool_config_free(xcalbuild);
	ok(!tr_tool_config_read(TR_TEXT("/nonexistent/config"), &err) &&
		   strstr(err.text, "/nonexistent/config"),
	   "a file that is not there: %s", err.text);
	ok(!tr_tool_config_read(TR_TEXT("/"), &err), "no file: %s", err.text);
}

int main(void)
{
	struct tr_error err;

	if (!mkdtemp(directory) || !tr_file_roots_add(&roots, tr_text_from(directory), &err))
		return 1;
	test_files();
	test_odd_files();
	test_roots();
	test_deep_files();
	test_many_files();
	test_large_files();
	test_many_words();
	test_recorded();
	test_options();
	test_configurations();
	rmdir(directory);
	tr_file_roots_free(&roots);
	tr_arena_free(&arena);
	return done_testing();
}
