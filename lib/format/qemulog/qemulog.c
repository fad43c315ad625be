/* SPDX-License-Identifier: MIT */
/*
 * The description of the format, and its reader. A block is held until the next line is read: that
 * may report that the block was not executed, or is the block to which it jumped.
 */
#include "format/qemulog/qemulog.h"

#include "core/map.h"
#include "format/reader_base.h"

/* A block that was translated. */
struct code {
	uint64_t size;
	uint64_t target; /* the address that its last instruction names */
	bool has_target;
};

/* A Trace line. */
struct step {
	uint64_t pc, cpu;
	unsigned digits; /* of the pc */
};

struct reader {
	struct tr_reader base;
	struct tr_id_map blocks; /* struct code, by address */
	struct tr_arena memory;
	struct code *open; /* the block whose instructions are being read; NULL: none */
	uint64_t first;	   /* its address */
	bool in_code;	   /* after IN: */
	bool begun;	   /* the section is a record */
	/* whether instructions have bytes: the first one decides */
	enum { UNKNOWN, WITH_BYTES, WITHOUT_BYTES } bytes;
	bool noted;
	bool held; /* `last` is a block that is not a record yet */
	bool gap;  /* a line after it could not be read */
	struct step last;
	uint64_t last_line;
	struct step next; /* a step that is due after the section */
};

/* Moves *p over blanks. */
static void skip_blanks(const char **p, const char *end)
{
	while (*p < end && **p == ' ')
		++*p;
}

/* Reads up to 16 hex digits, and moves *p over them; returns their number. */
static unsigned hex(const char **p, const char *end, uint64_t *number)
{
	unsigned digits = 0;
	for (*number = 0; *p < end && digits < 17; ++*p, digits++) {
		int digit = tr_hex_digit(**p);
		if (digit < 0)
			break;
		*number = *number << 4 | (unsigned)digit;
	}
	return digits > 16 ? 0 : digits;
}

/* Moves *p over the text. False: *p is at something else. */
static bool expect(const char **p, const char *end, struct tr_text text)
{
	if (!tr_text_starts(tr_text_span(*p, end), text))
		return false;
	*p += text.len;
	return true;
}

/* Reads a Trace line. False: it is not one, or it is truncated. */
static bool read_step(struct tr_text line, struct step *step)
{
	const char *p = line.data, *end = p + line.len, *close;
	uint64_t number;
	step->cpu = 0;
	if (!expect(&p, end, TR_TEXT("Trace ")))
		return false;
	const char *colon = memchr(p, ':', (size_t)(end - p));
	if (colon && tr_decimal_read(tr_text_span(p, colon), UINT32_MAX, &step->cpu))
		p = colon + 1;
	skip_blanks(&p, end);
	if (!expect(&p, end, TR_TEXT("0x")) || !hex(&p, end, &number) ||
	    !expect(&p, end, TR_TEXT(" [")))
		return false;
	close = memchr(p, ']', (size_t)(end - p));
	if (!close)
		return false;
	/* cs_base/pc/flags, or CPU: pc, or the pc alone */
	const char *slash = memchr(p, '/', (size_t)(close - p));
	colon = memchr(p, ':', (size_t)(close - p));
	if (slash) {
		p = slash + 1;
	} else if (colon) {
		if (!tr_decimal_read(tr_text_span(p, colon), UINT32_MAX, &step->cpu))
			return false;
		p = colon + 1;
		skip_blanks(&p, end);
	}
	step->digits = hex(&p, close, &step->pc);
	return step->digits && (p == close || *p == '/');
}

/*
 * Reads the address and the bytes of an instruction. False: the line is not one. *rest is what
 * follows; *size is 0 if the line has no bytes.
 */
static bool read_instruction(struct tr_text line, uint64_t *address, uint64_t *size,
			     struct tr_text *rest)
{
	const char *p = line.data, *end = p + line.len;
	if (!expect(&p, end, TR_TEXT("0x")) || !hex(&p, end, address) ||
	    !expect(&p, end, TR_TEXT(":")))
		return false;
	skip_blanks(&p, end);
	*size = 0;
	/*
	 * groups of 2, 4 or 8 digits, separated by one blank; more blanks precede the mnemonic
	 */
	while (p < end) {
		const char *group = p;
		uint64_t bytes;
		unsigned digits = hex(&p, end, &bytes);
		if ((digits != 2 && digits != 4 && digits != 8) || (p < end && *p != ' ')) {
			p = group;
			break;
		}
		*size += digits / 2;
		if (end - p >= 2 && p[1] == ' ')
			break;
		p += p < end;
	}
	*rest = tr_text_span(p, end);
	return true;
}

