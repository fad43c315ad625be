/* SPDX-License-Identifier: MIT */
/*
 * The reader of drcov files. Its steps follow the parts of a dump: the lines before the module
 * table, the modules, the lines before the block table, the blocks, and the rest, which may be hit
 * counts and another dump.
 *
 *	read_head	-> %trec with version, flavor, table and columns
 *	read_module	-> `module`, for each row of the table
 *	read_table	-> `meta bbs`, which states the form of the block table
 *	read_block	-> `block`, with its absolute address, if its module is known
 *	read_after	skips hit counts, which are in the records; finds another dump
 *
 * Tools write these lines in many spellings. A line that differs from DynamoRIO's is kept as it is
 * in a field (.head, .row, .lines, .hits), so that it is written again byte for byte.
 */
#include "format/drcov/drcov.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/text.h"
#include "core/wire.h"
#include "coverage/module_table.h"
#include "format/reader_base.h"
#include "record/literal.h"

struct reader {
	struct tr_reader base; /* its step is one of the functions read_... below */
	struct tr_module_list
		list;	/* the head, its lines (spelled), and the places of the modules */
	uint64_t dumps; /* headers so far */

	/* -O starts; absolute: the starts of this dump are addresses, cut to 32 bits */
	enum { AUTO, ABSOLUTE, RELATIVE } starts;
	bool absolute;

	uint64_t blocks, count;	    /* so far; as announced by the line before the table */
	bool text;		    /* the table of blocks is text */
	struct tr_buffer lines;	    /* the lines before the blocks */
	struct tr_buffer hits;	    /* of this dump's blocks, 4 bytes each */
	struct tr_buffer hits_line; /* the line before the hits; empty: there are none */

	bool binary; /* positions are offsets: a binary table was read, and lines have no numbers */
};

static tr_reader_step read_head, read_module, read_table, read_block, read_after;

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);
	tr_module_list_free(&reader->list);
	tr_buffer_free(&reader->lines);
	tr_buffer_free(&reader->hits);
	tr_buffer_free(&reader->hits_line);
}

/* Sets the position of err to where the window begins. TR_WARN. */
static enum tr_status at_place(struct reader *reader, struct tr_error *err)
{
	if (reader->binary)
		tr_error_at_offset(err, reader->base.in->offset);
	else
		tr_error_at_line(err, reader->base.lines + 1);
	return TR_WARN;
}

/* Sets the position of the record that is being made, before the input moves on. */
static void mark(struct reader *reader)
{
	struct tr_reader *base = &reader->base;

	base->source_offset = reader->binary ? base->in->offset : TR_NO_POSITION;
	base->source_line = reader->binary ? TR_NO_POSITION : base->lines + 1;
}

/* The next line, which stays in the window. */
static enum tr_status peek_line(struct reader *reader, struct tr_text *line, struct tr_error *err)
{
	enum tr_status status = tr_input_line(reader->base.in, line, err);
	if (status == TR_WARN) {
		at_place(reader, err);
		reader->base.lines++;
	}
	return status;
}

/* Skips the line. */
static void skip_line(struct reader *reader, struct tr_text line)
{
	tr_input_skip(reader->base.in, line.len);
	reader->base.lines++;
}

/* Adds the field `key` with the text, unless that is the usual one. */
static void put_odd(struct reader *reader, const char *key, struct tr_text text,
		    const struct tr_buffer *usual)
{
	if (usual->failed)
		reader->base.line.failed = true;
	if (tr_text_equal(text, tr_buffer_text(usual)))
		return;
	tr_field_begin(tr_text_from(key), &reader->base.line);
	tr_string_quote(text, &reader->base.line);
}

/*
 * Hit counts follow all the blocks that they count, but are part of the records of the blocks, so
 * they are read first. They are searched for as far as the limits allow if the flavor promises
 * them, otherwise only after small tables.
 */
enum { HEAD_MAX = 64 << 10, UNPROMISED = 4 << 20 };

/* Whether the text contains the word. */
static bool has(struct tr_text text, const char *word)
{
	return text.len && memmem(text.data, text.len, word, strlen(word));
}

