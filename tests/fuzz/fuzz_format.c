/* SPDX-License-Identifier: MIT */
/*
 * Reads any bytes as the format that the first argument or TREC_FUZZ_FORMAT names. These properties
 * hold for all formats:
 *
 *  - records do not depend on how the input is cut, also with --exact or --lines;
 *  - they are well formed and canonical, so conversion to typed JSON and back changes nothing;
 *  - where the format is exact, input without errors is written as the same bytes, directly and
 *    through the stream;
 *  - the text styles of the format show them without an error.
 *
 * Formats with further properties have a check of their own in `checks`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coverage/merge.h"
#include "fuzz.h"
#include "../unit/memory.h"
#include "record/line.h"

static const struct tr_format *target;

/* Calls put with each line of the stream. */
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

	if (shown->style->put(shown->view, record, &err) == TR_FATAL)
		fuzz_fail("what is read can be shown");
}

static void ignore_trouble(void *context, const struct tr_error *err)
{
	(void)context;
	(void)err;
}

/* Shows the stream in a style. */
static void show(const struct tr_text_style *style, struct tr_text stream)
{
	const struct tr_text_config config = { .limits = fuzz_limits(), .report = ignore_trouble };
	struct tr_buffer text = TR_BUFFER_INIT;
	struct tr_output *out = output(&text);
	struct tr_error err;
	struct shown shown = { style, out ? style->create(&config, out, &err) : NULL };

	if (shown.view) {
		each_line(stream, show_line, &shown);
		style->put(shown.view, NULL, &err);
		style->free(shown.view);
	}
	if (out)
		tr_output_finish(out, &err);
	tr_buffer_free(&text);
}

static void check_equal(const struct tr_buffer *a, const struct tr_buffer *b, const char *promise)
{
	if (!tr_text_equal(tr_buffer_text(a), tr_buffer_text(b)))
		fuzz_fail(promise);
}

/* Appends the stream of data. Returns the number of errors. */
static size_t check_reading(const struct tr_format *format, struct tr_text data, bool exact,
			    struct tr_buffer *stream)
{
	struct tr_buffer pieces = TR_BUFFER_INIT;
	size_t trouble = fuzz_convert(format, &tr_format_trec, data, exact, SIZE_MAX, stream);

	fuzz_convert(format, &tr_format_trec, data, exact, 1, &pieces);
	check_equal(stream, &pieces, "records do not depend on how the input is cut");
	tr_buffer_free(&pieces);
	return trouble;
}

/* Checks that records which come as text are the same. */
static void check_text(const struct tr_format *format, struct tr_text data,
		       const struct tr_buffer *stream)
{
	struct tr_buffer text = TR_BUFFER_INIT;

	fuzz_read_as_text(format, data, SIZE_MAX, &text);
	check_equal(stream, &text, "records as text are those of the stream");
	tr_buffer_reset(&text);
	fuzz_read_as_text(format, data, 5, &text);
	check_equal(stream, &text, "records as text do not depend on how the input is cut");
	tr_buffer_free(&text);
}

/* Checks that the stream is canonical, and that typed JSON gives it back. */
static void check_stream(const struct tr_format *format, const struct tr_buffer *stream)
{
	struct tr_buffer again = TR_BUFFER_INIT, json = TR_BUFFER_INIT;
	size_t flaws = fuzz_convert(&tr_format_trec, &tr_format_trec, tr_buffer_text(stream), false,
				    SIZE_MAX, &again);

	check_equal(stream, &again, "what a stream is written as is canonical");
	/* a line of trec with a flaw is passed on as it is */
	if (flaws && !(format->flags & TR_FORMAT_STREAM))
		fuzz_fail("every record is well formed");
	tr_buffer_reset(&again);
	fuzz_convert(&tr_format_trec, &tr_format_json, tr_buffer_text(stream), false, SIZE_MAX,
		     &json);
	fuzz_convert(&tr_format_json, &tr_format_trec, tr_buffer_text(&json), false, 5, &again);
	if (!flaws)
		check_equal(stream, &again, "typed JSON keeps the stream");
	tr_buffer_free(&again);
	tr_buffer_free(&json);
}

/* True for a form of the format that has traces within other text, which is not written again. */
static bool is_log(const struct tr_format *format, struct tr_text data)
{
	const struct tr_limits limits = fuzz_limits();
	const struct tr_settings none = { NULL, 0 };
	struct tr_source *source = format->is_log ? memory_source(data, SIZE_MAX) : NULL;
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;
	bool log = in && tr_input_more(in, 1) && format->is_log(in, &none);

	tr_input_free(in);
	return log;
}

