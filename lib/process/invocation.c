/* SPDX-License-Identifier: MIT */
/*
 * The roles of the words on a command line. The options of each kind of program are in a sorted
 * table; a word is looked up by its longest known prefix (find), described by where its value is,
 * and applied to the invocation (parse_word).
 */
#include "process/invocation.h"

#include <string.h>

#include "process/path.h"

/* The meaning of an option, and the place of its value. */
struct option {
	enum tr_role role;
	bool takes_next;      /* its value is the next word */
	enum tr_mode mode;    /* if role is TR_ROLE_MODE */
	struct tr_text value; /* the value in the same word, borrowed; data NULL: none */
};

/* Where an option has its value. */
enum place {
	ALONE,	  /* nowhere: it has none */
	ATTACHED, /* after its name, in the same word */
	EITHER,	  /* there, or in the next word if the name is the whole word */
	NEXT,	  /* in the next word; a longer word is a different option */
};

struct known {
	struct tr_text name;
	enum tr_role role;
	enum place place;
	enum tr_mode mode; /* if role is TR_ROLE_MODE */
};

/* The options of one kind of program, sorted by the bytes of their names. */
struct table {
	const struct known *list;
	size_t count;
	size_t at; /* the index of the first byte that is not the same in all names */
};

#define O(word, role, place) \
	{ \
		{ word, sizeof word - 1 }, TR_ROLE_##role, place, 0 \
	}
#define M(word, mode, place) \
	{ \
		{ word, sizeof word - 1 }, TR_ROLE_MODE, place, TR_MODE_##mode \
	}

