/* SPDX-License-Identifier: MIT */
/*
 * The description of the format, and its reader. If the program is known, the code between two
 * changes of flow is one block for each conditional jump in it; otherwise it is a single block.
 */
#include "format/trace32/trace32.h"

#include <inttypes.h>

#include "core/map.h"
#include "coverage/programs.h"
#include "format/reader_base.h"
#include "symbol/jump.h"

#define TITLE "# Branch Flow trace file"

/* An instruction of the program. */
struct instruction {
	/* address of the first conditional jump or unknown instruction from here on */
	uint64_t stop;
	bool has_stop;
	bool conditional; /* it is a conditional jump */
	uint8_t size;	  /* with its delay slot; 0: it is unknown */
};

/* A line of the list. */
struct entry {
	uint64_t target, caller;
	unsigned digits, caller_digits; /* of the target, of the caller */
	bool thumb;			/* the class of the caller is Thumb code */
};

struct reader {
	struct tr_reader base;
	struct tr_programs programs;
	struct tr_id_map instructions; /* struct instruction, by address */
	struct tr_arena memory;
	bool begun;   /* the section is a record */
	bool wide;    /* its addresses have 64 bits */
	bool flows;   /* `from` is an address that was executed */
	bool waiting; /* `entry` has blocks that are not records yet */
	bool guessed; /* the end of a block was unknown */
	bool over;    /* this list cannot be read */
	uint64_t from;
	struct entry entry;
	uint64_t entry_line;
};

/* Moves *p over the text. False: *p is at something else. */
static bool expect(const char **p, const char *end, struct tr_text text)
{
	if (!tr_text_starts(tr_text_span(*p, end), text))
		return false;
	*p += text.len;
	return true;
}

