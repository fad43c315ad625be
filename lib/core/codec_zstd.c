/* SPDX-License-Identifier: MIT */
/* Zstandard (RFC 8878), by direct calls of libzstd: all data before a cut are returned. */
#include "core/codec_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/wire.h"

enum {
	WINDOW_LOG_MIN = 27, /* limit of libzstd by default */
	WINDOW_LOG_MAX = 31,
	FRAME_START = 5,	  /* bytes that describe the frame */
	SEEKABLE_FRAME = 2 << 20, /* the size that apitrace uses */
};

/* The bits of the magic, of a frame or a skippable one. */
static int bid(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("\x28\xb5\x2f\xfd"));
	/* a skippable frame may come first; four bits of its first byte are free */
	if (bits == 0 && (*data & 0xf0) == 0x50) {
		start.data++;
		start.len--;
		bits = tr_codec_magic(start, TR_TEXT("\x2a\x4d\x18"));
	}
	return bits;
}

struct decoder {
	ZSTD_DCtx *context;
	size_t hint;  /* bytes up to the end of the next block */
	bool between; /* a frame has just ended (or none began) */
	bool any;     /* a frame has ended */
};

/* Frees the state of a decoder. */
static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	ZSTD_freeDCtx(d->context);
	free(d);
}

/* Fills err: libzstd failed. TR_FATAL. */
static enum tr_status fail(const struct decoder *d, struct tr_error *err, const struct tr_input *in,
			   size_t result)
{
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_memory_allocation:
		tr_error_memory(err);
		break;
	case ZSTD_error_frameParameter_windowTooLarge:
		tr_error_set(err, TR_CAUSE_LIMIT, "zstd: needs a window larger than --max-record");
		break;
	case ZSTD_error_prefix_unknown:
		tr_decoder_error(err, in, "zstd",
				 d->any ? "garbage after the end" : "not a zstd stream");
		break;
	default:
		tr_decoder_error(err, in, "zstd", ZSTD_getErrorName(result));
		break;
	}
	return TR_FATAL;
}

/* Decodes a block of a frame. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	/*
	 * A call that fails does not return the blocks that it decoded; with one block for each
	 * call none is lost.
	 */
	size_t size = tr_input_available(in);
	if (d->hint < size)
		size = d->hint;
	ZSTD_inBuffer from = { in->pos, size, 0 };
	ZSTD_outBuffer to = { room->pos, tr_room_left(room), 0 };
	if (!(d->between && size == 0)) {
		size_t result = ZSTD_decompressStream(d->context, &to, &from);
		tr_input_skip(in, from.pos);
		room->pos += to.pos;
		if (ZSTD_isError(result))
			return fail(d, err, in, result);
		d->between = result == 0;
		d->any = d->any || d->between;
		d->hint = result ? result : FRAME_START;
	}
	return d->between && tr_input_available(in) == 0 && in->at_end ? TR_END : TR_OK;
}

/* --max-record limits the memory, but not below the needs of usual files. */
static int window_log(const struct tr_limits *limits)
{
	int log = WINDOW_LOG_MIN;
	while (log < WINDOW_LOG_MAX && limits->max_record >> (log + 1))
		log++;
	return log;
}

/*
 * Opens a decoder, whose window is limited by --max-record: the stream states how much memory it
 * needs.
 */
static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "zstd", step_decoder, destroy_decoder };
	struct decoder *d = calloc(1, sizeof *d);
	ZSTD_DCtx *context = ZSTD_createDCtx();
	if (!d || !context) {
		ZSTD_freeDCtx(context);
		free(d);
		d = NULL;
	} else {
		d->context = context;
		d->between = true;
		d->hint = FRAME_START;
		(void)ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, window_log(limits));
	}
	return tr_decoder_new(&class, d, in, limits, err);
}

/* Frees the state of an encoder. */
static void destroy_encoder(void *state)
{
	ZSTD_freeCCtx(state);
}

