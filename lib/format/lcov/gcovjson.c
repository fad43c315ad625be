/* SPDX-License-Identifier: MIT */
/*
 * Writes the JSON of gcov --json-format: an object with the files, each with its lines and
 * functions.
 *
 *	{"format_version":"1","files":[
 *	 {"file":"/src/a.c",
 *	  "functions":[{"name":"main","demangled_name":"main","start_line":3,"execution_count":1}],
 *	  "lines":[{"line_number":3,"function_name":"main","count":1,"unexecuted_block":false,
 *	            "branches":[{"count":1,"throw":false,"fallthrough":true}]}]}]}
 *
 * Columns of functions and their basic blocks are unknown, so these members are missing. gcov sets
 * unexecuted_block if a part of the line was not executed; here it is set if nothing of it was.
 * Source: gcov(1) of GCC 12, Invoking Gcov.
 */
#include "format/lcov/lcov.h"

#include "record/json.h"

/* Appends a key and a number. */
static void put_number(struct tr_buffer *to, const char *key, uint64_t number)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
}

/* Appends a key and a string. */
static void put_string(struct tr_buffer *to, const char *key, struct tr_text text)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_json_string_from_bytes(text, to);
}

/* Appends the functions of a file. */
static void put_functions(const struct tr_source_file *file, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, ",\"functions\":[");
	for (size_t i = 0; i < file->functions.count; i++) {
		const struct tr_source_function *function = &file->functions.list[i];
		put_string(to, i ? ",\n{\"name\":" : "\n{\"name\":", function->name);
		put_string(to, ",\"demangled_name\":", function->name);
		put_number(to, ",\"start_line\":", function->line);
		if (function->last_line)
			put_number(to, ",\"end_line\":", function->last_line);
		put_number(to, ",\"execution_count\":", function->count);
		tr_buffer_put_byte(to, '}');
	}
	tr_buffer_put_byte(to, ']');
}

/* Appends the lines of a file with their branches. */
static void put_lines(const struct tr_source_file *file, struct tr_buffer *to)
{
	const struct tr_source_branches *branches = &file->branches;
	size_t function = 0, branch = 0;
	tr_buffer_put_literal(to, ",\"lines\":[");
	for (size_t i = 0; i < file->lines.count; i++) {
		const struct tr_source_line *line = &file->lines.list[i];
		const char *before = "";
		/* a line belongs to the last function that begins before it */
		while (function < file->functions.count &&
		       file->functions.list[function].line <= line->line)
			function++;
		put_number(to, i ? ",\n{\"line_number\":" : "\n{\"line_number\":", line->line);
		if (function)
			put_string(to,
				   ",\"function_name\":", file->functions.list[function - 1].name);
		put_number(to, ",\"count\":", line->count);
		tr_buffer_put_text(to, line->count ? TR_TEXT(",\"unexecuted_block\":false")
						   : TR_TEXT(",\"unexecuted_block\":true"));
		tr_buffer_put_literal(to, ",\"branches\":[");
		while (branch < branches->count && branches->list[branch].line < line->line)
			branch++;
		for (; branch < branches->count && branches->list[branch].line == line->line;
		     branch++) {
			const struct tr_source_branch *here = &branches->list[branch];
			tr_buffer_put_text(to, tr_text_from(before));
			put_number(to, "{\"count\":", here->count);
			tr_buffer_put_text(to, here->exception ? TR_TEXT(",\"throw\":true")
							       : TR_TEXT(",\"throw\":false"));
			tr_buffer_put_text(to, tr_text_is(here->branch, "1")
						       ? TR_TEXT(",\"fallthrough\":true}")
						       : TR_TEXT(",\"fallthrough\":false}"));
			before = ",";
		}
		tr_buffer_put_literal(to, "]}");
	}
	tr_buffer_put_byte(to, ']');
}

/* Writes all files that have anything. */
static bool write_files(const struct tr_sources *sources, const struct tr_settings *settings,
			struct tr_output *out)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	const char *before = "";
	bool good = true;
	(void)settings;
	tr_output_put_literal(out, "{\"format_version\":\"1\",\"files\":[");
	for (size_t i = 0; i < sources->count && good; i++) {
		const struct tr_source_file *file = sources->list[i];
		if (!tr_source_file_any(file))
			continue;
		tr_buffer_reset(&text);
		tr_buffer_put_text(&text, tr_text_from(before));
		put_string(&text, "\n{\"file\":", file->path);
		put_functions(file, &text);
		put_lines(file, &text);
		tr_buffer_put_byte(&text, '}');
		before = ",";
		good = !text.failed;
		if (good)
			tr_output_put_text(out, tr_buffer_text(&text));
	}
	tr_output_put_literal(out, "]}\n");
	tr_buffer_free(&text);
	return good;
}

static const struct tr_lcov_form form = {
	.format = "gcovjson",
	.one_test = true,
	.branches_in_lines = true,
	.write = write_files,
};

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	return tr_lcov_writer(&form, config, out, err);
}

static const char *const extensions[] = { ".gcov.json", NULL };

static const struct tr_format_option options[] = {
	TR_LCOV_OPTIONS,
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_gcovjson = {
	.name = "gcovjson",
	.summary = "gcov's JSON: coverage by source line",
	.exact = "-",
	.flags = TR_FORMAT_WRITES | TR_FORMAT_MERGES | TR_FORMAT_JSON,
	.extensions = extensions,
	.options = options,
	.create = create,
};
