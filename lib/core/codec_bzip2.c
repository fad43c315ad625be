/* SPDX-License-Identifier: MIT */
/*
 * bzip2, by direct calls of libbz2, which is loaded when it is needed. A block of up to 900 kB is
 * decoded as a whole: all blocks before a cut are returned, and the decodable part of a corrupt
 * one.
 */
#include "core/codec_private.h"

#include <bzlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/library.h"

struct libbz2 {
	__typeof__(BZ2_bzDecompressInit) *begin_decoding;
	__typeof__(BZ2_bzDecompress) *decompress;
	__typeof__(BZ2_bzDecompressEnd) *end_decoding;
	__typeof__(BZ2_bzCompressInit) *begin_encoding;
	__typeof__(BZ2_bzCompress) *compress;
	__typeof__(BZ2_bzCompressEnd) *end_encoding;
	__typeof__(BZ2_bzlibVersion) *version;
};

static bool load(struct libbz2 *lib, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct libbz2, begin_decoding, BZ2_bzDecompressInit),
		TR_LIBRARY_FUNCTION(struct libbz2, decompress, BZ2_bzDecompress),
		TR_LIBRARY_FUNCTION(struct libbz2, end_decoding, BZ2_bzDecompressEnd),
		TR_LIBRARY_FUNCTION(struct libbz2, begin_encoding, BZ2_bzCompressInit),
		TR_LIBRARY_FUNCTION(struct libbz2, compress, BZ2_bzCompress),
		TR_LIBRARY_FUNCTION(struct libbz2, end_encoding, BZ2_bzCompressEnd),
		TR_LIBRARY_FUNCTION(struct libbz2, version, BZ2_bzlibVersion),
		{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBBZ2, symbols, lib, err);
}

/* libbz2 counts in unsigned int. */
static unsigned clip(size_t n)
{
	return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

/*
 * The bits of the magic and of the block or end that follows it, because "BZh" alone is weak
 * evidence.
 */
static int bid(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("BZh"));
	if (bits <= 0 || len == 3)
		return bits ? TR_CODEC_MORE : 0;
	if (data[3] < '1' || data[3] > '9')
		return 0;
	/*
	 * a block begins with the digits of pi, the end of an empty stream with those of its root
	 */
	start = tr_text_span(data + 4, data + len);
	int block = tr_codec_magic(start, TR_TEXT("1AY&SY"));
	int end = tr_codec_magic(start, TR_TEXT("\x17rE8P\x90"));
	if (block > 0 || end > 0)
		return bits + (block > 0 ? block : end);
	return block || end ? TR_CODEC_MORE : 0;
}

struct decoder {
	struct libbz2 lib;
	bz_stream z;
	bool open;  /* z is initialised, within a stream */
	bool begun; /* the first stream */
};

/* Frees the state of a decoder. */
static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	if (d->open)
		d->lib.end_decoding(&d->z);
	free(d);
}

/* Decodes some of the current stream. */
static enum tr_status decompress(struct decoder *d, struct tr_input *in, struct tr_room *room,
				 struct tr_error *err)
{
	d->z.next_in = (char *)(uintptr_t)in->pos;
	d->z.avail_in = clip(tr_input_available(in));
	d->z.next_out = room->pos;
	d->z.avail_out = clip(tr_room_left(room));
	int result = d->lib.decompress(&d->z);
	tr_input_skip(in, (size_t)(d->z.next_in - in->pos));
	room->pos = d->z.next_out;
	switch (result) {
	case BZ_OK:
		return TR_OK;
	case BZ_STREAM_END:
		d->lib.end_decoding(&d->z);
		d->open = false;
		return TR_OK;
	case BZ_MEM_ERROR:
		return tr_error_memory(err);
	case BZ_DATA_ERROR_MAGIC:
		tr_decoder_error(err, in, "bzip2", "not a bzip2 stream");
		return TR_FATAL;
	default:
		tr_decoder_error(err, in, "bzip2", "corrupt data");
		return TR_FATAL;
	}
}

