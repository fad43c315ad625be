/*
 * Sections, information and entries back to bytes. What a stream has lost on
 * its way (sections, the end of a list) is supplied, and said.
 */
#include "config.h"

#include "format/gnatcov/writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coverage/block.h"
#include "format/gnatcov/wire.h"

enum place {
	NOWHERE, /* no section yet in this segment */
	IN_INFO,
	IN_ENTRIES,
};

enum { MISFITS = 16 };

struct writer {
	struct tr_output *out;
	struct tr_text tag; /* -O tag, data NULL: as it is */
	int big, machine;   /* -O, -1: as it is */

	/* the segment */
	bool headed; /* it has a header, so its trailer has to be there and right */
	uint64_t records;
	enum place place;
	bool tagged;			   /* the tag stands in this list */
	struct tr_gnatcov_section section; /* as it is written */
	bool was_big;			   /* it was, where the records come from */

	/* the whole stream */
	bool told_supplied, finished;
	struct {
		char kind[24];
		uint64_t count;
	} misfits[MISFITS]; /* kinds that have no place here */
	size_t misfit_count, misfits_told;
};

struct tr_writer *tr_gnatcov_create(const struct tr_write_config *config, struct tr_output *out,
				    struct tr_error *err)
{
	struct tr_text none = { NULL, 0 };
	struct tr_text endian = tr_setting_get(&config->settings, "endian", "");
	struct tr_text machine = tr_setting_get(&config->settings, "machine", "");
	struct writer *writer = calloc(1, sizeof *writer);

	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
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
	return (struct tr_writer *)writer;
}

void tr_gnatcov_discard(struct tr_writer *base)
{
	free(base);
}

static void write_header(struct writer *writer, const struct tr_gnatcov_section *section)
{
	char *p = tr_output_room(writer->out, TR_GNATCOV_HEADER_SIZE);

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
	tr_output_used(writer->out, TR_GNATCOV_HEADER_SIZE);
	writer->place = section->kind == TR_GNATCOV_INFO ? IN_INFO : IN_ENTRIES;
	writer->tagged = false;
}

static void write_item(struct writer *writer, const struct tr_gnatcov_item *item)
{
	unsigned padding = (unsigned)-item->data.len % TR_GNATCOV_INFO_ALIGN;
	char *p = tr_output_room(writer->out, TR_GNATCOV_INFO_SIZE);

	tr_wire_put_u32(p, writer->section.big, item->tag);
	tr_wire_put_u32(p + 4, writer->section.big, (uint32_t)item->data.len);
	tr_output_used(writer->out, TR_GNATCOV_INFO_SIZE);
	tr_output_put_text(writer->out, item->data);
	p = tr_output_room(writer->out, TR_GNATCOV_INFO_ALIGN);
	tr_wire_put_pad(p, padding, item->pad);
	tr_output_used(writer->out, padding);
}

static void end_list(struct writer *writer)
{
	const struct tr_gnatcov_item end = { TR_GNATCOV_END, { "", 0 }, 0 };

	write_item(writer, &end);
}

static void write_tag(struct writer *writer)
{
	const struct tr_gnatcov_item tag = { TR_GNATCOV_USER_DATA, writer->tag, 0 };

	if (!writer->tagged && writer->tag.len)
		write_item(writer, &tag);
	writer->tagged = true;
}

/* The list that is open, if one is, gets its end. */
static void close_list(struct writer *writer)
{
	if (writer->place != IN_INFO)
		return;
	write_tag(writer);
	end_list(writer);
	writer->place = NOWHERE;
}

static void write_info_section(struct writer *writer, const struct tr_gnatcov_section *like)
{
	struct tr_gnatcov_section info = *like;

	info.kind = TR_GNATCOV_INFO;
	info.pad = 0;
	write_header(writer, &info);
}

/* The segment of this line is over. TR_OK or a note. */
static enum tr_status end_segment(struct writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	bool headed = writer->headed;
	uint64_t count = 0, records = writer->records;

	close_list(writer);
	writer->place = NOWHERE;
	writer->headed = false;
	writer->records = 0;
	if (!headed)
		return TR_OK;
	if (!trailer)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a segment of the stream has no trailer: it may not be whole");
	else if (tr_cell_number(&trailer->seq, &count) && count == records)
		return TR_OK;
	else
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the trailer counts %" PRIu64 " records, %" PRIu64 " were there",
			     count, records);
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status put_section(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_gnatcov_section section;
	enum tr_status status = tr_gnatcov_section_of(record, &section, err);

	if (status != TR_OK)
		return status;
	bool first = writer->place == NOWHERE;
	close_list(writer);
	/* what an emulator wrote alone has no list that the tag could stand in */
	if (first && writer->tag.len &&
	    (section.kind == TR_GNATCOV_FLAT || section.kind == TR_GNATCOV_HISTORY)) {
		write_info_section(writer, &section);
		close_list(writer);
	}
	write_header(writer, &section);
	return TR_OK;
}

