/* SPDX-License-Identifier: MIT */
/*
 * Lists source files with counts.
 *
 *	tr_source_text_put: records -> tr_coverage_put
 *	at the end: tr_coverage_finish -> list_file for each source file: its text and its lines
 */
#include "view/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buffer.h"
#include "coverage/coverage.h"

enum { SOURCE_MAX = 64 << 20 }; /* bytes of a source file; a path may name anything */

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

/* Reads a file that is open, if it is a regular one. Sets errno where it returns false. */
static bool read_text(int fd, struct tr_buffer *to)
{
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st) != 0)
		return false;
	errno = EFBIG;
	if (!S_ISREG(st.st_mode) || st.st_size > SOURCE_MAX)
		return false;
	while (n > 0) {
		char *room = tr_buffer_room(to, 1 << 16);
		n = room ? read(fd, room, 1 << 16) : 0;
		if (n > 0)
			tr_buffer_used(to, (size_t)n);
	}
	return n == 0;
}

/* Reads a source into view->source; a note is reported if it cannot be read. */
static void read_source(struct tr_source_text *view, struct tr_text path)
{
	struct tr_error err;

	tr_buffer_reset(&view->source);
	tr_buffer_reset(&view->line);
	if (view->config.directory) {
		tr_buffer_put_text(&view->line, tr_text_from(view->config.directory));
		tr_buffer_put_byte(&view->line, '/');
	}
	tr_buffer_put_text(&view->line, path);
	tr_buffer_put_byte(&view->line, 0);
	if (view->line.failed)
		return;
	int fd = open(view->line.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool good = fd >= 0 && read_text(fd, &view->source);
	if (!good) {
		tr_error_system(&err, errno, "its lines have no text");
		tr_error_name(&err, path);
		tr_error_is_note(&err);
		view->config.report(view->config.context, &err);
		tr_buffer_reset(&view->source);
	}
	if (fd >= 0)
		close(fd);
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

/* Writes a line; code is NULL if it has none. */
static void put_line(struct tr_source_text *view, const struct tr_source_line *code,
		     uint64_t number, struct tr_text text)
{
	enum { COUNT = 9, NUMBER = 5 }; /* columns, as gcov has them */
	struct tr_buffer *to = &view->line;

	if (code && code->count)
		put_number(to, code->count, COUNT);
	else
		put_right(to, code ? TR_TEXT("#####") : TR_TEXT("-"), COUNT);
	tr_buffer_put_byte(to, ':');
	put_number(to, number, NUMBER);
	tr_buffer_put_byte(to, ':');
	tr_buffer_put_text(to, text);
	tr_buffer_put_byte(to, '\n');
	if (!to->failed)
		tr_output_put_text(view->out, tr_buffer_text(to));
	to->len = 0;
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
		tr_buffer_put_text(to, branch->branch);
		if (branch->reached) {
			tr_buffer_put_literal(to, " taken ");
			tr_buffer_put_decimal(to, branch->count);
		} else {
			tr_buffer_put_literal(to, " never executed");
		}
		tr_buffer_put_byte(to, '\n');
		if (!to->failed)
			tr_output_put_text(view->out, tr_buffer_text(to));
		to->len = 0;
	}
	return at;
}

/* Writes a source file. */
static void list_file(struct tr_source_text *view, const struct tr_source_file *file)
{
	const struct tr_source_lines *lines = &file->lines;
	size_t next = 0, branch = 0;

	read_source(view, file->path);
	view->line.len = 0;
	tr_buffer_put_literal(&view->line, "Source:");
	tr_cell_escape(file->path, false, &view->line);
	struct tr_text head =
		tr_arena_copy(&view->coverage.sources.memory, tr_buffer_text(&view->line));
	view->line.len = 0;
	if (!head.data)
		view->line.failed = true;
	put_line(view, NULL, 0, head);
	const char *p = view->source.data, *end = p + view->source.len;
	for (uint64_t number = 1; (p && p < end) || next < lines->count; number++) {
		struct tr_text text = TR_TEXT("");
		if (p && p < end) {
			const char *lf = memchr(p, '\n', (size_t)(end - p));
			text = tr_text_span(p, lf ? lf : end);
			p = lf ? lf + 1 : end;
		} else {
			/* the file has no such line, or cannot be read */
			number = lines->list[next].line;
		}
		bool code = next < lines->count && lines->list[next].line == number;
		put_line(view, code ? &lines->list[next] : NULL, number, text);
		next += code;
		branch = put_branches(view, &file->branches, branch, number);
	}
}

/* Writes all source files that have lines. */
static enum tr_status write_files(struct tr_source_text *view, struct tr_error *err)
{
	const struct tr_sources *sources = &view->coverage.sources;

	if (!tr_coverage_finish(&view->coverage))
		return tr_error_memory(err);
	for (size_t i = 0; i < sources->count && !view->line.failed; i++)
		if (sources->list[i]->lines.count)
			list_file(view, sources->list[i]);
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
