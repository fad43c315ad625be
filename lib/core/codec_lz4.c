/* SPDX-License-Identifier: MIT */
/*
 * lz4, by direct calls of liblz4. A block has up to 4 MiB, and from a cut or corrupt block liblz4
 * returns nothing. So liblz4 gets complete blocks only, and our own decoder returns what it can
 * from the others. It also decodes frames from before 2013, which liblz4 no longer reads.
 */

#include <lz4.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/codec_private.h"
#include "core/wire.h"

enum {
	MAGIC = 0x184d2204,
	MAGIC_LEGACY = 0x184c2102,
	MAGIC_SKIPPABLE = 0x184d2a50,
	SKIPPABLES = 16, /* the lowest four bits are free */

	WORD = 4, /* bytes of magic numbers, sizes and checksums, little-endian */
	HEADER_MIN = 7,
	FLAGS_AT = 4,
	BLOCK_SIZE_AT = 5,
	INDEPENDENT = 0x20,
	BLOCK_SUMS = 0x10,
	CONTENT_SIZE = 0x08,
	CONTENT_SUM = 0x04,
	DICTIONARY = 0x01,
	LEAST_BLOCK_SIZE = 4, /* code of 64 KiB; each further code is four times as large */

	/* decoded size of each block but the last in a frame from before 2013 */
	LEGACY_BLOCK = 8 << 20,
	LEGACY_PACKED = LEGACY_BLOCK + LEGACY_BLOCK / 255 + 16,

	HISTORY = 64 << 10, /* maximum offset of a copy */
	ENCODE_SIZE = 64 << 10,
};

static const char CORRUPT[] = "corrupt data";

/* A number of 32 bits, little endian. */
static uint32_t word_at(const char *p)
{
	return tr_wire_u32(p, false);
}

/* The first word of a block. A size of 0 that is not stored ends the frame. */
struct block {
	size_t size;
	bool stored; /* not compressed */
};

/* The word before a block: its size, and whether it is stored without compression. */
static struct block block_at(const char *p)
{
	const uint32_t stored = (uint32_t)1 << 31;
	uint32_t word = word_at(p);
	return (struct block){ .size = word & ~stored, .stored = word & stored };
}

/* The bits of the magic, of the current or the legacy frame. */
static int bid(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("\x04\x22\x4d\x18"));
	return bits ? bits : tr_codec_magic(start, TR_TEXT("\x02\x21\x4c\x18"));
}

/* Accepts a skippable frame too; at the very start it is taken for one of zstd. */
static int bid_next(const char *data, size_t len)
{
	if ((unsigned char)*data / SKIPPABLES != (MAGIC_SKIPPABLE & 0xff) / SKIPPABLES)
		return bid(data, len);
	return tr_codec_magic((struct tr_text){ data + 1, len - 1 }, TR_TEXT("\x2a\x4d\x18"));
}

/*
 * Decodes a block according to the format description of lz4: sequences of a token, literals and a
 * copy. The upper half of the token is the number of literals, the lower half the number of copied
 * bytes minus four; 15 continues in further bytes up to the first that is not 255. The offset of
 * the copy has two bytes. The last sequence has no copy.
 */

enum { LONG = 15, LEAST_COPY = 4 };

struct reader {
	const unsigned char *pos, *end;
};

/* Reads a length whose first four bits are in the token. */
static bool read_length(struct reader *r, unsigned nibble, size_t *length)
{
	*length = nibble;
	if (nibble < LONG)
		return true;
	while (r->pos < r->end) {
		*length += *r->pos;
		if (*r->pos++ != UINT8_MAX)
			return true;
	}
	return false;
}

