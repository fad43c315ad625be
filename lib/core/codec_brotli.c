/* SPDX-License-Identifier: MIT */
/*
 * brotli (RFC 7932): one stream, which has no magic. Its libraries are loaded when they are needed.
 */
#include "core/codec_private.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/library.h"

enum {
	WINDOW_BITS = 24,
	/*
	 * Levels that compress in meta-blocks of 64 KiB by default: with 256 KiB they
	 * are a tenth faster and the output is no larger.
	 */
	MIDDLE_FIRST = 4,
	MIDDLE_LAST = 8,
	MIDDLE_BLOCK_BITS = 18,
	/*
	 * The decoder releases the output that it holds only when it runs out of input, and after
	 * an error nothing more: small portions of input keep the loss small.
	 */
	PORTION_MAX = 256,
	/* Compressed bytes that are kept to decode them again after an error; see begin_salvage. */
	KEPT_MAX = 16 << 20,
	/* So many bytes of prefix codes before any data are not decoded by chance. */
	CERTAIN = 32,
	BLOCK_SIZE = 4 << 20, /* if several are compressed at */
	ROOM_LEAST = 4096,    /* room for the output of a part; doubled when needed */
	FAR = 1 << 30,	      /* beyond any window; the maximum that the encoder accepts */
};

struct libbrotlidec {
	__typeof__(BrotliDecoderCreateInstance) *create;
	__typeof__(BrotliDecoderDestroyInstance) *destroy;
	__typeof__(BrotliDecoderDecompressStream) *decompress;
	__typeof__(BrotliDecoderHasMoreOutput) *has_more;
	__typeof__(BrotliDecoderGetErrorCode) *error_code;
	__typeof__(BrotliDecoderVersion) *version;
};

static bool load_decoder(struct libbrotlidec *lib, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct libbrotlidec, create, BrotliDecoderCreateInstance),
		TR_LIBRARY_FUNCTION(struct libbrotlidec, destroy, BrotliDecoderDestroyInstance),
		TR_LIBRARY_FUNCTION(struct libbrotlidec, decompress, BrotliDecoderDecompressStream),
		TR_LIBRARY_FUNCTION(struct libbrotlidec, has_more, BrotliDecoderHasMoreOutput),
		TR_LIBRARY_FUNCTION(struct libbrotlidec, error_code, BrotliDecoderGetErrorCode),
		TR_LIBRARY_FUNCTION(struct libbrotlidec, version, BrotliDecoderVersion),
		{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBBROTLIDEC, symbols, lib, err);
}

struct libbrotlienc {
	__typeof__(BrotliEncoderCreateInstance) *create;
	__typeof__(BrotliEncoderDestroyInstance) *destroy;
	__typeof__(BrotliEncoderSetParameter) *set;
	__typeof__(BrotliEncoderCompressStream) *compress;
	__typeof__(BrotliEncoderHasMoreOutput) *has_more;
};

static bool load_encoder(struct libbrotlienc *lib, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct libbrotlienc, create, BrotliEncoderCreateInstance),
		TR_LIBRARY_FUNCTION(struct libbrotlienc, destroy, BrotliEncoderDestroyInstance),
		TR_LIBRARY_FUNCTION(struct libbrotlienc, set, BrotliEncoderSetParameter),
		TR_LIBRARY_FUNCTION(struct libbrotlienc, compress, BrotliEncoderCompressStream),
		TR_LIBRARY_FUNCTION(struct libbrotlienc, has_more, BrotliEncoderHasMoreOutput),
		{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBBROTLIENC, symbols, lib, err);
}

struct decoder {
	struct libbrotlidec lib;
	BrotliDecoderState *brotli;
	bool ended;
	struct tr_buffer kept; /* the stream from its start; empty if it is longer than KEPT_MAX */
	bool keeps;
	uint64_t made; /* decoded bytes */
	/* after an error: */
	bool salvaging;
	size_t good, at; /* offsets in kept: of the portion with the error, and of the next byte */
	uint64_t skip;	 /* decoded bytes that were returned already */
};

