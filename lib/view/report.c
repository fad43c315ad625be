/* SPDX-License-Identifier: MIT */
#include "view/report.h"

#include <stdio.h>
#include <string.h>

#include "process/instant.h"
#include "record/record.h"
#include "view/json_value.h"
#include "view/text_width.h"

enum { NAME_WIDTH = 16, SECOND_DIGITS = 6 };

void tr_report_begin(struct tr_report *report, bool json)
{
	*report = (struct tr_report){ .json = json, .first = true };
	if (json)
		tr_buffer_put_byte(&report->text, '{');
}

static void put_spaces(struct tr_buffer *to, size_t count)
{
	while (count--)
		tr_buffer_put_byte(to, ' ');
}

/* What stands in front of a value: JSON's key, or the name in its column. */
static void put_name(struct tr_report *report, const char *name)
{
	struct tr_text text = tr_text_from(name);
	struct tr_buffer *to = &report->text;

	if (report->json) {
		if (!report->first)
			tr_buffer_put_byte(to, ',');
		tr_json_view_name(text, to);
		tr_buffer_put_byte(to, ':');
	} else {
		size_t indent = 2 * report->depth;
		if (report->apart && !report->depth)
			tr_buffer_put_byte(to, '\n');
		report->apart = false;
		put_spaces(to, indent);
		tr_buffer_put_text(to, text);
		put_spaces(to, text.len + indent < NAME_WIDTH ? NAME_WIDTH - text.len - indent : 2);
	}
	report->first = false;
}

static void end_line(struct tr_report *report)
{
	if (!report->json)
		tr_buffer_put_byte(&report->text, '\n');
}

/* A title with an empty line in front of it. */
static void put_title(struct tr_report *report, const char *name)
{
	if (report->depth == 0 && report->text.len)
		tr_buffer_put_byte(&report->text, '\n');
	put_spaces(&report->text, 2 * report->depth);
	tr_buffer_put_text(&report->text, tr_text_from(name));
	tr_buffer_put_byte(&report->text, '\n');
	report->apart = false;
}

void tr_report_group(struct tr_report *report, const char *name)
{
	if (report->json) {
		put_name(report, name);
		tr_buffer_put_byte(&report->text, '{');
		report->first = true;
	} else {
		put_title(report, name);
	}
	report->depth++;
}

void tr_report_group_end(struct tr_report *report)
{
	report->depth--;
	report->first = false;
	report->apart = true;
	if (report->json)
		tr_buffer_put_byte(&report->text, '}');
}

static void put_bytes(struct tr_report *report, struct tr_text bytes, struct tr_buffer *to)
{
	if (report->json)
		tr_json_view_bytes(bytes, to);
	else
		tr_cell_escape(bytes, false, to);
}

static void put_real(struct tr_buffer *to, double value, unsigned digits)
{
	char number[64];
	int len = snprintf(number, sizeof number, "%.*f", (int)digits, value);

	if (len > 0 && (size_t)len < sizeof number)
		tr_buffer_put(to, number, (size_t)len);
	else
		tr_buffer_put_byte(to, '0');
}

void tr_report_number(struct tr_report *report, const char *name, uint64_t number)
{
	put_name(report, name);
	tr_buffer_put_decimal(&report->text, number);
	end_line(report);
}

void tr_report_text(struct tr_report *report, const char *name, struct tr_text bytes)
{
	put_name(report, name);
	put_bytes(report, bytes, &report->text);
	end_line(report);
}

void tr_report_seconds(struct tr_report *report, const char *name, int64_t nanoseconds)
{
	put_name(report, name);
	tr_instant_write(nanoseconds, SECOND_DIGITS, &report->text);
	end_line(report);
}

void tr_report_real(struct tr_report *report, const char *name, double value, unsigned digits)
{
	put_name(report, name);
	put_real(&report->text, value, digits);
	end_line(report);
}

void tr_report_flag(struct tr_report *report, const char *name)
{
	put_name(report, name);
	if (report->json)
		tr_buffer_put_literal(&report->text, "true");
	else
		tr_buffer_put_literal(&report->text, "yes");
	end_line(report);
}

void tr_report_table(struct tr_report *report, const char *name, const char *const *columns)
{
	report->columns = columns;
	report->next = 0;
	report->column_count = 0;
	while (columns[report->column_count] && report->column_count < TR_REPORT_COLUMNS)
		report->column_count++;
	if (report->json) {
		put_name(report, name);
		tr_buffer_put_byte(&report->text, '[');
		report->first = true;
		return;
	}
	put_title(report, name);
	for (size_t i = 0; i < report->column_count; i++)
		tr_report_cell_text(report, tr_text_from(columns[i]));
}

