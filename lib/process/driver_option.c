/* SPDX-License-Identifier: MIT */
#include "process/driver_option.h"

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
	M("-###", QUERY, ALONE),
	M("--analyze", SYNTAX, ALONE),
	M("--assemble", ASSEMBLY, ALONE),
	M("--compile", COMPILE, ALONE),
	O("--config", OTHER, NEXT),
	O("--define-macro", DEFINE, NEXT),
	O("--define-macro=", DEFINE, ATTACHED),
	M("--dependencies", PREPROCESS, ALONE),
	O("--entry", LINKING, NEXT),
	O("--for-linker", LINKING, NEXT),
	O("--force-link", LINKING, NEXT),
	M("--help", QUERY, ALONE),
	M("--help=", QUERY, ATTACHED),
	O("--imacros", INCLUDE, NEXT),
	O("--include", INCLUDE, NEXT),
	O("--include-directory", SEARCH, NEXT),
	O("--include-directory-after", SEARCH, NEXT),
	O("--include-directory=", SEARCH, ATTACHED),
	O("--include-prefix", OTHER, NEXT),
	O("--include-with-prefix", OTHER, NEXT),
	O("--include=", INCLUDE, ATTACHED),
	O("--language", LANGUAGE, NEXT),
	O("--language=", LANGUAGE, ATTACHED),
	O("--library-directory", LINKING, NEXT),
	O("--library-directory=", LINKING, ATTACHED),
	O("--output", OUTPUT, NEXT),
	O("--output=", OUTPUT, ATTACHED),
	O("--param", OTHER, NEXT),
	O("--prefix", OTHER, NEXT),
	M("--preprocess", PREPROCESS, ALONE),
	M("--print-", QUERY, ATTACHED),
	O("--serialize-diagnostics", OTHER, NEXT),
	O("--shared", LINKING, ALONE),
	O("--specs", OTHER, NEXT),
	O("--static", LINKING, ALONE),
	O("--std=", DIALECT, ATTACHED),
	O("--sysroot", OTHER, NEXT),
	M("--target-help", QUERY, ALONE),
	O("--undefine-macro", DEFINE, NEXT),
	O("--undefine-macro=", DEFINE, ATTACHED),
	M("--user-dependencies", PREPROCESS, ALONE),
	M("--version", QUERY, ALONE),
	O("-A", OTHER, NEXT),
	O("-B", OTHER, NEXT),
	O("-D", DEFINE, EITHER),
	M("-E", PREPROCESS, ALONE),
	O("-F", SEARCH, EITHER),
	O("-I", SEARCH, EITHER),
	O("-J", OTHER, NEXT),
	O("-L", LINKING, EITHER),
	M("-M", PREPROCESS, ALONE),
	O("-MF", OTHER, NEXT),
	O("-MJ", OTHER, NEXT),
	M("-MM", PREPROCESS, ALONE),
	O("-MQ", OTHER, NEXT),
	O("-MT", OTHER, NEXT),
	M("-S", ASSEMBLY, ALONE),
	O("-T", LINKING, EITHER),
	O("-U", DEFINE, EITHER),
	O("-Wl,", LINKING, ATTACHED),
	O("-Xanalyzer", OTHER, NEXT),
	O("-Xarch_device", OTHER, NEXT),
	O("-Xarch_host", OTHER, NEXT),
	O("-Xassembler", OTHER, NEXT),
	O("-Xclang", OTHER, NEXT),
	O("-Xcompiler", OTHER, NEXT),
	O("-Xcuda-fatbinary", OTHER, NEXT),
	O("-Xcuda-ptxas", OTHER, NEXT),
	O("-Xlinker", LINKING, NEXT),
	O("-Xopenmp-target", OTHER, NEXT),
	O("-Xpreprocessor", OTHER, NEXT),
	O("-ansi", DIALECT, ATTACHED),
	O("-arch", OTHER, NEXT),
	O("-aux-info", OTHER, NEXT),
	O("-aux-triple", OTHER, NEXT),
	O("-auxbase", OTHER, NEXT),
	O("-auxbase-strip", OTHER, NEXT),
	O("-bundle", LINKING, ALONE),
	O("-bundle_loader", LINKING, NEXT),
	M("-c", COMPILE, ALONE),
	O("-ccc-gcc-name", OTHER, NEXT),
	O("-ccc-install-dir", OTHER, NEXT),
	O("-cxx-isystem", SYSTEM, NEXT),
	O("-darwin-target-variant", OTHER, NEXT),
	O("-dependency-file", OTHER, NEXT),
	O("-diagnostic-log-file", OTHER, NEXT),
	O("-dumpbase", OTHER, NEXT),
	O("-dumpbase-ext", OTHER, NEXT),
	O("-dumpdir", OTHER, NEXT),
	M("-dumpfullversion", QUERY, ALONE),
	M("-dumpmachine", QUERY, ALONE),
	M("-dumpspecs", QUERY, ALONE),
	M("-dumpversion", QUERY, ALONE),
	O("-dwarf-debug-flags", OTHER, NEXT),
	O("-dynamic", LINKING, ALONE),
	O("-dynamiclib", LINKING, ALONE),
	O("-e", LINKING, NEXT),
	O("-exported_symbols_list", LINKING, NEXT),
	O("-fdebug-compilation-dir", OTHER, NEXT),
	O("-fdump-go-spec", OTHER, NEXT),
	O("-framework", LINKING, NEXT),
	M("-fsyntax-only", SYNTAX, ALONE),
	O("-fuse-ld=", LINKING, ATTACHED),
	O("-gcc-toolchain", OTHER, NEXT),
	O("-header-include-file", OTHER, NEXT),
	O("-idirafter", SEARCH, EITHER),
	O("-iframework", SEARCH, EITHER),
	O("-imacros", INCLUDE, EITHER),
	O("-imultiarch", OTHER, NEXT),
	O("-imultilib", OTHER, NEXT),
	O("-include", INCLUDE, EITHER),
	O("-include-pch", INCLUDE, NEXT),
	O("-index-store-path", OTHER, NEXT),
	O("-install_name", LINKING, NEXT),
	O("-internal-externc-isystem", SYSTEM, NEXT),
	O("-internal-isystem", SYSTEM, NEXT),
	O("-iplugindir", OTHER, NEXT),
	O("-iprefix", OTHER, NEXT),
	O("-iquote", SEARCH, EITHER),
	O("-isysroot", OTHER, NEXT),
	O("-isystem", SYSTEM, EITHER),
	O("-isystem-after", SYSTEM, NEXT),
	O("-ivfsoverlay", OTHER, NEXT),
	O("-iwithprefix", OTHER, NEXT),
	O("-iwithprefixbefore", OTHER, NEXT),
	O("-iwithsysroot", OTHER, NEXT),
	O("-l", LINKING, EITHER),
	O("-lazy_framework", LINKING, NEXT),
	O("-main-file-name", OTHER, NEXT),
	O("-mcode-model", OTHER, NEXT),
	O("-mllvm", OTHER, NEXT),
	O("-mrelocation-model", OTHER, NEXT),
	O("-mthread-model", OTHER, NEXT),
	O("-needed_framework", LINKING, NEXT),
	O("-no-pie", LINKING, ALONE),
	O("-nodefaultlibs", LINKING, ALONE),
	O("-nolibc", LINKING, ALONE),
	O("-nostartfiles", LINKING, ALONE),
	O("-nostdlib", LINKING, ALONE),
	O("-nostdlib++", LINKING, ALONE),
	O("-o", OUTPUT, NEXT),
	O("-pic-level", OTHER, NEXT),
	O("-pie", LINKING, ALONE),
	M("-print-", QUERY, ATTACHED),
	O("-r", LINKING, ALONE),
	O("-rdynamic", LINKING, ALONE),
	O("-read_only_relocs", LINKING, NEXT),
	O("-resource-dir", OTHER, NEXT),
	O("-rpath", LINKING, NEXT),
	O("-s", LINKING, ALONE),
	O("-sectcreate", LINKING, NEXT),
	O("-serialize-diagnostic-file", OTHER, NEXT),
	O("-serialize-diagnostics", OTHER, NEXT),
	O("-shared", LINKING, ALONE),
	O("-shared-libgcc", LINKING, ALONE),
	O("-soname", LINKING, NEXT),
	O("-split-dwarf-file", OTHER, NEXT),
	O("-split-dwarf-output", OTHER, NEXT),
	O("-stack-protector", OTHER, NEXT),
	O("-static", LINKING, ALONE),
	O("-static-libasan", LINKING, ALONE),
	O("-static-libgcc", LINKING, ALONE),
	O("-static-libgfortran", LINKING, ALONE),
	O("-static-libstdc++", LINKING, ALONE),
	O("-static-libubsan", LINKING, ALONE),
	O("-static-pie", LINKING, ALONE),
	O("-std=", DIALECT, ATTACHED),
	O("-stdlib=", OTHER, ATTACHED),
	O("-symbolic", LINKING, ALONE),
	O("-target", OTHER, NEXT),
	O("-target-abi", OTHER, NEXT),
	O("-target-cpu", OTHER, NEXT),
	O("-target-feature", OTHER, NEXT),
	O("-target-linker-version", OTHER, NEXT),
	O("-triple", OTHER, NEXT),
	O("-tune-cpu", OTHER, NEXT),
	O("-u", LINKING, NEXT),
	O("-unexported_symbols_list", LINKING, NEXT),
	O("-weak_framework", LINKING, NEXT),
	O("-weak_library", LINKING, NEXT),
	O("-working-directory", OTHER, NEXT),
	O("-wrapper", OTHER, NEXT),
	O("-x", LANGUAGE, EITHER),
	O("-z", LINKING, EITHER),
	/* clang-format on */
};

