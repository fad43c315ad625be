/* SPDX-License-Identifier: MIT */
#include "process/tool.h"

#include "process/path.h"

struct known {
	struct tr_text name;
	enum tr_tool tool;
};

#define T(word, tool) \
	{ \
		{ word, sizeof word - 1 }, TR_TOOL_##tool \
	}

static const struct known known[] = {
	T("gcc", DRIVER),	  T("g++", DRIVER),	     T("cc", DRIVER),
	T("c++", DRIVER),	  T("clang", DRIVER),	     T("clang++", DRIVER),
	T("cc1", COMPILER),	  T("cc1plus", COMPILER),    T("as", ASSEMBLER),
	T("ld", LINKER),	  T("collect2", COLLECTOR),  T("ar", ARCHIVER),
	T("CC", DRIVER),	  T("c89", DRIVER),	     T("c99", DRIVER),
	T("c17", DRIVER),	  T("armclang", DRIVER),     T("icc", DRIVER),
	T("icpc", DRIVER),	  T("icx", DRIVER),	     T("icpx", DRIVER),
	T("dpcpp", DRIVER),	  T("tcc", DRIVER),	     T("emcc", DRIVER),
	T("em++", DRIVER),	  T("hipcc", DRIVER),	     T("nvcc", DRIVER),
	T("mpicc", DRIVER),	  T("mpic++", DRIVER),	     T("mpicxx", DRIVER),
	T("mpiCC", DRIVER),	  T("mpifort", DRIVER),	     T("mpif77", DRIVER),
	T("mpif90", DRIVER),	  T("gfortran", DRIVER),     T("g77", DRIVER),
	T("g95", DRIVER),	  T("f77", DRIVER),	     T("f90", DRIVER),
	T("f95", DRIVER),	  T("ftn", DRIVER),	     T("flang", DRIVER),
	T("ifort", DRIVER),	  T("ifx", DRIVER),	     T("gdc", DRIVER),
	T("gnatgcc", DRIVER),	  T("gccgo", DRIVER),	     T("cl", DRIVER_CL),
	T("clang-cl", DRIVER_CL), T("cc1obj", COMPILER),     T("cc1objplus", COMPILER),
	T("cc1gm2", COMPILER),	  T("d21", COMPILER),	     T("f951", COMPILER),
	T("flang-new", DRIVER),	  T("gnat1", COMPILER),	     T("go1", COMPILER),
	T("lto1", COMPILER),	  T("lto-wrapper", HELPER),  T("ld.bfd", LINKER),
	T("ld.gold", LINKER),	  T("ld.lld", LINKER),	     T("ld64.lld", LINKER),
	T("wasm-ld", LINKER),	  T("lld", LINKER),	     T("lld-link", LINKER),
	T("gold", LINKER),	  T("mold", LINKER),	     T("ld64", LINKER),
	T("armlink", LINKER),	  T("armar", ARCHIVER),	     T("cpp", PREPROCESSOR),
	T("ccache", LAUNCHER),	  T("sccache", LAUNCHER),    T("distcc", LAUNCHER),
	T("icecc", LAUNCHER),	  T("buildcache", LAUNCHER), T("gomacc", LAUNCHER),
	T("colorgcc", LAUNCHER),  T("libtool", LIBTOOL),
};

static enum tr_tool look_up(struct tr_text name)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (tr_text_equal(known[i].name, name))
			return known[i].tool;
	return TR_TOOL_NONE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The name without the digits and points at its end; *dash: a dash stood in front of them. */
static struct tr_text without_version(struct tr_text name, bool *dash)
{
	size_t len = name.len;

	while (len > 0 && (is_digit(name.data[len - 1]) || name.data[len - 1] == '.'))
		len--;
	*dash = len > 1 && len < name.len && name.data[len - 1] == '-';
	if (*dash)
		len--;
	if (len == name.len || !is_digit(name.data[len + *dash]))
		return (struct tr_text){ name.data, 0 };
	return (struct tr_text){ name.data, len };
}

/* A name that has no cross prefix. */
static enum tr_tool look_up_version(struct tr_text name)
{
	bool dash;
	enum tr_tool tool = look_up(name);

	if (tool != TR_TOOL_NONE)
		return tool;
	struct tr_text plain = without_version(name, &dash);
	/* gcc12 and clang++16 are made so by some systems; ld86 and cc65 are other programs */
	if (!dash && plain.len < sizeof "gcc" - 1)
		return TR_TOOL_NONE;
	return look_up(plain);
}

struct tr_text tr_tool_base(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	if (base.len > 4 && base.data[base.len - 4] == '.' &&
	    (base.data[base.len - 3] | 0x20) == 'e' && (base.data[base.len - 2] | 0x20) == 'x' &&
	    (base.data[base.len - 1] | 0x20) == 'e')
		base.len -= 4;
	return base;
}

/* Any character that triplets and the names of wrappers have. */
static bool is_prefix(struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i], lower = (char)(c | 0x20);
		if (!is_digit(c) && !(lower >= 'a' && lower <= 'z') && !memchr("_.+-", c, 4))
			return false;
	}
	return text.len > 0;
}

static enum tr_tool look_up_prefixed(struct tr_text base)
{
	enum tr_tool tool = look_up_version(base);

	for (size_t i = 1; i < base.len && tool == TR_TOOL_NONE; i++) {
		if (base.data[i - 1] != '-')
			continue;
		struct tr_text rest = { base.data + i, base.len - i };
		tool = look_up_version(rest);
		if (tool != TR_TOOL_NONE && !is_prefix((struct tr_text){ base.data, i }))
			tool = TR_TOOL_NONE;
	}
	return tool;
}

enum tr_tool tr_tool_of_name(struct tr_text path)
{
	struct tr_text base = tr_tool_base(path);
	char lower[64];

	if (base.len > sizeof lower)
		return TR_TOOL_NONE; /* and no time for those who make up names of megabytes */
	enum tr_tool tool = look_up_prefixed(base);
	if (tool != TR_TOOL_NONE || base.data + base.len == path.data + path.len)
		return tool;
	/* .exe: where names are of no case */
	for (size_t i = 0; i < base.len; i++)
		lower[i] = (char)(base.data[i] >= 'A' && base.data[i] <= 'Z' ? base.data[i] | 0x20
									     : base.data[i]);
	return look_up_prefixed((struct tr_text){ lower, base.len });
}
