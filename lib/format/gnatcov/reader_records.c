/* SPDX-License-Identifier: MIT */
/* Section headers, information and special entries as records. */
#include "format/gnatcov/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire.h"
#include "coverage/date.h"
#include "record/literal.h"

/* One information entry in the window. */
struct info {
	uint32_t tag;
	struct tr_text data; /* in the window */
	uint32_t pad;	     /* its bytes as one number, 0 as it should be */
	size_t size;	     /* of all of it */
};

/*
 * True when a flaw of what stands at pos has not been told: err (already set)
 * becomes one that loses nothing, and what it is about is passed on next.
 */
static bool tell(struct tr_gnatcov_reader *reader, struct tr_error *err)
{
	if (reader->told_at == reader->in->offset)
		return false;
	reader->told_at = reader->in->offset;
	err->severity = TR_FLAW;
	tr_error_at_offset(err, reader->in->offset);
	return true;
}

enum tr_status tr_gnatcov_cut(struct tr_gnatcov_reader *reader, struct tr_error *err)
{
	struct tr_input *in = reader->in;

	err->cause = TR_CAUSE_CUT;
	if (err->offset == TR_NO_POSITION)
		tr_error_at_offset(err, in->offset);
	tr_input_skip(in, tr_input_available(in));
	reader->state = TR_GNATCOV_DONE;
	return TR_WARN;
}

enum tr_status tr_gnatcov_stuck(struct tr_gnatcov_reader *reader)
{
	reader->state = TR_GNATCOV_DONE;
	return TR_END;
}

/* Starts reader->record; then fields, then the record can be handed out. */
static void begin(struct tr_gnatcov_reader *reader, const char *kind, struct tr_cell name)
{
	struct tr_record *record = &reader->record;

	tr_record_init(record, &reader->arena);
	record->kind = tr_text_from(kind);
	record->seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = reader->seq };
	record->name = name;
	record->split = true;
	record->source_offset = reader->in->offset;
}

/* Adds a field; false: memory. */
static bool add(struct tr_gnatcov_reader *reader, const char *key, struct tr_value value)
{
	struct tr_value *kept = tr_arena_alloc(&reader->arena, sizeof *kept);

	if (!kept || (value.type == TR_STRING && !value.text.data))
		return false;
	*kept = value;
	return tr_record_add(&reader->record, tr_text_from(key), kept) != NULL;
}

/* A string value of any bytes, in the arena. text.data is NULL when memory is
 * out. */
static struct tr_value string(struct tr_gnatcov_reader *reader, struct tr_text bytes)
{
	tr_buffer_reset(&reader->text);
	bool plain = tr_string_escape(bytes, &reader->text);
	struct tr_value value = { .type = TR_STRING, .flags = plain ? TR_PLAIN : 0 };
	if (!reader->text.failed)
		value.text = tr_arena_copy(&reader->arena, tr_buffer_text(&reader->text));
	return value;
}

/* Hands out reader->record. */
static enum tr_status hand_out(struct tr_gnatcov_reader *reader, struct tr_record **record)
{
	reader->seq++;
	*record = &reader->record;
	return TR_OK;
}

static enum tr_status no_section(struct tr_gnatcov_reader *reader, size_t skip,
				 struct tr_error *err)
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
			     "version %u of the format is unknown: only version 1 is supported",
			     byte[12]);
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

static bool build_section(struct tr_gnatcov_reader *reader,
			  const struct tr_gnatcov_section *section)
{
	const char *machine = tr_gnatcov_machine_name(section->machine);
	struct tr_cell name = { .type = TR_CELL_TEXT,
				.text = tr_text_from(tr_gnatcov_kind_name(section->kind)) };
	struct tr_value bits = { .type = TR_UINT, .as.number = section->pc_size * 8u };

	begin(reader, "section", name);
	if (!add(reader, "bits", bits) ||
	    !add(reader, "endian", word(reader, section->big ? "big" : "little", -1)) ||
	    !add(reader, "machine", word(reader, machine, section->machine)))
		return false;
	struct tr_value pad = { .type = TR_POINTER, .as.number = section->pad };
	return !section->pad || add(reader, ".pad", pad);
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
		return no_section(reader, 0, err);
	}
	if (!decode(in->pos, &section, err))
		return no_section(reader, TR_GNATCOV_MAGIC_SIZE, err);
	if (is_out_of_place(reader, &section, err) && tell(reader, err))
		return TR_WARN;
	if (!build_section(reader, &section))
		return tr_error_memory(err);
	begin_section(reader, &section);
	tr_input_skip(in, TR_GNATCOV_HEADER_SIZE);
	return hand_out(reader, record);
}