/* Options of cl.exe and clang-cl, without the dash or slash. */
static const struct known cl_options[] = {
	/* clang-format off */
	M("?", QUERY, ALONE),
	O("AI", OTHER, EITHER),
	O("D", DEFINE, EITHER),
	M("E", PREPROCESS, ALONE),
	M("EP", PREPROCESS, ALONE),
	O("F", LINKING, EITHER), /* the size of the stack; other options begin with F, too */
	O("FA", OTHER, ATTACHED),
	O("FI", INCLUDE, EITHER),
	O("FR", OTHER, ATTACHED),
	O("FU", OTHER, EITHER),
	O("Fa", OTHER, ATTACHED),
	O("Fd", OTHER, ATTACHED),
	O("Fe", PRODUCT, ATTACHED),
	O("Fi", OTHER, ATTACHED),
	O("Fm", LINKING, ATTACHED),
	O("Fo", OUTPUT, ATTACHED),
	O("Fp", OTHER, ATTACHED),
	O("Fr", OTHER, ATTACHED),
	O("Fx", OTHER, ALONE),
	M("HELP", QUERY, ALONE),
	O("I", SEARCH, EITHER),
	O("LD", LINKING, ALONE),
	O("LDd", LINKING, ALONE),
	O("LN", LINKING, ALONE),
	M("P", PREPROCESS, ALONE),
	O("TC", LANGUAGE, ALONE),
	O("TP", LANGUAGE, ALONE),
	O("Tc", SOURCE, EITHER),
	O("Tp", SOURCE, EITHER),
	O("U", DEFINE, EITHER),
	O("Xclang", OTHER, NEXT),
	M("Zs", SYNTAX, ALONE),
	O("analyze:log", OTHER, EITHER),
	O("analyze:plugin", OTHER, EITHER),
	O("analyze:ruleset", OTHER, EITHER),
	M("c", COMPILE, ALONE),
	O("diasdkdir", OTHER, NEXT),
	O("external:I", SYSTEM, EITHER),
	O("headerUnit", OTHER, EITHER),
	M("help", QUERY, ALONE),
	O("ifcMap", OTHER, NEXT),
	O("ifcOutput", OTHER, NEXT),
	O("ifcSearchDir", OTHER, NEXT),
	O("imsvc", SYSTEM, EITHER),
	O("link", LINKING, ALONE),
	O("mllvm", OTHER, NEXT),
	O("o", OUTPUT, NEXT),
	O("reference", OTHER, EITHER),
	O("resource-dir", OTHER, NEXT),
	M("scanDependencies", PREPROCESS, EITHER), /* lists what a source needs instead of compiling it */
	O("sourceDependencies", OTHER, EITHER),
	O("sourceDependencies:directives", OTHER, EITHER),
	O("std:", DIALECT, ATTACHED),
	O("stdIfcDir", OTHER, NEXT),
	O("target", OTHER, NEXT),
	O("vctoolsdir", OTHER, NEXT),
	O("winsdkdir", OTHER, NEXT),
	O("winsysroot", OTHER, NEXT),
	/* clang-format on */
};

