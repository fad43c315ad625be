/* The part of every decoder that no library does: see codec_stream.h. */
#include "core/codec_stream.h"

#include <inttypes.h>
#include <stdlib.h>

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