/* Finds the last address that an instruction names. */
static bool find_target(struct tr_text text, uint64_t *target)
{
	bool found = false;
	for (const char *p = text.data, *end = p + text.len; p < end; p++) {
		const char *number = p;
		if (!expect(&number, end, TR_TEXT("0x")) || (p > text.data && p[-1] == '('))
			continue;
		found = hex(&number, end, target) > 0 && (number == end || *number == ' ');
		p = number - 1;
	}
	return found;
}

/* Takes a line after IN:. False: memory is exhausted. */
static bool read_code(struct reader *reader, struct tr_text line)
{
	uint64_t address, size;
	struct tr_text rest;
	if (!read_instruction(line, &address, &size, &rest)) {
		reader->in_code = reader->open && line.len;
		return true;
	}
	if (!reader->open) {
		reader->open = tr_id_map_get(&reader->blocks, address);
		if (!reader->open) {
			reader->open = tr_arena_alloc(&reader->memory, sizeof *reader->open);
			if (!reader->open || !tr_id_map_put(&reader->blocks, address, reader->open))
				return false;
			reader->open->has_target = false;
		}
		reader->first = address;
	}
	if (reader->bytes == UNKNOWN)
		reader->bytes = size ? WITH_BYTES : WITHOUT_BYTES;
	bool has_bytes = reader->bytes == WITH_BYTES && size;
	reader->open->size = address - reader->first + (has_bytes ? size : 1);
	bool continued = has_bytes && !tr_text_trimmed(rest).len;
	if (!continued)
		reader->open->has_target = find_target(rest, &reader->open->target);
	return true;
}

/* Delivers the section, before the first block. */
static enum tr_status put_section(struct reader *reader, const struct step *step,
				  struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;
	reader->begun = true;
	tr_reader_begin(&reader->base, "section");
	tr_buffer_put_literal(to, "-\t-\tHISTORY\tbits=");
	tr_buffer_put_decimal(to, step->digits > 8 ? 64 : 32);
	return tr_reader_deliver(&reader->base, record, err);
}

/* Delivers the block that is held. next: the step after it, or NULL. */
static enum tr_status put_block(struct reader *reader, const struct step *next,
				struct tr_record **record, struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;
	const struct step *step = &reader->last;
	const struct code *code = tr_id_map_get(&reader->blocks, step->pc);
	reader->base.source_line = reader->last_line;
	reader->held = false;
	if (!code || code->size > UINT16_MAX) {
		tr_error_say(err, TR_CAUSE_INPUT,
			     "left out: a block whose instructions are not in the log (-d in_asm "
			     "shows them)");
		tr_error_at_line(err, reader->last_line);
		return TR_WARN;
	}
	tr_reader_begin(&reader->base, "block");
	tr_buffer_put_literal(to, "-\t");
	tr_buffer_put_decimal(to, step->cpu);
	tr_buffer_put_literal(to, "\t0x");
	tr_buffer_put_hex(to, step->pc, step->digits > 8 ? 16 : 8);
	tr_buffer_put_literal(to, "\tsize=");
	tr_buffer_put_decimal(to, code->size);
	tr_buffer_put_literal(to, "\top=block");
	/* the outcome of a direct jump; other instructions have none */
	if (next && next->cpu == step->cpu && code->has_target) {
		if (next->pc == code->target)
			tr_buffer_put_literal(to, "|br0");
		else if (next->pc == step->pc + code->size)
			tr_buffer_put_literal(to, "|br1");
	}
	return tr_reader_deliver(&reader->base, record, err);
}

/* Whether the line reports that the held block was not executed. */
static bool is_stopped(const struct reader *reader, struct tr_text line)
{
	uint64_t pc;
	const char *p = line.data, *end = p + line.len;
	if (!reader->held ||
	    !tr_text_starts(line, TR_TEXT("Stopped execution of TB chain before ")))
		return false;
	p = memchr(p, '[', line.len);
	return p && ++p < end && hex(&p, end, &pc) && pc == reader->last.pc;
}

