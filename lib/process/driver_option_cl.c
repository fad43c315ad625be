/* Options of cl.exe, and of clang-cl, which has some of its own. */
#include "process/driver_option.h"

#include <string.h>

/* Where the value of an option is. */
enum place {
	ALONE,	  /* it has none */
	ATTACHED, /* behind its name */
	EITHER,	  /* there, or in the next word */
	NEXT,	  /* in the next word; with more behind its name it is another one */
};

/* Those that do not matter, and whose value is attached, are not here. */
static const struct {
	struct tr_text name;
	enum tr_role role;
	enum place place;
} options[] = {
#define O(word, role, place) \
	{ \
		{ word, sizeof word - 1 }, TR_ROLE_##role, place \
	}
	O("AI", OTHER, EITHER),
	O("D", DEFINE, EITHER),
	O("F", LINKING, EITHER), /* the size of the stack; what follows begins with F, too */
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
	O("I", SEARCH, EITHER),
	O("LD", LINKING, ALONE),
	O("LDd", LINKING, ALONE),
	O("LN", LINKING, ALONE),
	O("TC", LANGUAGE, ALONE),
	O("TP", LANGUAGE, ALONE),
	O("Tc", SOURCE, EITHER),
	O("Tp", SOURCE, EITHER),
	O("U", DEFINE, EITHER),
	O("Xclang", OTHER, NEXT),
	O("analyze:log", OTHER, EITHER),
	O("analyze:plugin", OTHER, EITHER),
	O("analyze:ruleset", OTHER, EITHER),
	O("diasdkdir", OTHER, NEXT),
	O("external:I", SYSTEM, EITHER),
	O("headerUnit", OTHER, EITHER),
	O("ifcMap", OTHER, NEXT),
	O("ifcOutput", OTHER, NEXT),
	O("ifcSearchDir", OTHER, NEXT),
	O("imsvc", SYSTEM, EITHER),
	O("link", LINKING, ALONE),
	O("mllvm", OTHER, NEXT),
	O("o", OUTPUT, NEXT),
	O("reference", OTHER, EITHER),
	O("resource-dir", OTHER, NEXT),
	O("sourceDependencies", OTHER, EITHER),
	O("sourceDependencies:directives", OTHER, EITHER),
	O("std:", DIALECT, ATTACHED),
	O("stdIfcDir", OTHER, NEXT),
	O("target", OTHER, NEXT),
	O("vctoolsdir", OTHER, NEXT),
	O("winsdkdir", OTHER, NEXT),
	O("winsysroot", OTHER, NEXT),
#undef O
};

static const struct {
	const char *name;
	enum tr_mode mode;
} modes[] = {
	{ "c", TR_MODE_COMPILE },    { "E", TR_MODE_PREPROCESS }, { "EP", TR_MODE_PREPROCESS },
	{ "P", TR_MODE_PREPROCESS }, { "Zs", TR_MODE_SYNTAX },	  { "?", TR_MODE_TELL },
	{ "help", TR_MODE_TELL },    { "HELP", TR_MODE_TELL },
};

static bool find_mode(struct tr_text name, struct tr_driver_option *option)
{
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (!tr_text_is(name, modes[i].name))
			continue;
		option->role = TR_ROLE_MODE;
		option->sets_mode = true;
		option->mode = modes[i].mode;
		return true;
	}
	/* what a source needs is told instead of compiling it */
	if (!tr_text_starts(name, TR_TEXT("scanDependencies")))
		return false;
	option->role = TR_ROLE_MODE;
	option->sets_mode = true;
	option->mode = TR_MODE_PREPROCESS;
	option->takes_next = name.len == sizeof "scanDependencies" - 1;
	return true;
}

struct tr_driver_option tr_driver_option_cl(struct tr_text word)
{
	struct tr_driver_option option = { .role = TR_ROLE_OTHER };
	struct tr_text name = { word.data + 1, word.len - 1 };
	size_t longest = 0;

	if (find_mode(name, &option))
		return option;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		struct tr_text known = options[i].name;
		enum place place = options[i].place;
		bool whole = name.len == known.len;
		if (known.len <= longest || !tr_text_starts(name, known) ||
		    (!whole && (place == ALONE || place == NEXT)))
			continue;
		longest = known.len;
		option.role = options[i].role;
		option.takes_next = whole && (place == EITHER || place == NEXT);
		option.value =
			whole ? (struct tr_text){ NULL, 0 }
			      : (struct tr_text){ name.data + known.len, name.len - known.len };
	}
	/* "/Fo:name" */
	if ((option.role == TR_ROLE_OUTPUT || option.role == TR_ROLE_PRODUCT) && option.value.len &&
	    *option.value.data == ':') {
		option.value.data++;
		option.value.len--;
		option.takes_next = option.value.len == 0;
	}
	return option;
}