/* Notes once that there was no section where one had to be. */
static enum tr_status supplied(struct writer *writer, struct tr_error *err)
{
	if (writer->told_supplied)
		return TR_OK;
	writer->told_supplied = true;
	tr_error_set(err, TR_CAUSE_INPUT, "the stream has no section for this record: supplied");
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status put_info(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_gnatcov_item item;
	bool missing = writer->place != IN_INFO;
	bool big = writer->place == NOWHERE ? false : writer->was_big;
	enum tr_status status = tr_gnatcov_item_of(record, big, &item, err);

	if (status != TR_OK)
		return status;
	if (missing) {
		struct tr_gnatcov_section like = { 0 };
		if (writer->place == IN_ENTRIES)
			like = writer->section;
		write_info_section(writer, &like);
	}
	if (item.tag == TR_GNATCOV_USER_DATA && writer->tag.data) {
		write_tag(writer); /* the first is the trace's tag; set, it is the only one */
	} else {
		if (!tr_gnatcov_turn_date(&item, writer->was_big, writer->section.big,
					  record->arena)) {
			tr_error_memory(err);
			return TR_FATAL;
		}
		write_item(writer, &item);
	}
	return missing ? supplied(writer, err) : TR_OK;
}

/* A section of entries for addresses of so many digits. TR_WARN: err is a note about it. */
static enum tr_status begin_entries(struct writer *writer, uint8_t digits, struct tr_error *err)
{
	struct tr_gnatcov_section section = { .kind = TR_GNATCOV_FLAT };

	if (writer->place == IN_INFO)
		section = writer->section;
	section.kind = TR_GNATCOV_FLAT;
	section.pc_size = digits / 2;
	section.pad = 0;
	if (writer->place == NOWHERE)
		write_info_section(writer, &section);
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
	char *p = tr_output_room(writer->out, ENTRY_MAX);
	if (section->pc_size == 4) {
		tr_wire_put_u32(p, section->big, (uint32_t)entry->address);
		p[7] = (char)entry->pad;
	} else {
		tr_wire_put_u64(p, section->big, entry->address);
		tr_wire_put_pad(p + 11, 5, entry->pad);
	}
	tr_wire_put_u16(p + section->pc_size, section->big, entry->size);
	p[section->pc_size + 2] = (char)entry->op;
	tr_output_used(writer->out, section->pc_size * 2u);
	return status;
}

static enum tr_status put_block(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	struct tr_block entry;
	enum tr_status status = tr_block_read(record, &entry, err);

	return status == TR_OK ? write_entry(writer, &entry, err) : status;
}

/* A list whose items were looked at before: nothing can go wrong with them but memory. */
static enum tr_status write_list(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_gnatcov_item item;
	enum tr_status status;
	size_t next = 0;

	while ((status = tr_gnatcov_next_item(record, &next, &item, err)) == TR_OK) {
		if (!tr_gnatcov_turn_date(&item, writer->was_big, writer->section.big,
					  record->arena)) {
			tr_error_memory(err);
			return TR_FATAL;
		}
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
	struct tr_gnatcov_item item;
	size_t next = 0;

	if (!tr_address_read(&record->name, &entry.address, &entry.digits)) {
		tr_error_set(err, TR_CAUSE_INPUT, "left out: no address of 8 or 16 digits");
		return TR_WARN;
	}
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = tr_gnatcov_entry_pad(record, &entry.pad, err);
	while (status == TR_OK && special == TR_GNATCOV_LOAD)
		status = tr_gnatcov_next_item(record, &next, &item, err);
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

static void count_misfit(struct writer *writer, struct tr_text kind)
{
	size_t i = 0, len = sizeof writer->misfits[0].kind - 1;

	if (kind.len < len)
		len = kind.len;
	while (i < writer->misfit_count && (strlen(writer->misfits[i].kind) != len ||
					    memcmp(writer->misfits[i].kind, kind.data, len) != 0))
		i++;
	if (i == MISFITS)
		i--; /* a stream with so many kinds does not care */
	if (i == writer->misfit_count) {
		memcpy(writer->misfits[i].kind, kind.data, len);
		writer->misfit_count++;
	}
	writer->misfits[i].count++;
}

static enum tr_status put_record(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	writer->records += !tr_text_is(record->kind, "leave") ||
			   record->name.type == TR_CELL_ABSENT; /* as the trailer counts */
	if (tr_text_is(record->kind, "block"))
		status = put_block(writer, record, err);
	else if (tr_text_is(record->kind, "section"))
		status = put_section(writer, record, err);
	else if (tr_text_is(record->kind, "info"))
		status = put_info(writer, record, err);
	else if (tr_text_is(record->kind, "load"))
		status = put_special(writer, record, TR_GNATCOV_LOAD, err);
	else if (tr_text_is(record->kind, "unload"))
		status = put_special(writer, record, TR_GNATCOV_UNLOAD, err);
	else if (tr_text_is(record->kind, "loadaddr"))
		status = put_special(writer, record, TR_GNATCOV_LOADADDR, err);
	else
		count_misfit(writer, record->kind);
	tr_output_record_end(writer->out);
	return status;
}

enum tr_status tr_gnatcov_put(struct tr_writer *base, struct tr_record *record,
			      struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
	enum tr_status status;

	switch (record->type) {
	case TR_RECORD:
		return put_record(writer, record, err);
	case TR_HEADER:
		status = end_segment(writer, NULL, err);
		writer->headed = true;
		return status;
	case TR_TRAILER:
		return end_segment(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_gnatcov_finish(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;

	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		if (status != TR_OK)
			return status;
	}
	if (writer->misfits_told == writer->misfit_count)
		return TR_OK;
	size_t i = writer->misfits_told++;
	tr_error_set(err, TR_CAUSE_INPUT, "records of kind %s have no place in gnatcov: %" PRIu64,
		     writer->misfits[i].kind, writer->misfits[i].count);
	err->severity = TR_DETAIL;
	return TR_WARN;
}