/*
 * No list is out of step for a tag that is merely new; but a tag like this one
 * is no tag, and its length no length.
 */
enum { ABSURD_TAG = 0x10000 };

/* The entry `at` bytes behind pos is none: what follows it is looked through
 * for a header. */
static enum tr_status lost(struct tr_gnatcov_reader *reader, size_t at, struct tr_error *err)
{
	tr_error_at_offset(err, reader->in->offset + at);
	tr_input_skip(reader->in, at + TR_GNATCOV_INFO_SIZE);
	reader->state = TR_GNATCOV_LOST;
	return TR_WARN;
}

static enum tr_status cut_info(struct tr_gnatcov_reader *reader, size_t at, struct tr_error *err)
{
	if (!reader->in->at_end || reader->in->damaged)
		return tr_gnatcov_stuck(reader);
	tr_error_at_offset(err, reader->in->offset + at);
	return tr_gnatcov_cut(reader, err);
}

static const char *shown_tag(uint32_t tag)
{
	const char *name = tr_gnatcov_tag_name(tag);

	return name ? name : "of unknown kind";
}

/* The end of a list, which has no data. */
static enum tr_status list_end(struct tr_gnatcov_reader *reader, size_t at, const struct info *info,
			       struct tr_error *err)
{
	if (info->data.len == 0)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT, "the end of the information has %zu bytes of data",
		     info->data.len);
	return lost(reader, at, err);
}

/*
 * The information entry `at` bytes behind the window's pos. TR_OK: the whole of
 * it is there; TR_GNATCOV_END is the tag of the list's end. TR_WARN: err says
 * what is wrong; the reader's state says how to go on. TR_END: the window is
 * damaged, so is the reader's state.
 */
static enum tr_status info_at(struct tr_gnatcov_reader *reader, size_t at, struct info *info,
			      struct tr_error *err)
{
	struct tr_input *in = reader->in;
	bool big = reader->section.big;

	if (!tr_input_more(in, at + TR_GNATCOV_INFO_SIZE)) {
		tr_error_set(err, TR_CAUSE_CUT, "truncated inside its information");
		return cut_info(reader, at, err);
	}
	info->tag = tr_wire_u32(in->pos + at, big);
	info->data.len = tr_wire_u32(in->pos + at + 4, big);
	info->size = TR_GNATCOV_INFO_SIZE;
	if (info->tag == TR_GNATCOV_END)
		return list_end(reader, at, info, err);
	if (info->tag >= ABSURD_TAG) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown kind of information: 0x%08" PRIx32,
			     info->tag);
		return lost(reader, at, err);
	}
	unsigned padding = (unsigned)-info->data.len % TR_GNATCOV_INFO_ALIGN;
	info->size += info->data.len + padding;
	if (!tr_input_more(in, at + info->size)) {
		tr_error_set(err, TR_CAUSE_CUT,
			     "truncated: information %s has %zu bytes, and %zu are left",
			     shown_tag(info->tag), info->data.len,
			     tr_input_available(in) - at - TR_GNATCOV_INFO_SIZE);
		return cut_info(reader, at, err);
	}
	info->data.data = in->pos + at + TR_GNATCOV_INFO_SIZE;
	info->pad = (uint32_t)tr_wire_pad(info->data.data + info->data.len, padding);
	return TR_OK;
}

