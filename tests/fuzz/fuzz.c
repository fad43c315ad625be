/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/input.h"
#include "core/output.h"
#include "../unit/memory.h"
#include "record/literal.h"

void fuzz_fail(const char *promise)
{
	fprintf(stderr, "broken promise: %s\n", promise);
	abort();
}

struct tr_limits fuzz_limits(void)
{
	struct tr_limits limits = TR_LIMITS_DEFAULT;
	limits.max_record = 1 << 20;
	limits.max_spool = 1 << 20;
	return limits;
}

static bool is_trouble(const struct tr_error *err)
{
	return err->severity == TR_DAMAGE || err->severity == TR_FLAW;
}

/*
 * Gives the writer a header as tr_trace makes it, with the fields that the reader adds (own; may be
 * NULL). Returns the number of errors.
 */
static size_t put_header(struct tr_writer *writer, const struct tr_format *reads,
			 struct tr_record *own)
{
	struct tr_buffer line = TR_BUFFER_INIT;
	struct tr_arena arena = TR_ARENA_INIT;
	tr_buffer_put_literal(&line, "%trec\t1\tformat=");
	tr_buffer_put_text(&line, tr_text_from(reads->name));
	for (size_t i = 0; own && i < own->count; i++) {
		tr_buffer_put_byte(&line, '\t');
		const struct tr_field *field = &own->fields[i];
		tr_buffer_put_text(&line, field->key);
		tr_buffer_put_byte(&line, '=');
		if (field->text.data)
			tr_buffer_put_text(&line, field->text);
		else
			tr_literal_write(field->value, &line);
	}
	tr_buffer_put_byte(&line, '\n');
	struct tr_record record;
	struct tr_error err;
	size_t trouble = 0;
	tr_record_init(&record, &arena);
	if (!line.failed && tr_record_from_line(&record, tr_buffer_text(&line), &err) &&
	    tr_writer_put(writer, &record, &err) != TR_OK)
		trouble = is_trouble(&err);
	tr_arena_free(&arena);
	tr_buffer_free(&line);
	return trouble;
}

static size_t copy_records(const struct tr_format *reads, struct tr_reader *reader,
			   struct tr_writer *writer)
{
	size_t trouble = 0;
	struct tr_error err;
	struct tr_record *record;
	for (;;) {
		enum tr_status status = tr_reader_read(reader, &record, &err);
		if (status == TR_END)
			return trouble;
		if (status == TR_FATAL)
			return trouble + 1;
		if (status == TR_WARN)
			trouble += is_trouble(&err);
		else if (record->type == TR_HEADER && !(reads->flags & TR_FORMAT_STREAM))
			trouble += put_header(writer, reads, record);
		else if (tr_writer_put(writer, record, &err) != TR_OK)
			trouble += is_trouble(&err);
	}
}

static size_t convert(const struct tr_format *reads, const struct tr_format *writes,
		      struct tr_text data, struct tr_read_config read, size_t piece,
		      struct tr_buffer *to)
{
	struct tr_error err;
	struct tr_write_config write = { .strict = false };
	size_t trouble = 0;
	read.limits = fuzz_limits();
	struct tr_source *source = memory_source(data, piece);
	size_t window = piece == SIZE_MAX ? 0 : piece;
	struct tr_input *in = source ? tr_input_new(source, &read.limits, window) : NULL;
	struct tr_sink *sink = memory_sink(to, NULL);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	if (read.as_text)
		read.text_out = &out;
	struct tr_reader *reader = in ? reads->open(&read, in, &err) : NULL;
	struct tr_writer *writer = out ? writes->create(&write, out, &err) : NULL;
	if (reader && writer) {
		if (!(reads->flags & (TR_FORMAT_STREAM | TR_FORMAT_HEADS)))
			put_header(writer, reads, NULL);
		trouble = copy_records(reads, reader, writer) + in->damaged;
		enum tr_status status;
		while ((status = tr_writer_finish(writer, &err)) == TR_WARN)
			trouble += is_trouble(&err);
		trouble += status == TR_FATAL;
	}
	tr_writer_free(writer);
	tr_reader_free(reader);
	tr_input_free(in);
	if (out && !tr_output_finish(out, &err))
		trouble++;
	return trouble;
}

size_t fuzz_convert(const struct tr_format *reads, const struct tr_format *writes,
		    struct tr_text data, bool exact, size_t piece, struct tr_buffer *to)
{
	bool lines = exact && reads->flags & TR_FORMAT_LINES;
	struct tr_read_config read = { .exact = exact && !lines, .lines = lines };

	return convert(reads, writes, data, read, piece, to);
}

void fuzz_read_as_text(const struct tr_format *reads, struct tr_text data, size_t piece,
		       struct tr_buffer *to)
{
	struct tr_read_config read = { .as_text = true };

	convert(reads, &tr_format_trec, data, read, piece, to);
}