/* Finds the end of the table, an offset in the window. False: it is missing, or too far away. */
static bool end_of_blocks(struct reader *reader, size_t limit, size_t *at)
{
	struct tr_input *in = reader->base.in;
	*at = 0;
	if (reader->count > limit / TR_DRCOV_BLOCK)
		return false;
	if (!reader->text) {
		*at = (size_t)reader->count * TR_DRCOV_BLOCK;
		return tr_input_more(in, *at + 1);
	}
	size_t seen = 0;
	for (uint64_t i = 0; i < reader->count;) {
		const char *lf = memchr(in->pos + seen, '\n', tr_input_available(in) - seen);
		if (lf) {
			seen = *at = (size_t)(lf - in->pos) + 1;
			i++;
			continue;
		}
		seen = tr_input_available(in);
		if (seen > limit || !tr_input_more(in, seen + 1))
			return false;
	}
	return tr_input_more(in, *at + 1);
}

/* Returns the line at that offset, with its LF; len 0: it is too long for such a line. */
static struct tr_text line_at(struct tr_input *in, size_t at)
{
	enum { LINE_MAX = 80 };
	tr_input_more(in, at + LINE_MAX);
	size_t there = tr_input_available(in) - at;
	const char *p = in->pos + at;
	const char *lf = memchr(p, '\n', there < LINE_MAX ? there : LINE_MAX);
	return (struct tr_text){ p, lf ? (size_t)(lf - p) + 1 : 0 };
}

/* Finds and keeps the hit counts of the table that begins here. False: memory is exhausted. */
static bool find_hits(struct reader *reader)
{
	struct tr_input *in = reader->base.in;
	bool promised = has(reader->list.head.flavor, "hits");
	uint64_t count, limit = promised ? reader->base.max_record : UNPROMISED;
	size_t at, size = (size_t)reader->count * TR_DRCOV_HIT;
	if (!end_of_blocks(reader, (size_t)limit, &at))
		return true;
	struct tr_text line = line_at(in, at);
	if (!line.len || !tr_drcov_hits_line(line, &count) || count != reader->count)
		return true;
	at += line.len;
	tr_buffer_put_text(&reader->hits_line, line);
	tr_input_more(in, at + size);
	size_t there = tr_input_available(in) - at;
	if (there < size)
		size = there - there % TR_DRCOV_HIT;
	tr_buffer_put(&reader->hits, in->pos + at, size);
	return !reader->hits.failed && !reader->hits_line.failed;
}

/* Skips the hit counts that find_hits has kept. */
static enum tr_status skip_hits(struct reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->base.in;
	size_t size = (size_t)reader->count * TR_DRCOV_HIT;
	if (!reader->hits_line.len)
		return TR_END;
	reader->binary = true;
	tr_input_skip(in, reader->hits_line.len);
	tr_buffer_reset(&reader->hits_line);
	bool whole = tr_input_more(in, size);
	size_t there = tr_input_available(in);
	tr_input_skip(in, there < size ? there : size);
	if (whole)
		return TR_END;
	tr_error_set(err, TR_CAUSE_CUT, "hit counts for %zu of %" PRIu64 " blocks",
		     there / TR_DRCOV_HIT, reader->count);
	return at_place(reader, err);
}

/* Reports a table with fewer blocks than announced, as tools that were killed leave it. */
static enum tr_status cut(struct reader *reader, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_CUT,
		     "the block table announces %" PRIu64 " blocks, there are %" PRIu64,
		     reader->count, reader->blocks);
	reader->base.step = read_after;
	return at_place(reader, err);
}

/*
 * Reads the lines up to the blocks into reader->lines. Blank lines may come before; after anything
 * else there is no table (TR_END). The count is not trusted: it only ends the table.
 */
static enum tr_status take_lines(struct reader *reader, struct tr_error *err)
{
	enum { LINES_MAX = 4 << 10 };
	const size_t mark = sizeof TR_DRCOV_TEXT_MARK - 1;
	struct tr_text line;
	bool found = false;
	tr_buffer_reset(&reader->lines);
	while (!found) {
		enum tr_status status = peek_line(reader, &line, err);
		if (status != TR_OK)
			return status;
		found = tr_drcov_blocks_line(line, &reader->count) &&
			line.data[line.len - 1] == '\n';
		if (!found && (tr_text_trimmed(line).len || reader->lines.len > LINES_MAX))
			return TR_END;
		tr_buffer_put_text(&reader->lines, line);
		skip_line(reader, line);
	}
	reader->text = tr_input_more(reader->base.in, mark) &&
		       memcmp(reader->base.in->pos, TR_DRCOV_TEXT_MARK, mark) == 0;
	if (reader->text) {
		enum tr_status status = peek_line(reader, &line, err);
		if (status != TR_OK)
			return status;
		tr_buffer_put_text(&reader->lines, line);
		skip_line(reader, line);
		if (line.data[line.len - 1] != '\n')
			return TR_END;
	}
	return TR_OK;
}

