/* The styles gnatcov, gnatcov-raw and gnatcov-base: see view/gnatcov_text.h. */
#include "config.h"

#include "tr_totext.h"

#include "view/gnatcov_text.h"

static void *create(struct tr_cli *cli, enum tr_gnatcov_text_style style)
{
	struct tr_gnatcov_text *text = tr_gnatcov_text_new(style, cli->out);
	struct tr_error err;

	if (!text) {
		tr_error_memory(&err);
		tr_cli_report(cli, &err);
	}
	return text;
}

static void *create_dump(struct tr_cli *cli)
{
	return create(cli, TR_GNATCOV_TEXT_DUMP);
}

static void *create_raw(struct tr_cli *cli)
{
	return create(cli, TR_GNATCOV_TEXT_RAW);
}

static void *create_base(struct tr_cli *cli)
{
	return create(cli, TR_GNATCOV_TEXT_BASE);
}

static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	return record ? tr_gnatcov_text_put(view, record, err) : tr_gnatcov_text_finish(view, err);
}

static void free_view(void *view)
{
	tr_gnatcov_text_free(view);
}

static const char *const formats[] = { "gnatcov", NULL };
static const char *const none[] = { NULL };
static const char shows[] = "executed blocks";
static const char *const kinds[] = { "block", NULL };

const struct tr_style tr_style_gnatcov = {
	.name = "gnatcov",
	.formats = formats,
	.shows = shows,
	.kinds = kinds,
	.create = create_dump,
	.put = put,
	.free = free_view,
};
const struct tr_style tr_style_gnatcov_raw = {
	.name = "gnatcov-raw",
	.formats = none,
	.shows = shows,
	.kinds = kinds,
	.create = create_raw,
	.put = put,
	.free = free_view,
};
const struct tr_style tr_style_gnatcov_base = {
	.name = "gnatcov-base",
	.formats = none,
	.shows = shows,
	.kinds = kinds,
	.create = create_base,
	.put = put,
	.free = free_view,
};