/* Options of GCC and Clang, except those that have no value and do not affect any result. */
static const struct known gnu_options[] = {
	/* clang-format off */
	M("-###", QUERY, ALONE), M("--analyze", SYNTAX, ALONE), M("--assemble", ASSEMBLY, ALONE),
	M("--compile", COMPILE, ALONE), O("--config", OTHER, NEXT),
	O("--define-macro", DEFINE, NEXT), O("--define-macro=", DEFINE, ATTACHED),
	M("--dependencies", PREPROCESS, ALONE), O("--entry", LINKING, NEXT),
	O("--for-linker", LINKING, NEXT), O("--force-link", LINKING, NEXT),
	M("--help", QUERY, ALONE), M("--help=", QUERY, ATTACHED), O("--imacros", INCLUDE, NEXT),
	O("--include", INCLUDE, NEXT), O("--include-directory", SEARCH, NEXT),
	O("--include-directory-after", SEARCH, NEXT), O("--include-directory=", SEARCH, ATTACHED),
	O("--include-prefix", OTHER, NEXT), O("--include-with-prefix", OTHER, NEXT),
	O("--include=", INCLUDE, ATTACHED), O("--language", LANGUAGE, NEXT),
	O("--language=", LANGUAGE, ATTACHED), O("--library-directory", LINKING, NEXT),
	O("--library-directory=", LINKING, ATTACHED), O("--output", OUTPUT, NEXT),
	O("--output=", OUTPUT, ATTACHED), O("--param", OTHER, NEXT), O("--prefix", OTHER, NEXT),
	M("--preprocess", PREPROCESS, ALONE), M("--print-", QUERY, ATTACHED),
	O("--serialize-diagnostics", OTHER, NEXT), O("--shared", LINKING, ALONE),
	O("--specs", OTHER, NEXT), O("--static", LINKING, ALONE), O("--std=", DIALECT, ATTACHED),
	O("--sysroot", OTHER, NEXT), M("--target-help", QUERY, ALONE),
	O("--undefine-macro", DEFINE, NEXT), O("--undefine-macro=", DEFINE, ATTACHED),
	M("--user-dependencies", PREPROCESS, ALONE), M("--version", QUERY, ALONE),
	O("-A", OTHER, NEXT), O("-B", OTHER, NEXT), O("-D", DEFINE, EITHER),
	M("-E", PREPROCESS, ALONE), O("-F", SEARCH, EITHER), O("-I", SEARCH, EITHER),
	O("-J", OTHER, NEXT), O("-L", LINKING, EITHER), M("-M", PREPROCESS, ALONE),
	O("-MF", OTHER, NEXT), O("-MJ", OTHER, NEXT), M("-MM", PREPROCESS, ALONE),
	O("-MQ", OTHER, NEXT), O("-MT", OTHER, NEXT), M("-S", ASSEMBLY, ALONE),
	O("-T", LINKING, EITHER), O("-U", DEFINE, EITHER), O("-Wl,", LINKING, ATTACHED),
	O("-Xanalyzer", OTHER, NEXT), O("-Xarch_device", OTHER, NEXT),
	O("-Xarch_host", OTHER, NEXT), O("-Xassembler", OTHER, NEXT), O("-Xclang", OTHER, NEXT),
	O("-Xcompiler", OTHER, NEXT), O("-Xcuda-fatbinary", OTHER, NEXT),
	O("-Xcuda-ptxas", OTHER, NEXT), O("-Xlinker", LINKING, NEXT),
	O("-Xopenmp-target", OTHER, NEXT), O("-Xpreprocessor", OTHER, NEXT),
	O("-ansi", DIALECT, ATTACHED), O("-arch", OTHER, NEXT), O("-aux-info", OTHER, NEXT),
	O("-aux-triple", OTHER, NEXT), O("-auxbase", OTHER, NEXT), O("-auxbase-strip", OTHER, NEXT),
	O("-bundle", LINKING, ALONE), O("-bundle_loader", LINKING, NEXT), M("-c", COMPILE, ALONE),
	O("-ccc-gcc-name", OTHER, NEXT), O("-ccc-install-dir", OTHER, NEXT),
	O("-cxx-isystem", SYSTEM, NEXT), O("-darwin-target-variant", OTHER, NEXT),
	O("-dependency-file", OTHER, NEXT), O("-diagnostic-log-file", OTHER, NEXT),
	O("-dumpbase", OTHER, NEXT), O("-dumpbase-ext", OTHER, NEXT), O("-dumpdir", OTHER, NEXT),
	M("-dumpfullversion", QUERY, ALONE), M("-dumpmachine", QUERY, ALONE),
	M("-dumpspecs", QUERY, ALONE), M("-dumpversion", QUERY, ALONE),
	O("-dwarf-debug-flags", OTHER, NEXT), O("-dynamic", LINKING, ALONE),
	O("-dynamiclib", LINKING, ALONE), O("-e", LINKING, NEXT),
	O("-exported_symbols_list", LINKING, NEXT), O("-fdebug-compilation-dir", OTHER, NEXT),
	O("-fdump-go-spec", OTHER, NEXT), O("-framework", LINKING, NEXT),
	M("-fsyntax-only", SYNTAX, ALONE), O("-fuse-ld=", LINKING, ATTACHED),
	O("-gcc-toolchain", OTHER, NEXT), O("-header-include-file", OTHER, NEXT),
	O("-idirafter", SEARCH, EITHER), O("-iframework", SEARCH, EITHER),
	O("-imacros", INCLUDE, EITHER), O("-imultiarch", OTHER, NEXT), O("-imultilib", OTHER, NEXT),
	O("-include", INCLUDE, EITHER), O("-include-pch", INCLUDE, NEXT),
	O("-index-store-path", OTHER, NEXT), O("-install_name", LINKING, NEXT),
	O("-internal-externc-isystem", SYSTEM, NEXT), O("-internal-isystem", SYSTEM, NEXT),
	O("-iplugindir", OTHER, NEXT), O("-iprefix", OTHER, NEXT), O("-iquote", SEARCH, EITHER),
	O("-isysroot", OTHER, NEXT), O("-isystem", SYSTEM, EITHER),
	O("-isystem-after", SYSTEM, NEXT), O("-ivfsoverlay", OTHER, NEXT),
	O("-iwithprefix", OTHER, NEXT), O("-iwithprefixbefore", OTHER, NEXT),
	O("-iwithsysroot", OTHER, NEXT), O("-l", LINKING, EITHER),
	O("-lazy_framework", LINKING, NEXT), O("-main-file-name", OTHER, NEXT),
	O("-mcode-model", OTHER, NEXT), O("-mllvm", OTHER, NEXT),
	O("-mrelocation-model", OTHER, NEXT), O("-mthread-model", OTHER, NEXT),
	O("-needed_framework", LINKING, NEXT), O("-no-pie", LINKING, ALONE),
	O("-nodefaultlibs", LINKING, ALONE), O("-nolibc", LINKING, ALONE),
	O("-nostartfiles", LINKING, ALONE), O("-nostdlib", LINKING, ALONE),
	O("-nostdlib++", LINKING, ALONE), O("-o", OUTPUT, NEXT), O("-pic-level", OTHER, NEXT),
	O("-pie", LINKING, ALONE), M("-print-", QUERY, ATTACHED), O("-r", LINKING, ALONE),
	O("-rdynamic", LINKING, ALONE), O("-read_only_relocs", LINKING, NEXT),
	O("-resource-dir", OTHER, NEXT), O("-rpath", LINKING, NEXT), O("-s", LINKING, ALONE),
	O("-sectcreate", LINKING, NEXT), O("-serialize-diagnostic-file", OTHER, NEXT),
	O("-serialize-diagnostics", OTHER, NEXT), O("-shared", LINKING, ALONE),
	O("-shared-libgcc", LINKING, ALONE), O("-soname", LINKING, NEXT),
	O("-split-dwarf-file", OTHER, NEXT), O("-split-dwarf-output", OTHER, NEXT),
	O("-stack-protector", OTHER, NEXT), O("-static", LINKING, ALONE),
	O("-static-libasan", LINKING, ALONE), O("-static-libgcc", LINKING, ALONE),
	O("-static-libgfortran", LINKING, ALONE), O("-static-libstdc++", LINKING, ALONE),
	O("-static-libubsan", LINKING, ALONE), O("-static-pie", LINKING, ALONE),
	O("-std=", DIALECT, ATTACHED), O("-stdlib=", OTHER, ATTACHED),
	O("-symbolic", LINKING, ALONE), O("-target", OTHER, NEXT), O("-target-abi", OTHER, NEXT),
	O("-target-cpu", OTHER, NEXT), O("-target-feature", OTHER, NEXT),
	O("-target-linker-version", OTHER, NEXT), O("-triple", OTHER, NEXT),
	O("-tune-cpu", OTHER, NEXT), O("-u", LINKING, NEXT),
	O("-unexported_symbols_list", LINKING, NEXT), O("-weak_framework", LINKING, NEXT),
	O("-weak_library", LINKING, NEXT), O("-working-directory", OTHER, NEXT),
	O("-wrapper", OTHER, NEXT), O("-x", LANGUAGE, EITHER), O("-z", LINKING, EITHER),
	/* clang-format on */
};

