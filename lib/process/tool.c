/* SPDX-License-Identifier: MIT */
/*
 * Kinds of programs by their names, and configurations that list compilers. A name may have a
 * cross prefix, a version and .exe.
 */
#include "process/tool.h"

#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/input.h"
#include "process/path.h"
#include "record/json.h"
#include "record/literal.h"

/*
 * A row of the table: an exact name, without prefix, version and .exe. The compilers besides GCC and
 * Clang are those that have the options of these: of QNX (qcc), Wind River (ccpentium), Green Hills
 * (ccarm), Diab (dcc), Arm, TI (tiarmclang), IBM (xlc), NVIDIA and PGI (nvc, pgcc), Cray and Intel.
 */
struct known_tool {
	struct tr_text name;
	enum tr_tool tool;
};

#define T(word, tool) \
	{ \
		{ word, sizeof word - 1 }, TR_TOOL_##tool \
	}

/* Sorted by the bytes of the names. */
static const struct known_tool known_tools[] = {
	T("CC", DRIVER),	  T("QCC", DRIVER),	      T("ar", ARCHIVER),
	T("armar", ARCHIVER),	  T("armcc", DRIVER),	      T("armclang", DRIVER),
	T("armclang++", DRIVER),  T("armcpp", DRIVER),	      T("armlink", LINKER),
	T("as", ASSEMBLER),	  T("buildcache", LAUNCHER),  T("c++", DRIVER),
	T("c++68k", DRIVER),	  T("c++arm", DRIVER),	      T("c++mips", DRIVER),
	T("c++pentium", DRIVER),  T("c++ppc", DRIVER),	      T("c++sh", DRIVER),
	T("c++simlinux", DRIVER), T("c++simpc", DRIVER),      T("c++sparc", DRIVER),
	T("c17", DRIVER),	  T("c89", DRIVER),	      T("c99", DRIVER),
	T("cc", DRIVER),	  T("cc1", COMPILER),	      T("cc1gm2", COMPILER),
	T("cc1obj", COMPILER),	  T("cc1objplus", COMPILER),  T("cc1plus", COMPILER),
	T("cc386", DRIVER),	  T("cc68", DRIVER),	      T("cc68k", DRIVER),
	T("cc86", DRIVER),	  T("ccache", LAUNCHER),      T("ccarm", DRIVER),
	T("ccarm64", DRIVER),	  T("ccint86", DRIVER),	      T("ccintarm", DRIVER),
	T("ccintarm64", DRIVER),  T("ccintppc", DRIVER),      T("ccmips", DRIVER),
	T("ccpentium", DRIVER),	  T("ccppc", DRIVER),	      T("ccrh850", DRIVER),
	T("ccrv", DRIVER),	  T("ccsh", DRIVER),	      T("ccsimlinux", DRIVER),
	T("ccsimpc", DRIVER),	  T("ccsimso", DRIVER),	      T("ccsparc", DRIVER),
	T("ccthumb", DRIVER),	  T("cctri", DRIVER),	      T("ccv850", DRIVER),
	T("ccxscale", DRIVER),	  T("cl", DRIVER_CL),	      T("clang", DRIVER),
	T("clang++", DRIVER),	  T("clang-cl", DRIVER_CL),   T("collect2", COLLECTOR),
	T("colorgcc", LAUNCHER),  T("cpp", PREPROCESSOR),     T("crayCC", DRIVER),
	T("crayc++", DRIVER),	  T("craycc", DRIVER),	      T("craycxx", DRIVER),
	T("crayftn", DRIVER),	  T("cx386", DRIVER),	      T("cx68", DRIVER),
	T("cx86", DRIVER),	  T("cxarm", DRIVER),	      T("cxarm64", DRIVER),
	T("cxint86", DRIVER),	  T("cxintarm", DRIVER),      T("cxintarm64", DRIVER),
	T("cxintppc", DRIVER),	  T("cxmips", DRIVER),	      T("cxppc", DRIVER),
	T("cxrh850", DRIVER),	  T("cxrv", DRIVER),	      T("cxthumb", DRIVER),
	T("cxtri", DRIVER),	  T("cxv850", DRIVER),	      T("d21", COMPILER),
	T("dcc", DRIVER),	  T("distcc", LAUNCHER),      T("dpcpp", DRIVER),
	T("dplus", DRIVER),	  T("eg++", DRIVER),	      T("egcc", DRIVER),
	T("egfortran", DRIVER),	  T("em++", DRIVER),	      T("emcc", DRIVER),
	T("f77", DRIVER),	  T("f90", DRIVER),	      T("f95", DRIVER),
	T("f951", COMPILER),	  T("flang", DRIVER),	      T("flang-new", DRIVER),
	T("ftn", DRIVER),	  T("g++", DRIVER),	      T("g77", DRIVER),
	T("g95", DRIVER),	  T("gcc", DRIVER),	      T("gccgo", DRIVER),
	T("gdc", DRIVER),	  T("gfortran", DRIVER),      T("gnat1", COMPILER),
	T("gnatgcc", DRIVER),	  T("go1", COMPILER),	      T("gold", LINKER),
	T("gomacc", LAUNCHER),	  T("hipcc", DRIVER),	      T("ibm-clang", DRIVER),
	T("ibm-clang++", DRIVER), T("ibm-clang++_r", DRIVER), T("ibm-clang_r", DRIVER),
	T("icc", DRIVER),	  T("icecc", LAUNCHER),	      T("icl", DRIVER_CL),
	T("icpc", DRIVER),	  T("icpx", DRIVER),	      T("icx", DRIVER),
	T("ifort", DRIVER),	  T("ifx", DRIVER),	      T("ld", LINKER),
	T("ld.bfd", LINKER),	  T("ld.gold", LINKER),	      T("ld.lld", LINKER),
	T("ld64", LINKER),	  T("ld64.lld", LINKER),      T("libtool", LIBTOOL),
	T("lld", LINKER),	  T("lld-link", LINKER),      T("lto-wrapper", HELPER),
	T("lto1", COMPILER),	  T("mold", LINKER),	      T("mpiCC", DRIVER),
	T("mpic++", DRIVER),	  T("mpicc", DRIVER),	      T("mpicxx", DRIVER),
	T("mpif77", DRIVER),	  T("mpif90", DRIVER),	      T("mpifort", DRIVER),
	T("mpiicc", DRIVER),	  T("mpiicpc", DRIVER),	      T("mpiicpx", DRIVER),
	T("mpiicx", DRIVER),	  T("mpiifort", DRIVER),      T("mpiifx", DRIVER),
	T("nvc", DRIVER),	  T("nvc++", DRIVER),	      T("nvcc", DRIVER),
	T("nvfortran", DRIVER),	  T("pgCC", DRIVER),	      T("pgc++", DRIVER),
	T("pgcc", DRIVER),	  T("pgcpp", DRIVER),	      T("pgf77", DRIVER),
	T("pgf90", DRIVER),	  T("pgf95", DRIVER),	      T("pgfortran", DRIVER),
	T("q++", DRIVER),	  T("qcc", DRIVER),	      T("sccache", LAUNCHER),
	T("tcc", DRIVER),	  T("tiarmclang", DRIVER),    T("wasm-ld", LINKER),
	T("xg++", DRIVER),	  T("xgcc", DRIVER),	      T("xlC", DRIVER),
	T("xlC_r", DRIVER),	  T("xlc", DRIVER),	      T("xlc++", DRIVER),
	T("xlc++_r", DRIVER),	  T("xlc_r", DRIVER),	      T("xlclang", DRIVER),
	T("xlclang++", DRIVER),	  T("xlclang++_r", DRIVER),   T("xlclang_r", DRIVER),
	T("xlf", DRIVER),	  T("xlf2003", DRIVER),	      T("xlf2003_r", DRIVER),
	T("xlf2008", DRIVER),	  T("xlf2008_r", DRIVER),     T("xlf90", DRIVER),
	T("xlf90_r", DRIVER),	  T("xlf95", DRIVER),	      T("xlf95_r", DRIVER),
	T("xlf_r", DRIVER),
};

