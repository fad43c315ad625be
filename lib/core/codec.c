/* SPDX-License-Identifier: MIT */
/* The part of every decoder that no library does: see codec_stream.h. */

#include "core/codec.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>

#include "core/codec_stream.h"

/* Less than this is no bomb, whatever the ratio. */
static const uint64_t RATIO_FREE = (uint64_t)64 << 20;

struct decoder {
	struct tr_source source; /* first: this is what the caller holds */
	const struct tr_decoder_class *class;
	void *state;
	struct tr_input *in;
	struct tr_limits limits;
	uint64_t made;
	bool full;		/* the last read filled its buffer: more is likely there */
	enum tr_status outcome; /* TR_OK while it runs */
	struct tr_error error;	/* where outcome is TR_FATAL */
};

bool tr_ratio_exceeded(const struct tr_limits *limits, uint64_t made, uint64_t taken)
{
	return made > RATIO_FREE && limits->max_ratio && made / limits->max_ratio > taken;
}

void tr_decoder_error(struct tr_error *err, const struct tr_input *in, const char *name,
		      const char *what)
{
	tr_error_set(err, TR_CAUSE_INPUT, "%s: %s (at byte %" PRIu64 " of the compressed data)",
		     name, what, in->offset);
}

/* True where zeros stood there. */
static bool skip_zeros(struct tr_input *in)
{
	bool any = false;
	while (tr_input_more(in, 1) && *in->pos == '\0') {
		const char *p = in->pos;
		while (p < in->end && *p == '\0')
			p++;
		tr_input_skip(in, (size_t)(p - in->pos));
		any = true;
	}
	return any;
}

enum tr_status tr_decoder_behind(struct tr_input *in, const char *name,
				 int (*bid)(const char *data, size_t len), struct tr_error *err)
{
	bool padded = skip_zeros(in);
	if (tr_input_available(in) == 0)
		return TR_END;
	int bits = TR_CODEC_MORE;
	for (size_t want = 1; !padded && bits == TR_CODEC_MORE && tr_input_more(in, want);
	     want = tr_input_available(in) + 1)
		bits = bid(in->pos, tr_input_available(in));
	if (!padded && bits)
		return TR_OK;
	tr_decoder_error(err, in, name, "garbage after the end");
	return TR_FATAL;
}

static void check_ratio(struct decoder *d)
{
	/* in a stack of codecs only the file's own bytes cost the sender anything */
	uint64_t raw = tr_input_raw_offset(d->in);
	uint64_t here = d->in->offset + tr_input_available(d->in);
	uint64_t taken = raw < here ? raw : here;
	if (!tr_ratio_exceeded(&d->limits, d->made, taken))
		return;
	d->outcome = TR_FATAL;
	tr_error_set(&d->error, TR_CAUSE_LIMIT,
		     "%s: decompresses to more than %u times its size (--max-ratio)",
		     d->class->name, d->limits.max_ratio);
}

/* The step wants more and there is none. */
static void cut(struct decoder *d)
{
	d->outcome = TR_FATAL;
	if (d->in->damaged) {
		tr_input_error(d->in, &d->error);
		return;
	}
	tr_decoder_error(&d->error, d->in, d->class->name, "ends early");
	d->error.cause = TR_CAUSE_CUT;
}

static ssize_t read_decoder(struct tr_source *source, char *buf, size_t cap, struct tr_error *err)
{
	struct decoder *d = (struct decoder *)source;
	struct tr_room room = { buf, buf + cap };
	size_t want = 1;

	while (d->outcome == TR_OK && room.pos == buf) {
		bool some = tr_input_more(d->in, want);
		uint64_t before = d->in->offset;
		d->outcome = d->class->step(d->state, d->in, &room, &d->error);
		d->made += (size_t)(room.pos - buf);
		bool moved = room.pos > buf || d->in->offset > before;
		if ((d->outcome == TR_END && d->in->damaged) ||
		    (d->outcome == TR_OK && !moved && !some))
			cut(d);
		else if (d->outcome == TR_OK)
			check_ratio(d);
		want = moved ? 1 : tr_input_available(d->in) + 1;
	}
	d->full = room.pos == room.end;
	if (room.pos > buf)
		return room.pos - buf;
	if (d->outcome == TR_END)
		return 0;
	if (err)
		*err = d->error;
	return -1;
}

