/* SPDX-License-Identifier: MIT */
/*
 * What all readers share: the input, the line or arena of a record, its number and position, a
 * record that is held back until the message about it was returned, and the note on orphans.
 */
#include "format/reader_base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/literal.h"

/* The arena is limited like a record, so that no record of hostile input takes all memory. */
void *tr_reader_new(size_t size, tr_reader_step *next, void (*close)(struct tr_reader *reader),
		    const struct tr_read_config *config, struct tr_input *in, struct tr_error *err)
{
	struct tr_reader *reader = calloc(1, size);

	if (!reader) {
		tr_error_memory(err);
		return NULL;
	}
	reader->next = next;
	reader->close = close;
	reader->in = in;
	reader->max_record = config->limits.max_record;
	tr_arena_limit(&reader->arena, reader->max_record);
	reader->record.arena = &reader->arena;
	reader->source_line = reader->source_offset = TR_NO_POSITION;
	return reader;
}

enum tr_status tr_reader_read(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	return reader->next(reader, record, err);
}

void tr_reader_free(struct tr_reader *reader)
{
	if (!reader)
		return;
	if (reader->close)
		reader->close(reader);
	tr_arena_free(&reader->arena);
	tr_buffer_free(&reader->line);
	free(reader);
}

void tr_reader_look(struct tr_reader *reader, size_t want)
{
	tr_input_more(reader->in, want < reader->max_record ? want : (size_t)reader->max_record);
}

enum tr_status tr_reader_line(struct tr_reader *reader, struct tr_text *line, bool *ended,
			      struct tr_error *err)
{
	enum { SHORT = 4096, SPELLED = 6 }; /* 6: no byte takes more in the stream */
	struct tr_input *in = reader->in;
	size_t available = tr_input_available(in);
	const char *lf = NULL;

	/* nearly all lines are short, and within the limit however they are spelled */
	if (reader->max_record >= SHORT * SPELLED)
		lf = memchr(in->pos, '\n', available < SHORT ? available : SHORT);
	if (lf) {
		*line = tr_text_span(in->pos, lf);
		tr_input_skip(in, line->len + 1);
		reader->lines++;
		*ended = true;
		return TR_OK;
	}
	enum tr_status status = tr_input_line(in, line, err);
	if (status == TR_END)
		return status;
	reader->lines++;
	if (status != TR_OK) {
		tr_error_at_line(err, reader->lines);
		return status;
	}
	tr_input_skip(in, line->len);
	*ended = line->data[line->len - 1] == '\n';
	line->len -= *ended;
	return TR_OK;
}

void tr_reader_begin(struct tr_reader *reader, const char *kind)
{
	tr_buffer_reset(&reader->line);
	tr_buffer_put_text(&reader->line, tr_text_from(kind));
	tr_buffer_put_byte(&reader->line, '\t');
	tr_buffer_put_decimal(&reader->line, reader->seq++);
	tr_buffer_put_byte(&reader->line, '\t');
}

void tr_reader_put_raw(struct tr_reader *reader, struct tr_text text, const char *reason)
{
	tr_reader_begin(reader, "raw");
	tr_buffer_put_literal(&reader->line, "-\t-\t-\ttext=");
	tr_string_quote(text, &reader->line);
	tr_buffer_put_literal(&reader->line, "\treason=");
	tr_string_quote(tr_text_from(reason), &reader->line);
}

enum tr_status tr_reader_deliver(struct tr_reader *reader, struct tr_record **record,
				 struct tr_error *err)
{
	struct tr_buffer *line = &reader->line;
	size_t limit = line->limit;

	reader->held = false;
	/* what follows the text of the record is not limited */
	if (limit)
		line->limit = (line->len > limit ? line->len : limit) + 1 + TR_INPUT_PAD;
	tr_buffer_put_byte(line, '\n');
	enum tr_status status = tr_record_from_buffer(&reader->record, &reader->arena, line, err);
	line->limit = limit;
	if (status != TR_OK)
		return TR_FATAL;
	reader->record.source_line = reader->source_line;
	reader->record.source_offset = reader->source_offset;
	*record = &reader->record;
	/* a header is split by its reader: struct tr_format */
	return reader->record.type == TR_HEADER ? tr_record_split(*record, err) : TR_OK;
}