/* Copies n bytes from `offset` bytes before; the ranges may overlap. */
static void copy_back(char *to, size_t offset, size_t n)
{
	const char *from = to - offset;
	if (offset >= n)
		memcpy(to, from, n);
	else
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Decodes into plain, which has room for *size bytes and follows `before` bytes of history. Sets
 * *size to the number of decoded bytes; true: the block is complete and valid.
 */
static bool decode(struct tr_text packed, char *plain, size_t before, size_t *size)
{
	struct reader r = { (const unsigned char *)packed.data,
			    (const unsigned char *)packed.data + packed.len };
	size_t room = *size, made = 0, length;

	for (;;) {
		*size = made;
		if (r.pos == r.end)
			return false;
		unsigned token = *r.pos++;
		if (!read_length(&r, token >> 4, &length))
			return false;
		size_t left = (size_t)(r.end - r.pos);
		size_t n = least(length, least(left, room - made));
		memcpy(plain + made, r.pos, n);
		r.pos += n;
		*size = made += n;
		if (n < length)
			return false;
		if (n == left)
			return true;
		if (left - n < 2)
			return false;
		size_t offset = r.pos[0] | (size_t)r.pos[1] << 8;
		r.pos += 2;
		if (offset == 0 || offset > before + made ||
		    !read_length(&r, token & LONG, &length))
			return false;
		n = least(length + LEAST_COPY, room - made);
		copy_back(plain + made, offset, n);
		made += n;
	}
}

enum place { BEHIND, START, FRAME, LEGACY, SKIPPABLE, OVER };

struct decoder {
	LZ4F_dctx *context;
	enum place place;
	uint64_t most;	 /* maximum size of the window */
	uint64_t left;	 /* bytes to feed to liblz4, or to skip */
	bool fresh;	 /* the window begins with a complete block */
	bool pending;	 /* liblz4 may hold more output of the last */
	const char *why; /* the reason of an error; NULL: the stream is cut */

	/* of the current frame */
	size_t block_max; /* bytes of a decoded block, at most */
	bool linked;	  /* blocks refer to earlier ones */
	bool block_sums;  /* a checksum follows each block */
	bool content_sum; /* a checksum follows the last block */

	/* of our own decoder */
	struct tr_buffer made; /* the history and a block that was decoded after it */
	size_t given;	       /* bytes of made that were returned */
	char *history;	       /* a ring of the bytes returned before; NULL until it is needed */
	size_t len, at;	       /* bytes in the history; index of the next byte */
};

/* Frees the state of a decoder. */
static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	LZ4F_freeDecompressionContext(d->context);
	tr_buffer_free(&d->made);
	free(d->history);
	free(d);
}

/* Fills err: the data are corrupt. TR_FATAL. */
static enum tr_status corrupt(const struct tr_input *in, struct tr_error *err, const char *what)
{
	tr_decoder_error(err, in, "lz4", what);
	return TR_FATAL;
}

/* Adds output of liblz4 to the history. */
static void keep_history(struct decoder *d, const char *data, size_t len)
{
	if (!d->linked)
		return;
	if (len > HISTORY) {
		data += len - HISTORY;
		len = HISTORY;
	}
	size_t first = least(len, HISTORY - d->at);
	memcpy(d->history + d->at, data, first);
	memcpy(d->history, data + first, len - first);
	d->at = (d->at + len) % HISTORY;
	d->len = least(d->len + len, HISTORY);
}

/*
 * Decodes packed, up to `size` bytes and up to the first cut or invalid sequence. *whole: there is
 * none. False: memory is exhausted.
 */
static bool decode_block(struct decoder *d, struct tr_text packed, size_t size, bool *whole)
{
	d->made.len = 0;
	char *to = tr_buffer_room(&d->made, d->len + size);
	if (!to)
		return false;
	if (d->len) {
		size_t oldest = d->len < HISTORY ? 0 : d->at;
		memcpy(to, d->history + oldest, d->len - oldest);
		memcpy(to + d->len - oldest, d->history, oldest);
	}
	*whole = decode(packed, to + d->len, d->len, &size);
	tr_buffer_used(&d->made, d->len + size);
	d->given = d->len;
	return true;
}