/* Decodes an entry of a binary table, which is little endian always. */
static struct tr_drcov_row unpack(const char *p)
{
	uint32_t both = tr_wire_u32(p + 4, false);
	return (struct tr_drcov_row){ tr_wire_u32(p, false), both & 0xffff, both >> 16 };
}

/*
 * QEMU's plugin writes addresses, cut to 32 bits, where the format has starts that count from
 * the module. They are recognised in a table of version 2 with one module, if the starts are beyond
 * its size and all are addresses in it. Examines the first blocks.
 */
static bool looks_absolute(struct reader *reader)
{
	enum { SAMPLE = 8192 };
	const struct tr_module_place *module = reader->list.places;
	bool beyond = false;
	if (reader->list.head.version != 2 || reader->list.count != 1 || reader->text ||
	    module->id >= TR_DRCOV_NO_MODULE || module->end <= module->base ||
	    module->end - module->base > UINT32_MAX)
		return false;
	uint64_t size = module->end - module->base;
	uint64_t count = reader->count < SAMPLE ? reader->count : SAMPLE;
	tr_input_more(reader->base.in, (size_t)count * TR_DRCOV_BLOCK);
	for (uint64_t i = 0; i < count; i++) {
		size_t at = (size_t)i * TR_DRCOV_BLOCK;
		if (tr_input_available(reader->base.in) - at < TR_DRCOV_BLOCK)
			break;
		struct tr_drcov_row row = unpack(reader->base.in->pos + at);
		if (row.module != module->id)
			continue;
		if ((uint32_t)(row.start - module->base) >= size)
			return false;
		beyond |= row.start >= size;
	}
	return beyond;
}

/*
 * Makes the record about the block table: its form, whether there are hit counts, and whether the
 * starts are addresses.
 */
