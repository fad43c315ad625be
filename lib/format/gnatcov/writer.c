/* SPDX-License-Identifier: MIT */
/*
 * Sections, information and entries as bytes. What a stream has lost on its way
 *(sections, the end of a list) is supplied, with a note.
 *
 *	record -> section_of, item_of, tr_block_read -> write_header,
 *write_item, write_entry
 *
 * A drcov file becomes INFO with the program's name and the list of modules,
 *and a section FLAT of the absolute addresses of its blocks. Hit counts have no
 *place there.
 */
#include "format/gnatcov/gnatcov.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire.h"
#include "coverage/block.h"
#include "coverage/date.h"
#include "coverage/module_table.h"
#include "format/writer_base.h"

enum place {
	NOWHERE, /* no section yet in this segment */
	IN_INFO,
	IN_ENTRIES,
};

struct writer {
	struct tr_writer base;
	struct tr_text tag; /* -O tag, data NULL: as it is */
	int big, machine;   /* -O, -1: as it is */

	/* the segment */
	enum place place;
	bool tagged;			   /* the tag stands in this list */
	struct tr_gnatcov_section section; /* as it is written */
	bool was_big;			   /* it was, where the records come from */
	bool drcov;			   /* it was a drcov file */
	struct tr_module_list modules;	   /* of that */
	struct tr_buffer program;	   /* path of the first of them */

	/* the whole stream */
	bool told_supplied;
};

/* One entry of a list, its data in the record's arena. */
struct item {
	uint32_t tag;
	struct tr_text data;
	uint32_t pad;
};

static enum tr_status bad(struct tr_error *err, const char *what)
{
	tr_error_say_in(err, TR_CAUSE_INPUT, what, "left out: %s", what);
	return TR_WARN;
}

/* The value of a field, or NULL and a status: TR_END where there is no such
 * field. */
static enum tr_status value_of(struct tr_record *record, const char *key, struct tr_value **value,
			       struct tr_error *err)
{
	struct tr_field *field = tr_record_field(record, key);

	*value = NULL;
	if (!field)
		return TR_END;
	*value = tr_field_value(record, field, err);
	if (*value)
		return TR_OK;
	return tr_error_status(err);
}

static enum tr_status number_of(struct tr_record *record, const char *key, uint64_t max,
				uint64_t *number, struct tr_error *err)
{
	struct tr_value *value;
	enum tr_status status = value_of(record, key, &value, err);

	if (status != TR_OK)
		return status;
	if ((value->type != TR_UINT && value->type != TR_POINTER) || value->as.number > max) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: %s is no number up to %" PRIu64, key,
			     max);
		return TR_WARN;
	}
	*number = value->as.number;
	return TR_OK;
}

/* A machine by its number, which counts, or by its name. */
static enum tr_status machine_of(struct tr_record *record, uint16_t *machine, struct tr_error *err)
{
	struct tr_value *value;
	enum tr_status status = value_of(record, "machine", &value, err);
	int number = -1;

	*machine = 0;
	if (status != TR_OK)
		return status == TR_END ? TR_OK : status;
	if (value->type == TR_UINT && value->as.number <= UINT16_MAX)
		number = (int)value->as.number;
	else if (value->type == TR_SYMBOL && value->as.symbol->numbered == TR_SYMBOL_WORDS &&
		 value->as.symbol->count == 1)
		number = tr_gnatcov_machine_of(value->as.symbol->names[0].text);
	else if (value->type == TR_SYMBOL && value->as.symbol->numbered != TR_SYMBOL_WORDS &&
		 value->as.symbol->number <= UINT16_MAX && !(value->flags & TR_NEGATIVE))
		number = (int)value->as.symbol->number;
	if (number < 0)
		return bad(err, "machine is none that is known");
	*machine = (uint16_t)number;
	return TR_OK;
}

static enum tr_status endian_of(struct tr_record *record, bool *big, struct tr_error *err)
{
	struct tr_value *value;
	enum tr_status status = value_of(record, "endian", &value, err);

	*big = false;
	if (status != TR_OK)
		return status == TR_END ? TR_OK : status;
	if (value->type == TR_SYMBOL && value->as.symbol->count == 1) {
		struct tr_text word = value->as.symbol->names[0].text;
		*big = tr_text_is(word, "big");
		if (*big || tr_text_is(word, "little"))
			return TR_OK;
	}
	return bad(err, "endian is neither big nor little");
}

/* The section that a record describes; the year of a date needs to know what
 * was `big` in it. */
static enum tr_status section_of(struct tr_record *record, struct tr_gnatcov_section *section,
				 struct tr_error *err)
{
	uint64_t bits = 32, pad = 0;
	int kind = record->name.type == TR_CELL_TEXT ? tr_gnatcov_kind_of(record->name.text) : -1;

