#include "format/gnatcov/gnatcov.h"
#include "format/segment_writer.h"

static const char *const extensions[] = { ".trace", NULL };

static const struct tr_format_option options[] = {
	{ "tag", "TEXT", false, true, "set the trace's tag (USER_DATA); empty: take it out" },
	{ "endian", "little|big", false, true, "byte order to write" },
	{ "machine", "NAME", false, true, "ELF machine to write: a name or a number" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_gnatcov = {
	.name = "gnatcov",
	.summary = "GNATcoverage execution trace, 32 and 64 bits, both byte orders",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY,
	.extensions = extensions,
	.options = options,
	.bid = tr_gnatcov_bid,
	.open = tr_gnatcov_open,
	.next = tr_gnatcov_next,
	.close = tr_gnatcov_close,
	.create = tr_gnatcov_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_gnatcov_discard,
	.default_style = "gnatcov",
};

/* The magic is long enough to be no accident. */
int tr_gnatcov_bid(struct tr_input *in)
{
	static const char magic[] = TR_GNATCOV_MAGIC;

	/* one byte says no to nearly all others, without waiting for more */
	if (!tr_input_more(in, 1) || *in->pos != magic[0] ||
	    !tr_input_more(in, TR_GNATCOV_MAGIC_SIZE) ||
	    memcmp(in->pos, magic, TR_GNATCOV_MAGIC_SIZE) != 0)
		return 0;
	return TR_GNATCOV_MAGIC_SIZE * 8;
}
