#include "config.h"

#include "view/gnatcov_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/hex.h"
#include "coverage/layout.h"
#include "coverage/ranges.h"
#include "view/gnatcov_text_info.h"

enum { TAIL = 32 };

struct tr_gnatcov_text {
	enum tr_gnatcov_text_style style;
	struct tr_output *out;
	struct tr_layout layout;
	struct tr_buffer infos; /* the kind of what they are about has to stand before them */
	bool in_info;		/* the last section was INFO */
	bool big;		/* byte order of it */
	bool begun;		/* "Traces:" was printed */
	bool plain;		/* a block is a line, whatever it says */
	bool left_out;		/* of the base: a decision map, or a trace of another machine */

	struct tr_ranges *ranges; /* of style base */
	uint8_t digits;		  /* of its addresses */
	int64_t machine;	  /* of all of them; -1: not said yet */
	bool unprinted;		  /* a trace was added to them */

	uint8_t tail_len[256];
	char tails[256][TAIL]; /* of a line, by op */
};

static void make_tail(struct tr_gnatcov_text *text, unsigned op)
{
	char *p = text->tails[op];
	struct tr_buffer to = tr_buffer_over(p, TAIL);

	tr_buffer_put_literal(&to, " ?: ");
	tr_buffer_put_hex(&to, op, 2);
	tr_buffer_put_byte(&to, ' ');
	for (unsigned bit = 8; bit; bit >>= 1)
		tr_buffer_put_byte(&to, op & bit ? 't' : '-');
	if (op & TR_EXEC_BLOCK)
		tr_buffer_put_literal(&to, " block");
	if (op & TR_EXEC_FAULT)
		tr_buffer_put_literal(&to, " fault");
	tr_buffer_put_byte(&to, '\n');
	text->tail_len[op] = (uint8_t)to.len;
}

struct tr_gnatcov_text *tr_gnatcov_text_new(enum tr_gnatcov_text_style style, struct tr_output *out)
{
	struct tr_gnatcov_text *text = calloc(1, sizeof *text);

	if (!text)
		return NULL;
	text->style = style;
	text->out = out;
	text->machine = -1;
	for (unsigned op = 0; op < 256; op++)
		make_tail(text, op);
	if (style == TR_GNATCOV_TEXT_BASE)
		text->ranges = tr_ranges_new();
	if (style != TR_GNATCOV_TEXT_BASE || text->ranges)
		return text;
	free(text);
	return NULL;
}

void tr_gnatcov_text_free(struct tr_gnatcov_text *text)
{
	if (!text)
		return;
	tr_layout_free(&text->layout);
	tr_ranges_free(text->ranges);
	tr_buffer_free(&text->infos);
	free(text);
}

static char *put_address(char *p, uint64_t address, uint8_t digits)
{
	if (digits == 8)
		tr_hex_write8((uint32_t)address, p);
	else
		tr_hex_write16(address, p);
	return p + digits;
}

static void put_line(struct tr_gnatcov_text *text, uint64_t first, uint64_t last, uint8_t digits,
		     uint8_t op)
{
	char *begin = tr_output_room(text->out, 2 * 16 + 1 + TAIL), *p = begin;

	if (digits == 8) {
		char both[16];
		tr_hex_write16(first << 32 | last, both);
		memcpy(p, both, 8);
		memcpy(p + 9, both + 8, 8);
	} else {
		tr_hex_write16(first, p);
		tr_hex_write16(last, p + 17);
	}
	p[digits] = '-';
	p += 2 * digits + 1;
	memcpy(p, text->tails[op], TAIL);
	tr_output_used(text->out, (size_t)(p - begin) + text->tail_len[op]);
}

static enum tr_status add_to_base(struct tr_gnatcov_text *text, const struct tr_block *block,
				  struct tr_error *err)
{
	struct tr_range range = { block->address, tr_block_last(block), block->op };

