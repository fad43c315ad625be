#include "format/bear/writer.h"

#include <inttypes.h>
#include <stdlib.h>

static void forget_segment(struct tr_bear_writer *writer)
{
	tr_follow_free(&writer->follow);
	tr_recent_free(&writer->pids);
	tr_recent_free(&writer->rids);
}

static enum tr_status end_segment(void *self, struct tr_error *err)
{
	(void)err;
	forget_segment(self);
	return TR_OK;
}

static enum tr_status begin_segment(void *self, struct tr_record *header, struct tr_error *err)
{
	struct tr_bear_writer *writer = self;

	(void)err;
	writer->version = writer->version_wanted ? writer->version_wanted
			  : writer->base.faithful && tr_command_number(header, "version") == 4 ? 4
											       : 3;
	return TR_OK;
}

/* Writes the line, unless something is wrong with it. */
static enum tr_status finish_line(struct tr_bear_writer *writer, enum tr_status status,
				  struct tr_error *err)
{
	if (writer->line.failed)
		return tr_error_memory(err);
	if (status != TR_OK)
		return status;
	tr_output_put_text(writer->base.out, tr_buffer_text(&writer->line));
	return TR_OK;
}

static enum tr_status put_exec(struct tr_bear_writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_command command;
	enum tr_status status;

	if (tr_command_failed(record))
		return TR_OK;
	if (!writer->base.faithful) {
		status = tr_follow_record(&writer->follow, record, err);
		if (status != TR_OK)
			return status;
	}
	status = tr_command_read(record, &command, err);
	if (status != TR_OK)
		return status;
	if (!tr_command_is_whole(&command))
		return tr_command_left_out(&command, err);
	return finish_line(writer, tr_bear_render_exec(writer, record, &command, err), err);
}

static enum tr_status put_exit(struct tr_bear_writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	enum tr_status status =
		writer->version == 4 ? TR_END : tr_bear_render_exit(writer, record, err);

	return status == TR_END ? TR_END : finish_line(writer, status, err);
}

/* What was no event goes back as it was. */
static enum tr_status put_raw(struct tr_bear_writer *writer, struct tr_record *record,
			      struct tr_error *err)
{
	struct tr_text text = tr_command_string(record, "text");

	tr_buffer_reset(&writer->line);
	if (!writer->base.faithful || !text.data)
		return TR_END;
	tr_buffer_put_text(&writer->line, text);
	tr_buffer_put_byte(&writer->line, '\n');
	return finish_line(writer, TR_OK, err);
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	struct tr_bear_writer *writer = self;
	enum tr_status status = TR_END;

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
	if (status == TR_WARN || status == TR_FATAL)
		tr_error_at_line(err, record->source_line);
	return status;
}

static enum tr_status tell(void *self, struct tr_error *err)
{
	struct tr_bear_writer *writer = self;

	if (!writer->unknown || writer->told)
		return TR_OK;
	writer->told = true;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "executions written without environment, because it is unknown: "
		     "%" PRIu64,
		     writer->unknown);
	return TR_WARN;
}

static const struct tr_segment_steps steps = {
	.format = "bear",
	.begin = begin_segment,
	.put = put_record,
	.end = end_segment,
	.tell = tell,
};

struct tr_writer *tr_bear_create(const struct tr_write_config *config, struct tr_output *out,
				 struct tr_error *err)
{
	struct tr_text version = tr_setting_get(&config->settings, "version", "");
	struct tr_bear_writer *writer = tr_segment_writer_new(sizeof *writer, &steps, out, err);

	if (!writer)
		return NULL;
	writer->next_rid = 1;
	writer->version_wanted = tr_text_is(version, "4") ? 4 : tr_text_is(version, "3") ? 3 : 0;
	writer->version = writer->version_wanted ? writer->version_wanted : 3;
	return (struct tr_writer *)writer;
}

void tr_bear_discard(struct tr_writer *base)
{
	struct tr_bear_writer *writer = (struct tr_bear_writer *)base;

	forget_segment(writer);
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->literal);
	free(writer);
}
