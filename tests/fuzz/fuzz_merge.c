/* SPDX-License-Identifier: MIT */
/*
 * Merges a stream of traces into one, as tr-filter --merge does: the result is a complete stream,
 * and merging it again changes nothing.
 */
#include <string.h>

#include "coverage/merge.h"
#include "fuzz.h"
#include "../unit/memory.h"

/* Appends the merged stream. Returns the number of errors, including memory and limits. */
static size_t merge(struct tr_text stream, size_t piece, struct tr_buffer *to)
{
	struct tr_read_config config = { .limits = fuzz_limits() };
	struct tr_error err;
	struct tr_source *source = memory_source(stream, piece);
	struct tr_input *in =
		source ? tr_input_new(source, &config.limits, piece == SIZE_MAX ? 0 : piece) : NULL;
	struct tr_sink *sink = memory_sink(to, NULL);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	struct tr_reader *reader = in ? tr_format_trec.open(&config, in, &err) : NULL;
	struct tr_merge *merged = tr_merge_new();
	size_t trouble = 0;
	for (enum tr_status status = TR_OK; reader && out && merged && status != TR_FATAL;) {
		struct tr_record *record;
		status = tr_reader_read(reader, &record, &err);
		if (status == TR_END)
			break;
		if (status == TR_OK)
			status = tr_merge_put(merged, record, &err);
		trouble += status != TR_OK;
	}
	if (out && merged && !tr_merge_write(merged, 0, false, out))
		trouble++;
	tr_merge_free(merged);
	tr_reader_free(reader);
	tr_input_free(in);
	if (out && !tr_output_finish(out, &err))
		trouble++;
	return trouble;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tr_text stream = { (const char *)data, size };
	struct tr_buffer once = TR_BUFFER_INIT, other = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	merge(stream, SIZE_MAX, &once);
	merge(stream, 1, &other);
	if (!tr_text_equal(tr_buffer_text(&once), tr_buffer_text(&other)))
		fuzz_fail("the merge does not depend on how the input is cut");
	if (merge(tr_buffer_text(&once), SIZE_MAX, &again))
		fuzz_fail("what was merged can be merged");
	if (!tr_text_equal(tr_buffer_text(&once), tr_buffer_text(&again)))
		fuzz_fail("a merge of one trace is that trace");
	tr_buffer_free(&once);
	tr_buffer_free(&other);
	tr_buffer_free(&again);
	return 0;
}