static enum tr_status read_table(struct tr_reader *base, struct tr_record **record,
				 struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_buffer *out = &base->line, usual = TR_BUFFER_INIT;
	mark(reader);
	enum tr_status status = take_lines(reader, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	if (status == TR_END) {
		reader->base.step = read_after;
		tr_error_set(err, tr_input_more(reader->base.in, 1) ? TR_CAUSE_INPUT : TR_CAUSE_CUT,
			     "there is no table of blocks");
		return at_place(reader, err);
	}
	reader->binary = !reader->text;
	reader->base.step = read_block;
	if (reader->lines.failed || !find_hits(reader))
		return tr_error_memory(err);
	tr_buffer_put_literal(out, "meta\t");
	tr_buffer_put_decimal(out, reader->base.seq++);
	tr_buffer_put_literal(out, "\t-\t-\tbbs\tvalue=\"");
	tr_buffer_put_text(out, reader->text ? TR_TEXT("text") : TR_TEXT("binary"));
	tr_buffer_put_literal(out, "\"");
	tr_drcov_blocks_write(reader->count, reader->text, &usual);
	if (reader->hits_line.len)
		tr_buffer_put_literal(out, "\thits=true");
	reader->absolute =
		reader->starts == ABSOLUTE || (reader->starts == AUTO && looks_absolute(reader));
	if (reader->absolute)
		tr_buffer_put_literal(out, "\tstarts=absolute");
	put_odd(reader, ".lines", tr_buffer_text(&reader->lines), &usual);
	tr_buffer_reset(&usual);
	tr_drcov_hits_write(reader->count, &usual);
	if (reader->hits_line.len)
		put_odd(reader, ".hits", tr_buffer_text(&reader->hits_line), &usual);
	tr_buffer_free(&usual);
	if (!reader->absolute || reader->starts == ABSOLUTE)
		return tr_reader_deliver(base, record, err);
	tr_error_set(err, TR_CAUSE_INPUT,
		     "block starts are addresses, as written by QEMU's plugin (-O "
		     "starts=relative if they are relative to the module)");
	at_place(reader, err);
	return tr_reader_hold(base, TR_NOTE, err);
}

/*
 * Makes the record of a block. Its address is the origin of its module plus its start; a block of
 * no module has only the start.
 */
static void put_block(struct reader *reader, const struct tr_drcov_row *row)
{
	struct tr_buffer *out = &reader->base.line;
	const struct tr_module_place *module = tr_module_list_id(&reader->list, row->module);
	uint64_t origin = module ? module->origin : 0;
	uint64_t start = reader->absolute && module ? (uint32_t)(row->start - origin) : row->start;
	uint64_t address = origin + start;
	unsigned digits = reader->list.digits;
	tr_buffer_put_literal(out, "block\t");
	tr_buffer_put_decimal(out, reader->base.seq++);
	tr_buffer_put_literal(out, "\t-\t-\t0x");
	tr_buffer_put_hex(out, digits == 8 ? (uint32_t)address : address, digits);
	tr_buffer_put_literal(out, "\tsize=");
	tr_buffer_put_decimal(out, row->size);
	tr_buffer_put_literal(out, "\tmodule=");
	tr_buffer_put_decimal(out, row->module);
	if (reader->blocks < reader->hits.len / TR_DRCOV_HIT) {
		tr_buffer_put_literal(out, "\thits=");
		tr_buffer_put_decimal(
			out, tr_wire_u32(reader->hits.data + reader->blocks * TR_DRCOV_HIT, false));
	}
	reader->blocks++;
}

/* Makes a record of an entry of a binary table. Nothing can follow a truncated table. */
static enum tr_status read_binary(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	if (!tr_input_more(reader->base.in, TR_DRCOV_BLOCK)) {
		enum tr_status status = cut(reader, err);
		reader->base.step = NULL;
		return status;
	}
	struct tr_drcov_row row = unpack(reader->base.in->pos);
	mark(reader);
	put_block(reader, &row);
	tr_input_skip(reader->base.in, TR_DRCOV_BLOCK);
	return tr_reader_deliver(&reader->base, record, err);
}

/* Ends a table with fewer blocks than it announces, at something else. */
static bool ends_table(struct tr_text line)
{
	uint64_t count;
	return tr_text_starts(line, TR_TEXT(TR_DRCOV_VERSION)) || tr_drcov_hits_line(line, &count);
}

/*
 * Makes a record of a row of a text table. A line that is not a row is reported and counted. A
 * start that is wider than the addresses is reported, and kept in .row.
 */
static enum tr_status read_text(struct reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_text line;
	struct tr_drcov_row row;
	enum tr_status status = peek_line(reader, &line, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	bool whole = status == TR_OK && line.data[line.len - 1] == '\n';
	if (!whole || ends_table(line)) {
		if (status == TR_OK && !whole)
			skip_line(reader, line);
		return cut(reader, err);
	}
	if (!tr_drcov_row_parse(line, &row)) {
		tr_error_set(err, TR_CAUSE_INPUT, "not a block: %.*s",
			     (int)(line.len < 80 ? line.len - 1 : 80), line.data);
		at_place(reader, err);
		skip_line(reader, line);
		reader->blocks++; /* the table's count and its hits include it */
		return TR_WARN;
	}
	struct tr_buffer usual = TR_BUFFER_INIT;
	mark(reader);
	put_block(reader, &row);
	tr_drcov_row_write(&row, reader->list.digits, &usual);
	put_odd(reader, ".row", line, &usual);
	tr_buffer_free(&usual);
	bool wide = reader->list.digits == 8 && row.start > UINT32_MAX;
	if (wide) {
		tr_error_say(
			err, TR_CAUSE_INPUT,
			"the start of a block has more than 32 bits: its address is truncated");
		at_place(reader, err);
	}
	skip_line(reader, line);
	return wide ? tr_reader_hold(&reader->base, TR_FLAW, err)
		    : tr_reader_deliver(&reader->base, record, err);
}

/* Makes a record of the next block, up to the number that was announced. */
static enum tr_status read_block(struct tr_reader *base, struct tr_record **record,
				 struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);

	if (reader->blocks == reader->count) {
		reader->base.step = read_after;
		return TR_END;
	}
	return reader->text ? read_text(reader, record, err) : read_binary(reader, record, err);
}

/*
 * Digits of an address: the flavor states them (drcov-64, drcov-32); otherwise the first row,
 * whose addresses have eight in a program of 32 bits.
 */
static unsigned address_digits(struct tr_text flavor, struct tr_text row)
{
	const char *end = row.data + row.len, *x = row.len ? memchr(row.data, 'x', row.len) : NULL;
	size_t digits = 0;
	while (x && ++x < end && *x != ',')
		digits++;
	if (has(flavor, "-64"))
		return 16;
	return digits == 8 || (has(flavor, "-32") && digits < 8) ? 8 : 16;
}

/* Makes the header of the dump. A second dump in the file is marked by stream=2. */
static void put_header(struct reader *reader)
{
	const struct tr_drcov_head *head = &reader->list.head;
	struct tr_buffer usual = TR_BUFFER_INIT;
	tr_buffer_put_literal(&reader->base.line, "%trec\t1");
	if (++reader->dumps > 1) {
		tr_field_begin(tr_text_from("stream"), &reader->base.line);
		tr_buffer_put_decimal(&reader->base.line, reader->dumps);
	}
	tr_field_begin(tr_text_from("version"), &reader->base.line);
	tr_buffer_put_decimal(&reader->base.line, head->version);
	if (head->flavor.data) {
		tr_field_begin(tr_text_from("flavor"), &reader->base.line);
		tr_string_quote(head->flavor, &reader->base.line);
	}
	tr_field_begin(tr_text_from("table"), &reader->base.line);
	tr_buffer_put_decimal(&reader->base.line, head->table);
	tr_field_begin(tr_text_from("columns"), &reader->base.line);
	for (size_t i = 0; i < head->columns.count; i++) {
		tr_buffer_put_byte(&reader->base.line, i ? ',' : '[');
		tr_string_quote(tr_module_column_name(&head->columns, i), &reader->base.line);
	}
	tr_buffer_put_literal(&reader->base.line, "]");
	tr_field_begin(tr_text_from("bits"), &reader->base.line);
	tr_buffer_put_decimal(&reader->base.line, reader->list.digits * 4);
	tr_drcov_head_write(head, &usual);
	put_odd(reader, ".head", tr_buffer_text(&reader->list.spelled), &usual);
	tr_buffer_free(&usual);
}

/* Reports why the head cannot be read. */
static enum tr_status judge_head(struct reader *reader, struct tr_error *err)
{
	const struct tr_drcov_head *head = &reader->list.head;
	reader->base.step = NULL;
	if (!head->has_version)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "not a drcov file: it does not begin with \"%s N\"", TR_DRCOV_VERSION);
	else if (head->version != 2 && head->version != 3)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "drcov of version %" PRIu64 ": versions 2 and 3 are read",
			     head->version);
	else if (!head->table && !tr_input_more(reader->base.in, 1))
		tr_error_set(err, TR_CAUSE_CUT, "the input ends before the module table");
	else if (!head->table)
		tr_error_set(err, TR_CAUSE_INPUT, "no module table in the first %d KiB",
			     HEAD_MAX >> 10);
	else if (head->bad_columns)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the module table has too many columns, or repeats one");
	else
		return TR_OK;
	return at_place(reader, err);
}