/* Reads an address with its class, like C:0x20000434. False: it is not one. */
static bool read_address(const char **p, const char *end, uint64_t *address, unsigned *digits,
			 bool *thumb)
{
	const char *class = *p;
	while (*p < end && ((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z')))
		++*p;
	*thumb = *p - class == 1 && *class == 'T';
	if (*p == class || !expect(p, end, TR_TEXT(":0x")))
		return false;
	*address = 0;
	for (*digits = 0; *p < end && *digits < 17; ++*p, ++*digits) {
		int digit = tr_hex_digit(**p);
		if (digit < 0)
			break;
		*address = *address << 4 | (unsigned)digit;
	}
	return *digits >= 1 && *digits <= 16;
}

/* Reads a line of the list. False: it is not one. */
static bool read_entry(struct tr_text line, struct entry *entry)
{
	const char *p = line.data, *end = p + line.len;
	bool ignored;
	if (!read_address(&p, end, &entry->target, &entry->digits, &ignored) ||
	    !expect(&p, end, TR_TEXT(";")))
		return false;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	if (!read_address(&p, end, &entry->caller, &entry->caller_digits, &entry->thumb))
		return false;
	struct tr_text rest = tr_text_trimmed(tr_text_span(p, end));
	return !rest.len || *rest.data == ';'; /* the number of the trace record */
}

/*
 * Finds the instruction at an address in the programs, and decodes it once. NULL: memory is
 * exhausted.
 */
static struct instruction *find_instruction(struct reader *reader, uint64_t address)
{
	enum { LONGEST = 16, SLOT = 4 };
	struct instruction *known = tr_id_map_get(&reader->instructions, address);
	if (known)
		return known;
	known = tr_arena_alloc(&reader->memory, sizeof *known);
	if (!known || !tr_id_map_put(&reader->instructions, address, known))
		return NULL;
	*known = (struct instruction){ .size = 0 };
	struct tr_block block = { .address = address };
	struct tr_error err;
	struct tr_record none = { .type = TR_RECORD };
	const struct tr_loaded_program *loaded =
		tr_programs_place(&reader->programs, &none, &block, &err);
	if (!loaded)
		return known;
	const struct tr_elf *program = loaded->program;
	const struct tr_code_function *f = tr_elf_function(program, block.address);
	uint8_t bytes[LONGEST];
	struct tr_code code = { program->head.machine, program->head.big_endian,
				reader->entry.thumb || (f && f->flags & TR_FUNCTION_THUMB), bytes,
				tr_elf_code(program, block.address, bytes, sizeof bytes) };
	size_t size = tr_jump_instruction(&code);
	bool slot = tr_jump_has_slot(program->head.machine);
	if (!size || (slot && code.size < size + SLOT))
		return known;
	known->size = (uint8_t)(size + (slot ? SLOT : 0));
	code.size = known->size;
	known->conditional = tr_jump_find(&code) == 0;
	return known;
}

/*
 * Finds the first conditional jump, or unknown instruction, from an address on: NULL: memory is
 * exhausted. *stop is its address.
 */
static const struct instruction *find_stop(struct reader *reader, uint64_t from, uint64_t *stop)
{
	struct instruction *first = find_instruction(reader, from), *insn = first;
	if (first && first->has_stop) {
		*stop = first->stop;
		return find_instruction(reader, *stop);
	}
	for (*stop = from; insn && insn->size && !insn->conditional && *stop - from <= UINT16_MAX;
	     insn = find_instruction(reader, *stop))
		*stop += insn->size;
	if (insn) {
		first->stop = *stop;
		first->has_stop = true;
	}
	return insn;
}

/* Delivers a block. */
static enum tr_status put_block(struct reader *reader, uint64_t address, uint64_t size,
				struct tr_text outcome, struct tr_record **record,
				struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;
	tr_reader_begin(&reader->base, "block");
	tr_buffer_put_literal(to, "-\t-\t0x");
	tr_buffer_put_hex(to, address, reader->wide ? 16 : 8);
	tr_buffer_put_literal(to, "\tsize=");
	tr_buffer_put_decimal(to, size);
	tr_buffer_put_literal(to, "\top=block");
	tr_buffer_put_text(to, outcome);
	return tr_reader_deliver(&reader->base, record, err);
}

/* Ends the entry: execution continues at its target. */
static void end_entry(struct reader *reader)
{
	reader->waiting = false;
	reader->flows = true;
	reader->from = reader->entry.target;
}

/*
 * Delivers the next block of the entry: up to a conditional jump that was not taken, or its caller.
 */
static enum tr_status put_next(struct reader *reader, struct tr_record **record,
			       struct tr_error *err)
{
	const struct entry *entry = &reader->entry;
	uint64_t stop, at = reader->from;
	reader->base.source_line = reader->entry_line;
	if (entry->caller < at || entry->caller - at > UINT16_MAX - UINT8_MAX) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: code between 0x%" PRIx64 " and 0x%" PRIx64
			     ", because changes of flow are missing there",
			     at, entry->caller);
		tr_error_at_line(err, reader->entry_line);
		end_entry(reader);
		return TR_WARN;
	}
	const struct instruction *insn = find_stop(reader, at, &stop);
	if (!insn)
		return tr_error_memory(err);
	if (insn->conditional && stop < entry->caller && insn->size <= entry->caller - stop) {
		reader->from = stop + insn->size;
		return put_block(reader, at, insn->size + stop - at, TR_TEXT("|br1"), record, err);
	}
	insn = find_instruction(reader, entry->caller);
	if (!insn)
		return tr_error_memory(err);
	bool known = insn->size > 0;
	reader->guessed |= !known;
	uint64_t size = entry->caller - at + (known ? insn->size : 1);
	struct tr_text outcome = TR_TEXT("");
	if (known && insn->conditional)
		outcome = entry->target == at + size ? TR_TEXT("|br1") : TR_TEXT("|br0");
	end_entry(reader);
	return put_block(reader, at, size, outcome, record, err);
}

/* Delivers the section, before the first block of its width. */
static enum tr_status put_section(struct reader *reader, struct tr_record **record,
				  struct tr_error *err)
{
	struct tr_buffer *to = &reader->base.line;
	reader->begun = true;
	reader->base.source_line = reader->entry_line;
	tr_reader_begin(&reader->base, "section");
	tr_buffer_put_literal(to, "-\t-\tHISTORY\tbits=");
	tr_buffer_put_decimal(to, reader->wide ? 64 : 32);
	return tr_reader_deliver(&reader->base, record, err);
}

/* Checks a line of the head. False: the list has no callers, and err is filled. */
static bool check_head(struct reader *reader, struct tr_text line, struct tr_error *err)
{
	if (!tr_text_starts(line, TR_TEXT("# target")) ||
	    tr_text_starts(line, TR_TEXT("# target; caller")))
		return true;
	reader->over = true;
	tr_error_say(err, TR_CAUSE_INPUT,
		     "the list has no callers: export it with the options /NOSYMBOL /CALLER");
	tr_error_at_line(err, reader->base.lines);
	return false;
}

/* Handles a line. TR_END: an entry, or a line without one; TR_WARN: it is left out. */
static enum tr_status take_line(struct reader *reader, struct tr_text line, bool ended,
				struct tr_error *err)
{
	struct entry entry;
	if (tr_text_starts(line, TR_TEXT("#")))
		return check_head(reader, line, err) ? TR_END : TR_WARN;
	if (!tr_text_trimmed(line).len)
		return TR_END;
	bool good = read_entry(line, &entry);
	bool cut = !ended && (!good || entry.caller_digits < entry.digits);
	if (!good || cut) {
		reader->flows = false;
		tr_error_say(err, cut ? TR_CAUSE_CUT : TR_CAUSE_INPUT,
			     cut ? "left out: a truncated line"
				 : "left out: a line that is not TARGET; CALLER, and the code "
				   "between the lines before and after it");
		tr_error_at_line(err, reader->base.lines);
		return TR_WARN;
	}
	reader->entry = entry;
	reader->entry_line = reader->base.lines;
	if (!reader->wide && (entry.digits > 8 || entry.caller_digits > 8)) {
		reader->wide = true;
		reader->begun = false;
	}
	if (reader->flows)
		reader->waiting = true;
	else
		end_entry(reader); /* the origin of the flow is unknown */
	return TR_END;
}

/* Notes at the end that ends of blocks were unknown. */
static bool note_sizes(struct reader *reader, struct tr_error *err)
{
	if (!reader->guessed)
		return false;
	reader->guessed = false;
	tr_error_say(err, TR_CAUSE_INPUT,
		     reader->programs.count
			     ? "some callers are not in the program of -O exe: they count as one "
			       "byte, and have no outcome"
			     : "the list has no sizes of instructions: the last one of a block "
			       "counts as one byte, and jumps have no outcome, unless -O exe=PROG "
			       "names the program");
	tr_error_is_note(err);
	return true;
}

/* Handles a line, or delivers a record of the pending entry. */
static enum tr_status step(struct tr_reader *base, struct tr_record **record, struct tr_error *err)
{
	struct reader *reader = tr_container(base, struct reader, base);
	struct tr_text line;
	bool ended;
	if (reader->waiting)
		return reader->begun ? put_next(reader, record, err)
				     : put_section(reader, record, err);
	enum tr_status status = reader->over ? TR_END : tr_reader_line(base, &line, &ended, err);
	if (status == TR_OK)
		return take_line(reader, line, ended, err);
	if (status != TR_END)
		return status;
	if (note_sizes(reader, err))
		return TR_WARN;
	base->step = NULL;
	return TR_END;
}

static void close_reader(struct tr_reader *base)
{
	struct reader *reader = tr_container(base, struct reader, base);
	tr_programs_free(&reader->programs);
	tr_id_map_free(&reader->instructions);
	tr_arena_free(&reader->memory);
}

static struct tr_reader *open_reader(const struct tr_read_config *config, struct tr_input *in,
				     struct tr_error *err)
{
	struct reader *reader =
		tr_reader_new(sizeof *reader, tr_reader_next, close_reader, config, in, err);
	if (!reader)
		return NULL;
	reader->base.step = step;
	if (tr_setting_programs(&config->settings, &reader->programs, err))
		return &reader->base;
	tr_reader_free(&reader->base);
	return NULL;
}

/* The head: a line of #, and the title. */
static int bid(struct tr_input *in)
{
	enum { PROBE = 256 };
	const char *p, *end;
	if (!tr_input_more(in, 1) || *in->pos != '#')
		return 0;
	tr_input_more(in, PROBE);
	p = in->pos;
	end = in->end;
	while (p < end && *p == '#')
		p++;
	while (p < end && (*p == '\r' || *p == '\n'))
		p++;
	return p > in->pos && tr_text_starts(tr_text_span(p, end), TR_TEXT(TITLE))
		       ? 8 * (int)sizeof TITLE
		       : 0;
}

static const struct tr_format_option options[] = {
	{ "exe", "PROG", true, false,
	  "the program, for sizes of instructions and outcomes of jumps (repeatable)" },
	{ "base", "ADDRESS", true, false,
	  "load address of the first program (0x...), or of another one (NAME=0x...; repeatable)" },
	{ 0 },
};

const struct tr_format tr_format_trace32 = {
	.name = "trace32",
	.summary = "branch flow exported by Lauterbach TRACE32",
	.exact = "-",
	.flags = TR_FORMAT_READS,
	.options = options,
	.bid = bid,
	.open = open_reader,
	.default_style = "gnatcov",
};
