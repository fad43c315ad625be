/*
 * Sections, information and entries back to bytes. What a stream has lost on
 * its way (sections, the end of a list) is supplied, and said.
 */
#include "config.h"

#include "format/gnatcov/writer.h"

#include <stdlib.h>

struct tr_writer *tr_gnatcov_create(const struct tr_write_config *config, struct tr_output *out,
				    struct tr_error *err)
{
	struct tr_text none = { NULL, 0 };
	struct tr_text endian = tr_setting_get(&config->settings, "endian", "");
	struct tr_text machine = tr_setting_get(&config->settings, "machine", "");
	struct tr_gnatcov_writer *writer = calloc(1, sizeof *writer);

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
	struct tr_gnatcov_writer *writer = (struct tr_gnatcov_writer *)base;

	tr_module_list_free(&writer->modules);
	tr_buffer_free(&writer->program);
	free(writer);
}

/* The segment of this line is over. TR_OK, a note, or TR_FATAL: memory. */
static enum tr_status end_segment(struct tr_gnatcov_writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	if (writer->drcov && !tr_gnatcov_end_drcov(writer)) {
		tr_error_memory(err);
		return TR_FATAL;
	}
	tr_gnatcov_close_list(writer);
	writer->place = TR_GNATCOV_NOWHERE;
	return tr_framing_end(&writer->framing, trailer, err);
}

static enum tr_status begin_segment(struct tr_gnatcov_writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	enum tr_status status = end_segment(writer, NULL, err);

	if (status == TR_FATAL || tr_record_split(header, err) == TR_FATAL)
		return TR_FATAL;
	tr_framing_begin(&writer->framing);
	return tr_record_field(header, "columns") ? tr_gnatcov_begin_drcov(writer, header, err)
						  : status;
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
					  record->arena)) {
			tr_error_memory(err);
			return TR_FATAL;
		}
		tr_gnatcov_write_item(writer, &item);
	}
	return missing ? tr_gnatcov_supplied(writer, err) : TR_OK;
}

static enum tr_status put_record(struct tr_gnatcov_writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (writer->drcov)
		status = tr_gnatcov_put_drcov(writer, record, err);
	else if (tr_text_is(record->kind, "block"))
		status = tr_gnatcov_put_block(writer, record, err);
	else if (tr_text_is(record->kind, "section"))
		status = put_section(writer, record, err);
	else if (tr_text_is(record->kind, "info"))
		status = put_info(writer, record, err);
	else if (tr_text_is(record->kind, "load"))
		status = tr_gnatcov_put_special(writer, record, TR_GNATCOV_LOAD, err);
	else if (tr_text_is(record->kind, "unload"))
		status = tr_gnatcov_put_special(writer, record, TR_GNATCOV_UNLOAD, err);
	else if (tr_text_is(record->kind, "loadaddr"))
		status = tr_gnatcov_put_special(writer, record, TR_GNATCOV_LOADADDR, err);
	else
		tr_misfits_add(&writer->misfits, record->kind);
	if (!tr_framing_lost(status, err))
		tr_framing_count(&writer->framing, record);
	tr_output_record_end(writer->out);
	return status;
}

enum tr_status tr_gnatcov_put(struct tr_writer *base, struct tr_record *record,
			      struct tr_error *err)
{
	struct tr_gnatcov_writer *writer = (struct tr_gnatcov_writer *)base;

	switch (record->type) {
	case TR_RECORD:
		return put_record(writer, record, err);
	case TR_HEADER:
		return begin_segment(writer, record, err);
	case TR_TRAILER:
		return end_segment(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_gnatcov_finish(struct tr_writer *base, struct tr_error *err)
{
	struct tr_gnatcov_writer *writer = (struct tr_gnatcov_writer *)base;

	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		if (status != TR_OK)
			return status;
	}
	return tr_misfits_tell(&writer->misfits, "gnatcov", err);
}
