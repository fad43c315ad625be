#include "process/driver_option.h"

#include <stdlib.h>
#include <string.h>

struct spelled {
	struct tr_text name;
	enum tr_role role;
};

#define S(word, role) \
	{ \
		{ word, sizeof word - 1 }, TR_ROLE_##role \
	}

/* Options whose value is the next word when they stand alone, sorted by bytes. */
static const struct spelled separate[] = {
	S("--config", OTHER),
	S("--define-macro", DEFINE),
	S("--entry", LINKING),
	S("--for-linker", LINKING),
	S("--force-link", LINKING),
	S("--imacros", INCLUDE),
	S("--include", INCLUDE),
	S("--include-directory", SEARCH),
	S("--include-directory-after", SEARCH),
	S("--include-prefix", OTHER),
	S("--include-with-prefix", OTHER),
	S("--language", LANGUAGE),
	S("--library-directory", LINKING),
	S("--output", OUTPUT),
	S("--param", OTHER),
	S("--prefix", OTHER),
	S("--serialize-diagnostics", OTHER),
	S("--specs", OTHER),
	S("--sysroot", OTHER),
	S("--undefine-macro", DEFINE),
	S("-A", OTHER),
	S("-B", OTHER),
	S("-D", DEFINE),
	S("-F", SEARCH),
	S("-I", SEARCH),
	S("-J", OTHER),
	S("-L", LINKING),
	S("-MF", OTHER),
	S("-MJ", OTHER),
	S("-MQ", OTHER),
	S("-MT", OTHER),
	S("-T", LINKING),
	S("-U", DEFINE),
	S("-Xanalyzer", OTHER),
	S("-Xarch_device", OTHER),
	S("-Xarch_host", OTHER),
	S("-Xassembler", OTHER),
	S("-Xclang", OTHER),
	S("-Xcompiler", OTHER),
	S("-Xcuda-fatbinary", OTHER),
	S("-Xcuda-ptxas", OTHER),
	S("-Xlinker", LINKING),
	S("-Xopenmp-target", OTHER),
	S("-Xpreprocessor", OTHER),
	S("-arch", OTHER),
	S("-aux-info", OTHER),
	S("-aux-triple", OTHER),
	S("-auxbase", OTHER),
	S("-auxbase-strip", OTHER),
	S("-bundle_loader", LINKING),
	S("-ccc-gcc-name", OTHER),
	S("-ccc-install-dir", OTHER),
	S("-cxx-isystem", SYSTEM),
	S("-darwin-target-variant", OTHER),
	S("-dependency-file", OTHER),
	S("-diagnostic-log-file", OTHER),
	S("-dumpbase", OTHER),
	S("-dumpbase-ext", OTHER),
	S("-dumpdir", OTHER),
	S("-dwarf-debug-flags", OTHER),
	S("-e", LINKING),
	S("-exported_symbols_list", LINKING),
	S("-fdebug-compilation-dir", OTHER),
	S("-fdump-go-spec", OTHER),
	S("-framework", LINKING),
	S("-gcc-toolchain", OTHER),
	S("-header-include-file", OTHER),
	S("-idirafter", SEARCH),
	S("-iframework", SEARCH),
	S("-imacros", INCLUDE),
	S("-imultiarch", OTHER),
	S("-imultilib", OTHER),
	S("-include", INCLUDE),
	S("-include-pch", INCLUDE),
	S("-index-store-path", OTHER),
	S("-install_name", LINKING),
	S("-internal-externc-isystem", SYSTEM),
	S("-internal-isystem", SYSTEM),
	S("-iplugindir", OTHER),
	S("-iprefix", OTHER),
	S("-iquote", SEARCH),
	S("-isysroot", OTHER),
	S("-isystem", SYSTEM),
	S("-isystem-after", SYSTEM),
	S("-ivfsoverlay", OTHER),
	S("-iwithprefix", OTHER),
	S("-iwithprefixbefore", OTHER),
	S("-iwithsysroot", OTHER),
	S("-l", LINKING),
	S("-lazy_framework", LINKING),
	S("-main-file-name", OTHER),
	S("-mcode-model", OTHER),
	S("-mllvm", OTHER),
	S("-mrelocation-model", OTHER),
	S("-mthread-model", OTHER),
	S("-needed_framework", LINKING),
	S("-o", OUTPUT),
	S("-pic-level", OTHER),
	S("-read_only_relocs", LINKING),
	S("-resource-dir", OTHER),
	S("-rpath", LINKING),
	S("-sectcreate", LINKING),
	S("-serialize-diagnostic-file", OTHER),
	S("-serialize-diagnostics", OTHER),
	S("-soname", LINKING),
	S("-split-dwarf-file", OTHER),
	S("-split-dwarf-output", OTHER),
	S("-stack-protector", OTHER),
	S("-target", OTHER),
	S("-target-abi", OTHER),
	S("-target-cpu", OTHER),
	S("-target-feature", OTHER),
	S("-target-linker-version", OTHER),
	S("-triple", OTHER),
	S("-tune-cpu", OTHER),
	S("-u", LINKING),
	S("-unexported_symbols_list", LINKING),
	S("-weak_framework", LINKING),
	S("-weak_library", LINKING),
	S("-working-directory", OTHER),
	S("-wrapper", OTHER),
	S("-x", LANGUAGE),
	S("-z", LINKING),
};

