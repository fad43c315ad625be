/* SPDX-License-Identifier: MIT */
/* Names of programs, paths, and words. */
#include "process/tool.h"

#include "process/path.h"
#include "process/command.h"
#include "tap.h"

static void test_names(void)
{
	static const struct {
		const char *name;
		enum tr_tool tool;
	} cases[] = {
		{ "gcc", TR_TOOL_DRIVER },
		{ "/usr/bin/gcc", TR_TOOL_DRIVER },
		{ "cc", TR_TOOL_DRIVER },
		{ "c++", TR_TOOL_DRIVER },
		{ "gcc-12", TR_TOOL_DRIVER },
		{ "g++-12.2.0", TR_TOOL_DRIVER },
		{ "gcc12", TR_TOOL_DRIVER },
		{ "clang++16", TR_TOOL_DRIVER },
		{ "clang-16", TR_TOOL_DRIVER },
		{ "arm-linux-gnueabihf-gcc-11.2", TR_TOOL_DRIVER },
		{ "x86_64-w64-mingw32-c++", TR_TOOL_DRIVER },
		{ "arm-none-eabi-g++.exe", TR_TOOL_DRIVER },
		{ "C:\\tools\\bin\\GCC.EXE", TR_TOOL_DRIVER },
		{ "avr-gcc", TR_TOOL_DRIVER },
		{ "c99", TR_TOOL_DRIVER },
		{ "clang-cl", TR_TOOL_DRIVER_CL },
		{ "C:/VC/bin/cl.exe", TR_TOOL_DRIVER_CL },
		{ "cc1", TR_TOOL_COMPILER },
		{ "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", TR_TOOL_COMPILER },
		{ "as", TR_TOOL_ASSEMBLER },
		{ "riscv64-unknown-elf-as", TR_TOOL_ASSEMBLER },
		{ "ld.lld-16", TR_TOOL_LINKER },
		{ "x86_64-linux-gnu-ld.gold", TR_TOOL_LINKER },
		{ "collect2", TR_TOOL_COLLECTOR },
		{ "lto-wrapper", TR_TOOL_HELPER },
		{ "gcc-ar-12", TR_TOOL_ARCHIVER },
		{ "llvm-ar", TR_TOOL_ARCHIVER },
		{ "cpp", TR_TOOL_PREPROCESSOR },
		{ "clang-cpp-14", TR_TOOL_PREPROCESSOR },
		{ "ccache", TR_TOOL_LAUNCHER },
		{ "./libtool", TR_TOOL_LIBTOOL },
		{ "x86_64-linux-gnu-libtool", TR_TOOL_LIBTOOL },
		{ "clang-tidy", TR_TOOL_NONE },
		{ "clang-format-16", TR_TOOL_NONE },
		{ "gcc-nm", TR_TOOL_NONE },
		{ "c++filt", TR_TOOL_NONE },
		{ "gccxml", TR_TOOL_NONE },
		{ "cc65", TR_TOOL_NONE },
		{ "ld86", TR_TOOL_NONE },
		{ "egcc", TR_TOOL_NONE },
		{ "make", TR_TOOL_NONE },
		{ "a b-gcc", TR_TOOL_NONE },
		{ "-gcc", TR_TOOL_DRIVER },
		{ "", TR_TOOL_NONE },
		{ "/", TR_TOOL_NONE },
		{ ".exe", TR_TOOL_NONE },
		{ "12", TR_TOOL_NONE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(tr_tool_of_name(tr_text_from(cases[i].name)) == cases[i].tool, "program '%s'",
		   cases[i].name);
	char longest[300];
	memset(longest, '-', sizeof longest);
	ok(tr_tool_of_name((struct tr_text){ longest, sizeof longest }) == TR_TOOL_NONE,
	   "no program has a name like that");
}

static void test_paths(void)
{
	static const struct {
		const char *directory, *path, *whole;
	} cases[] = {
		{ "/a/b", "c.c", "/a/b/c.c" },
		{ "/a/b", "../c.c", "/a/c.c" },
		{ "/a/b/", "./x//y/.", "/a/b/x/y" },
		{ "/a", "../../../x", "/x" },
		{ "/", "x", "/x" },
		{ "/a", "/b/../c", "/c" },
		{ "/a", "..", "/" },
		{ "/a", "", "/a" },
		{ "//a", "b", "/a/b" },
		{ "C:\\a", "b\\c.c", "C:\\a\\b\\c.c" },
		{ "C:/a/", "b.c", "C:/a/b.c" },
		{ "/a", "C:\\b.c", "C:\\b.c" },
		{ "", "b.c", "b.c" },
		{ "rel", "b.c", "rel/b.c" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tr_buffer to = TR_BUFFER_INIT;
		tr_path_join(tr_text_from(cases[i].directory), tr_text_from(cases[i].path), &to);
		if (!ok(tr_text_is(tr_buffer_text(&to), cases[i].whole), "%s in %s is %s",
			cases[i].path, cases[i].directory, cases[i].whole))
			diag("got %.*s", (int)to.len, to.data);
		tr_buffer_free(&to);
	}
	ok(tr_text_is(tr_path_extension(tr_text_from("/a.b/c")), ""), "a directory's is none");
	ok(tr_text_is(tr_path_extension(tr_text_from("/a/.c")), ""), "a hidden file has none");
	ok(tr_text_is(tr_path_extension(tr_text_from("x.tar.c")), ".c"), "the last one counts");
	ok(tr_text_is(tr_path_base(tr_text_from("/a\\b")), "a\\b"), "a backslash in a name");
}

static void split(const char *text, enum tr_quoting quoting, bool comments, const char *want)
{
	struct tr_words words = { text, text + strlen(text), quoting, comments, false };
	struct tr_buffer all = TR_BUFFER_INIT;
	while (tr_words_next(&words, &all))
		tr_buffer_put_byte(&all, '|');
	if (!ok(tr_text_is(tr_buffer_text(&all), want), "words %s", want))
		diag("got %.*s", (int)all.len, all.data);
	tr_buffer_free(&all);
}

static void test_words(void)
{
	split("-O1 \"-DX=a b\"\n-Wall\n", TR_QUOTING_GNU, false, "-O1|-DX=a b|-Wall|");
	split("a\\ b 'c\"d' \"e'f\" g\\\"h", TR_QUOTING_GNU, false, "a b|c\"d|e'f|g\"h|");
	split("'a\\'b'", TR_QUOTING_GNU, false, "a'b|");
	split(" \t\r\n\v\f ", TR_QUOTING_GNU, false, "");
	split("'' \"\"", TR_QUOTING_GNU, false, "||");
	split("'open", TR_QUOTING_GNU, false, "open|");
	split("end\\", TR_QUOTING_GNU, false, "end|");
	split("#a ;b", TR_QUOTING_GNU, false, "#a|;b|");
	split("# one\n  ; two\n-a #b\n\n#", TR_QUOTING_GNU, true, "-a|#b|");
	split("'a\\b' \"a\\b\" a\\b", TR_QUOTING_COMMAND, false, "a\\b|ab|ab|");
	split("a\\b \"c d\" \"e\\\"f\" g\\\\\"h i\" \"j\"\"k\"", TR_QUOTING_WINDOWS, false,
	      "a\\b|c d|e\"f|g\\h i|j\"k|");
	split("'a b' c\\\\d \\\\\\\"x", TR_QUOTING_WINDOWS, false, "'a|b'|c\\\\d|\\\"x|");
	split("\"C:\\x y\\\" z", TR_QUOTING_WINDOWS, false, "C:\\x y\" z|");
	split("", TR_QUOTING_WINDOWS, false, "");
}

int main(void)
{
	test_names();
	test_paths();
	test_words();
	return done_testing();
}
