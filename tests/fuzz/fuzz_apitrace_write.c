/* SPDX-License-Identifier: MIT */
/* Any stream written as apitrace: what comes out can be read, and written again it is the same. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text stream = { (const char *)data, size };
	struct tr_buffer trace = TR_BUFFER_INIT, records = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_trec, &tr_format_apitrace, stream, false, SIZE_MAX, &trace);
	fuzz_convert(&tr_format_apitrace, &tr_format_trec, tr_buffer_text(&trace), true, SIZE_MAX,
		     &records);
	fuzz_convert(&tr_format_trec, &tr_format_apitrace, tr_buffer_text(&records), false, 7,
		     &again);
	if (!tr_text_equal(tr_buffer_text(&trace), tr_buffer_text(&again)))
		fuzz_fail("what was written is written again as it was");
	tr_buffer_free(&again);
	tr_buffer_free(&records);
	tr_buffer_free(&trace);
	return 0;
}
