/* SPDX-License-Identifier: MIT */
/*
 * Options of GCC that Clang refuses or ignores with a warning: `unknown argument`, `unsupported
 * option`, `optimization flag ... is not supported`. The names are those of GCC 12 (gcc --help of
 * each class, and its manual for Arm, AArch64, RISC-V, MIPS, PowerPC, s390, SPARC, AVR and MSP430)
 * for which both `clang -###` 14 and 16 print such a message.
 *
 * None of them changes the meaning of a source, except for dialects that Clang does not support.
 */
#include "format/compdb/compdb.h"

#include <string.h>

/* Without the dash, "no-" after f or m, and a value after "=". Sorted. */
static const char *const unknown[] = {
	/* clang-format off */
	"fabi-compat-version", "fabi-version", "fada-spec-parent",
	"faggressive-loop-optimizations", "falign-jumps", "falign-labels", "falign-loops",
	"fall-virtual", "fallocation-dce", "fallow-parameterless-variadic-functions",
	"fallow-store-data-races", "falt-external-templates", "fasan-shadow-offset",
	"fauto-inc-dec", "fbit-tests", "fcaller-saves", "fcanonical-system-headers",
	"fcheck-data-deps", "fcheck-pointer-bounds", "fchecking", "fcilkplus", "fcode-hoisting",
	"fcombine-stack-adjustments", "fcond-mismatch", "fconserve-space", "fconserve-stack",
	"fconstexpr-cache-depth", "fconstexpr-fp-except", "fconstexpr-loop-limit",
	"fconstexpr-ops-limit", "fcoroutines", "fcprop-registers", "fcrossjumping",
	"fcx-fortran-rules", "fcx-limited-range", "fdce", "fdebug-cpp", "fdeclone-ctor-dtor",
	"fdeduce-init-list", "fdefault-inline", "fdefer-pop", "fdelayed-branch",
	"fdelete-dead-exceptions", "fdevirtualize", "fdevirtualize-at-ltrans",
	"fdevirtualize-speculatively", "fdiagnostics-column-origin", "fdiagnostics-column-unit",
	"fdiagnostics-escape-format", "fdiagnostics-generate-patch",
	"fdiagnostics-minimum-margin-width", "fdiagnostics-path-format",
	"fdiagnostics-plain-output", "fdiagnostics-show-caret", "fdiagnostics-show-cwe",
	"fdiagnostics-show-labels", "fdiagnostics-show-line-numbers",
	"fdiagnostics-show-path-depths", "fdiagnostics-urls", "fdirectives-only", "fdse",
	"fearly-inlining", "felide-type", "feliminate-dwarf2-dups", "femit-class-debug-always",
	"fenforce-eh-specs", "fenum-int-equiv", "fexpensive-optimizations",
	"fext-numeric-literals", "fextern-tls-init", "fexternal-templates", "ffat-lto-objects",
	"ffloat-store", "ffold-simple-inlines", "fforward-propagate", "ffp-int-builtin-inexact",
	"ffunction-cse", "fgimple", "fgnat-encodings", "fgnu-tm", "fgnu-unique",
	"fguess-branch-probability", "fguiding-decls", "fhandle-exceptions",
	"fhoist-adjacent-loads", "fhonor-std", "fhuge-objects", "fif-conversion",
	"fif-conversion2", "fimplicit-constexpr", "fimplicit-inline-templates",
	"findirect-inlining", "finhibit-size-directive", "finline-atomics",
	"finline-functions-called-once", "finline-limit", "finline-small-functions",
	"finstrument-functions-exclude-file-list", "finstrument-functions-exclude-function-list",
	"fisolate-erroneous-paths-attribute", "fisolate-erroneous-paths-dereference", "fivopts",
	"fkeep-gc-roots-live", "fkeep-inline-functions", "fkeep-static-functions", "flabels-ok",
	"flarge-source-files", "fleading-underscore", "flifetime-dse",
	"flimit-function-alignment", "flra-remat", "fmax-include-depth", "fmem-report",
	"fmem-report-wpa", "fmerge-constants", "fmerge-debug-strings", "fmin-function-alignment",
	"fmodule-implicit-inline", "fmodule-only", "fmodule-version-ignore",
	"fmove-loop-invariants", "fmove-loop-stores", "fmudflap", "fmudflapir", "fnew-abi",
	"fnew-inheriting-ctors", "fnew-ttp-matching", "fnothrow-opt", "foffload-abi",
	"foffload-options", "fopenacc", "fopenacc-dim", "foptimize-register-move",
	"foptimize-strlen", "foptional-diags", "fpartial-inlining", "fpch-deps", "fpeel-loops",
	"fpeephole", "fpeephole2", "fpermitted-flt-eval-methods", "fplan9-extensions",
	"fpost-ipa-mem-report", "fpre-ipa-mem-report", "fpredictive-commoning",
	"fprefetch-loop-arrays", "fpreprocessed", "fpretty-templates", "fprintf-return-value",
	"fprofile-abs-path", "fprofile-correction", "fprofile-info-section", "fprofile-note",
	"fprofile-partial-training", "fprofile-prefix-map", "fprofile-prefix-path",
	"fprofile-reorder-functions", "fprofile-report", "fprofile-reproducible",
	"fprofile-values", "frandom-seed", "free", "fregmove", "frename-registers", "frepo",
	"freport-bug", "frequire-return-statement", "frerun-cse-after-loop", "frerun-loop-opt",
	"freschedule-modulo-scheduled-loops", "fsanitize-sections", "fsection-anchors",
	"fsignaling-nans", "fsimd-cost-model", "fsingle-precision-constant",
	"fsplit-ivs-in-unroller", "fsplit-loops", "fsplit-paths", "fsplit-wide-types",
	"fsplit-wide-types-early", "fsquangle", "fsso-struct", "fstack-check",
	"fstack-protector-explicit", "fstack-reuse", "fstdarg-opt", "fstore-merging",
	"fstrength-reduce", "fstrict-prototype", "fstrict-volatile-bitfields",
	"fstrong-eval-order", "fsync-libcalls", "fthis-is-variable", "fthread-jumps",
	"ftime-report-details", "ftoplevel-reorder", "ftracer", "ftrampolines",
	"funconstrained-commons", "funroll-all-loops", "funroll-completely-grow-size",
	"funsafe-loop-optimizations", "funswitch-loops", "fuse-cxa-get-exception-ptr",
	"fuse-linker-plugin", "fvariable-expansion-in-unroller", "fvect-cost-model",
	"fversion-loops-for-strides", "fvpt", "fweak", "fweb", "fwhole-program",
	"fwide-exec-charset", "fworking-directory", "fxref", "fzee", "gas-loc-support",
	"gas-locview-support", "gbtf", "gctf", "gdescribe-dies", "ginline-points",
	"ginternal-reset-location-views", "gstatement-frontiers", "gtoggle",
	"gvariable-location-views", "gvms", "m128bit-long-double", "m8bit-idiv",
	"m96bit-long-double", "mabm", "mabort-on-noreturn", "mabsdata", "maccumulate-args",
	"maccumulate-outgoing-args", "maddress-mode", "malign-data", "malign-stringops",
	"mandroid", "mapp-regs", "masm-syntax-unified", "mavoid-indexed-addresses",
	"mavx256-split-unaligned-load", "mavx256-split-unaligned-store", "mavx5124fmaps",
	"mavx5124vnniw", "mbe8", "mbionic", "mblock-move-inline-limit", "mbranch-cost",
	"mbss-plt", "mcallee-super-interworking", "mcaller-super-interworking", "mcet-switch",
	"mcld", "mcode-region", "mcompat-align-parm", "mdata-region", "mdejagnu-cpu",
	"mdirect-extern-access", "mdisable-watchdog", "mdispatch-scheduler", "mdiv", "mdmx",
	"mdump-tune-features", "mesa", "mexplicit-relocs", "mfancy-math-387", "mfaster-structs",
	"mfentry-name", "mfentry-section", "mfix-24k", "mfix-at697f", "mfix-cortex-a53-843419",
	"mfix-cortex-m3-ldrd", "mfix-r4000", "mfix-rm7000", "mfix-sb1", "mfix-ut699", "mflat",
	"mflip-thumb", "mflush-func", "mforce-drap", "mforce-indirect-call", "mfp-exceptions",
	"mfp-in-toc", "mfp-ret-in-387", "mfp16-format", "mfused-madd", "mgas-isr-prologues",
	"mhle", "mhotpatch", "mimadd", "mincoming-stack-boundary", "minline-asm-unified",
	"minline-stringops-dynamically", "minrt", "minsert-sched-nops", "minstrument-return",
	"mint8", "mintel-syntax", "minterlink-mips16", "minterrupts", "mips3d", "misa-spec",
	"mlarge", "mlarge-data-threshold", "mllsc", "mlra", "mmain-is-OS_task", "mmanual-endbr",
	"mmcount-ra-address", "mmemcpy", "mmemcpy-strategy", "mmemset-strategy", "mminimal-toc",
	"mmitigate-rop", "mmove-max", "mmultiple", "mmusl", "mmvcle", "mmwait", "mn-flash",
	"mneeded", "mneon-for-64bits", "mnop-mcount", "moverride", "mpaired-single",
	"mpc-relative-literal-loads", "mpc32", "mpc64", "mpc80", "mpic-register", "mplt",
	"mpointers-to-nested-functions", "mpoke-function-name", "mprefer-avx128",
	"mpreferred-stack-boundary", "mprint-tune-info", "mprioritize-restricted-insns",
	"mprofile-kernel", "mprototype", "mpush-args", "mreadonly-in-sdata", "mrecord-mcount",
	"mrecord-return", "mregnames", "mrelax-cmpxchg-loop", "mrelocatable", "mriscv-attribute",
	"mrmw", "msave-toc-indirect", "msdata", "mshared", "mshort-calls", "mshorten-memrefs",
	"msilicon-errata", "msingle-pic-base", "mslow-flash-data", "msmall", "msmall-exec",
	"msmartmips", "msplit-addresses", "msquare-root", "msse2avx", "msse5", "msseregparm",
	"mstack-bias", "mstack-guard", "mstack-size", "mstore-max", "mstrict-X", "mstring",
	"mstringop-strategy", "mstructure-size-boundary", "mstv", "msum-in-toc", "msym32",
	"msynci", "mthumb-interwork", "mtiny-printf", "mtiny-stack", "mtls-dialect", "mtoc",
	"mtpf-trace", "mtraceback", "mtrack-speculation", "mtune-ctrl", "munaligned-doubles",
	"muninit-const-in-rodata", "mupdate", "mv8plus", "mveclibabi", "mvect8-ret-in-mem",
	"mvectorize-with-neon-quad", "mverbose-cost-dump", "mvr4130-align", "mwarn-dynamicstack",
	"mwarn-framesize", "mwarn-mcu", "mword-relocations", "mzarch",
	/* clang-format on */
};

