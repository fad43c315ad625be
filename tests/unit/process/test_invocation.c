/* SPDX-License-Identifier: MIT */
/* What command lines ask a compiler to do. */
#include "process/invocation.h"

#include "tap.h"

static struct tr_arena arena = TR_ARENA_INIT;

enum { MOST = 32 };

/* Words with a blank between them. */
static size_t words_of(const char *text, struct tr_text *words)
{
	size_t count = 0;
	while (*text) {
		size_t len = strcspn(text, " ");
		words[count++] = (struct tr_text){ text, len };
		text += len + (text[len] == ' ');
	}
	return count;
}

static void parse(const char *line, struct tr_invocation *result)
{
	struct tr_text argv[MOST];
	struct tr_word words[MOST];
	size_t count = words_of(line, argv);
	for (size_t i = 0; i < count; i++)
		words[i] = (struct tr_word){ argv[i], i, false };
	tr_invocation_parse(tr_tool_of_name(argv[0]), words, count, &arena, result);
}

/* sources: with a comma between; output "-": none. */
static void expect(const char *line, enum tr_mode mode, const char *sources, const char *output)
{
	struct tr_invocation result;
	struct tr_buffer found = TR_BUFFER_INIT;
	parse(line, &result);
	for (size_t i = 0; i < result.count; i++) {
		if (result.parts[i].role != TR_ROLE_SOURCE)
			continue;
		if (found.len)
			tr_buffer_put_byte(&found, ',');
		tr_buffer_put_text(&found, result.parts[i].file);
	}
	struct tr_text said = result.output.data ? result.output : TR_TEXT("-");
	if (!ok(result.mode == mode && tr_text_is(tr_buffer_text(&found), sources) &&
			tr_text_is(said, output),
		"%s", line))
		diag("mode %d, sources %.*s, output %.*s", result.mode, (int)found.len,
		     found.len ? found.data : "", (int)said.len, said.data);
	tr_buffer_free(&found);
}

