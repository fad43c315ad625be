/* SPDX-License-Identifier: MIT */
/*
 * Execution traces as gnatcov prints them, byte for byte: dump-trace, dump-trace-raw and
 * dump-trace-base. Records of other kinds are not shown.
 *
 *  - dump: addresses as in the files, without the load address of the kernel or of the shared
 *    object that contains them.
 *  - raw: the addresses that the program had in memory.
 *  - base: no information; the blocks of all traces so far are one sorted list, which is printed at
 *    the end of each trace. Nothing is printed after a damaged trace, because the list would look
 *    complete.
 */

#include "format/gnatcov/gnatcov.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/buffer.h"
#include "core/text.h"
#include "coverage/layout.h"
#include "coverage/ranges.h"
#include "record/ask.h"

enum style { DUMP, RAW, BASE };

/*
 * Whether Latin-1 has a glyph for every byte. gnatcov prints such data as they are and other data
 * in hex, so most text in UTF-8 appears as hex.
 */
static bool is_graphic(struct tr_text bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];
		if (c < 0x20 || (c > 0x7e && c < 0xa0))
			return false;
	}
	return true;
}

/* Appends the data of an information entry; if they are empty, the line ends with a blank. */
static void put_data(struct tr_text bytes, struct tr_buffer *to)
{
	tr_buffer_put_literal(to, "Data :");
	if (is_graphic(bytes)) {
		tr_buffer_put_byte(to, ' ');
		tr_buffer_put_text(to, bytes);
	} else {
		for (size_t i = 0; i < bytes.len; i++) {
			tr_buffer_put_byte(to, ' ');
			tr_buffer_put_hex(to, (unsigned char)bytes.data[i], 2);
		}
	}
	tr_buffer_put_byte(to, '\n');
}

