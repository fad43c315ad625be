/* SPDX-License-Identifier: MIT */
/*
 * Encodes any bytes and decodes them: all codecs and levels, in pieces of any size, with and
 * without threads and flushes. The first bytes select the codec, its level, the size of a piece,
 * flushing, the number of threads, and how often the rest is repeated.
 */
#include "core/codec.h"
#include "core/input.h"
#include "fuzz.h"
#include "../unit/memory.h"

enum { CHOICES = 5, FLUSH = 1, THREADS = 2, REPEATS = 64, SLOWEST = 1 << 20, MOST_FLUSHES = 50 };

struct choice {
	const struct tr_codec *codec;
	int level;
	size_t piece;
	bool flush;
	unsigned threads;
};

static void choose(const uint8_t *data, struct choice *choice)
{
	size_t count = 0;
	while (tr_codecs[count])
		count++;
	size_t i = data[0] % (count + 1);
	choice->codec = i < count ? tr_codecs[i] : &tr_codec_zstd_seekable;
	int levels = choice->codec->level_max - choice->codec->level_min + 1;
	choice->level = choice->codec->level_min + data[1] % levels;
	choice->piece = (size_t)1 << data[2] % 20;
	choice->flush = data[3] & FLUSH;
	choice->threads = data[3] & THREADS ? 3 : 1;
}

static void encode(const struct choice *choice, struct tr_text text, struct tr_buffer *to)
{
	struct tr_error err;
	int finished = 0;
	struct tr_sink *sink = choice->codec->encoder(memory_sink(to, &finished), choice->level,
						      choice->threads, &err);
	bool good = sink != NULL;
	while (good && text.len) {
		size_t n = text.len < choice->piece ? text.len : choice->piece;
		good = sink->write(sink, text.data, n, &err) &&
		       (!choice->flush || sink->flush(sink, &err));
		text.data += n;
		text.len -= n;
	}
	if (!good || !sink->finish(sink, &err) || finished != 1)
		fuzz_fail("an encoder takes all bytes");
	sink->close(sink);
}

static void compare(const struct choice *choice, struct tr_text packed, struct tr_text want)
{
	struct tr_limits limits = TR_LIMITS_DEFAULT;
	struct tr_error err;
	limits.max_ratio = 0;
	struct tr_source *source =
		choice->codec->decoder(memory_input(packed, choice->piece, false), &limits, &err);
	struct tr_input *in = source ? tr_input_new(source, &limits, 0) : NULL;
	if (!in)
		fuzz_fail("a decoder opens");
	while (tr_input_more(in, 1)) {
		size_t n = tr_input_available(in);
		if (n > want.len || memcmp(in->pos, want.data, n) != 0)
			fuzz_fail("what was encoded decodes to the same bytes");
		want.data += n;
		want.len -= n;
		tr_input_skip(in, n);
	}
	if (in->damaged || want.len)
		fuzz_fail("what was encoded decodes whole");
	tr_input_free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct choice choice;
	struct tr_buffer plain = TR_BUFFER_INIT, packed = TR_BUFFER_INIT;
	if (size < CHOICES)
		return 0;
	choose(data, &choice);
	for (unsigned i = 0; i <= data[4] % REPEATS && plain.len < SLOWEST; i++)
		tr_buffer_put(&plain, (const char *)data + CHOICES, size - CHOICES);
	/* a flush of threads with large windows takes tens of milliseconds */
	if (choice.flush && plain.len / choice.piece > MOST_FLUSHES)
		choice.piece = plain.len / MOST_FLUSHES;
	encode(&choice, tr_buffer_text(&plain), &packed);
	compare(&choice, tr_buffer_text(&packed), tr_buffer_text(&plain));
	tr_buffer_free(&plain);
	tr_buffer_free(&packed);
	return 0;
}
