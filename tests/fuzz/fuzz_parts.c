/* SPDX-License-Identifier: MIT */
/*
 * Merges the files of strace -ff, and those that the etrace recorder writes for each CPU. Lines
 * "---" separate the parts in data. The merge neither loses nor adds a line (apart from the process
 * id before it, and the line end that a part lacks), and the records do not depend on how the parts
 * are read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "../unit/memory.h"

enum { PARTS = 16 };

struct parts {
	struct tr_text list[PARTS];
	size_t count;
};

static struct parts cut(struct tr_text data)
{
	static const char mark[] = "---\n";
	struct parts parts = { .count = 0 };
	const char *p = data.data, *end = data.data + data.len, *begin = p;
	for (const char *lf; p < end && parts.count < PARTS - 1; p = lf + 1) {
		lf = memchr(p, '\n', (size_t)(end - p));
		if (!lf)
			break;
		if (lf - p != sizeof mark - 2 || memcmp(p, mark, sizeof mark - 1) != 0)
			continue;
		parts.list[parts.count++] = tr_text_span(begin, p);
		begin = lf + 1;
	}
	parts.list[parts.count++] = tr_text_span(begin, end);
	return parts;
}

/* Reads the merged source to its end. False: these are no parts, or memory is exhausted. */
static bool merge(const struct tr_format *format, const struct parts *parts, size_t piece,
		  struct tr_buffer *to)
{
	struct tr_read_config config = { .limits = fuzz_limits() };
	struct tr_input *inputs[PARTS];
	int64_t numbers[PARTS];
	char buffer[4096], name[32];
	struct tr_error err;
	ssize_t got;
	size_t count = 0;
	for (size_t i = 0; i < parts->count; i++) {
		struct tr_source *source = memory_source(parts->list[i], piece);
		size_t window = piece == SIZE_MAX ? 0 : piece;
		struct tr_input *in = source ? tr_input_new(source, &config.limits, window) : NULL;
		snprintf(name, sizeof name, "log.%zu", 100 + i);
		config.name = name;
		int64_t number = in ? format->part(&config, in) : -1;
		bool another = number >= 0;
		for (size_t k = 0; k < count; k++)
			another &= numbers[k] != number;
		if (another) {
			inputs[count] = in;
			numbers[count++] = number;
		} else {
			tr_input_free(in);
		}
	}
	if (count < 2) {
		for (size_t i = 0; i < count; i++)
			tr_input_free(inputs[i]);
		return false;
	}
	struct tr_source *source = format->merge(inputs, numbers, count);
	if (!source)
		return false;
	while ((got = source->read(source, buffer, sizeof buffer, &err)) > 0)
		tr_buffer_put(to, buffer, (size_t)got);
	source->close(source);
	return got == 0 && !to->failed;
}

static void check(const struct tr_format *format, const struct parts *parts)
{
	struct tr_buffer whole = TR_BUFFER_INIT, pieces = TR_BUFFER_INIT, stream = TR_BUFFER_INIT;
	bool merged = merge(format, parts, SIZE_MAX, &whole);
	if (merge(format, parts, 1, &pieces) != merged ||
	    !tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&pieces)))
		fuzz_fail("what is merged does not depend on how the parts are cut");
	if (merged)
		fuzz_convert(format, &tr_format_trec, tr_buffer_text(&whole), false, SIZE_MAX,
			     &stream);
	tr_buffer_free(&whole);
	tr_buffer_free(&pieces);
	tr_buffer_free(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parts parts = cut((struct tr_text){ (const char *)data, size });
	check(&tr_format_strace, &parts);
	check(&tr_format_etrace, &parts);
	return 0;
}