/*
 * Writes the held record to the output of the tool, which needs nothing but lines. False: it has to
 * come as a record, as definitions do, and the last lines of a window, so that the tool gets
 * control before the next read of the input.
 */
static bool write_held(struct tr_reader *reader)
{
	enum { LAST = 4096 }; /* bytes */
	struct tr_output *out = reader->text_out ? *reader->text_out : NULL;

	if (!out || out->failed || *reader->line.data == '%' ||
	    tr_input_available(reader->in) < LAST)
		return false;
	tr_output_put_text(out, tr_buffer_text(&reader->line));
	tr_output_put_byte(out, '\n');
	tr_output_record_end(out);
	reader->handed_over++;
	reader->held = false;
	return true;
}

enum tr_status tr_reader_due(struct tr_reader *reader, struct tr_record **record,
			     struct tr_error *err)
{
	if (reader->remark.cause != TR_CAUSE_NONE) {
		*err = reader->remark;
		tr_error_clear(&reader->remark);
		return TR_WARN;
	}
	return reader->held && !write_held(reader) ? tr_reader_deliver(reader, record, err)
						   : TR_END;
}

enum tr_status tr_reader_hold(struct tr_reader *reader, enum tr_severity severity,
			      struct tr_error *err)
{
	reader->held = true;
	if (err)
		err->severity = severity;
	return TR_WARN;
}

/*
 * The lines are weighed when a whole one is there, and again only if that gave no bits: a bid must
 * not wait for more of a slow input than it needs.
 */
int tr_bid_by_lines(struct tr_input *in, size_t probe,
		    int (*weigh)(const char *begin, const char *end, void *context), void *context)
{
	size_t weighed = 0;
	int bits = 0;

	for (bool more = true; !bits;) {
		size_t available = tr_input_available(in);
		bool last = !more || available >= probe;

		if (last || memchr(in->pos + weighed, '\n', available - weighed))
			bits = weigh(in->pos, in->end, context);
		if (last)
			break;
		weighed = available;
		if (!bits)
			more = tr_input_more(in, available + 1);
	}
	return bits;
}

enum tr_status tr_reader_next(struct tr_reader *reader, struct tr_record **record,
			      struct tr_error *err)
{
	tr_arena_reset(&reader->arena);
	enum tr_status status = tr_reader_due(reader, record, err);
	while (status == TR_END && reader->step) {
		tr_buffer_reset(&reader->line);
		status = reader->step(reader, record, err);
	}
	return status;
}

enum tr_status tr_reader_note_orphans(struct tr_reader *reader, uint64_t count, const char *which,
				      struct tr_error *err)
{
	if (!count || reader->noted_orphans)
		return TR_END;
	reader->noted_orphans = true;
	tr_error_say_in(err, TR_CAUSE_INPUT, which, "%s (flagged \"orphan\"): %" PRIu64, which,
			count);
	tr_error_is_note(err);
	return TR_WARN;
}

enum tr_status tr_reader_note_end(struct tr_reader *reader, tr_reader_note *const *notes,
				  struct tr_error *err)
{
	for (; *notes; notes++)
		if ((*notes)(reader, err)) {
			if (err->severity != TR_DETAIL)
				tr_error_is_note(err);
			return TR_WARN;
		}
	return TR_END;
}

bool tr_reader_pauses(const struct tr_reader *reader, unsigned milliseconds)
{
	struct tr_input *in = reader->in;
	size_t available = tr_input_available(in);

	return !(available && memchr(in->pos, '\n', available)) && tr_input_idle(in, milliseconds);
}

bool tr_reader_is_idle(const struct tr_reader *reader)
{
	enum { IDLE = 1000 /* milliseconds */ };

	return tr_reader_pauses(reader, IDLE);
}
