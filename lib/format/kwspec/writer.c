#include <stdlib.h>

#include "format/kwspec/kwspec.h"
#include "format/segment_writer.h"

struct writer {
	struct tr_segment_writer base;
	struct tr_call_config calls;
	struct tr_kinship kinship; /* of the segment */
	struct tr_buffer lines;	   /* of the record */
	struct tr_buffer config;   /* lines that stand in front of all */
	bool begun;
};

/* A specification begins with its version, also one of nothing. */
static void begin(struct writer *writer)
{
	if (writer->begun)
		return;
	writer->begun = true;
	tr_output_put_literal(writer->base.out, "version;108\n");
	tr_output_put_text(writer->base.out, tr_buffer_text(&writer->config));
}

static bool emit(void *context, struct tr_text lines)
{
	struct writer *writer = context;

	begin(writer);
	writer->base.entries = writer->base.entries || lines.len;
	tr_output_put_text(writer->base.out, lines);
	return true;
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_call call;

	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	if (tr_command_failed(record))
		return TR_OK;
	enum tr_status status = tr_call_read(record, &writer->calls, &call, err);
	if (status != TR_OK)
		return status;
	bool whole = tr_command_is_whole(&call.command);
	tr_buffer_reset(&writer->lines);
	struct tr_text product = { NULL, 0 };
	if (call.tool != TR_TOOL_NONE && !tr_call_product(&call, record->arena, &product))
		return tr_error_memory(err);
	if (whole && call.tool != TR_TOOL_NONE)
		status = tr_kwspec_lines(&call, product, record->arena, &writer->lines, err);
	if (status == TR_FATAL)
		return status;
	enum tr_kin_verdict verdict = tr_kinship_take(&writer->kinship, record, call.kin, product,
						      tr_buffer_text(&writer->lines), emit, writer);
	if (verdict == TR_KIN_FAILED)
		return tr_error_memory(err);
	if (verdict == TR_KIN_HIDDEN || call.kin == TR_KIN_OTHER)
		return TR_OK;
	if (status != TR_OK)
		return status;
	if (whole)
		return tr_respfile_report(&call.expansion.left, &writer->calls.roots, err);
	return tr_command_left_out(&call.command, err);
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	if (!tr_text_is(record->kind, "exec"))
		return TR_END;
	enum tr_status status = put_exec(self, record, err);
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	return status;
}

static enum tr_status end_segment(void *self, struct tr_error *err)
{
	struct writer *writer = self;

	return tr_kinship_end(&writer->kinship, emit, writer) ? TR_OK : tr_error_memory(err);
}

static enum tr_status close_specification(void *self, struct tr_error *err)
{
	(void)err;
	begin(self);
	return TR_OK;
}

static const struct tr_segment_steps steps = {
	.format = "kwspec",
	.empty = "no command here compiles or links: the specification has no entries",
	.put = put_record,
	.end = end_segment,
	.close = close_specification,
};

struct tr_writer *tr_kwspec_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct writer *writer = tr_segment_writer_new(sizeof *writer, &steps, out, err);
	struct tr_text path = tr_setting_get(&config->settings, "config", "");

	if (!writer)
		return NULL;
	if (!tr_setting_get_roots(&config->settings, "respfile-root", &writer->calls.roots, err) ||
	    (path.len && !tr_kwspec_config_read(path, &writer->config, err))) {
		tr_kwspec_discard((struct tr_writer *)writer);
		return NULL;
	}
	writer->calls.quoting =
		tr_call_quoting_of(tr_setting_get(&config->settings, "quoting", "auto"));
	return (struct tr_writer *)writer;
}

void tr_kwspec_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	tr_kinship_free(&writer->kinship);
	tr_buffer_free(&writer->lines);
	tr_buffer_free(&writer->config);
	tr_file_roots_free(&writer->calls.roots);
	free(writer);
}