	text->unprinted = true;
	if (block->digits > text->digits)
		text->digits = block->digits;
	if (range.last >= range.first)
		return tr_ranges_add(text->ranges, range) ? TR_OK : tr_error_memory(err);
	if (block->op == TR_EXEC_FAULT)
		return TR_OK; /* a fault in a block that is known already */
	put_line(text, range.first, range.last, block->digits, block->op);
	tr_error_set(err, TR_CAUSE_INPUT, "empty trace entry discarded");
	return TR_WARN;
}

/* What stands before the blocks of a section; a stream without one has FLAT. */
static void begin_entries(struct tr_gnatcov_text *text, struct tr_text kind)
{
	text->begun = true;
	if (text->style != TR_GNATCOV_TEXT_BASE) {
		tr_output_put_literal(text->out, "Kind: ");
		tr_output_put_text(text->out, kind);
		tr_output_put_literal(text->out, "\n\n");
		tr_output_put_text(text->out, tr_buffer_text(&text->infos));
		tr_output_put_literal(text->out, "Traces:\n");
	}
	tr_buffer_reset(&text->infos);
}

static enum tr_status show_block(struct tr_gnatcov_text *text, struct tr_block block,
				 struct tr_error *err)
{
	const struct tr_object *object;

	if (!text->begun)
		begin_entries(text, TR_TEXT("FLAT"));
	if (block.op == TR_EXEC_SPECIAL || text->left_out)
		return TR_OK;
	if (text->style != TR_GNATCOV_TEXT_RAW && !tr_layout_is_plain(&text->layout) &&
	    !tr_layout_place(&text->layout, &block, &object))
		return TR_OK;
	if (text->style == TR_GNATCOV_TEXT_BASE)
		return add_to_base(text, &block, err);
	put_line(text, block.address, tr_block_last(&block), block.digits, block.op);
	return TR_OK;
}

static enum tr_status put_block(struct tr_gnatcov_text *text, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	return status == TR_OK ? show_block(text, block, err) : status;
}

/* Only executions, and of one machine, make a base. */
static enum tr_status judge_for_base(struct tr_gnatcov_text *text, struct tr_record *record,
				     struct tr_error *err)
{
	bool map =
		record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, "DECISION_MAP");
	int64_t machine = -1;
	enum tr_status status = tr_gnatcov_text_machine(record, &machine, err);

	if (status != TR_OK)
		return status;
	text->left_out = map || (machine >= 0 && text->machine >= 0 && machine != text->machine);
	if (!text->left_out) {
		text->machine = machine >= 0 ? machine : text->machine;
		return TR_OK;
	}
	tr_error_set(err, TR_CAUSE_INPUT,
		     map ? "left out: a decision map is no execution trace"
			 : "left out: a trace of another machine than the first");
	return TR_WARN;
}

static enum tr_status put_section(struct tr_gnatcov_text *text, struct tr_record *record,
				  struct tr_error *err)
{
	bool info = record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, "INFO");

	tr_layout_section(&text->layout, info || !text->in_info);
	text->in_info = info;
	text->left_out = false;
	if (info) {
		text->begun = false;
		tr_buffer_reset(&text->infos);
		return tr_gnatcov_text_endian(record, &text->big, err);
	}
	begin_entries(text, record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("-"));
	return text->style == TR_GNATCOV_TEXT_BASE ? judge_for_base(text, record, err) : TR_OK;
}

static enum tr_status put_info(struct tr_gnatcov_text *text, struct tr_record *record,
			       struct tr_error *err)
{
	enum tr_status status = tr_layout_info(&text->layout, record, err);

	if (status != TR_OK || text->style == TR_GNATCOV_TEXT_BASE)
		return status;
	status = tr_gnatcov_text_info(record, text->big, &text->infos, err);
	return text->infos.failed ? tr_error_memory(err) : status;
}