/* Compresses, flushes or finishes. */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	static const ZSTD_EndDirective directive[] = { ZSTD_e_continue, ZSTD_e_flush, ZSTD_e_end };
	ZSTD_inBuffer from = { *data, *len, 0 };
	ZSTD_outBuffer to = { room->pos, tr_room_left(room), 0 };
	size_t left = ZSTD_compressStream2(state, &to, &from, directive[what]);
	if (from.pos)
		*data += from.pos;
	*len -= from.pos;
	room->pos += to.pos;
	if (ZSTD_isError(left)) {
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			tr_error_memory(err);
		else
			tr_error_set(err, TR_CAUSE_USAGE, "zstd: %s", ZSTD_getErrorName(left));
		return TR_FATAL;
	}
	return (what == TR_ENCODE_MORE ? *len : left) == 0 ? TR_END : TR_OK;
}

/* An encoder with that level. NULL: memory is exhausted. */
static void *begin_worker(int level)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	if (context) {
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	}
	return context;
}

/* Opens an encoder, with threads of libzstd. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_encoder_class class = { step_encoder, destroy_encoder };
	ZSTD_CCtx *context = begin_worker(level);
	/* without support for threads, libzstd refuses and compresses on this one */
	if (context && threads > 1)
		(void)ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, (int)threads);
	return tr_encoder_new(&class, context, inner, err);
}

/* Compresses a block to a frame of its own. */
static bool pack(void *worker, const struct tr_codec_block *block, struct tr_buffer *to)
{
	size_t size = ZSTD_compressBound(block->data.len);
	char *room = tr_buffer_room(to, size);
	if (!room)
		return false;
	size = ZSTD_compress2(worker, room, size, block->data.data, block->data.len);
	if (ZSTD_isError(size))
		return false;
	tr_buffer_used(to, size);
	return true;
}

/* Appends a number of 32 bits, little endian. */
static void put_u32(struct tr_buffer *to, uint32_t n)
{
	char bytes[4];
	tr_wire_put_u32(bytes, false, n);
	tr_buffer_put(to, bytes, sizeof bytes);
}

/* The seek table of zstd's contrib/seekable_format, which lists the frames. */
static void put_index(const struct tr_block_sizes *list, size_t count, struct tr_buffer *to)
{
	enum { SKIPPABLE = 0x184d2a5e, ENTRY = 8, FOOTER = 9 };
	put_u32(to, SKIPPABLE);
	put_u32(to, (uint32_t)(count * ENTRY + FOOTER));
	for (size_t i = 0; i < count; i++) {
		put_u32(to, list[i].packed);
		put_u32(to, list[i].data);
	}
	put_u32(to, (uint32_t)count);
	tr_buffer_put_byte(to, 0); /* no checksums in the table, because each frame has one */
	put_u32(to, 0x8f92eab1);
}

/* Opens an encoder of frames with an index after them, so that a reader can begin at any frame. */
static struct tr_sink *seekable_encoder(struct tr_sink *inner, int level, unsigned threads,
					struct tr_error *err)
{
	static const struct tr_block_class class = {
		.size = SEEKABLE_FRAME,
		.has_any = true,
		.begin = begin_worker,
		.end = destroy_encoder,
		.pack = pack,
		.index = put_index,
	};
	return tr_blocks_new(&class, inner, level, threads, err);
}

static void version(char *to, size_t size)
{
	snprintf(to, size, "%s", ZSTD_versionString());
}

#define ZSTD_CODEC(encoder_) \
	{ \
		.name = "zstd", .extension = ".zst", .level_min = 1, .level_max = 19, \
		.level_default = 3, .general = true, .bid = bid, .decoder = decoder, \
		.encoder = (encoder_), .library = "libzstd", .version = version \
	}

const struct tr_codec tr_codec_zstd = ZSTD_CODEC(encoder);
const struct tr_codec tr_codec_zstd_seekable = ZSTD_CODEC(seekable_encoder);