	if (kind < 0)
		return bad(err, "no section is called that");
	section->kind = (uint8_t)kind;
	enum tr_status status = number_of(record, "bits", 255 * 8, &bits, err);
	if (status == TR_OK && (bits % 8 || (kind != TR_GNATCOV_INFO && bits != 32 && bits != 64)))
		return bad(err, "bits of a section of entries are 32 or 64");
	if (status == TR_FATAL || status == TR_WARN)
		return status;
	section->pc_size = (uint8_t)(bits / 8);
	status = number_of(record, ".pad", UINT16_MAX, &pad, err);
	if (status == TR_FATAL || status == TR_WARN)
		return status;
	section->pad = (uint16_t)pad;
	status = endian_of(record, &section->big, err);
	return status == TR_OK ? machine_of(record, &section->machine, err) : status;
}

/* The bytes of a string value. */
static enum tr_status bytes_of(struct tr_record *record, const struct tr_value *value,
			       struct tr_text *bytes, struct tr_error *err)
{
	if (value->type != TR_STRING || value->flags & TR_CUT)
		return bad(err, "the data of information is a string");
	*bytes = tr_string_bytes(value->text, record->arena);
	if (bytes->data)
		return bytes->len <= UINT32_MAX ? TR_OK : bad(err, "information of 4 GiB and more");
	return tr_error_memory(err);
}

/* Data out of the decoded value alone. */
static enum tr_status encode(struct tr_record *record, const struct tr_value *value, bool big,
			     struct item *item, struct tr_error *err)
{
	enum { ROOM = 32 };
	struct tr_trace_date date;
	char *room = tr_arena_alloc(record->arena, ROOM);

	if (!room)
		return tr_error_memory(err);
	if (value->type == TR_UINT) { /* as Ada writes it */
		struct tr_buffer to = tr_buffer_over(room, ROOM);
		tr_buffer_put_byte(&to, ' ');
		tr_buffer_put_decimal(&to, value->as.number);
		item->data = tr_buffer_text(&to);
		return TR_OK;
	}
	if (value->type != TR_STRING || item->tag != TR_GNATCOV_DATE_TIME)
		return bytes_of(record, value, &item->data, err);
	if (!tr_trace_date_parse(value->text, &date))
		return bad(err, "a date is written 2012-02-21T08:00:37Z");
	tr_trace_date_put_year(date.year, big, room);
	const unsigned rest[] = { date.month, date.day, date.hour, date.minute, date.second, 0 };
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		room[2 + i] = (char)rest[i];
	item->data = (struct tr_text){ room, 8 };
	return TR_OK;
}

static unsigned padding(const struct item *item)
{
	return (unsigned)-item->data.len % TR_GNATCOV_INFO_ALIGN;
}

/* Padding that is kept is as long as the data asks for, or it is not kept. */
static void set_pad(struct item *item, uint64_t pad)
{
	item->pad = pad < UINT64_C(1) << padding(item) * 8 ? (uint32_t)pad : 0;
}

static enum tr_status item_of(struct tr_record *record, bool big, struct item *item,
			      struct tr_error *err)
{
	struct tr_value *value;
	uint64_t pad = 0;
	int64_t tag = record->name.type == TR_CELL_TEXT ? tr_gnatcov_tag_of(record->name.text) : -1;

	if (tag <= 0)
		return bad(err, "no information is called that");
	item->tag = (uint32_t)tag;
	enum tr_status status = value_of(record, "data", &value, err);
	if (status == TR_OK)
		status = bytes_of(record, value, &item->data, err);
	else if (status == TR_END && (status = value_of(record, "value", &value, err)) == TR_OK)
		status = encode(record, value, big, item, err);
	if (status != TR_OK)
		return status == TR_END ? bad(err, "information without data") : status;
	status = number_of(record, ".pad", UINT64_MAX, &pad, err);
	set_pad(item, pad);
	return status == TR_END ? TR_OK : status;
}

static bool is_pad(const struct tr_field *field)
{
	return field->key.data && tr_text_is(field->key, ".pad");
}

/* The number of a .pad field. TR_WARN: it is none. */
static enum tr_status pad_of(struct tr_record *record, struct tr_field *field, uint64_t *pad,
			     struct tr_error *err)
{
	struct tr_value *value = tr_field_value(record, field, err);

	if (!value)
		return tr_error_status(err);
	if (value->type != TR_POINTER && value->type != TR_UINT)
		return bad(err, ".pad is no number");
	*pad = value->as.number;
	return TR_OK;
}

