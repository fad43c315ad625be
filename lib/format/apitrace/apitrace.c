#include "format/apitrace/apitrace.h"

static const char *const extensions[] = { ".trace", NULL };

static const struct tr_format_option options[] = {
	{ "version", "0|1|2|3|4|5|6", false, true,
	  "version of the stream that is written (default: that of the one that was read)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_apitrace = {
	.name = "apitrace",
	.summary = "API call trace of apitrace",
	.exact = "SAME",
	.flags = TR_FORMAT_WRITES | TR_FORMAT_BINARY,
	.extensions = extensions,
	.options = options,
	.create = tr_apitrace_create,
	.put = tr_apitrace_put,
	.finish = tr_apitrace_finish,
	.discard = tr_apitrace_discard,
};
