/* SPDX-License-Identifier: MIT */
/* Traces in memory to lines of the stream, and back, with the messages that came. */
#ifndef TR_TESTS_TRANSCRIPT_H
#define TR_TESTS_TRANSCRIPT_H

#include <stdio.h>

#include "core/buffer.h"
#include "core/output.h"
#include "format/format.h"
#include "memory.h"
#include "tap.h"

struct transcript {
	struct tr_buffer lines;	   /* the records */
	struct tr_buffer messages; /* "! LINE: text" for damage, "~ LINE: text" for notes */
	struct tr_buffer places;   /* the line and offset of each record in the trace: " 1@0" */
	uint64_t records;
	bool fatal;
};

static void transcript_free(struct transcript *transcript)
{
	tr_buffer_free(&transcript->lines);
	tr_buffer_free(&transcript->messages);
	tr_buffer_free(&transcript->places);
}

static void transcript_message(struct transcript *transcript, const struct tr_error *err)
{
	char text[TR_ERROR_TEXT + 64], line[24] = "-";
	if (err->line != TR_NO_POSITION)
		snprintf(line, sizeof line, "%llu", (unsigned long long)err->line);
	snprintf(text, sizeof text, "%c %s: %s\n", err->severity >= TR_NOTE ? '~' : '!', line,
		 err->text);
	tr_buffer_put_text(&transcript->messages, tr_text_from(text));
}

struct reading {
	const struct tr_format *format;
	size_t piece; /* bytes a read gives */
	bool exact, lines;
	const char *key, *value; /* an -O; NULL: none given */
};

/* False: memory was out or the reader failed. */
static bool read_trace(struct tr_text trace, const struct reading *how,
		       struct transcript *transcript)
{
	const struct tr_format *format = how->format;
	struct tr_setting setting = { tr_text_from(how->key), tr_text_from(how->value) };
	struct tr_read_config config = { .limits = TR_LIMITS_DEFAULT,
					 .settings = { &setting, how->key != NULL },
					 .exact = how->exact,
					 .lines = how->lines };
	struct tr_input *in = memory_input(trace, how->piece, false);
	struct tr_error err;
	struct tr_reader *reader = in ? format->open(&config, in, &err) : NULL;
	enum tr_status status = reader ? TR_OK : TR_FATAL;
	while (status == TR_OK || status == TR_WARN) {
		struct tr_record *record;
		status = tr_reader_read(reader, &record, &err);
		if (status == TR_OK) {
			tr_buffer_put_text(&transcript->lines, record->line);
			tr_buffer_put_byte(&transcript->places, ' ');
			tr_buffer_put_decimal(&transcript->places, record->source_line);
			tr_buffer_put_byte(&transcript->places, '@');
			tr_buffer_put_decimal(&transcript->places, record->source_offset);
			transcript->records++;
		} else if (status == TR_WARN) {
			transcript_message(transcript, &err);
		}
	}
	tr_reader_free(reader);
	tr_input_free(in);
	return status == TR_END && !transcript->lines.failed && !transcript->messages.failed;
}

/* Checks that two texts are equal, and prints them if they are not. */
__attribute__((unused)) static bool same_text(const char *what, const char *name,
					      const struct tr_buffer *got,
					      const struct tr_buffer *want)
{
	bool same = tr_text_equal(tr_buffer_text(got), tr_buffer_text(want));
	ok(same, "%s: %s", name, what);
	if (!same) {
		printf("# got:\n%.*s# want:\n%.*s", (int)got->len, got->len ? got->data : "",
		       (int)want->len, want->len ? want->data : "");
	}
	return same;
}

/* What put and finish return, as messages. False: fatal. */
static bool note_status(enum tr_status status, const struct tr_error *err,
			struct transcript *transcript)
{
	if (status == TR_WARN)
		transcript_message(transcript, err);
	return status != TR_FATAL;
}

/* Writes a stream, header and trailer in it if it has them; the trace goes to transcript->lines. */
__attribute__((unused)) static bool
write_trace(const struct tr_format *format, struct tr_text stream, struct transcript *transcript)
{
	struct tr_write_config config = { .strict = false };
	struct tr_output *out = tr_output_new(memory_sink(&transcript->lines, NULL));
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	struct tr_writer *writer = out ? format->create(&config, out, &err) : NULL;
	bool good = writer != NULL;
	const char *p = stream.data, *end = p + stream.len;
	while (good && p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_text line = tr_text_span(p, lf ? lf + 1 : end);
		struct tr_record record;
		tr_record_init(&record, &arena);
		good = tr_record_from_line(&record, line, &err) &&
		       note_status(tr_writer_put(writer, &record, &err), &err, transcript);
		p += line.len;
		tr_arena_reset(&arena);
	}
	enum tr_status status = good ? TR_WARN : TR_FATAL;
	while (status == TR_WARN) {
		status = tr_writer_finish(writer, &err);
		good = note_status(status, &err, transcript);
	}
	tr_writer_free(writer);
	tr_arena_free(&arena);
	if (out)
		good &= tr_output_finish(out, &err);
	return good && !transcript->lines.failed;
}

/* The records as a whole segment. A header that is among them gets the name of the format. */
__attribute__((unused)) static void wrap_segment(const struct tr_format *format,
						 const struct transcript *transcript,
						 struct tr_buffer *to)
{
	const struct tr_text header = TR_TEXT("%trec\t1");
	struct tr_text lines = tr_buffer_text(&transcript->lines);
	bool headed = tr_text_starts(lines, header);

	tr_buffer_put_text(to, header);
	tr_buffer_put_literal(to, "\tformat=");
	tr_buffer_put_text(to, tr_text_from(format->name));
	if (headed)
		lines = tr_text_span(lines.data + header.len, lines.data + lines.len);
	else
		tr_buffer_put_byte(to, '\n');
	tr_buffer_put_text(to, lines);
	tr_buffer_put_literal(to, "!end\t");
	tr_buffer_put_decimal(to, transcript->records - headed);
	tr_buffer_put_byte(to, '\n');
}

#endif
