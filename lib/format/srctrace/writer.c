#include <stdlib.h>

#include "format/segment_writer.h"
#include "format/srctrace/build.h"
#include "format/srctrace/srctrace.h"
#include "format/srctrace/writer_console.h"
#include "record/ask.h"

enum { DEFAULT_ALIGN = 8 };

struct writer {
	struct tr_segment_writer base;
	struct tr_srctrace_console console;
	bool base64;
	struct tr_text align, endian; /* -O; data NULL: as the trace was */
	struct tr_buffer entry;

	/* the trace */
	struct tr_srctrace_layout layout;
	unsigned padding; /* of the header; 0 unless it was so in the source */
	bool same_layout; /* as in the source, so that .raw holds */
	bool headed;	  /* it has a header in the stream */
	bool known;	  /* which says that there was a trace, and not just an attempt */
	bool begun;	  /* its header was written */
	bool units;	  /* behind the information entries */
};

static void put_bytes(struct writer *writer, struct tr_text bytes)
{
	if (writer->base64)
		tr_srctrace_console_put(&writer->console, bytes);
	else
		tr_output_put_text(writer->base.out, bytes);
}

static bool is_alignment(uint64_t n)
{
	return n && n <= 16 && !(n & (n - 1));
}

/* How the trace is to be laid out: -O, else as it was, else what most programs write. */
static enum tr_status choose_layout(struct writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	struct tr_srctrace_layout source = { 0, false };
	uint64_t align = header ? tr_ask_number(header, "align", 0, err) : 0;
	uint64_t padding = header ? tr_ask_number(header, ".pad", 0, err) : 0;
	writer->known = is_alignment(align);
	if (writer->known)
		source.align = (unsigned)align;
	source.big = header && tr_ask_is(header, "endian", "big", err);
	writer->layout = source;
	if (!source.align)
		writer->layout.align = DEFAULT_ALIGN;
	if (writer->align.data)
		writer->layout.align =
			writer->align.len == 2 ? 16 : (unsigned)(*writer->align.data - '0');
	if (writer->endian.data)
		writer->layout.big = tr_text_is(writer->endian, "big");
	writer->same_layout =
		source.align == writer->layout.align && source.big == writer->layout.big;
	writer->padding = writer->same_layout && padding <= 0xffff ? (unsigned)padding : 0;
	return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_OK;
}

/* Header of the trace, if it is not there yet. */
static bool begin_trace(struct writer *writer)
{
	struct tr_buffer *entry = &writer->entry;
	if (writer->begun)
		return true;
	writer->begun = true;
	tr_buffer_reset(entry);
	tr_buffer_put(entry, TR_SRCTRACE_MAGIC, TR_SRCTRACE_MAGIC_SIZE);
	tr_srctrace_put_u32(TR_SRCTRACE_VERSION, writer->layout.big, entry);
	tr_buffer_put_byte(entry, (char)writer->layout.align);
	tr_buffer_put_byte(entry, writer->layout.big);
	unsigned high = writer->padding >> 8, low = writer->padding & 0xff;
	tr_buffer_put_byte(entry, (char)(writer->layout.big ? high : low));
	tr_buffer_put_byte(entry, (char)(writer->layout.big ? low : high));
	if (writer->base64)
		tr_srctrace_console_begin(&writer->console);
	put_bytes(writer, tr_buffer_text(entry));
	return !entry->failed;
}

static void end_infos(struct writer *writer)
{
	static const char end[TR_SRCTRACE_INFO];
	if (!writer->units)
		put_bytes(writer, (struct tr_text){ end, sizeof end });
	writer->units = true;
}

/* What is begun becomes whole; a trace without entries is one too. */
static enum tr_status end_trace(void *self, struct tr_error *err)
{
	struct writer *writer = self;
	if (writer->headed && writer->known && !begin_trace(writer))
		return tr_error_memory(err);
	if (writer->begun) {
		end_infos(writer);
		if (writer->base64)
			tr_srctrace_console_end(&writer->console);
	}
	writer->headed = writer->known = writer->begun = false;
	writer->units = false;
	return TR_OK;
}

static enum tr_status begin_segment(void *self, struct tr_record *header, struct tr_error *err)
{
	struct writer *writer = self;
	writer->headed = true;
	return choose_layout(writer, header, err);
}

/* Says of which record a message is. */
static enum tr_status about(const struct tr_record *record, enum tr_status status,
			    struct tr_error *err)
{
	if (status == TR_WARN)
		tr_error_at_line(err, record->source_line);
	return status;
}

/* A stream without a header: a trace all the same. */
static enum tr_status supply_header(struct writer *writer, struct tr_error *err)
{
	if (writer->headed)
		return TR_OK;
	writer->headed = true;
	tr_error_clear(err);
	(void)choose_layout(writer, NULL, err); /* nothing is asked */
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the stream has no header: alignment %u, %s endian are supplied",
		     writer->layout.align, writer->layout.big ? "big" : "little");
	tr_error_is_note(err);
	return TR_WARN;
}

static enum tr_status put_entry(struct writer *writer, struct tr_record *record, bool unit,
				struct tr_error *err)
{
	struct tr_buffer *entry = &writer->entry;
	if (!begin_trace(writer))
		return tr_error_memory(err);
	if (!unit && writer->units) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a source trace cannot hold information after a unit");
		return about(record, TR_WARN, err);
	}
	tr_buffer_reset(entry);
	enum tr_status status = unit ? tr_srctrace_build_unit(record, &writer->layout, entry, err)
				     : tr_srctrace_build_info(record, &writer->layout, entry, err);
	if (status != TR_OK)
		return about(record, status, err);
	if (writer->same_layout && !tr_srctrace_build_raw(record, &writer->layout, entry))
		return tr_error_memory(err);
	if (unit)
		end_infos(writer);
	put_bytes(writer, tr_buffer_text(entry));
	return TR_OK;
}

static enum tr_status put_record(void *self, struct tr_record *record, struct tr_error *err)
{
	struct writer *writer = self;
	bool unit = tr_text_is(record->kind, "unit");
	if (!unit && !tr_text_is(record->kind, "info"))
		return TR_END;
	struct tr_error remark;
	enum tr_status supplied = supply_header(writer, &remark);
	enum tr_status status = put_entry(writer, record, unit, err);
	if (status == TR_OK && supplied != TR_OK) {
		*err = remark;
		status = supplied;
	}
	return status;
}

static const struct tr_segment_steps steps = {
	.format = "srctrace",
	.begin = begin_segment,
	.put = put_record,
	.end = end_trace,
};

struct tr_writer *tr_srctrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	struct writer *writer = tr_segment_writer_new(sizeof *writer, &steps, out, err);
	if (!writer)
		return NULL;
	writer->console.out = out;
	writer->base64 = tr_text_is(tr_setting_get(&config->settings, "base64", "no"), "yes");
	writer->align = tr_setting_get(&config->settings, "align", NULL);
	writer->endian = tr_setting_get(&config->settings, "endian", NULL);
	return (struct tr_writer *)writer;
}

void tr_srctrace_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;
	tr_buffer_free(&writer->entry);
	free(writer);
}
