#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/klocwork/ids.h"
#include "format/klocwork/klocwork.h"
#include "format/klocwork/object.h"
#include "format/klocwork/render.h"

enum { KINDS = 32 };

/* How many records of a kind had no place here. */
struct misfit {
	char kind[24];
	uint64_t count;
};

struct writer {
	struct tr_output *out;
	struct tr_buffer line, raw;
	struct tr_klocwork_object object; /* scratch for .raw */
	bool amid_line;			  /* the last byte written was no LF */

	/* the segment */
	bool headed;   /* it has a header, so its trailer has to be there and right */
	bool faithful; /* it was a klocwork trace: nothing is added to it */
	bool begun;    /* something of it was written */
	uint64_t records;
	struct tr_klocwork_ids
		written; /* seq of each exec written, to its id where that is a number */
	struct tr_klocwork_ids
		later; /* parents that were not there yet, to how often they were named */

	/* the whole stream: told by finish */
	uint64_t strangers; /* execs whose parent is not among those written */
	struct misfit misfits[KINDS];
	size_t misfit_count, misfit_told;
	bool told_strangers, finished;
};

struct tr_writer *tr_klocwork_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err)
{
	(void)config;
	struct writer *writer = calloc(1, sizeof *writer);
	if (!writer) {
		tr_error_memory(err);
		return NULL;
	}
	writer->out = out;
	writer->written = writer->later = (struct tr_klocwork_ids)TR_KLOCWORK_IDS_INIT;
	return (struct tr_writer *)writer;
}

void tr_klocwork_discard(struct tr_writer *base)
{
	struct writer *writer = (struct writer *)base;
	tr_buffer_free(&writer->line);
	tr_buffer_free(&writer->raw);
	tr_klocwork_object_free(&writer->object);
	tr_klocwork_ids_free(&writer->written);
	tr_klocwork_ids_free(&writer->later);
	free(writer);
}

static enum tr_status note(struct tr_error *err)
{
	tr_error_is_note(err);
	return TR_WARN;
}