static void test_gnu(void)
{
	expect("gcc -c a.c", TR_MODE_COMPILE, "a.c", "-");
	expect("gcc -O2 -o x.o -c a.c", TR_MODE_COMPILE, "a.c", "x.o");
	expect("gcc -ox.o -c a.c", TR_MODE_COMPILE, "a.c", "x.o");
	expect("gcc a.c b.cc c.S d.o -lz -o prog", TR_MODE_LINK, "a.c,b.cc,c.S", "prog");
	expect("gcc a.o -o prog", TR_MODE_LINK, "", "prog");
	expect("collect2 -m elf_x86_64 -dynamic-linker /lib/ld.so -o prog a.o", TR_MODE_LINK, "",
	       "prog");
	expect("gcc -E a.c", TR_MODE_PREPROCESS, "a.c", "-");
	expect("gcc -c -E a.c", TR_MODE_PREPROCESS, "a.c", "-");
	expect("gcc -E -c a.c", TR_MODE_PREPROCESS, "a.c", "-");
	expect("gcc -MM a.c", TR_MODE_PREPROCESS, "a.c", "-");
	expect("gcc -MD -MF a.d -MT a.o -c a.c", TR_MODE_COMPILE, "a.c", "-");
	expect("gcc -MMD -MP -c a.c -o a.o", TR_MODE_COMPILE, "a.c", "a.o");
	expect("gcc -S a.c", TR_MODE_ASSEMBLY, "a.c", "-");
	expect("clang -fsyntax-only a.c", TR_MODE_SYNTAX, "a.c", "-");
	expect("gcc --version", TR_MODE_TELL, "", "-");
	expect("gcc -v", TR_MODE_TELL, "", "-");
	expect("gcc", TR_MODE_TELL, "", "-");
	expect("gcc -print-prog-name=as", TR_MODE_TELL, "", "-");
	expect("gcc -### -c a.c", TR_MODE_TELL, "a.c", "-");
	expect("gcc -D a.c -U b.c -I c.c -L d.c -c e.c", TR_MODE_COMPILE, "e.c", "-");
	expect("gcc -include a.h -imacros b.h -isystem c.c -iquote d.c -idirafter e.c -c f.c",
	       TR_MODE_COMPILE, "f.c", "-");
	expect("gcc -Xlinker a.c -Xpreprocessor b.c -Xassembler c.c -T d.c -u e.c -z f.c x.c",
	       TR_MODE_LINK, "x.c", "-");
	expect("gcc --param a.c -aux-info b.c -dumpbase c.c -c d.c", TR_MODE_COMPILE, "d.c", "-");
	expect("clang -target a.c -arch b.c -mllvm c.c -Xclang d.c -c e.c", TR_MODE_COMPILE, "e.c",
	       "-");
	expect("gcc -x c foo bar.txt -x none x.o -c", TR_MODE_COMPILE, "foo,bar.txt", "-");
	expect("gcc -xc - -c", TR_MODE_COMPILE, "", "-");
	expect("gcc -c -- -a.c", TR_MODE_COMPILE, "-a.c", "-");
	expect("gcc --output=x.o --compile a.c", TR_MODE_COMPILE, "a.c", "x.o");
	expect("gcc --output x.o -c a.c", TR_MODE_COMPILE, "a.c", "x.o");
	expect("gcc @missing.rsp -c a.c", TR_MODE_COMPILE, "a.c", "-");
	expect("gcc -c a.f90 b.m c.d e.adb f.go g.s h.sx i.ii", TR_MODE_COMPILE,
	       "a.f90,b.m,c.d,e.adb,f.go,g.s,h.sx,i.ii", "-");
	expect("gcc -c a.c -o", TR_MODE_COMPILE, "a.c", "-");
	expect("gcc -c a.C x.a y.so z.lo", TR_MODE_COMPILE, "a.C", "-");
	expect("clang -cc1 -triple x -main-file-name a.c -o a.o -x c b.c", TR_MODE_COMPILE, "b.c",
	       "a.o");
	expect("cc1 -quiet a.c -o a.s", TR_MODE_COMPILE, "a.c", "a.s");
	expect("as -o a.o a.s", TR_MODE_COMPILE, "a.s", "a.o");
	expect("gcc -S a.c -o -", TR_MODE_ASSEMBLY, "a.c", "-");
	expect("icc -xHost a.o -o prog", TR_MODE_LINK, "", "prog");
	expect("icc -xCORE-AVX2 -c a.c", TR_MODE_COMPILE, "a.c", "-");
}

static void test_cl(void)
{
	expect("cl.exe /nologo /c /Foobj\\a.obj a.cpp", TR_MODE_COMPILE, "a.cpp", "obj\\a.obj");
	expect("cl.exe /D X.c /I y.c -c z.c", TR_MODE_COMPILE, "z.c", "-");
	expect("clang-cl -c a.c -- /b.c", TR_MODE_COMPILE, "a.c,/b.c", "-");
	expect("cl.exe a.c /link /OUT:x.exe b.c", TR_MODE_LINK, "a.c", "-");
	expect("cl.exe /EP a.c", TR_MODE_PREPROCESS, "a.c", "-");
	expect("cl.exe /?", TR_MODE_TELL, "", "-");
	expect("cl.exe /c /Tca.x /Tp b.x A.CPP", TR_MODE_COMPILE, "a.x,b.x,A.CPP", "-");
	expect("cl.exe /c /TP a.x b.obj C.LIB", TR_MODE_COMPILE, "a.x", "-");
	expect("cl.exe /c a.c /Fo:b.obj /Fdvc.pdb /FI x.c /external:I y.c", TR_MODE_COMPILE, "a.c",
	       "b.obj");
	expect("clang-cl /c /home/me/a.c /o b.obj -mllvm x.c -Xclang y.c", TR_MODE_COMPILE,
	       "/home/me/a.c", "b.obj");
	expect("cl.exe /scanDependencies out.c a.c", TR_MODE_PREPROCESS, "a.c", "-");
	expect("cl.exe /openmp /LD /Fea.dll a.c b.lib", TR_MODE_LINK, "a.c", "-");
}