/* Notes once that the log has no bytes of instructions. */
static bool note_sizes(struct reader *reader, struct tr_error *err)
{
	if (reader->bytes != WITHOUT_BYTES || reader->noted)
		return false;
	reader->noted = true;
	tr_error_say(err, TR_CAUSE_INPUT,
		     "the log has no instruction bytes: the last instruction of a block counts "
		     "as one byte");
	tr_error_is_note(err);
	return true;
}

static enum tr_status next(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_text line;
	struct step step;
	bool ended;
	tr_arena_reset(&base->arena);
	enum tr_status status = tr_reader_due(base, record, err);
	if (status != TR_END)
		return status;
	for (;;) {
		if (reader->begun && reader->next.digits) {
			/* the step that is due after the section */
			reader->last = reader->next;
			reader->next.digits = 0;
			reader->held = true;
		}
		status = tr_reader_line(base, &line, &ended, err);
		if (status == TR_END && reader->held)
			return put_block(reader, NULL, record, err);
		if (status == TR_END && note_sizes(reader, err))
			return TR_WARN;
		if (status != TR_OK)
			return status;
		if (tr_text_starts(line, TR_TEXT("IN:"))) {
			reader->in_code = true;
			reader->open = NULL;
		} else if (reader->in_code) {
			if (!read_code(reader, line))
				return tr_error_memory(err);
		} else if (is_stopped(reader, line)) {
			reader->held = false;
		}
		if (!tr_text_starts(line, TR_TEXT("Trace ")))
			continue;
		reader->in_code = false;
		if (!read_step(line, &step)) {
			reader->gap = true;
			tr_error_say(err, ended ? TR_CAUSE_INPUT : TR_CAUSE_CUT,
				     ended ? "left out: a Trace line in an unknown form"
					   : "left out: a truncated line");
			tr_error_at_line(err, base->lines);
			return TR_WARN;
		}
		if (!reader->begun) {
			reader->next = step;
			reader->last_line = base->lines;
			base->source_line = base->lines;
			return put_section(reader, &step, record, err);
		}
		if (!reader->held) {
			reader->last = step;
			reader->last_line = base->lines;
			reader->held = true;
			continue;
		}
		status = put_block(reader, reader->gap ? NULL : &step, record, err);
		reader->gap = false;
		reader->last = step;
		reader->last_line = base->lines;
		reader->held = true;
		return status;
	}
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);
	tr_id_map_free(&reader->blocks);
	tr_arena_free(&reader->memory);
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *reader = tr_reader_new(sizeof *reader, next, close_reader, config, in, err);
	return reader ? &reader->base : NULL;
}

/* Searches for a step, or for the listing of a block. */
static int weigh(const char *begin, const char *end, void *context)
{
	enum { BITS = 64 };
	struct step step;
	(void)context;
	for (const char *p = begin, *lf; (lf = memchr(p, '\n', (size_t)(end - p))) != NULL;
	     p = lf + 1)
		if (read_step(tr_text_span(p, lf), &step) ||
		    tr_text_starts(tr_text_span(p, end), TR_TEXT("----------------\nIN:")))
			return BITS;
	return 0;
}

static int bid(struct tr_input *in)
{
	enum { PROBE = 16 << 10 }; /* pages and system calls may come first */
	/* lines that may come first: dashes, Trace, and QEMU's remarks about memory */
	static const char *const heads[] = { "----------------",    "Trace ",
					     "host mmap_min_addr=", "Locating guest ",
					     "page layout",	    "guest_base ",
					     "Reserved 0x" };
	if (!tr_input_more(in, 1) || !strchr("-ThLpgR", *in->pos))
		return 0;
	tr_input_more(in, 24);
	struct tr_text window = tr_text_span(in->pos, in->end);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (tr_text_starts(window, tr_text_from(heads[i])))
			return tr_bid_by_lines(in, PROBE, weigh, NULL);
	return 0;
}

/* Logs with the system calls of -strace begin with one of these. */
static int search(struct tr_input *in, const struct tr_settings *settings)
{
	(void)settings;
	enum { PROBE = 64 << 10 };
	return tr_bid_by_lines(in, PROBE, weigh, NULL);
}

static const char *const extensions[] = { ".log", NULL };

const struct tr_format tr_format_qemulog = {
	.name = "qemulog",
	.summary = "QEMU's log of executed blocks, -d in_asm,exec,nochain",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.extensions = extensions,
	.bid = bid,
	.search = search,
	.open = open_reader,
	.default_style = "gnatcov",
};
