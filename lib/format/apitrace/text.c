/* SPDX-License-Identifier: MIT */

#include <stdlib.h>
#include <unistd.h>

#include "core/file.h"
#include "format/apitrace/apitrace.h"
#include "format/apitrace/text.h"
#include "record/vocabulary.h"

/* The style apitrace: takes the lines of the stream and the -O keys. */

static struct tr_apitrace_text *new_text(const struct tr_apitrace_text_config *config,
					 struct tr_output *out)
{
	struct tr_apitrace_text *text = calloc(1, sizeof *text);

	if (!text)
		return NULL;
	text->config = *config;
	text->out = out;
	if (config->color)
		text->colors = (struct tr_apitrace_colors){
			.normal = TR_TEXT("\033[0m"),
			.bold = TR_TEXT("\033[1m"),
			.red = TR_TEXT("\033[31m"),
			.pointer = TR_TEXT("\033[32m"),
			.literal = TR_TEXT("\033[34m"),
		};
	text->tables.look = (struct tr_apitrace_look){ text->colors.bold, text->colors.normal,
						       config->arg_names };
	tr_apitrace_text_take(&text->taker);
	text->join = tr_join_new();
	if (text->join)
		return text;
	free(text);
	return NULL;
}

static struct tr_call_taker *text_taker(struct tr_apitrace_text *text)
{
	const struct tr_apitrace_text_config *config = &text->config;

	return config->verbose && !config->wanted && !config->keep_blob ? &text->taker : NULL;
}

static void free_text(struct tr_apitrace_text *text)
{
	if (!text)
		return;
	tr_join_free(text->join);
	tr_apitrace_tables_free(&text->tables);
	tr_map_free(&text->guess.by_key);
	tr_buffer_free(&text->line);
	tr_arena_free(&text->arena);
	free(text->shown);
	free(text);
}

/* A pair of a header's properties, with its place among them. */
struct property {
	struct tr_text name;  /* bytes */
	struct tr_text value; /* spelling */
	size_t order;
};

static int compare_names(const struct property *x, const struct property *y)
{
	size_t len = x->name.len < y->name.len ? x->name.len : y->name.len;
	int order = len ? memcmp(x->name.data, y->name.data, len) : 0;

	if (order)
		return order;
	return x->name.len < y->name.len ? -1 : x->name.len > y->name.len;
}

static int by_name_and_order(const void *a, const void *b)
{
	const struct property *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : x->order < y->order ? -1 : 1;
}

/* Reads a pair. False: it is none, or (data NULL) memory is out. */
static bool read_property(const struct tr_value *pair, struct tr_arena *arena,
			  struct property *property)
{
	if (pair->type != TR_LIST || pair->count != 2 || pair->as.items[0].type != TR_STRING ||
	    pair->as.items[1].type != TR_STRING)
		return false;
	property->name = tr_string_bytes(pair->as.items[0].text, arena);
	property->value = pair->as.items[1].text;
	return true;
}

/* Sorted by name, as apitrace keeps them; of several of one name the last. */
static bool put_properties(struct tr_apitrace_text *text, const struct tr_value *pairs)
{
	struct property *list = tr_arena_alloc(&text->arena, pairs->count * sizeof *list);
	size_t count = 0;

	if (!list)
		return false;
	for (size_t i = 0; i < pairs->count; i++) {
		list[count].order = i;
		if (!read_property(&pairs->as.items[i], &text->arena, &list[count]))
			continue;
		if (!list[count++].name.data)
			return false;
	}
	qsort(list, count, sizeof *list, by_name_and_order);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && compare_names(&list[i], &list[i + 1]) == 0)
			continue;
		tr_buffer_put_literal(&text->line, "// ");
		tr_buffer_put_text(&text->line, list[i].name);
		tr_buffer_put_literal(&text->line, " = ");
		tr_buffer_put_text(&text->line, text->colors.literal);
		tr_apitrace_text_string(text, list[i].value, false);
		tr_buffer_put_text(&text->line, text->colors.normal);
		tr_buffer_put_byte(&text->line, '\n');
	}
	return true;
}

