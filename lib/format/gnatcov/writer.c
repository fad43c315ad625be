/*
 * Sections, information and entries back to bytes. What a stream has lost on
 * its way (sections, the end of a list) is supplied, and said.
 */
#include "config.h"

#include "format/gnatcov/writer.h"

#include <stdlib.h>

static enum tr_status end_segment(void *self, struct tr_error *err)
{
	struct tr_gnatcov_writer *writer = self;

	if (writer->drcov && !tr_gnatcov_end_drcov(writer))
		return tr_error_memory(err);
	tr_gnatcov_close_list(writer);
	writer->place = TR_GNATCOV_NOWHERE;
	return TR_OK;
}

static enum tr_status begin_segment(void *self, struct tr_record *header, struct tr_error *err)
{
	if (!tr_record_field(header, "columns"))
		return TR_OK;
	return tr_gnatcov_begin_drcov(self, header, err);
}

static enum tr_status put_section(struct tr_gnatcov_writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	struct tr_gnatcov_section section;
	enum tr_status status = tr_gnatcov_section_of(record, &section, err);

	if (status != TR_OK)
		return status;
	bool first = writer->place == TR_GNATCOV_NOWHERE;
	tr_gnatcov_close_list(writer);
	/* what an emulator wrote alone has no list that the tag could stand in */
	if (first && writer->tag.len &&
	    (section.kind == TR_GNATCOV_FLAT || section.kind == TR_GNATCOV_HISTORY)) {
		tr_gnatcov_write_info_header(writer, &section);
		tr_gnatcov_close_list(writer);
	}
	tr_gnatcov_write_header(writer, &section);
	return TR_OK;
}

static enum tr_status put_info(struct tr_gnatcov_writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_gnatcov_item item;
	bool missing = writer->place != TR_GNATCOV_IN_INFO;
	bool big = writer->place == TR_GNATCOV_NOWHERE ? false : writer->was_big;
	enum tr_status status = tr_gnatcov_item_of(record, big, &item, err);

	if (status != TR_OK)
		return status;
	if (missing) {
		struct tr_gnatcov_section like = { 0 };
		if (writer->place == TR_GNATCOV_IN_ENTRIES)
			like = writer->section;
		like.big = big;
		tr_gnatcov_write_info_header(writer, &like);
	}
	if (item.tag == TR_GNATCOV_USER_DATA && writer->tag.data &&
	    !tr_text_starts(item.data, TR_TEXT(TR_DRCOV_VERSION))) {
		/* the first is the trace's tag; set, it is the only one but for a list of modules
		 */
		tr_gnatcov_write_tag(writer);
	} else {
		if (!tr_gnatcov_turn_date(&item, writer->was_big, writer->section.big,
					  record->arena))
			return tr_error_memory(err);
		tr_gnatcov_write_item(writer, &item);
	}
	return missing ? tr_gnatcov_supplied(writer, err) : TR_OK;
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	struct tr_gnatcov_writer *writer = self;

	if (writer->drcov)
		return tr_gnatcov_put_drcov(writer, record, err);
	if (tr_text_is(record->kind, "block"))
		return tr_gnatcov_put_block(writer, record, err);
	if (tr_text_is(record->kind, "section"))
		return put_section(writer, record, err);
	if (tr_text_is(record->kind, "info"))
		return put_info(writer, record, err);
	if (tr_text_is(record->kind, "load"))
		return tr_gnatcov_put_special(writer, record, TR_GNATCOV_LOAD, err);
	if (tr_text_is(record->kind, "unload"))
		return tr_gnatcov_put_special(writer, record, TR_GNATCOV_UNLOAD, err);
	if (tr_text_is(record->kind, "loadaddr"))
		return tr_gnatcov_put_special(writer, record, TR_GNATCOV_LOADADDR, err);
	return TR_END;
}

static const struct tr_segment_steps steps = {
	.format = "gnatcov",
	.begin = begin_segment,
	.put = put_record,
	.end = end_segment,
};

struct tr_writer *tr_gnatcov_create(const struct tr_write_config *config, struct tr_output *out,
				    struct tr_error *err)
{
	struct tr_text none = { NULL, 0 };
	struct tr_text endian = tr_setting_get(&config->settings, "endian", "");
	struct tr_text machine = tr_setting_get(&config->settings, "machine", "");
	struct tr_gnatcov_writer *writer = tr_segment_writer_new(sizeof *writer, &steps, out, err);

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
	return (struct tr_writer *)writer;
}

void tr_gnatcov_discard(struct tr_writer *base)
{
	struct tr_gnatcov_writer *writer = (struct tr_gnatcov_writer *)base;

	tr_module_list_free(&writer->modules);
	tr_buffer_free(&writer->program);
	free(writer);
}