/* Options of cl.exe and clang-cl, without the dash or slash. */
static const struct known cl_options[] = {
	/* clang-format off */
	M("?", QUERY, ALONE), O("AI", OTHER, EITHER), O("D", DEFINE, EITHER),
	M("E", PREPROCESS, ALONE), M("EP", PREPROCESS, ALONE),
	O("F", LINKING, EITHER), /* the size of the stack; other options begin with F, too */
	O("FA", OTHER, ATTACHED), O("FI", INCLUDE, EITHER), O("FR", OTHER, ATTACHED),
	O("FU", OTHER, EITHER), O("Fa", OTHER, ATTACHED), O("Fd", OTHER, ATTACHED),
	O("Fe", PRODUCT, ATTACHED), O("Fi", OTHER, ATTACHED), O("Fm", LINKING, ATTACHED),
	O("Fo", OUTPUT, ATTACHED), O("Fp", OTHER, ATTACHED), O("Fr", OTHER, ATTACHED),
	O("Fx", OTHER, ALONE), M("HELP", QUERY, ALONE), O("I", SEARCH, EITHER),
	O("LD", LINKING, ALONE), O("LDd", LINKING, ALONE), O("LN", LINKING, ALONE),
	M("P", PREPROCESS, ALONE), O("TC", LANGUAGE, ALONE), O("TP", LANGUAGE, ALONE),
	O("Tc", SOURCE, EITHER), O("Tp", SOURCE, EITHER), O("U", DEFINE, EITHER),
	O("Xclang", OTHER, NEXT), M("Zs", SYNTAX, ALONE), O("analyze:log", OTHER, EITHER),
	O("analyze:plugin", OTHER, EITHER), O("analyze:ruleset", OTHER, EITHER),
	M("c", COMPILE, ALONE), O("diasdkdir", OTHER, NEXT), O("external:I", SYSTEM, EITHER),
	O("headerUnit", OTHER, EITHER), M("help", QUERY, ALONE), O("ifcMap", OTHER, NEXT),
	O("ifcOutput", OTHER, NEXT), O("ifcSearchDir", OTHER, NEXT), O("imsvc", SYSTEM, EITHER),
	O("link", LINKING, ALONE), O("mllvm", OTHER, NEXT), O("o", OUTPUT, NEXT),
	O("reference", OTHER, EITHER), O("resource-dir", OTHER, NEXT),
	M("scanDependencies", PREPROCESS, EITHER), /* lists what a source needs, and compiles nothing */
	O("sourceDependencies", OTHER, EITHER), O("sourceDependencies:directives", OTHER, EITHER),
	O("std:", DIALECT, ATTACHED), O("stdIfcDir", OTHER, NEXT), O("target", OTHER, NEXT),
	O("vctoolsdir", OTHER, NEXT), O("winsdkdir", OTHER, NEXT), O("winsysroot", OTHER, NEXT),
	/* clang-format on */
};