/* Begins a frame at its magic number. TR_OK if the window does not have all of the header. */
static enum tr_status start(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, WORD))
		return TR_OK;
	uint32_t magic = word_at(in->pos);
	d->linked = false;
	d->len = d->at = 0;
	if (magic == MAGIC_LEGACY) {
		tr_input_skip(in, WORD);
		d->place = LEGACY;
		return TR_OK;
	}
	if (magic - MAGIC_SKIPPABLE < SKIPPABLES) {
		if (!tr_input_more(in, 2 * WORD))
			return TR_OK;
		d->left = word_at(in->pos + WORD);
		tr_input_skip(in, 2 * WORD);
		d->place = SKIPPABLE;
		return TR_OK;
	}
	if (magic != MAGIC)
		return corrupt(in, err, "not an lz4 stream");
	if (!tr_input_more(in, HEADER_MIN))
		return TR_OK;
	/* liblz4 checks the rest of the header */
	unsigned flags = (unsigned char)in->pos[FLAGS_AT];
	unsigned size = (unsigned char)in->pos[BLOCK_SIZE_AT] >> 4 & 7;
	if (size < LEAST_BLOCK_SIZE)
		return corrupt(in, err, "invalid frame header");
	if (flags & DICTIONARY)
		return corrupt(in, err, "needs a dictionary");
	d->place = FRAME;
	d->left = HEADER_MIN + (flags & CONTENT_SIZE ? 2 * WORD : 0);
	d->block_max = (size_t)1 << (8 + 2 * size);
	d->linked = !(flags & INDEPENDENT);
	d->block_sums = flags & BLOCK_SUMS;
	d->content_sum = flags & CONTENT_SUM;
	if (d->linked && !d->history && !(d->history = malloc(HISTORY)))
		return tr_error_memory(err);
	return TR_OK;
}

/* Skips the rest of a skippable frame. */
static enum tr_status skip(struct decoder *d, struct tr_input *in)
{
	size_t n = tr_input_available(in);
	if (n > d->left)
		n = (size_t)d->left;
	tr_input_skip(in, n);
	d->left -= n;
	if (d->left == 0)
		d->place = BEHIND;
	return TR_OK;
}

/* Decodes the valid part of the block at the start of the window, which is then the last one. */
static enum tr_status salvage(struct decoder *d, const struct tr_input *in, const char *why,
			      struct tr_error *err)
{
	struct block block = block_at(in->pos);
	struct tr_text packed = { in->pos + WORD,
				  least(tr_input_available(in) - WORD, block.size) };
	bool whole;
	d->place = OVER;
	d->why = why;
	if (!block.stored)
		return decode_block(d, packed, d->block_max, &whole) ? TR_OK : tr_error_memory(err);
	d->made.len = d->given = 0;
	tr_buffer_put_text(&d->made, packed);
	return d->made.failed ? tr_error_memory(err) : TR_OK;
}

/* Within a frame: sets how many bytes of the next block, or of the end, go to liblz4. */
static enum tr_status next_block(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, WORD))
		return TR_OK;
	struct block block = block_at(in->pos);
	bool end = block.size == 0 && !block.stored;
	size_t whole = WORD + block.size;
	if (block.size > d->block_max)
		return corrupt(in, err, "a block has an impossible size");
	if (end ? d->content_sum : d->block_sums)
		whole += WORD;
	if (!end && whole <= d->most && !tr_input_more(in, whole) && in->at_end)
		return salvage(d, in, NULL, err);
	d->left = whole;
	d->fresh = !end && tr_input_available(in) >= whole;
	return TR_OK;
}

/* Passes bytes of d->left to liblz4 and receives its output. */
static enum tr_status feed(struct decoder *d, struct tr_input *in, struct tr_room *room,
			   struct tr_error *err)
{
	size_t n = tr_input_available(in), made = tr_room_left(room);
	if (n > d->left)
		n = (size_t)d->left;
	size_t result = LZ4F_decompress(d->context, room->pos, &made, in->pos, &n, NULL);
	if (LZ4F_isError(result)) {
		const char *name = LZ4F_getErrorName(result);
		if (strstr(name, "allocation"))
			return tr_error_memory(err);
		if (strstr(name, "hecksum"))
			return corrupt(in, err, "a checksum does not match");
		return d->fresh ? salvage(d, in, CORRUPT, err) : corrupt(in, err, CORRUPT);
	}
	keep_history(d, room->pos, made);
	room->pos += made;
	tr_input_skip(in, n);
	d->left -= n;
	d->fresh = false;
	d->pending = room->pos == room->end;
	if (result == 0)
		d->place = BEHIND;
	return TR_OK;
}

