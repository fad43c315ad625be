/* SPDX-License-Identifier: MIT */
/* Any bytes read as a build trace, --exact, and written again are the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void identity(struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_klocwork, &tr_format_klocwork, data, true, SIZE_MAX, &again);
	if (!tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("klocwork --exact is the identity");
	tr_buffer_free(&again);

	struct tr_buffer small = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_klocwork, &tr_format_trec, data, true, SIZE_MAX, &stream);
	fuzz_convert(&tr_format_klocwork, &tr_format_trec, data, true, 1, &small);
	if (!tr_text_equal(tr_buffer_text(&stream), tr_buffer_text(&small)))
		fuzz_fail("records do not depend on how the input is cut");
	tr_buffer_free(&small);

	fuzz_convert(&tr_format_trec, &tr_format_klocwork, tr_buffer_text(&stream), false, 7,
		     &again);
	if (!tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("klocwork --exact is the identity through the stream");
	tr_buffer_free(&stream);
	tr_buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	identity((struct tr_text){ (const char *)data, size });
	return 0;
}