/* Data of such a tag is a number in digits. */
static bool is_number(uint32_t tag)
{
	return tag == TR_GNATCOV_EXEC_FILE_SIZE || tag == TR_GNATCOV_EXEC_FILE_CRC32 ||
	       tag == TR_GNATCOV_EXEC_CODE_SIZE;
}

/* What gnatcov does not take, or takes for something else. */
static bool has_flaw(const struct tr_gnatcov_reader *reader, const struct info *info,
		     struct tr_error *err)
{
	struct tr_trace_date date;

	if (!tr_gnatcov_tag_name(info->tag)) {
		tr_error_set(err, TR_CAUSE_INPUT, "unknown kind of information: 0x%08" PRIx32,
			     info->tag);
		return true;
	}
	if (info->pad) {
		tr_error_set(err, TR_CAUSE_INPUT, "padding after information %s is not zero",
			     shown_tag(info->tag));
		return true;
	}
	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    tr_trace_date_read(info->data, reader->section.big, &date))
		return false;
	tr_error_set(err, TR_CAUSE_INPUT, "DATE_TIME is no date of 8 bytes");
	return true;
}

/* The cell or key of a tag. NULL: memory. */
static const char *tag_text(struct tr_gnatcov_reader *reader, uint32_t tag)
{
	enum { MAX_DIGITS = 11 };
	const char *name = tr_gnatcov_tag_name(tag);
	char *digits = name ? NULL : tr_arena_alloc(&reader->arena, MAX_DIGITS);

	if (digits) {
		struct tr_buffer to = tr_buffer_over(digits, MAX_DIGITS);
		tr_buffer_put_decimal(&to, tag);
		tr_buffer_put_byte(&to, '\0');
		name = digits;
	}
	return name; /* NULL: memory */
}

/* Adds .pad where it is not zero; false: memory. */
static bool add_pad(struct tr_gnatcov_reader *reader, uint64_t pad)
{
	struct tr_value value = { .type = TR_POINTER, .as.number = pad };

	return !pad || add(reader, ".pad", value);
}

/* What the data means, where it means a date or a number. */
static bool add_decoded(struct tr_gnatcov_reader *reader, const struct info *info)
{
	struct tr_value value = { .type = TR_UINT };
	struct tr_trace_date date;

	if (is_number(info->tag) && tr_ada_number(info->data, &value.as.number))
		return add(reader, "value", value);
	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(info->data, reader->section.big, &date))
		return true;
	tr_buffer_reset(&reader->text);
	tr_trace_date_write(&date, &reader->text);
	value = (struct tr_value){ .type = TR_STRING,
				   .flags = TR_PLAIN,
				   .text = tr_arena_copy(&reader->arena,
							 tr_buffer_text(&reader->text)) };
	return !reader->text.failed && add(reader, "value", value);
}

static bool build_info(struct tr_gnatcov_reader *reader, const struct info *info)
{
	struct tr_cell name = { .type = TR_CELL_TEXT,
				.text = tr_text_from(tag_text(reader, info->tag)) };

	if (!name.text.data)
		return false;
	begin(reader, "info", name);
	return add(reader, "data", string(reader, info->data)) && add_decoded(reader, info) &&
	       add_pad(reader, info->pad);
}

/* A note is told once as well, and what it is about follows. */
static bool tell_swapped_year(struct tr_gnatcov_reader *reader, const struct info *info,
			      struct tr_error *err)
{
	struct tr_trace_date date;

	if (info->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(info->data, reader->section.big, &date) || !date.swapped)
		return false;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the year of DATE_TIME is not in the section's byte "
		     "order: taken as %u",
		     date.year);
	if (!tell(reader, err))
		return false;
	tr_error_is_note(err);
	return true;
}

enum tr_status tr_gnatcov_read_info(struct tr_gnatcov_reader *reader, struct tr_record **record,
				    struct tr_error *err)
{
	struct info info;
	enum tr_status status = info_at(reader, 0, &info, err);