/* Decodes bytes of a frame: first what liblz4 still holds, then the next block. */
static enum tr_status step_frame(struct decoder *d, struct tr_input *in, struct tr_room *room,
				 struct tr_error *err)
{
	enum tr_status status;
	if (d->left == 0 && d->pending) {
		const char *begin = room->pos;
		status = feed(d, in, room, err);
		if (status != TR_OK || room->pos > begin || d->place != FRAME)
			return status;
	}
	if (d->left == 0) {
		status = next_block(d, in, err);
		if (status != TR_OK || d->left == 0)
			return status;
	}
	return feed(d, in, room, err);
}

/*
 * A frame from before 2013 has no end: a word that is not a valid size belongs to the data after
 * it.
 */
static enum tr_status step_legacy(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, WORD) && tr_input_available(in))
		return TR_OK;
	uint32_t size = tr_input_available(in) ? word_at(in->pos) : 0;
	if (size == 0 || size > LEGACY_PACKED) {
		d->place = BEHIND;
		return TR_OK;
	}
	size_t need = WORD + (size_t)size;
	if (need > d->most) {
		tr_error_set(err, TR_CAUSE_LIMIT, "lz4: has a block larger than --max-record");
		return TR_FATAL;
	}
	bool there = tr_input_more(in, need), whole;
	if (!there && !in->at_end)
		return TR_OK;
	struct tr_text packed = { in->pos + WORD, there ? size : tr_input_available(in) };
	if (!there)
		packed.len -= WORD;
	if (!decode_block(d, packed, LEGACY_BLOCK, &whole))
		return tr_error_memory(err);
	if (there && whole) {
		tr_input_skip(in, need);
	} else {
		d->place = OVER;
		d->why = there ? CORRUPT : NULL;
	}
	return TR_OK;
}

/* Returns output that was made already, and then decodes by the place in the stream. */
static enum tr_status step_place(struct decoder *d, struct tr_input *in, struct tr_room *room,
				 struct tr_error *err)
{
	size_t given = least(d->made.len - d->given, tr_room_left(room));
	if (given) {
		memcpy(room->pos, d->made.data + d->given, given);
		room->pos += given;
		d->given += given;
		return TR_OK;
	}
	switch (d->place) {
	case BEHIND:
		d->place = START;
		return tr_decoder_behind(in, "lz4", bid_next, err);
	case START:
		return start(d, in, err);
	case FRAME:
		return step_frame(d, in, room, err);
	case LEGACY:
		return step_legacy(d, in, err);
	case SKIPPABLE:
		return skip(d, in);
	case OVER:
		break;
	}
	return d->why ? corrupt(in, err, d->why) : TR_OK;
}

/*
 * Continues until something is read or written: a step that does neither would ask for more input.
 */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	const char *begin = room->pos;
	enum place before;
	enum tr_status status;
	do {
		before = d->place;
		status = step_place(d, in, room, err);
	} while (status == TR_OK && d->place != before && room->pos == begin);
	return status;
}

/* Opens a decoder (struct tr_codec). */
static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "lz4", step_decoder, destroy_decoder };
	struct decoder *d = malloc(sizeof *d);
	if (d)
		*d = (struct decoder){ .place = START, .most = limits->max_record };
	if (d && LZ4F_isError(LZ4F_createDecompressionContext(&d->context, LZ4F_VERSION))) {
		free(d);
		d = NULL;
	}
	return tr_decoder_new(&class, d, in, limits, err);
}

struct encoder {
	LZ4F_cctx *context;
	LZ4F_preferences_t preferences;
	char *packed; /* output of liblz4, which needs room for the worst case */
	size_t size, len, given;
	bool begun;
	bool clean;    /* no data came since the last flush, or at all */
	bool finished; /* the end is written */
};