/* Reads the lines up to the first module. TR_OK; TR_WARN: one is too long; TR_FATAL. */
static enum tr_status take_head(struct reader *reader, struct tr_error *err)
{
	struct tr_drcov_head *head = &reader->list.head;
	struct tr_buffer *text = &reader->list.spelled;
	struct tr_text line;
	enum tr_status status;
	while (!tr_drcov_head_whole(head)) {
		status = peek_line(reader, &line, err);
		if (status == TR_END)
			break;
		if (status != TR_OK)
			return status;
		if (text->len + line.len > HEAD_MAX || !tr_drcov_head_line(head, line))
			break;
		tr_buffer_put_text(text, line);
		if (text->failed)
			return tr_error_memory(err);
		skip_line(reader, line);
	}
	return TR_OK;
}

/*
 * Reads the lines before the modules. If they are damaged, nothing of the file can be read.
 */
static enum tr_status read_head(struct tr_reader *base, struct tr_record **record,
				struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_text row = { "", 0 };
	if (tr_module_list_begin(&reader->list, NULL, err) != TR_OK)
		return TR_FATAL;
	reader->list.head = (struct tr_drcov_head){ .has_version = false };
	tr_buffer_reset(&reader->hits);
	tr_buffer_reset(&reader->hits_line);
	reader->blocks = reader->count = base->seq = 0;
	reader->text = false;
	mark(reader);
	enum tr_status status = take_head(reader, err);
	if (status == TR_OK)
		status = judge_head(reader, err);
	if (status != TR_OK) {
		reader->base.step = NULL;
		return status;
	}
	/* the texts of the head pointed into the window */
	(void)tr_drcov_head_parse(&reader->list.head, tr_buffer_text(&reader->list.spelled));
	reader->list.source = reader->list.head.columns;
	/* the first row shows the width of addresses; damage in it is reported when it is read */
	if (reader->list.head.count && peek_line(reader, &row, err) == TR_FATAL)
		return TR_FATAL;
	reader->list.digits = address_digits(reader->list.head.flavor, row);
	base->step = reader->list.head.count ? read_module : read_table;
	put_header(reader);
	if (!reader->list.head.odd)
		return tr_reader_deliver(base, record, err);
	tr_error_set(err, TR_CAUSE_INPUT, "unknown lines before the module table: kept");
	at_place(reader, err);
	return tr_reader_hold(base, TR_FLAW, err);
}