static void check_identity(const struct tr_format *format, struct tr_text data,
			   const struct tr_buffer *stream)
{
	struct tr_buffer again = TR_BUFFER_INIT;

	fuzz_convert(format, format, data, true, 7, &again);
	if (!tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("what is read without trouble is written byte for byte");
	tr_buffer_reset(&again);
	fuzz_convert(&tr_format_trec, format, tr_buffer_text(stream), false, 7, &again);
	if (!tr_text_equal(data, tr_buffer_text(&again)))
		fuzz_fail("what is read without trouble comes back through the stream");
	tr_buffer_free(&again);
}

/* Reading the written bytes and writing them again changes nothing. */
static void check_writing(const struct tr_format *reads, const struct tr_format *writes,
			  struct tr_text data, bool exact)
{
	struct tr_buffer once = TR_BUFFER_INIT, stream = TR_BUFFER_INIT, again = TR_BUFFER_INIT;

	fuzz_convert(reads, writes, data, false, SIZE_MAX, &once);
	fuzz_convert(writes, &tr_format_trec, tr_buffer_text(&once), exact, SIZE_MAX, &stream);
	fuzz_convert(&tr_format_trec, writes, tr_buffer_text(&stream), false, 7, &again);
	/* without records a whole trace is written */
	if (stream.len)
		check_equal(&once, &again, "what is written is written again as it is");
	tr_buffer_free(&once);
	tr_buffer_free(&stream);
	tr_buffer_free(&again);
}

/* Whether the format promises the same bytes, with --exact or --lines. */
static bool is_exact(const struct tr_format *format)
{
	return format->flags & TR_FORMAT_WRITES && !(format->flags & TR_FORMAT_STREAM) &&
	       (strncmp(format->exact, "EXACT", 5) == 0 || strcmp(format->exact, "SAME") == 0);
}

static void check_any(const struct tr_format *format, struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT, exact = TR_BUFFER_INIT;

	check_reading(format, data, false, &stream);
	size_t trouble = check_reading(format, data, true, &exact);
	check_text(format, data, &stream);
	check_stream(format, &stream);
	if (!trouble && is_exact(format) && data.len && !is_log(format, data))
		check_identity(format, data, &exact);
	for (const struct tr_text_style *s = format->styles; s && s->name; s++)
		show(s, tr_buffer_text(&stream));
	tr_buffer_free(&stream);
	tr_buffer_free(&exact);
}

/* Checks of single formats. */

/* The trace is the same even after errors. */
static void check_klocwork(struct tr_text data)
{
	struct tr_buffer exact = TR_BUFFER_INIT;

	check_reading(target, data, true, &exact);
	check_identity(target, data, &exact);
	tr_buffer_free(&exact);
}

/*
 * A truncated trace, as a killed program leaves it, is written as it is. If more than the end is
 * reported, the cut event has bytes that look like a stream of their own, with damage.
 */
static void check_apitrace(struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT;
	size_t trouble = fuzz_convert(target, &tr_format_trec, data, true, SIZE_MAX, &stream);

	for (size_t part = 2; !trouble && part < 6; part++) {
		struct tr_text begin = { data.data, data.len - data.len / part };
		struct tr_buffer again = TR_BUFFER_INIT;

		tr_buffer_reset(&stream);
		size_t reports =
			fuzz_convert(target, &tr_format_trec, begin, true, SIZE_MAX, &stream);
		fuzz_convert(&tr_format_trec, target, tr_buffer_text(&stream), false, SIZE_MAX,
			     &again);
		/* less than a header has no record, and without records an empty trace is written */
		bool any = stream.len && reports <= 1;
		if (any && !tr_text_equal(begin, tr_buffer_text(&again)))
			fuzz_fail("apitrace --exact is the identity on what is cut");
		tr_buffer_free(&again);
	}
	tr_buffer_free(&stream);
}

/* These events wait for the next one of their task, so others may be written before them. */
static bool has_order(struct tr_text records)
{
	return !memmem(records.data, records.len, "mount\t", 6) &&
	       !memmem(records.data, records.len, "envset\t", 7);
}

/* Appends the stream without its third column, the times. */
static void put_untimed(const struct tr_buffer *records, struct tr_buffer *to)
{
	size_t column = 0;

	for (size_t i = 0; i < records->len; i++) {
		char c = records->data[i];

		column = c == '\n' ? 0 : column + (c == '\t');
		if (column != 2)
			tr_buffer_put_byte(to, c);
	}
}

/*
 * The written log has the same events. Only their times may be later, because those of a task have
 * to increase; writing the log once more changes nothing.
 */
static void check_etrace(struct tr_text data)
{
	struct tr_buffer whole = TR_BUFFER_INIT, other = TR_BUFFER_INIT, log = TR_BUFFER_INIT;
	struct tr_buffer a = TR_BUFFER_INIT, b = TR_BUFFER_INIT;
	size_t trouble = fuzz_convert(target, &tr_format_trec, data, false, SIZE_MAX, &whole);

	check_klocwork(data);
	fuzz_convert(target, target, data, false, SIZE_MAX, &log);
	fuzz_convert(target, &tr_format_trec, tr_buffer_text(&log), false, SIZE_MAX, &other);
	put_untimed(&whole, &a);
	put_untimed(&other, &b);
	if (!trouble && has_order(tr_buffer_text(&whole)))
		check_equal(&a, &b, "what is written is read as the same records");
	tr_buffer_reset(&whole);
	fuzz_convert(target, target, tr_buffer_text(&log), false, SIZE_MAX, &whole);
	if (!trouble && has_order(tr_buffer_text(&other)))
		check_equal(&log, &whole, "what was written is written again with the same times");
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	tr_buffer_free(&log);
	tr_buffer_free(&a);
	tr_buffer_free(&b);
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
	check_equal(&once, &twice, "what is merged stays so when it is merged");
	tr_buffer_free(&once);
	tr_buffer_free(&twice);
}

static void count_block(void *count, struct tr_record *record)
{
	struct tr_field *size = tr_record_field(record, "size");

	*(size_t *)count +=
		tr_text_is(record->kind, "block") && !(size && tr_text_is(size->text, "0"));
}

/* Blocks that have a size. */
static size_t blocks(const struct tr_format *format, struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT;
	size_t count = 0;

	fuzz_convert(format, &tr_format_trec, data, false, SIZE_MAX, &stream);
	each_line(tr_buffer_text(&stream), count_block, &count);
	tr_buffer_free(&stream);
	return count;
}

/* Coverage that is written as an execution trace keeps its blocks. */
static void check_coverage(struct tr_text data)
{
	const struct tr_format *gnatcov = &tr_format_gnatcov, *drcov = &tr_format_drcov;
	struct tr_buffer back = TR_BUFFER_INIT, again = TR_BUFFER_INIT;
	size_t trouble = fuzz_convert(drcov, gnatcov, data, false, SIZE_MAX, &back);

	trouble += fuzz_convert(gnatcov, drcov, tr_buffer_text(&back), false, SIZE_MAX, &again);
	if (!trouble && blocks(drcov, data) != blocks(drcov, tr_buffer_text(&again)))
		fuzz_fail("coverage that becomes a trace keeps its blocks");
	tr_buffer_free(&back);
	tr_buffer_free(&again);
}

static void check_gnatcov(struct tr_text data)
{
	struct tr_buffer stream = TR_BUFFER_INIT, direct = TR_BUFFER_INIT, again = TR_BUFFER_INIT;

	fuzz_convert(target, &tr_format_trec, data, false, SIZE_MAX, &stream);
	fuzz_convert(target, target, data, false, 100, &direct);
	fuzz_convert(&tr_format_trec, target, tr_buffer_text(&stream), false, 7, &again);
	check_equal(&direct, &again, "the stream holds all that the records do");
	check_merge(tr_buffer_text(&stream));
	tr_buffer_reset(&again);
	fuzz_convert(target, &tr_format_drcov, data, false, SIZE_MAX, &again);
	check_coverage(tr_buffer_text(&again));
	tr_buffer_free(&stream);
	tr_buffer_free(&direct);
	tr_buffer_free(&again);
}

static void write_all(struct tr_text data)
{
	for (size_t i = 0; tr_formats[i]; i++) {
		struct tr_buffer out = TR_BUFFER_INIT;

		if (tr_formats[i]->flags & TR_FORMAT_WRITES)
			fuzz_convert(target, tr_formats[i], data, false, SIZE_MAX, &out);
		tr_buffer_free(&out);
	}
}

/* The commands of a build are written in every format. */
static void check_build(struct tr_text data)
{
	check_writing(target, target, data, false);
	write_all(data);
}

/* A stream is written in every format. */
static void check_trec(struct tr_text data)
{
	check_writing(target, &tr_format_apitrace, data, true);
	write_all(data);
}

static const struct {
	const char *name;
	void (*check)(struct tr_text data);
} checks[] = {
	{ "apitrace", check_apitrace }, { "bear", check_build },
	{ "buildspec", check_build },	{ "compdb", check_build },
	{ "drcov", check_coverage },	{ "etrace", check_etrace },
	{ "gnatcov", check_gnatcov },	{ "klocwork", check_klocwork },
	{ "trec", check_trec },
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	/* jobs of libFuzzer get the name from the environment */
	const char *name = getenv("TREC_FUZZ_FORMAT");

	if (*argc > 1 && tr_format_by_name(tr_text_from((*argv)[1]))) {
		name = (*argv)[1];
		setenv("TREC_FUZZ_FORMAT", name, 1);
		memmove(&(*argv)[1], &(*argv)[2], (size_t)(*argc - 1) * sizeof **argv);
		(*argc)--;
	}
	target = name ? tr_format_by_name(tr_text_from(name)) : NULL;
	if (!target || !(target->flags & TR_FORMAT_READS)) {
		fputs("usage: fuzz_format FORMAT [FILE...], a format that is read\n", stderr);
		exit(2);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct tr_text data = { (const char *)bytes, size };

	check_any(target, data);
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
		if (strcmp(checks[i].name, target->name) == 0)
			checks[i].check(data);
	return 0;
}
