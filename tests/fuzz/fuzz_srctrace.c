/*
 * Any bytes read as a source trace, or as a log that holds some: records do not
 * depend on how the input comes, and a trace without trouble comes back exactly.
 */
#include <string.h>

#include "fuzz.h"

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
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	return 0;
}