	if (status != TR_OK)
		return status;
	if (info.tag == TR_GNATCOV_END) {
		tr_input_skip(reader->in, info.size);
		reader->state = TR_GNATCOV_AT_HEADER;
		return TR_END;
	}
	if ((has_flaw(reader, &info, err) && tell(reader, err)) ||
	    tell_swapped_year(reader, &info, err))
		return TR_WARN;
	if (!build_info(reader, &info))
		return tr_error_memory(err);
	if (info.tag == TR_GNATCOV_KERNEL_FILE_NAME && !reader->kernel_asked) {
		reader->kernel_asked = true;
		reader->kernel = info.data.len > 0;
	}
	tr_input_skip(reader->in, info.size);
	return hand_out(reader, record);
}

/* What is asked of a shared object, and what came. */
struct loaded {
	bool named, stamped;
	uint64_t file_size, crc, code_size;
	bool bad_number, bad_tag;
};

static void note_tag(struct loaded *loaded, const struct info *info)
{
	uint64_t number = 0;

	if (is_number(info->tag) && !tr_ada_number(info->data, &number))
		loaded->bad_number = true;
	switch (info->tag) {
	case TR_GNATCOV_EXEC_FILE_NAME:
		loaded->named = info->data.len > 0;
		break;
	case TR_GNATCOV_EXEC_FILE_TIME_STAMP:
		loaded->stamped = info->data.len > 0;
		break;
	case TR_GNATCOV_EXEC_FILE_SIZE:
		loaded->file_size = number;
		break;
	case TR_GNATCOV_EXEC_FILE_CRC32:
		loaded->crc = number;
		break;
	case TR_GNATCOV_EXEC_CODE_SIZE:
		loaded->code_size = number;
		break;
	default:
		loaded->bad_tag |= !tr_gnatcov_tag_name(info->tag);
	}
}

/* gnatcov asks for 5 tags. As fields of a record, entries take many times their
 * own size. */
enum { LIST_MAX = 4096 };

/* Reads the list behind a load entry into fields. *size grows by all of it. */
static enum tr_status read_list(struct tr_gnatcov_reader *reader, struct loaded *loaded,
				size_t *size, struct tr_error *err)
{
	struct info info = { 0 };
	enum tr_status status;

	while ((status = info_at(reader, *size, &info, err)) == TR_OK &&
	       info.tag != TR_GNATCOV_END) {
		const char *key = tag_text(reader, info.tag);
		if (reader->record.count > LIST_MAX) {
			tr_error_set(err, TR_CAUSE_LIMIT,
				     "more than %d entries of information on a shared object",
				     LIST_MAX);
			return lost(reader, *size, err);
		}
		note_tag(loaded, &info);
		if (!key || !add(reader, key, string(reader, info.data)) ||
		    !add_pad(reader, info.pad))
			return tr_error_memory(err);
		*size += info.size;
	}
	*size += info.size;
	return status;
}

static bool load_has_flaw(struct tr_gnatcov_reader *reader, const struct loaded *loaded,
			  const struct tr_block *entry, struct tr_error *err)
{
	struct tr_object object = { entry->address, entry->address + loaded->code_size - 1, 0 };
	enum tr_objects_answer answer = TR_OBJECTS_ADDED;

	if (entry->digits == 8)
		object.last = loaded->code_size > UINT32_MAX ? 0 : (uint32_t)object.last;
	if (loaded->bad_number)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a size or checksum of a shared object is no number");
	else if (!loaded->named || !loaded->stamped || !loaded->file_size || !loaded->crc ||
		 !loaded->code_size)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded with incomplete information");
	else if (loaded->bad_tag)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object has an unknown kind of information");
	if (loaded->code_size)
		answer = tr_objects_load(&reader->objects, object);
	if (answer == TR_OBJECTS_OVERLAP)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a shared object was loaded over one that is there");
	else if (answer == TR_OBJECTS_FULL)
		tr_error_set(err, TR_CAUSE_LIMIT, "more than %d shared objects are loaded",
			     TR_OBJECTS_MAX);
	else if (answer == TR_OBJECTS_MEMORY)
		tr_error_memory(err);
	return err->cause != TR_CAUSE_NONE;
}