static int compare_name(const void *key, const void *row)
{
	const struct tr_text *name = key, *other = &((const struct known_tool *)row)->name;
	size_t len = name->len < other->len ? name->len : other->len;
	int order = memcmp(name->data, other->data, len);

	return order ? order : (name->len > other->len) - (name->len < other->len);
}

/* Looks up an exact name. */
static enum tr_tool look_up(struct tr_text name)
{
	const struct known_tool *found =
		bsearch(&name, known_tools, sizeof known_tools / sizeof *known_tools,
			sizeof *known_tools, compare_name);

	return found ? found->tool : TR_TOOL_NONE;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Looks up a name that has no cross prefix, with and without its version. */
static enum tr_tool look_up_version(struct tr_text name)
{
	enum tr_tool tool = look_up(name);
	size_t len = name.len;

	if (tool != TR_TOOL_NONE)
		return tool;
	while (len > 0 && (is_digit(name.data[len - 1]) || name.data[len - 1] == '.'))
		len--;
	bool version = len < name.len && is_digit(name.data[len]);
	bool dash = len > 1 && name.data[len - 1] == '-'; /* "gcc-12", not "gcc12" */
	/* some systems have gcc12 and clang++16; but ld86 and cc65 are unrelated programs */
	if (!version || (!dash && len < sizeof "gcc" - 1))
		return TR_TOOL_NONE;
	return look_up((struct tr_text){ name.data, len - dash });
}

struct tr_text tr_tool_base(struct tr_text path)
{
	struct tr_text base = tr_path_base(path);

