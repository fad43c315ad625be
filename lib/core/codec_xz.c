/* SPDX-License-Identifier: MIT */
/*
 * xz, by direct calls of liblzma, which is loaded when it is needed: all data before a cut are
 * returned.
 */
#include "core/codec_private.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/library.h"

/* Allows a dictionary of 1 GiB (xz -9 uses 64 MiB); a hostile header may ask for 4 GiB. */
static const uint64_t MEMORY_LIMIT = ((uint64_t)1 << 30) + ((uint64_t)16 << 20);

/* The bits of the magic. */
static int bid(const char *data, size_t len)
{
	return tr_codec_magic((struct tr_text){ data, len }, TR_TEXT("\3757zXZ\0"));
}

struct liblzma {
	__typeof__(lzma_stream_decoder) *begin_decoding;
	__typeof__(lzma_easy_encoder) *begin_encoding;
	__typeof__(lzma_stream_encoder_mt) *begin_threads;
	__typeof__(lzma_code) *code;
	__typeof__(lzma_end) *end;
	__typeof__(lzma_memusage) *memory;
	__typeof__(lzma_version_string) *version;
};

static bool load(struct liblzma *lib, struct tr_error *err)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct liblzma, begin_decoding, lzma_stream_decoder),
		TR_LIBRARY_FUNCTION(struct liblzma, begin_encoding, lzma_easy_encoder),
		TR_LIBRARY_FUNCTION(struct liblzma, begin_threads, lzma_stream_encoder_mt),
		TR_LIBRARY_FUNCTION(struct liblzma, code, lzma_code),
		TR_LIBRARY_FUNCTION(struct liblzma, end, lzma_end),
		TR_LIBRARY_FUNCTION(struct liblzma, memory, lzma_memusage),
		TR_LIBRARY_FUNCTION(struct liblzma, version, lzma_version_string),
		{ NULL, 0 },
	};
	return tr_library_load(TREC_LIBLZMA, symbols, lib, err);
}

/* A decoder or an encoder. */
struct coder {
	struct liblzma lib;
	lzma_stream z;
	lzma_action flush; /* of an encoder */
};

static void destroy(void *state)
{
	struct coder *coder = state;
	coder->lib.end(&coder->z);
	free(coder);
}

/* The words for an error of the stream. */
static const char *describe(lzma_ret result)
{
	switch (result) {
	case LZMA_FORMAT_ERROR:
		return "not an xz stream";
	case LZMA_OPTIONS_ERROR:
		return "unsupported options";
	default:
		return "corrupt data";
	}
}

/* Decodes. liblzma handles streams that follow each other. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct coder *d = state;
	lzma_stream *z = &d->z;
	z->next_in = (const uint8_t *)in->pos;
	z->avail_in = tr_input_available(in);
	z->next_out = (uint8_t *)room->pos;
	z->avail_out = tr_room_left(room);
	/*
	 * LZMA_FINISH lets liblzma distinguish a complete stream from a cut one, because streams
	 * may follow each other
	 */
	lzma_ret result = d->lib.code(z, z->avail_in ? LZMA_RUN : LZMA_FINISH);
	tr_input_skip(in, (size_t)((const char *)z->next_in - in->pos));
	room->pos = (char *)z->next_out;
	switch (result) {
	case LZMA_OK:
	case LZMA_BUF_ERROR: /* no progress: more input is needed */
		return TR_OK;
	case LZMA_STREAM_END:
		return TR_END;
	case LZMA_MEM_ERROR:
		return tr_error_memory(err);
	case LZMA_MEMLIMIT_ERROR:
		tr_error_set(err, TR_CAUSE_LIMIT, "xz: needs %llu MiB of memory",
			     (unsigned long long)(d->lib.memory(z) >> 20));
		return TR_FATAL;
	default:
		tr_decoder_error(err, in, "xz", describe(result));
		return TR_FATAL;
	}
}

/* Opens a decoder (struct tr_codec). */
static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "xz", step_decoder, destroy };
	struct coder *d = calloc(1, sizeof *d);
	if (d && !load(&d->lib, err)) {
		free(d);
		tr_input_free(in);
		return NULL;
	}
	if (d && d->lib.begin_decoding(&d->z, MEMORY_LIMIT, LZMA_CONCATENATED) != LZMA_OK) {
		free(d);
		d = NULL;
	}
	return tr_decoder_new(&class, d, in, limits, err);
}

/* Compresses, flushes or finishes. */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	struct coder *e = state;
	const lzma_action action[] = { LZMA_RUN, e->flush, LZMA_FINISH };
	e->z.next_in = (const uint8_t *)*data;
	e->z.avail_in = *len;
	e->z.next_out = (uint8_t *)room->pos;
	e->z.avail_out = tr_room_left(room);
	lzma_ret result = e->lib.code(&e->z, action[what]);
	*data = (const char *)e->z.next_in;
	*len = e->z.avail_in;
	room->pos = (char *)e->z.next_out;
	switch (result) {
	case LZMA_OK:
		return what == TR_ENCODE_MORE && !*len ? TR_END : TR_OK;
	case LZMA_STREAM_END:
		return TR_END;
	case LZMA_MEM_ERROR:
		return tr_error_memory(err);
	default:
		tr_error_set(err, TR_CAUSE_USAGE, "xz: cannot compress (liblzma: %d)", (int)result);
		return TR_FATAL;
	}
}

/* Opens an encoder, with threads of liblzma. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_encoder_class class = { step_encoder, destroy };
	struct coder *e = calloc(1, sizeof *e);
	if (e && !load(&e->lib, err)) {
		free(e);
		inner->close(inner);
		return NULL;
	}
	if (e) {
		const lzma_mt mt = {
			.threads = threads,
			.preset = (uint32_t)level,
			.check = LZMA_CHECK_CRC64,
		};
		/* with threads, only a block can be ended early */
		e->flush = threads > 1 ? LZMA_FULL_FLUSH : LZMA_SYNC_FLUSH;
		lzma_ret result = threads > 1 ? e->lib.begin_threads(&e->z, &mt)
					      : e->lib.begin_encoding(&e->z, (uint32_t)level,
								      LZMA_CHECK_CRC64);
		if (result != LZMA_OK) {
			free(e);
			e = NULL;
		}
	}
	return tr_encoder_new(&class, e, inner, err);
}

static void version(char *to, size_t size)
{
	struct liblzma lib;
	struct tr_error err;
	snprintf(to, size, "%s", load(&lib, &err) ? lib.version() : "?");
}

const struct tr_codec tr_codec_xz = {
	.name = "xz",
	.extension = ".xz",
	.level_min = 0,
	.level_max = 9,
	.level_default = 6,
	.general = true,
	.bid = bid,
	.decoder = decoder,
	.encoder = encoder,
	.library = "liblzma",
	.version = version,
};
