/* SPDX-License-Identifier: MIT */
/* The lcov format, and its tracefile as text: a section for each source file and test. */
#include "format/lcov/lcov.h"

/* Appends KEY:NUMBER and the byte after it. */
static void put_number(struct tr_buffer *to, const char *key, uint64_t number, char after)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
	tr_buffer_put_byte(to, after);
}

/* Appends a text and a line feed. The format has no escapes, so line feeds in it become blanks. */
static void put_line(struct tr_buffer *to, struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++)
		tr_buffer_put_byte(to, text.data[i] == '\n' ? ' ' : text.data[i]);
	tr_buffer_put_byte(to, '\n');
}

/* Appends the functions of a file. */
static void put_functions(const struct tr_source_functions *functions,
			  const struct tr_source_share *share, struct tr_buffer *to)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct tr_source_function *function = &functions->list[i];
		put_number(to, "FN:", function->line, ',');
		if (function->last_line)
			put_number(to, "", function->last_line, ',');
		put_line(to, function->name);
	}
	for (size_t i = 0; i < functions->count; i++) {
		put_number(to, "FNDA:", functions->list[i].count, ',');
		put_line(to, functions->list[i].name);
	}
	put_number(to, "FNF:", share->all, '\n');
	put_number(to, "FNH:", share->hit, '\n');
}

/* Appends the branches of a file. */
static void put_branches(const struct tr_source_branches *branches,
			 const struct tr_source_share *share, struct tr_buffer *to)
{
	for (size_t i = 0; i < branches->count; i++) {
		const struct tr_source_branch *branch = &branches->list[i];
		put_number(to, "BRDA:", branch->line, ',');
		put_number(to, branch->exception ? "e" : "", branch->block, ',');
		tr_buffer_put_text(to, branch->branch);
		tr_buffer_put_byte(to, ',');
		if (branch->reached)
			put_number(to, "", branch->count, '\n');
		else
			tr_buffer_put_literal(to, "-\n");
	}
	if (!branches->count)
		return;
	put_number(to, "BRF:", share->all, '\n');
	put_number(to, "BRH:", share->hit, '\n');
}

/* Appends the lines of a file. */
static void put_lines(const struct tr_source_lines *lines, const struct tr_source_share *share,
		      struct tr_buffer *to)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct tr_source_line *line = &lines->list[i];
		put_number(to, "DA:", line->line, ',');
		put_number(to, "", line->count, line->checksum.len ? ',' : '\n');
		if (line->checksum.len)
			put_line(to, line->checksum);
	}
	put_number(to, "LF:", share->all, '\n');
	put_number(to, "LH:", share->hit, '\n');
}

/* Writes the section of a source file. False: memory is exhausted. */
static bool put_file(const struct tr_source_file *file, struct tr_buffer *to, struct tr_output *out)
{
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	tr_source_file_count(file, &shares);
	tr_buffer_reset(to);
	tr_buffer_put_literal(to, "TN:");
	put_line(to, file->test);
	tr_buffer_put_literal(to, "SF:");
	put_line(to, file->path);
	if (file->version.len) {
		tr_buffer_put_literal(to, "VER:");
		put_line(to, file->version);
	}
	put_functions(&file->functions, &shares.functions, to);
	put_branches(&file->branches, &shares.branches, to);
	put_lines(&file->lines, &shares.lines, to);
	tr_buffer_put_literal(to, "end_of_record\n");
	if (to->failed)
		return false;
	tr_output_put_text(out, tr_buffer_text(to));
	return true;
}

/* Writes all files that have lines or functions. False: memory is exhausted. */
static bool write_files(const struct tr_sources *sources, const struct tr_settings *settings,
			struct tr_output *out)
{
	struct tr_buffer text = TR_BUFFER_INIT;
	bool good = true;
	(void)settings;
	for (size_t i = 0; i < sources->count && good; i++)
		if (sources->list[i]->lines.count || sources->list[i]->functions.count)
			good = put_file(sources->list[i], &text, out);
	tr_buffer_free(&text);
	return good;
}

static const struct tr_lcov_form form = {
	.steps = TR_LCOV_STEPS("lcov"),
	.write = write_files,
};

static struct tr_writer *create(const struct tr_write_config *config, struct tr_output *out,
				struct tr_error *err)
{
	return tr_lcov_writer(&form, config, out, err);
}

static const char *const extensions[] = { ".info", NULL };

static const struct tr_format_option options[] = {
	TR_LCOV_OPTIONS,
	{ NULL, NULL, false, false, NULL },
};

const struct tr_format tr_format_lcov = {
	.name = "lcov",
	.summary = "lcov tracefile: coverage by source line",
	.exact = "-",
	.flags = TR_FORMAT_READS | TR_FORMAT_WRITES | TR_FORMAT_MERGES,
	.extensions = extensions,
	.options = options,
	.bid = tr_lcov_bid,
	.open = tr_lcov_open,
	.create = create,
	.default_style = "source",
};
