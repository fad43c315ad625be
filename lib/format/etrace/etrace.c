#include "format/etrace/etrace.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".nfsdb", NULL };

static const struct tr_format_option options[] = {
	{ "parts", "merge|apart", true, false,
	  "put the files that were recorded for each CPU together (default), or not" },
	{ "pid-bits", "N", true, false,
	  "bits of an upid that are the process id, usually 22: adds pid to every record" },
	{ "reorder", "N", true, false,
	  "put lines that are up to N lines late back in the order of their times" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_etrace = {
	.name = "etrace",
	.summary = "system call log of the etrace kernel tracer (.nfsdb)",
	.exact = "EXACT with --lines, else equal as events",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_LINES,
	.extensions = extensions,
	.options = options,
	.bid = tr_etrace_bid,
	.open = tr_etrace_open,
	.next = tr_etrace_next,
	.close = tr_etrace_close,
	.part = tr_etrace_part,
	.merge = tr_etrace_merge,
	.create = tr_etrace_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_etrace_discard,
	.default_style = "tree",
};
