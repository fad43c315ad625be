/* The BB table, binary or text. */
#include <inttypes.h>

#include "core/hex.h"
#include "core/wire.h"
#include "format/drcov/reader.h"

static enum tr_status cut(struct tr_drcov_reader *reader, struct tr_error *err)
{
	tr_error_set(err, TR_CAUSE_CUT,
		     "the block table announces %" PRIu64 " blocks, there are %" PRIu64,
		     reader->count, reader->blocks);
	reader->state = TR_DRCOV_AFTER;
	return tr_drcov_warn(reader, err);
}

/* The lines up to the blocks, to reader->lines. TR_END: there is no table. */
static enum tr_status take_lines(struct tr_drcov_reader *reader, struct tr_error *err)
{
	enum { LINES_MAX = 4 << 10 };
	const size_t mark = sizeof TR_DRCOV_TEXT_MARK - 1;
	struct tr_text line;
	bool found = false;
	tr_buffer_reset(&reader->lines);
	while (!found) {
		enum tr_status status = tr_drcov_peek_line(reader, &line, err);
		if (status != TR_OK)
			return status;
		found = tr_drcov_blocks_line(line, &reader->count) &&
			line.data[line.len - 1] == '\n';
		if (!found && (tr_text_trimmed(line).len || reader->lines.len > LINES_MAX))
			return TR_END;
		tr_buffer_put_text(&reader->lines, line);
		tr_drcov_skip_line(reader, line);
	}
	reader->text = tr_input_more(reader->in, mark) &&
		       memcmp(reader->in->pos, TR_DRCOV_TEXT_MARK, mark) == 0;
	if (reader->text) {
		enum tr_status status = tr_drcov_peek_line(reader, &line, err);
		if (status != TR_OK)
			return status;
		tr_buffer_put_text(&reader->lines, line);
		tr_drcov_skip_line(reader, line);
		if (line.data[line.len - 1] != '\n')
			return TR_END;
	}
	return TR_OK;
}

/*
 * QEMU's plugin writes addresses, cut to 32 bits, where the format has starts that count from
 * the module. They are recognised in a table of version 2 with one module, by starts beyond
 * its size, all of which are in it as addresses. Looks at the first blocks.
 */
static bool looks_absolute(struct tr_drcov_reader *reader)
{
	enum { BLOCKS = 8192 };
	bool beyond = false;
	if (reader->head.version != 2 || reader->modules != 1 || reader->text ||
	    reader->module_id >= reader->base_count)
		return false;
	uint64_t base = reader->bases[reader->module_id].address;
	uint64_t size = reader->module_end - base;
	uint64_t count = reader->count < BLOCKS ? reader->count : BLOCKS;
	if (reader->module_end <= base || size > UINT32_MAX)
		return false;
	tr_input_more(reader->in, (size_t)count * TR_DRCOV_BLOCK);
	for (uint64_t i = 0; i < count; i++) {
		size_t at = (size_t)i * TR_DRCOV_BLOCK;
		if (tr_input_available(reader->in) - at < TR_DRCOV_BLOCK)
			break;
		struct tr_drcov_row row = tr_drcov_row_unpack(reader->in->pos + at);
		if (row.module != reader->module_id)
			continue;
		if ((uint32_t)(row.start - base) >= size)
			return false;
		beyond |= row.start >= size;
	}
	return beyond;
}

