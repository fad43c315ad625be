#include <stdlib.h>

#include "format/kwspec/kwspec.h"
#include "record/framing.h"
#include "record/misfits.h"

struct writer {
	struct tr_output *out;
	struct tr_call_config calls;
	struct tr_framing framing;
	struct tr_kinship kinship; /* of the segment */
	struct tr_buffer lines;	   /* of the record */
	bool begun, finished;
	struct tr_misfits misfits;
};

struct tr_writer *tr_kwspec_create(const struct tr_write_config *config, struct tr_output *out,
				   struct tr_error *err)
{
	struct tr_text quoting = tr_setting_get(&config->settings, "quoting", "auto");
	struct writer *writer = calloc(1, sizeof *writer);

	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	writer->calls.quoting = tr_text_is(quoting, "gnu")	 ? TR_CALL_QUOTING_GNU
				: tr_text_is(quoting, "windows") ? TR_CALL_QUOTING_WINDOWS
								 : TR_CALL_QUOTING_AUTO;
	return (struct tr_writer *)writer;
}

void tr_kwspec_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;

	tr_kinship_free(&writer->kinship);
	tr_buffer_free(&writer->lines);
	free(writer);
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

/* A specification begins with its version, also one of nothing. */
static void begin(struct writer *writer)
{
	if (!writer->begun)
		tr_output_put_literal(writer->out, "version;108\n");
	writer->begun = true;
}

static bool emit(void *context, struct tr_text lines)
{
	struct writer *writer = context;

	begin(writer);
	tr_output_put_text(writer->out, lines);
	tr_output_record_end(writer->out);
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
	bool whole = !call.command.cut && call.command.directory.data;
	tr_buffer_reset(&writer->lines);
	if (whole && call.tool != TR_TOOL_NONE &&
	    !tr_kwspec_lines(&call, record->arena, &writer->lines))
		return out_of_memory(err);
	enum tr_kin_verdict verdict = tr_kinship_take(&writer->kinship, record, call.kin,
						      tr_buffer_text(&writer->lines), emit, writer);
	if (verdict == TR_KIN_FAILED)
		return out_of_memory(err);
	if (verdict == TR_KIN_HIDDEN || call.kin == TR_KIN_OTHER)
		return TR_OK;
	if (whole)
		return call.expansion.missing ? tr_respfile_missing(call.expansion.example, err)
					      : TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT, "%s",
		     call.command.cut ? "the tracer cut its arguments: left out"
				      : "its directory is not known: left out");
	return TR_WARN;
}

static enum tr_status put_record(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;

	if (tr_text_is(record->kind, "exec"))
		status = put_exec(writer, record, err);
	else
		tr_misfits_add(&writer->misfits, record->kind);
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	if (!tr_framing_lost(status, err))
		tr_framing_count(&writer->framing, record);
	return status;
}

static enum tr_status end_segment(struct writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	if (!tr_kinship_end(&writer->kinship, emit, writer))
		return out_of_memory(err);
	return tr_framing_end(&writer->framing, trailer, err);
}

enum tr_status tr_kwspec_put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
	enum tr_status status;

	tr_error_clear(err);
	switch (record->type) {
	case TR_HEADER:
		status = end_segment(writer, NULL, err);
		tr_framing_begin(&writer->framing);
		return status;
	case TR_TRAILER:
		return end_segment(writer, record, err);
	case TR_RECORD:
		return put_record(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_kwspec_finish(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;

	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		begin(writer);
		if (status != TR_OK)
			return status;
	}
	return tr_misfits_tell(&writer->misfits, "kwspec", err);
}
