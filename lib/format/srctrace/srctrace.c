#include "format/srctrace/srctrace.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".srctrace", NULL };

static const struct tr_format_option options[] = {
	{ "base64", "yes|no", false, true,
	  "write the form that consoles carry: lines of Base64 between markers" },
	{ "align", "1|2|4|8|16", false, true, "pad to multiples of so many bytes" },
	{ "endian", "little|big", false, true, "byte order to write" },
	{ NULL, NULL, false, false, NULL },
};

static bool is_log(struct tr_input *in, const struct tr_settings *settings)
{
	if (in)
		return !tr_srctrace_bid(in);
	return tr_text_is(tr_setting_get(settings, "base64", "no"), "yes");
}

const struct tr_format tr_format_srctrace = {
	.name = "srctrace",
	.summary = "GNATcoverage source trace, binary or Base64 in a console log",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY | TR_FORMAT_HEADS |
		 TR_FORMAT_ONE,
	.extensions = extensions,
	.options = options,
	.bid = tr_srctrace_bid,
	.search = tr_srctrace_search,
	.is_log = is_log,
	.open = tr_srctrace_open,
	.next = tr_srctrace_next,
	.close = tr_srctrace_close,
	.create = tr_srctrace_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_srctrace_discard,
	.default_style = "gnatcov-src",
};
