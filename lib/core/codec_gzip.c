/* SPDX-License-Identifier: MIT */
/* gzip (RFC 1952), by direct calls of zlib: all data before a cut are returned. */
#include "core/codec_private.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum {
	GZIP_WRAPPER = 16, /* added to the window bits to select gzip instead of zlib */
	MEMORY_LEVEL = 8,
	RESERVED_FLAGS = 0xe0,
	BLOCK_SIZE = 1 << 20, /* bytes of a member, if several are compressed at a time */
};

/* zlib counts in unsigned int. */
static uInt clip(size_t n)
{
	return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

/* The bits of the magic, the method and the flags that must be 0. */
static int bid(const char *data, size_t len)
{
	int bits = tr_codec_magic((struct tr_text){ data, len }, TR_TEXT("\x1f\x8b\x08"));
	if (bits <= 0)
		return bits;
	if (len == 3)
		return TR_CODEC_MORE;
	return data[3] & RESERVED_FLAGS ? 0 : bits + 3;
}

struct decoder {
	z_stream z;
	bool between; /* a member has just ended */
};

/* Frees the state of a decoder. */
static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	inflateEnd(&d->z);
	free(d);
}

/* Decodes some of the current member. */
static enum tr_status inflate_some(struct decoder *d, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	d->z.next_in = (Bytef *)(uintptr_t)in->pos;
	d->z.avail_in = clip(tr_input_available(in));
	d->z.next_out = (Bytef *)room->pos;
	d->z.avail_out = clip(tr_room_left(room));
	int result = inflate(&d->z, Z_NO_FLUSH);
	tr_input_skip(in, (size_t)((const char *)d->z.next_in - in->pos));
	room->pos = (char *)d->z.next_out;
	switch (result) {
	case Z_OK:
	case Z_BUF_ERROR: /* no progress: more input is needed */
		return TR_OK;
	case Z_STREAM_END:
		d->between = true;
		return TR_OK;
	case Z_MEM_ERROR:
		return tr_error_memory(err);
	default:
		tr_decoder_error(err, in, "gzip", d->z.msg ? d->z.msg : "invalid data");
		return TR_FATAL;
	}
}

/* The bid for a following member: two bytes are sufficient, as zlib reports errors in the rest. */
static int bid_next(const char *data, size_t len)
{
	return tr_codec_magic((struct tr_text){ data, len }, TR_TEXT("\x1f\x8b"));
}

/* Decodes; after a member another one may follow. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	if (d->between) {
		enum tr_status status = tr_decoder_behind(in, "gzip", bid_next, err);
		if (status != TR_OK)
			return status;
		inflateReset(&d->z);
		d->between = false;
	}
	return inflate_some(d, in, room, err);
}

/* Opens a decoder (struct tr_codec). */
static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "gzip", step_decoder, destroy_decoder };
	struct decoder *d = calloc(1, sizeof *d);
	if (d && inflateInit2(&d->z, MAX_WBITS + GZIP_WRAPPER) != Z_OK) {
		free(d);
		d = NULL;
	}
	return tr_decoder_new(&class, d, in, limits, err);
}

/* Frees the state of an encoder. */
static void destroy_encoder(void *state)
{
	deflateEnd(state);
	free(state);
}

/* Compresses, flushes or finishes. */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	static const int flush[] = { Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH };
	z_stream *z = state;
	uInt taken = clip(*len);
	z->next_in = (Bytef *)(uintptr_t)*data;
	z->avail_in = taken;
	z->next_out = (Bytef *)room->pos;
	z->avail_out = clip(tr_room_left(room));
	int result = deflate(z, flush[what]);
	taken -= z->avail_in;
	if (taken)
		*data += taken;
	*len -= taken;
	room->pos = (char *)z->next_out;
	if (result == Z_STREAM_END)
		return TR_END;
	if (result == Z_STREAM_ERROR) {
		tr_error_set(err, TR_CAUSE_USAGE, "gzip: cannot compress");
		return TR_FATAL;
	}
	/* zlib holds nothing back if room is left */
	return z->avail_out && !*len && what != TR_ENCODE_FINISH ? TR_END : TR_OK;
}

/* An encoder with that level. NULL: memory is exhausted. */
static void *begin_worker(int level)
{
	z_stream *z = calloc(1, sizeof *z);
	if (z && deflateInit2(z, level, Z_DEFLATED, MAX_WBITS + GZIP_WRAPPER, MEMORY_LEVEL,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

/* Compresses a block as a member of its own. */
static bool pack(void *worker, const struct tr_codec_block *block, struct tr_buffer *to)
{
	z_stream *z = worker;
	/*
	 * deflateReset first, because at the end of a stream zlib forgets the wrapper, and its
	 * bound is too small
	 */
	if (deflateReset(z) != Z_OK)
		return false;
	size_t size = deflateBound(z, block->data.len);
	char *room = tr_buffer_room(to, size);
	if (!room)
		return false;
	z->next_in = (Bytef *)(uintptr_t)block->data.data;
	z->avail_in = (uInt)block->data.len;
	z->next_out = (Bytef *)room;
	z->avail_out = (uInt)size;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return false;
	tr_buffer_used(to, size - z->avail_out);
	return true;
}

/* Opens an encoder; several threads compress members of their own. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_encoder_class class = { step_encoder, destroy_encoder };
	static const struct tr_block_class blocks = {
		.size = BLOCK_SIZE,
		.has_any = true,
		.begin = begin_worker,
		.end = destroy_encoder,
		.pack = pack,
	};
	if (threads > 1)
		return tr_blocks_new(&blocks, inner, level, threads, err);
	return tr_encoder_new(&class, begin_worker(level), inner, err);
}

static void version(char *to, size_t size)
{
	snprintf(to, size, "%s", zlibVersion());
}

const struct tr_codec tr_codec_gzip = {
	.name = "gzip",
	.extension = ".gz",
	.level_min = 1,
	.level_max = 9,
	.level_default = 6,
	.general = true,
	.bid = bid,
	.decoder = decoder,
	.encoder = encoder,
	.library = "zlib",
	.version = version,
};
