/* SPDX-License-Identifier: MIT */
/* The tree of paths: one node for each path, however it is spelled, and links that are followed. */
#include "deps/paths.h"

#include <stdlib.h>

#include "tap.h"

struct test {
	const char *base, *text; /* base "": unknown */
	bool follow;
	const char *resolved, *spelled; /* "": none */
};

/* /l -> d, /d/up -> .., /abs -> /d/sub, /loop -> loop, /chain -> l/up/abs, /dead -> nowhere/x */
static const struct test tests[] = {
	{ "/", "a", true, "/a", "/a" },
	{ "/", "/", true, "/", "/" },
	{ "/d", ".", true, "/d", "/d" },
	{ "/d", "..", true, "/", "/" },
	{ "/", "../../a/..", true, "/", "/" },
	{ "/d/e", "..//./x///y/", true, "/d/x/y", "/d/x/y" },
	{ "/d", "/a//b/./c", true, "/a/b/c", "/a/b/c" },
	{ "/", "...", true, "/...", "/..." },
	{ "", "a", true, "", "" },
	{ "", "/a/b", true, "/a/b", "/a/b" },
	{ "/d", "", true, "", "" },
	{ "/", "l", true, "/d", "/l" },
	{ "/", "l", false, "/l", "/l" },
	{ "/", "l/", false, "/d", "/l" },
	{ "/", "l/x", false, "/d/x", "/l/x" },
	{ "/l", "x", true, "/l/x", "/l/x" }, /* a base is where it is */
	{ "/", "d/up", true, "/", "/d/up" },
	{ "/", "d/up/a", false, "/a", "/d/up/a" },
	{ "/", "abs/x", true, "/d/sub/x", "/abs/x" },
	{ "/d", "../abs/../y", true, "/d/y", "/y" }, /* ".." is that of the target */
	{ "/", "loop", true, "/loop", "/loop" },
	{ "/", "loop/x", true, "/loop/x", "/loop/x" },
	{ "/", "chain", true, "/d/sub", "/chain" },
	{ "/", "chain/z", false, "/d/sub/z", "/chain/z" },
	{ "/", "dead", true, "/nowhere/x", "/dead" },
};

static const char *const links[][2] = {
	{ "/l", "d" },	     { "/d/up", ".." },	       { "/abs", "/d/sub" },
	{ "/loop", "loop" }, { "/chain", "l/up/abs" }, { "/dead", "nowhere/x" },
};

static bool is(const struct tr_deps_path *path, const char *want)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	if (path)
		tr_deps_path_write(path, &text);
	bool same = tr_text_is(tr_buffer_text(&text), want) &&
		    (!path || path->len == text.len || !path->parent);
	if (!same)
		diag("got %.*s, not %s", (int)text.len, text.data, want);
	tr_buffer_free(&text);
	return same;
}

static struct tr_deps_path *at(struct tr_deps_paths *paths, const char *text)
{
	return tr_deps_paths_spelled(paths, NULL, tr_text_from(text));
}

/* Each text twice: the second time, it may be remembered. */
static void test_table(void)
{
	struct tr_deps_paths paths;

	tr_deps_paths_init(&paths);
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		tr_deps_paths_set_link(&paths, at(&paths, links[i][0]), tr_text_from(links[i][1]));
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
		const struct test *t = &tests[i];
		struct tr_deps_path *base = *t->base ? at(&paths, t->base) : NULL, *spelled;
		bool good = true;
		for (int round = 0; round < 2; round++) {
			struct tr_text text = tr_text_from(t->text);
			good &= is(tr_deps_paths_resolved(&paths, base, text, t->follow, &spelled),
				   t->resolved);
			good &= is(spelled, t->spelled);
			good &= is(tr_deps_paths_spelled(&paths, base, text), t->spelled);
		}
		ok(good, "%s from %s%s", t->text, t->base, t->follow ? "" : ", not followed");
	}
	ok(at(&paths, "/a/b") == at(&paths, "//a/./c/../b"), "one node for one path");
	ok(!paths.failed && paths.too_long == 0, "nothing failed");
	tr_deps_paths_free(&paths);
}

