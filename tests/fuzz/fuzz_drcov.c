/* SPDX-License-Identifier: MIT */
/*
 * Any bytes read as a drcov file: records do not depend on how the input comes,
 * what is read without trouble is written byte for byte, and comes back from an
 * execution trace with all its blocks.
 */
#include <string.h>

#include "fuzz.h"

/* Lines of blocks that have a size. */
static size_t sized_blocks(struct tr_text stream)
{
	size_t count = 0;
	const char *end = stream.data + stream.len;
	for (const char *p = stream.data, *lf; p < end; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf)
			return count;
		size_t len = (size_t)(lf - p);
		count +=
			len > 6 && memcmp(p, "block\t", 6) == 0 && !memmem(p, len, "\tsize=0\t", 8);
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text text = { (const char *)data, size };
	struct tr_buffer whole = TR_BUFFER_INIT, other = TR_BUFFER_INIT;
	const struct tr_format *format = &tr_format_drcov;
	fuzz_convert(format, &tr_format_trec, text, false, SIZE_MAX, &whole);
	fuzz_convert(format, &tr_format_trec, text, false, 1, &other);
	if (!tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&other)))
		fuzz_fail("records do not depend on how the input is cut");

	tr_buffer_reset(&other);
	size_t trouble = fuzz_convert(format, format, text, false, SIZE_MAX, &other);
	if (!trouble && !tr_text_equal(tr_buffer_text(&other), text))
		fuzz_fail("what is read without trouble is written byte for byte");

	tr_buffer_reset(&other);
	if (!fuzz_convert(format, &tr_format_gnatcov, text, false, SIZE_MAX, &other) && !trouble) {
		size_t blocks = sized_blocks(tr_buffer_text(&whole));
		tr_buffer_reset(&whole);
		trouble = fuzz_convert(&tr_format_gnatcov, format, tr_buffer_text(&other), false,
				       SIZE_MAX, &whole);
		tr_buffer_reset(&other);
		fuzz_convert(format, &tr_format_trec, tr_buffer_text(&whole), false, SIZE_MAX,
			     &other);
		if (!trouble && sized_blocks(tr_buffer_text(&other)) != blocks)
			fuzz_fail("coverage that becomes a trace comes back with all its blocks");
	}
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	return 0;
}
