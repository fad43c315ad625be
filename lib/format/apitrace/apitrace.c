#include "format/apitrace/apitrace.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".trace", NULL };

static const struct tr_codec *const containers[] = {
	&tr_codec_snappy,
	&tr_codec_gzip,
	&tr_codec_brotli,
	&tr_codec_zstd_seekable, /* versions after 11.1 do */
	NULL,
};

static const struct tr_format_option options[] = {
	{ "version", "0|1|2|3|4|5|6", false, true,
	  "version of the stream that is written (default: that of the one that was read)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_apitrace = {
	.name = "apitrace",
	.summary = "binary trace of graphics API calls",
	.exact = "SAME",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY | TR_FORMAT_HEADS |
		 TR_FORMAT_ONE,
	.extensions = extensions,
	.containers = containers,
	.options = options,
	.bid = tr_apitrace_bid,
	.search = tr_apitrace_search,
	.open = tr_apitrace_open,
	.next = tr_apitrace_next,
	.close = tr_apitrace_close,
	.create = tr_apitrace_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_apitrace_discard,
	.styles = tr_apitrace_styles,
};