/* Decodes; after the end of a stream another one may follow, as parallel compressors write them. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	if (!d->open) {
		enum tr_status status = d->begun ? tr_decoder_behind(in, "bzip2", bid, err) : TR_OK;
		if (status != TR_OK)
			return status;
		d->z = (bz_stream){ .opaque = NULL };
		if (d->lib.begin_decoding(&d->z, 0, 0) != BZ_OK)
			return tr_error_memory(err);
		d->open = d->begun = true;
	}
	return decompress(d, in, room, err);
}

/* Opens a decoder (struct tr_codec). */
static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "bzip2", step_decoder, destroy_decoder };
	struct decoder *d = calloc(1, sizeof *d);
	if (d && !load(&d->lib, err)) {
		free(d);
		tr_input_free(in);
		return NULL;
	}
	return tr_decoder_new(&class, d, in, limits, err);
}

struct encoder {
	struct libbz2 lib;
	bz_stream z;
	int level;
	bool open; /* z is initialised, within a stream */
	bool any;  /* a stream was begun */
};

/* Frees the state of an encoder. */
static void destroy_encoder(void *state)
{
	struct encoder *e = state;
	if (e->open)
		e->lib.end_encoding(&e->z);
	free(e);
}

/* Begins a stream, unless one is open. False: memory is exhausted. */
static bool begin_stream(struct encoder *e, struct tr_error *err)
{
	if (e->open)
		return true;
	e->z = (bz_stream){ .opaque = NULL };
	if (e->lib.begin_encoding(&e->z, e->level, 0, 0) != BZ_OK) {
		tr_error_memory(err);
		return false;
	}
	e->open = e->any = true;
	return true;
}

/*
 * BZ_FLUSH holds back the last bits, so a reader could not decode the last block: therefore a flush
 * ends the stream, and later data begin another one.
 */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	struct encoder *e = state;
	bool more = what == TR_ENCODE_MORE;
	if (!e->open && !more && (what == TR_ENCODE_FLUSH || e->any))
		return TR_END;
	if (!begin_stream(e, err))
		return TR_FATAL;
	unsigned size = clip(*len), space = clip(tr_room_left(room));
	e->z.next_in = (char *)(uintptr_t)*data;
	e->z.avail_in = size;
	e->z.next_out = room->pos;
	e->z.avail_out = space;
	int result = e->lib.compress(&e->z, more ? BZ_RUN : BZ_FINISH);
	if (size)
		*data += size - e->z.avail_in;
	*len -= size - e->z.avail_in;
	room->pos += space - e->z.avail_out;
	if (result < 0) {
		tr_error_set(err, TR_CAUSE_USAGE, "bzip2: cannot compress (libbz2: %d)", result);
		return TR_FATAL;
	}
	if (result == BZ_STREAM_END) {
		e->lib.end_encoding(&e->z);
		e->open = false;
		return TR_END;
	}
	return more && !*len ? TR_END : TR_OK;
}

/* Opens an encoder. libbz2 has no threads. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_encoder_class class = { step_encoder, destroy_encoder };
	(void)threads;
	struct encoder *e = calloc(1, sizeof *e);
	if (e && !load(&e->lib, err)) {
		free(e);
		inner->close(inner);
		return NULL;
	}
	if (e)
		e->level = level;
	return tr_encoder_new(&class, e, inner, err);
}

/* Extracts the number from "1.0.8, 13-Jul-2019". */
static void version(char *to, size_t size)
{
	struct libbz2 lib;
	struct tr_error err;
	const char *text = load(&lib, &err) ? lib.version() : "?";
	snprintf(to, size, "%.*s", (int)strcspn(text, ","), text);
}

const struct tr_codec tr_codec_bzip2 = {
	.name = "bzip2",
	.extension = ".bz2",
	.level_min = 1,
	.level_max = 9,
	.level_default = 9,
	.general = true,
	.bid = bid,
	.decoder = decoder,
	.encoder = encoder,
	.library = "libbz2",
	.version = version,
};