/*
 * Options of GNU ld, gold, lld and Arm's armlink, without the one or two dashes. Many of a
 * driver's options have other meanings here: -E, -M, -S and -x do not change the kind of output.
 */
#define L(word) O(word, LINKING, NEXT)
static const struct known ld_options[] = {
	/* clang-format off */
	L("Map"), L("Tbss"), L("Tdata"), L("Ttext"), L("Ttext-segment"), L("architecture"),
	L("assert"), L("base-file"), L("cpu"), L("datacompressor"), L("default-script"),
	L("defsym"), L("diag_error"), L("diag_remark"), L("diag_suppress"), L("diag_warning"),
	L("dynamic-linker"), L("dynamic-list"), L("edit"), L("entry"), L("errors"),
	L("exclude-libs"), L("feedback"), L("filter"), L("fini"), L("first"), L("format"), L("fpu"),
	M("help", QUERY, ALONE), L("image-base"), L("info"), L("init"), L("just-symbols"),
	L("keep"), L("last"), L("libpath"), L("library"), L("library-path"), L("list"),
	L("oformat"), L("out-implib"), O("output", OUTPUT, NEXT), L("output-def"),
	L("partial-inplace"), L("plugin"), L("plugin-opt"), L("predefine"),
	L("retain-symbols-file"), L("ro-base"), L("ro_base"), L("rpath"), L("rpath-link"),
	L("rw-base"), L("rw_base"), L("scatter"), L("script"), L("section-start"), L("soname"),
	L("subsystem"), L("symdefs"), L("sysroot"), M("target-help", QUERY, ALONE),
	L("trace-symbol"), L("undefined"), L("userlibpath"), L("version-script"), L("via"),
	L("wrap"), L("zi_base"),
	/* clang-format on */
};

#undef L
#undef O
#undef M

#define TABLE(list, at) ((struct table){ list, sizeof list / sizeof *list, at })