	if (base.len > 4 &&
	    tr_text_equal_in_any_case(TR_TEXT(".exe"),
				      (struct tr_text){ base.data + base.len - 4, 4 }))
		base.len -= 4;
	return base;
}

/* True if all characters occur in target triplets and names of wrappers. */
static bool is_prefix(struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i], lower = (char)(c | 0x20);
		if (!is_digit(c) && !(lower >= 'a' && lower <= 'z') && !memchr("_.+-", c, 4))
			return false;
	}
	return text.len > 0;
}

/* Looks up a name that may have a cross prefix, which ends in a dash: arm-none-eabi-gcc. */
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
		return TR_TOOL_NONE; /* bounds the time for names of megabytes */
	enum tr_tool tool = look_up_prefixed(base);
	if (tool != TR_TOOL_NONE || base.data + base.len == path.data + path.len)
		return tool;
	/* with .exe, names are compared without regard to case */
	for (size_t i = 0; i < base.len; i++)
		lower[i] = tr_lower(base.data[i]);
	return look_up_prefixed((struct tr_text){ lower, base.len });
}

/* Configurations. */

/* A tool of a configuration, and how it names its response files. */
struct configured {
	struct tr_text binary;
	struct tr_respfile_rules rules;
};

struct tr_tool_config {
	struct tr_arena arena;
	struct configured *tools;
	size_t count;
	struct tr_text origin; /* its name in messages, valid while it is parsed */
};

/* Sets err to a flaw of the configuration. Returns false. */
static bool bad(struct tr_tool_config *config, struct tr_error *err, const char *why)
{
	tr_error_set(err, TR_CAUSE_USAGE, "%.*s: %s",
		     (int)(config->origin.len > 200 ? 200 : config->origin.len),
		     config->origin.data, why);
	return false;
}

/* Fills err. False. */
static bool out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return false;
}

/* The value of a key; the last of repeated keys counts. NULL: none. */
static const struct tr_value *member(const struct tr_value *map, const char *key)
{
	for (size_t i = map->type == TR_MAP ? map->count : 0; i > 0; i--)
		if (tr_text_is(map->as.members[i - 1].key, key))
			return map->as.members[i - 1].value;
	return NULL;
}

/* Reads an entry of responseFileArgs. */
static bool read_rule(struct tr_tool_config *config, const struct tr_value *value,
		      struct tr_respfile_rule *rule, struct tr_error *err)
{
	static const struct {
		const char *name;
		unsigned form;
	} known[] = { { "attached", TR_RESPFILE_ATTACHED },
		      { "space", TR_RESPFILE_SPACE },
		      { "equal", TR_RESPFILE_EQUAL } };
	const struct tr_value *option = member(value, "argument");
	const struct tr_value *forms = member(value, "argFormat");

	if (!option || option->type != TR_STRING || !option->text.len || !forms ||
	    forms->type != TR_LIST)
		return bad(config, err,
			   "responseFileArgs: every entry needs an argument and an argFormat");
	rule->option = tr_string_bytes(option->text, &config->arena);
	rule->forms = 0;
	if (!rule->option.data)
		return out_of_memory(err);
	for (size_t i = 0; i < forms->count; i++) {
		const struct tr_value *word = &forms->as.items[i];
		unsigned form = 0;
		for (size_t k = 0; word->type == TR_STRING && k < sizeof known / sizeof *known; k++)
			form |= tr_text_is(word->text, known[k].name) ? known[k].form : 0;
		if (!form)
			return bad(config, err, "argFormat: attached, space or equal expected");
		rule->forms |= form;
	}
	return true;
}

/* Reads an entry of the list of tools. */
static bool read_tool(struct tr_tool_config *config, const struct tr_value *value,
		      struct configured *tool, struct tr_error *err)
{
	const struct tr_value *binary = member(value, "binary");
	const struct tr_value *rules = member(value, "responseFileArgs");

	if (!binary || binary->type != TR_STRING || !binary->text.len)
		return bad(config, err, "every tool needs the name of its binary");
	if (rules && rules->type != TR_LIST && rules->type != TR_NULL)
		return bad(config, err, "responseFileArgs must be a list");
	struct tr_text name = tr_string_bytes(binary->text, &config->arena);
	size_t count = rules && rules->type == TR_LIST ? rules->count : 0;
	struct tr_respfile_rule *list = tr_arena_alloc(&config->arena, count * sizeof *list);
	if (!list || !name.data)
		return out_of_memory(err);
	*tool = (struct configured){ tr_tool_base(name), { list, count } };
	for (size_t i = 0; i < count; i++)
		if (!read_rule(config, &rules->as.items[i], &list[i], err))
			return false;
	return true;
}

