#include "format/drcov/writer_blocks.h"

#include "core/wire.h"

void tr_drcov_blocks_begin(struct tr_drcov_blocks *blocks, unsigned digits)
{
	tr_buffer_reset(&blocks->table);
	tr_buffer_reset(&blocks->hits);
	tr_buffer_reset(&blocks->lines);
	tr_buffer_reset(&blocks->hits_line);
	blocks->text = blocks->counted = blocks->absolute = false;
	blocks->digits = digits;
	blocks->count = 0;
}

void tr_drcov_blocks_free(struct tr_drcov_blocks *blocks)
{
	tr_buffer_free(&blocks->table);
	tr_buffer_free(&blocks->hits);
	tr_buffer_free(&blocks->lines);
	tr_buffer_free(&blocks->hits_line);
}

static bool same(const struct tr_drcov_row *a, const struct tr_drcov_row *b)
{
	return a->start == b->start && a->size == b->size && a->module == b->module;
}

bool tr_drcov_blocks_add(struct tr_drcov_blocks *blocks, const struct tr_drcov_row *row,
			 uint64_t hits, struct tr_text spelled)
{
	struct tr_drcov_row parsed;
	char *to = tr_buffer_room(&blocks->hits, TR_DRCOV_HIT);
	if (to)
		tr_wire_put_u32(to, false, hits > UINT32_MAX ? UINT32_MAX : (uint32_t)hits);
	tr_buffer_used(&blocks->hits, to ? TR_DRCOV_HIT : 0);
	blocks->count++;
	if (!blocks->text) {
		to = tr_buffer_room(&blocks->table, TR_DRCOV_BLOCK);
		if (to)
			tr_drcov_row_pack(row, to);
		tr_buffer_used(&blocks->table, to ? TR_DRCOV_BLOCK : 0);
	} else if (spelled.len &&
		   memchr(spelled.data, '\n', spelled.len) == spelled.data + spelled.len - 1 &&
		   tr_drcov_row_parse(spelled, &parsed) && same(&parsed, row)) {
		tr_buffer_put_text(&blocks->table, spelled);
	} else {
		tr_drcov_row_write(row, blocks->digits, &blocks->table);
	}
	return !blocks->table.failed && !blocks->hits.failed;
}

/* True when the source's lines say what these tables are, so that they can stand. */
static bool lines_hold(const struct tr_drcov_blocks *blocks)
{
	struct tr_text text = tr_buffer_text(&blocks->lines), line = { "", 0 };
	uint64_t count = 0;
	bool found = false;
	while (text.len && !found) {
		line = tr_drcov_next_line(&text);
		found = tr_drcov_blocks_line(line, &count);
		if (!found && tr_text_trimmed(line).len)
			return false;
	}
	bool marked = tr_text_starts(text, TR_TEXT(TR_DRCOV_TEXT_MARK)) &&
		      text.data[text.len - 1] == '\n';
	tr_drcov_next_line(&text);
	return found && count == blocks->count && text.len == 0 && marked == blocks->text &&
	       line.data[line.len - 1] == '\n';
}

static bool hits_line_holds(const struct tr_drcov_blocks *blocks)
{
	struct tr_text text = tr_buffer_text(&blocks->hits_line);
	struct tr_text line = tr_drcov_next_line(&text);
	uint64_t count;
	return line.len && !text.len && line.data[line.len - 1] == '\n' &&
	       tr_drcov_hits_line(line, &count) && count == blocks->count;
}

void tr_drcov_blocks_put(const struct tr_drcov_blocks *blocks, struct tr_output *out)
{
	char small[128];
	struct tr_buffer line = tr_buffer_over(small, sizeof small);
	if (lines_hold(blocks)) {
		tr_output_put_text(out, tr_buffer_text(&blocks->lines));
	} else {
		tr_drcov_blocks_write(blocks->count, blocks->text, &line);
		tr_output_put_text(out, tr_buffer_text(&line));
	}
	tr_output_put_text(out, tr_buffer_text(&blocks->table));
	if (!blocks->counted)
		return;
	line.len = 0;
	if (hits_line_holds(blocks)) {
		tr_output_put_text(out, tr_buffer_text(&blocks->hits_line));
	} else {
		tr_drcov_hits_write(blocks->count, &line);
		tr_output_put_text(out, tr_buffer_text(&line));
	}
	tr_output_put_text(out, tr_buffer_text(&blocks->hits));
}