/* Appends a date in the local time zone, as gnatcov does without --timezone. */
static void put_date(struct tr_text bytes, bool big, struct tr_buffer *to)
{
	struct tr_date date;
	struct tm local;
	char shown[80];
	time_t seconds = 0;
	bool swapped, good = tr_gnatcov_date_read(bytes, big, &date, &swapped);

	if (good)
		seconds = (time_t)tr_date_seconds(&date);
	if (!good || !localtime_r(&seconds, &local)) {
		tr_buffer_put_literal(to, "       !Bad Format!\n");
		return;
	}
	long minutes = labs(local.tm_gmtoff) / 60;
	int len = snprintf(
		shown, sizeof shown, "       %04d-%02d-%02d %02d:%02d:%02d %c%02ld:%02ld\n",
		local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min,
		local.tm_sec, local.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
	tr_buffer_put(to, shown, (size_t)len);
}

/* Appends the text of an info record. big: the byte order of its section. */
static enum tr_status spell_info(struct tr_record *record, bool big, struct tr_buffer *to,
				 struct tr_error *err)
{
	struct tr_text tag = record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("-");
	tr_error_clear(err);
	struct tr_text bytes = tr_ask_string(record, "data", err);
	if (tr_error_is_memory(err))
		return TR_FATAL;
	if (!bytes.data) {
		tr_error_set(err, TR_CAUSE_INPUT, "information without data");
		return TR_WARN;
	}
	bool date = tr_text_is(tag, "DATE_TIME");
	tr_buffer_put_literal(to, "Tag  : ");
	tr_buffer_put_text(to, tag);
	if (date)
		tr_buffer_put_literal(to, " (Date)");
	else if (tr_text_is(tag, "USER_DATA"))
		tr_buffer_put_literal(to, " (User_Tag)");
	tr_buffer_put_literal(to, "\nLen  : ");
	tr_buffer_put_decimal(to, bytes.len);
	tr_buffer_put_byte(to, '\n');
	put_data(bytes, to);
	if (date)
		put_date(bytes, big, to);
	tr_buffer_put_byte(to, '\n');
	return TR_OK;
}

/* Reads the byte order of a section. */
static enum tr_status read_endian(struct tr_record *record, bool *big, struct tr_error *err)
{
	tr_error_clear(err);
	*big = tr_ask_is(record, "endian", "big", err);
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

/* Reads the ELF machine of a section; *machine is unchanged if there is none. */
static enum tr_status read_machine(struct tr_record *record, int64_t *machine, struct tr_error *err)
{
	tr_error_clear(err);
	const struct tr_value *value = tr_ask(record, "machine", TR_SYMBOL, err);
	const struct tr_symbol *symbol = value ? value->as.symbol : NULL;

	if (symbol && symbol->numbered != TR_SYMBOL_WORDS && symbol->number <= UINT16_MAX)
		*machine = (int64_t)symbol->number;
	return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
}

enum { TAIL = 32 };

/*
 * The state of one output. The blocks of style base are collected from all traces; everything else
 * is reset at the end of a trace.
 */
struct text {
	struct tr_block_taker taker;
	enum style style;
	struct tr_output *out;
	struct tr_layout layout;
	struct tr_buffer infos; /* held back until the kind of the next section is printed */
	bool in_info;		/* this section is INFO */
	bool big;		/* the byte order of that INFO */
	bool begun;		/* "Traces:" was printed */
	bool plain;		/* every block is printed, at its own address */
	bool left_out;		/* style base: a decision map, or a trace of another machine */

	struct tr_ranges *ranges; /* of style base */
	uint8_t digits;		  /* of its addresses */
	int64_t machine;	  /* of all traces; -1: not known yet */
	bool unprinted;		  /* a trace was added to them */

	uint8_t tail_len[256];
	char tails[256][TAIL]; /* the end of a line, by op */
};

/*
 * Makes the end of a line for an op: its bits as letters. All 256 are made once, because a trace
 * has millions of lines.
 */
static void make_tail(struct text *text, unsigned op)
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

/* Creates the state of a style. NULL: memory is exhausted. */
static void *create(enum style style, struct tr_output *out, struct tr_error *err)
{
	struct text *text = calloc(1, sizeof *text);

	if (text && style == BASE)
		text->ranges = tr_ranges_new();
	if (!text || (style == BASE && !text->ranges)) {
		free(text);
		tr_error_memory(err);
		return NULL;
	}
	text->style = style;
	text->out = out;
	text->machine = -1;
	for (unsigned op = 0; op < 256; op++)
		make_tail(text, op);
	return text;
}

static void destroy(void *view)
{
	struct text *text = view;

	tr_layout_free(&text->layout);
	tr_ranges_free(text->ranges);
	tr_buffer_free(&text->infos);
	free(text);
}

/* Writes an address with its digits. */
static void put_address(struct tr_output *out, uint64_t address, uint8_t digits)
{
	char text[16];

	tr_hex_write16(address, text);
	tr_output_put(out, text + sizeof text - digits, digits);
}

/* Writes the line of a block. Both addresses of 32 bits are spelled at once. */
static void put_line(struct text *text, uint64_t first, uint64_t last, uint8_t digits, uint8_t op)
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

/*
 * Adds a block to the list of style base. As in gnatcov, an empty block that is not a fault is
 * printed at once and reported; so is one that wraps around the top of memory.
 */
static inline enum tr_status add_to_base(struct text *text, const struct tr_block *block,
					 struct tr_error *err)
{
	struct tr_range range = { block->address, tr_block_last(block), block->op };

	text->unprinted = true;
	if (block->digits > text->digits)
		text->digits = block->digits;
	if (range.last >= range.first)
		return tr_ranges_add(text->ranges, &range) ? TR_OK : tr_error_memory(err);
	if (block->op == TR_EXEC_FAULT)
		return TR_OK; /* a fault in a block that was added before */
	put_line(text, range.first, range.last, block->digits, block->op);
	tr_error_set(err, TR_CAUSE_INPUT, "empty trace entry discarded");
	return TR_WARN;
}

/* Prints the head of a section. A stream without sections is printed as a FLAT one. */
static void begin_entries(struct text *text, struct tr_text kind)
{
	text->begun = true;
	if (text->style != BASE) {
		tr_output_put_literal(text->out, "Kind: ");
		tr_output_put_text(text->out, kind);
		tr_output_put_literal(text->out, "\n\n");
		tr_output_put_text(text->out, tr_buffer_text(&text->infos));
		tr_output_put_literal(text->out, "Traces:\n");
	}
	tr_buffer_reset(&text->infos);
}

/*
 * Shows a block: with style raw at its own address, otherwise relative to the kernel or shared
 * object, and not at all before the kernel is loaded.
 */
static enum tr_status show_block(struct text *text, struct tr_block block, struct tr_error *err)
{
	const struct tr_object *object;

	if (!text->begun)
		begin_entries(text, TR_TEXT("FLAT"));
	if (block.op == TR_EXEC_SPECIAL || text->left_out)
		return TR_OK;
	if (text->style != RAW && !tr_layout_is_plain(&text->layout) &&
	    !tr_layout_place(&text->layout, &block, &object))
		return TR_OK;
	if (text->style == BASE)
		return add_to_base(text, &block, err);
	put_line(text, block.address, tr_block_last(&block), block.digits, block.op);
	return TR_OK;
}

/* Shows the block of a record. */
static enum tr_status put_block(struct text *text, struct tr_record *record, struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	return status == TR_OK ? show_block(text, block, err) : status;
}

/* For style base: leaves out sections that are not executions, or are of another machine. */
static enum tr_status judge_for_base(struct text *text, struct tr_record *record,
				     struct tr_error *err)
{
	bool map =
		record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, "DECISION_MAP");
	int64_t machine = -1;
	enum tr_status status = read_machine(record, &machine, err);

	if (status != TR_OK)
		return status;
	text->left_out = map || (machine >= 0 && text->machine >= 0 && machine != text->machine);
	if (!text->left_out) {
		text->machine = machine >= 0 ? machine : text->machine;
		return TR_OK;
	}
	tr_error_set(err, TR_CAUSE_INPUT,
		     map ? "left out: a decision map is not an execution trace"
			 : "left out: a trace for another machine than the first");
	return TR_WARN;
}

/*
 * Begins a section. Information is printed only when the kind of the section after it is known,
 * because gnatcov prints the kind first.
 */
static enum tr_status put_section(struct text *text, struct tr_record *record, struct tr_error *err)
{
	bool info = record->name.type == TR_CELL_TEXT && tr_text_is(record->name.text, "INFO");

	tr_layout_section(&text->layout, info || !text->in_info);
	text->in_info = info;
	text->left_out = false;
	if (info) {
		text->begun = false;
		tr_buffer_reset(&text->infos);
		return read_endian(record, &text->big, err);
	}
	begin_entries(text, record->name.type == TR_CELL_TEXT ? record->name.text : TR_TEXT("-"));
	return text->style == BASE ? judge_for_base(text, record, err) : TR_OK;
}

/* Handles an information entry: it may name the kernel, and it is printed. */
static enum tr_status put_info(struct text *text, struct tr_record *record, struct tr_error *err)
{
	enum tr_status status = tr_layout_info(&text->layout, record, err);

	if (status != TR_OK || text->style == BASE)
		return status;
	status = spell_info(record, text->big, &text->infos, err);
	return text->infos.failed ? tr_error_memory(err) : status;
}

/* Handles a shared object that is loaded, and prints its address. */
static enum tr_status put_load(struct text *text, struct tr_record *record, struct tr_error *err)
{
	struct tr_loaded_object object;
	enum tr_status status = tr_layout_load(&text->layout, record, &object, err);

	if (status != TR_OK || text->style == BASE)
		return status;
	tr_output_put_literal(text->out, "Loading shared object ");
	tr_output_put_text(text->out, object.path);
	tr_output_put_literal(text->out, "\n   at ");
	put_address(text->out, object.first, object.digits);
	tr_output_put_literal(text->out, " .. ");
	put_address(text->out, object.last, object.digits);
	tr_output_put_byte(text->out, '\n');
	return TR_OK;
}

/* Handles an unload, which prints nothing, or the load address of the kernel. */
static enum tr_status put_address_record(struct text *text, struct tr_record *record, bool unload,
					 struct tr_error *err)
{
	uint64_t address;
	uint8_t digits;

	if (!tr_address_read(&record->name, &address, &digits)) {
		tr_error_set(err, TR_CAUSE_INPUT, "not an address of 8 or 16 digits");
		return TR_WARN;
	}
	if (unload) {
		tr_layout_unload(&text->layout, address);
		return TR_OK;
	}
	if (!tr_layout_loadaddr(&text->layout, address) || text->style == BASE)
		return TR_OK;
	tr_output_put_literal(text->out, "Kernel was loaded at: ");
	put_address(text->out, address, digits);
	tr_output_put_byte(text->out, '\n');
	return TR_OK;
}

/* Prints the list of style base. */
static void print_base(struct text *text)
{
	struct tr_ranges_position position = { 0, 0 };
	struct tr_range range;

	while (tr_ranges_next(text->ranges, &position, &range))
		put_line(text, range.first, range.last, text->digits, range.op);
}

/* Ends a trace. trailer is NULL if it has none. */
static enum tr_status end_trace(struct text *text, struct tr_record *trailer, struct tr_error *err)
{
	bool damaged = false;

	if (trailer && tr_record_split(trailer, err) == TR_FATAL)
		return TR_FATAL;
	if (trailer)
		damaged =
			tr_record_field(trailer, "errors") || tr_record_field(trailer, "truncated");
	if (text->style == BASE && text->unprinted && !damaged)
		print_base(text);
	text->unprinted = text->begun = text->plain = text->in_info = text->left_out = text->big =
		false;
	tr_layout_section(&text->layout, true);
	tr_buffer_reset(&text->infos);
	return TR_OK;
}

/* Shows one record; other kinds are not shown. */
static enum tr_status put_record(struct text *text, struct tr_record *record, struct tr_error *err)
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
	/* the fast path for nearly all blocks, see put */
	text->plain = text->begun && text->style != BASE &&
		      (text->style == RAW || tr_layout_is_plain(&text->layout));
	tr_output_record_end(text->out);
	return status;
}

