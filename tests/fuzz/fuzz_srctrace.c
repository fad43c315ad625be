/* SPDX-License-Identifier: MIT */
/*
 * Any bytes read as a source trace, or as a log that holds some: records do not
 * depend on how the input comes, a trace without trouble comes back exactly,
 * and what was read can be shown.
 */
#include <string.h>

#include "fuzz.h"
#include "../unit/memory.h"
#include "record/line.h"

/* The stream as gnatcov would print it. */
static void show(struct tr_text stream)
{
	struct tr_buffer shown = TR_BUFFER_INIT;
	struct tr_sink *sink = memory_sink(&shown, NULL);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	const struct tr_text_style *style = tr_format_srctrace.styles;
	const struct tr_text_config config = { .width = 0 };
	void *text = out ? style->create(&config, out, &err) : NULL;
	const char *end = stream.data + stream.len;
	for (const char *p = stream.data, *lf; text && p < end; p = lf + 1) {
		struct tr_record record;
		lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf)
			break;
		tr_record_init(&record, &arena);
		if (tr_record_from_line(&record, tr_text_span(p, lf + 1), &err) &&
		    style->put(text, &record, &err) != TR_OK)
			fuzz_fail("what was read can be shown");
		tr_arena_reset(&arena);
	}
	tr_arena_free(&arena);
	if (text)
		style->free(text);
	if (out)
		tr_output_finish(out, &err);
	tr_buffer_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text text = { (const char *)data, size };
	struct tr_buffer whole = TR_BUFFER_INIT, other = TR_BUFFER_INIT;
	const struct tr_format *format = &tr_format_srctrace;
	fuzz_convert(format, &tr_format_trec, text, false, SIZE_MAX, &whole);
	fuzz_convert(format, &tr_format_trec, text, false, 1, &other);
	if (!tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&other)))
		fuzz_fail("records do not depend on how the input is cut");

	tr_buffer_reset(&other);
	size_t trouble = fuzz_convert(format, format, text, false, SIZE_MAX, &other);
	bool log = size < 1 || *data != 'G';
	if (!trouble && !log && !tr_text_equal(tr_buffer_text(&other), text))
		fuzz_fail("what is read without trouble is written byte for byte");
	show(tr_buffer_text(&whole));
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	return 0;
}
