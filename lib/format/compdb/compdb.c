#include "format/compdb/compdb.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".compile_commands.json", NULL };

static const struct tr_format_option options[] = {
	{ "unique", "file|file+output|all|none", false, true,
	  "what makes two entries the same, so that the first stays (file+output)" },
	{ "respfiles", "inline|keep", false, true,
	  "response files: their options in their place (default), or stay named" },
	{ "respfile-root", "DIR", false, true,
	  "read response files below DIR that are not in the trace (repeatable; default: none)" },
	{ "quoting", "auto|gnu|windows", false, true, "how response files quote" },
	{ "tools", "CONFIG", false, true,
	  "programs and their response files, as xcalbuild's tracer has them (a JSON file)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_compdb = {
	.name = "compdb",
	.summary = "compilation database, compile_commands.json",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = tr_compdb_bid,
	.open = tr_compdb_open,
	.next = tr_compdb_next,
	.close = tr_compdb_close,
	.create = tr_compdb_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_compdb_discard,
	.default_style = "tree",
};
