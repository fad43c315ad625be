/* SPDX-License-Identifier: MIT */
/* The styles gnatcov, gnatcov-raw and gnatcov-base: see view/gnatcov_text.h. */
#include "tr_totext.h"

#include "view/gnatcov_text.h"

static void *create(enum tr_gnatcov_text_style style, struct tr_output *out, struct tr_error *err)
{
	tr_error_memory(err);
	return tr_gnatcov_text_new(style, out);
}

static void *create_dump(const struct tr_text_config *config, struct tr_output *out,
			 struct tr_error *err)
{
	(void)config;
	return create(TR_GNATCOV_TEXT_DUMP, out, err);
}

static void *create_raw(const struct tr_text_config *config, struct tr_output *out,
			struct tr_error *err)
{
	(void)config;
	return create(TR_GNATCOV_TEXT_RAW, out, err);
}

static void *create_base(const struct tr_text_config *config, struct tr_output *out,
			 struct tr_error *err)
{
	(void)config;
	return create(TR_GNATCOV_TEXT_BASE, out, err);
}

static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	return record ? tr_gnatcov_text_put(view, record, err) : tr_gnatcov_text_finish(view, err);
}

static void destroy(void *view)
{
	tr_gnatcov_text_free(view);
}

/* Source traces have info records too; the first of those is the program's name. */
static bool begins(const struct tr_record *first)
{
	return tr_text_is(first->kind, "section") || tr_text_is(first->kind, "block") ||
	       tr_text_is(first->kind, "load") ||
	       (tr_text_is(first->kind, "info") && first->name.type == TR_CELL_TEXT &&
		!tr_text_is(first->name.text, "PROGRAM_NAME"));
}

static const char shows[] = "executed blocks";
static const char *const kinds[] = { "block", NULL };

const struct tr_text_style tr_gnatcov_styles[] = {
	{
		.name = "gnatcov",
		.help = "what gnatcov dump-trace prints",
		.shows = shows,
		.kinds = kinds,
		.begins = begins,
		.create = create_dump,
		.put = put,
		.free = destroy,
	},
	{
		.name = "gnatcov-raw",
		.help = "what gnatcov dump-trace-raw prints",
		.shows = shows,
		.kinds = kinds,
		.create = create_raw,
		.put = put,
		.free = destroy,
	},
	{
		.name = "gnatcov-base",
		.help = "what gnatcov dump-trace-base prints",
		.shows = shows,
		.kinds = kinds,
		.create = create_base,
		.put = put,
		.free = destroy,
	},
	{ 0 },
};
