/* SPDX-License-Identifier: MIT */
/*
 * The writer of execution traces: writes sections, information and entries. Sections and ends of
 * lists that the stream lacks are supplied, with a note.
 *
 *	record -> read_section, read_item, tr_block_read -> write_header, write_item, write_entry
 *
 * A drcov file becomes INFO with the program's name and the list of modules, and a section FLAT
 * with the absolute addresses of its blocks. Its hit counts are lost.
 *
 * Numbers are written in the byte order of the section. The year of a date is in that order, too,
 * so its bytes are swapped if -O endian changes it; all other data are bytes, and are not changed.
 */
#include "format/gnatcov/gnatcov.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire.h"
#include "coverage/block.h"
#include "coverage/module_table.h"
#include "format/writer_base.h"
#include "record/ask.h"

enum place {
	NOWHERE, /* no section yet in this segment */
	IN_INFO,
	IN_ENTRIES,
};

struct writer {
	struct tr_writer base;
	struct tr_text tag; /* -O tag; data NULL: as in the source */
	int big, machine;   /* -O; -1: as in the source */

	/* the segment */
	enum place place;
	bool tagged;			   /* the tag was written to this list */
	struct tr_gnatcov_section section; /* as it is written */
	bool was_big;			   /* the byte order of the source */
	bool drcov;			   /* it was a drcov file */
	struct tr_module_list modules;	   /* of the drcov file */
	struct tr_buffer program;	   /* path of the first of them */

	/* the whole stream */
	bool noted_supplied;
};

/* An entry of a list of information. Its data are in the arena of the record. */
struct item {
	uint32_t tag;
	struct tr_text data;
	uint32_t pad;
};

/* Reports a record that is left out because of a value. */
static enum tr_status bad(struct tr_error *err, const char *what)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, what, "left out: %s", what);
	return TR_WARN;
}

/* Returns the number of a name, or -1. */
static int number_of(const struct tr_gnatcov_name *names, struct tr_text name)
{
	for (; names->name; names++)
		if (tr_text_is(name, names->name))
			return names->number;
	return -1;
}

/* Returns the tag of a name or number, or -1. */
static int64_t tag_of(struct tr_text name)
{
	uint64_t number;

	return tr_decimal_read(name, UINT32_MAX, &number) ? (int64_t)number
							  : number_of(tr_gnatcov_tags, name);
}

/* Returns the machine of a number, or of a name in any case, with or without EM_; -1: unknown. */
static int machine_of(struct tr_text name)
{
	uint64_t number;

	if (tr_decimal_read(name, UINT16_MAX, &number) && number != 386) /* EM_386 is 3 */
		return (int)number;
	for (const struct tr_gnatcov_name *known = tr_gnatcov_machines; known->name; known++) {
		struct tr_text full = tr_text_from(known->name);
		struct tr_text brief = { full.data + 3, full.len - 3 };
		if (tr_text_equal_in_any_case(name, full) || tr_text_equal_in_any_case(name, brief))
			return known->number;
	}
	return -1;
}

/* Reads a number up to max; *number is unchanged if there is none. */
static enum tr_status read_number(struct tr_record *record, const char *key, uint64_t max,
				  uint64_t *number, struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = tr_field_find(record, key, &value, err);

	if (status != TR_OK || !value)
		return status;
	if ((value->type != TR_UINT && value->type != TR_POINTER) || value->as.number > max) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: %s is not a number up to %" PRIu64,
			     key, max);
		return TR_WARN;
	}
	*number = value->as.number;
	return TR_OK;
}

/* Reads the machine: its number if there is one, otherwise its name; 0 if neither is there. */
static enum tr_status read_machine(struct tr_record *record, uint16_t *machine,
				   struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = tr_field_find(record, "machine", &value, err);
	int number = -1;

	*machine = 0;
	if (status != TR_OK || !value)
		return status;
	const struct tr_symbol *symbol = value->type == TR_SYMBOL ? value->as.symbol : NULL;
	if (value->type == TR_UINT && value->as.number <= UINT16_MAX)
		number = (int)value->as.number;
	else if (symbol && symbol->numbered == TR_SYMBOL_WORDS && symbol->count == 1)
		number = machine_of(symbol->names[0].text);
	else if (symbol && symbol->numbered != TR_SYMBOL_WORDS && symbol->number <= UINT16_MAX &&
		 !(value->flags & TR_NEGATIVE))
		number = (int)symbol->number;
	if (number < 0)
		return bad(err, "unknown machine");
	*machine = (uint16_t)number;
	return TR_OK;
}

