/* SPDX-License-Identifier: MIT */
/*
 * Merges coverage by source line: the lines, functions and branches of all traces, each once, with
 * the sum of its counts. Files are the same if path and test are. Memory grows with what is
 * distinct.
 */
#include "coverage/merge_private.h"

#include "coverage/sources.h"
#include "record/literal.h"

struct merge {
	struct tr_sources sources;
	bool reported_raw; /* raw records were reported */
};

/* Begins a trace. */
static enum tr_status begin(void *self, struct tr_record *header, struct tr_error *err)
{
	struct merge *merge = self;

	(void)header;
	(void)err;
	merge->sources.last = NULL;
	return TR_OK;
}

/* Adds a record (struct tr_merge_form). */
static enum tr_status put(void *self, struct tr_record *record, struct tr_error *err)
{
	struct merge *merge = self;
	enum tr_status status = tr_sources_put(&merge->sources, record, err);

	if (status != TR_END)
		return status;
	if (merge->reported_raw || !tr_text_is(record->kind, "raw"))
		return TR_OK;
	merge->reported_raw = true;
	tr_merge_left_out(err, "records of kind raw (conditions of MC/DC), which cannot be merged");
	tr_error_is_note(err);
	return TR_WARN;
}

/* Begins a line about the file. */
static struct tr_buffer *begin_line(struct tr_merge_lines *lines, const char *kind,
				    const struct tr_source_file *file)
{
	tr_merge_begin(lines, kind);
	tr_buffer_put_literal(&lines->text, "-\t-\t");
	tr_cell_escape(file->path, false, &lines->text);
	return &lines->text;
}

/* Adds a field with a string. */
static void put_string(struct tr_buffer *to, const char *key, struct tr_text text)
{
	tr_field_begin(tr_text_from(key), to);
	tr_string_quote(text, to);
}

/* As put_string, for a field that a record may do without: not if the string is empty. */
static void put_any_string(struct tr_buffer *to, const char *key, struct tr_text text)
{
	if (text.len)
		put_string(to, key, text);
}

/* Writes a function. */
static void write_function(const struct tr_source_file *file,
			   const struct tr_source_function *function, struct tr_merge_lines *lines)
{
	struct tr_buffer *to = begin_line(lines, "srcfunction", file);

	put_string(to, "function", function->name);
	if (function->line)
		tr_field_put_number("line", function->line, to);
	if (function->last_line)
		tr_field_put_number("last_line", function->last_line, to);
	tr_field_put_number("hits", function->count, to);
	tr_merge_end(lines);
}

/* Writes an outcome of a branch. */
static void write_branch(const struct tr_source_file *file, const struct tr_source_branch *branch,
			 struct tr_merge_lines *lines)
{
	struct tr_buffer *to = begin_line(lines, "srcbranch", file);
	uint64_t number;

	tr_field_put_number("line", branch->line, to);
	tr_field_put_number("block", branch->block, to);
	/* a number has no zeros before it; other digits are a text */
	if (tr_decimal_read(branch->branch, UINT64_MAX, &number) &&
	    tr_decimal_length(number) == branch->branch.len)
		tr_field_put_number("branch", number, to);
	else
		put_string(to, "branch", branch->branch);
	if (branch->reached)
		tr_field_put_number("hits", branch->count, to);
	else
		tr_buffer_put_literal(to, "\thits=null");
	if (branch->exception)
		tr_buffer_put_literal(to, "\texception=true");
	tr_merge_end(lines);
}

/* Writes the records of a file. */
static void write_file(const struct tr_source_file *file, struct tr_merge_lines *lines)
{
	struct tr_buffer *to = begin_line(lines, "source", file);

	put_any_string(to, "test", file->test);
	put_any_string(to, "version", file->version);
	tr_merge_end(lines);
	for (size_t i = 0; i < file->functions.count; i++)
		write_function(file, &file->functions.list[i], lines);
	for (size_t i = 0; i < file->branches.count; i++)
		write_branch(file, &file->branches.list[i], lines);
	for (size_t i = 0; i < file->lines.count; i++) {
		const struct tr_source_line *line = &file->lines.list[i];
		to = begin_line(lines, "srcline", file);
		tr_field_put_number("line", line->line, to);
		tr_field_put_number("hits", line->count, to);
		put_any_string(to, "checksum", line->checksum);
		tr_merge_end(lines);
	}
}

/* Writes the merged trace. */
static void write(void *self, struct tr_merge_lines *lines)
{
	struct merge *merge = self;
	struct tr_sources *sources = &merge->sources;

	tr_output_put_literal(lines->out, "%trec\t1\tformat=lcov\n");
	tr_sources_sort(sources);
	for (size_t i = 0; i < sources->count; i++)
		write_file(sources->list[i], lines);
}

static void discard(void *self)
{
	struct merge *merge = self;

	tr_sources_free(&merge->sources);
}

const struct tr_merge_form tr_merge_sources = {
	.format = "lcov",
	.name = "coverage by source line (lcov)",
	.size = sizeof(struct merge),
	.begin = begin,
	.put = put,
	.write = write,
	.discard = discard,
};
