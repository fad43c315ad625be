/* SPDX-License-Identifier: MIT */
/*
 * Shows a stream of records in every view: process tree, graph, script, timelines, page, figures,
 * JSON, and the texts of apitrace and gnatcov. No stream makes a view fail, except for memory, and
 * JSON has balanced brackets. The first byte selects options.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "../unit/memory.h"
#include "../unit/views.h"
#include "record/json.h"

enum { SPOOL = 1 << 16, WIDTH = 60 };

struct view {
	void *(*make)(unsigned how, struct tr_output *out);
	/* NULL: the stream has ended */
	enum tr_status (*put)(void *view, struct tr_record *record, struct tr_error *err);
	void (*drop)(void *view);
	enum { TEXT, JSON, LINES } form; /* LINES: any number of values */
};

static void *make_tree_text(unsigned how, struct tr_output *out)
{
	struct tr_tree_text_config config = { .width = how & 1 ? WIDTH : 0,
					      .ascii = how & 2,
					      .max_spool = SPOOL };
	return tr_tree_text_new(&config, out);
}

static void *make_dot_text(unsigned how, struct tr_output *out)
{
	struct tr_dot_text_config config = { .width = how & 1 ? WIDTH : 0, .max_spool = SPOOL };
	return tr_dot_text_new(&config, out);
}

static void *make_script_text(unsigned how, struct tr_output *out)
{
	struct tr_script_text_config config = { .nested = how & 1,
						.max_spool = SPOOL,
						.max_ratio = fuzz_limits().max_ratio };
	return tr_script_text_new(&config, out);
}

static void *make_chrome(unsigned how, struct tr_output *out)
{
	(void)how;
	return tr_chrome_new(SPOOL, tr_format_call_kinds, out);
}

static void *make_html(unsigned how, struct tr_output *out)
{
	struct tr_html_config config = { .title = TR_TEXT("</script>"),
					 .limit = how & 1 ? 3 : 1000,
					 .max_spool = SPOOL,
					 .call_kinds = tr_format_call_kinds };
	return tr_html_new(&config, out);
}

static void ignore_trouble(void *context, const struct tr_error *err)
{
	(void)context;
	(void)err;
}

static void *make_apitrace_text(unsigned how, struct tr_output *out)
{
	struct tr_setting list[] = {
		{ TR_TEXT("color"), tr_text_from(how & 1 ? "yes" : "no") },
		{ TR_TEXT("multiline"), tr_text_from(how & 2 ? "yes" : "no") },
		{ TR_TEXT("verbose"), tr_text_from(how & 4 ? "yes" : "no") },
		{ TR_TEXT("octal"), tr_text_from(how & 8 ? "fixed" : "apitrace") },
	};
	struct tr_text_config config = { .settings = { list, sizeof list / sizeof *list },
					 .report = ignore_trouble };
	struct tr_error err;
	return tr_format_apitrace.styles[0].create(&config, out, &err);
}

STYLE(gnatcov_text, tr_format_gnatcov, 0)
STYLE(srctrace_text, tr_format_srctrace, 0)

/* All styles of gnatcov have the same put and free. */
static void *make_gnatcov_text(unsigned how, struct tr_output *out)
{
	const struct tr_text_config config = { .width = 0 };
	struct tr_error err;

	return tr_format_gnatcov.styles[how % 3].create(&config, out, &err);
}

static void *make_srctrace_text(unsigned how, struct tr_output *out)
{
	const struct tr_text_config config = { .width = 0 };
	struct tr_error err;

	(void)how;
	return tr_format_srctrace.styles[0].create(&config, out, &err);
}

static void *make_json(unsigned how, struct tr_output *out)
{
	struct tr_json_view_config config = { .computed = how & 4,
					      .call_kinds = tr_format_call_kinds,
					      .array = how & 1,
					      .pretty = how & 2 };
	return tr_json_view_new(&config, out);
}

struct stat {
	struct tr_stat *stat;
	struct tr_output *out;
};

static void *make_figures(unsigned how, struct tr_output *out, bool json)
{
	struct tr_stat_config config = { .table = how % 3 == 0	 ? TR_STAT_BY_ALL
						  : how % 3 == 1 ? TR_STAT_BY_KEY
								 : TR_STAT_BY_FRAME,
					 .by = { "kind", NULL },
					 .top = how & 4 ? 2 : 0,
					 .call_kinds = tr_format_call_kinds,
					 .call_api = tr_format_call_api,
					 .json = json };
	struct stat *view = malloc(sizeof *view);
	if (!view)
		return NULL;
	*view = (struct stat){ tr_stat_new(&config), out };
	return view;
}