/* Reads the byte order of a section: little, unless the record says big. */
static enum tr_status read_endian(struct tr_record *record, bool *big, struct tr_error *err)
{
	const struct tr_value *value;
	enum tr_status status = tr_field_find(record, "endian", &value, err);

	*big = false;
	if (status != TR_OK || !value)
		return status;
	if (value->type == TR_SYMBOL && value->as.symbol->count == 1) {
		struct tr_text word = value->as.symbol->names[0].text;
		*big = tr_text_is(word, "big");
		if (*big || tr_text_is(word, "little"))
			return TR_OK;
	}
	return bad(err, "endian is neither big nor little");
}

/*
 * Reads the record of a section. Only sections of entries need addresses of 4 or 8 bytes; gnatcov
 * does not look at the size in INFO.
 */
static enum tr_status read_section(struct tr_record *record, struct tr_gnatcov_section *section,
				   struct tr_error *err)
{
	uint64_t bits = 32, pad = 0;
	int kind = record->name.type == TR_CELL_TEXT
			   ? number_of(tr_gnatcov_kinds, record->name.text)
			   : -1;

	if (kind < 0)
		return bad(err, "unknown section name");
	enum tr_status status = read_number(record, "bits", 255 * 8, &bits, err);
	if (status == TR_OK && (bits % 8 || (kind != TR_GNATCOV_INFO && bits != 32 && bits != 64)))
		return bad(err, "a section of entries needs bits=32 or bits=64");
	if (status == TR_OK)
		status = read_number(record, ".pad", UINT16_MAX, &pad, err);
	if (status == TR_OK)
		status = read_endian(record, &section->big, err);
	section->kind = (uint8_t)kind;
	section->pc_size = (uint8_t)(bits / 8);
	section->pad = (uint16_t)pad;
	return status == TR_OK ? read_machine(record, &section->machine, err) : status;
}

/* Sets *bytes to those of a string value. */
static enum tr_status read_bytes(struct tr_record *record, const struct tr_value *value,
				 struct tr_text *bytes, struct tr_error *err)
{
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return bad(err, "the data of information must be a string");
	*bytes = tr_string_bytes(value->text, record->arena);
	if (bytes->data)
		return bytes->len <= UINT32_MAX ? TR_OK : bad(err, "information of 4 GiB or more");
	return tr_error_memory(err);
}

/* Encodes the data of an item from the decoded value. */
static enum tr_status encode(struct tr_record *record, const struct tr_value *value, bool big,
			     struct item *item, struct tr_error *err)
{
	enum { ROOM = 32 };
	struct tr_date date;
	struct tr_text fraction;
	bool swapped;
	char *room = tr_arena_alloc(record->arena, ROOM);
	struct tr_buffer to = tr_buffer_over(room, room ? ROOM : 0);

	if (!room)
		return tr_error_memory(err);
	if (value->type == TR_UINT) { /* as Ada writes it */
		tr_buffer_put_byte(&to, ' ');
		tr_buffer_put_decimal(&to, value->as.number);
		item->data = tr_buffer_text(&to);
		return TR_OK;
	}
	if (value->type != TR_STRING || item->tag != TR_GNATCOV_DATE_TIME)
		return read_bytes(record, value, &item->data, err);
	bool is_date = tr_date_parse(value->text, &date, &fraction) && !fraction.len;
	tr_gnatcov_put_year(date.year, big, room);
	const unsigned rest[] = { date.month, date.day, date.hour, date.minute, date.second, 0 };
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		room[2 + i] = (char)rest[i];
	item->data = (struct tr_text){ room, TR_GNATCOV_DATE_SIZE };
	if (!is_date || !tr_gnatcov_date_read(item->data, big, &date, &swapped) || swapped)
		return bad(err, "a date has the form 2012-02-21T08:00:37Z");
	return TR_OK;
}

/* Returns how many bytes follow the data up to a multiple of 4. */
static unsigned padding(const struct item *item)
{
	return (unsigned)-item->data.len % TR_GNATCOV_INFO_ALIGN;
}

/* Keeps padding only if it is not longer than the data require. */
static void set_pad(struct item *item, uint64_t pad)
{
	item->pad = pad < UINT64_C(1) << padding(item) * 8 ? (uint32_t)pad : 0;
}