/* The option with the longest name that the word begins with, or equals if it has no value in the
 * word. NULL: none. */
static const struct known *find(struct table table, struct tr_text word)
{
	const struct known *first = table.list, *found = NULL;
	const struct known *end = table.list + table.count;
	size_t at = table.at, count = table.count;

	if (word.len <= at)
		return NULL;
	unsigned char key = (unsigned char)word.data[at];
	while (count) {
		const struct known *middle = first + count / 2;
		bool before = (unsigned char)middle->name.data[at] < key;
		first = before ? middle + 1 : first;
		count = before ? count - count / 2 - 1 : count / 2;
	}
	/* a name comes after its prefixes, so the last match is the longest */
	for (; first < end && (unsigned char)first->name.data[at] == key; first++) {
		size_t len = first->name.len;
		if (len > word.len ||
		    (len < word.len && (first->place == ALONE || first->place == NEXT)))
			continue;
		if (memcmp(word.data + at, first->name.data + at, len - at) == 0)
			found = first;
	}
	return found;
}

/* Applies an option (NULL: unknown) to a word. */
static struct option describe(const struct known *known, struct tr_text word)
{
	struct option option = { .role = TR_ROLE_OTHER };

	if (!known)
		return option;
	bool whole = word.len == known->name.len;
	option.role = known->role;
	option.mode = known->mode;
	option.takes_next = whole && (known->place == EITHER || known->place == NEXT);
	if (!option.takes_next && known->place != ALONE && known->role != TR_ROLE_MODE)
		option.value =
			(struct tr_text){ word.data + known->name.len, word.len - known->name.len };
	return option;
}

/* The name includes the dashes, since -o and --o differ. */
static struct option find_gnu(struct tr_text word)
{
	struct option option = describe(find(TABLE(gnu_options, 1), word), word);

	/* -xHost and -xCORE-AVX2 of Intel name processors; names of languages are in lower case */
	if (option.role == TR_ROLE_LANGUAGE && option.value.len && *option.value.data >= 'A' &&
	    *option.value.data <= 'Z')
		option.role = TR_ROLE_OTHER;
	/* other options begin with -o, too: -object is one of Apple's */
	if (word.len > 2 && word.data[1] == 'o' && option.role == TR_ROLE_OTHER &&
	    !option.takes_next && !tr_text_starts(word, TR_TEXT("-object"))) {
		option.role = TR_ROLE_OUTPUT;
		option.value = (struct tr_text){ word.data + 2, word.len - 2 };
	}
	return option;
}

/* The dash or slash is not a part of the name. */
static struct option find_cl(struct tr_text word)
{
	struct tr_text name = { word.data + 1, word.len - 1 };
	struct option option = describe(find(TABLE(cl_options, 0), name), name);

	/* "/Fo:name" */
	if ((option.role == TR_ROLE_OUTPUT || option.role == TR_ROLE_PRODUCT) && option.value.len &&
	    *option.value.data == ':') {
		option.value.data++;
		option.value.len--;
		option.takes_next = option.value.len == 0;
	}
	return option;
}

/* True for the long options that name the output of a linker. */
static bool names_output(struct tr_text name)
{
	return tr_text_is(name, "output") || tr_text_is(name, "out") || tr_text_is(name, "OUT");
}

/* Linkers accept one or two dashes before long names, and a value after "=". */
static struct option find_ld(struct tr_text word)
{
	/* options of one letter, whose value is the rest of the word or the next word */
	static const char letters[] = "AFGILRTYabcefhlmouyz";
	struct option option = { .role = TR_ROLE_LINKING };
	size_t dashes = word.len > 2 && word.data[0] == '-' && word.data[1] == '-' ? 2 : 1;
	struct tr_text name = { word.data + dashes, word.len - dashes };
	const char *mark = memchr(name.data, '=', name.len);

