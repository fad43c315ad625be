#include "format/bear/writer.h"

#include <inttypes.h>
#include <stdlib.h>

struct tr_writer *tr_bear_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	struct tr_text version = tr_setting_get(&config->settings, "version", "");
	struct tr_bear_writer *writer = calloc(1, sizeof *writer);

	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	writer->next_rid = 1;
	writer->version_wanted = tr_text_is(version, "4") ? 4 : tr_text_is(version, "3") ? 3 : 0;
	writer->version = writer->version_wanted ? writer->version_wanted : 3;
	return (struct tr_writer *)writer;
}

static void forget_segment(struct tr_bear_writer *writer)
{
	tr_follow_free(&writer->follow);
	tr_recent_free(&writer->pids);
	tr_recent_free(&writer->rids);
}

void tr_bear_discard(struct tr_writer *base)
{
	struct tr_bear_writer *writer = (struct tr_bear_writer *)base;

	forget_segment(writer);
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->literal);
	free(writer);
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

static enum tr_status end_segment(struct tr_bear_writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	forget_segment(writer);
	writer->faithful = false;
	return tr_framing_end(&writer->framing, trailer, err);
}

static enum tr_status begin_segment(struct tr_bear_writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	if (tr_record_split(header, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = end_segment(writer, NULL, err);
	struct tr_field *format = tr_record_field(header, "format");
	tr_framing_begin(&writer->framing);
	writer->faithful = format && format->text.data && tr_text_is(format->text, "bear");
	writer->version = writer->version_wanted ? writer->version_wanted
			  : writer->faithful && tr_command_number(header, "version") == 4 ? 4
											  : 3;
	return status;
}

/* Writes the line, unless something is wrong with it. */
static enum tr_status finish_line(struct tr_bear_writer *writer, enum tr_status status,
				  struct tr_error *err)
{
	if (writer->line.failed)
		return out_of_memory(err);
	if (status != TR_OK)
		return status;
	tr_output_put_text(writer->out, tr_buffer_text(&writer->line));
	tr_output_record_end(writer->out);
	return TR_OK;
}

static enum tr_status put_exec(struct tr_bear_writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_command command;
	enum tr_status status;

	if (tr_command_failed(record))
		return TR_OK;
	if (!writer->faithful) {
		status = tr_follow_record(&writer->follow, record, err);
		if (status != TR_OK)
			return status;
	}
	status = tr_command_read(record, &command, err);
	if (status != TR_OK)
		return status;
	if (command.cut || !command.directory.data) {
		tr_error_set(err, TR_CAUSE_INPUT, "%s",
			     command.cut ? "the tracer cut its arguments: left out"
					 : "its directory is not known: left out");
		return TR_WARN;
	}
	return finish_line(writer, tr_bear_render_exec(writer, record, &command, err), err);
}

static enum tr_status put_exit(struct tr_bear_writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	enum tr_status status =
		writer->version == 4 ? TR_END : tr_bear_render_exit(writer, record, err);

	if (status != TR_END)
		return finish_line(writer, status, err);
	tr_misfits_add(&writer->misfits, record->kind);
	return TR_OK;
}

/* What was no event goes back as it was. */
static enum tr_status put_raw(struct tr_bear_writer *writer, struct tr_record *record,
			      struct tr_error *err)
{
	struct tr_text text = tr_command_string(record, "text");

	tr_buffer_reset(&writer->line);
	if (!writer->faithful || !text.data) {
		tr_misfits_add(&writer->misfits, record->kind);
		return TR_OK;
	}
	tr_buffer_put_text(&writer->line, text);
	tr_buffer_put_byte(&writer->line, '\n');
	return finish_line(writer, TR_OK, err);
}

static enum tr_status put_record(struct tr_bear_writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_text_is(record->kind, "exec"))
		status = put_exec(writer, record, err);
	else if (tr_text_is(record->kind, "exit"))
		status = put_exit(writer, record, err);
	else if (tr_text_is(record->kind, "raw"))
		status = put_raw(writer, record, err);
	else if (tr_text_is(record->kind, "env"))
		status = tr_follow_record(&writer->follow, record, err);
	else
		tr_misfits_add(&writer->misfits, record->kind);
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	if (!tr_framing_lost(status, err))
		tr_framing_count(&writer->framing, record);
	return status;
}

enum tr_status tr_bear_put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct tr_bear_writer *writer = (struct tr_bear_writer *)base;

	tr_error_clear(err);
	switch (record->type) {
	case TR_HEADER:
		return begin_segment(writer, record, err);
	case TR_TRAILER:
		return end_segment(writer, record, err);
	case TR_RECORD:
		return put_record(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_bear_finish(struct tr_writer *base, struct tr_error *err)
{
	struct tr_bear_writer *writer = (struct tr_bear_writer *)base;

	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		if (status != TR_OK)
			return status;
	}
	if (writer->unknown && !writer->told) {
		writer->told = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "executions written without environment, because it is not known: "
			     "%" PRIu64,
			     writer->unknown);
		return TR_WARN;
	}
	return tr_misfits_tell(&writer->misfits, "bear", err);
}
