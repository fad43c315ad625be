/* The style gnatcov-src: see view/srctrace_text.h. */
#include "config.h"

#include "tr_totext.h"

#include "view/srctrace_text.h"

static void *create(struct tr_cli *cli)
{
	struct tr_srctrace_text *text = tr_srctrace_text_new(cli->out);
	struct tr_error err;

	if (!text) {
		tr_error_memory(&err);
		tr_cli_report(cli, &err);
	}
	return text;
}

static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	return record ? tr_srctrace_text_put(view, record, err) : TR_OK;
}

static void free_view(void *view)
{
	tr_srctrace_text_free(view);
}

static const char *const formats[] = { "srctrace", NULL };

const struct tr_style tr_style_gnatcov_src = {
	.name = "gnatcov-src",
	.formats = formats,
	.shows = "source units",
	.kinds = (const char *const[]){ "unit", NULL },
	.create = create,
	.put = put,
	.free = free_view,
};