static void *make_stat(unsigned how, struct tr_output *out)
{
	return make_figures(how, out, false);
}

static void *make_stat_json(unsigned how, struct tr_output *out)
{
	return make_figures(how, out, true);
}

static enum tr_status put_stat(void *view, struct tr_record *record, struct tr_error *err)
{
	struct stat *self = view;
	if (!self->stat)
		return tr_error_memory(err);
	if (record && tr_stat_put(self->stat, record, record->kind))
		return TR_OK;
	if (!record && tr_stat_write(self->stat, self->out))
		return TR_OK;
	return tr_error_memory(err);
}

static void drop_stat(void *view)
{
	struct stat *self = view;
	tr_stat_free(self->stat);
	free(self);
}

static const struct view views[] = {
	{ make_tree_text, put_tree_text, drop_tree_text, TEXT },
	{ make_dot_text, put_dot_text, drop_dot_text, TEXT },
	{ make_script_text, put_script_text, drop_script_text, TEXT },
	{ make_chrome, put_chrome, drop_chrome, JSON },
	{ make_html, put_html, drop_html, TEXT },
	{ make_apitrace_text, put_apitrace_text, drop_apitrace_text, TEXT },
	{ make_gnatcov_text, put_gnatcov_text, drop_gnatcov_text, TEXT },
	{ make_srctrace_text, put_srctrace_text, drop_srctrace_text, TEXT },
	{ make_json, put_json, drop_json, LINES },
	{ make_stat, put_stat, drop_stat, TEXT },
	{ make_stat_json, put_stat, drop_stat, JSON },
};

/* False: a limit or memory ended the view. */
static bool show(const struct view *view, void *self, struct tr_reader *reader)
{
	struct tr_error err;
	struct tr_record *record;
	enum tr_status status;
	while ((status = tr_reader_read(reader, &record, &err)) != TR_END) {
		if (status == TR_FATAL)
			return false;
		if (status == TR_OK && view->put(self, record, &err) == TR_FATAL)
			return false;
	}
	/* at the end a view may have several things to report */
	for (int i = 0; i < 1000; i++) {
		status = view->put(self, NULL, &err);
		if (status != TR_WARN || view->form != TEXT)
			break;
	}
	return status != TR_FATAL;
}

static void check_json(const struct view *view, struct tr_buffer *shown)
{
	size_t len = shown->len;
	for (int i = 0; i < TR_INPUT_PAD; i++)
		tr_buffer_put_byte(shown, '\0');
	if (shown->failed)
		return;
	struct tr_json json = { shown->data, shown->data + len };
	size_t values = 0;
	for (; json.pos < json.end; values++) {
		struct tr_error err;
		enum tr_json_token token = tr_json_skip(&json, &err);
		if (token == TR_JSON_BAD || token == TR_JSON_CUT)
			fuzz_fail("what is shown as JSON is JSON");
		while (json.pos < json.end && (*json.pos == '\n' || *json.pos == ' '))
			json.pos++;
	}
	if (view->form == JSON && values != 1)
		fuzz_fail("a document is one JSON value");
}

static void run(const struct view *view, unsigned how, struct tr_text stream)
{
	struct tr_read_config config = { .limits = fuzz_limits() };
	struct tr_buffer shown = TR_BUFFER_INIT;
	struct tr_error err;
	struct tr_source *source = memory_source(stream, SIZE_MAX);
	struct tr_input *in = source ? tr_input_new(source, &config.limits, 0) : NULL;
	struct tr_sink *sink = memory_sink(&shown, NULL);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	struct tr_reader *reader = in ? tr_format_trec.open(&config, in, &err) : NULL;
	void *self = out ? view->make(how, out) : NULL;
	bool whole = reader && self && show(view, self, reader);
	if (self)
		view->drop(self);
	tr_reader_free(reader);
	tr_input_free(in);
	if (out && tr_output_finish(out, &err) && whole && view->form != TEXT)
		check_json(view, &shown);
	tr_buffer_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned how = size ? data[0] : 0;
	struct tr_text stream = { (const char *)data + (size > 0), size ? size - 1 : 0 };
	for (size_t i = 0; i < sizeof views / sizeof *views; i++)
		run(&views[i], how, stream);
	return 0;
}
