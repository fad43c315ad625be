/* SPDX-License-Identifier: MIT */
/*
 * Any bytes read as a system call log: --lines is the identity, records do not
 * depend on how the input comes, and what is read without trouble is written so
 * that it is read as the same records. Only times may be raised, because those of
 * a task have to increase; they have settled after that.
 */
#include <string.h>

#include "fuzz.h"

/* These are finished by what their task does next, so others may come to stand before them. */
static bool has_order(struct tr_text records)
{
	return !memmem(records.data, records.len, "mount\t", 6) &&
	       !memmem(records.data, records.len, "envset\t", 7);
}

static void identity(struct tr_text data)
{
	struct tr_buffer again = TR_BUFFER_INIT, stream = TR_BUFFER_INIT;
	const struct tr_format *format = &tr_format_etrace;
	fuzz_convert(format, format, data, true, SIZE_MAX, &again);
	if (!tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("etrace --lines is the identity");
	tr_buffer_reset(&again);
	fuzz_convert(format, &tr_format_trec, data, true, 1, &stream);
	fuzz_convert(&tr_format_trec, format, tr_buffer_text(&stream), false, 7, &again);
	if (!tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("etrace --lines is the identity through the stream");
	tr_buffer_free(&again);
	tr_buffer_free(&stream);
}

/* The stream without its third column, the times. */
static void put_untimed(struct tr_text records, struct tr_buffer *to)
{
	size_t column = 0;

	for (size_t i = 0; i < records.len; i++) {
		char c = records.data[i];
		column = c == '\n' ? 0 : column + (c == '\t');
		if (column != 2)
			tr_buffer_put_byte(to, c);
	}
}

static bool is_same_untimed(struct tr_text a, struct tr_text b)
{
	struct tr_buffer untimed_a = TR_BUFFER_INIT, untimed_b = TR_BUFFER_INIT;

	put_untimed(a, &untimed_a);
	put_untimed(b, &untimed_b);
	bool same = tr_text_equal(tr_buffer_text(&untimed_a), tr_buffer_text(&untimed_b));
	tr_buffer_free(&untimed_a);
	tr_buffer_free(&untimed_b);
	return same;
}

/* The events, and what they are when they were written and read again. */
static void events(struct tr_text data)
{
	struct tr_buffer whole = TR_BUFFER_INIT, other = TR_BUFFER_INIT, log = TR_BUFFER_INIT;
	const struct tr_format *format = &tr_format_etrace;
	size_t trouble = fuzz_convert(format, &tr_format_trec, data, false, SIZE_MAX, &whole);
	fuzz_convert(format, &tr_format_trec, data, false, 1, &other);
	if (!tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&other)))
		fuzz_fail("records do not depend on how the input is cut");
	tr_buffer_reset(&other);
	fuzz_convert(format, format, data, false, SIZE_MAX, &log);
	fuzz_convert(format, &tr_format_trec, tr_buffer_text(&log), false, SIZE_MAX, &other);
	if (!trouble && has_order(tr_buffer_text(&whole)) &&
	    !is_same_untimed(tr_buffer_text(&whole), tr_buffer_text(&other)))
		fuzz_fail("what is written is read as the same records");
	tr_buffer_reset(&whole);
	fuzz_convert(format, format, tr_buffer_text(&log), false, SIZE_MAX, &whole);
	if (!trouble && has_order(tr_buffer_text(&other)) &&
	    !tr_text_equal(tr_buffer_text(&log), tr_buffer_text(&whole)))
		fuzz_fail("what was written is written again with the same times");
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	tr_buffer_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text text = { (const char *)data, size };
	identity(text);
	events(text);
	return 0;
}