/*
 * Reads the record of an information entry: from its bytes (data) if it has them, and otherwise
 * from their meaning (value). big: the byte order of a date in the source.
 */
static enum tr_status read_item(struct tr_record *record, bool big, struct item *item,
				struct tr_error *err)
{
	const struct tr_value *data, *value = NULL;
	uint64_t pad = 0;
	int64_t tag = record->name.type == TR_CELL_TEXT ? tag_of(record->name.text) : -1;

	if (tag <= 0)
		return bad(err, "unknown information name");
	item->tag = (uint32_t)tag;
	enum tr_status status = tr_field_find(record, "data", &data, err);
	if (status == TR_OK && !data)
		status = tr_field_find(record, "value", &value, err);
	if (status == TR_OK)
		status = data	 ? read_bytes(record, data, &item->data, err)
			 : value ? encode(record, value, big, item, err)
				 : bad(err, "information without data");
	if (status == TR_OK)
		status = read_number(record, ".pad", UINT64_MAX, &pad, err);
	if (status == TR_OK)
		set_pad(item, pad);
	return status;
}

/* Reads a .pad if it is the next field, which *next skips then; otherwise *pad is 0. */
static enum tr_status read_pad(struct tr_record *record, size_t *next, uint64_t *pad,
			       struct tr_error *err)
{
	*pad = 0;
	if (*next == record->count || !record->fields[*next].key.data ||
	    !tr_text_is(record->fields[*next].key, ".pad"))
		return TR_OK;
	const struct tr_value *value = tr_field_value(record, &record->fields[(*next)++], err);
	if (!value)
		return tr_error_status(err);
	if (value->type != TR_POINTER && value->type != TR_UINT)
		return bad(err, ".pad is not a number");
	*pad = value->as.number;
	return TR_OK;
}

/* Reads the item of the next field that is information. TR_END: there is none. */
static enum tr_status next_item(struct tr_record *record, size_t *next, struct item *item,
				struct tr_error *err)
{
	uint64_t pad = 0;
	int64_t tag = -1;

	for (; tag <= 0; ++*next) {
		if (*next == record->count)
			return TR_END;
		struct tr_text key = record->fields[*next].key;
		tag = key.data ? tag_of(key) : -1;
	}
	struct tr_value *value = tr_field_value(record, &record->fields[*next - 1], err);
	if (!value)
		return tr_error_status(err);
	item->tag = (uint32_t)tag;
	enum tr_status status = read_bytes(record, value, &item->data, err);
	if (status == TR_OK)
		status = read_pad(record, next, &pad, err);
	if (status == TR_OK)
		set_pad(item, pad);
	return status;
}

/* Swaps the bytes of the year of a date. False: memory is exhausted. */
static bool turn_date(struct item *item, bool from_big, bool to_big, struct tr_arena *arena)
{
	struct tr_date date;
	bool swapped;

	if (from_big == to_big || item->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_gnatcov_date_read(item->data, from_big, &date, &swapped))
		return true;
	struct tr_text turned = tr_arena_copy(arena, item->data);
	if (!turned.data)
		return false;
	tr_gnatcov_put_year(date.year, to_big, (char *)(uintptr_t)turned.data);
	item->data = turned;
	return true;
}

/* Writes the header of a section, as the -O options change it. */
static void write_header(struct writer *writer, const struct tr_gnatcov_section *section)
{
	char *p = tr_output_room(writer->base.out, TR_GNATCOV_HEADER_SIZE);

	writer->section = *section;
	writer->was_big = section->big;
	if (writer->big >= 0)
		writer->section.big = writer->big;
	if (writer->machine >= 0)
		writer->section.machine = (uint16_t)writer->machine;
	section = &writer->section;
	memcpy(p, TR_GNATCOV_MAGIC, TR_GNATCOV_MAGIC_SIZE);
	p[12] = TR_GNATCOV_VERSION;
	p[13] = (char)section->kind;
	p[14] = (char)section->pc_size;
	p[15] = section->big;
	p[16] = (char)(section->machine >> 8);
	p[17] = (char)section->machine;
	tr_wire_put_pad(p + 18, 2, section->pad);
	tr_output_used(writer->base.out, TR_GNATCOV_HEADER_SIZE);
	writer->place = section->kind == TR_GNATCOV_INFO ? IN_INFO : IN_ENTRIES;
	writer->tagged = false;
}

