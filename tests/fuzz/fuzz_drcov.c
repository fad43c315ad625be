/*
 * Any bytes read as a drcov file: records do not depend on how the input comes,
 * and what is read without trouble is written byte for byte.
 */
#include <string.h>

#include "fuzz.h"

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

	/* and as an execution trace, which takes what it can */
	tr_buffer_reset(&other);
	fuzz_convert(format, &tr_format_gnatcov, text, false, SIZE_MAX, &other);
	tr_buffer_reset(&whole);
	fuzz_convert(&tr_format_gnatcov, format, tr_buffer_text(&other), false, SIZE_MAX, &whole);
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	return 0;
}