/* Clang has no option that begins with one of these, except for those in known. */
static const char *const prefixes[] = {
	/* clang-format off */
	"fanalyzer", "fargument-", "fbranch-", "fbtr-", "fcallgraph-", "fchkp-", "fcompare-",
	"fconcepts", "fcse-", "fdbg-", "fdisable-", "fdump-", "femit-struct-", "fenable-ipa",
	"fenable-rtl", "fenable-tree", "fgcse", "fgraphite", "fharden", "fipa-", "fira-",
	"flang-", "flive-", "floop-", "flto", "fmodule-lazy", "fmodule-mapper", "fmodulo-",
	"fopt-info", "fplugin", "freorder-", "fsched", "fsel-sched", "fselective-",
	"fshrink-wrap", "fssa-", "fstack-limit", "ftrack-macro", "ftree-", "fvar-tracking",
	"fvtable-", "fvtv-", "gcoff", "gstabs", "gxcoff", "mapcs", "mcall-", "mdivide-",
	"mfix-vr", "mindirect-branch", "mlow-precision-", "mpcommit", "msched-", "mtpcs-",
	NULL,
	/* clang-format on */
};

static const char *const known[] = { "ftree-vectorize", "ftree-slp-vectorize", "fsched-interblock",
				     NULL };

static bool has_prefix(struct tr_text name)
{
	for (size_t i = 0; prefixes[i]; i++)
		if (tr_text_starts(name, tr_text_from(prefixes[i])))
			return true;
	return false;
}