/* Writes an information entry with its padding. */
static void write_item(struct writer *writer, const struct item *item)
{
	char *p = tr_output_room(writer->base.out, TR_GNATCOV_INFO_SIZE);

	tr_wire_put_u32(p, writer->section.big, item->tag);
	tr_wire_put_u32(p + 4, writer->section.big, (uint32_t)item->data.len);
	tr_output_used(writer->base.out, TR_GNATCOV_INFO_SIZE);
	tr_output_put_text(writer->base.out, item->data);
	p = tr_output_room(writer->base.out, TR_GNATCOV_INFO_ALIGN);
	tr_wire_put_pad(p, padding(item), item->pad);
	tr_output_used(writer->base.out, padding(item));
}

/* Writes the entry that ends a list of information. */
static void end_list(struct writer *writer)
{
	write_item(writer, &(struct item){ TR_GNATCOV_END, { "", 0 }, 0 });
}

/* Writes the item of -O tag, unless this list has it already. */
static void write_tag(struct writer *writer)
{
	if (!writer->tagged && writer->tag.len)
		write_item(writer, &(struct item){ TR_GNATCOV_USER_DATA, writer->tag, 0 });
	writer->tagged = true;
}

/* Adds the tag and the end to the list of an INFO section, if one is open. */
static void close_list(struct writer *writer)
{
	if (writer->place != IN_INFO)
		return;
	write_tag(writer);
	end_list(writer);
	writer->place = NOWHERE;
}

/* Begins an INFO section for a section of entries. */
static void write_info_header(struct writer *writer, const struct tr_gnatcov_section *like)
{
	struct tr_gnatcov_section info = *like;

	info.kind = TR_GNATCOV_INFO;
	info.pad = 0;
	write_header(writer, &info);
}

/* Notes once that the stream lacks a section for its records. */
static enum tr_status supplied(struct writer *writer, struct tr_error *err)
{
	if (writer->noted_supplied)
		return TR_OK;
	writer->noted_supplied = true;
	tr_error_set(err, TR_CAUSE_INPUT, "the stream has no section for this record: added");
	tr_error_is_note(err);
	return TR_WARN;
}

/* Supplies a section of entries for addresses of that many digits. TR_WARN: err is a note on it. */
static enum tr_status begin_entries(struct writer *writer, uint8_t digits, struct tr_error *err)
{
	struct tr_gnatcov_section section = { .kind = TR_GNATCOV_FLAT };

	if (writer->place == IN_INFO)
		section = writer->section;
	section.big = writer->place != NOWHERE && writer->was_big;
	section.kind = TR_GNATCOV_FLAT;
	section.pc_size = digits / 2;
	section.pad = 0;
	if (writer->place == NOWHERE)
		write_info_header(writer, &section);
	close_list(writer);
	write_header(writer, &section);
	return supplied(writer, err);
}

/*
 * Writes an entry, and a section before it if none is open. All addresses of a section have the
 * same size. TR_WARN: the entry is left out, or err is a note on the section.
 */
static enum tr_status write_entry(struct writer *writer, const struct tr_block *entry,
				  struct tr_error *err)
{
	enum { ENTRY_MAX = 16 };
	const struct tr_gnatcov_section *section = &writer->section;
	enum tr_status status = TR_OK;

	if (writer->place != IN_ENTRIES)
		status = begin_entries(writer, entry->digits, err);
	if (entry->digits != section->pc_size * 2) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "left out: an address of %d digits in a section of %d bits",
			     entry->digits, section->pc_size * 8);
		return TR_WARN;
	}
	char *p = tr_output_room(writer->base.out, ENTRY_MAX);
	if (section->pc_size == 4) {
		tr_wire_put_u32(p, section->big, (uint32_t)entry->address);
		p[7] = (char)entry->pad;
	} else {
		tr_wire_put_u64(p, section->big, entry->address);
		tr_wire_put_pad(p + 11, 5, entry->pad);
	}
	tr_wire_put_u16(p + section->pc_size, section->big, entry->size);
	p[section->pc_size + 2] = (char)entry->op;
	tr_output_used(writer->base.out, section->pc_size * 2u);
	return status;
}

/* Writes the entry of a block. */
static enum tr_status put_block(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block entry;
	enum tr_status status = tr_block_read(record, &entry, err);

	return status == TR_OK ? write_entry(writer, &entry, err) : status;
}

