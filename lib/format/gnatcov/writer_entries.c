/* What was executed, as bytes. */
#include "config.h"

#include "core/wire.h"
#include "format/gnatcov/writer.h"

enum tr_status tr_gnatcov_supplied(struct tr_gnatcov_writer *writer, struct tr_error *err)
{
	if (writer->told_supplied)
		return TR_OK;
	writer->told_supplied = true;
	tr_error_set(err, TR_CAUSE_INPUT, "the stream has no section for this record: supplied");
	tr_error_is_note(err);
	return TR_WARN;
}

/* A section of entries for addresses of so many digits. TR_WARN: err is a note about it. */
static enum tr_status begin_entries(struct tr_gnatcov_writer *writer, uint8_t digits,
				    struct tr_error *err)
{
	struct tr_gnatcov_section section = { .kind = TR_GNATCOV_FLAT };

	if (writer->place == TR_GNATCOV_IN_INFO)
		section = writer->section;
	section.big = writer->place != TR_GNATCOV_NOWHERE && writer->was_big;
	section.kind = TR_GNATCOV_FLAT;
	section.pc_size = digits / 2;
	section.pad = 0;
	if (writer->place == TR_GNATCOV_NOWHERE)
		tr_gnatcov_write_info_header(writer, &section);
	tr_gnatcov_close_list(writer);
	tr_gnatcov_write_header(writer, &section);
	return tr_gnatcov_supplied(writer, err);
}

enum tr_status tr_gnatcov_write_entry(struct tr_gnatcov_writer *writer,
				      const struct tr_block *entry, struct tr_error *err)
{
	enum { ENTRY_MAX = 16 };
	const struct tr_gnatcov_section *section = &writer->section;
	enum tr_status status = TR_OK;

	if (writer->place != TR_GNATCOV_IN_ENTRIES)
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

enum tr_status tr_gnatcov_put_block(struct tr_gnatcov_writer *writer, struct tr_record *record,
				    struct tr_error *err)
{
	struct tr_block entry;
	enum tr_status status = tr_block_read(record, &entry, err);

	return status == TR_OK ? tr_gnatcov_write_entry(writer, &entry, err) : status;
}

/* A list whose items were looked at before: nothing can go wrong with them but memory. */
static enum tr_status write_list(struct tr_gnatcov_writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	struct tr_gnatcov_item item;
	enum tr_status status;
	size_t next = 0;

	while ((status = tr_gnatcov_next_item(record, &next, &item, err)) == TR_OK) {
		if (!tr_gnatcov_turn_date(&item, writer->was_big, writer->section.big,
					  record->arena))
			return tr_error_memory(err);
		tr_gnatcov_write_item(writer, &item);
	}
	if (status == TR_END)
		tr_gnatcov_end_list(writer);
	return status == TR_END ? TR_OK : status;
}

enum tr_status tr_gnatcov_put_special(struct tr_gnatcov_writer *writer, struct tr_record *record,
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
	status = tr_gnatcov_write_entry(writer, &entry, err);
	if (special != TR_GNATCOV_LOAD || (status == TR_WARN && err->severity == TR_DAMAGE))
		return status;
	struct tr_error why;
	enum tr_status list = write_list(writer, record, &why);
	if (list == TR_OK)
		return status;
	*err = why;
	return list;
}
