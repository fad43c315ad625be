#include "format/strace/strace.h"

static const char *const extensions[] = { ".strace", NULL };

static const struct tr_format_option options[] = {
	{ "cwd", "DIR", true, false, "the directory in which the first process began" },
	{ "failed", "yes|no", true, false, "keep executions that failed, with their error (no)" },
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_strace = {
	.name = "strace",
	.summary = "system calls as strace prints them",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.extensions = extensions,
	.options = options,
	.bid = tr_strace_bid,
	.open = tr_strace_open,
	.next = tr_strace_next,
	.close = tr_strace_close,
	.part = tr_strace_part,
	.merge = tr_strace_merge,
	.default_style = "tree",
};
