#include "format/klocwork/klocwork.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".kw.json", ".kw.jsonl", NULL };

static const struct tr_format_option options[] = {
	{ "env-base", "parent|top", true, true,
	  "env-diff is against the parent's environment (default), or the env line's" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_klocwork = {
	.name = "klocwork",
	.summary = "kwinject build trace, JSON lines",
	.exact = "EXACT in kwinject's spelling, else equal as JSON",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_JSON | TR_FORMAT_FORKLESS,
	.extensions = extensions,
	.options = options,
	.bid = tr_klocwork_bid,
	.open = tr_klocwork_open,
	.next = tr_klocwork_next,
	.close = tr_klocwork_close,
	.create = tr_klocwork_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_klocwork_discard,
	.default_style = "tree",
};