/* Definitions end with their segment. Lines before a header belong to its segment. */
static void end_segment(struct tr_apitrace_text *text)
{
	tr_apitrace_tables_reset(&text->tables);
	memset(text->known, 0, sizeof text->known);
	text->has_calls = false;
}

static enum tr_status put_header(struct tr_apitrace_text *text, struct tr_record *record,
				 struct tr_error *err)
{
	if (text->has_calls)
		end_segment(text);
	if (!text->config.properties)
		return TR_OK;
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	struct tr_field *field = tr_record_field(record, "properties");
	const struct tr_value *pairs = field ? tr_field_value(record, field, err) : NULL;
	if (field && !pairs)
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_WARN;
	if (!pairs || pairs->type != TR_LIST || put_properties(text, pairs))
		return TR_OK;
	return tr_error_memory(err);
}

static bool is_call(const struct tr_record *record)
{
	return record->type == TR_RECORD && record->kind.len == 4 &&
	       memcmp(record->kind.data, "call", 4) == 0;
}

/* Reports a record that is not shown, as a detail; context is not reported. */
static enum tr_status leave_out(const struct tr_record *record, struct tr_error *err)
{
	if (tr_context_kind(record->kind) >= 0)
		return TR_OK;
	if (tr_join_is_kind(record, "leave"))
		tr_error_set(err, TR_CAUSE_INPUT, "a leave without its enter is not shown");
	else
		tr_error_set(err, TR_CAUSE_INPUT, "a record of kind %.*s is not shown",
			     (int)record->kind.len, record->kind.data);
	err->severity = TR_DETAIL;
	return TR_WARN;
}

static enum tr_status show(struct tr_apitrace_text *text, struct tr_record *record,
			   struct tr_error *err)
{
	switch (record->type) {
	case TR_HEADER:
		return put_header(text, record, err);
	case TR_DEFINITION:
		return tr_apitrace_tables_add(&text->tables, record, err);
	case TR_TRAILER:
		end_segment(text);
		return TR_OK;
	case TR_RECORD:
		text->has_calls = true;
		if (is_call(record) || tr_join_is_kind(record, "enter"))
			return tr_apitrace_text_call(text, record, err);
		return leave_out(record, err);
	default:
		return TR_OK;
	}
}

/* Shows a record and writes the text. */
static enum tr_status show_and_write(struct tr_apitrace_text *text, struct tr_record *record,
				     struct tr_error *err)
{
	struct tr_buffer *line = &text->line;

	tr_output_lend(text->out, line);
	enum tr_status status = show(text, record, err);

	if (line->failed && status != TR_FATAL) {
		tr_error_memory(err);
		status = TR_FATAL;
	}
	if (line->len && status != TR_FATAL) {
		tr_output_put(text->out, line->data, line->len);
		tr_output_record_end(text->out);
	}
	tr_arena_reset(&text->arena);
	return status;
}

static enum tr_status put_text(struct tr_apitrace_text *text, struct tr_record *record,
			       struct tr_error *err)
{
	enum tr_status worst = TR_OK, status;
	struct tr_record *ready;
	struct tr_error trouble;

	if (record && is_call(record)) /* nothing to be joined: most are */
		return show_and_write(text, record, err);
	tr_join_put(text->join, record);
	while ((status = tr_join_next(text->join, &ready, &trouble)) != TR_END) {
		if (status == TR_OK)
			status = show_and_write(text, ready, &trouble);
		if (status > worst) {
			worst = status;
			*err = trouble;
		}
		if (status == TR_FATAL)
			break;
	}
	return worst;
}

/* The style of `apitrace dump`, with its switches as -O keys. */

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
	free_text(style->text);
	tr_buffer_free(&style->path);
	free(style);
}

static bool is_wanted(void *context, struct tr_text function)
{
	struct style *style = context;

	return style->config.is_wanted(style->config.context, function);
}

/* name: the end of path, below the folder, which is created if it is missing. */
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

/* The configuration from the -O keys. */
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
	style->text = new_text(&text_config, out);
	if (style->text)
		return style;
	destroy(style);
	return NULL;
}

static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	struct style *style = view;

	return put_text(style->text, record, err);
}

static struct tr_call_taker *taker(void *view)
{
	struct style *style = view;

	return text_taker(style->text);
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
