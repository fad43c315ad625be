/* SPDX-License-Identifier: MIT */
/* The writer: segments of the stream become streams of a file. */

#include <inttypes.h>

#include "format/apitrace/apitrace.h"
#include "format/apitrace/encode.h"
#include "format/writer_base.h"

/* Remarks that are reported once, after more urgent messages. */
enum remark {
	REBUILT = 1,
	UNORDERED = 2,
	FURTHER = 4,
};

struct writer {
	struct tr_writer base;
	struct tr_encoder encoder;
	int version;		    /* -1: that of the stream */
	bool begun;		    /* the head is written */
	uint64_t written;	    /* bytes */
	struct tr_buffer tail;	    /* the bytes of the last event, which is cut */
	uint64_t last, late;	    /* seq of the last enter; of the first one that came too late */
	unsigned pending, reported; /* enum remark */
};

/* Writes the bytes of the encoder. */
static void send(struct writer *writer)
{
	struct tr_text bytes = tr_buffer_text(&writer->encoder.bytes);
	tr_output_put_text(writer->base.out, bytes);
	writer->written += bytes.len;
}

/* Writes the head of a stream. */
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

/* Writes the cut event that the source ended with. */
static void put_tail(struct writer *writer)
{
	tr_output_put_text(writer->base.out, tr_buffer_text(&writer->tail));
	writer->written += writer->tail.len;
	tr_buffer_reset(&writer->tail);
}

/* A further stream of the file that the one before came from: see apitrace.h. */
static bool is_further(const struct writer *writer, struct tr_record *header)
{
	return writer->base.faithful && tr_record_field(header, "stream");
}

/*
 * Begins a stream. A second segment is refused unless both came from one file: apitrace cannot read
 * a file of several traces, and ids of one mean something else in the other.
 */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	if (!writer->begun)
		return begin_trace(writer, header, err);
	if (is_further(writer, header)) {
		put_tail(writer);
		tr_encoder_restart(&writer->encoder);
		writer->last = 0;
		writer->pending |= FURTHER & ~writer->reported;
		return begin_trace(writer, header, err);
	}
	tr_error_set(err, TR_CAUSE_USAGE,
		     "a second trace begins here, and an apitrace file holds only one: write "
		     "each separately, or all into an archive (-o NAME.tar) or a directory (-o "
		     "NAME/)");
	return TR_FATAL;
}

/*
 * Notes the first call that comes after one with a higher number. Calls are numbered by their place
 * in the trace, so such a call gets another number.
 */
static void check_order(struct writer *writer, const struct tr_record *record)
{
	const struct tr_cell *cell = &record->seq;
	uint64_t seq;
	if (!(cell->type == TR_CELL_TEXT && tr_decimal_id(cell->text, &seq)) &&
	    !tr_cell_number(cell, &seq))
		return;
	if (seq < writer->last && !(writer->reported & UNORDERED)) {
		writer->late = seq;
		writer->pending |= UNORDERED;
	} else {
		writer->last = seq;
	}
}

/* Whether the kind has events in a trace; *enters: it enters a call. */
static bool is_call(struct tr_text kind, bool *enters)
{
	*enters = tr_text_is(kind, "call") || tr_text_is(kind, "enter");
	return *enters || tr_text_is(kind, "leave");
}

/* The next remark, each of them once. TR_OK: there is none. */
static enum tr_status report(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	enum remark remark;
	if (writer->pending & UNORDERED) {
		remark = UNORDERED;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "call %" PRIu64 " comes after call %" PRIu64 ": calls are written in "
			     "the order of the stream; to restore call order: sort -s -n -k2 "
			     "(the lines with %% stay in front)",
			     writer->late, writer->last);
	} else if (writer->pending & FURTHER) {
		remark = FURTHER;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the file gets several streams, like the file that they came from: "
			     "apitrace reads only the first (-o NAME/ writes a file for each)");
	} else if (writer->encoder.signatures.any_rebuilt && !(writer->reported & REBUILT)) {
		remark = REBUILT;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "definitions are missing from the stream: rebuilt from the records");
	} else {
		return TR_OK;
	}
	writer->pending &= ~(unsigned)remark;
	writer->reported |= remark;
	tr_error_is_note(err);
	return TR_WARN;
}

/* Writes the events of a call. */
static enum tr_status put_call(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	if (!writer->begun && begin_trace(writer, NULL, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = tr_encode_record(&writer->encoder, record, err);
	if (status == TR_FATAL)
		return status;
	send(writer);
	return status == TR_OK ? report(&writer->base, err) : status;
}

/*
 * Keeps the cut event of the end of a trace, if everything before it is as long as it was: its
 * ids would mean something else in another trace. False: the record is not such an end.
 */
static bool keep_tail(struct writer *writer, struct tr_record *record)
{
	struct tr_value *bytes = tr_record_value(record, "text", NULL);
	struct tr_value *place = tr_record_value(record, ".offset", NULL);
	if (!bytes || !place || bytes->type != TR_BLOB || place->type != TR_UINT ||
	    place->as.number != writer->written)
		return false;
	tr_buffer_reset(&writer->tail);
	tr_buffer_put_text(&writer->tail, bytes->text);
	return true;
}

/* Takes a record that is not a call. TR_END: the format cannot hold it. */
static enum tr_status put_other(struct writer *writer, struct tr_record *record,
				struct tr_error *err)
{
	bool is_raw = tr_text_is(record->kind, "raw");
	if (is_raw && tr_record_split(record, err) == TR_OK && keep_tail(writer, record))
		return writer->tail.failed ? tr_error_memory(err) : TR_OK;
	return TR_END;
}

/* Writes one record. TR_END: the format has no place for its kind. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	bool enters;
	if (!is_call(record->kind, &enters))
		return put_other(writer, record, err);
	if (writer->tail.len)
		tr_buffer_reset(&writer->tail); /* it was not the end of the trace */
	if (enters)
		check_order(writer, record);
	return put_call(writer, record, err);
}

/* Takes a definition, which is written at its first use. */
static enum tr_status define(struct tr_writer *base, struct tr_record *definition,
			     struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	return tr_written_define(&writer->encoder.signatures, definition, err);
}

/* Ends the file: with the tail, and at least with a head. */
static enum tr_status close_trace(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = tr_container(base, struct writer, base);
	/* a trace without calls has a head; if that was cut, its bytes are in the tail */
	if (!writer->begun && !writer->tail.len && begin_trace(writer, NULL, err) == TR_FATAL)
		return TR_FATAL;
	put_tail(writer);
	return TR_OK;
}

static void discard(struct tr_writer *base)
{
	struct writer *writer = tr_container(base, struct writer, base);
	tr_encoder_free(&writer->encoder);
	tr_buffer_free(&writer->tail);
}

static const struct tr_writer_steps steps = {
	.format = "apitrace",
	.begin = begin_segment,
	.define = define,
	.put = put_record,
	.close = close_trace,
	.report = report,
	.discard = discard,
};

struct tr_writer *tr_apitrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	struct tr_text version = tr_setting_get(&config->settings, "version", "");
	struct writer *writer = tr_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->version = version.len ? *version.data - '0' : -1;
	return &writer->base;
}
