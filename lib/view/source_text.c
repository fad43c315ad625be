/* SPDX-License-Identifier: MIT */
/*
 * Lists source files with counts.
 *
 *	tr_source_text_put: records -> tr_coverage_put
 *	at the end: tr_coverage_finish -> list_file for each source file: its text and its lines
 */
#include "view/source_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/file.h"
#include "coverage/coverage.h"

enum { SOURCE_MAX = 64 << 20 }; /* bytes of a source file, because a path may name any file */

struct tr_source_text {
	struct tr_source_text_config config;
	struct tr_output *out;
	struct tr_coverage coverage;
	struct tr_buffer source, line;
};

struct tr_source_text *tr_source_text_new(const struct tr_source_text_config *config,
					  struct tr_output *out)
{
	struct tr_source_text *view = calloc(1, sizeof *view);

	if (!view)
		return NULL;
	view->config = *config;
	view->out = out;
	view->coverage.sources.one_test = true;
	return view;
}

struct tr_programs *tr_source_text_programs(struct tr_source_text *view)
{
	return &view->coverage.programs;
}

void tr_source_text_free(struct tr_source_text *view)
{
	if (!view)
		return;
	tr_coverage_free(&view->coverage);
	tr_buffer_free(&view->source);
	tr_buffer_free(&view->line);
	free(view);
}

/* Reports a note. */
static void report_note(struct tr_source_text *view, struct tr_error *err)
{
	tr_error_is_note(err);
	view->config.report(view->config.context, err);
}

/* Reads a source into view->source. False: it cannot be read, which is reported. */
static bool read_source(struct tr_source_text *view, struct tr_text path)
{
	struct tr_error err;

	tr_buffer_reset(&view->source);
	tr_buffer_reset(&view->line);
	if (view->config.directory) {
		tr_buffer_put_text(&view->line, tr_text_from(view->config.directory));
		tr_buffer_put_byte(&view->line, '/');
	}
	tr_buffer_put_text(&view->line, path);
	if (view->line.failed)
		return false;
	if (tr_file_read(tr_buffer_text(&view->line), SOURCE_MAX, &view->source, &err))
		return true;
	tr_error_name(&err, TR_TEXT("lines are listed without their text"));
	report_note(view, &err);
	return false;
}

/* Appends a text, aligned to the right in a column. */
static void put_right(struct tr_buffer *to, struct tr_text text, size_t width)
{
	for (size_t i = text.len; i < width; i++)
		tr_buffer_put_byte(to, ' ');
	tr_buffer_put_text(to, text);
}

/* Appends a number, aligned to the right in a column. */
static void put_number(struct tr_buffer *to, uint64_t number, size_t width)
{
	char digits[24];

	put_right(to, (struct tr_text){ digits, tr_decimal_write(number, digits) }, width);
}

/* Appends a text to the page. The browser handles bytes that are not UTF-8. */
static void put_escaped(struct tr_buffer *to, struct tr_text text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '&')
			tr_buffer_put_literal(to, "&amp;");
		else if (text.data[i] == '<')
			tr_buffer_put_literal(to, "&lt;");
		else if (text.data[i] != '\0' && text.data[i] != '\r')
			tr_buffer_put_byte(to, text.data[i]);
	}
}

/* Writes what was appended to view->line. */
static void write_out(struct tr_source_text *view)
{
	if (!view->line.failed)
		tr_output_put_text(view->out, tr_buffer_text(&view->line));
	view->line.len = 0;
}

/* Writes a line; code is NULL if it has none. */
static void put_line(struct tr_source_text *view, const struct tr_source_line *code,
		     uint64_t number, struct tr_text text)
{
	enum { COUNT = 9, NUMBER = 5 }; /* columns, as gcov has them */
	struct tr_buffer *to = &view->line;

	if (view->config.page && code)
		tr_buffer_put_text(to, code->count ? TR_TEXT("<b>") : TR_TEXT("<i>"));
	if (code && code->count)
		put_number(to, code->count, COUNT);
	else
		put_right(to, code ? TR_TEXT("#####") : TR_TEXT("-"), COUNT);
	tr_buffer_put_byte(to, ':');
	put_number(to, number, NUMBER);
	tr_buffer_put_byte(to, ':');
	if (view->config.page)
		put_escaped(to, text);
	else
		tr_buffer_put_text(to, text);
	if (view->config.page && code)
		tr_buffer_put_text(to, code->count ? TR_TEXT("</b>") : TR_TEXT("</i>"));
	tr_buffer_put_byte(to, '\n');
	write_out(view);
}

