/* SPDX-License-Identifier: MIT */
/*
 * A report is composed in memory. In JSON, a table is written as it comes; as text, the cells of a
 * table are kept until its end, when the widths of its columns are known.
 */
#include "view/report.h"

#include <stdio.h>
#include <string.h>

#include "process/instant.h"
#include "record/record.h"
#include "view/brief.h"
#include "view/json_value.h"

struct range {
	uint32_t first, last;
	unsigned width;
};

/* Blocks of Unicode, in order; all other characters are one column wide. */
static const struct range ranges[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x1100, 0x115f, 2 },	  { 0x1ab0, 0x1aff, 0 },
	{ 0x1dc0, 0x1dff, 0 },	 { 0x200b, 0x200f, 0 },	  { 0x202a, 0x202e, 0 },
	{ 0x2060, 0x2069, 0 },	 { 0x20d0, 0x20ff, 0 },	  { 0x2e80, 0x303e, 2 },
	{ 0x3041, 0xa4cf, 2 },	 { 0xa960, 0xa97f, 2 },	  { 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },	 { 0xfe00, 0xfe0f, 0 },	  { 0xfe20, 0xfe2f, 0 },
	{ 0xfe30, 0xfe6f, 2 },	 { 0xfeff, 0xfeff, 0 },	  { 0xff01, 0xff60, 2 },
	{ 0xffe0, 0xffe6, 2 },	 { 0x1b000, 0x1b2ff, 2 }, { 0x1f300, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

/* Returns how many columns of a terminal a character takes. */
static unsigned width_of(uint32_t character)
{
	enum { COUNT = sizeof ranges / sizeof *ranges };
	if (character < ranges[0].first)
		return 1;
	size_t low = tr_array_search(i, 0, COUNT, character > ranges[i].last);
	bool inside = low < COUNT && character >= ranges[low].first;
	return inside ? ranges[low].width : 1;
}

/*
 * Returns how many columns of a terminal valid UTF-8 takes: two for East Asian characters and
 * pictures, none for combining ones. The locale has no influence.
 */
static size_t text_width(struct tr_text text)
{
	const unsigned char *p = (const unsigned char *)text.data, *end = p + text.len;
	size_t width = 0;

	while (p < end) {
		uint32_t character = *p++;
		/* the highest bits of the first byte are the number of bytes */
		if (character >= 0xc0)
			character &= character < 0xe0 ? 0x1f : character < 0xf0 ? 0x0f : 0x07;
		while (p < end && (*p & 0xc0) == 0x80)
			character = character << 6 | (*p++ & 0x3f);
		width += width_of(character);
	}
	return width;
}

/* The column where values begin after their names, and the digits of seconds after the point. */
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

/* Puts the name of a value: a JSON key, or a padded word. */
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

/* Puts a title after an empty line. */
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

/* Appends bytes of a trace, which may be hostile, as JSON or with escapes. */
static void put_bytes(struct tr_report *report, struct tr_text bytes, struct tr_buffer *to)
{
	if (report->json)
		tr_json_view_bytes(bytes, to);
	else
		tr_cell_escape(bytes, false, to);
}

/* Appends a number with that many digits after the point. */
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

void tr_report_unknown(struct tr_report *report, const char *name)
{
	put_name(report, name);
	tr_buffer_put_text(&report->text, report->json ? TR_TEXT("null") : TR_TEXT("unknown"));
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

/* In text, the titles are the first row of cells. */
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

/* Returns the buffer of the next cell; in text, cells are kept until all widths are known. */
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

/* Ends the cell that began at `from` in its buffer. left: aligned to the left. */
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
	cell.width = text_width((struct tr_text){ report->texts.data + from, cell.len });
	tr_buffer_put(&report->cells, (const char *)&cell, sizeof cell);
}

void tr_report_cell_number(struct tr_report *report, uint64_t number)
{
	struct tr_buffer *to = cell_begin(report);
	size_t from = to->len;

	tr_buffer_put_decimal(to, number);
	cell_end(report, from, false);
}

/* Appends an absent value. */
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

/* Puts a cell with a text that needs no escapes, or an absent one. */
static void put_line_if_any(struct tr_report *report, struct tr_text line)
{
	if (line.data)
		tr_report_cell_line(report, line);
	else
		tr_report_cell_text(report, line);
}

void tr_report_cell_program(struct tr_report *report, struct tr_text makes, struct tr_text command)
{
	enum { COMMAND_SHOWN = 160 };
	struct tr_buffer shown = TR_BUFFER_INIT;

	put_line_if_any(report, makes);
	if (command.data && !report->json) { /* only text output cuts long commands */
		tr_buffer_put_text(&shown, command);
		tr_brief_cut(&shown, 0, COMMAND_SHOWN);
		report->text.failed |= shown.failed;
		command = tr_buffer_text(&shown);
	}
	put_line_if_any(report, command);
	tr_buffer_free(&shown);
}

/* Aligns numbers to the right and texts to the left; the last column is not padded. */
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
		/* a heading is aligned like its column */
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
