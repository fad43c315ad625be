#include "format/kwspec/kwspec.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".out", NULL };

static const struct tr_format_option options[] = {
	{ "config", "FILE", false, true, "copy the config lines of this specification" },
	{ "respfile-root", "DIR", false, true,
	  "read response files below DIR that are not in the trace (repeatable; default: none)" },
	{ "quoting", "auto|gnu|windows", false, true, "how response files quote" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_kwspec = {
	.name = "kwspec",
	.summary = "build specification of Klocwork, kwinject.out",
	.exact = "-",
	.flags = TR_FORMAT_WRITES,
	.extensions = extensions,
	.options = options,
	.create = tr_kwspec_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_kwspec_discard,
};
