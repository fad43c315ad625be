/* SPDX-License-Identifier: MIT */
/* Streams of apitrace in memory to lines of the stream, with the messages between them. */
#ifndef TR_TESTS_APITRACE_HARNESS_H
#define TR_TESTS_APITRACE_HARNESS_H

#include <inttypes.h>
#include <stdio.h>

#include "core/buffer.h"
#include "format/format.h"
#include "memory.h"

/* "! OFFSET text" for damage, "? " for a flaw. */
static inline void put_message(struct tr_buffer *to, const struct tr_error *err)
{
	char text[TR_ERROR_TEXT + 64];
	snprintf(text, sizeof text, "%c 0x%" PRIx64 " %s\n", err->severity == TR_FLAW ? '?' : '!',
		 err->offset, err->text);
	tr_buffer_put_text(to, tr_text_from(text));
}

enum how { FIELDS, TEXT, EXACT }; /* what records come as, and with --exact */

/* Appends what the reader gives, read by `piece` bytes. False: memory was out. */
static inline bool read_stream(struct tr_text stream, size_t piece, enum how how,
			       struct tr_buffer *to)
{
	const struct tr_format *format = &tr_format_apitrace;
	struct tr_read_config config = {
		.limits = TR_LIMITS_DEFAULT,
		.exact = how == EXACT,
		.as_text = how == TEXT,
	};
	struct tr_error err;
	struct tr_input *in = memory_input(stream, piece, false);
	struct tr_reader *reader = in ? format->open(&config, in, &err) : NULL;
	enum tr_status status = reader ? TR_OK : TR_FATAL;
	bool memory = reader;
	while (status == TR_OK || status == TR_WARN) {
		struct tr_record *record = NULL;
		tr_error_clear(&err);
		status = tr_reader_read(reader, &record, &err);
		memory = memory && err.cause != TR_CAUSE_MEMORY;
		if (status == TR_WARN || status == TR_FATAL) {
			put_message(to, &err);
			continue;
		}
		if (status == TR_OK && record->type == TR_HEADER) {
			record->seq = (struct tr_cell){ .type = TR_CELL_NUMBER, .number = 1 };
			record->split = true;
		}
		if (status == TR_OK && tr_record_write(record, to, &err) != TR_OK)
			memory = false;
	}
	tr_reader_free(reader);
	tr_input_free(in);
	return memory && !to->failed;
}

#endif