/* Reads the list of tools. */
static bool read_tools(struct tr_tool_config *config, const struct tr_value *list,
		       struct tr_error *err)
{
	if (list->type != TR_LIST)
		return bad(config, err, "not a list of tools");
	config->tools = tr_arena_alloc(&config->arena, list->count * sizeof *config->tools);
	if (!config->tools)
		return out_of_memory(err);
	for (; config->count < list->count; config->count++)
		if (!read_tool(config, &list->as.items[config->count],
			       &config->tools[config->count], err))
			return false;
	return true;
}

/* Parses the JSON text. NULL: err is set. */
static const struct tr_value *read_json(struct tr_tool_config *config, struct tr_text text,
					struct tr_error *err)
{
	struct tr_buffer literal = TR_BUFFER_INIT;
	const struct tr_value *tree = NULL;
	char *copy = tr_arena_alloc(&config->arena, text.len + TR_INPUT_PAD);

	if (!copy) {
		tr_error_memory(err);
		return NULL;
	}
	memcpy(copy, text.data, text.len);
	memset(copy + text.len, 0, TR_INPUT_PAD);
	struct tr_json json = { copy, copy + text.len };
	enum tr_json_token token = tr_json_spell(&json, &literal, NULL, err);
	struct tr_text ignored;
	/* the tree points into its text, so that has to live as long */
	struct tr_text kept = tr_arena_copy(&config->arena, tr_buffer_text(&literal));
	if (literal.failed || !kept.data)
		tr_error_memory(err);
	else if (token == TR_JSON_CUT || token == TR_JSON_BAD ||
		 tr_json_next(&json, &ignored) != TR_JSON_CUT)
		bad(config, err, "not a JSON text");
	else
		tree = tr_literal_parse(kept, &config->arena, err);
	tr_buffer_free(&literal);
	return tree;
}

struct tr_tool_config *tr_tool_config_parse(struct tr_text json, struct tr_text origin,
					    struct tr_error *err)
{
	struct tr_tool_config *config = calloc(1, sizeof *config);

	if (!config) {
		tr_error_memory(err);
		return NULL;
	}
	if (tr_text_starts(json, TR_TEXT("\xef\xbb\xbf")))
		json = (struct tr_text){ json.data + 3, json.len - 3 };
	config->origin = origin;
	const struct tr_value *list = read_json(config, json, err);
	if (!list || !read_tools(config, list, err)) {
		tr_tool_config_free(config);
		return NULL;
	}
	return config;
}

struct tr_tool_config *tr_tool_config_read(struct tr_text path, struct tr_error *err)
{
	enum { LARGEST = 1 << 20 };
	struct tr_buffer bytes = TR_BUFFER_INIT;
	struct tr_tool_config *config = NULL;

	if (tr_file_read(path, LARGEST, &bytes, err))
		config = tr_tool_config_parse(tr_buffer_text(&bytes), path, err);
	tr_buffer_free(&bytes);
	return config;
}

/* These name their response files as @file. */
struct tr_tool_config *tr_tool_config_xcalbuild(struct tr_error *err)
{
	static const char *const names[] = {
		"ar",  "cc",  "ld",	  "gcc",     "llvm-gcc",	  "clang",
		"c++", "g++", "llvm-g++", "clang++", "arm-none-eabi-gcc", "arm-none-eabi-g++"
	};
	enum { COUNT = sizeof names / sizeof *names };
	struct tr_tool_config *config = calloc(1, sizeof *config);

	if (config)
		config->tools = tr_arena_alloc(&config->arena, COUNT * sizeof *config->tools);
	if (!config || !config->tools) {
		tr_error_memory(err);
		tr_tool_config_free(config);
		return NULL;
	}
	for (; config->count < COUNT; config->count++)
		config->tools[config->count] =
			(struct configured){ tr_text_from(names[config->count]),
					     tr_respfile_usual };
	return config;
}

const struct tr_respfile_rules *tr_tool_config_find(const struct tr_tool_config *config,
						    struct tr_text program)
{
	struct tr_text base = tr_tool_base(program);

	if (!config->count)
		return &tr_respfile_usual;
	for (size_t i = 0; i < config->count; i++)
		if (tr_text_equal_in_any_case(config->tools[i].binary, base))
			return &config->tools[i].rules;
	return NULL;
}

bool tr_tool_config_takes_all(const struct tr_tool_config *config)
{
	return config->count == 0;
}

void tr_tool_config_free(struct tr_tool_config *config)
{
	if (!config)
		return;
	tr_arena_free(&config->arena);
	free(config);
}