static enum tr_status put_load(struct tr_gnatcov_text *text, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_loaded_object object;
	enum tr_status status = tr_layout_load(&text->layout, record, 0, &object, err);
	char addresses[2 * 16];

	if (status != TR_OK || text->style == TR_GNATCOV_TEXT_BASE)
		return status;
	tr_output_put_literal(text->out, "Loading shared object ");
	tr_output_put_text(text->out, object.path);
	tr_output_put_literal(text->out, "\n   at ");
	put_address(addresses, object.first, object.digits);
	tr_output_put(text->out, addresses, object.digits);
	tr_output_put_literal(text->out, " .. ");
	put_address(addresses, object.last, object.digits);
	tr_output_put(text->out, addresses, object.digits);
	tr_output_put_byte(text->out, '\n');
	return TR_OK;
}

static enum tr_status put_address_record(struct tr_gnatcov_text *text, struct tr_record *record,
					 bool unload, struct tr_error *err)
{
	uint64_t address;
	uint8_t digits;
	char shown[16];

	if (!tr_address_read(&record->name, &address, &digits)) {
		tr_error_set(err, TR_CAUSE_INPUT, "no address of 8 or 16 digits");
		return TR_WARN;
	}
	if (unload) {
		tr_layout_unload(&text->layout, address);
		return TR_OK;
	}
	if (!tr_layout_loadaddr(&text->layout, address) || text->style == TR_GNATCOV_TEXT_BASE)
		return TR_OK;
	put_address(shown, address, digits);
	tr_output_put_literal(text->out, "Kernel was loaded at: ");
	tr_output_put(text->out, shown, digits);
	tr_output_put_byte(text->out, '\n');
	return TR_OK;
}

static void print_base(struct tr_gnatcov_text *text)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;

	while (tr_ranges_next(text->ranges, &position, &range))
		put_line(text, range.first, range.last, text->digits, range.op);
}

/* A trace is over. trailer: NULL where it has none. */
static enum tr_status end_trace(struct tr_gnatcov_text *text, struct tr_record *trailer,
				struct tr_error *err)
{
	bool damaged = false;

	if (trailer && tr_record_split(trailer, err) == TR_FATAL)
		return TR_FATAL;
	if (trailer)
		damaged =
			tr_record_field(trailer, "errors") || tr_record_field(trailer, "truncated");
	if (text->style == TR_GNATCOV_TEXT_BASE && text->unprinted && !damaged)
		print_base(text);
	text->unprinted = text->begun = text->plain = text->in_info = text->left_out = text->big =
		false;
	tr_layout_section(&text->layout, true);
	tr_buffer_reset(&text->infos);
	return TR_OK;
}

static enum tr_status put_record(struct tr_gnatcov_text *text, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (tr_text_is(record->kind, "block"))
		status = put_block(text, record, err);
	else if (tr_text_is(record->kind, "section"))
		status = put_section(text, record, err);
	else if (tr_text_is(record->kind, "info"))
		status = put_info(text, record, err);
	else if (tr_text_is(record->kind, "load"))
		status = put_load(text, record, err);
	else if (tr_text_is(record->kind, "unload") || tr_text_is(record->kind, "loadaddr"))
		status = put_address_record(text, record, tr_text_is(record->kind, "unload"), err);
	/* so that nearly all blocks need no further look */
	text->plain = text->begun && text->style != TR_GNATCOV_TEXT_BASE &&
		      (text->style == TR_GNATCOV_TEXT_RAW || tr_layout_is_plain(&text->layout));
	tr_output_record_end(text->out);
	return status;
}

enum tr_status tr_gnatcov_text_put(struct tr_gnatcov_text *text, struct tr_record *record,
				   struct tr_error *err)
{
	const struct tr_block *built = tr_block_built(record);

	if (built && text->plain && built->op != TR_EXEC_SPECIAL) {
		put_line(text, built->address, tr_block_last(built), built->digits, built->op);
		tr_output_record_end(text->out);
		return TR_OK;
	}
	switch (record->type) {
	case TR_RECORD:
		return put_record(text, record, err);
	case TR_HEADER:
		return end_trace(text, NULL, err);
	case TR_TRAILER:
		return end_trace(text, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_gnatcov_text_finish(struct tr_gnatcov_text *text, struct tr_error *err)
{
	return end_trace(text, NULL, err);
}
