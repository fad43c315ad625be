#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "record/framing.h"
#include "record/misfits.h"

/* What is told once, when nothing more urgent is to be told. */
enum remark {
	REBUILT = 1,
	UNORDERED = 2,
};

struct writer {
	struct tr_output *out;
	struct tr_encoder encoder;
	int version; /* -1: that of the stream */
	bool begun;  /* the head is written */
	struct tr_framing framing;
	struct tr_misfits misfits;
	uint64_t written;	/* bytes */
	struct tr_buffer tail;	/* the bytes of the last event, which is cut */
	uint64_t last, behind;	/* seq of the last enter; of the first one that came too late */
	unsigned pending, told; /* enum remark */
	bool finished;
};

struct tr_writer *tr_apitrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	struct tr_text version = tr_setting_get(&config->settings, "version", "");
	struct writer *writer = calloc(1, sizeof *writer);
	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	writer->version = version.len ? *version.data - '0' : -1;
	return (struct tr_writer *)writer;
}

void tr_apitrace_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;
	tr_encoder_free(&writer->encoder);
	tr_buffer_free(&writer->tail);
	free(writer);
}

static void send(struct writer *writer)
{
	struct tr_text bytes = tr_buffer_text(&writer->encoder.bytes);
	tr_output_put_text(writer->out, bytes);
	writer->written += bytes.len;
}

static enum tr_status begin_trace(struct writer *writer, struct tr_record *header,
				  struct tr_error *err)
{
	enum tr_status status = tr_encode_head(&writer->encoder, header, writer->version, err);
	if (status == TR_FATAL)
		return status;
	writer->begun = true;
	send(writer);
	return status;
}

static enum tr_status begin_segment(struct writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	if (writer->begun) {
		tr_error_set(
			err, TR_CAUSE_USAGE,
			"a second trace begins here, and a file of apitrace's holds one: write "
			"each by itself, or all into an archive (-o NAME.tar)");
		return TR_FATAL;
	}
	if (tr_record_split(header, err) == TR_FATAL)
		return TR_FATAL;
	tr_framing_begin(&writer->framing);
	return begin_trace(writer, header, err);
}

static enum tr_status end_segment(struct writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	return tr_framing_end(&writer->framing, trailer, err);
}

static void look_at_order(struct writer *writer, const struct tr_record *record)
{
	uint64_t seq;
	if (!tr_cell_number(&record->seq, &seq))
		return;
	if (seq < writer->last && !(writer->told & UNORDERED)) {
		writer->behind = seq;
		writer->pending |= UNORDERED;
	} else {
		writer->last = seq;
	}
}

static bool is_call(struct tr_text kind, bool *enters)
{
	*enters = tr_text_is(kind, "call") || tr_text_is(kind, "enter");
	return *enters || tr_text_is(kind, "leave");
}

/* The next remark. TR_OK: there is none. */
static enum tr_status tell(struct writer *writer, struct tr_error *err)
{
	if (writer->pending & UNORDERED) {
		writer->pending &= ~(unsigned)UNORDERED;
		writer->told |= UNORDERED;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "call %" PRIu64 " comes behind call %" PRIu64 ": calls are written in "
			     "the order of the stream; sort -s -n -k 2 (on the lines of calls, "
			     "behind those with %%) puts it right",
			     writer->behind, writer->last);
		tr_error_is_note(err);
		return TR_WARN;
	}
	if (writer->encoder.signatures.any_rebuilt && !(writer->told & REBUILT)) {
		writer->told |= REBUILT;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "definitions are missing from the stream: rebuilt from what the "
			     "records show");
		tr_error_is_note(err);
		return TR_WARN;
	}
	return TR_OK;
}

static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	if (!writer->begun && begin_trace(writer, NULL, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = tr_encode_record(&writer->encoder, record, err);
	if (status == TR_FATAL)
		return status;
	send(writer);
	tr_output_record_end(writer->out);
	return status == TR_OK ? tell(writer, err) : status;
}

/*
 * The cut event at the end of a trace is put back only where all before it is
 * as long as it was: the numbers in it would mean something else in another
 * trace. True: the record is one.
 */
static bool keep_tail(struct writer *writer, struct tr_record *record)
{
	struct tr_error ignored;
	struct tr_field *text = tr_record_field(record, "text");
	struct tr_field *offset = tr_record_field(record, ".offset");
	struct tr_value *bytes = text ? tr_field_value(record, text, &ignored) : NULL;
	struct tr_value *place = offset ? tr_field_value(record, offset, &ignored) : NULL;
	if (!bytes || !place || bytes->type != TR_BLOB || place->type != TR_UINT ||
	    place->as.number != writer->written)
		return false;
	tr_buffer_reset(&writer->tail);
	tr_buffer_put_text(&writer->tail, bytes->text);
	return true;
}

/* What is none of the calls: TR_FATAL: memory. */
static enum tr_status put_other(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	bool is_raw = tr_text_is(record->kind, "raw");
	if (is_raw && tr_record_split(record, err) == TR_OK && keep_tail(writer, record)) {
		if (!writer->tail.failed)
			return TR_OK;
		tr_error_memory(err);
		return TR_FATAL;
	}
	tr_misfits_add(&writer->misfits, record->kind);
	return TR_OK;
}

static enum tr_status put_record(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	enum tr_status status = TR_OK;
	bool enters;
	if (!is_call(record->kind, &enters)) {
		status = put_other(writer, record, err);
	} else {
		tr_buffer_reset(&writer->tail); /* it was not the end */
		if (enters)
			look_at_order(writer, record);
		status = put_call(writer, record, err);
	}
	if (!tr_framing_lost(status, err))
		tr_framing_count(&writer->framing, record);
	return status;
}

enum tr_status tr_apitrace_put(struct tr_writer *base, struct tr_record *record,
			       struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
	tr_error_clear(err);
	switch (record->type) {
	case TR_HEADER:
		return begin_segment(writer, record, err);
	case TR_TRAILER:
		return end_segment(writer, record, err);
	case TR_DEFINITION:
		return tr_written_define(&writer->encoder.signatures, record, err);
	case TR_RECORD:
		return put_record(writer, record, err);
	default:
		return TR_OK;
	}
}

enum tr_status tr_apitrace_finish(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
	enum tr_status status = TR_OK;
	if (!writer->finished) {
		tr_output_put_text(writer->out, tr_buffer_text(&writer->tail));
		status = end_segment(writer, NULL, err);
	}
	writer->finished = true;
	if (status == TR_OK)
		status = tell(writer, err);
	return status == TR_OK ? tr_misfits_tell(&writer->misfits, "apitrace", err) : status;
}
