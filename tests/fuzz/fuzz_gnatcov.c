/* SPDX-License-Identifier: MIT */
/*
 * Any bytes read as an execution trace: the records do not depend on how the
 * input is cut, nor the text on whether it comes by way of the stream; where
 * nothing was lost the bytes come back; what is merged is merged; coverage made
 * of it keeps its blocks when it becomes a trace again.
 */
#include <stdlib.h>

#include "coverage/merge.h"
#include "fuzz.h"
#include "../unit/memory.h"
#include "record/line.h"

/* Gives put the lines of the stream, one after the other. */
static void each_line(struct tr_text stream, void (*put)(void *context, struct tr_record *record),
		      void *context)
{
	struct tr_arena arena = TR_ARENA_INIT;
	struct tr_error err;
	const char *p = stream.data, *end = p + stream.len;

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));
		struct tr_record record;
		tr_record_init(&record, &arena);
		if (lf && tr_record_from_line(&record, tr_text_span(p, lf + 1), &err))
			put(context, &record);
		p = lf ? lf + 1 : end;
		tr_arena_reset(&arena);
	}
	tr_arena_free(&arena);
}

static struct tr_output *output(struct tr_buffer *to)
{
	struct tr_sink *sink = memory_sink(to, NULL);

	return sink ? tr_output_new(sink) : NULL;
}

struct shown {
	const struct tr_text_style *style;
	void *view;
};

static void show_line(void *context, struct tr_record *record)
{
	const struct shown *shown = context;
	struct tr_error err;

	shown->style->put(shown->view, record, &err);
}

/* The stream in a style; what cannot be shown is skipped. */
static void show(const struct tr_text_style *style, struct tr_text stream, struct tr_buffer *to)
{
	const struct tr_text_config config = { .width = 0 };
	struct tr_output *out = output(to);
	struct tr_error err;
	struct shown shown = { style, out ? style->create(&config, out, &err) : NULL };

	if (shown.view) {
		each_line(stream, show_line, &shown);
		style->put(shown.view, NULL, &err);
		style->free(shown.view);
	}
	if (out)
		tr_output_finish(out, &err);
}

static void merge_line(void *merge, struct tr_record *record)
{
	struct tr_error err;

	tr_merge_put(merge, record, &err);
}

static void merge_stream(struct tr_text stream, struct tr_buffer *to)
{
	struct tr_output *out = output(to);
	struct tr_merge *merge = out ? tr_merge_new() : NULL;
	struct tr_error err;

	if (merge) {
		each_line(stream, merge_line, merge);
		tr_merge_write(merge, 0, false, out);
	}
	tr_merge_free(merge);
	if (out)
		tr_output_finish(out, &err);
}

static void check_merge(struct tr_text stream)
{
	struct tr_buffer once = TR_BUFFER_INIT, twice = TR_BUFFER_INIT;

	merge_stream(stream, &once);
	merge_stream(tr_buffer_text(&once), &twice);
	if (!tr_text_equal(tr_buffer_text(&once), tr_buffer_text(&twice)))
		fuzz_fail("what is merged stays so when it is merged");
	tr_buffer_free(&once);
	tr_buffer_free(&twice);
}

static void count_block(void *count, struct tr_record *record)
{
	*(size_t *)count += tr_text_is(record->kind, "block");
}

/* Blocks of a trace, as coverage, or as a trace of such coverage. */
static size_t blocks(const struct tr_format *format, struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT;
	size_t count = 0;

	fuzz_convert(format, &tr_format_trec, data, false, SIZE_MAX, &stream);
	each_line(tr_buffer_text(&stream), count_block, &count);
	tr_buffer_free(&stream);
	return count;
}

static void check_coverage(struct tr_text data)
{
	const struct tr_format *gnatcov = &tr_format_gnatcov, *drcov = &tr_format_drcov;
	struct tr_buffer there = TR_BUFFER_INIT, back = TR_BUFFER_INIT, again = TR_BUFFER_INIT;

	fuzz_convert(gnatcov, drcov, data, false, SIZE_MAX, &there);
	fuzz_convert(drcov, gnatcov, tr_buffer_text(&there), false, SIZE_MAX, &back);
	fuzz_convert(gnatcov, drcov, tr_buffer_text(&back), false, SIZE_MAX, &again);
	if (blocks(drcov, tr_buffer_text(&there)) != blocks(drcov, tr_buffer_text(&again)))
		fuzz_fail("coverage that becomes a trace keeps its blocks");
	tr_buffer_free(&there);
	tr_buffer_free(&back);
	tr_buffer_free(&again);
}

static void check(struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT, small = TR_BUFFER_INIT;
	struct tr_buffer direct = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	size_t trouble =
		fuzz_convert(&tr_format_gnatcov, &tr_format_trec, data, false, SIZE_MAX, &stream);
	if (fuzz_convert(&tr_format_gnatcov, &tr_format_trec, data, false, 1, &small) != trouble ||
	    !tr_text_equal(tr_buffer_text(&stream), tr_buffer_text(&small)))
		fuzz_fail("records do not depend on how the input is cut");

	fuzz_convert(&tr_format_gnatcov, &tr_format_gnatcov, data, false, 100, &direct);
	fuzz_convert(&tr_format_trec, &tr_format_gnatcov, tr_buffer_text(&stream), false, 7,
		     &again);
	if (!tr_text_equal(tr_buffer_text(&direct), tr_buffer_text(&again)))
		fuzz_fail("the stream says all that the records do");
	if (!trouble && data.len && !tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("what is read without damage comes back");

	for (const struct tr_text_style *s = tr_format_gnatcov.styles; s->name; s++) {
		tr_buffer_reset(&again);
		show(s, tr_buffer_text(&stream), &again);
	}
	check_merge(tr_buffer_text(&stream));
	check_coverage(data);
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