/* Options with their value attached; a longer name stands before one that it begins with. */
static const struct spelled attached[] = {
	S("--define-macro=", DEFINE),
	S("--include-directory=", SEARCH),
	S("--include=", INCLUDE),
	S("--language=", LANGUAGE),
	S("--library-directory=", LINKING),
	S("--output=", OUTPUT),
	S("--std=", DIALECT),
	S("--undefine-macro=", DEFINE),
	S("-D", DEFINE),
	S("-F", SEARCH),
	S("-I", SEARCH),
	S("-L", LINKING),
	S("-T", LINKING),
	S("-U", DEFINE),
	S("-Wl,", LINKING),
	S("-fuse-ld=", LINKING),
	S("-idirafter", SEARCH),
	S("-iframework", SEARCH),
	S("-imacros", INCLUDE),
	S("-include", INCLUDE),
	S("-iquote", SEARCH),
	S("-isystem", SYSTEM),
	S("-l", LINKING),
	S("-ansi", DIALECT),
	S("-std=", DIALECT),
	S("-stdlib=", OTHER),
	S("-x", LANGUAGE),
	S("-z", LINKING),
};

/* Options that stand alone and are about linking. */
static const char *const linking[] = {
	"--shared",
	"--static",
	"-dynamic",
	"-dynamiclib",
	"-bundle",
	"-nodefaultlibs",
	"-nolibc",
	"-nostartfiles",
	"-nostdlib",
	"-nostdlib++",
	"-no-pie",
	"-pie",
	"-r",
	"-rdynamic",
	"-s",
	"-shared",
	"-shared-libgcc",
	"-static",
	"-static-libasan",
	"-static-libgcc",
	"-static-libgfortran",
	"-static-libstdc++",
	"-static-libubsan",
	"-static-pie",
	"-symbolic",
	NULL,
};

static const struct {
	const char *name;
	enum tr_mode mode;
} modes[] = {
	{ "-c", TR_MODE_COMPILE },	   { "--compile", TR_MODE_COMPILE },
	{ "-S", TR_MODE_ASSEMBLY },	   { "--assemble", TR_MODE_ASSEMBLY },
	{ "-E", TR_MODE_PREPROCESS },	   { "--preprocess", TR_MODE_PREPROCESS },
	{ "-M", TR_MODE_PREPROCESS },	   { "--dependencies", TR_MODE_PREPROCESS },
	{ "-MM", TR_MODE_PREPROCESS },	   { "--user-dependencies", TR_MODE_PREPROCESS },
	{ "--version", TR_MODE_TELL },	   { "-fsyntax-only", TR_MODE_SYNTAX },
	{ "--help", TR_MODE_TELL },	   { "-###", TR_MODE_TELL },
	{ "-dumpversion", TR_MODE_TELL },  { "-dumpmachine", TR_MODE_TELL },
	{ "-dumpspecs", TR_MODE_TELL },	   { "-dumpfullversion", TR_MODE_TELL },
	{ "--target-help", TR_MODE_TELL }, { "--analyze", TR_MODE_SYNTAX },
};

static int compare(const void *key, const void *element)
{
	const struct tr_text *a = key, *b = &((const struct spelled *)element)->name;
	size_t n = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->data, b->data, n);

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* Every option's second byte tells most of them apart: it is compared before the rest. */
static bool is_option(struct tr_text word, const char *name)
{
	return word.data[1] == name[1] && tr_text_is(word, name);
}

static bool find_mode(struct tr_text word, struct tr_driver_option *option)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (!is_option(word, modes[i].name))
			continue;
		option->mode = modes[i].mode;
		return true;
	}
	if (!tr_text_starts(word, TR_TEXT("-print-")) &&
	    !tr_text_starts(word, TR_TEXT("--print-")) && !tr_text_starts(word, TR_TEXT("--help=")))
		return false;
	option->mode = TR_MODE_TELL;
	return true;
}

struct tr_driver_option tr_driver_option_gnu(struct tr_text word)
{
	struct tr_driver_option option = { .role = TR_ROLE_OTHER };

	if (word.len < 2 || word.data[0] != '-')
		return option;
	if (find_mode(word, &option)) {
		option.role = TR_ROLE_MODE;
		option.sets_mode = true;
		return option;
	}
	const struct spelled *found = bsearch(&word, separate, sizeof separate / sizeof *separate,
					      sizeof *separate, compare);
	if (found) {
		option.role = found->role;
		option.takes_next = true;
		return option;
	}
	for (size_t i = 0; linking[i]; i++)
		if (is_option(word, linking[i]))
			option.role = TR_ROLE_LINKING;
	for (size_t i = 0; option.role == TR_ROLE_OTHER && i < sizeof attached / sizeof *attached;
	     i++) {
		struct tr_text name = attached[i].name;
		if (word.data[1] != name.data[1] || !tr_text_starts(word, name))
			continue;
		option.role = attached[i].role;
		option.value = (struct tr_text){ word.data + name.len, word.len - name.len };
	}
	/* Intel's -xHost and -xCORE-AVX2 name processors: languages are in small letters */
	if (option.role == TR_ROLE_LANGUAGE && option.value.len && *option.value.data >= 'A' &&
	    *option.value.data <= 'Z')
		option.role = TR_ROLE_OTHER;
	/* -o is the beginning of other options, too: -object is one of Apple's */
	if (word.len > 2 && tr_text_starts(word, TR_TEXT("-o")) && option.role == TR_ROLE_OTHER &&
	    !tr_text_starts(word, TR_TEXT("-object"))) {
		option.role = TR_ROLE_OUTPUT;
		option.value = (struct tr_text){ word.data + 2, word.len - 2 };
	}
	return option;
}