enum tr_status tr_drcov_read_table(struct tr_drcov_reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	struct tr_buffer *out = &reader->out, usual = TR_BUFFER_INIT;
	tr_drcov_mark(reader);
	enum tr_status status = take_lines(reader, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	if (status == TR_END) {
		reader->state = TR_DRCOV_AFTER;
		tr_error_set(err, tr_input_more(reader->in, 1) ? TR_CAUSE_INPUT : TR_CAUSE_CUT,
			     "there is no table of blocks");
		return tr_drcov_warn(reader, err);
	}
	reader->binary = !reader->text;
	reader->state = TR_DRCOV_BLOCKS;
	if (reader->lines.failed || !tr_drcov_find_hits(reader))
		return tr_error_memory(err);
	tr_buffer_put_literal(out, "meta\t");
	tr_buffer_put_decimal(out, reader->seq++);
	tr_buffer_put_literal(out, "\t-\t-\tbbs\tvalue=\"");
	tr_buffer_put_text(out, reader->text ? TR_TEXT("text") : TR_TEXT("binary"));
	tr_buffer_put_literal(out, "\"");
	tr_drcov_blocks_write(reader->count, reader->text, &usual);
	if (reader->hits_line.len)
		tr_buffer_put_literal(out, "\thits=true");
	reader->absolute = reader->starts == TR_DRCOV_ABSOLUTE ||
			   (reader->starts == TR_DRCOV_AUTO && looks_absolute(reader));
	if (reader->absolute)
		tr_buffer_put_literal(out, "\tstarts=absolute");
	tr_drcov_put_odd(reader, ".lines", tr_buffer_text(&reader->lines), &usual);
	tr_buffer_reset(&usual);
	tr_drcov_hits_write(reader->count, &usual);
	if (reader->hits_line.len)
		tr_drcov_put_odd(reader, ".hits", tr_buffer_text(&reader->hits_line), &usual);
	tr_buffer_free(&usual);
	if (!reader->absolute || reader->starts == TR_DRCOV_ABSOLUTE)
		return tr_drcov_deliver(reader, record, err);
	reader->ready = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "block starts are addresses, as QEMU's plugin writes them (-O starts=relative "
		     "if they count from the module)");
	tr_error_is_note(err);
	return tr_drcov_warn(reader, err);
}

static void put_block(struct tr_drcov_reader *reader, const struct tr_drcov_row *row)
{
	struct tr_buffer *out = &reader->out;
	bool known = row->module < reader->base_count && reader->bases[row->module].known;
	uint64_t base = known ? reader->bases[row->module].address : 0;
	uint64_t start = reader->absolute && known ? (uint32_t)(row->start - base) : row->start;
	uint64_t address = base + start;
	tr_buffer_put_literal(out, "block\t");
	tr_buffer_put_decimal(out, reader->seq++);
	tr_buffer_put_literal(out, "\t-\t-\t0x");
	tr_buffer_put_hex(out, reader->digits == 8 ? (uint32_t)address : address, reader->digits);
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

static enum tr_status read_binary(struct tr_drcov_reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	if (!tr_input_more(reader->in, TR_DRCOV_BLOCK)) {
		enum tr_status status = cut(reader, err);
		reader->state = TR_DRCOV_OVER;
		return status;
	}
	struct tr_drcov_row row = tr_drcov_row_unpack(reader->in->pos);
	tr_drcov_mark(reader);
	put_block(reader, &row);
	tr_input_skip(reader->in, TR_DRCOV_BLOCK);
	return tr_drcov_deliver(reader, record, err);
}

/* A table that says more blocks than there are ends where something else begins. */
static bool ends_table(struct tr_text line)
{
	uint64_t count;
	return tr_text_starts(line, TR_TEXT(TR_DRCOV_VERSION)) || tr_drcov_hits_line(line, &count);
}

static enum tr_status read_text(struct tr_drcov_reader *reader, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_text line;
	struct tr_drcov_row row;
	enum tr_status status = tr_drcov_peek_line(reader, &line, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	bool whole = status == TR_OK && line.data[line.len - 1] == '\n';
	if (!whole || ends_table(line)) {
		if (status == TR_OK && !whole)
			tr_drcov_skip_line(reader, line);
		return cut(reader, err);
	}
	if (!tr_drcov_row_parse(line, &row)) {
		tr_error_set(err, TR_CAUSE_INPUT, "no block: %.*s",
			     (int)(line.len < 80 ? line.len - 1 : 80), line.data);
		(void)tr_drcov_warn(reader, err);
		tr_drcov_skip_line(reader, line);
		reader->blocks++; /* counted by whoever wrote the table, and by its hits */
		return TR_WARN;
	}
	struct tr_buffer usual = TR_BUFFER_INIT;
	tr_drcov_mark(reader);
	put_block(reader, &row);
	tr_drcov_row_write(&row, reader->digits, &usual);
	tr_drcov_put_odd(reader, ".row", line, &usual);
	tr_buffer_free(&usual);
	tr_drcov_skip_line(reader, line);
	return tr_drcov_deliver(reader, record, err);
}

enum tr_status tr_drcov_read_block(struct tr_drcov_reader *reader, struct tr_record **record,
				   struct tr_error *err)
{
	if (reader->blocks == reader->count) {
		reader->state = TR_DRCOV_AFTER;
		return TR_END;
	}
	return reader->text ? read_text(reader, record, err) : read_binary(reader, record, err);
}