/* True for an option of GCC that Clang refuses, or ignores with a warning. */
static bool is_unknown(struct tr_text word)
{
	/*
	 * Whole words, or with a value after "=": options of GCC's driver, options of the
	 * assembler, which does not run, and options of which Clang has only the opposite form.
	 */
	static const char *const others[] = { "-pass-exit-codes",
					      "-Xassembler",
					      "-specs",
					      "--specs",
					      "--param",
					      "-wrapper",
					      "-aux-info",
					      "-fno-extended-identifiers",
					      "-fno-force-addr",
					      "-fno-freestanding",
					      "-fno-hosted",
					      "-fno-instrument-functions",
					      "-gno-as-loc-support",
					      "-gno-as-locview-support",
					      "-mno-fentry",
					      NULL };
	char plain[64];
	const char *mark = word.len ? memchr(word.data, '=', word.len) : NULL;
	struct tr_text name = { word.data, mark ? (size_t)(mark - word.data) : word.len };

	if (tr_text_starts(word, TR_TEXT("-Wa,")) || tr_text_is_among(name, others))
		return true;
	if (name.len < 4 || name.len > sizeof plain || *name.data != '-')
		return false;
	name = (struct tr_text){ name.data + 1, name.len - 1 };
	if ((*name.data == 'f' || *name.data == 'm') && name.len > 4 &&
	    memcmp(name.data + 1, "no-", 3) == 0) {
		plain[0] = *name.data;
		memcpy(plain + 1, name.data + 4, name.len - 4);
		name = (struct tr_text){ plain, name.len - 3 };
	}
	if (tr_text_is_among(name, known))
		return false;
	return has_prefix(name) ||
	       tr_text_is_among_sorted(name, unknown, sizeof unknown / sizeof *unknown);
}