/* Writes the branches of a line, and returns the index of the next one. */
static size_t put_branches(struct tr_source_text *view, const struct tr_source_branches *branches,
			   size_t at, uint64_t line)
{
	struct tr_buffer *to = &view->line;

	while (at < branches->count && branches->list[at].line < line)
		at++;
	for (; at < branches->count && branches->list[at].line == line; at++) {
		const struct tr_source_branch *branch = &branches->list[at];
		if (!view->config.branches)
			continue;
		tr_buffer_put_literal(to, "branch ");
		put_number(to, branch->block, 2);
		tr_buffer_put_byte(to, ' ');
		if (view->config.page) /* it can be an expression */
			put_escaped(to, branch->branch);
		else
			tr_buffer_put_text(to, branch->branch);
		if (branch->reached) {
			tr_buffer_put_literal(to, " taken ");
			tr_buffer_put_decimal(to, branch->count);
		} else {
			tr_buffer_put_literal(to, " never executed");
		}
		tr_buffer_put_byte(to, '\n');
		write_out(view);
	}
	return at;
}

/* Writes the first line of a source file. */
static void begin_file(struct tr_source_text *view, const struct tr_source_file *file)
{
	tr_buffer_put_literal(&view->line, "        -:    0:Source:");
	tr_cell_escape(file->path, false, &view->line);
	tr_buffer_put_byte(&view->line, '\n');
	write_out(view);
}

/* Appends the executed share: "73.0 %  54 of 74". */
static void put_share(struct tr_buffer *to, const struct tr_source_share *share)
{
	uint64_t tenths = share->all ? (1000 * share->hit + share->all / 2) / share->all : 0;

	tr_buffer_put_decimal(to, tenths / 10);
	tr_buffer_put_byte(to, '.');
	tr_buffer_put_decimal(to, tenths % 10);
	tr_buffer_put_literal(to, "\xc2\xa0%</td><td>");
	tr_buffer_put_decimal(to, share->hit);
	tr_buffer_put_literal(to, " of ");
	tr_buffer_put_decimal(to, share->all);
}

/* Begins a source file on the page: a row that opens to its listing. */
static void begin_page_file(struct tr_source_text *view, const struct tr_source_file *file)
{
	struct tr_source_shares shares = { .lines = { 0, 0 } };
	struct tr_buffer *to = &view->line;

	tr_source_file_count(file, &shares);
	tr_buffer_put_literal(to, "<details><summary><table><tr><td class=bar><meter max=");
	tr_buffer_put_decimal(to, shares.lines.all);
	tr_buffer_put_literal(to, " value=");
	tr_buffer_put_decimal(to, shares.lines.hit);
	tr_buffer_put_literal(to, "></meter></td><td>");
	put_share(to, &shares.lines);
	tr_buffer_put_literal(to, "</td><td class=path>");
	put_escaped(to, file->path);
	tr_buffer_put_literal(to, "</td></tr></table></summary><pre>\n");
	write_out(view);
}

/* Writes the beginning of the page: its title, and the figures of all files. */
static void begin_page(struct tr_source_text *view)
{
	static const char head[] =
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'\">\n<style>\n"
		":root { color-scheme: light dark; --hit: #1b7f3b22; --miss: #c6282833; }\n"
		"body { font: 14px/1.45 system-ui, sans-serif; margin: 1em; }\n"
		"summary { cursor: pointer; } summary table { display: inline-table; }\n"
		"td { padding: 0 1em 0 0; text-align: right; min-width: 5em; }\n"
		"td.path { text-align: left; } td.bar { min-width: 0; }\n"
		"pre { margin: 0 0 1em 1em; overflow-x: auto; tab-size: 8; }\n"
		"b, i { font-weight: normal; font-style: normal; display: inline-block; "
		"min-width: 100%; }\n"
		"b { background: var(--hit); } i { background: var(--miss); }\n"
		"</style>\n<title>";
	const struct {
		const char *name;
		size_t offset;
	} parts[] = {
		{ "lines", offsetof(struct tr_source_shares, lines) },
		{ "functions", offsetof(struct tr_source_shares, functions) },
		{ "branches", offsetof(struct tr_source_shares, branches) },
	};
	const struct tr_sources *sources = &view->coverage.sources;
	struct tr_source_shares all = { .lines = { 0, 0 } };
	struct tr_buffer *to = &view->line;

	for (size_t i = 0; i < sources->count; i++)
		tr_source_file_count(sources->list[i], &all);
	tr_buffer_put_text(to, tr_text_from(head));
	put_escaped(to, *view->config.page);
	tr_buffer_put_literal(to, "</title></head><body>\n<h1>");
	put_escaped(to, *view->config.page);
	tr_buffer_put_literal(to, "</h1>\n<table>\n");
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		struct tr_source_share share;
		memcpy(&share, (const char *)&all + parts[i].offset, sizeof share);
		tr_buffer_put_literal(to, "<tr><td class=path>");
		tr_buffer_put_text(to, tr_text_from(parts[i].name));
		tr_buffer_put_literal(to, "</td><td>");
		put_share(to, &share);
		tr_buffer_put_literal(to, "</td></tr>\n");
	}
	tr_buffer_put_literal(to, "</table>\n");
	write_out(view);
}

