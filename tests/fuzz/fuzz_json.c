/* SPDX-License-Identifier: MIT */
/* Any bytes read as typed JSON: what it means as a stream comes back from JSON again. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text text = { (const char *)data, size };
	struct tr_buffer stream = TR_BUFFER_INIT, json = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_json, &tr_format_trec, text, false, 1, &stream);
	fuzz_convert(&tr_format_trec, &tr_format_json, tr_buffer_text(&stream), false, SIZE_MAX,
		     &json);
	fuzz_convert(&tr_format_json, &tr_format_trec, tr_buffer_text(&json), false, SIZE_MAX,
		     &again);
	if (!tr_text_equal(tr_buffer_text(&stream), tr_buffer_text(&again)))
		fuzz_fail("typed JSON keeps the stream");
	tr_buffer_free(&stream);
	tr_buffer_free(&json);
	tr_buffer_free(&again);
	return 0;
}
