/* SPDX-License-Identifier: MIT */
/*
 * Encoders that work in blocks give the same bytes for any number of threads, and cut blocks where
 * they must.
 */
#include "core/codec_private.h"

#include "memory.h"
#include "samples.h"
#include "tap.h"

static const struct tr_limits limits = TR_LIMITS_DEFAULT;

enum { MIB = 1 << 20 };

/* Appends text that can be compressed, but does not repeat itself exactly. */
static void put_data(struct tr_buffer *to, size_t len)
{
	for (uint64_t i = 0; to->len < len; i++) {
		tr_buffer_put_literal(to, "glVertexAttribPointer ");
		tr_buffer_put_decimal(to, i * i);
	}
	to->len = len;
}

static bool encode(const struct tr_codec *codec, struct tr_text text, size_t piece,
		   unsigned threads, size_t flush_at, struct tr_buffer *to)
{
	struct tr_error err;
	int finished = 0;
	struct tr_sink *sink =
		codec->encoder(memory_sink(to, &finished), codec->level_default, threads, &err);
	bool good = sink != NULL;
	for (size_t at = 0; good && at < text.len; at += piece) {
		size_t n = piece < text.len - at ? piece : text.len - at;
		good = sink->write(sink, text.data + at, n, &err);
		if (good && flush_at && at <= flush_at && flush_at < at + n)
			good = sink->flush(sink, &err);
	}
	good = good && sink->finish(sink, &err) && finished == 1;
	if (sink)
		sink->close(sink);
	return good;
}

static bool comes_back(const struct tr_codec *codec, const struct tr_buffer *packed,
		       struct tr_text text)
{
	struct tr_buffer plain = TR_BUFFER_INIT;
	struct tr_error err;
	struct tr_source *source =
		codec->decoder(memory_input(tr_buffer_text(packed), 0, false), &limits, &err);
	bool good = source && drain(source, 100000, &plain, &err) &&
		    tr_text_equal(tr_buffer_text(&plain), text);
	tr_buffer_free(&plain);
	return good;
}

/* Around the borders of a block, with few and with many threads. */
static void test_sizes(const struct tr_codec *codec, const char *name, size_t block)
{
	const size_t sizes[] = { 0, 1, block - 1, block, block + 1, 3 * block, 7 * block + 12345 };
	struct tr_buffer data = TR_BUFFER_INIT;
	put_data(&data, 8 * block);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct tr_text text = { data.data, sizes[i] };
		struct tr_buffer two = TR_BUFFER_INIT, five = TR_BUFFER_INIT;
		bool good = encode(codec, text, 300001, 2, 0, &two) &&
			    encode(codec, text, SIZE_MAX / 2, 5, 0, &five);
		ok(good && tr_text_equal(tr_buffer_text(&two), tr_buffer_text(&five)),
		   "%s: %zu bytes, the same with two threads and with five", name, sizes[i]);
		ok(comes_back(codec, &two, text), "%s: %zu bytes, and back", name, sizes[i]);
		tr_buffer_free(&two);
		tr_buffer_free(&five);
	}
	tr_buffer_free(&data);
}

static uint32_t u32le(const char *p)
{
	const unsigned char *byte = (const unsigned char *)p;
	return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

/* Reads the size of the data of a snappy block, in LEB128. */
static size_t snappy_size(const char *p)
{
	size_t size = 0;
	for (unsigned shift = 0;; shift += 7, p++) {
		size |= (size_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return size;
	}
}

static void test_snappy_chunks(void)
{
	struct tr_buffer data = TR_BUFFER_INIT, packed = TR_BUFFER_INIT;
	put_data(&data, 3 * MIB + 5);
	encode(&tr_codec_snappy, tr_buffer_text(&data), 4096, 1, MIB + 4096, &packed);
	const size_t want[] = { MIB, MIB, MIB, 5 };
	const char *p = packed.data + 2, *end = packed.data + packed.len;
	size_t i = 0;
	bool good = memcmp(packed.data, "at", 2) == 0;
	for (; good && i < 4 && p < end; i++) {
		good = snappy_size(p + 4) == want[i];
		p += 4 + u32le(p);
	}
	ok(good && i == 4 && p == end, "snappy: chunks of 1 MiB, also where it was flushed");
	tr_buffer_free(&data);
	tr_buffer_free(&packed);
}

static void test_seek_table(void)
{
	struct tr_buffer data = TR_BUFFER_INIT, packed = TR_BUFFER_INIT;
	enum { FRAMES = 4, TABLE = 8 + FRAMES * 8 + 9 };
	put_data(&data, 6 * MIB + 77);
	encode(&tr_codec_zstd_seekable, tr_buffer_text(&data), 1000000, 2, 0, &packed);
	const char *table = packed.data + packed.len - TABLE;
	bool good = packed.len > TABLE && u32le(table) == 0x184d2a5e &&
		    u32le(table + 4) == FRAMES * 8 + 9;
	ok(good, "zstd: a skippable frame at the end");
	ok(good && u32le(table + TABLE - 9) == FRAMES && table[TABLE - 5] == 0 &&
		   u32le(table + TABLE - 4) == 0x8f92eab1,
	   "zstd: its footer states four frames");
	size_t at = 0;
	for (unsigned i = 0; good && i < FRAMES; i++) {
		uint32_t size = u32le(table + 8 + 8 * i + 4);
		const unsigned char checksum_flag = 4;
		good = u32le(packed.data + at) == 0xfd2fb528 &&
		       (packed.data[at + 4] & checksum_flag) && size == (i < 3 ? 2u * MIB : 77);
		at += u32le(table + 8 + 8 * i);
	}
	ok(good && packed.data + at == table, "zstd: and where each begins; each has a checksum");
	tr_buffer_free(&data);
	tr_buffer_free(&packed);
}

/* A write error is reported even while other blocks are being encoded. */
static void test_full(const struct tr_codec *codec, const char *name)
{
	struct tr_buffer data = TR_BUFFER_INIT, packed = TR_BUFFER_INIT;
	struct tr_error err;
	tr_error_clear(&err);
	put_data(&data, 20 * MIB);
	struct tr_sink *full = memory_sink(&packed, NULL);
	((struct memory_sink *)full)->room = 1000;
	struct tr_sink *sink = codec->encoder(full, codec->level_min, 3, &err);
	bool good = sink->write(sink, data.data, data.len, &err) && sink->finish(sink, &err);
	sink->close(sink);
	ok(!good && !strcmp(err.text, "the disk is full"), "%s: a failed write: %s", name,
	   err.text);
	tr_buffer_free(&data);
	tr_buffer_free(&packed);
}

int main(void)
{
	test_sizes(&tr_codec_snappy, "snappy", MIB);
	test_sizes(&tr_codec_gzip, "gzip", MIB);
	test_sizes(&tr_codec_zstd_seekable, "zstd", 2 * MIB);
	struct tr_codec brotli = tr_codec_brotli;
	brotli.level_default = 5;
	test_sizes(&brotli, "brotli", 4 * MIB);
	test_snappy_chunks();
	test_seek_table();
	test_full(&tr_codec_snappy, "snappy");
	test_full(&tr_codec_zstd_seekable, "zstd");
	return done_testing();
}
