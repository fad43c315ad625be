/* SPDX-License-Identifier: MIT */
/*
 * Any bytes read as a record stream: what is written is canonical, so reading
 * and writing it again changes nothing, and so does the way through typed JSON
 * (which spells anew what is good in a line that is passed on for a flaw).
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text text = { (const char *)data, size };
	struct tr_buffer once = TR_BUFFER_INIT, twice = TR_BUFFER_INIT, json = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_trec, &tr_format_trec, text, false, 3, &once);
	size_t flaws = fuzz_convert(&tr_format_trec, &tr_format_trec, tr_buffer_text(&once), false,
				    SIZE_MAX, &twice);
	if (!tr_text_equal(tr_buffer_text(&once), tr_buffer_text(&twice)))
		fuzz_fail("what a stream is written as is canonical");

	tr_buffer_reset(&twice);
	fuzz_convert(&tr_format_trec, &tr_format_json, tr_buffer_text(&once), false, SIZE_MAX,
		     &json);
	fuzz_convert(&tr_format_json, &tr_format_trec, tr_buffer_text(&json), false, 5, &twice);
	if (!flaws && !tr_text_equal(tr_buffer_text(&once), tr_buffer_text(&twice)))
		fuzz_fail("typed JSON keeps the stream");
	tr_buffer_free(&once);
	tr_buffer_free(&twice);
	tr_buffer_free(&json);
	return 0;
}