static struct tr_cell address_cell(const struct tr_block *entry)
{
	return (struct tr_cell){ .type = TR_CELL_ADDRESS,
				 .width = entry->digits,
				 .number = entry->address };
}

static enum tr_status read_load(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
				size_t size, struct tr_record **record, struct tr_error *err)
{
	struct loaded loaded = { 0 };

	begin(reader, "load", address_cell(entry));
	if (!add_pad(reader, entry->pad))
		return tr_error_memory(err);
	enum tr_status status = read_list(reader, &loaded, &size, err);
	if (status != TR_OK)
		return status;
	tr_error_clear(err);
	/* with the second look the object is there already: that is no news */
	if (reader->told_at != reader->in->offset && load_has_flaw(reader, &loaded, entry, err)) {
		if (err->cause == TR_CAUSE_MEMORY)
			return TR_FATAL;
		tell(reader, err);
		return TR_WARN;
	}
	tr_input_skip(reader->in, size);
	return hand_out(reader, record);
}

/* An entry of one of the other kinds, whose flaw (in err) has been told before.
 */
static enum tr_status pass_on(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
			      size_t size, const char *kind, struct tr_record **record,
			      struct tr_error *err)
{
	if (kind) {
		begin(reader, kind, address_cell(entry));
		if (!add_pad(reader, entry->pad))
			return tr_error_memory(err);
		tr_input_skip(reader->in, size);
		return hand_out(reader, record);
	}
	tr_block_record_set(&reader->block, entry, reader->seq++, reader->in->offset);
	tr_input_skip(reader->in, size);
	*record = &reader->block.record;
	return TR_OK;
}

/* True: err says what is wrong with where or how a special entry stands. */
static bool special_has_flaw(struct tr_gnatcov_reader *reader, const struct tr_block *entry,
			     struct tr_error *err)
{
	bool due = reader->kernel && !reader->loaded;

	if (entry->size == TR_GNATCOV_LOADADDR && !due)
		tr_error_set(err, TR_CAUSE_INPUT, "unexpected load address of a kernel");
	else if (entry->size == TR_GNATCOV_LOADADDR && entry->address == 0)
		tr_error_set(err, TR_CAUSE_INPUT, "the load address of the kernel is 0");
	else if (entry->size == 0 || entry->size > TR_GNATCOV_UNLOAD)
		tr_error_set(err, TR_CAUSE_INPUT, "unknown special entry 0x%04x", entry->size);
	else if (entry->size != TR_GNATCOV_LOADADDR && due)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "special entry 0x%04x where the load address of the kernel is due",
			     entry->size);
	else if (entry->size == TR_GNATCOV_UNLOAD &&
		 !tr_objects_find(&reader->objects, entry->address))
		tr_error_set(err, TR_CAUSE_INPUT, "a shared object is unloaded that is not loaded");
	else
		return false;
	return true;
}

enum tr_status tr_gnatcov_read_special(struct tr_gnatcov_reader *reader,
				       const struct tr_block *entry, size_t size,
				       struct tr_record **record, struct tr_error *err)
{
	bool told = reader->told_at == reader->in->offset;

	if (!told && special_has_flaw(reader, entry, err)) {
		/* a list that follows is judged with the entry that it belongs to */
		if (entry->size == TR_GNATCOV_LOAD)
			reader->loaded = true;
		else
			tell(reader, err);
		err->severity = TR_FLAW;
		tr_error_at_offset(err, reader->in->offset);
		return TR_WARN;
	}
	switch (entry->size) {
	case TR_GNATCOV_LOADADDR:
		reader->loaded = true;
		return pass_on(reader, entry, size, "loadaddr", record, err);
	case TR_GNATCOV_LOAD:
		return read_load(reader, entry, size, record, err);
	case TR_GNATCOV_UNLOAD:
		tr_objects_unload(&reader->objects, entry->address);
		return pass_on(reader, entry, size, "unload", record, err);
	default:
		return pass_on(reader, entry, size, NULL, record, err);
	}
}
