/* SPDX-License-Identifier: MIT */

#include <lz4.h>
#include <lz4frame.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/codec_private.h"

/* The parts of an lz4 stream that are needed to divide it into blocks. */
enum {
	TR_LZ4_WORD = 4, /* bytes of magic numbers, sizes and checksums, little-endian */
	TR_LZ4_HEADER_MIN = 7,
	/* decoded size of each block but the last in a frame from before 2013 */
	TR_LZ4_LEGACY_BLOCK = 8 << 20,
	TR_LZ4_LEGACY_PACKED = TR_LZ4_LEGACY_BLOCK + TR_LZ4_LEGACY_BLOCK / 255 + 16,
};

enum lz4_kind { TR_LZ4_FRAME, TR_LZ4_LEGACY, TR_LZ4_SKIPPABLE, TR_LZ4_NONE };

/* The fields of a frame's header. */
struct lz4_frame {
	size_t header;	  /* bytes */
	size_t block_max; /* bytes of a decoded block, at most */
	bool linked;	  /* blocks refer to earlier ones */
	bool block_sums;  /* a checksum follows each block */
	bool content_sum; /* a checksum follows the last block */
	bool dictionary;  /* it needs a dictionary */
};

/* The first word of a block. A size of 0 that is not stored ends the frame. */
struct tr_lz4_block {
	size_t size;
	bool stored; /* not compressed */
};

static inline uint32_t tr_lz4_word(const char *data)
{
	const unsigned char *p = (const unsigned char *)data;
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline struct tr_lz4_block tr_lz4_block(const char *data)
{
	const uint32_t stored = (uint32_t)1 << 31;
	uint32_t word = tr_lz4_word(data);
	return (struct tr_lz4_block){ .size = word & ~stored, .stored = word & stored };
}

/*
 * Our own decoder of blocks, because liblz4 returns nothing from a cut or corrupt block, and no
 * longer reads frames from before 2013.
 */
enum { TR_LZ4_HISTORY = 64 << 10 }; /* maximum offset of a copy */

struct tr_lz4_salvage {
	struct tr_buffer made;
	size_t given;	/* bytes of made that were returned */
	char *history;	/* a ring of the bytes returned before; NULL until it is needed */
	size_t len, at; /* bytes in the history; index of the next byte */
	bool linked;	/* the history is kept */
};

enum {
	MAGIC = 0x184d2204,
	MAGIC_LEGACY = 0x184c2102,
	MAGIC_SKIPPABLE = 0x184d2a50,
	SKIPPABLES = 16, /* the lowest four bits are free */

	FLAGS_AT = 4,
	BLOCK_SIZE_AT = 5,
	INDEPENDENT = 0x20,
	BLOCK_SUMS = 0x10,
	CONTENT_SIZE = 0x08,
	CONTENT_SUM = 0x04,
	DICTIONARY = 0x01,
	LEAST_BLOCK_SIZE = 4, /* code of 64 KiB; each further code is four times as large */
};

/* Classifies the magic number of a frame. */
static enum lz4_kind lz4_kind(uint32_t magic)
{
	if (magic == MAGIC)
		return TR_LZ4_FRAME;
	if (magic == MAGIC_LEGACY)
		return TR_LZ4_LEGACY;
	return magic - MAGIC_SKIPPABLE < SKIPPABLES ? TR_LZ4_SKIPPABLE : TR_LZ4_NONE;
}

/* The bids for the first frame and for following ones. */
static int lz4_bid(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("\x04\x22\x4d\x18"));
	return bits ? bits : tr_codec_magic(start, TR_TEXT("\x02\x21\x4c\x18"));
}

/* Accepts a skippable frame too; at the very start it is taken for one of zstd. */
static int lz4_bid_next(const char *data, size_t len)
{
	if ((unsigned char)*data / SKIPPABLES != (MAGIC_SKIPPABLE & 0xff) / SKIPPABLES)
		return lz4_bid(data, len);
	return tr_codec_magic((struct tr_text){ data + 1, len - 1 }, TR_TEXT("\x2a\x4d\x18"));
}

