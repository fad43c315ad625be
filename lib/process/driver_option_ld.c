/*
 * Options of linkers: GNU ld, gold, lld and Arm's armlink. Long names have one dash or two, and
 * many of a driver's options are others here: -E, -M, -S and -x do not change what is made.
 */
#include <string.h>

#include "process/driver_option.h"

/* Names whose value is the next word where no "=" attaches it. */
static const char *const separate[] = {
	"Map",
	"Tbss",
	"Tdata",
	"Ttext",
	"Ttext-segment",
	"architecture",
	"assert",
	"base-file",
	"cpu",
	"datacompressor",
	"default-script",
	"defsym",
	"diag_error",
	"diag_remark",
	"diag_suppress",
	"diag_warning",
	"dynamic-linker",
	"dynamic-list",
	"edit",
	"entry",
	"errors",
	"exclude-libs",
	"feedback",
	"filter",
	"fini",
	"first",
	"format",
	"fpu",
	"image-base",
	"info",
	"init",
	"just-symbols",
	"keep",
	"last",
	"library",
	"library-path",
	"libpath",
	"list",
	"oformat",
	"out-implib",
	"output",
	"output-def",
	"partial-inplace",
	"plugin",
	"plugin-opt",
	"predefine",
	"retain-symbols-file",
	"ro-base",
	"ro_base",
	"rpath",
	"rpath-link",
	"rw-base",
	"rw_base",
	"scatter",
	"script",
	"section-start",
	"soname",
	"subsystem",
	"symdefs",
	"sysroot",
	"trace-symbol",
	"undefined",
	"userlibpath",
	"version-script",
	"via",
	"wrap",
	"zi_base",
	NULL,
};

/* What one letter means: its value is the rest of the word, or the next word. */
static const char letters[] = "AFGILRTYabcefhlmouyz";

static bool takes_value(struct tr_text name)
{
	for (size_t i = 0; separate[i]; i++)
		if (tr_text_is(name, separate[i]))
			return true;
	return false;
}

static bool names_output(struct tr_text name)
{
	return tr_text_is(name, "output") || tr_text_is(name, "out") || tr_text_is(name, "OUT");
}

struct tr_driver_option tr_driver_option_ld(struct tr_text word)
{
	struct tr_driver_option option = { .role = TR_ROLE_LINKING };
	size_t dashes = word.len > 2 && word.data[0] == '-' && word.data[1] == '-' ? 2 : 1;
	struct tr_text name = { word.data + dashes, word.len - dashes };
	const char *mark = memchr(name.data, '=', name.len);

	if (!mark && word.len > 4 && (names_output((struct tr_text){ name.data, 3 })) &&
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
	if (!mark && takes_value(name)) {
		option.takes_next = true;
		option.role = names_output(name) ? TR_ROLE_OUTPUT : TR_ROLE_LINKING;
		return option;
	}
	if (tr_text_is(name, "help") || tr_text_is(name, "target-help")) {
		option.role = TR_ROLE_MODE;
		option.sets_mode = true;
		option.mode = TR_MODE_TELL;
	} else if (dashes == 1 && memchr(letters, *name.data, sizeof letters - 1)) {
		option.role = *name.data == 'o' ? TR_ROLE_OUTPUT : TR_ROLE_LINKING;
		option.takes_next = word.len == 2;
		if (word.len > 2 && option.role == TR_ROLE_OUTPUT)
			option.value = (struct tr_text){ word.data + 2, word.len - 2 };
	}
	return option;
}