static void test_roles(void)
{
	struct tr_invocation result;
	parse("gcc -DX -I. -isystem /i -include a.h -std=c99 -lz -Wl,-x -L. -static a.o a.c",
	      &result);
	static const enum tr_role roles[] = {
		TR_ROLE_PROGRAM, TR_ROLE_DEFINE,  TR_ROLE_SEARCH,  TR_ROLE_SYSTEM,  TR_ROLE_SYSTEM,
		TR_ROLE_INCLUDE, TR_ROLE_INCLUDE, TR_ROLE_DIALECT, TR_ROLE_LINKING, TR_ROLE_LINKING,
		TR_ROLE_LINKING, TR_ROLE_LINKING, TR_ROLE_INPUT,   TR_ROLE_SOURCE,
	};
	bool same = result.count == sizeof roles / sizeof *roles;
	for (size_t i = 0; same && i < result.count; i++)
		same = result.parts[i].role == roles[i];
	ok(same, "what each word is about");
	ok(result.parts[4].value && !result.parts[3].value, "and which is a value");
	parse("clang -cc1as a.s", &result);
	ok(result.tool == TR_TOOL_ASSEMBLER, "a driver that is its own assembler");
	parse("clang-16 -cc1 a.c", &result);
	ok(result.tool == TR_TOOL_COMPILER, "a driver that is its own compiler");
}

static void launched(const char *line, size_t words, bool libtool)
{
	struct tr_text argv[MOST];
	size_t count = words_of(line, argv);
	bool is_libtool;
	size_t got = tr_invocation_launchers(argv, count, &is_libtool);
	if (!ok(got == words && is_libtool == libtool, "launchers: %s", line))
		diag("%zu words", got);
}

static void test_launchers(void)
{
	launched("gcc -c a.c", 0, false);
	launched("ccache gcc -c a.c", 1, false);
	launched("ccache compiler_check=none gcc -c a.c", 2, false);
	launched("ccache distcc arm-linux-gnueabi-g++ -c a.c", 2, false);
	launched("ccache -s", 1, false);
	launched("ccache", 1, false);
	launched("./libtool --tag=CC --mode=compile gcc -c a.c -o a.lo", 3, true);
	launched("/bin/bash ../libtool --silent --mode=compile ccache gcc -c a.c", 5, true);
	launched("./libtool --mode=link gcc a.lo -o a.la", 6, true);
	launched("./libtool", 1, true);
	launched("make libtool", 2, true);
}

static void test_objects(void)
{
	struct tr_invocation result;
	parse("gcc -c a.c", &result);
	ok(tr_text_is(tr_invocation_object(&result, TR_TEXT("sub/x.y.cc"), &arena), "x.y.o"), "-c");
	parse("gcc -S a.c", &result);
	ok(tr_text_is(tr_invocation_object(&result, TR_TEXT("a.c"), &arena), "a.s"), "-S");
	parse("cl.exe -c a.c", &result);
	ok(tr_text_is(tr_invocation_object(&result, TR_TEXT("a"), &arena), "a.obj"), "cl");
	parse("gcc -c a.h", &result);
	ok(tr_text_is(tr_invocation_object(&result, TR_TEXT("a.h"), &arena), "a.h.gch"),
	   "a header");
	bool failed = false;
	parse("cl.exe -c a.c b.c -Foobj/", &result);
	ok(tr_text_is(tr_invocation_output(&result, TR_TEXT("a.c"), &arena, &failed),
		      "obj/a.obj") &&
		   !failed,
	   "a folder for all");
	parse("gcc a.c -o prog", &result);
	ok(!tr_invocation_output(&result, TR_TEXT("a.c"), &arena, &failed).data,
	   "on the way to a program it has no name");
}

int main(void)
{
	test_gnu();
	test_cl();
	test_roles();
	test_launchers();
	test_objects();
	tr_arena_free(&arena);
	return done_testing();
}