/* Frees the state of a decoder. */
static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	d->lib.destroy(d->brotli);
	tr_buffer_free(&d->kept);
	free(d);
}

/* Fills err: libbrotli failed. The codes of failed allocations are a range. */
static enum tr_status fail(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	BrotliDecoderErrorCode code = d->lib.error_code(d->brotli);
	if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
	    code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES)
		tr_error_memory(err);
	else
		tr_decoder_error(err, in, "brotli", "corrupt data");
	return TR_FATAL;
}

/*
 * Returns how many of n bytes to decode: none while the decoder holds output, which an error would
 * lose.
 */
static size_t portion(const struct decoder *d, size_t n)
{
	return d->lib.has_more(d->brotli) ? 0 : n;
}

/* Keeps the compressed bytes of the beginning, for a second run (salvage). Too many are dropped. */
static void keep(struct decoder *d, const char *data, size_t len)
{
	tr_buffer_put(&d->kept, data, len);
	if (d->kept.len <= KEPT_MAX && !d->kept.failed)
		return;
	tr_buffer_free(&d->kept);
	d->keeps = false;
}

/*
 * libbrotli found an error, and does not return the bytes that it decoded before it in the same
 * portion. A second decoder begins again, and gets the bytes of that portion one by one.
 */
static enum tr_status begin_salvage(struct decoder *d, size_t fed, struct tr_error *err)
{
	d->lib.destroy(d->brotli);
	d->brotli = d->lib.create(NULL, NULL, NULL);
	if (!d->brotli)
		return tr_error_memory(err);
	d->salvaging = true;
	d->good = d->kept.len - fed;
	d->skip = d->made;
	return TR_OK;
}

/*
 * Drops those of the n bytes at the position of room that were returned before, and adds the rest.
 */
static void put_new(struct decoder *d, struct tr_room *room, size_t n)
{
	size_t old = d->skip < n ? (size_t)d->skip : n;
	d->skip -= old;
	memmove(room->pos, room->pos + old, n - old);
	room->pos += n - old;
}

/*
 * Decodes the kept bytes again after an error, those of the portion with the error one by one, so
 * that all output before the error is returned. Output that was returned already is skipped.
 */
static enum tr_status salvage(struct decoder *d, struct tr_input *in, struct tr_room *room,
			      struct tr_error *err)
{
	const char *begin = room->pos;
	while (room->pos == begin) {
		bool before = d->at < d->good;
		size_t given = portion(d, before ? d->good - d->at : d->at < d->kept.len);
		size_t left = given, space = tr_room_left(room);
		const uint8_t *from = (const uint8_t *)d->kept.data + d->at;
		uint8_t *to = (uint8_t *)room->pos;
		BrotliDecoderResult result =
			d->lib.decompress(d->brotli, &left, &from, &space, &to, NULL);
		if (!before)
			tr_input_skip(in, given - left);
		d->at += given - left;
		put_new(d, room, (size_t)((char *)to - room->pos));
		bool more =
			d->lib.has_more(d->brotli) ||
			(result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && d->at < d->kept.len);
		if (!more && room->pos == begin)
			return fail(d, in, err);
	}
	return TR_OK;
}