/* Parses a header from TR_LZ4_HEADER_MIN bytes; liblz4 checks the rest. False: there is none. */
static bool lz4_frame(const char *data, struct lz4_frame *frame)
{
	unsigned flags = (unsigned char)data[FLAGS_AT];
	unsigned size = (unsigned char)data[BLOCK_SIZE_AT] >> 4 & 7;
	*frame = (struct lz4_frame){
		.header = TR_LZ4_HEADER_MIN + (flags & CONTENT_SIZE ? 2 * TR_LZ4_WORD : 0),
		.block_max = (size_t)1 << (8 + 2 * size),
		.linked = !(flags & INDEPENDENT),
		.block_sums = flags & BLOCK_SUMS,
		.content_sum = flags & CONTENT_SUM,
		.dictionary = flags & DICTIONARY,
	};
	return size >= LEAST_BLOCK_SIZE;
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

/* Begins a stream whose blocks do or do not refer to earlier ones. False: memory is exhausted. */
static bool lz4_salvage_begin(struct tr_lz4_salvage *s, bool linked)
{
	s->len = s->at = 0;
	s->linked = linked;
	if (linked && !s->history)
		s->history = malloc(TR_LZ4_HISTORY);
	return s->history || !linked;
}

/* Adds output of liblz4 to the history. */
static void lz4_salvage_remember(struct tr_lz4_salvage *s, const char *data, size_t len)
{
	if (!s->linked)
		return;
	if (len > TR_LZ4_HISTORY) {
		data += len - TR_LZ4_HISTORY;
		len = TR_LZ4_HISTORY;
	}
	size_t first = least(len, TR_LZ4_HISTORY - s->at);
	memcpy(s->history + s->at, data, first);
	memcpy(s->history, data + first, len - first);
	s->at = (s->at + len) % TR_LZ4_HISTORY;
	s->len = least(s->len + len, TR_LZ4_HISTORY);
}

/*
 * Decodes packed, up to `size` bytes and up to the first cut or invalid sequence. *whole: there is
 * none. False: memory is exhausted.
 */
static bool lz4_salvage_block(struct tr_lz4_salvage *s, struct tr_text packed, size_t size,
			      bool *whole)
{
	s->made.len = 0;
	char *to = tr_buffer_room(&s->made, s->len + size);
	if (!to)
		return false;
	if (s->len) {
		size_t oldest = s->len < TR_LZ4_HISTORY ? 0 : s->at;
		memcpy(to, s->history + oldest, s->len - oldest);
		memcpy(to + s->len - oldest, s->history, oldest);
	}
	*whole = decode(packed, to + s->len, s->len, &size);
	tr_buffer_used(&s->made, s->len + size);
	s->given = s->len;
	return true;
}

/* Appends a stored block: its bytes are those of the data. */
static bool lz4_salvage_stored(struct tr_lz4_salvage *s, struct tr_text stored)
{
	s->made.len = s->given = 0;
	tr_buffer_put_text(&s->made, stored);
	return !s->made.failed;
}

/* Copies up to cap decoded bytes; 0: all were returned. */
static size_t lz4_salvage_give(struct tr_lz4_salvage *s, char *to, size_t cap)
{
	size_t n = least(s->made.len - s->given, cap);
	if (n)
		memcpy(to, s->made.data + s->given, n);
	s->given += n;
	return n;
}

static void lz4_salvage_free(struct tr_lz4_salvage *s)
{
	tr_buffer_free(&s->made);
	free(s->history);
	*s = (struct tr_lz4_salvage){ .made = TR_BUFFER_INIT };
}

/*
 * lz4, by direct calls of liblz4. A block has up to 4 MiB, and from a cut or corrupt one liblz4
 * returns nothing. So liblz4 gets complete blocks only, and our own decoder returns what it can
 * from the others.
 */

enum { ENCODE_SIZE = 64 << 10 };

static const char CORRUPT[] = "corrupt data";

enum place { BEHIND, START, FRAME, LEGACY, SKIPPABLE, OVER };

struct decoder {
	LZ4F_dctx *context;
	enum place place;
	struct lz4_frame frame;
	uint64_t most; /* maximum size of the window */
	uint64_t left; /* bytes to feed to liblz4, or to skip */
	bool fresh;    /* the window begins with a complete block */
	bool pending;  /* liblz4 may hold more output of the last */
	struct tr_lz4_salvage salvage;
	const char *why; /* the reason of an error; NULL: the stream is cut */
};

static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	LZ4F_freeDecompressionContext(d->context);
	lz4_salvage_free(&d->salvage);
	free(d);
}