/* Where the next cell is to be put: JSON's text, or the cells that wait for their width. */
static struct tr_buffer *cell_begin(struct tr_report *report)
{
	if (!report->json)
		return &report->texts;
	struct tr_buffer *to = &report->text;
	if (report->next == 0) {
		if (!report->first)
			tr_buffer_put_byte(to, ',');
		tr_buffer_put_byte(to, '{');
		report->first = true;
	}
	put_name(report, report->columns[report->next]);
	return to;
}

static void cell_end(struct tr_report *report, size_t from, bool left)
{
	bool last = ++report->next == report->column_count;

	if (last)
		report->next = 0;
	if (report->json) {
		if (last)
			tr_buffer_put_byte(&report->text, '}');
		return;
	}
	if (report->texts.failed)
		return;
	struct tr_report_cell cell = { .offset = from,
				       .len = report->texts.len - from,
				       .left = left };
	cell.width = tr_text_width((struct tr_text){ report->texts.data + from, cell.len });
	tr_buffer_put(&report->cells, (const char *)&cell, sizeof cell);
}

void tr_report_cell_number(struct tr_report *report, uint64_t number)
{
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;

	tr_buffer_put_decimal(to, number);
	cell_end(report, from, false);
}

static void put_none(const struct tr_report *report, struct tr_buffer *to)
{
	tr_buffer_put_text(to, report->json ? TR_TEXT("null") : TR_TEXT("-"));
}

void tr_report_cell_none(struct tr_report *report)
{
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;

	put_none(report, to);
	cell_end(report, from, false);
}

void tr_report_cell_seconds(struct tr_report *report, int64_t nanoseconds)
{
	if (nanoseconds == TR_INSTANT_NONE) {
		tr_report_cell_none(report);
		return;
	}
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;
	tr_instant_write(nanoseconds, SECOND_DIGITS, to);
	cell_end(report, from, false);
}

void tr_report_cell_share(struct tr_report *report, uint64_t part, uint64_t whole)
{
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;
	double share = whole ? (double)part / (double)whole : 0;

	if (report->json) {
		put_real(to, share, 4);
	} else {
		put_real(to, 100 * share, 1);
		tr_buffer_put_literal(to, " %");
	}
	cell_end(report, from, false);
}

void tr_report_cell_text(struct tr_report *report, struct tr_text bytes)
{
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;

	if (bytes.data)
		put_bytes(report, bytes, to);
	else
		put_none(report, to);
	cell_end(report, from, true);
}

void tr_report_cell_line(struct tr_report *report, struct tr_text line)
{
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;

	if (report->json)
		tr_json_view_bytes(line, to);
	else
		tr_buffer_put_text(to, line);
	cell_end(report, from, true);
}

/* Numbers at the right of their column, texts at the left, the last as long as it is. */
static void lay_out(struct tr_report *report)
{
	size_t columns = report->column_count, widths[TR_REPORT_COLUMNS] = { 0 };
	const struct tr_report_cell *cells = (const void *)report->cells.data;
	size_t count = report->cells.len / sizeof *cells;

	for (size_t i = 0; i < count; i++) {
		size_t *width = &widths[i % columns];
		*width = cells[i].width > *width ? cells[i].width : *width;
	}
	for (size_t i = 0; i < count; i++) {
		size_t column = i % columns, room = widths[column] - cells[i].width;
		bool last = column + 1 == columns;
		/* a heading stands as what is below it */
		bool left = cells[i < columns && columns < count ? i + columns : i].left;
		put_spaces(&report->text, column ? 2 : 2 * report->depth + 2);
		put_spaces(&report->text, left ? 0 : room);
		tr_buffer_put(&report->text, report->texts.data + cells[i].offset, cells[i].len);
		if (last)
			tr_buffer_put_byte(&report->text, '\n');
		else
			put_spaces(&report->text, left ? room : 0);
	}
}

void tr_report_table_end(struct tr_report *report)
{
	report->first = false;
	report->apart = true;
	if (report->json)
		tr_buffer_put_byte(&report->text, ']');
	else if (!report->texts.failed && !report->cells.failed)
		lay_out(report);
	report->text.failed |= report->texts.failed || report->cells.failed;
	report->texts.len = report->cells.len = 0;
}

bool tr_report_end(struct tr_report *report, struct tr_output *out)
{
	if (report->json)
		tr_buffer_put_literal(&report->text, "}\n");
	if (report->text.failed)
		return false;
	tr_output_put_text(out, tr_buffer_text(&report->text));
	return true;
}

void tr_report_free(struct tr_report *report)
{
	tr_buffer_free(&report->text);
	tr_buffer_free(&report->texts);
	tr_buffer_free(&report->cells);
}