/* Frees the state of an encoder. */
static void destroy_encoder(void *state)
{
	struct encoder *e = state;
	LZ4F_freeCompressionContext(e->context);
	free(e->packed);
	free(e);
}

/* Calls liblz4 once; the output is in e->packed. */
static size_t compress(struct encoder *e, const char *data, size_t n, enum tr_encode what)
{
	if (!e->begun) {
		e->begun = true;
		return LZ4F_compressBegin(e->context, e->packed, e->size, &e->preferences);
	}
	e->clean = n == 0;
	if (n)
		return LZ4F_compressUpdate(e->context, e->packed, e->size, data, n, NULL);
	if (what == TR_ENCODE_FLUSH)
		return LZ4F_flush(e->context, e->packed, e->size, NULL);
	e->finished = true;
	return LZ4F_compressEnd(e->context, e->packed, e->size, NULL);
}

/* Moves output to the room. True: there is no more of it. */
static bool drain(struct encoder *e, struct tr_room *room)
{
	size_t n = e->len - e->given;
	if (n > tr_room_left(room))
		n = tr_room_left(room);
	memcpy(room->pos, e->packed + e->given, n);
	room->pos += n;
	e->given += n;
	return e->given == e->len;
}

/* Returns whether nothing is left to do for the request. */
static bool is_done(const struct encoder *e, size_t len, enum tr_encode what)
{
	if (what == TR_ENCODE_FINISH)
		return e->finished;
	return len == 0 && (what == TR_ENCODE_MORE || e->clean);
}

/* Compresses, flushes or finishes. */
static enum tr_status step_encoder(void *state, const char **data, size_t *len, enum tr_encode what,
				   struct tr_room *room, struct tr_error *err)
{
	struct encoder *e = state;
	while (drain(e, room)) {
		if (is_done(e, *len, what))
			return TR_END;
		size_t n = 0;
		if (e->begun)
			n = *len < ENCODE_SIZE ? *len : ENCODE_SIZE;
		size_t made = compress(e, *data, n, what);
		if (LZ4F_isError(made)) {
			tr_error_set(err, TR_CAUSE_USAGE, "lz4: cannot compress (liblz4: %s)",
				     LZ4F_getErrorName(made));
			return TR_FATAL;
		}
		e->len = made;
		e->given = 0;
		if (n)
			*data += n;
		*len -= n;
	}
	return TR_OK;
}

/* Opens an encoder. liblz4 has no threads. */
static struct tr_sink *encoder(struct tr_sink *inner, int level, unsigned threads,
			       struct tr_error *err)
{
	static const struct tr_encoder_class class = { step_encoder, destroy_encoder };
	(void)threads;
	struct encoder *e = malloc(sizeof *e);
	if (e) {
		/* small blocks that refer to earlier ones compress as well as large ones */
		*e = (struct encoder){
			.preferences = {
				.frameInfo = {
					.blockSizeID = LZ4F_max64KB,
					.blockMode = LZ4F_blockLinked,
					.contentChecksumFlag = LZ4F_contentChecksumEnabled,
				},
				.compressionLevel = level,
			},
			.clean = true,
		};
		e->size = LZ4F_compressBound(ENCODE_SIZE, &e->preferences);
		e->packed = malloc(e->size);
		size_t result = LZ4F_createCompressionContext(&e->context, LZ4F_VERSION);
		if (!e->packed || LZ4F_isError(result)) {
			destroy_encoder(e);
			e = NULL;
		}
	}
	return tr_encoder_new(&class, e, inner, err);
}

static void version(char *to, size_t size)
{
	snprintf(to, size, "%s", LZ4_versionString());
}

const struct tr_codec tr_codec_lz4 = {
	.name = "lz4",
	.extension = ".lz4",
	.level_min = 1,
	.level_max = 12,
	.level_default = 1,
	.general = true,
	.bid = bid,
	.decoder = decoder,
	.encoder = encoder,
	.library = "liblz4",
	.version = version,
};