/*
 * Makes a record of a row of the module table. A row that does not match the columns is kept in
 * .row and reported as a flaw: blocks refer to modules by number, so no row may be dropped.
 */
static enum tr_status read_module(struct tr_reader *base, struct tr_record **record,
				  struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_text line;
	struct tr_module module;
	struct tr_buffer usual = TR_BUFFER_INIT;
	enum tr_status status = peek_line(reader, &line, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	if (status == TR_END || tr_text_starts(line, TR_TEXT("BB Table:")) ||
	    line.data[line.len - 1] != '\n') {
		if (status == TR_OK && line.data[line.len - 1] != '\n')
			skip_line(reader, line); /* a truncated row */
		base->step = read_table;
		tr_error_set(err, TR_CAUSE_CUT,
			     "the module table announces %" PRIu64 " modules, there are %zu",
			     reader->list.head.count, reader->list.count);
		return at_place(reader, err);
	}
	struct tr_text row = { line.data, line.len - 1 };
	bool good = tr_module_parse(&reader->list.head.columns, row, &module);
	if (!tr_module_list_place(&reader->list, &module))
		return tr_error_memory(err);
	tr_module_line(&reader->list.head.columns, &module, reader->base.seq++, &reader->base.line);
	tr_module_write(&reader->list.head.columns, &module, reader->list.digits, &usual);
	put_odd(reader, ".row", line, &usual);
	tr_buffer_free(&usual);
	mark(reader);
	if (!good) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a row of the module table that does not match its columns: passed "
			     "on");
		at_place(reader, err);
	}
	skip_line(reader, line);
	if (reader->list.count == reader->list.head.count)
		base->step = read_table;
	return good ? tr_reader_deliver(base, record, err) : tr_reader_hold(base, TR_FLAW, err);
}

/* Reads the rest after the tables: hit counts, another dump, or bytes without a meaning. */
static enum tr_status read_after(struct tr_reader *base, struct tr_record **record,
				 struct tr_error *err)
{
	enum { MAGIC = sizeof TR_DRCOV_VERSION - 1 };
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_input *in = base->in;

	(void)record;
	enum tr_status status = skip_hits(reader, err);
	if (status != TR_END)
		return status;
	reader->base.step = NULL;
	if (!tr_input_more(in, 1))
		return TR_END;
	if (tr_input_more(in, MAGIC) && memcmp(in->pos, TR_DRCOV_VERSION, MAGIC) == 0) {
		reader->base.step = read_head;
		return TR_END;
	}
	uint64_t hits;
	struct tr_text start = tr_text_span(in->pos, in->end);
	bool counts = tr_drcov_hits_line(tr_drcov_next_line(&start), &hits);
	tr_error_say(err, TR_CAUSE_INPUT,
		     counts ? "hit counts do not match the blocks: ignored"
			    : "bytes after the tables are ignored");
	at_place(reader, err);
	while (tr_input_more(in, 1))
		tr_input_skip(in, tr_input_available(in));
	return TR_WARN;
}

struct tr_reader *tr_drcov_open(const struct tr_read_config *config, struct tr_input *in,
				struct tr_error *err)
{
	struct reader *reader =
		tr_reader_new(sizeof *reader, tr_reader_next, close_reader, config, in, err);

	if (!reader)
		return NULL;
	reader->base.step = read_head;
	struct tr_text starts = tr_setting_get(&config->settings, "starts", "auto");
	reader->starts = tr_text_is(starts, "absolute")	  ? ABSOLUTE
			 : tr_text_is(starts, "relative") ? RELATIVE
							  : AUTO;
	return &reader->base;
}
