/* SPDX-License-Identifier: MIT */
/* xz, by direct calls of liblzma: all data before a cut are returned. */
#include "core/codec_private.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

/* Allows a dictionary of 1 GiB (xz -9 uses 64 MiB); a hostile header may ask for 4 GiB. */
static const uint64_t MEMORY_LIMIT = ((uint64_t)1 << 30) + ((uint64_t)16 << 20);

/* The bits of the magic. */
static int bid(const char *data, size_t len)
{
	return tr_codec_magic((struct tr_text){ data, len }, TR_TEXT("\3757zXZ\0"));
}

/* Frees the state of a decoder or encoder. */
static void destroy(void *state)
{
	lzma_end(state);
	free(state);
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
	lzma_stream *z = state;
	z->next_in = (const uint8_t *)in->pos;
	z->avail_in = tr_input_available(in);
	z->next_out = (uint8_t *)room->pos;
	z->avail_out = tr_room_left(room);
	/*
	 * LZMA_FINISH lets liblzma distinguish a complete stream from a cut one, because streams
	 * may follow each other
	 */
	lzma_ret result = lzma_code(z, z->avail_in ? LZMA_RUN : LZMA_FINISH);
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
			     (unsigned long long)(lzma_memusage(z) >> 20));
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
	lzma_stream *z = calloc(1, sizeof *z);
	if (z && lzma_stream_decoder(z, MEMORY_LIMIT, LZMA_CONCATENATED) != LZMA_OK) {
		free(z);
		z = NULL;
	}
	return tr_decoder_new(&class, z, in, limits, err);
}

struct encoder {
	lzma_stream z; /* first, so that destroy can be shared */
	lzma_action flush;
};

/* Compresses, flushes or finishes. */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	struct encoder *e = state;
	const lzma_action action[] = { LZMA_RUN, e->flush, LZMA_FINISH };
	e->z.next_in = (const uint8_t *)*data;
	e->z.avail_in = *len;
	e->z.next_out = (uint8_t *)room->pos;
	e->z.avail_out = tr_room_left(room);
	lzma_ret result = lzma_code(&e->z, action[what]);
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
	struct encoder *e = calloc(1, sizeof *e);
	if (e) {
		const lzma_mt mt = {
			.threads = threads,
			.preset = (uint32_t)level,
			.check = LZMA_CHECK_CRC64,
		};
		/* with threads, only a block can be ended early */
		e->flush = threads > 1 ? LZMA_FULL_FLUSH : LZMA_SYNC_FLUSH;
		lzma_ret result =
			threads > 1 ? lzma_stream_encoder_mt(&e->z, &mt)
				    : lzma_easy_encoder(&e->z, (uint32_t)level, LZMA_CHECK_CRC64);
		if (result != LZMA_OK) {
			free(e);
			e = NULL;
		}
	}
	return tr_encoder_new(&class, e, inner, err);
}

static void version(char *to, size_t size)
{
	snprintf(to, size, "%s", lzma_version_string());
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
