/*
 * bzip2 and lz4, which libarchive brings. Of a cut stream its filters give
 * whole blocks of 64 KiB only.
 */
#include "core/codec_stream.h"

#include <stdlib.h>

#include "core/packer.h"

static int bid_bzip2(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("BZh"));
	if (bits <= 0 || len == 3)
		return bits ? TR_CODEC_MORE : 0;
	if (data[3] < '1' || data[3] > '9')
		return 0;
	/* a block begins with pi, the end of a stream without any with its root */
	start = tr_text_span(data + 4, data + len);
	int block = tr_codec_magic(start, TR_TEXT("1AY&SY"));
	int end = tr_codec_magic(start, TR_TEXT("\x17rE8P\x90"));
	if (block > 0 || end > 0)
		return bits + (block > 0 ? block : end);
	return block || end ? TR_CODEC_MORE : 0;
}

static int bid_lz4(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("\x04\x22\x4d\x18"));
	return bits ? bits : tr_codec_magic(start, TR_TEXT("\x02\x21\x4c\x18")); /* before 2013 */
}

struct decoder {
	const struct tr_decoder_class *class;
	int (*bid)(const char *data, size_t len);
	struct tr_unpacker *unpacker; /* NULL between streams */
	uint64_t begin;               /* of the current stream */
	struct tr_text block;         /* what is left of the last one */
	enum tr_status after;         /* what came with it */
	struct tr_error error;
};

static void destroy_decoder(void *state)
{
	struct decoder *d = state;
	tr_unpacker_free(d->unpacker);
	free(d);
}

static enum tr_status begin_stream(struct decoder *d, struct tr_input *in)
{
	struct tr_unpacked stream;
	d->begin = in->offset;
	d->unpacker = tr_unpacker_new(d->class->name, in, NULL);
	if (!d->unpacker) {
		tr_error_memory(&d->error);
		return TR_FATAL;
	}
	return tr_unpacker_next(d->unpacker, &stream, &d->error);
}

/* libarchive stops at what it does not know, and at an empty stream, too. */
static enum tr_status end_stream(struct decoder *d, struct tr_input *in)
{
	enum { MAGIC_MAX = 10 };
	bool whole = tr_unpacker_release(d->unpacker);
	tr_unpacker_free(d->unpacker);
	d->unpacker = NULL;
	if (whole && !tr_input_more(in, 1))
		return TR_END;
	(void)tr_input_more(in, MAGIC_MAX);
	if (whole && in->offset > d->begin &&
	    d->bid(in->pos, tr_input_available(in)) > 0)
		return TR_OK;
	tr_decoder_error(&d->error, in, d->class->name, "garbage behind the end");
	return TR_FATAL;
}

static void next_block(struct decoder *d, struct tr_input *in)
{
	while (d->after == TR_OK && d->block.len == 0) {
		if (!d->unpacker)
			d->after = begin_stream(d, in);
		int64_t offset;
		if (d->after == TR_OK)
			d->after = tr_unpacker_block(d->unpacker, &d->block.data, &d->block.len,
						     &offset, &d->error);
		if (d->after == TR_END)
			d->after = end_stream(d, in);
	}
}

/* in's window is lent to the unpacker, which skips what it used when it asks for more. */
static enum tr_status step_decoder(void *state, struct tr_input *in, struct tr_room *room,
				   struct tr_error *err)
{
	struct decoder *d = state;
	next_block(d, in);
	size_t n = d->block.len < tr_room_left(room) ? d->block.len : tr_room_left(room);
	if (n) {
		memcpy(room->pos, d->block.data, n);
		room->pos += n;
		d->block.data += n;
		d->block.len -= n;
		return TR_OK;
	}
	if (d->after == TR_END)
		return TR_END;
	if (err)
		*err = d->error;
	return TR_FATAL;
}

static struct tr_source *decoder(const struct tr_decoder_class *class,
				 int (*bid)(const char *data, size_t len), struct tr_input *in,
				 const struct tr_limits *limits, struct tr_error *err)
{
	struct decoder *d = calloc(1, sizeof *d);
	if (d)
		*d = (struct decoder){ .class = class, .bid = bid, .after = TR_OK };
	return tr_decoder_new(class, d, in, limits, err);
}

