/* SPDX-License-Identifier: MIT */
/* Any bytes read as a strace log give the same whole records however they come. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void same_however(struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT, small = TR_BUFFER_INIT, again = TR_BUFFER_INIT;

	fuzz_convert(&tr_format_strace, &tr_format_trec, data, false, SIZE_MAX, &stream);
	fuzz_convert(&tr_format_strace, &tr_format_trec, data, false, 1, &small);
	if (!tr_text_equal(tr_buffer_text(&stream), tr_buffer_text(&small)))
		fuzz_fail("records do not depend on how the input is cut");
	/* through the typed form every value is looked at, and spelled anew */
	if (fuzz_convert(&tr_format_trec, &tr_format_json, tr_buffer_text(&stream), false, SIZE_MAX,
			 &again))
		fuzz_fail("every record is well formed");
	tr_buffer_reset(&small);
	fuzz_convert(&tr_format_json, &tr_format_trec, tr_buffer_text(&again), false, SIZE_MAX,
		     &small);
	if (!tr_text_equal(tr_buffer_text(&stream), tr_buffer_text(&small)))
		fuzz_fail("every value is in its one spelling");
	tr_buffer_free(&stream);
	tr_buffer_free(&small);
	tr_buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	same_however((struct tr_text){ (const char *)data, size });
	return 0;
}
