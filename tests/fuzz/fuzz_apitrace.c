/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a stream of apitrace: the records do not depend on how the input
 * is cut, and where nothing was wrong the same bytes are written again, also of
 * a beginning of it, as a killed program leaves it.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static void check_text(struct tr_text data)
{
	struct tr_buffer fields = TR_BUFFER_INIT, text = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_apitrace, &tr_format_trec, data, false, SIZE_MAX, &fields);
	fuzz_convert(&tr_format_apitrace, &tr_format_trec, data, false, 5, &text);
	if (!tr_text_equal(tr_buffer_text(&fields), tr_buffer_text(&text)))
		fuzz_fail("records as text are those made of fields");
	tr_buffer_free(&fields);
	tr_buffer_free(&text);
}

static void check_beginning(struct tr_text data)
{
	struct tr_buffer records = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	fuzz_convert(&tr_format_apitrace, &tr_format_trec, data, true, SIZE_MAX, &records);
	fuzz_convert(&tr_format_trec, &tr_format_apitrace, tr_buffer_text(&records), false,
		     SIZE_MAX, &again);
	/* of less than a head no record comes, and of none a trace without calls */
	if (records.len && !tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("apitrace --exact is the identity on what is cut");
	tr_buffer_free(&records);
	tr_buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct tr_text data = { (const char *)bytes, size };
	struct tr_buffer whole = TR_BUFFER_INIT, small = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	size_t trouble =
		fuzz_convert(&tr_format_apitrace, &tr_format_trec, data, true, SIZE_MAX, &whole);
	fuzz_convert(&tr_format_apitrace, &tr_format_trec, data, true, 1, &small);
	if (!tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&small)))
		fuzz_fail("records do not depend on how the input is cut");
	check_text(data);
	trouble += fuzz_convert(&tr_format_apitrace, &tr_format_apitrace, data, true, 7, &again);
	if (!trouble && !tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("apitrace --exact is the identity");
	tr_buffer_reset(&again);
	trouble += fuzz_convert(&tr_format_trec, &tr_format_apitrace, tr_buffer_text(&whole), false,
				SIZE_MAX, &again);
	if (!trouble && !tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("apitrace --exact is the identity through the stream");
	for (size_t part = 2; !trouble && part < 6; part++)
		check_beginning((struct tr_text){ data.data, size - size / part });
	tr_buffer_free(&whole);
	tr_buffer_free(&small);
	tr_buffer_free(&again);
	return 0;
}