	if (!mark && name.len > 3 && names_output((struct tr_text){ name.data, 3 }) &&
	    name.data[3] == ':')
		mark = name.data + 3; /* lld-link */
	if (mark) {
		struct tr_text value = { mark + 1, name.len - (size_t)(mark - name.data) - 1 };
		name.len = (size_t)(mark - name.data);
		if (names_output(name)) {
			option.role = TR_ROLE_OUTPUT;
			option.value = value;
			return option;
		}
	}
	const struct known *known = find(TABLE(ld_options, 0), name);
	if (known && (!mark || known->role == TR_ROLE_MODE))
		return describe(known, name);
	if (dashes == 1 && memchr(letters, *name.data, sizeof letters - 1)) {
		option.role = *name.data == 'o' ? TR_ROLE_OUTPUT : TR_ROLE_LINKING;
		option.takes_next = word.len == 2;
		if (word.len > 2 && option.role == TR_ROLE_OUTPUT)
			option.value = (struct tr_text){ word.data + 2, word.len - 2 };
	}
	return option;
}

/* Finds the meaning of an option to that kind of program. */
static struct option find_option(enum tr_tool program, struct tr_text word)
{
	if (program == TR_TOOL_DRIVER_CL)
		return find_cl(word);
	return tr_tool_is_linker(program) ? find_ld(word) : find_gnu(word);
}

/* Command lines. */

/*
 * The extensions of C, C++, Objective-C, headers (to be precompiled), Fortran, D, Ada, Go,
 * assembler and others, by the letter after the dot.
 */
static const char source_extensions[128][11][8] = {
	['C'] = { ".CPP", ".C" },
	['F'] = { ".F", ".FOR", ".FPP", ".FTN", ".F90", ".F95", ".F03", ".F08" },
	['H'] = { ".H", ".HPP" },
	['M'] = { ".M" },
	['S'] = { ".S" },
	['a'] = { ".adb", ".ads", ".asm" },
	['b'] = { ".bc" },
	['c'] = { ".c", ".cc", ".cp", ".cxx", ".cpp", ".c++", ".cppm", ".ccm", ".cu", ".cui",
		  ".cl" },
	['d'] = { ".d", ".di", ".dd" },
	['f'] = { ".f", ".for", ".ftn", ".fpp", ".f90", ".f95", ".f03", ".f08" },
	['g'] = { ".go", ".gimple" },
	['h'] = { ".h", ".hh", ".hp", ".hxx", ".hpp", ".h++", ".hip" },
	['i'] = { ".i", ".ii", ".ixx" },
	['l'] = { ".ll" },
	['m'] = { ".m", ".mi", ".mm", ".mii" },
	['s'] = { ".s", ".sx" },
	['t'] = { ".tcc" },
};

/* True for ".c" and the like. The letter after the dot leaves at most eleven to compare. */
static bool is_source_extension(struct tr_text extension)
{
	unsigned char letter = extension.len > 1 ? (unsigned char)extension.data[1] : 0;

	if (extension.len < 2 || extension.len > sizeof ".gimple" - 1 || letter > 127)
		return false;
	const char(*known)[8] = source_extensions[letter];
	for (size_t i = 0; i < 11 && known[i][0]; i++)
		if (memcmp(known[i], extension.data, extension.len) == 0 &&
		    !known[i][extension.len])
			return true;
	return false;
}

/* Files for the linker, to which /TC and /TP do not apply. */
static bool is_linked(struct tr_text path)
{
	static const char *const extensions[] = {
		".obj", ".lib", ".res", ".def", ".o", ".a", NULL
	};
	struct tr_text extension = tr_path_extension(path);

	for (size_t i = 0; extensions[i]; i++)
		if (tr_text_equal_in_any_case(extension, tr_text_from(extensions[i])))
			return true;
	return false;
}

/* The extension decides in upper or lower case: "A.CPP". */
static bool is_cl_source(struct tr_text path)
{
	char lower[8];
	struct tr_text extension = tr_path_extension(path);

	if (extension.len > sizeof lower)
		return false;
	for (size_t i = 0; i < extension.len; i++)
		lower[i] = tr_lower(extension.data[i]);
	return is_source_extension((struct tr_text){ lower, extension.len });
}