/* Writes a list whose items were checked before. False: memory is exhausted. */
static enum tr_status write_list(struct writer *writer, struct tr_record *record, size_t next,
				 struct tr_error *err)
{
	struct item item;
	enum tr_status status;

	while ((status = next_item(record, &next, &item, err)) == TR_OK) {
		if (!turn_date(&item, writer->was_big, writer->section.big, record->arena))
			return tr_error_memory(err);
		write_item(writer, &item);
	}
	if (status == TR_END)
		end_list(writer);
	return status == TR_END ? TR_OK : status;
}

/*
 * Writes a special entry, and the list of a load. The list is checked before the first byte is
 * written, because half of a list would make the rest of the trace unreadable.
 */
static enum tr_status put_special(struct writer *writer, struct tr_record *record,
				  enum tr_gnatcov_special special, struct tr_error *err)
{
	struct tr_block entry = { .size = (uint16_t)special, .op = TR_EXEC_SPECIAL };
	struct item item;
	size_t next = 0;

	if (!tr_address_read(&record->name, &entry.address, &entry.digits)) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: not an address of 8 or 16 digits");
		return TR_WARN;
	}
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	/* the padding of the entry itself is before all other fields */
	enum tr_status status = read_pad(record, &next, &entry.pad, err);
	size_t first = next;
	while (status == TR_OK && special == TR_GNATCOV_LOAD)
		status = next_item(record, &next, &item, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	status = write_entry(writer, &entry, err);
	if (special != TR_GNATCOV_LOAD || (status == TR_WARN && err->severity == TR_DAMAGE))
		return status;
	struct tr_error why;
	enum tr_status list = write_list(writer, record, first, &why);
	if (list == TR_OK)
		return status;
	*err = why;
	return list;
}

/* Begins a segment that was a drcov file. */
static enum tr_status begin_drcov(struct writer *writer, struct tr_record *header,
				  struct tr_error *err)
{
	writer->drcov = true;
	tr_buffer_reset(&writer->program);
	return tr_module_list_begin(&writer->modules, header, err);
}

/* Begins the section of blocks, after all modules, which are known by then. */
static bool begin_drcov_entries(struct writer *writer)
{
	struct tr_gnatcov_section section = { .kind = TR_GNATCOV_FLAT };
	struct tr_buffer list = TR_BUFFER_INIT;

	tr_module_list_write(&writer->modules, &list);
	section.pc_size = (uint8_t)(tr_module_list_digits(&writer->modules) / 2);
	write_info_header(writer, &section);
	if (writer->program.len) {
		const struct item name = { TR_GNATCOV_EXEC_FILE_NAME,
					   tr_buffer_text(&writer->program), 0 };
		write_item(writer, &name);
	}
	write_tag(writer); /* before the list: lookups take the first */
	const struct item modules = { TR_GNATCOV_USER_DATA, tr_buffer_text(&list), 0 };
	write_item(writer, &modules);
	close_list(writer);
	write_header(writer, &section);
	bool good = !list.failed;
	tr_buffer_free(&list);
	return good;
}

/* Adds a module of a drcov file to the list; the first one is the program. */
static enum tr_status put_module(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_text path;

	if (writer->place != NOWHERE) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: a module after the first block");
		return TR_WARN;
	}
	enum tr_status status = tr_module_list_add(&writer->modules, record, err);
	if (status != TR_OK || writer->modules.count > 1 || record->name.type != TR_CELL_TEXT)
		return status;
	if (!tr_cell_bytes(record->name.text, record->arena, &path, err))
		return tr_error_is_memory(err) ? TR_FATAL : TR_OK;
	tr_buffer_put_text(&writer->program, path);
	return writer->program.failed ? tr_error_memory(err) : TR_OK;
}

/*
 * Writes a block of a drcov file at its absolute address. Records of drcov have no op, and
 * tr_block_read supplies that of an executed block.
 */
static enum tr_status put_drcov_block(struct writer *writer, struct tr_record *record,
				      struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	if (status != TR_OK)
		return status;
	if (writer->place == NOWHERE && !begin_drcov_entries(writer))
		return tr_error_memory(err);
	uint64_t id = tr_ask_number(record, "module", UINT64_MAX, err);
	if (tr_error_is_memory(err))
		return TR_FATAL;
	if (id != UINT64_MAX)
		tr_module_list_absolute(&writer->modules, id, &block.address);
	block.digits = writer->section.pc_size * 2;
	return write_entry(writer, &block, err);
}

