/* SPDX-License-Identifier: MIT */
/*
 * The writer of tracefiles. Records are added up as they come; the text is made at the end, because
 * it lists what was not executed, too.
 *
 *	put	any record -> tr_coverage_put
 *	close	tr_coverage_finish -> put_file for each source file
 */
#include "format/lcov/lcov.h"

#include "coverage/coverage.h"
#include "format/writer_base.h"

struct writer {
	struct tr_writer base;
	struct tr_coverage coverage;
};

/* Begins a segment. */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	(void)header;
	(void)err;
	tr_coverage_begin(&writer->coverage);
	return TR_OK;
}

/* Takes a record of a trace. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	enum tr_status status = tr_coverage_put(&writer->coverage, record, err);
	base->entries = writer->coverage.entries;
	return status;
}

/* Appends KEY:NUMBER and the byte after it. */
static void put_number(struct tr_buffer *to, const char *key, uint64_t number, char after)
{
	tr_buffer_put_text(to, tr_text_from(key));
	tr_buffer_put_decimal(to, number);
	tr_buffer_put_byte(to, after);
}

/* Appends a text that ends with a line feed; the format has no escapes for those in it. */
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

/* Writes the file. */
static enum tr_status close_file(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	const struct tr_sources *sources = &writer->coverage.sources;
	struct tr_buffer text = TR_BUFFER_INIT;
	bool good = tr_coverage_finish(&writer->coverage);
	for (size_t i = 0; i < sources->count && good; i++)
		if (sources->list[i]->lines.count || sources->list[i]->functions.count)
			good = put_file(sources->list[i], &text, base->out);
	tr_buffer_free(&text);
	return good ? TR_OK : tr_error_memory(err);
}

/* Returns the next remark on the programs. TR_OK: there is no other. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	return tr_coverage_remark(&writer->coverage, err) ? TR_WARN : TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_coverage_free(&writer->coverage);
}

static const struct tr_writer_steps steps = {
	.format = "lcov",
	.begin = begin_segment,
	.put = put_record,
	.close = close_file,
	.report = report,
	.discard = discard,
};

/* Takes the settings of that key. False: err is filled. */
static bool take_settings(const struct tr_settings *settings, const char *key,
			  struct tr_programs *programs,
			  bool (*take)(struct tr_programs *programs, struct tr_text value,
				       struct tr_error *err),
			  struct tr_error *err)
{
	for (size_t i = 0; i < settings->count; i++)
		if (tr_text_is(settings->list[i].key, key) &&
		    !take(programs, settings->list[i].value, err))
			return false;
	return true;
}

struct tr_writer *tr_lcov_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	const struct tr_settings *settings = &config->settings;
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	struct tr_programs *programs = &writer->coverage.programs;
	if (take_settings(settings, "path", programs, tr_programs_search, err) &&
	    take_settings(settings, "exe", programs, tr_programs_add, err) &&
	    take_settings(settings, "base", programs, tr_programs_base, err))
		return &writer->base;
	tr_writer_free(&writer->base);
	return NULL;
}
