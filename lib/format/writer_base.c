/* SPDX-License-Identifier: MIT */
/*
 * What all writers share: segments, the count of records that a trailer is compared with, and the
 * kinds of records that the format cannot hold. A writer supplies the steps (writer_base.h).
 */
#include "format/writer_base.h"

#include <inttypes.h>
#include <stdlib.h>

#include "record/vocabulary.h"

void *tr_writer_new(size_t size, const struct tr_writer_steps *steps, struct tr_output *out,
		    struct tr_error *err)
{
	struct tr_writer *base = calloc(1, size);

	if (!base) {
		tr_error_memory(err);
		return NULL;
	}
	base->steps = steps;
	base->out = out;
	return base;
}

/* Checks the trailer's count; NULL: there is no trailer. TR_OK or a note. */
static enum tr_status check_count(const struct tr_writer *base, const struct tr_record *trailer,
				  struct tr_error *err)
{
	uint64_t count = 0;

	if (!base->headed)
		return TR_OK;
	if (!trailer)
		tr_error_set(err, TR_CAUSE_INPUT,
			     "a segment of the stream has no trailer: it may be incomplete");
	else if (tr_cell_number(&trailer->seq, &count) && count == base->records)
		return TR_OK;
	else
		tr_error_set(err, TR_CAUSE_INPUT,
			     "the trailer counts %" PRIu64 " records, %" PRIu64 " were there",
			     count, base->records);
	tr_error_is_note(err);
	return TR_WARN;
}

/*
 * Ends a segment; trailer NULL: it has none. The writer's own end comes first, because what it
 * holds back belongs to the segment.
 */
static enum tr_status end_segment(struct tr_writer *base, const struct tr_record *trailer,
				  struct tr_error *err)
{
	if (base->steps->end && base->steps->end(base, err) == TR_FATAL)
		return TR_FATAL;
	enum tr_status status = check_count(base, trailer, err);
	base->headed = base->faithful = false;
	base->records = 0;
	tr_output_record_end(base->out);
	return status;
}

/*
 * Begins a segment, after the end of one that has no trailer. The segment is faithful if it was
 * read from the format that is written; only then are fields like .raw used.
 */
static enum tr_status begin_segment(struct tr_writer *base, struct tr_record *header,
				    struct tr_error *err)
{
	struct tr_error remark;
	enum tr_status ended = end_segment(base, NULL, err), begun = TR_OK;

	if (ended == TR_FATAL)
		return TR_FATAL;
	if (tr_record_split(header, NULL) == TR_FATAL)
		return tr_error_memory(err);
	tr_error_clear(&remark);
	struct tr_field *format = tr_record_field(header, "format");
	base->headed = true;
	base->faithful =
		format && format->text.data && tr_text_is(format->text, base->steps->format);
	if (base->faithful && tr_output_count(base->out) == 0 && tr_record_field(header, ".bom"))
		tr_output_put_literal(base->out, "\xef\xbb\xbf");
	if (base->steps->begin)
		begun = base->steps->begin(base, header, &remark);
	if (begun == TR_OK)
		return ended;
	if (err)
		*err = remark;
	return begun;
}

/*
 * Counts a record that the format cannot hold: by its kind, and a call by its name where the format
 * has only some calls.
 */
static void add_unsupported(struct tr_writer *base, const struct tr_record *record)
{
	bool call = base->steps->some_calls && tr_text_is(record->kind, "sys") &&
		    record->name.type == TR_CELL_TEXT;

	if (tr_context_kind(record->kind) >= 0)
		tr_unsupported_add(&base->unsupported, record->kind);
	else
		tr_unsupported_add_part(&base->unsupported, record->kind,
					call ? record->name.text : TR_TEXT(""), NULL, base->reason);
}

/* Passes a record to the writer, and counts it for the comparison with the trailer. */
static enum tr_status put_record(struct tr_writer *base, struct tr_record *record,
				 struct tr_error *err)
{
	base->reason = NULL;
	enum tr_status status = base->steps->put(base, record, err);

	if (status == TR_END) {
		add_unsupported(base, record);
		status = TR_OK;
	} else if (!base->unsupported.supported) {
		base->unsupported.supported = tr_context_kind(record->kind) < 0;
	}
	/* a record that was left out is also subtracted from the trailer's count */
	bool lost = status != TR_OK && err->severity == TR_DAMAGE;
	/* an enter and its leave are one record; a leave without an enter has no name */
	bool counts = !tr_text_is(record->kind, "leave") || record->name.type == TR_CELL_ABSENT;
	base->records += counts && !lost;
	tr_output_record_end(base->out);
	return status;
}

/* The put of writers that do not take whole lines; not in line, because those that do are called
 * for millions of short records. */
static __attribute__((noinline)) enum tr_status
put_typed(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	tr_error_clear(err);
	switch (record->type) {
	case TR_RECORD:
		return put_record(base, record, err);
	case TR_HEADER:
		return begin_segment(base, record, err);
	case TR_TRAILER:
		return end_segment(base, record, err);
	case TR_DEFINITION:
		return base->steps->define ? base->steps->define(base, record, err) : TR_OK;
	default:
		return TR_OK;
	}
}

enum tr_status tr_writer_put(struct tr_writer *base, struct tr_record *record, struct tr_error *err)
{
	return base->steps->line ? base->steps->line(base, record, err)
				 : put_typed(base, record, err);
}

bool tr_writer_takes_blocks(const struct tr_writer *base)
{
	return base->steps->blocks;
}

size_t tr_writer_put_blocks(struct tr_writer *base, const struct tr_block *blocks, size_t count,
			    uint64_t seq)
{
	size_t taken = base->out->failed ? 0 : base->steps->blocks(base, blocks, count, seq);

	base->records += taken;
	base->unsupported.supported |= taken > 0;
	tr_output_record_end(base->out);
	return taken;
}

/* Notes a list without entries, which may surprise. */
static enum tr_status note_empty(struct tr_writer *base, struct tr_error *err)
{
	if (!base->steps->empty || base->entries || base->noted_empty ||
	    !base->unsupported.supported)
		return TR_OK;
	base->noted_empty = true;
	tr_error_say(err, TR_CAUSE_INPUT, base->steps->empty);
	tr_error_is_note(err);
	return TR_WARN;
}

/* Each call does the next step or returns the next report, until there is none. */
enum tr_status tr_writer_finish(struct tr_writer *base, struct tr_error *err)
{
	const struct tr_writer_steps *steps = base->steps;
	enum tr_status status = TR_OK;

	if (steps->line)
		return TR_OK;
	if (!base->ended) {
		base->ended = true;
		status = end_segment(base, NULL, err);
	}
	/* what close would write contains nothing of the input */
	if (status == TR_OK && tr_unsupported_all(&base->unsupported))
		return tr_unsupported_report(&base->unsupported, steps->format, err);
	if (status == TR_OK && !base->closed) {
		status = steps->close ? steps->close(base, err) : TR_OK;
		base->closed = status != TR_WARN;
	}
	if (status == TR_OK)
		status = note_empty(base, err);
	if (status == TR_OK && steps->report)
		status = steps->report(base, err);
	if (status != TR_OK)
		return status;
	return tr_unsupported_report(&base->unsupported, steps->format, err);
}

void tr_writer_free(struct tr_writer *base)
{
	if (base)
		base->steps->discard(base);
	free(base);
}
