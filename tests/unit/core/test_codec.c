/* SPDX-License-Identifier: MIT */
/* Every codec of the table: round trips, cut input, damaged input, limits. */
#include "core/codec.h"

#include <inttypes.h>

#include "memory.h"
#include "samples.h"
#include "tap.h"

static const struct tr_limits limits = TR_LIMITS_DEFAULT;

/* Encodes text into *to, in writes of `piece` bytes, with a flush after each if flush is set. */
static bool encode(const struct tr_codec *codec, struct tr_text text, size_t piece, bool flush,
		   unsigned threads, struct tr_buffer *to)
{
	struct tr_error err;
	int finished = 0;
	struct tr_sink *sink =
		codec->encoder(memory_sink(to, &finished), codec->level_default, threads, &err);
	bool good = sink != NULL;
	while (good && text.len) {
		size_t n = piece < text.len ? piece : text.len;
		good = sink->write(sink, text.data, n, &err) && (!flush || sink->flush(sink, &err));
		text.data += n;
		text.len -= n;
	}
	good = good && sink->finish(sink, &err) && finished == 1;
	if (sink)
		sink->close(sink);
	return good;
}

/* Decodes all of text, which arrives in pieces of `most` bytes (0: any). */
static bool decode(const struct tr_codec *codec, struct tr_text text, size_t most,
		   struct tr_buffer *to, struct tr_error *err)
{
	struct tr_source *source = codec->decoder(memory_input(text, most, false), &limits, err);
	return source && drain(source, most ? most : 100000, to, err);
}

static bool same(const struct tr_buffer *a, struct tr_text b)
{
	return tr_text_equal(tr_buffer_text(a), b);
}

