#include "config.h"

#include "core/codec.h"

#include <sched.h>

#include "core/codec_stream.h"

enum { MAX_LAYERS = 4 };

const struct tr_codec *const tr_codecs[] = {
	&tr_codec_gzip,
	&tr_codec_xz,
	&tr_codec_zstd,
	&tr_codec_bzip2,
	&tr_codec_lz4,
	&tr_codec_brotli,
	&tr_codec_snappy,
	NULL,
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
		{ ".tgz", &tr_codec_gzip },
		{ ".txz", &tr_codec_xz },
		{ ".tzst", &tr_codec_zstd },
		{ ".tbz2", &tr_codec_bzip2 },
		{ ".tbz", &tr_codec_bzip2 },
		{ ".tlz4", &tr_codec_lz4 },
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