/*
 * Takes the next record; NULL: the end of the stream. A header without a trailer before it ends the
 * last trace, too.
 */
static enum tr_status put(void *view, struct tr_record *record, struct tr_error *err)
{
	struct text *text = view;
	const struct tr_block *built = record ? tr_block_built(record) : NULL;

	if (built && text->plain && built->op != TR_EXEC_SPECIAL) {
		put_line(text, built->address, tr_block_last(built), built->digits, built->op);
		tr_output_record_end(text->out);
		return TR_OK;
	}
	if (!record)
		return end_trace(text, NULL, err);
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

/* Takes blocks that can be shown at once, without a message (struct tr_block_taker). */
static size_t take_blocks(struct tr_block_taker *taker, const struct tr_block *blocks, size_t count,
			  uint64_t seq)
{
	enum { AHEAD = 16 }; /* blocks, in whose time the cache is filled */
	struct text *text = tr_container(taker, struct text, taker);
	size_t taken = 0;

	(void)seq;
	if (text->out->failed || !text->begun || text->left_out ||
	    (text->style != RAW && !tr_layout_is_plain(&text->layout)))
		return 0;
	if (text->style != BASE) {
		for (; taken < count; taken++) {
			const struct tr_block *block = &blocks[taken];
			put_line(text, block->address, tr_block_last(block), block->digits,
				 block->op);
		}
	} else {
		/* a block without bytes, or memory that is exhausted, needs a message */
		for (; taken < count; taken++) {
			const struct tr_block *block = &blocks[taken], *soon = block + AHEAD;
			if (taken + AHEAD < count)
				tr_ranges_expect(text->ranges, soon->address, soon->op);
			if (tr_block_last(block) < block->address ||
			    add_to_base(text, block, NULL) != TR_OK)
				break;
		}
	}
	tr_output_record_end(text->out);
	return taken;
}

static struct tr_block_taker *block_taker(void *view)
{
	struct text *text = view;