static void round_trip(const struct tr_codec *codec, struct tr_text text, size_t piece, size_t most,
		       unsigned threads, const char *what)
{
	struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	bool good = encode(codec, text, piece, false, threads, &packed);
	good = good && decode(codec, tr_buffer_text(&packed), most, &plain, &err);
	if (!ok(good && same(&plain, text), "%s: %s, and back", codec->name, what))
		diag("%zu bytes packed, %zu plain: %s", packed.len, plain.len, err.text);

	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

static void test_round_trips(const struct tr_codec *codec)
{
	struct tr_buffer lines = TR_BUFFER_INIT, noise = TR_BUFFER_INIT;
	put_lines(&lines, 3000001);
	put_noise(&noise, 3000001);
	round_trip(codec, TR_TEXT(""), 1, 0, 1, "nothing");
	round_trip(codec, TR_TEXT(""), 1, 1, 1, "nothing, byte by byte");
	round_trip(codec, TR_TEXT("x"), 1, 0, 1, "one byte");
	round_trip(codec, TR_TEXT("x"), 1, 1, 1, "one byte, byte by byte");
	round_trip(codec, tr_buffer_text(&lines), 100000, 0, 1, "3 MB of lines");
	round_trip(codec, tr_buffer_text(&lines), SIZE_MAX, 0, 3, "3 MB of lines, three threads");
	round_trip(codec, tr_buffer_text(&noise), 4097, 0, 1, "3 MB of noise");
	lines.len = noise.len = 70001;
	round_trip(codec, tr_buffer_text(&lines), 1, 1, 1, "70 KB of lines, byte by byte");
	round_trip(codec, tr_buffer_text(&noise), 1, 1, 1, "70 KB of noise, byte by byte");
	tr_buffer_free(&lines);
	tr_buffer_free(&noise);
}

static void test_flush(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT, lines = TR_BUFFER_INIT;
	struct tr_error err;
	put_lines(&lines, 5000);
	struct tr_sink *sink =
		codec->encoder(memory_sink(&packed, NULL), codec->level_default, 1, &err);
	bool good = sink->write(sink, lines.data, 3000, &err) && sink->flush(sink, &err);
	size_t flushed = packed.len;
	decode(codec, tr_buffer_text(&packed), 0, &plain, &err);
	/* a chunk of snappy that equals an earlier one could pass for a copy of it */
	size_t readable = codec == &tr_codec_snappy ? 0 : 3000;
	ok(good && same(&plain, (struct tr_text){ lines.data, readable }),
	   "%s: what was flushed can be read", codec->name);
	ok(sink->flush(sink, &err) && packed.len <= flushed + 16, "%s: flushed twice", codec->name);
	good = sink->write(sink, lines.data + 3000, 2000, &err) && sink->finish(sink, &err);
	sink->close(sink);
	plain.len = 0;
	good = good && decode(codec, tr_buffer_text(&packed), 0, &plain, &err);
	ok(good && same(&plain, tr_buffer_text(&lines)), "%s: can be written to after a flush",
	   codec->name);
	tr_buffer_free(&lines);
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

/* Frames and members follow each other: cat a.gz b.gz. */
static void test_concatenated(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	struct tr_error err;
	encode(codec, TR_TEXT("first\n"), 100, false, 1, &packed);
	encode(codec, TR_TEXT(""), 100, false, 1, &packed);
	encode(codec, TR_TEXT("second\n"), 100, false, 1, &packed);
	for (size_t most = 0; most < 2; most++) {
		plain.len = 0;
		bool good = decode(codec, tr_buffer_text(&packed), most, &plain, &err);
		ok(good && same(&plain, TR_TEXT("first\nsecond\n")), "%s: two after each other%s",
		   codec->name, most ? ", byte by byte" : "");
	}
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

static void test_garbage_behind(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	struct tr_error err;
	encode(codec, TR_TEXT("some text\n"), 100, false, 1, &packed);
	tr_buffer_put_literal(&packed, "and garbage");
	for (size_t most = 0; most < 2; most++) {
		plain.len = 0;
		bool good = decode(codec, tr_buffer_text(&packed), most, &plain, &err);
		ok(!good && same(&plain, TR_TEXT("some text\n")), "%s: garbage after the end: %s",
		   codec->name, err.text);
	}
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

/* Cut input gives a prefix and an error; more input never gives less. */
static void test_cuts(const struct tr_codec *codec)
{
	struct tr_buffer lines = TR_BUFFER_INIT, packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	size_t least = 0, cut, silent = 0;
	put_lines(&lines, 2000);
	encode(codec, tr_buffer_text(&lines), 100, false, 1, &packed);
	for (cut = 1; cut < packed.len; cut += every(7)) {
		struct tr_error err;
		tr_error_clear(&err);
		plain.len = 0;
		if (decode(codec, (struct tr_text){ packed.data, cut }, cut % 3, &plain, &err))
			silent++;
		if (plain.len < least || plain.len > lines.len ||
		    (plain.len && memcmp(plain.data, lines.data, plain.len)))
			break;
		least = plain.len;
	}
	ok(cut >= packed.len, "%s: every cut gives a prefix (%zu of %zu)", codec->name, cut,
	   packed.len);
	/* a snappy container may end after any chunk, and its magic is none */
	bool snappy = strcmp(codec->name, "snappy") == 0;
	ok(silent <= snappy, "%s: every cut is reported (%zu are not)", codec->name, silent);
	tr_buffer_free(&lines);
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

static void test_flips(const struct tr_codec *codec)
{
	struct tr_buffer lines = TR_BUFFER_INIT, packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	put_lines(&lines, 2000);
	encode(codec, tr_buffer_text(&lines), 100, false, 1, &packed);
	size_t unnoticed = 0;
	for (size_t i = 0; i < packed.len; i += every(7)) {
		struct tr_error err;
		packed.data[i] ^= (char)(1 << i % 8);
		plain.len = 0;
		if (decode(codec, tr_buffer_text(&packed), 0, &plain, &err) &&
		    !same(&plain, tr_buffer_text(&lines)))
			unnoticed++;
		packed.data[i] ^= (char)(1 << i % 8);
	}
	ok(true, "%s: survives a flipped bit in every byte (%zu of %zu pass unnoticed)",
	   codec->name, unnoticed, packed.len);
	tr_buffer_free(&lines);
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

static void version_is_there(const struct tr_codec *codec)
{
	char version[64] = "";
	if (codec->version)
		codec->version(version, sizeof version);
	ok(!codec->version || (codec->library && *version >= '0' && *version <= '9'),
	   "%s: version \"%s\"", codec->name, version);
}

static void test_detection(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT;
	encode(codec, TR_TEXT("some text\n"), 100, false, 1, &packed);
	for (size_t most = 0; codec->bid && most < 2; most++) {
		struct tr_input *in = memory_input(tr_buffer_text(&packed), most, false);
		ok(tr_codec_detect(in) == codec && in->offset == 0, "%s: is detected%s",
		   codec->name, most ? ", byte by byte" : "");
		tr_input_free(in);
	}
	ok(tr_codec_by_name(tr_text_from(codec->name)) == codec, "%s: by name", codec->name);
	if (codec->extension) {
		char path[64];
		snprintf(path, sizeof path, "dir/trace%s", codec->extension);
		ok(tr_codec_by_extension(tr_text_from(path)) == codec, "%s: by extension",
		   codec->name);
	}
	version_is_there(codec);
	tr_buffer_free(&packed);
}

/* After a read error, a decoder gives the bytes before it, then that error. */
static void test_source_error(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	struct tr_error err;
	encode(codec, TR_TEXT("some text\n"), 100, false, 1, &packed);
	struct tr_source *broken = memory_source(tr_buffer_text(&packed), 0);
	((struct memory_source *)broken)->fails = true;
	struct tr_input *in = tr_input_new(broken, &limits, 0);
	bool good = drain(codec->decoder(in, &limits, &err), 100, &plain, &err);
	ok(!good && err.cause == TR_CAUSE_SYSTEM && same(&plain, TR_TEXT("some text\n")),
	   "%s: an error of the file comes through, after the bytes", codec->name);
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

static void test_sink_error(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT, noise = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	put_noise(&noise, 3 << 20);
	struct tr_sink *full = memory_sink(&packed, NULL);
	((struct memory_sink *)full)->room = 1000;
	struct tr_sink *sink = codec->encoder(full, codec->level_default, 1, &err);
	bool good = sink->write(sink, noise.data, noise.len, &err) && sink->finish(sink, &err);
	sink->close(sink);
	ok(!good && !strcmp(err.text, "the disk is full"), "%s: a failed write is reported: %s",
	   codec->name, err.text);
	tr_buffer_free(&packed);
	tr_buffer_free(&noise);
}

/* A bomb is decoded up to the limit, and the error names the limit. */
static void test_ratio(const struct tr_codec *codec)
{
	struct tr_buffer packed = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	struct tr_sink *sink =
		codec->encoder(memory_sink(&packed, NULL), codec->level_default, 1, &err);
	char *zeros = calloc(1, 1 << 20);
	for (int i = 0; i < 80; i++)
		sink->write(sink, zeros, 1 << 20, &err);
	sink->finish(sink, &err);
	sink->close(sink);
	struct tr_limits strict = TR_LIMITS_DEFAULT;
	strict.max_ratio = 5;
	struct tr_source *source =
		codec->decoder(memory_input(tr_buffer_text(&packed), 0, false), &strict, &err);
	uint64_t total = 0;
	ssize_t n;
	while ((n = source->read(source, zeros, 1 << 20, &err)) > 0)
		total += (uint64_t)n;
	source->close(source);
	ok(n < 0 && err.cause == TR_CAUSE_LIMIT && total >= 64u << 20 && total < 70u << 20,
	   "%s: a bomb is stopped after %" PRIu64 " bytes: %s", codec->name, total, err.text);
	free(zeros);
	tr_buffer_free(&packed);
}

/* Decodes all layers into a window. Returns the text, or the error. */
static bool open_all(struct tr_text packed, bool threads, struct tr_buffer *plain,
		     const struct tr_codec **codec, struct tr_error *err)
{
	struct tr_input *in = tr_codec_open(memory_input(packed, 0, false), &limits, threads, err);
	if (!in)
		return false;
	*codec = in->codec;
	while (tr_input_more(in, 1)) {
		tr_buffer_put(plain, in->pos, tr_input_available(in));
		tr_input_skip(in, tr_input_available(in));
	}
	bool good = !in->damaged;
	if (!good)
		tr_input_error(in, err);
	else
		good = tr_input_raw_offset(in) == packed.len;
	tr_input_free(in);
	return good;
}

static void test_layers(void)
{
	struct tr_buffer lines = TR_BUFFER_INIT, layer[6], plain = TR_BUFFER_INIT;
	const struct tr_codec *codec = NULL;
	struct tr_error err;
	put_lines(&lines, 700000);
	layer[0] = lines;
	for (int i = 1; i < 6; i++) {
		layer[i] = (struct tr_buffer)TR_BUFFER_INIT;
		encode(tr_codecs[i % 3], tr_buffer_text(&layer[i - 1]), 10000, false, 1, &layer[i]);
	}
	for (int i = 0; i < 5; i++) {
		for (int threads = 0; threads < 2; threads++) {
			plain.len = 0;
			bool good =
				open_all(tr_buffer_text(&layer[i]), threads, &plain, &codec, &err);
			ok(good && same(&plain, tr_buffer_text(&lines)) &&
				   codec == (i ? tr_codecs[i % 3] : NULL),
			   "%d layers come off%s", i, threads ? ", on a thread" : "");
		}
	}
	ok(!open_all(tr_buffer_text(&layer[5]), true, &plain, &codec, &err) &&
		   err.cause == TR_CAUSE_LIMIT,
	   "five layers do not: %s", err.text);
	for (int i = 0; i < 6; i++)
		tr_buffer_free(&layer[i]);
	tr_buffer_free(&plain);
}

/* As in gzip(1), zeros may follow the data; anything else is reported after the data. */
static void test_behind(const char *name, struct tr_text magic)
{
	const struct {
		struct tr_text after;
		bool good;
	} cases[] = {
		{ { "\0", 1 }, true },		 { { "\0\0\0\0\0\0\0\0", 8 }, true },
		{ { "\0\0garbage", 9 }, false }, { { "garbage", 7 }, false },
		{ { magic.data, 1 }, false },	 { magic, false },
	};
	const struct tr_codec *codec = tr_codec_by_name(tr_text_from(name));
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
		struct tr_error err;
		tr_error_clear(&err);
		encode(codec, TR_TEXT("text\n"), 100, false, 1, &packed);
		tr_buffer_put_text(&packed, cases[i / 2].after);
		bool good = decode(codec, tr_buffer_text(&packed), i % 2, &plain, &err);
		ok(good == cases[i / 2].good && same(&plain, TR_TEXT("text\n")),
		   "%s: %zu bytes after the end%s: %s", name, cases[i / 2].after.len,
		   i % 2 ? ", byte by byte" : "", good ? "fine" : err.text);
		tr_buffer_free(&packed);
		tr_buffer_free(&plain);
	}
}

/* The last chunk of a container that is cut gives all bytes of its complete elements. */
static void test_snappy_salvage(void)
{
	const struct tr_codec *snappy = tr_codec_by_name(TR_TEXT("snappy"));
	struct tr_buffer lines = TR_BUFFER_INIT, packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
	struct tr_error err;
	put_lines(&lines, 20000);
	put_noise(&lines, 2000);
	for (int i = 0; i < 1000; i++)
		tr_buffer_put_byte(&lines, 'a');
	encode(snappy, tr_buffer_text(&lines), 100000, false, 1, &packed);
	size_t least = 0, cut;
	for (cut = 20; cut < packed.len; cut += 3) {
		plain.len = 0;
		struct tr_text some = { packed.data, cut };
		if (decode(snappy, some, cut % 2 ? 100 : 0, &plain, &err) || plain.len < least ||
		    memcmp(plain.data, lines.data, plain.len))
			break;
		least = plain.len;
	}
	ok(cut >= packed.len, "snappy: a cut chunk gives more the longer it is (%zu)", cut);
	ok(least > 22900, "snappy: and almost all in the end (%zu)", least);
	/* a copy from before the beginning */
	memset(packed.data + packed.len / 2, 0xff, 10);
	plain.len = 0;
	bool good = decode(snappy, tr_buffer_text(&packed), 0, &plain, &err);
	ok(!good && plain.len > 1000 && !memcmp(plain.data, lines.data, 1000),
	   "snappy: a corrupt chunk: %zu bytes, %s", plain.len, err.text);
	tr_buffer_free(&lines);
	tr_buffer_free(&packed);
	tr_buffer_free(&plain);
}

enum { FULL = 1 << 20, RANGES = 14 };

struct range {
	size_t start, len; /* of the data of a recorded program; len 0 ends a list */
};

/* Makes a chunk of each range. */
static void put_chunks(struct tr_text data, const struct range *ranges, struct tr_buffer *to)
{
	enum { MAGIC = 2 };
	tr_buffer_put_literal(to, "at");
	for (; ranges->len; ranges++) {
		struct tr_buffer one = TR_BUFFER_INIT;
		struct tr_text part = { data.data + ranges->start, ranges->len };
		encode(tr_codec_by_name(TR_TEXT("snappy")), part, part.len, false, 1, &one);
		tr_buffer_put(to, one.data + MAGIC, one.len - MAGIC);
		tr_buffer_free(&one);
	}
}

/*
 * The children of a program that forks write copies of the buffer that the parent has not written
 * yet.
 */
static void test_snappy_copies(void)
{
	static const struct {
		const char *what;
		struct range chunks[RANGES], given[RANGES];
	} cases[] = {
		{ "a copy before the chunk",
		  { { 0, FULL }, { FULL, 99 }, { FULL, 500 } },
		  { { 0, FULL + 500 } } },
		{ "two equal copies and one that is longer",
		  { { 0, FULL },
		    { FULL, 99 },
		    { FULL, 99 },
		    { FULL, 200 },
		    { FULL, FULL },
		    { 2 * FULL, 7 } },
		  { { 0, 2 * FULL + 7 } } },
		{ "a shorter copy after a longer one",
		  { { 0, FULL }, { FULL, 200 }, { FULL, 99 }, { FULL, 500 } },
		  { { 0, FULL + 500 } } },
		{ "a copy after the chunk",
		  { { 0, FULL }, { FULL, FULL }, { FULL, 99 }, { 2 * FULL, 10 } },
		  { { 0, 2 * FULL + 10 } } },
		{ "a copy of the first chunk after it",
		  { { 0, FULL }, { 0, 99 }, { FULL, 10 } },
		  { { 0, FULL + 10 } } },
		{ "a copy at the end",
		  { { 0, FULL }, { FULL, 500 }, { FULL, 99 } },
		  { { 0, FULL + 500 } } },
		{ "a copy after seven more chunks",
		  { { 0, FULL },
		    { FULL, FULL },
		    { 2 * FULL, FULL },
		    { 3 * FULL, FULL },
		    { 4 * FULL, FULL },
		    { 5 * FULL, FULL },
		    { 6 * FULL, FULL },
		    { 7 * FULL, FULL },
		    { 8 * FULL, FULL },
		    { FULL, 99 },
		    { 9 * FULL, 10 } },
		  { { 0, 9 * FULL + 10 } } },
		{ "a copy of 16 bytes",
		  { { 0, FULL }, { FULL, 16 }, { FULL, 500 } },
		  { { 0, FULL + 500 } } },
		/* these are none */
		{ "15 equal bytes",
		  { { 0, FULL }, { FULL, 15 }, { FULL, 500 } },
		  { { 0, FULL + 15 }, { FULL, 500 } } },
		{ "the beginning of the file, as streams",
		  { { 0, 99 }, { 0, 99 }, { 0, 200 }, { 0, FULL } },
		  { { 0, 99 }, { 0, 99 }, { 0, 200 }, { 0, FULL } } },
		{ "short chunks that do not repeat",
		  { { 0, FULL }, { FULL, 99 }, { FULL + 99, 99 }, { FULL + 198, 10 } },
		  { { 0, FULL + 208 } } },
		{ "equal full chunks",
		  { { 0, FULL }, { 0, FULL }, { 0, FULL } },
		  { { 0, FULL }, { 0, FULL }, { 0, FULL } } },
	};
	const struct tr_codec *snappy = tr_codec_by_name(TR_TEXT("snappy"));
	struct tr_buffer data = TR_BUFFER_INIT;
	put_noise(&data, 10 * FULL);
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		struct tr_buffer packed = TR_BUFFER_INIT, plain = TR_BUFFER_INIT;
		struct tr_buffer want = TR_BUFFER_INIT;
		struct tr_error err;
		tr_error_clear(&err);
		put_chunks(tr_buffer_text(&data), cases[i / 2].chunks, &packed);
		for (const struct range *range = cases[i / 2].given; range->len; range++)
			tr_buffer_put(&want, data.data + range->start, range->len);
		bool whole =
			decode(snappy, tr_buffer_text(&packed), i % 2 ? 1000 : 0, &plain, &err);
		size_t chunks = 0;
		while (cases[i / 2].chunks[chunks].len)
			chunks++;
		bool repeated = packed.len > 0 && !whole;
		ok(same(&plain, tr_buffer_text(&want)) &&
			   repeated == (err.severity == TR_NOTE && strstr(err.text, "repeat")) &&
			   repeated == (i / 2 < 8),
		   "snappy: %s: %zu bytes of %zu chunks: %s", cases[i / 2].what, plain.len, chunks,
		   err.text);
		tr_buffer_free(&packed);
		tr_buffer_free(&plain);
		tr_buffer_free(&want);
	}
	tr_buffer_free(&data);
}

static void test_no_codec(void)
{
	static const char *const texts[] = { "",       "{", "at the start", "BZh is no magic",
					     "B",      "(", "%trec\t1\n",   "P",
					     "attach", "a" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tr_input *in = memory_input(tr_text_from(texts[i]), 1, false);
		ok(tr_codec_detect(in) == NULL, "text %zu is not compressed", i);
		tr_input_free(in);
	}
	struct tr_input *in = memory_input(TR_TEXT("(slow text that goes on"), 2, false);
	tr_codec_detect(in);
	ok(tr_input_available(in) <= 2, "text that comes slowly is not waited for");
	tr_input_free(in);
	in = memory_input(TR_TEXT("at"), 1, false);
	ok(tr_codec_detect(in) == tr_codec_by_name(TR_TEXT("snappy")),
	   "a snappy stream of nothing");
	tr_input_free(in);
	ok(!tr_codec_by_name(TR_TEXT("none")) && !tr_codec_by_name(TR_TEXT("gz")), "no such codec");
	ok(!tr_codec_by_extension(TR_TEXT("trace.json")), "no such extension");
	ok(!tr_codec_by_extension(TR_TEXT(".gz")), "a name is more than its extension");
}

int main(void)
{
	for (size_t i = 0; tr_codecs[i]; i++) {
		const struct tr_codec *codec = tr_codecs[i];
		test_round_trips(codec);
		test_flush(codec);
		test_cuts(codec);
		test_flips(codec);
		test_detection(codec);
		test_source_error(codec);
		test_sink_error(codec);
		test_ratio(codec);
		if (codec->general)
			test_concatenated(codec);
		test_garbage_behind(codec);
	}
	test_layers();
	test_behind("gzip", TR_TEXT("\x1f\x8b"));
	test_behind("bzip2", TR_TEXT("BZh9"));
	test_behind("lz4", TR_TEXT("\x04\x22\x4d\x18"));
	test_snappy_salvage();
	test_snappy_copies();
	test_no_codec();
	return done_testing();
}