static enum tr_status next_item(struct tr_record *record, size_t *next, struct item *item,
				struct tr_error *err)
{
	uint64_t pad = 0;
	int64_t tag = -1;
	size_t i = *next;

	for (; i < record->count; i++) {
		tag = record->fields[i].key.data ? tr_gnatcov_tag_of(record->fields[i].key) : -1;
		if (tag > 0)
			break;
	}
	if (i == record->count)
		return TR_END;
	struct tr_value *value = tr_field_value(record, &record->fields[i], err);
	if (!value)
		return tr_error_status(err);
	item->tag = (uint32_t)tag;
	enum tr_status status = bytes_of(record, value, &item->data, err);
	if (status != TR_OK)
		return status;
	*next = i + 1;
	if (*next < record->count && is_pad(&record->fields[*next]))
		status = pad_of(record, &record->fields[(*next)++], &pad, err);
	set_pad(item, pad);
	return status;
}

/* The padding of an entry of kind load, unload, loadaddr: a .pad before all
 * other fields. */
static enum tr_status entry_pad(struct tr_record *record, uint64_t *pad, struct tr_error *err)
{
	*pad = 0;
	if (record->count == 0 || !is_pad(&record->fields[0]))
		return TR_OK;
	return pad_of(record, &record->fields[0], pad, err);
}

/* A date whose year was in one byte order gets it in the other. False: memory.
 */
static bool turn_date(struct item *item, bool from_big, bool to_big, struct tr_arena *arena)
{
	struct tr_trace_date date;

	if (from_big == to_big || item->tag != TR_GNATCOV_DATE_TIME ||
	    !tr_trace_date_read(item->data, from_big, &date))
		return true;
	struct tr_text turned = tr_arena_copy(arena, item->data);
	if (!turned.data)
		return false;
	tr_trace_date_put_year(date.year, to_big, (char *)(uintptr_t)turned.data);
	item->data = turned;
	return true;
}

/* what sections are made of. */
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

static void write_item(struct writer *writer, const struct item *item)
{
	unsigned padding = (unsigned)-item->data.len % TR_GNATCOV_INFO_ALIGN;
	char *p = tr_output_room(writer->base.out, TR_GNATCOV_INFO_SIZE);

	tr_wire_put_u32(p, writer->section.big, item->tag);
	tr_wire_put_u32(p + 4, writer->section.big, (uint32_t)item->data.len);
	tr_output_used(writer->base.out, TR_GNATCOV_INFO_SIZE);
	tr_output_put_text(writer->base.out, item->data);
	p = tr_output_room(writer->base.out, TR_GNATCOV_INFO_ALIGN);
	tr_wire_put_pad(p, padding, item->pad);
	tr_output_used(writer->base.out, padding);
}

static void end_list(struct writer *writer)
{
	const struct item end = { TR_GNATCOV_END, { "", 0 }, 0 };

	write_item(writer, &end);
}

/* What -O tag says, once in a list. */
static void write_tag(struct writer *writer)
{
	const struct item tag = { TR_GNATCOV_USER_DATA, writer->tag, 0 };

	if (!writer->tagged && writer->tag.len)
		write_item(writer, &tag);
	writer->tagged = true;
}

/* The list that is open, if one is, gets its tag and its end. */
static void close_list(struct writer *writer)
{
	if (writer->place != IN_INFO)
		return;
	write_tag(writer);
	end_list(writer);
	writer->place = NOWHERE;
}

/* An INFO section for entries like those. */
static void write_info_header(struct writer *writer, const struct tr_gnatcov_section *like)
{
	struct tr_gnatcov_section info = *like;

	info.kind = TR_GNATCOV_INFO;
	info.pad = 0;
	write_header(writer, &info);
}

/* Says, once, that the stream lacks a section for its records. */
static enum tr_status supplied(struct writer *writer, struct tr_error *err)
{
	if (writer->told_supplied)
		return TR_OK;
	writer->told_supplied = true;
	tr_error_set(err, TR_CAUSE_INPUT, "the stream has no section for this record: supplied");
	tr_error_is_note(err);
	return TR_WARN;
}

/* A section of entries for addresses of so many digits. TR_WARN: err is a note
 * about it. */
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

/* records of one kind each, or with special: of entries that are no block. */
static enum tr_status put_block(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block entry;
	enum tr_status status = tr_block_read(record, &entry, err);

	return status == TR_OK ? write_entry(writer, &entry, err) : status;
}

/* A list whose items were looked at before: nothing can go wrong with them but
 * memory. */
static enum tr_status write_list(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct item item;
	enum tr_status status;
	size_t next = 0;

	while ((status = next_item(record, &next, &item, err)) == TR_OK) {
		if (!turn_date(&item, writer->was_big, writer->section.big, record->arena))
			return tr_error_memory(err);
		write_item(writer, &item);
	}
	if (status == TR_END)
		end_list(writer);
	return status == TR_END ? TR_OK : status;
}