/* Adds a record of a drcov file. TR_END: the format cannot hold its kind. */
static enum tr_status put_drcov(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	if (tr_text_is(record->kind, "block"))
		return put_drcov_block(writer, record, err);
	if (tr_text_is(record->kind, "module"))
		return put_module(writer, record, err);
	return tr_text_is(record->kind, "meta") ? TR_OK : TR_END;
}

static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	/* the modules of a file without blocks are written too */
	if (writer->drcov && writer->place == NOWHERE && !begin_drcov_entries(writer))
		return tr_error_memory(err);
	writer->drcov = false;
	close_list(writer);
	writer->place = NOWHERE;
	return TR_OK;
}

static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	if (!tr_record_field(header, "columns"))
		return TR_OK;
	return begin_drcov(tr_container(base, struct writer, base), header, err);
}

/* Begins the section of a record, after the end of the list before it. */
static enum tr_status put_section(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_gnatcov_section section;
	enum tr_status status = read_section(record, &section, err);

	if (status != TR_OK)
		return status;
	bool first = writer->place == NOWHERE;
	close_list(writer);
	/* the output of an emulator alone has no list of information for the tag */
	if (first && writer->tag.len &&
	    (section.kind == TR_GNATCOV_FLAT || section.kind == TR_GNATCOV_HISTORY)) {
		write_info_header(writer, &section);
		close_list(writer);
	}
	write_header(writer, &section);
	return TR_OK;
}

/* Writes the information entry of a record, in an INFO section. */
static enum tr_status put_info(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct item item;
	bool missing = writer->place != IN_INFO;
	bool big = writer->place == NOWHERE ? false : writer->was_big;
	enum tr_status status = read_item(record, big, &item, err);

	if (status != TR_OK)
		return status;
	if (missing) {
		struct tr_gnatcov_section like = { 0 };
		if (writer->place == IN_ENTRIES)
			like = writer->section;
		like.big = big;
		write_info_header(writer, &like);
	}
	if (item.tag == TR_GNATCOV_USER_DATA && writer->tag.data &&
	    !tr_drcov_head_begins(item.data)) {
		/* -O tag replaces all user data, except a list of modules */
		write_tag(writer);
	} else {
		if (!turn_date(&item, writer->was_big, writer->section.big, record->arena))
			return tr_error_memory(err);
		write_item(writer, &item);
	}
	return missing ? supplied(writer, err) : TR_OK;
}

/* Writes one record. TR_END: the format has no place for its kind. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (writer->drcov)
		return put_drcov(writer, record, err);
	if (tr_text_is(record->kind, "block"))
		return put_block(writer, record, err);
	if (tr_text_is(record->kind, "section"))
		return put_section(writer, record, err);
	if (tr_text_is(record->kind, "info"))
		return put_info(writer, record, err);
	static const struct {
		const char *kind;
		enum tr_gnatcov_special special;
	} kinds[] = { { "load", TR_GNATCOV_LOAD },
		      { "unload", TR_GNATCOV_UNLOAD },
		      { "loadaddr", TR_GNATCOV_LOADADDR } };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (tr_text_is(record->kind, kinds[i].kind))
			return put_special(writer, record, kinds[i].special, err);
	return TR_END;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);

	tr_module_list_free(&writer->modules);
	tr_buffer_free(&writer->program);
}

static const struct tr_writer_steps steps = {
	.format = "gnatcov",
	.begin = begin_segment,
	.put = put_record,
	.end = end_segment,
	.discard = discard,
};

struct tr_writer *tr_gnatcov_create(const struct tr_write_config *config, struct tr_output *out,
				    struct tr_error *err)
{
	struct tr_text none = { NULL, 0 };
	struct tr_text endian = tr_setting_get(&config->settings, "endian", "");
	struct tr_text machine = tr_setting_get(&config->settings, "machine", "");
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->tag = none;
	for (size_t i = 0; i < config->settings.count; i++)
		if (tr_text_is(config->settings.list[i].key, "tag"))
			writer->tag = config->settings.list[i].value;
	writer->big = endian.len ? tr_text_is(endian, "big") : -1;
	writer->machine = machine.len ? machine_of(machine) : -1;
	if (machine.len && writer->machine < 0) {
		tr_error_set(err, TR_CAUSE_USAGE, "-O machine=%.*s: no such machine",
			     TR_SHOWN(machine, 40));
		free(writer);
		return NULL;
	}
	return &writer->base;
}