/* Decodes a portion of the window. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	if (d->salvaging)
		return salvage(d, in, room, err);
	if (d->ended) {
		if (!tr_input_available(in))
			return TR_END;
		tr_decoder_error(err, in, "brotli", "garbage after the end");
		return TR_FATAL;
	}
	size_t available = tr_input_available(in);
	size_t fed = portion(d, available < PORTION_MAX ? available : PORTION_MAX);
	size_t left = fed, space = tr_room_left(room);
	const uint8_t *from = (const uint8_t *)in->pos;
	uint8_t *to = (uint8_t *)room->pos;
	BrotliDecoderResult result = d->lib.decompress(d->brotli, &left, &from, &space, &to, NULL);
	bool bad = result == BROTLI_DECODER_RESULT_ERROR;
	if (bad)
		left = 0;
	if (d->keeps)
		keep(d, in->pos, fed - left);
	if (bad && d->keeps)
		return begin_salvage(d, fed, err) == TR_OK ? salvage(d, in, room, err) : TR_FATAL;
	if (bad)
		return fail(d, in, err);
	tr_input_skip(in, fed - left);
	d->made += (uint64_t)((char *)to - room->pos);
	room->pos = (char *)to;
	d->ended = result == BROTLI_DECODER_RESULT_SUCCESS;
	return d->ended && in->at_end && !tr_input_available(in) ? TR_END : TR_OK;
}

/* Opens a decoder (struct tr_codec). */
static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "brotli", step_decoder, destroy_decoder };
	struct libbrotlidec lib;
	if (!load_decoder(&lib, err)) {
		tr_input_free(in);
		return NULL;
	}
	struct decoder *d = calloc(1, sizeof *d);
	if (d) {
		d->lib = lib;
		d->keeps = true;
		d->brotli = lib.create(NULL, NULL, NULL);
		if (!d->brotli) {
			free(d);
			d = NULL;
		}
	}
	return tr_decoder_new(&class, d, in, limits, err);
}

/* Decodes longer and longer parts of the window from its start. 0: it is not brotli. */
static size_t peek(const struct libbrotlidec *lib, BrotliDecoderState *brotli, struct tr_input *in,
		   char *buf, size_t cap, bool *certain)
{
	enum {
		SLOW = 4096
	}; /* decoded byte by byte up to here, so that all data before an error are returned */
	BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT;
	uint8_t *to = (uint8_t *)buf;
	size_t taken = 0, space = cap;
	while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && tr_input_more(in, taken + 1)) {
		const uint8_t *from = (const uint8_t *)in->pos + taken;
		size_t left = taken < SLOW ? 1 : tr_input_available(in) - taken;
		bool first = space == cap;
		taken += left;
		result = lib->decompress(brotli, &left, &from, &space, &to, NULL);
		taken -= left;
		if (first && (space < cap || result == BROTLI_DECODER_RESULT_ERROR))
			*certain = taken >= CERTAIN;
	}
	if (result == BROTLI_DECODER_RESULT_ERROR && !*certain)
		return 0;
	if (result == BROTLI_DECODER_RESULT_SUCCESS && taken < tr_input_available(in))
		return 0;
	return cap - space;
}

size_t tr_codec_brotli_peek(struct tr_input *in, char *buf, size_t cap, bool *certain)
{
	struct libbrotlidec lib;
	struct tr_error err;
	*certain = false;
	if (!load_decoder(&lib, &err))
		return 0;
	BrotliDecoderState *brotli = lib.create(NULL, NULL, NULL);
	size_t len = brotli ? peek(&lib, brotli, in, buf, cap, certain) : 0;
	if (brotli)
		lib.destroy(brotli);
	return len;
}

struct encoder {
	struct libbrotlienc lib;
	BrotliEncoderState *brotli;
};

static void destroy_encoder(void *state)
{
	struct encoder *e = state;
	e->lib.destroy(e->brotli);
	free(e);
}

/* Compresses, flushes or finishes. */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	static const BrotliEncoderOperation operation[] = {
		BROTLI_OPERATION_PROCESS,
		BROTLI_OPERATION_FLUSH,
		BROTLI_OPERATION_FINISH,
	};
	struct encoder *e = state;
	const uint8_t *from = (const uint8_t *)*data;
	uint8_t *to = (uint8_t *)room->pos;
	size_t space = tr_room_left(room);
	if (!e->lib.compress(e->brotli, operation[what], len, &from, &space, &to, NULL)) {
		/* only an allocation can fail in the encoder */
		return tr_error_memory(err);
	}
	*data = (const char *)from;
	room->pos = (char *)to;
	return *len || e->lib.has_more(e->brotli) ? TR_OK : TR_END;
}