static enum tr_status corrupt(const struct tr_input *in, struct tr_error *err, const char *what)
{
	tr_decoder_error(err, in, "lz4", what);
	return TR_FATAL;
}

static enum tr_status start_frame(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, TR_LZ4_HEADER_MIN))
		return TR_OK;
	if (!lz4_frame(in->pos, &d->frame))
		return corrupt(in, err, "invalid frame header");
	if (d->frame.dictionary)
		return corrupt(in, err, "needs a dictionary");
	d->place = FRAME;
	d->left = d->frame.header;
	return lz4_salvage_begin(&d->salvage, d->frame.linked) ? TR_OK : tr_error_memory(err);
}

static enum tr_status start(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, TR_LZ4_WORD))
		return TR_OK;
	switch (lz4_kind(tr_lz4_word(in->pos))) {
	case TR_LZ4_FRAME:
		return start_frame(d, in, err);
	case TR_LZ4_LEGACY:
		tr_input_skip(in, TR_LZ4_WORD);
		d->place = LEGACY;
		return lz4_salvage_begin(&d->salvage, false) ? TR_OK : tr_error_memory(err);
	case TR_LZ4_SKIPPABLE:
		if (tr_input_more(in, 2 * TR_LZ4_WORD)) {
			d->left = tr_lz4_word(in->pos + TR_LZ4_WORD);
			tr_input_skip(in, 2 * TR_LZ4_WORD);
			d->place = SKIPPABLE;
		}
		return TR_OK;
	default:
		return corrupt(in, err, "not an lz4 stream");
	}
}

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
	struct tr_lz4_block block = tr_lz4_block(in->pos);
	size_t there = tr_input_available(in) - TR_LZ4_WORD;
	struct tr_text packed = { in->pos + TR_LZ4_WORD, there < block.size ? there : block.size };
	bool whole, memory;
	d->place = OVER;
	d->why = why;
	if (block.stored)
		memory = lz4_salvage_stored(&d->salvage, packed);
	else
		memory = lz4_salvage_block(&d->salvage, packed, d->frame.block_max, &whole);
	return memory ? TR_OK : tr_error_memory(err);
}

/* Within a frame: sets how many bytes of the next block, or of the end, go to liblz4. */
static enum tr_status next_block(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, TR_LZ4_WORD))
		return TR_OK;
	struct tr_lz4_block block = tr_lz4_block(in->pos);
	bool end = block.size == 0 && !block.stored;
	size_t whole = TR_LZ4_WORD + block.size;
	if (block.size > d->frame.block_max)
		return corrupt(in, err, "a block has an impossible size");
	if (end ? d->frame.content_sum : d->frame.block_sums)
		whole += TR_LZ4_WORD;
	if (!end && whole <= d->most && !tr_input_more(in, whole) && in->at_end)
		return salvage(d, in, NULL, err);
	d->left = whole;
	d->fresh = !end && tr_input_available(in) >= whole;
	return TR_OK;
}

