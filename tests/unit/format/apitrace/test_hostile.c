/* SPDX-License-Identifier: MIT */
/*
 * Small streams of every kind of thing, cut at every byte, and with every byte
 * changed. Whatever comes of it does not depend on how the input comes, and
 * takes memory in proportion to it. Linked with --wrap to see allocations;
 * sanitizers see the rest.
 */
#include "harness.h"
#include "tap.h"

void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

static size_t largest;

void *__wrap_malloc(size_t size)
{
	largest = size > largest ? size : largest;
	return __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
	largest = size > largest ? size : largest;
	return __real_realloc(old, size);
}

enum {
	FIXED = 64 << 10, /* of one allocation, before it depends on the input */
	PER_BYTE = 200,
};

/* What the recipe makes. */
static bool make(const char *recipe, struct tr_buffer *stream)
{
	char command[4096], bytes[4096];
	const char *top = getenv("top_srcdir");
	snprintf(command, sizeof command,
		 "tests/helper/apitrace_make <'%s/tests/data/apitrace/%s.recipe'", top ? top : ".",
		 recipe);
	FILE *pipe = popen(command, "r");
	if (!pipe)
		return false;
	for (size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
		tr_buffer_put(stream, bytes, n);
	return pclose(pipe) == 0 && stream->len > 0 && !stream->failed;
}

/* The same by one byte and all at once, as fields and as text; and no large allocation. */
static bool survives(struct tr_text stream)
{
	static const enum how hows[] = { FIELDS, TEXT, EXACT };
	struct tr_buffer whole = TR_BUFFER_INIT, other = TR_BUFFER_INIT;
	size_t all = stream.len ? stream.len : 1;
	bool fine = true;
	largest = 0;
	for (size_t i = 0; i < sizeof hows / sizeof *hows && fine; i++) {
		tr_buffer_reset(&other);
		fine = read_stream(stream, all, hows[i], &other);
		if (hows[i] == FIELDS)
			tr_buffer_put_text(&whole, tr_buffer_text(&other));
		if (hows[i] == EXACT)
			break;
		fine = fine && tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&other));
		tr_buffer_reset(&other);
		fine = fine && read_stream(stream, 1, hows[i], &other) &&
		       tr_text_equal(tr_buffer_text(&whole), tr_buffer_text(&other)) &&
		       largest <= FIXED + PER_BYTE * stream.len;
	}
	tr_buffer_free(&whole);
	tr_buffer_free(&other);
	return fine;
}

static void test_cuts(const char *name, struct tr_text stream)
{
	size_t len = 0;
	for (; len <= stream.len && survives((struct tr_text){ stream.data, len }); len += every(3))
		;
	ok(len > stream.len, "%s: cut at each of %zu bytes (%zu)", name, stream.len, len);
}

static void test_changes(const char *name, const struct tr_buffer *stream)
{
	static const unsigned char changes[] = { 0x01, 0x02, 0x04, 0x80, 0xff };
	bool fine = true;
	for (size_t i = 0; i < stream->len && fine; i += every(3))
		for (size_t j = 0; j < sizeof changes && fine; j++) {
			stream->data[i] ^= (char)changes[j];
			fine = survives(tr_buffer_text(stream));
			stream->data[i] ^= (char)changes[j];
			if (!fine)
				diag("byte %zu with %02x", i, changes[j]);
		}
	ok(fine, "%s: each byte changed", name);
}

/* A million values inside each other, which no program has sent. */
static void test_nested_counts(void)
{
	struct tr_buffer stream = TR_BUFFER_INIT;
	tr_buffer_put_literal(&stream, "\x02\x00\x01\x01g\x00\x02");
	for (unsigned i = 0; i < 50; i++)
		tr_buffer_put_literal(&stream, "\x0b\xff\xff\x03");
	for (unsigned i = 0; i < 70000; i++)
		tr_buffer_put_byte(&stream, 0);
	largest = 0;
	struct tr_buffer lines = TR_BUFFER_INIT;
	bool read = read_stream(tr_buffer_text(&stream), 1000, FIELDS, &lines) &&
		    read_stream(tr_buffer_text(&stream), 1000, TEXT, &lines);
	ok(read && largest < 64 * stream.len,
	   "arrays in each other share the bytes that are there (%zu)", largest);
	tr_buffer_free(&lines);
	tr_buffer_free(&stream);
}

int main(void)
{
	static const char *const recipes[] = { "good-values",	 "good-threads", "good-frames",
					       "good-arguments", "good-v0",	 "good-padded" };
	for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
		struct tr_buffer stream = TR_BUFFER_INIT;
		if (ok(make(recipes[i], &stream), "%s", recipes[i])) {
			test_cuts(recipes[i], tr_buffer_text(&stream));
			test_changes(recipes[i], &stream);
		}
		tr_buffer_free(&stream);
	}
	test_nested_counts();
	return done_testing();
}