/*
 * Options of GNU ld, gold, lld and Arm's armlink, without the one or two dashes. Many of a
 * driver's options have other meanings here: -E, -M, -S and -x do not change the kind of output.
 */
static const struct known ld_options[] = {
	/* clang-format off */
	O("Map", LINKING, NEXT),
	O("Tbss", LINKING, NEXT),
	O("Tdata", LINKING, NEXT),
	O("Ttext", LINKING, NEXT),
	O("Ttext-segment", LINKING, NEXT),
	O("architecture", LINKING, NEXT),
	O("assert", LINKING, NEXT),
	O("base-file", LINKING, NEXT),
	O("cpu", LINKING, NEXT),
	O("datacompressor", LINKING, NEXT),
	O("default-script", LINKING, NEXT),
	O("defsym", LINKING, NEXT),
	O("diag_error", LINKING, NEXT),
	O("diag_remark", LINKING, NEXT),
	O("diag_suppress", LINKING, NEXT),
	O("diag_warning", LINKING, NEXT),
	O("dynamic-linker", LINKING, NEXT),
	O("dynamic-list", LINKING, NEXT),
	O("edit", LINKING, NEXT),
	O("entry", LINKING, NEXT),
	O("errors", LINKING, NEXT),
	O("exclude-libs", LINKING, NEXT),
	O("feedback", LINKING, NEXT),
	O("filter", LINKING, NEXT),
	O("fini", LINKING, NEXT),
	O("first", LINKING, NEXT),
	O("format", LINKING, NEXT),
	O("fpu", LINKING, NEXT),
	M("help", QUERY, ALONE),
	O("image-base", LINKING, NEXT),
	O("info", LINKING, NEXT),
	O("init", LINKING, NEXT),
	O("just-symbols", LINKING, NEXT),
	O("keep", LINKING, NEXT),
	O("last", LINKING, NEXT),
	O("libpath", LINKING, NEXT),
	O("library", LINKING, NEXT),
	O("library-path", LINKING, NEXT),
	O("list", LINKING, NEXT),
	O("oformat", LINKING, NEXT),
	O("out-implib", LINKING, NEXT),
	O("output", OUTPUT, NEXT),
	O("output-def", LINKING, NEXT),
	O("partial-inplace", LINKING, NEXT),
	O("plugin", LINKING, NEXT),
	O("plugin-opt", LINKING, NEXT),
	O("predefine", LINKING, NEXT),
	O("retain-symbols-file", LINKING, NEXT),
	O("ro-base", LINKING, NEXT),
	O("ro_base", LINKING, NEXT),
	O("rpath", LINKING, NEXT),
	O("rpath-link", LINKING, NEXT),
	O("rw-base", LINKING, NEXT),
	O("rw_base", LINKING, NEXT),
	O("scatter", LINKING, NEXT),
	O("script", LINKING, NEXT),
	O("section-start", LINKING, NEXT),
	O("soname", LINKING, NEXT),
	O("subsystem", LINKING, NEXT),
	O("symdefs", LINKING, NEXT),
	O("sysroot", LINKING, NEXT),
	M("target-help", QUERY, ALONE),
	O("trace-symbol", LINKING, NEXT),
	O("undefined", LINKING, NEXT),
	O("userlibpath", LINKING, NEXT),
	O("version-script", LINKING, NEXT),
	O("via", LINKING, NEXT),
	O("wrap", LINKING, NEXT),
	O("zi_base", LINKING, NEXT),
	/* clang-format on */
};

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
static struct tr_driver_option describe(const struct known *known, struct tr_text word)
{
	struct tr_driver_option option = { .role = TR_ROLE_OTHER };

