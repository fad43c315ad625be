/* Section headers. */
#include "config.h"

#include <stdlib.h>

#include "format/gnatcov/reader.h"
#include "core/wire.h"

static enum tr_status lost(struct tr_gnatcov_reader *reader, size_t skip, struct tr_error *err)
{
	tr_error_at_offset(err, reader->in->offset);
	tr_input_skip(reader->in, skip);
	reader->state = TR_GNATCOV_LOST;
	return TR_WARN;
}

/* Fewer bytes than a header has. */
static enum tr_status no_header(struct tr_gnatcov_reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;
	size_t left = tr_input_available(in);

	if (!in->at_end || in->damaged)
		return tr_gnatcov_stuck(reader); /* the cut is reported with its cause */
	if (left == 0 && !reader->begun)
		tr_error_set(err, TR_CAUSE_CUT, "the file is empty");
	else if (left == 0)
		tr_error_set(err, TR_CAUSE_CUT,
			     "the file ends after its information: no section of entries");
	else
		tr_error_set(err, TR_CAUSE_CUT,
			     "truncated: %zu of the %d bytes of a section header", left,
			     TR_GNATCOV_HEADER_SIZE);
	return tr_gnatcov_cut(reader, err);
}

static bool decode(const char *p, struct tr_gnatcov_section *section, struct tr_error *err)
{
	const unsigned char *byte = (const unsigned char *)p;

	*section = (struct tr_gnatcov_section){
		.kind = byte[13],
		.pc_size = byte[14],
		.big = byte[15] == 1,
		.machine = (uint16_t)(byte[16] << 8 | byte[17]),
		.pad = (uint16_t)tr_wire_pad(p + 18, 2),
	};
	if (byte[12] != TR_GNATCOV_VERSION)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "version %u of the format is unknown: only version 1 is supported", byte[12]);
	else if (byte[15] > 1)
		tr_error_set(err, TR_CAUSE_INPUT, "byte order %u: neither 0, little, nor 1, big",
			     byte[15]);
	else if (section->kind == TR_GNATCOV_CONSOLIDATED)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "section of kind 248, CONSOLIDATED: nothing reads these");
	else if (section->kind >= TR_GNATCOV_KINDS)
		tr_error_set(err, TR_CAUSE_INPUT, "section of unknown kind %u", section->kind);
	else if (section->kind != TR_GNATCOV_INFO && section->pc_size != 4 && section->pc_size != 8)
		tr_error_set(err, TR_CAUSE_INPUT, "addresses of %u bytes: neither 4 nor 8",
			     section->pc_size);
	else
		return true;
	return false;
}

/* A section where gnatcov wants another one; it is read all the same. */
static bool is_out_of_place(const struct tr_gnatcov_reader *reader,
			    const struct tr_gnatcov_section *section, struct tr_error *err)
{
	bool after_info = reader->begun && reader->section.kind == TR_GNATCOV_INFO;
	const char *name = tr_gnatcov_kind_name(section->kind);

	if (!reader->begun &&
	    (section->kind == TR_GNATCOV_FLAT || section->kind == TR_GNATCOV_HISTORY)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the first section is %s, without information before it (an "
			     "emulator's own output?)",
			     name);
		return true;
	}
	if (after_info &&
	    (section->kind == TR_GNATCOV_INFO || section->kind == TR_GNATCOV_DECISION_MAP)) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a section %s where FLAT or HISTORY has to follow the information",
			     name);
		return true;
	}
	return false;
}

static struct tr_value word(struct tr_gnatcov_reader *reader, const char *name, int64_t number)
{
	struct tr_symbol *symbol = tr_arena_alloc(&reader->arena, sizeof *symbol);
	struct tr_name *names = tr_arena_alloc(&reader->arena, sizeof *names);

	if (!symbol || !names)
		return (struct tr_value){ .type = TR_STRING }; /* without text: memory is out */
	*symbol = (struct tr_symbol){ .names = names, .count = name != NULL };
	if (number >= 0) {
		symbol->numbered = TR_SYMBOL_ENUM;
		symbol->number = (uint64_t)number;
	}
	names->text = tr_text_from(name);
	return (struct tr_value){ .type = TR_SYMBOL, .as.symbol = symbol };
}

static bool build(struct tr_gnatcov_reader *reader, const struct tr_gnatcov_section *section)
{
	const char *machine = tr_gnatcov_machine_name(section->machine);
	struct tr_cell name = { .type = TR_CELL_TEXT,
				.text = tr_text_from(tr_gnatcov_kind_name(section->kind)) };
	struct tr_value bits = { .type = TR_UINT, .as.number = section->pc_size * 8u };

	tr_gnatcov_begin(reader, "section", name);
	if (!tr_gnatcov_add(reader, "bits", bits) ||
	    !tr_gnatcov_add(reader, "endian", word(reader, section->big ? "big" : "little", -1)) ||
	    !tr_gnatcov_add(reader, "machine", word(reader, machine, section->machine)))
		return false;
	struct tr_value pad = { .type = TR_POINTER, .as.number = section->pad };
	return !section->pad || tr_gnatcov_add(reader, ".pad", pad);
}

static void begin_section(struct tr_gnatcov_reader *reader,
			  const struct tr_gnatcov_section *section)
{
	bool after_info = reader->begun && reader->section.kind == TR_GNATCOV_INFO;

	if (section->kind == TR_GNATCOV_INFO || !after_info) {
		/* what was said of another run does not hold here */
		reader->kernel = reader->kernel_asked = false;
	}
	reader->loaded = false;
	tr_objects_clear(&reader->objects);
	reader->section = *section;
	reader->begun = true;
	reader->state = section->kind == TR_GNATCOV_INFO ? TR_GNATCOV_AT_INFO : TR_GNATCOV_AT_ENTRY;
}

enum tr_status tr_gnatcov_read_header(struct tr_gnatcov_reader *reader, struct tr_record **record,
				      struct tr_error *err)
{
	struct tr_input *in = reader->in;
	struct tr_gnatcov_section section;

	if (!tr_input_more(in, TR_GNATCOV_HEADER_SIZE))
		return no_header(reader, err);
	if (memcmp(in->pos, TR_GNATCOV_MAGIC, TR_GNATCOV_MAGIC_SIZE) != 0) {
		tr_error_set(err, TR_CAUSE_INPUT, "no section header where one is due");
		return lost(reader, 0, err);
	}
	if (!decode(in->pos, &section, err))
		return lost(reader, TR_GNATCOV_MAGIC_SIZE, err);
	if (is_out_of_place(reader, &section, err) && tr_gnatcov_tell(reader, err))
		return TR_WARN;
	if (!build(reader, &section))
		return tr_error_memory(err);
	begin_section(reader, &section);
	tr_input_skip(in, TR_GNATCOV_HEADER_SIZE);
	return tr_gnatcov_hand_out(reader, record);
}