/* What is remembered of a text must not outlive a link that is set. */
static void test_links_change(void)
{
	static const char long_text[] = "/directory/of/some/length/with/a/file";
	struct tr_deps_paths paths;
	struct tr_deps_path *node, *spelled;
	struct tr_text text = tr_text_from(long_text);

	tr_deps_paths_init(&paths);
	node = tr_deps_paths_resolved(&paths, NULL, text, true, NULL);
	ok(node == tr_deps_paths_resolved(&paths, NULL, text, true, NULL), "the same node again");
	tr_deps_paths_set_link(&paths, at(&paths, "/directory"), TR_TEXT("/other"));
	ok(is(tr_deps_paths_resolved(&paths, NULL, text, true, &spelled),
	      "/other/of/some/length/with/a/file"),
	   "a link is followed from when it is known");
	ok(spelled == node, "and the path is spelled as before");
	tr_deps_paths_set_link(&paths, at(&paths, "/directory"), TR_TEXT("/third"));
	ok(is(tr_deps_paths_resolved(&paths, NULL, text, true, NULL),
	      "/third/of/some/length/with/a/file"),
	   "another target");
	at(&paths, "/directory")->link.data = NULL;
	ok(tr_deps_paths_resolved(&paths, NULL, text, true, NULL) == node, "the link is gone");
	tr_deps_paths_set_link(&paths, node, TR_TEXT("end"));
	ok(tr_deps_paths_resolved(&paths, NULL, text, false, NULL) == node, "a link at the end");
	ok(is(tr_deps_paths_resolved(&paths, NULL, text, true, NULL),
	      "/directory/of/some/length/with/a/end"),
	   "which is followed if that is wanted");
	/* texts of one hash, and longer ones than are remembered */
	bool good = true;
	for (int i = 0; i < 5000; i++) {
		char name[200];
		snprintf(name, sizeof name, "/w/%0*d", i % 190 + 1, i);
		good &= is(at(&paths, name), name) && is(at(&paths, name), name);
	}
	ok(good, "many paths");
	tr_deps_paths_free(&paths);
}

static void test_kinds(void)
{
	static const struct {
		const char *path;
		bool special;
	} rows[] = {
		{ "/", false },		 { "/proc", true },	 { "/proc/1/maps", true },
		{ "/sys/x", true },	 { "/dev/null", true },	 { "/dev/shm", false },
		{ "/dev/shm/x", false }, { "/dev/x/shm", true }, { "/procs", false },
		{ "/w/dev/x", false },	 { "/w/proc", false },	 { "/proc/shm", true },
		{ "/shm", false },
	};
	struct tr_deps_paths paths;

	tr_deps_paths_init(&paths);
	ok(paths.root->directory && !paths.root->parent, "the root is a directory");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ok(at(&paths, rows[i].path)->special == rows[i].special, "%s is %sspecial",
		   rows[i].path, rows[i].special ? "" : "not ");
	const struct tr_deps_path *a = at(&paths, "/a"), *b = at(&paths, "/a/b/c");
	ok(tr_deps_path_is_below(b, a) && tr_deps_path_is_below(a, a) &&
		   tr_deps_path_is_below(a, paths.root),
	   "below a directory, or itself");
	ok(!tr_deps_path_is_below(a, b) && !tr_deps_path_is_below(at(&paths, "/ab"), a),
	   "not below it");
	tr_deps_paths_free(&paths);
}

/* The longest path is written whole; nothing is added to it. */
static void test_length(void)
{
	struct tr_deps_paths paths;
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_deps_path *path, *longest;

	tr_deps_paths_init(&paths);
	path = longest = paths.root;
	while ((path = tr_deps_paths_spelled(&paths, path, TR_TEXT("123"))))
		longest = path;
	ok(longest->len == TR_DEPS_PATH_MAX && paths.too_long == 1, "the longest path");
	tr_deps_path_write(longest, &text);
	ok(text.len == TR_DEPS_PATH_MAX, "is written whole");
	ok(tr_deps_paths_spelled(&paths, NULL, tr_buffer_text(&text)) == longest, "and is found");
	ok(tr_deps_paths_spelled(&paths, longest, TR_TEXT("../123")) == longest, "and left");
	tr_buffer_put_byte(&text, '/');
	ok(!tr_deps_paths_spelled(&paths, NULL, tr_buffer_text(&text)) && paths.too_long == 2,
	   "a text that is too long is refused");
	ok(!paths.failed, "no memory is missing");
	tr_buffer_free(&text);
	tr_deps_paths_free(&paths);
}

int main(void)
{
	test_table();
	test_links_change();
	test_kinds();
	test_length();
	return done_testing();
}
