/* SPDX-License-Identifier: MIT */
/* The description of the format. */
#include "format/lcov/lcov.h"

static const char *const extensions[] = { ".info", NULL };

static const struct tr_format_option options[] = {
	TR_LCOV_OPTIONS,
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_lcov = {
	.name = "lcov",
	.summary = "lcov tracefile: coverage by source line",
	.exact = "-",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = tr_lcov_bid,
	.open = tr_lcov_open,
	.create = tr_lcov_create,
	.default_style = "source",
};