static struct tr_source *decoder_bzip2(struct tr_input *in, const struct tr_limits *limits,
				       struct tr_error *err)
{
	static const struct tr_decoder_class class = { "bzip2", step_decoder, destroy_decoder };
	return decoder(&class, bid_bzip2, in, limits, err);
}

static struct tr_source *decoder_lz4(struct tr_input *in, const struct tr_limits *limits,
				     struct tr_error *err)
{
	static const struct tr_decoder_class class = { "lz4", step_decoder, destroy_decoder };
	return decoder(&class, bid_lz4, in, limits, err);
}

struct encoder {
	struct tr_sink base;
	struct tr_sink *inner;
	const char *kind;
	struct tr_text empty; /* a whole stream of nothing: libarchive's lz4 cannot write one */
	int level;
	struct tr_packer *packer; /* NULL between streams */
	bool any;
};

static bool begin_output(struct encoder *e, struct tr_error *err)
{
	if (e->packer)
		return true;
	e->any = true;
	e->packer = tr_packer_new(e->kind, e->level, e->inner, err);
	return e->packer && tr_packer_begin(e->packer, "", -1, 0, err);
}

/* libarchive cannot flush: the stream ends, and another one follows where more comes. */
static bool end_output(struct encoder *e, struct tr_error *err)
{
	if (!e->packer)
		return true;
	bool good = tr_packer_finish(e->packer, err);
	tr_packer_free(e->packer);
	e->packer = NULL;
	return good;
}

static bool encoder_write(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return len == 0 || (begin_output(e, err) && tr_packer_put(e->packer, data, len, err));
}

static bool encoder_flush(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return end_output(e, err) && e->inner->flush(e->inner, err);
}

static bool encoder_finish(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	if (!e->any && !e->inner->write(e->inner, e->empty.data, e->empty.len, err))
		return false;
	return end_output(e, err) && e->inner->finish(e->inner, err);
}

static void encoder_close(struct tr_sink *sink)
{
	struct encoder *e = (struct encoder *)sink;
	tr_packer_free(e->packer);
	e->inner->close(e->inner);
	free(e);
}

static struct tr_sink *encoder(const char *kind, struct tr_text empty, struct tr_sink *inner,
			       int level, struct tr_error *err)
{
	struct encoder *e = malloc(sizeof *e);
	if (!e) {
		inner->close(inner);
		tr_error_memory(err);
		return NULL;
	}
	*e = (struct encoder){
		.base = { encoder_write, encoder_flush, encoder_finish, encoder_close },
		.inner = inner,
		.kind = kind,
		.empty = empty,
		.level = level,
	};
	return &e->base;
}

static struct tr_sink *encoder_bzip2(struct tr_sink *inner, int level, unsigned threads,
				     struct tr_error *err)
{
	(void)threads;
	return encoder("bzip2", TR_TEXT("BZh9\x17rE8P\x90\0\0\0\0"), inner, level, err);
}

static struct tr_sink *encoder_lz4(struct tr_sink *inner, int level, unsigned threads,
				   struct tr_error *err)
{
	(void)threads;
	static const char empty[] = "\x04\x22\x4d\x18\x64\x40\xa7\0\0\0\0\x05\x5d\xcc\x02";
	return encoder("lz4", (struct tr_text){ empty, sizeof empty - 1 }, inner, level, err);
}

const struct tr_codec tr_codec_bzip2 = {
	.name = "bzip2",
	.extension = ".bz2",
	.level_min = 1,
	.level_max = 9,
	.level_default = 9,
	.general = true,
	.bid = bid_bzip2,
	.decoder = decoder_bzip2,
	.encoder = encoder_bzip2,
};

const struct tr_codec tr_codec_lz4 = {
	.name = "lz4",
	.extension = ".lz4",
	.level_min = 1,
	.level_max = 9,
	.level_default = 1,
	.general = true,
	.bid = bid_lz4,
	.decoder = decoder_lz4,
	.encoder = encoder_lz4,
};
