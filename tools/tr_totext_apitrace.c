/* The style of `apitrace dump`, with its switches as -O keys. */
#include "config.h"

#include "tr_totext.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/directory.h"
#include "expr/regex.h"
#include "view/apitrace_text.h"

struct style {
	struct tr_cli *cli;
	struct tr_apitrace_text *text;
	struct tr_regex *regex;
	struct tr_regex_scratch *scratch;
	struct tr_text folder; /* for blobs; data NULL: they are not kept */
	int root;	       /* it, once a blob was kept; -1 before */
	struct tr_file_group files;
	struct tr_buffer path;
};

/* Gives the files of blobs their names. */
static void complete_files(struct style *style)
{
	struct tr_error err;

	while (tr_file_group_complete(&style->files, &err) != TR_END)
		tr_cli_report(style->cli, &err);
}

static void destroy(void *view)
{
	struct style *style = view;

	complete_files(style);
	if (style->root >= 0)
		close(style->root);
	tr_apitrace_text_free(style->text);
	tr_regex_free(style->regex);
	tr_regex_scratch_free(style->scratch);
	tr_buffer_free(&style->path);
	free(style);
}

/* Always NULL, for whoever returns it. */
static void *out_of_memory(struct tr_cli *cli)
{
	struct tr_error err;

	tr_error_memory(&err);
	tr_cli_report(cli, &err);
	return NULL;
}

static bool matches(void *context, struct tr_text function)
{
	struct style *style = context;
	struct tr_error err;

	switch (tr_regex_match(style->regex, function, style->scratch)) {
	case TR_REGEX_YES:
		return true;
	case TR_REGEX_NO:
		return false;
	case TR_REGEX_FAILED:
		out_of_memory(style->cli);
		return false;
	case TR_REGEX_LIMIT:
		break;
	}
	tr_error_set(&err, TR_CAUSE_LIMIT, "-O grep takes too long on a name of %zu bytes",
		     function.len);
	tr_cli_report(style->cli, &err);
	return false;
}

/* name: the end of path, below the folder, which is created where it is missing. */
static bool write_file(struct style *style, const char *path, const char *name,
		       struct tr_text bytes, struct tr_error *err)
{
	const char *folder = style->folder.data;

	if (style->root < 0)
		style->root = tr_directory_open(folder, true, err);
	if (style->root < 0)
		return false;
	if (tr_file_group_is_full(&style->files))
		complete_files(style);
	struct tr_sink *sink = tr_sink_file_at(style->root, name, path, &style->files, err);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;

	if (!out) {
		if (sink)
			tr_error_memory(err);
		return false;
	}
	tr_output_put_text(out, bytes);
	return tr_output_finish(out, err);
}

/* blob_call7.bin, blob_call7_1.bin …, as apitrace calls them. */
static bool keep_blob(void *context, struct tr_text call, unsigned number, struct tr_text bytes,
		      struct tr_buffer *name)
{
	struct style *style = context;
	struct tr_buffer *path = &style->path;
	struct tr_error err;

	tr_buffer_reset(path);
	if (!tr_text_is(style->folder, ".")) {
		tr_buffer_put_text(path, style->folder);
		tr_buffer_put_byte(path, '/');
	}
	size_t name_at = path->len;
	tr_buffer_put_literal(path, "blob_call");
	tr_buffer_put_text(path, call);
	if (number) {
		tr_buffer_put_byte(path, '_');
		tr_buffer_put_decimal(path, number);
	}
	tr_buffer_put(path, ".bin", sizeof ".bin");
	if (path->failed) {
		name->failed = true;
		return false;
	}
	tr_buffer_put(name, path->data, path->len - 1);
	if (write_file(style, path->data, path->data + name_at, bytes, &err))
		return true;
	tr_cli_report(style->cli, &err);
	return false;
}

static bool compile(struct style *style, struct tr_text pattern)
{
	char why[TR_ERROR_TEXT];

	style->regex = tr_regex_compile(pattern, why, sizeof why);
	style->scratch = tr_regex_scratch_new();
	if (style->regex && style->scratch)
		return true;
	if (!style->regex && *why)
		tr_cli_usage(style->cli, "grep: %s", why);
	else
		out_of_memory(style->cli);
	return false;
}

static bool is_yes(const struct tr_settings *given, const char *key, const char *otherwise)
{
	return tr_text_is(tr_setting_get(given, key, otherwise), "yes");
}

/* False: it is reported. */
static bool set_up(struct style *style)
{
	const struct tr_settings *given = &style->cli->config.read.settings;
	struct tr_apitrace_text_config config = TR_APITRACE_TEXT_DEFAULT;
	struct tr_text pattern = tr_setting_get(given, "grep", NULL);

	config.arg_names = is_yes(given, "arg-names", "yes");
	config.call_numbers = is_yes(given, "call-nos", "yes");
	config.color = is_yes(given, "color", "no");
	config.multiline = is_yes(given, "multiline", "yes");
	config.thread_ids = is_yes(given, "thread-ids", "yes");
	config.verbose = is_yes(given, "verbose", "yes");
	config.fixed_octal = tr_text_is(tr_setting_get(given, "octal", ""), "fixed");
	config.context = style;
	style->folder = tr_setting_get(given, "blobs", NULL);
	if (style->folder.data)
		config.keep_blob = keep_blob;
	if (pattern.data) {
		config.properties = false;
		config.wanted = matches;
		if (!compile(style, pattern))
			return false;
	}
	style->text = tr_apitrace_text_new(&config, style->cli->out);
	return style->text || out_of_memory(style->cli);
}

static void *create(struct tr_cli *cli)
{
	struct style *style = calloc(1, sizeof *style);

	if (!style)
		return out_of_memory(cli);
	style->cli = cli;
	style->root = -1;
	if (set_up(style))
		return style;
	destroy(style);
	return NULL;
}

static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	struct style *style = view;

	return tr_apitrace_text_put(style->text, record, err);
}

static struct tr_call_taker *taker(void *view)
{
	struct style *style = view;

	return tr_apitrace_text_taker(style->text);
}

const struct tr_style tr_style_apitrace = {
	.name = "apitrace",
	.formats = (const char *const[]){ "apitrace", NULL },
	.shows = "API calls",
	.kinds = (const char *const[]){ "call", "enter", "leave", NULL },
	.create = create,
	.put = put,
	.free = destroy,
	.taker = taker,
};