struct parser {
	enum tr_tool program;
	struct tr_invocation *result;
	bool named_language; /* after -x: every file is a source, regardless of its name */
	bool only_files;     /* after "--" */
	bool only_linker;    /* after /link */
};

/* Sets the role of a word that is no option: a source, or an input of the linker. */
static void add_file(struct parser *parser, struct tr_part *part)
{
	struct tr_invocation *result = parser->result;
	bool stdin_file = tr_text_is(part->text, "-");

	/* a response file that could not be expanded */
	if (part->text.len > 1 && part->text.data[0] == '@')
		return;
	bool source = is_source_extension(tr_path_extension(part->text));

	if (tr_tool_is_linker(parser->program))
		source = false;
	else if (parser->program == TR_TOOL_DRIVER_CL)
		source = is_cl_source(part->text) ||
			 (parser->named_language && !is_linked(part->text));
	else if (parser->named_language)
		source = true;
	part->role = source && !stdin_file ? TR_ROLE_SOURCE : TR_ROLE_INPUT;
	part->file = part->text;
	result->sources += part->role == TR_ROLE_SOURCE;
	result->inputs += part->role == TR_ROLE_INPUT;
}

/* Applies the value of an option. */
static void use_value(struct parser *parser, const struct option *option, struct tr_text value)
{
	if (option->role == TR_ROLE_OUTPUT && value.len && !tr_text_is(value, "-"))
		parser->result->output = value;
	else if (option->role == TR_ROLE_PRODUCT && value.len)
		parser->result->product = value;
	else if (option->role == TR_ROLE_LANGUAGE)
		parser->named_language = !tr_text_is(value, "none");
}

/* Sets the role of a word, and of the next one if that is its value. Returns how many those are. */
static size_t parse_word(struct parser *parser, struct tr_part *part, size_t left)
{
	struct tr_invocation *result = parser->result;
	struct option option = { .role = TR_ROLE_INPUT };
	struct tr_text word = part->text;
	bool cl = parser->program == TR_TOOL_DRIVER_CL;

	if (parser->only_linker) {
		part->role = TR_ROLE_LINKING;
		return 1;
	}
	if (tr_text_is(word, "--") && !parser->only_files) {
		parser->only_files = true;
		return 1;
	}
	/* "-" alone is standard input */
	bool is_option = !parser->only_files && word.len > 1 &&
			 (*word.data == '-' || (cl && *word.data == '/'));
	if (is_option)
		option = find_option(parser->program, word);
	/* clang-cl also runs where paths begin with a slash: such a path resembles no option */
	if (is_option && *word.data == '/' && option.role == TR_ROLE_OTHER && !option.takes_next &&
	    !option.value.data && memchr(word.data + 1, '/', word.len - 1) && is_cl_source(word))
		is_option = false;
	if (!is_option) {
		add_file(parser, part);
		return 1;
	}
	part->role = option.role;
	parser->only_linker =
		cl && tr_text_is((struct tr_text){ word.data + 1, word.len - 1 }, "link");
	/* -E and -M have precedence over -c in any order, and queries over everything */
	if (option.role == TR_ROLE_MODE && option.mode > result->mode)
		result->mode = option.mode;
	bool takes_next = option.takes_next && left > 1;
	struct tr_part *named = takes_next ? &part[1] : part;
	struct tr_text value = takes_next ? named->text : option.value;
	if (takes_next) {
		named->role = option.role;
		named->value = true;
	}
	if (option.role != TR_ROLE_SOURCE) {
		if (value.data || option.role == TR_ROLE_LANGUAGE)
			use_value(parser, &option, value);
		return 1 + takes_next;
	}
	/* "/Tca.txt", or the word after "/Tc", is a source; "/Tc" itself is not */
	part->role = TR_ROLE_OTHER;
	if (takes_next || value.data) {
		named->role = TR_ROLE_SOURCE;
		named->file = value;
		result->sources++;
	}
	return 1 + takes_next;
}

