/*
 * lz4 by liblz4, called directly. A block has up to 4 MiB, and of one that is
 * cut or corrupt liblz4 gives nothing: so each is had whole before liblz4 sees
 * it, and where that cannot be, lz4_salvage.c gives what is there.
 */
#include "core/codec_stream.h"

#include <lz4.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/lz4_frame.h"
#include "core/lz4_salvage.h"

enum { ENCODE_SIZE = 64 << 10 };

static const char CORRUPT[] = "corrupt data";

enum place { BEHIND, START, FRAME, LEGACY, SKIPPABLE, OVER };

struct decoder {
	LZ4F_dctx *context;
	enum place place;
	struct tr_lz4_frame frame;
	uint64_t most; /* what the window may hold */
	uint64_t left; /* bytes to feed to liblz4, or to skip */
	bool fresh;    /* the window begins with a block, and has all of it */
	bool pending;  /* liblz4 may have more of the last block */
	struct tr_lz4_salvage salvage;
	const char *why; /* where it is over: what is wrong; NULL: it is cut */
};

static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	LZ4F_freeDecompressionContext(d->context);
	tr_lz4_salvage_free(&d->salvage);
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
	if (!tr_lz4_frame(in->pos, &d->frame))
		return corrupt(in, err, "invalid frame header");
	if (d->frame.dictionary)
		return corrupt(in, err, "needs a dictionary");
	d->place = FRAME;
	d->left = d->frame.header;
	return tr_lz4_salvage_begin(&d->salvage, d->frame.linked) ? TR_OK : tr_error_memory(err);
}

static enum tr_status start(struct decoder *d, struct tr_input *in, struct tr_error *err)
{
	if (!tr_input_more(in, TR_LZ4_WORD))
		return TR_OK;
	switch (tr_lz4_kind(tr_lz4_word(in->pos))) {
	case TR_LZ4_FRAME:
		return start_frame(d, in, err);
	case TR_LZ4_LEGACY:
		tr_input_skip(in, TR_LZ4_WORD);
		d->place = LEGACY;
		return tr_lz4_salvage_begin(&d->salvage, false) ? TR_OK : tr_error_memory(err);
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

/* The block at the window's start, as much of it as is there and makes sense, is the last. */
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
		memory = tr_lz4_salvage_stored(&d->salvage, packed);
	else
		memory = tr_lz4_salvage_block(&d->salvage, packed, d->frame.block_max, &whole);
	return memory ? TR_OK : tr_error_memory(err);
}

/* In a frame, at a block or its end: how much there is to feed. */
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

/* What liblz4 takes of d->left, and gives. */
static enum tr_status feed(struct decoder *d, struct tr_input *in, struct tr_room *room,
			   struct tr_error *err)
{
	size_t n = tr_input_available(in), made = tr_room_left(room);
	if (n > d->left)
		n = (size_t)d->left;
	size_t result = LZ4F_decompress(d->context, room->pos, &made, in->pos, &n, NULL);
	if (LZ4F_isError(result))
		return fail(d, in, result, err);
	tr_lz4_salvage_remember(&d->salvage, room->pos, made);
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

/* A frame of old has no end: what is no size of a block is behind it. */
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
	if (!tr_lz4_salvage_block(&d->salvage, packed, TR_LZ4_LEGACY_BLOCK, &whole))
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
	size_t given = tr_lz4_salvage_give(&d->salvage, room->pos, tr_room_left(room));
	room->pos += given;
	if (given)
		return TR_OK;
	switch (d->place) {
	case BEHIND:
		d->place = START;
		return tr_decoder_behind(in, "lz4", tr_lz4_bid_next, err);
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

/* To another place it goes at once: a step that does nothing would mean that it wants more. */
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
	char *packed; /* what liblz4 made; it wants room for the worst case */
	size_t size, len, given;
	bool begun;
	bool clean;    /* nothing came since the last flush, or at all */
	bool finished; /* the end is written */
};

static void destroy_encoder(void *state)
{
	struct encoder *e = state;
	LZ4F_freeCompressionContext(e->context);
	free(e->packed);
	free(e);
}

/* One call of liblz4's; what it made is in e->packed. */
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

/* True when all is in the room. */
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
		/* small blocks that know those before them: as good as large ones */
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
	.bid = tr_lz4_bid,
	.decoder = decoder,
	.encoder = encoder,
	.library = "liblz4",
	.version = version,
};
