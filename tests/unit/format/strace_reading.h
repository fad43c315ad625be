/* SPDX-License-Identifier: MIT */
/* Logs in memory to lines of the stream, with the messages that came. */
#ifndef TR_TESTS_STRACE_READING_H
#define TR_TESTS_STRACE_READING_H

#include <stdio.h>

#include "core/buffer.h"
#include "format/format.h"
#include "memory.h"

struct reading {
	struct tr_buffer lines;	   /* the records */
	struct tr_buffer messages; /* "! LINE: text" for damage, "~ LINE: text" for notes */
	struct tr_buffer places;   /* of each record the line and offset in the log: " 1@0" */
};

static void reading_free(struct reading *reading)
{
	tr_buffer_free(&reading->lines);
	tr_buffer_free(&reading->messages);
	tr_buffer_free(&reading->places);
}

static void reading_message(struct reading *reading, const struct tr_error *err)
{
	char text[TR_ERROR_TEXT + 64], line[24] = "-";

	if (err->line != TR_NO_POSITION)
		snprintf(line, sizeof line, "%llu", (unsigned long long)err->line);
	snprintf(text, sizeof text, "%c %s: %s\n", err->severity >= TR_NOTE ? '~' : '!', line,
		 err->text);
	tr_buffer_put_text(&reading->messages, tr_text_from(text));
}

/* setting: "key=value" or NULL. False: memory was out or the reader failed. */
static bool read_log(struct tr_text log, size_t piece, const char *setting, struct reading *reading)
{
	const struct tr_format *format = &tr_format_strace;
	const char *equals = setting ? strchr(setting, '=') : NULL;
	struct tr_setting one = { { NULL, 0 }, { NULL, 0 } };
	if (equals)
		one = (struct tr_setting){ tr_text_span(setting, equals),
					   tr_text_from(equals + 1) };
	struct tr_read_config config = { .limits = TR_LIMITS_DEFAULT,
					 .settings = { &one, equals != NULL } };
	struct tr_input *in = memory_input(log, piece, false);
	struct tr_error err;
	struct tr_reader *reader = in ? format->open(&config, in, &err) : NULL;
	enum tr_status status = reader ? TR_OK : TR_FATAL;

	while (status == TR_OK || status == TR_WARN) {
		struct tr_record *record;
		status = tr_reader_read(reader, &record, &err);
		if (status == TR_OK) {
			tr_buffer_put_text(&reading->lines, record->line);
			tr_buffer_put_byte(&reading->places, ' ');
			tr_buffer_put_decimal(&reading->places, record->source_line);
			tr_buffer_put_byte(&reading->places, '@');
			tr_buffer_put_decimal(&reading->places, record->source_offset);
		} else if (status == TR_WARN)
			reading_message(reading, &err);
	}
	tr_reader_free(reader);
	tr_input_free(in);
	return status == TR_END && !reading->lines.failed && !reading->messages.failed;
}

#endif