	if (!known)
		return option;
	bool whole = word.len == known->name.len;
	option.role = known->role;
	option.sets_mode = known->role == TR_ROLE_MODE;
	option.mode = known->mode;
	option.takes_next = whole && (known->place == EITHER || known->place == NEXT);
	if (!option.takes_next && known->place != ALONE && !option.sets_mode)
		option.value =
			(struct tr_text){ word.data + known->name.len, word.len - known->name.len };
	return option;
}

/* The name includes the dashes, since -o and --o differ. */
static struct tr_driver_option find_gnu(struct tr_text word)
{
	struct tr_driver_option option = describe(find(TABLE(gnu_options, 1), word), word);

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
static struct tr_driver_option find_cl(struct tr_text word)
{
	struct tr_text name = { word.data + 1, word.len - 1 };
	struct tr_driver_option option = describe(find(TABLE(cl_options, 0), name), name);

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
static struct tr_driver_option find_ld(struct tr_text word)
{
	/* options of one letter, whose value is the rest of the word or the next word */
	static const char letters[] = "AFGILRTYabcefhlmouyz";
	struct tr_driver_option option = { .role = TR_ROLE_LINKING };
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

struct tr_driver_option tr_driver_option_find(enum tr_tool program, struct tr_text word)
{
	if (program == TR_TOOL_DRIVER_CL)
		return find_cl(word);
	return tr_tool_is_linker(program) ? find_ld(word) : find_gnu(word);
}