static enum tr_status fail(struct decoder *d, const struct tr_input *in, size_t result,
			   struct tr_error *err)
{
	const char *name = LZ4F_getErrorName(result);
	if (strstr(name, "allocation"))
		return tr_error_memory(err);
	if (strstr(name, "hecksum"))
		return corrupt(in, err, "a checksum does not match");
	if (d->fresh)
		return salvage(d, in, CORRUPT, err);
	return corrupt(in, err, CORRUPT);
}

/* Passes bytes of d->left to liblz4 and receives its output. */
static enum tr_status feed(struct decoder *d, struct tr_input *in, struct tr_room *room,
			   struct tr_error *err)
{
	size_t n = tr_input_available(in), made = tr_room_left(room);
	if (n > d->left)
		n = (size_t)d->left;
	size_t result = LZ4F_decompress(d->context, room->pos, &made, in->pos, &n, NULL);
	if (LZ4F_isError(result))
		return fail(d, in, result, err);
	lz4_salvage_remember(&d->salvage, room->pos, made);
	room->pos += made;
	tr_input_skip(in, n);
	d->left -= n;
	d->fresh = false;
	d->pending = room->pos == room->end;
	if (result == 0)
		d->place = BEHIND;
	return TR_OK;
}

static enum tr_status step_frame(struct decoder *d, struct tr_input *in, struct tr_room *room,
				 struct tr_error *err)
{
	if (d->left == 0 && d->pending) {
		const char *begin = room->pos;
		enum tr_status status = feed(d, in, room, err);
		if (status != TR_OK || room->pos > begin || d->place != FRAME)
			return status;
	}
	if (d->left == 0) {
		enum tr_status status = next_block(d, in, err);
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
	if (!tr_input_more(in, TR_LZ4_WORD) && tr_input_available(in))
		return TR_OK;
	uint32_t size = tr_input_available(in) ? tr_lz4_word(in->pos) : 0;
	if (size == 0 || size > TR_LZ4_LEGACY_PACKED) {
		d->place = BEHIND;
		return TR_OK;
	}
	size_t need = TR_LZ4_WORD + (size_t)size;
	if (need > d->most) {
		tr_error_set(err, TR_CAUSE_LIMIT, "lz4: has a block larger than --max-record");
		return TR_FATAL;
	}
	bool there = tr_input_more(in, need), whole;
	if (!there && !in->at_end)
		return TR_OK;
	struct tr_text packed = { in->pos + TR_LZ4_WORD, there ? size : tr_input_available(in) };
	if (!there)
		packed.len -= TR_LZ4_WORD;
	if (!lz4_salvage_block(&d->salvage, packed, TR_LZ4_LEGACY_BLOCK, &whole))
		return tr_error_memory(err);
	if (there && whole) {
		tr_input_skip(in, need);
	} else {
		d->place = OVER;
		d->why = there ? CORRUPT : NULL;
	}
	return TR_OK;
}

static enum tr_status step_place(struct decoder *d, struct tr_input *in, struct tr_room *room,
				 struct tr_error *err)
{
	size_t given = lz4_salvage_give(&d->salvage, room->pos, tr_room_left(room));
	room->pos += given;
	if (given)
		return TR_OK;
	switch (d->place) {
	case BEHIND:
		d->place = START;
		return tr_decoder_behind(in, "lz4", lz4_bid_next, err);
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

static struct tr_source *decoder(struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	static const struct tr_decoder_class class = { "lz4", step_decoder, destroy_decoder };
	struct decoder *d = malloc(sizeof *d);
	if (d)
		*d = (struct decoder){
			.place = START,
			.most = limits->max_record,
			.salvage.made = TR_BUFFER_INIT,
		};
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

/* True if all output is in the room. */
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

static bool is_done(const struct encoder *e, size_t len, enum tr_encode what)
{
	if (what == TR_ENCODE_FINISH)
		return e->finished;
	return len == 0 && (what == TR_ENCODE_MORE || e->clean);
}

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
	.bid = lz4_bid,
	.decoder = decoder,
	.encoder = encoder,
	.library = "liblz4",
	.version = version,
};