/* An encoder with that level. NULL: memory is exhausted. */
static BrotliEncoderState *new_encoder(const struct libbrotlienc *lib, int level)
{
	BrotliEncoderState *brotli = lib->create(NULL, NULL, NULL);
	if (brotli) {
		lib->set(brotli, BROTLI_PARAM_QUALITY, (uint32_t)level);
		lib->set(brotli, BROTLI_PARAM_LGWIN, WINDOW_BITS);
		if (level >= MIDDLE_FIRST && level <= MIDDLE_LAST)
			lib->set(brotli, BROTLI_PARAM_LGBLOCK, MIDDLE_BLOCK_BITS);
	}
	return brotli;
}

/* The state of a worker: each block has an encoder of its own. */
struct worker {
	struct libbrotlienc lib;
	int level;
};

static void *begin_worker(int level)
{
	struct worker *worker = malloc(sizeof *worker);
	struct tr_error err;
	if (worker)
		worker->level = level;
	if (worker && !load_encoder(&worker->lib, &err)) {
		free(worker);
		worker = NULL;
	}
	return worker;
}

/*
 * Compresses a part of the single stream. The encoder receives the offset of the part, so it writes
 * no header, refers to no data before the part, and ends at a byte boundary.
 */
static bool pack(void *state, const struct tr_codec_block *block, struct tr_buffer *to)
{
	const struct worker *worker = state;
	const struct libbrotlienc *lib = &worker->lib;
	uint64_t offset = block->offset < FAR ? block->offset : FAR;
	size_t left = block->data.len;
	const uint8_t *from = (const uint8_t *)block->data.data;
	BrotliEncoderState *brotli = new_encoder(lib, worker->level);
	bool good = brotli && lib->set(brotli, BROTLI_PARAM_STREAM_OFFSET, (uint32_t)offset);
	bool more = good;
	while (good && more) {
		size_t space = ROOM_LEAST + left / 2;
		uint8_t *room = (uint8_t *)tr_buffer_room(to, space), *end = room;
		good = room &&
		       lib->compress(brotli,
				     block->last ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH,
				     &left, &from, &space, &end, NULL);
		if (good)
			tr_buffer_used(to, (size_t)(end - room));
		more = left || lib->has_more(brotli);
	}
	lib->destroy(brotli);
	return good;
}

/* Opens an encoder; several threads compress independent blocks. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_encoder_class class = { step_encoder, destroy_encoder };
	static const struct tr_block_class blocks = {
		.size = BLOCK_SIZE,
		.has_last = true,
		.begin = begin_worker,
		.end = free,
		.pack = pack,
	};
	struct libbrotlienc lib;
	if (!load_encoder(&lib, err)) {
		inner->close(inner);
		return NULL;
	}
	if (threads > 1)
		return tr_blocks_new(&blocks, inner, level, threads, err);
	struct encoder *e = malloc(sizeof *e);
	if (e) {
		*e = (struct encoder){ lib, new_encoder(&lib, level) };
		if (!e->brotli) {
			free(e);
			e = NULL;
		}
	}
	return tr_encoder_new(&class, e, inner, err);
}

static void version(char *to, size_t size)
{
	struct libbrotlidec lib;
	struct tr_error err;
	uint32_t v = load_decoder(&lib, &err) ? lib.version() : 0;
	snprintf(to, size, "%u.%u.%u", v >> 24, v >> 12 & 0xfff, v & 0xfff);
}

const struct tr_codec tr_codec_brotli = {
	.name = "brotli",
	.extension = ".br",
	.level_min = 0,
	.level_max = 11,
	.level_default = 9,
	.general = false,
	.decoder = decoder,
	.encoder = encoder,
	.library = "libbrotli",
	.version = version,
};
