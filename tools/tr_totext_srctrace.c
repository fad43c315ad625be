/* SPDX-License-Identifier: MIT */
/* The style gnatcov-src: see view/srctrace_text.h. */
#include "tr_totext.h"

#include "view/srctrace_text.h"

static void *create(const struct tr_text_config *config, struct tr_output *out,
		    struct tr_error *err)
{
	(void)config;
	tr_error_memory(err);
	return tr_srctrace_text_new(out);
}

static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	return record ? tr_srctrace_text_put(view, record, err) : TR_OK;
}

static void destroy(void *view)
{
	tr_srctrace_text_free(view);
}

static bool begins(const struct tr_record *first)
{
	return tr_text_is(first->kind, "unit") ||
	       (tr_text_is(first->kind, "info") && first->name.type == TR_CELL_TEXT &&
		tr_text_is(first->name.text, "PROGRAM_NAME"));
}

static const char *const kinds[] = { "unit", NULL };

const struct tr_text_style tr_srctrace_styles[] = {
	{
		.name = "gnatcov-src",
		.help = "what gnatcov dump-src-trace prints",
		.shows = "source units",
		.kinds = kinds,
		.begins = begins,
		.create = create,
		.put = put,
		.free = destroy,
	},
	{ 0 },
};