static bool decoder_would_wait(struct tr_source *source)
{
	struct decoder *d = (struct decoder *)source;
	return d->outcome == TR_OK && !d->full && tr_input_would_wait(d->in);
}

static uint64_t decoder_raw_offset(struct tr_source *source)
{
	return tr_input_raw_offset(((struct decoder *)source)->in);
}

static void decoder_interrupt(struct tr_source *source)
{
	tr_input_interrupt(((struct decoder *)source)->in);
}

static void close_decoder(struct tr_source *source)
{
	struct decoder *d = (struct decoder *)source;
	d->class->destroy(d->state);
	tr_input_free(d->in);
	free(d);
}

struct tr_source *tr_decoder_new(const struct tr_decoder_class *class, void *state,
				 struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err)
{
	struct decoder *d = state ? malloc(sizeof *d) : NULL;
	if (!d) {
		if (state)
			class->destroy(state);
		tr_input_free(in);
		tr_error_memory(err);
		return NULL;
	}
	*d = (struct decoder){
		.source = {
			.read = read_decoder,
			.would_wait = decoder_would_wait,
			.close = close_decoder,
			.raw_offset = decoder_raw_offset,
			.interrupt = decoder_interrupt,
		},
		.class = class,
		.state = state,
		.in = in,
		.limits = *limits,
		.outcome = TR_OK,
	};
	return &d->source;
}

/* The part of every encoder that no library does: see codec_stream.h. */

enum { BLOCK_SIZE = 64 << 10 };

struct encoder {
	struct tr_sink sink; /* first: this is what the caller holds */
	const struct tr_encoder_class *class;
	void *state;
	struct tr_sink *inner;
	char block[BLOCK_SIZE];
};

static bool run(struct encoder *e, const char *data, size_t len, enum tr_encode what,
		struct tr_error *err)
{
	enum tr_status status;
	do {
		struct tr_room room = { e->block, e->block + sizeof e->block };
		status = e->class->step(e->state, &data, &len, what, &room, err);
		size_t made = (size_t)(room.pos - e->block);
		if (status == TR_FATAL || (made && !e->inner->write(e->inner, e->block, made, err)))
			return false;
	} while (status == TR_OK);
	return true;
}

static bool write_encoder(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err)
{
	return len == 0 || run((struct encoder *)sink, data, len, TR_ENCODE_MORE, err);
}

static bool flush_encoder(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return run(e, NULL, 0, TR_ENCODE_FLUSH, err) && e->inner->flush(e->inner, err);
}

static bool finish_encoder(struct tr_sink *sink, struct tr_error *err)
{
	struct encoder *e = (struct encoder *)sink;
	return run(e, NULL, 0, TR_ENCODE_FINISH, err) && e->inner->finish(e->inner, err);
}

static void close_encoder(struct tr_sink *sink)
{
	struct encoder *e = (struct encoder *)sink;
	e->class->destroy(e->state);
	e->inner->close(e->inner);
	free(e);
}

struct tr_sink *tr_encoder_new(const struct tr_encoder_class *class, void *state,
			       struct tr_sink *inner, struct tr_error *err)
{
	struct encoder *e = state ? malloc(sizeof *e) : NULL;
	if (!e) {
		if (state)
			class->destroy(state);
		inner->close(inner);
		tr_error_memory(err);
		return NULL;
	}
	e->sink = (struct tr_sink){
		.write = write_encoder,
		.flush = flush_encoder,
		.finish = finish_encoder,
		.close = close_encoder,
	};
	e->class = class;
	e->state = state;
	e->inner = inner;
	return &e->sink;
}

enum { MAX_LAYERS = 4 };

const struct tr_codec *const tr_codecs[] = {
	&tr_codec_gzip, &tr_codec_xz,	  &tr_codec_zstd,   &tr_codec_bzip2,
	&tr_codec_lz4,	&tr_codec_brotli, &tr_codec_snappy, NULL,
};