/* The cell's number, where it is one in decimal digits. */
static bool cell_number(const struct tr_cell *cell, uint64_t *number)
{
	if (cell->type == TR_CELL_NUMBER) {
		*number = cell->number;
		return true;
	}
	if (cell->type != TR_CELL_TEXT || !cell->text.len)
		return false;
	uint64_t n = 0;
	for (size_t i = 0; i < cell->text.len; i++) {
		unsigned digit = (unsigned char)cell->text.data[i] - '0';
		if (digit > 9 || n > (UINT64_MAX - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*number = n;
	return true;
}

/* What the segment's trailer should have said. TR_OK or a note. */
static enum tr_status end_segment(struct writer *writer, const struct tr_record *trailer,
				  struct tr_error *err)
{
	bool headed = writer->headed;
	uint64_t count = 0, records = writer->records;
	writer->headed = writer->faithful = writer->begun = false;
	writer->records = 0;
	tr_klocwork_ids_forget(&writer->written);
	tr_klocwork_ids_forget(&writer->later);
	if (!headed)
		return TR_OK;
	if (!trailer) {
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a segment of the stream has no trailer: it may not be whole");
		return note(err);
	}
	if (cell_number(&trailer->seq, &count) && count == records)
		return TR_OK;
	tr_error_set(err, TR_CAUSE_INPUT,
		     "the trailer counts %" PRIu64 " records, %" PRIu64 " were there", count,
		     records);
	return note(err);
}

static enum tr_status begin_segment(struct writer *writer, struct tr_record *header,
				    struct tr_error *err)
{
	if (tr_record_split(header, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = end_segment(writer, NULL, err);
	struct tr_field *format = tr_record_field(header, "format");
	writer->headed = true;
	writer->faithful = format && format->text.data && tr_text_is(format->text, "klocwork");
	return status;
}

/* A line of ours. After a unit that did not end its line (.raw) this begins a new one. */
static void put_line(struct writer *writer, struct tr_text line)
{
	if (writer->amid_line)
		tr_output_put_byte(writer->out, '\n');
	writer->amid_line = false;
	tr_output_put_text(writer->out, line);
}

static void put_raw(struct writer *writer, struct tr_text bytes)
{
	tr_output_put_text(writer->out, bytes);
	if (bytes.len)
		writer->amid_line = bytes.data[bytes.len - 1] != '\n';
}

/* A trace has a version line; a stream that was no klocwork trace, or has lost it, gets one. */
static enum tr_status begin_trace(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	bool version = tr_text_is(record->kind, "meta") && record->name.type == TR_CELL_TEXT &&
		       tr_text_is(record->name.text, "version");
	bool missing = !writer->begun && !writer->faithful && !version;
	writer->begun = true;
	if (!missing)
		return TR_OK;
	put_line(writer, TR_TEXT("{\"version\":101}\n{\"creator\":\"" PACKAGE_STRING "\"}\n"));
	tr_error_set(err, TR_CAUSE_INPUT, "version and creator were not in the stream: supplied");
	return note(err);
}

/*
 * The record's parent, for the count of those that are not in the trace, and
 * as JSON text for records that come without ppid.
 */
static bool find_parent(struct writer *writer, const struct tr_klocwork_fields *fields, char *text,
			struct tr_text *parent_id)
{
	struct tr_cell cell = { .type = TR_CELL_TEXT };
	uint64_t parent, id;
	if (!fields->parent)
		return true;
	if (fields->parent->text.data)
		cell.text = fields->parent->text;
	else
		cell = (struct tr_cell){ .type = TR_CELL_NUMBER,
					 .number = fields->parent->value->as.number };
	if (!cell_number(&cell, &parent))
		return true;
	if (tr_klocwork_ids_find_number(&writer->written, parent, &id)) {
		if (!writer->faithful) {
			struct tr_buffer digits = { text, 0, 20, false };
			tr_buffer_put_decimal(&digits, id);
			*parent_id = tr_buffer_text(&digits);
		}
		return true;
	}
	uint64_t times = 0;
	(void)tr_klocwork_ids_find_number(&writer->later, parent, &times);
	writer->strangers++;
	return tr_klocwork_ids_put_number(&writer->later, parent, times + 1);
}

/* The record is written: whoever names it as parent is right to do so. */
static bool remember(struct writer *writer, const struct tr_record *record)
{
	uint64_t seq, id, times;
	if (!cell_number(&record->seq, &seq))
		return true;
	if (tr_klocwork_ids_find_number(&writer->later, seq, &times) && times) {
		writer->strangers -= times;
		if (!tr_klocwork_ids_put_number(&writer->later, seq, 0))
			return false;
	}
	if (record->task.type == TR_CELL_ABSENT || !cell_number(&record->task, &id))
		id = seq;
	return tr_klocwork_ids_put_number(&writer->written, seq, id);
}

/* TR_OK: .raw was written. TR_END: there is none that holds. */
static enum tr_status write_raw(struct writer *writer, struct tr_record *record,
				struct tr_field *raw, struct tr_error *err)
{
	if (!raw)
		return TR_END;
	tr_buffer_reset(&writer->raw);
	if (!tr_klocwork_raw_holds(record, raw, &writer->object, &writer->raw, err))
		return err->cause == TR_CAUSE_MEMORY ? TR_FATAL : TR_END;
	put_raw(writer, tr_buffer_text(&writer->raw));
	return TR_OK;
}

static enum tr_status out_of_memory(struct tr_error *err)
{
	tr_error_memory(err);
	return TR_FATAL;
}

/* Says of which record a message is. */
static enum tr_status about(const struct tr_record *record, enum tr_status status,
			    struct tr_error *err)
{
	if (status != TR_OK)
		tr_error_at_line(err, record->source_line);
	return status;
}

static enum tr_status put_exec(struct writer *writer, struct tr_record *record,
			       struct tr_error *err)
{
	struct tr_klocwork_fields fields;
	struct tr_klocwork_overrides overrides = { { NULL, 0 }, { NULL, 0 }, false };
	char parent_text[20];
	enum tr_status status = tr_klocwork_fields_find(record, &fields, err);
	if (status != TR_OK)
		return about(record, status, err);
	if (!find_parent(writer, &fields, parent_text, &overrides.parent_id))
		return out_of_memory(err);
	tr_buffer_reset(&writer->line);
	status = write_raw(writer, record, fields.raw, err);
	if (status == TR_FATAL)
		return status;
	if (status == TR_END) {
		status = tr_klocwork_render_exec(record, &fields, &overrides, &writer->line, err);
		if (status != TR_OK)
			return about(record, status, err);
		tr_buffer_put_byte(&writer->line, '\n');
		put_line(writer, tr_buffer_text(&writer->line));
	}
	return remember(writer, record) ? TR_OK : out_of_memory(err);
}

static enum tr_status put_context(struct writer *writer, struct tr_record *record,
				  struct tr_error *err)
{
	tr_buffer_reset(&writer->line);
	if (tr_record_split(record, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = write_raw(writer, record, tr_record_field(record, ".raw"), err);
	if (status != TR_END)
		return status;
	status = tr_klocwork_render_context(record, &writer->line, err);
	if (status != TR_OK)
		return about(record, status, err);
	tr_buffer_put_byte(&writer->line, '\n');
	put_line(writer, tr_buffer_text(&writer->line));
	return TR_OK;
}

/* Counts a record of a kind that has no place in a build trace. */
static void count_misfit(struct writer *writer, struct tr_text kind)
{
	size_t i = 0, length = sizeof writer->misfits[0].kind - 1;
	if (kind.len < length)
		length = kind.len;
	while (i < writer->misfit_count &&
	       (strlen(writer->misfits[i].kind) != length ||
		memcmp(writer->misfits[i].kind, kind.data, length) != 0))
		i++;
	if (i == KINDS)
		i = KINDS - 1; /* a stream with so many kinds does not care */
	if (i == writer->misfit_count) {
		memcpy(writer->misfits[i].kind, kind.data, length);
		writer->misfit_count++;
	}
	writer->misfits[i].count++;
}

static bool counts_as_record(const struct tr_record *record)
{
	/* an enter and its leave are one record; a leave without an enter has no name */
	return !tr_text_is(record->kind, "leave") || record->name.type == TR_CELL_ABSENT;
}

static enum tr_status put_record(struct writer *writer, struct tr_record *record,
				 struct tr_error *err)
{
	bool exec = tr_text_is(record->kind, "exec");
	writer->records += counts_as_record(record);
	if (!exec && !tr_text_is(record->kind, "meta") && !tr_text_is(record->kind, "env") &&
	    !tr_text_is(record->kind, "raw")) {
		count_misfit(writer, record->kind);
		return TR_OK;
	}
	struct tr_error remark;
	enum tr_status begun = begin_trace(writer, record, &remark);
	enum tr_status status =
		exec ? put_exec(writer, record, err) : put_context(writer, record, err);
	if (status == TR_OK && begun != TR_OK) {
		*err = remark;
		status = begun;
	}
	tr_output_record_end(writer->out);
	return status;
}

enum tr_status tr_klocwork_put(struct tr_writer *base, struct tr_record *record,
			       struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
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

enum tr_status tr_klocwork_finish(struct tr_writer *base, struct tr_error *err)
{
	struct writer *writer = (struct writer *)base;
	if (!writer->finished) {
		writer->finished = true;
		enum tr_status status = end_segment(writer, NULL, err);
		if (status != TR_OK)
			return status;
	}
	if (writer->strangers && !writer->told_strangers) {
		writer->told_strangers = true;
		tr_error_set(err, TR_CAUSE_INPUT,
			     "events whose parent is not in this trace, so that their env-diff is "
			     "against an environment that is not in it either: %" PRIu64,
			     writer->strangers);
		return note(err);
	}
	if (writer->misfit_told < writer->misfit_count) {
		const struct misfit *misfit = &writer->misfits[writer->misfit_told++];
		tr_error_set(err, TR_CAUSE_INPUT, "records of kind %s have no place in klocwork: %" PRIu64,
			     misfit->kind, misfit->count);
		err->severity = TR_DETAIL;
		return TR_WARN;
	}
	return TR_OK;
}