static enum tr_status put_special(struct writer *writer, struct tr_record *record,
				  enum tr_gnatcov_special special, struct tr_error *err)
{
	struct tr_block entry = { .size = (uint16_t)special, .op = TR_EXEC_SPECIAL };
	struct item item;
	size_t next = 0;

	if (!tr_address_read(&record->name, &entry.address, &entry.digits)) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: no address of 8 or 16 digits");
		return TR_WARN;
	}
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = entry_pad(record, &entry.pad, err);
	while (status == TR_OK && special == TR_GNATCOV_LOAD)
		status = next_item(record, &next, &item, err);
	if (status == TR_WARN || status == TR_FATAL)
		return status;
	status = write_entry(writer, &entry, err);
	if (special != TR_GNATCOV_LOAD || (status == TR_WARN && err->severity == TR_DAMAGE))
		return status;
	struct tr_error why;
	enum tr_status list = write_list(writer, record, &why);
	if (list == TR_OK)
		return status;
	*err = why;
	return list;
}

static enum tr_status begin_drcov(struct writer *writer, struct tr_record *header,
				  struct tr_error *err)
{
	writer->drcov = true;
	tr_buffer_reset(&writer->program);
	if (tr_module_list_begin(&writer->modules, header))
		return TR_OK;
	return tr_error_memory(err);
}

/* All modules are known when the first block comes: they stand before the
 * blocks. */
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

static enum tr_status put_drcov_block(struct writer *writer, struct tr_record *record,
				      struct tr_error *err)
{
	struct tr_block block;
	enum tr_status status = tr_block_read(record, &block, err);

	if (status != TR_OK)
		return status;
	if (writer->place == NOWHERE && !begin_drcov_entries(writer))
		return tr_error_memory(err);
	struct tr_field *field = tr_record_field(record, "module");
	struct tr_value *id = field ? tr_field_value(record, field, err) : NULL;
	if (field && !id && tr_error_is_memory(err))
		return TR_FATAL;
	if (id && id->type == TR_UINT)
		tr_module_list_absolute(&writer->modules, id->as.number, &block.address);
	block.digits = writer->section.pc_size * 2;
	return write_entry(writer, &block, err);
}

/* A record of such a segment. TR_END: its kind has no place. */
static enum tr_status put_drcov(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	if (tr_text_is(record->kind, "block"))
		return put_drcov_block(writer, record, err);
	if (tr_text_is(record->kind, "module"))
		return put_module(writer, record, err);
	return tr_text_is(record->kind, "meta") ? TR_OK : TR_END;
}

/* Nothing more comes: a file without blocks has its modules all the same.
 * False: memory. */
static bool end_drcov(struct writer *writer)
{
	writer->drcov = false;
	return writer->place != NOWHERE || begin_drcov_entries(writer);
}

static enum tr_status end_segment(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);

	if (writer->drcov && !end_drcov(writer))
		return tr_error_memory(err);
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

static enum tr_status put_section(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_gnatcov_section section;
	enum tr_status status = section_of(record, &section, err);

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

static enum tr_status put_info(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct item item;
	bool missing = writer->place != IN_INFO;
	bool big = writer->place == NOWHERE ? false : writer->was_big;
	enum tr_status status = item_of(record, big, &item, err);

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
	    !tr_text_starts(item.data, TR_TEXT(TR_DRCOV_VERSION))) {
		/* the first is the trace's tag; set, it is the only one but for a list of
		 * modules
		 */
		write_tag(writer);
	} else {
		if (!turn_date(&item, writer->was_big, writer->section.big, record->arena))
			return tr_error_memory(err);
		write_item(writer, &item);
	}
	return missing ? supplied(writer, err) : TR_OK;
}

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
	if (tr_text_is(record->kind, "load"))
		return put_special(writer, record, TR_GNATCOV_LOAD, err);
	if (tr_text_is(record->kind, "unload"))
		return put_special(writer, record, TR_GNATCOV_UNLOAD, err);
	if (tr_text_is(record->kind, "loadaddr"))
		return put_special(writer, record, TR_GNATCOV_LOADADDR, err);
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
	writer->machine = machine.len ? tr_gnatcov_machine_of(machine) : -1;
	if (machine.len && writer->machine < 0) {
		tr_error_set(err, TR_CAUSE_USAGE, "-O machine=%.*s: no such machine",
			     (int)(machine.len < 40 ? machine.len : 40), machine.data);
		free(writer);
		return NULL;
	}
	return &writer->base;
}