	text->taker.take = take_blocks;
	return &text->taker;
}

/* The styles differ only in this. */
static void *create_dump(const struct tr_text_config *config, struct tr_output *out,
			 struct tr_error *err)
{
	(void)config;
	return create(DUMP, out, err);
}

static void *create_raw(const struct tr_text_config *config, struct tr_output *out,
			struct tr_error *err)
{
	(void)config;
	return create(RAW, out, err);
}

static void *create_base(const struct tr_text_config *config, struct tr_output *out,
			 struct tr_error *err)
{
	(void)config;
	return create(BASE, out, err);
}

/* Source traces have info records too, but their first one is the name of the program. */
static bool begins(const struct tr_record *first)
{
	return tr_text_is(first->kind, "section") || tr_text_is(first->kind, "block") ||
	       tr_text_is(first->kind, "load") ||
	       (tr_text_is(first->kind, "info") && first->name.type == TR_CELL_TEXT &&
		!tr_text_is(first->name.text, "PROGRAM_NAME"));
}

static const char shows[] = "executed blocks";
static const char *const kinds[] = { "block", NULL };

const struct tr_text_style tr_gnatcov_styles[] = {
	{
		.name = "gnatcov",
		.help = "the output of gnatcov dump-trace",
		.shows = shows,
		.kinds = kinds,
		.begins = begins,
		.create = create_dump,
		.put = put,
		.free = destroy,
		.blocks = block_taker,
	},
	{
		.name = "gnatcov-raw",
		.help = "that of dump-trace-raw",
		.shows = shows,
		.kinds = kinds,
		.create = create_raw,
		.put = put,
		.free = destroy,
		.blocks = block_taker,
	},
	{
		.name = "gnatcov-base",
		.help = "that of dump-trace-base",
		.shows = shows,
		.kinds = kinds,
		.create = create_base,
		.put = put,
		.free = destroy,
		.blocks = block_taker,
	},
	{ 0 },
};
