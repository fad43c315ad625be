/* SPDX-License-Identifier: MIT */
/* The style of `apitrace dump`, with its switches as -O keys. */
#include "config.h"

#include "format/apitrace/apitrace.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/directory.h"
#include "format/apitrace/text.h"

struct style {
	struct tr_text_config config;
	struct tr_apitrace_text *text;
	struct tr_text folder; /* for blobs; data NULL: they are not kept */
	int root;	       /* descriptor of folder after a blob was kept; -1 before */
	struct tr_file_group files;
	struct tr_buffer path;
};

/* Gives the files of blobs their names. */
static void complete_files(struct style *style)
{
	struct tr_error err;

	while (tr_file_group_complete(&style->files, &err) != TR_END)
		style->config.report(style->config.context, &err);
}

static void destroy(void *view)
{
	struct style *style = view;

	complete_files(style);
	if (style->root >= 0)
		close(style->root);
	tr_apitrace_text_free(style->text);
	tr_buffer_free(&style->path);
	free(style);
}

static bool is_wanted(void *context, struct tr_text function)
{
	struct style *style = context;

	return style->config.is_wanted(style->config.context, function);
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
	style->config.report(style->config.context, &err);
	return false;
}

static bool is_yes(const struct tr_settings *given, const char *key, const char *otherwise)
{
	return tr_text_is(tr_setting_get(given, key, otherwise), "yes");
}

/* What the -O keys ask for. */
static struct tr_apitrace_text_config configure(struct style *style)
{
	const struct tr_settings *given = &style->config.settings;
	struct tr_apitrace_text_config config = {
		.arg_names = is_yes(given, "arg-names", "yes"),
		.call_numbers = is_yes(given, "call-nos", "yes"),
		.color = is_yes(given, "color", "no"),
		.multiline = is_yes(given, "multiline", "yes"),
		.thread_ids = is_yes(given, "thread-ids", "yes"),
		.verbose = is_yes(given, "verbose", "yes"),
		.fixed_octal = tr_text_is(tr_setting_get(given, "octal", ""), "fixed"),
		.properties = true,
		.context = style,
	};

	style->folder = tr_setting_get(given, "blobs", NULL);
	if (style->folder.data)
		config.keep_blob = keep_blob;
	if (style->config.is_wanted) {
		config.properties = false;
		config.wanted = is_wanted;
	}
	return config;
}

static void *create(const struct tr_text_config *config, struct tr_output *out,
		    struct tr_error *err)
{
	struct style *style = calloc(1, sizeof *style);

	tr_error_memory(err);
	if (!style)
		return NULL;
	style->config = *config;
	style->root = -1;
	struct tr_apitrace_text_config text_config = configure(style);
	style->text = tr_apitrace_text_new(&text_config, out);
	if (style->text)
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

static bool begins(const struct tr_record *first)
{
	static const char *const kinds[] = { "call", "enter", "leave",	"fn",
					     "enum", "mask",  "struct", "frame" };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(first->kind, kinds[i]))
			return true;
	return false;
}

static const char *const kinds[] = { "call", "enter", "leave", NULL };

static const struct tr_format_option options[] = {
	{ "arg-names", "yes|no", false, true, "names of arguments (default yes)" },
	{ "blobs", "DIR", false, true,
	  "keep blobs in files of DIR, and show their names instead of their lengths" },
	{ "call-nos", "yes|no", false, true, "numbers of calls (default yes)" },
	{ "color", "yes|no", false, true, "apitrace's colors of a terminal (default no)" },
	{ "multiline", "yes|no", false, true,
	  "backtraces, empty lines after frames, and line feeds as they are (default yes)" },
	{ "octal", "apitrace|fixed", false, true,
	  "spell bytes as apitrace does, which loses some, or as they are (default apitrace)" },
	{ "thread-ids", "yes|no", false, true, "numbers of threads (default yes)" },
	{ "verbose", "yes|no", false, true,
	  "calls that apitrace shows with its -v only: glIsEnabled and such (default yes)" },
	{ 0 },
};

const struct tr_text_style tr_apitrace_styles[] = {
	{
		.name = "apitrace",
		.help = "what apitrace dump -v prints, with threads",
		.shows = "API calls",
		.kinds = kinds,
		.options = options,
		.begins = begins,
		.create = create,
		.put = put,
		.free = destroy,
		.taker = taker,
	},
	{ 0 },
};
