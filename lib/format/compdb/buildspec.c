#include "format/compdb/compdb.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".buildspec.json", NULL };

static const struct tr_format_option options[] = {
	{ "tools", "CONFIG", false, true,
	  "the programs that matter, as xcalbuild's tracer has them (a JSON file); or xcalbuild" },
	{ "respfiles", "keep|inline|attach", false, true,
	  "response files: stay named, options in their place, or content in respfile" },
	{ "respfile-root", "DIR", false, true,
	  "read response files below DIR that are not in the trace (repeatable; default: none)" },
	{ "quoting", "auto|gnu|windows", false, true, "how response files quote" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_buildspec = {
	.name = "buildspec",
	.summary = "build specification of xcalbuild",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = tr_buildspec_bid,
	.open = tr_compdb_open,
	.next = tr_compdb_next,
	.close = tr_compdb_close,
	.create = tr_buildspec_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_buildspec_discard,
	.default_style = "tree",
};