bool tr_invocation_parse(enum tr_tool program, const struct tr_word *words, size_t count,
			 struct tr_arena *arena, struct tr_invocation *result)
{
	struct parser parser = { .program = program, .result = result };

	*result = (struct tr_invocation){ .tool = program, .mode = TR_MODE_LINK };
	result->parts = tr_arena_alloc(arena, count * sizeof *result->parts);
	if (!result->parts)
		return false;
	result->count = count;
	for (size_t i = 0; i < count; i++)
		result->parts[i] = (struct tr_part){ .text = words[i].text,
						     .origin = words[i].origin,
						     .from_file = words[i].from_file };
	if (count)
		result->parts[0].role = TR_ROLE_PROGRAM;
	/* clang -cc1: the driver runs itself as a compiler */
	if (count > 1 && tr_text_starts(words[1].text, TR_TEXT("-cc1")))
		result->tool =
			tr_text_is(words[1].text, "-cc1as") ? TR_TOOL_ASSEMBLER : TR_TOOL_COMPILER;
	for (size_t i = 1; i < count;)
		i += parse_word(&parser, &result->parts[i], count - i);
	/* gcc -v, or no arguments at all */
	if (result->mode == TR_MODE_LINK && !result->sources && !result->inputs)
		result->mode = TR_MODE_QUERY;
	/* cc1 and as never link; they are a part of -c */
	if (result->mode == TR_MODE_LINK &&
	    (result->tool == TR_TOOL_COMPILER || result->tool == TR_TOOL_ASSEMBLER))
		result->mode = TR_MODE_COMPILE;
	return true;
}

/* A precompiled header is named after the whole name of the header: "a.h.gch". */
static bool is_header(struct tr_text path)
{
	struct tr_text extension = tr_path_extension(path);

	return extension.len > 1 && (extension.data[1] | 0x20) == 'h' &&
	       !tr_text_is(extension, ".hip");
}

/* data NULL: out of memory. */
static struct tr_text concatenate(struct tr_text a, struct tr_text b, struct tr_arena *arena)
{
	char *text = tr_arena_alloc(arena, a.len + b.len + 1);

	if (!text)
		return (struct tr_text){ NULL, 0 };
	if (a.len)
		memcpy(text, a.data, a.len);
	if (b.len)
		memcpy(text + a.len, b.data, b.len);
	return (struct tr_text){ text, a.len + b.len };
}

struct tr_text tr_invocation_object(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena)
{
	struct tr_text base = tr_path_base(source), stem = base;
	struct tr_text ending = TR_TEXT(".o");

	stem.len -= tr_path_extension(source).len;
	if (invocation->mode == TR_MODE_ASSEMBLY) {
		ending = TR_TEXT(".s");
	} else if (invocation->tool == TR_TOOL_DRIVER_CL) {
		ending = TR_TEXT(".obj");
	} else if (is_header(source)) {
		ending = TR_TEXT(".gch");
		stem = base;
	}
	return concatenate(stem, ending, arena);
}

/*
 * The output that is given belongs to a source only if there is no other one, except in a folder
 * of cl.
 */
struct tr_text tr_invocation_output(const struct tr_invocation *invocation, struct tr_text source,
				    struct tr_arena *arena, bool *failed)
{
	struct tr_text none = { NULL, 0 }, given = invocation->output;
	bool cl = invocation->tool == TR_TOOL_DRIVER_CL;

	if (!given.len)
		return none;
	char last = given.data[given.len - 1];
	if (cl && (last == '/' || last == '\\')) {
		struct tr_text object = tr_invocation_object(invocation, source, arena);
		struct tr_text whole = object.data ? concatenate(given, object, arena) : none;
		*failed |= !whole.data;
		return whole;
	}
	if (invocation->sources != 1 || (invocation->mode == TR_MODE_LINK && !cl))
		return none;
	return given;
}