const struct tr_codec *tr_codec_by_name(struct tr_text name)
{
	for (size_t i = 0; tr_codecs[i]; i++)
		if (tr_text_is(name, tr_codecs[i]->name))
			return tr_codecs[i];
	return NULL;
}

const struct tr_codec *tr_codec_by_extension(struct tr_text path)
{
	/* a compressed tar in one word */
	static const struct {
		const char *extension;
		const struct tr_codec *codec;
	} short_names[] = {
		{ ".tgz", &tr_codec_gzip },  { ".txz", &tr_codec_xz },
		{ ".tzst", &tr_codec_zstd }, { ".tbz2", &tr_codec_bzip2 },
		{ ".tbz", &tr_codec_bzip2 }, { ".tlz4", &tr_codec_lz4 },
	};
	for (size_t i = 0; tr_codecs[i]; i++)
		if (tr_codecs[i]->extension && tr_path_ends(path, tr_codecs[i]->extension))
			return tr_codecs[i];
	for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
		if (tr_path_ends(path, short_names[i].extension))
			return short_names[i].codec;
	return NULL;
}

/* The best bid; *unsure when a better one may come with more bytes. */
static const struct tr_codec *best_bid(const struct tr_input *in, bool *unsure)
{
	const struct tr_codec *best = NULL;
	int most = 0;
	*unsure = false;
	for (size_t i = 0; tr_codecs[i]; i++) {
		if (!tr_codecs[i]->bid)
			continue;
		int bits = tr_codecs[i]->bid(in->pos, tr_input_available(in));
		if (bits == TR_CODEC_MORE)
			*unsure = true;
		if (bits > most) {
			most = bits;
			best = tr_codecs[i];
		}
	}
	return best;
}

/* A stream of nothing is all that there is. */
static const struct tr_codec *empty_stream(const struct tr_input *in)
{
	struct tr_text all = { in->pos, tr_input_available(in) };
	if (!in->at_end || in->damaged)
		return NULL;
	for (size_t i = 0; tr_codecs[i]; i++)
		if (tr_codecs[i]->empty && tr_text_is(all, tr_codecs[i]->empty))
			return tr_codecs[i];
	return NULL;
}

const struct tr_codec *tr_codec_detect(struct tr_input *in)
{
	const struct tr_codec *best = NULL;
	bool unsure = true;
	for (size_t want = 1; unsure && tr_input_more(in, want); want = tr_input_available(in) + 1)
		best = best_bid(in, &unsure);
	return best ? best : empty_stream(in);
}

static bool idle_cpu(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1;
}

/* Takes one layer off. */
static struct tr_input *open_layer(struct tr_input *in, const struct tr_codec *codec,
				   const struct tr_limits *limits, bool threads,
				   struct tr_error *err)
{
	const struct tr_codec *outermost = in->codec ? in->codec : codec;
	bool ahead = in->ahead || threads;
	struct tr_source *source = codec->decoder(in, limits, err);
	if (!source)
		return NULL;
	if (threads)
		source = tr_source_ahead(source);
	in = source ? tr_input_new(source, limits, 0) : NULL;
	if (!in) {
		tr_error_memory(err);
		return NULL;
	}
	in->codec = outermost;
	in->ahead = ahead;
	return in;
}

struct tr_input *tr_codec_open_as(struct tr_input *in, const struct tr_codec *codec,
				  const struct tr_limits *limits, bool threads,
				  struct tr_error *err)
{
	/* one thread, for the layer next to the file: more would only wait for each other */
	threads = threads && idle_cpu();
	for (unsigned layers = 0; codec; layers++) {
		if (layers == MAX_LAYERS) {
			tr_error_set(err, TR_CAUSE_LIMIT, "compressed more than %d times",
				     MAX_LAYERS);
			tr_input_free(in);
			return NULL;
		}
		in = open_layer(in, codec, limits, threads && layers == 0, err);
		if (!in)
			return NULL;
		codec = tr_codec_detect(in);
	}
	return in;
}

struct tr_input *tr_codec_open(struct tr_input *in, const struct tr_limits *limits, bool threads,
			       struct tr_error *err)
{
	return tr_codec_open_as(in, tr_codec_detect(in), limits, threads, err);
}
