#include "format/drcov/drcov.h"
#include "format/segment_writer.h"

#include <string.h>

static const char *const extensions[] = { ".drcov", ".cov", NULL };

static const struct tr_format_option options[] = {
	{ "version", "2|3", false, true,
	  "write this version: block starts from module or segment" },
	{ "table", "2|3|4|5", false, true, "write a module table of this version" },
	{ "text", "yes|no", false, true, "write the blocks as text" },
	{ "starts", "absolute|relative|auto", true, false,
	  "block starts are addresses, as QEMU's plugin writes them, or count from the module "
	  "(auto: find out)" },
	{ "module", "PATH@BASE", false, true,
	  "the module at BASE (0x...), for traces without modules (repeatable)" },
	{ NULL, NULL, false, false, NULL },
};

static int bid(struct tr_input *in)
{
	enum { MAGIC = sizeof TR_DRCOV_VERSION - 1, LEAST = 6 };
	tr_input_more(in, MAGIC);
	size_t n = tr_input_available(in) < MAGIC ? tr_input_available(in) : MAGIC;
	return n >= LEAST && memcmp(in->pos, TR_DRCOV_VERSION, n) == 0 ? 8 * (int)n : 0;
}

const struct tr_format tr_format_drcov = {
	.name = "drcov",
	.summary = "DynamoRIO coverage: modules and their basic blocks",
	.exact = "EXACT",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_BINARY | TR_FORMAT_HEADS |
		 TR_FORMAT_ONE,
	.extensions = extensions,
	.options = options,
	.bid = bid,
	.open = tr_drcov_open,
	.next = tr_drcov_next,
	.close = tr_drcov_close,
	.create = tr_drcov_create,
	.put = tr_segment_put,
	.finish = tr_segment_finish,
	.discard = tr_drcov_discard,
};
