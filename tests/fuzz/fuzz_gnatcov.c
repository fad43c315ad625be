/*
 * Any bytes read as an execution trace: the records do not depend on how the
 * input is cut, nor the text on whether it comes by way of the stream; and
 * where nothing was lost the bytes come back.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "memory.h"
#include "record/line.h"
#include "view/gnatcov_text.h"

/* Lines of the stream in a style; what cannot be shown is passed over. */
static void show(enum tr_gnatcov_text_style style, struct tr_text stream, struct tr_buffer *to)
{
	struct tr_sink *sink = memory_sink(to);
	struct tr_output *out = sink ? tr_output_new(sink) : NULL;
	struct tr_gnatcov_text *text = out ? tr_gnatcov_text_new(style, out) : NULL;
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	const char *p = stream.data, *end = p + stream.len;

	while (text && p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_record record;
		tr_record_init(&record, &arena);
		if (lf && tr_record_from_line(&record, tr_text_span(p, lf + 1), &err))
			tr_gnatcov_text_put(text, &record, &err);
		p = lf ? lf + 1 : end;
		tr_arena_reset(&arena);
	}
	if (text)
		tr_gnatcov_text_finish(text, &err);
	tr_gnatcov_text_free(text);
	tr_arena_free(&arena);
	if (out)
		tr_output_finish(out, &err);
}

static void check(struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT, small = TR_BUFFER_INIT;
	struct tr_buffer direct = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	size_t trouble = fuzz_convert(&tr_format_gnatcov, &tr_format_trec, data, false, SIZE_MAX,
				      &stream);
	if (fuzz_convert(&tr_format_gnatcov, &tr_format_trec, data, false, 1, &small) != trouble ||
	    !tr_text_equal(tr_buffer_text(&stream), tr_buffer_text(&small)))
		fuzz_fail("records do not depend on how the input is cut");

	fuzz_convert(&tr_format_gnatcov, &tr_format_gnatcov, data, false, 100, &direct);
	fuzz_convert(&tr_format_trec, &tr_format_gnatcov, tr_buffer_text(&stream), false, 7, &again);
	if (!tr_text_equal(tr_buffer_text(&direct), tr_buffer_text(&again)))
		fuzz_fail("the stream says all that the records do");
	if (!trouble && data.len && !tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("what is read without damage comes back");

	for (int style = TR_GNATCOV_TEXT_DUMP; style <= TR_GNATCOV_TEXT_BASE; style++) {
		tr_buffer_reset(&again);
		show((enum tr_gnatcov_text_style)style, tr_buffer_text(&stream), &again);
	}
	tr_buffer_free(&stream);
	tr_buffer_free(&small);
	tr_buffer_free(&direct);
	tr_buffer_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check((struct tr_text){ (const char *)data, size });
	return 0;
}
