#include "format/bear/bear.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".bear.json", ".events.json", NULL };

static const struct tr_format_option options[] = {
	{ "version", "3|4", false, true, "write events as this version of Bear (default 3)" },
	{ "intercept", "strip|keep", true, false,
	  "variables that Bear puts into the environment: left out (default), or kept" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_bear = {
	.name = "bear",
	.summary = "Bear's intercepted executions, JSON lines",
	.exact = "equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_HEADS |
		 TR_FORMAT_FORKLESS,
	.extensions = extensions,
	.options = options,
	.bid = tr_bear_bid,
	.open = tr_bear_open,
	.next = tr_bear_next,
	.close = tr_bear_close,
	.create = tr_bear_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_bear_discard,
	.default_style = "tree",
};
