/* The -O keys of all styles. */
#include "config.h"

#include "tr_totext.h"

const struct tr_format_option tr_totext_settings[] = {
	{ "arg-names", "yes|no", false, true, "names of arguments (default yes)" },
	{ "blobs", "DIR", false, true,
	  "keep blobs in files of DIR, and show their names instead of their lengths" },
	{ "call-nos", "yes|no", false, true, "numbers of calls (default yes)" },
	{ "color", "yes|no", false, true, "apitrace's colors of a terminal (default no)" },
	{ "grep", "REGEX", false, true, "only calls of functions whose name matches" },
	{ "lines", "utf8|ascii", false, true,
	  "tree: what its lines are drawn with (default utf8)" },
	{ "multiline", "yes|no", false, true,
	  "backtraces, empty lines after frames, and line feeds as they are (default yes)" },
	{ "nested", "yes|no", false, true,
	  "script: also what another command of the script starts itself (default no)" },
	{ "octal", "apitrace|fixed", false, true,
	  "spell bytes as apitrace does, which loses some, or as they are (default apitrace)" },
	{ "thread-ids", "yes|no", false, true, "numbers of threads (default yes)" },
	{ "verbose", "yes|no", false, true,
	  "calls that apitrace shows with its -v only: glIsEnabled and such (default yes)" },
	{ "width", "N", false, true,
	  "tree: cut lines to so many characters, 0 for none (default: as the terminal is wide); "
	  "dot: cut commands (default 50)" },
	{ 0 },
};