/*
 * Converts an option of a user's table to the option of Clang with the same role, such as -D for a
 * definition. value: the word after it; data NULL: the value is part of the option, or there is
 * none. Returns an empty text if Clang has no such option; data NULL: memory is exhausted.
 */
static struct tr_text convert(const struct tr_part *part, struct tr_text value,
			      struct tr_arena *arena)
{
	struct tr_text name = part->text, word;
	struct tr_buffer text = TR_BUFFER_INIT;
	const char *option = NULL;

	value = value.data ? value : part->file;
	while (name.len && *name.data == '-')
		name = (struct tr_text){ name.data + 1, name.len - 1 };
	switch (part->role) {
	case TR_ROLE_DEFINE:
		option = name.len && (*name.data | 0x20) == 'u' ? "-U" : "-D";
		break;
	case TR_ROLE_SEARCH:
		option = "-I";
		break;
	case TR_ROLE_SYSTEM:
		option = "-isystem";
		break;
	case TR_ROLE_INCLUDE:
		option = "--include=";
		break;
	case TR_ROLE_DIALECT:
		option = tr_text_starts(part->text, TR_TEXT("-std=")) ? "-std=" : NULL;
		break;
	default:
		break;
	}
	if (!option || !value.len)
		return TR_TEXT("");
	tr_buffer_put_text(&text, tr_text_from(option));
	tr_buffer_put_text(&text, value);
	word = text.failed ? (struct tr_text){ NULL, 0 }
			   : tr_arena_copy(arena, tr_buffer_text(&text));
	tr_buffer_free(&text);
	return word;
}

bool tr_compdb_replace_for_clang(const struct tr_part *part, const struct tr_part *end,
				 struct tr_arena *arena, struct tr_text *word, size_t *replaced)
{
	bool has_value = part + 1 < end && part[1].value && part[1].role != TR_ROLE_SOURCE;

	*replaced = 0;
	if (part->value || part->role == TR_ROLE_SOURCE)
		return true;
	if (is_unknown(part->text))
		*word = TR_TEXT("");
	else if (part->own)
		*word = convert(part, has_value ? part[1].text : (struct tr_text){ NULL, 0 },
				arena);
	else
		return true;
	*replaced = 1;
	while (has_value && part + *replaced < end && part[*replaced].value)
		++*replaced;
	return word->data != NULL;
}

const char tr_compdb_clang_word[] = "-Wno-unknown-warning-option";

bool tr_compdb_has_gcc_options(const struct tr_invocation *invocation, struct tr_text program)
{
	program = tr_tool_base(program);
	return invocation->tool == TR_TOOL_DRIVER &&
	       !memmem(program.data, program.len, "clang", sizeof "clang" - 1);
}

bool tr_compdb_has_warnings(const struct tr_invocation *invocation)
{
	for (size_t i = 1; i < invocation->count; i++) {
		struct tr_text text = invocation->parts[i].text;
		if (tr_text_starts(text, TR_TEXT("-W")) && !memchr(text.data, ',', text.len))
			return true;
	}
	return false;
}