/* Returns the number of the next line with a count or branches to show; UINT64_MAX: none. */
static uint64_t next_number(const struct tr_source_text *view, const struct tr_source_file *file,
			    size_t line, size_t branch)
{
	bool more = view->config.branches && branch < file->branches.count;
	uint64_t counted = line < file->lines.count ? file->lines.list[line].line : UINT64_MAX;
	uint64_t branched = more ? file->branches.list[branch].line : UINT64_MAX;
	return counted < branched ? counted : branched;
}

/* Writes a source file. */
static void list_file(struct tr_source_text *view, const struct tr_source_file *file)
{
	const struct tr_source_lines *lines = &file->lines;
	size_t next = 0, branch = 0;

	bool read = read_source(view, file->path);
	uint64_t all = 0; /* lines of the text */
	view->line.len = 0;
	if (view->config.page)
		begin_page_file(view, file);
	else
		begin_file(view, file);
	const char *p = view->source.data, *end = p + view->source.len;
	/* gcov and lcov give line 0 to code without a line */
	uint64_t number = next_number(view, file, next, branch) > 0;
	for (; (p && p < end) || next_number(view, file, next, branch) != UINT64_MAX; number++) {
		struct tr_text text = TR_TEXT("");
		if (number && p && p < end) {
			const char *lf = memchr(p, '\n', (size_t)(end - p));
			text = tr_text_span(p, lf ? lf : end);
			p = lf ? lf + 1 : end;
			all++;
		} else {
			/* the file has no such line, or cannot be read */
			number = next_number(view, file, next, branch);
		}
		bool code = next < lines->count && lines->list[next].line == number;
		put_line(view, code ? &lines->list[next] : NULL, number, text);
		next += code;
		branch = put_branches(view, &file->branches, branch, number);
	}
	if (read && lines->count && lines->list[lines->count - 1].line > all) {
		struct tr_error err;
		tr_error_set(&err, TR_CAUSE_INPUT,
			     "line %" PRIu64 " has code, and the file has %" PRIu64
			     " lines: it is not the file that was compiled",
			     (uint64_t)lines->list[lines->count - 1].line, all);
		tr_error_name(&err, file->path);
		report_note(view, &err);
	}
	if (view->config.page)
		tr_output_put_literal(view->out, "</pre></details>\n");
}

bool tr_source_text_any(const struct tr_source_text *view)
{
	const struct tr_sources *sources = &view->coverage.sources;
	for (size_t i = 0; i < sources->count; i++)
		if (tr_source_file_any(sources->list[i]))
			return true;
	return false;
}

/* Writes all source files that have anything. */
static enum tr_status write_files(struct tr_source_text *view, struct tr_error *err)
{
	const struct tr_sources *sources = &view->coverage.sources;

	if (!tr_coverage_finish(&view->coverage))
		return tr_error_memory(err);
	if (view->config.page)
		begin_page(view);
	for (size_t i = 0; i < sources->count && !view->line.failed; i++)
		if (tr_source_file_any(sources->list[i]))
			list_file(view, sources->list[i]);
	if (view->config.page)
		tr_output_put_literal(view->out, "</body></html>\n");
	if (view->line.failed || view->source.failed)
		return tr_error_memory(err);
	while (tr_coverage_remark(&view->coverage, err))
		view->config.report(view->config.context, err);
	return TR_OK;
}

enum tr_status tr_source_text_put(struct tr_source_text *view, struct tr_record *record,
				  struct tr_error *err)
{
	if (!record)
		return write_files(view, err);
	if (record->type == TR_HEADER)
		tr_coverage_begin(&view->coverage);
	if (record->type != TR_RECORD)
		return TR_OK;
	enum tr_status status = tr_coverage_put(&view->coverage, record, err);
	return status == TR_END ? TR_OK : status;
}
