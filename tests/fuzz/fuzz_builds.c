/* SPDX-License-Identifier: MIT */
/*
 * Any bytes read as a compilation database and as Bear's events: records do not
 * depend on how the input comes, and what is written of them is read as the
 * same again. As a stream, every writer of builds takes them.
 */
#include "fuzz.h"

/* trec out of data, read in pieces. Returns the trouble. */
static size_t stream(const struct tr_format *format, struct tr_text data, size_t piece,
		     struct tr_buffer *to)
{
	return fuzz_convert(format, &tr_format_trec, data, false, piece, to);
}

static void read_twice(const struct tr_format *format, struct tr_text data)
{
	struct tr_buffer whole = TR_BUFFER_INIT, pieces = TR_BUFFER_INIT;
	size_t trouble = stream(format, data, SIZE_MAX, &whole);
	if (stream(format, data, 1, &pieces) != trouble ||
	    !tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&pieces)))
		fuzz_fail("records do not depend on how the input is cut");
	tr_buffer_free(&whole);
	tr_buffer_free(&pieces);
}

/* What is written once is what is written of it. */
static void write_twice(const struct tr_format *reads, const struct tr_format *writes,
			struct tr_text data)
{
	struct tr_buffer once = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	fuzz_convert(reads, writes, data, false, SIZE_MAX, &once);
	fuzz_convert(writes, writes, tr_buffer_text(&once), false, SIZE_MAX, &again);
	if (!tr_text_equal(tr_buffer_text(&once), tr_buffer_text(&again)))
		fuzz_fail("what was written comes back");
	tr_buffer_free(&once);
	tr_buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tr_format *const writers[] = {
		&tr_format_compdb, &tr_format_buildspec, &tr_format_bear,
		&tr_format_kwspec, &tr_format_klocwork,
	};
	struct tr_text text = { (const char *)data, size };
	read_twice(&tr_format_compdb, text);
	read_twice(&tr_format_bear, text);
	write_twice(&tr_format_compdb, &tr_format_compdb, text);
	write_twice(&tr_format_buildspec, &tr_format_buildspec, text);
	write_twice(&tr_format_bear, &tr_format_bear, text);
	for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
		struct tr_buffer out = TR_BUFFER_INIT;
		fuzz_convert(&tr_format_trec, writers[i], text, false, SIZE_MAX, &out);
		fuzz_convert(&tr_format_bear, writers[i], text, false, SIZE_MAX, &out);
		tr_buffer_free(&out);
	}
	return 0;
}
