/* Where the bytes go: the file, a codec over it, --verify between; and which codec. */
#include "config.h"

#include "tr_repack.h"

static struct tr_sink *made(struct repack *r, struct tr_sink *sink, const struct tr_error *err)
{
	if (!sink) {
		tr_cli_fail(&r->cli, "%s", err ? err->text : "out of memory");
		r->cli.stop = true;
	}
	return sink;
}

struct tr_sink *repack_bottom(struct repack *r, const struct tr_codec *outer, bool archive)
{
	bool binary = outer || archive || (r->format && (r->format->flags & TR_FORMAT_BINARY));

	return repack_checked(r, tr_cli_sink(&r->cli, binary), outer, archive);
}

struct tr_sink *repack_checked(struct repack *r, struct tr_sink *sink, const struct tr_codec *outer,
			       bool archive)
{
	if (sink && r->verify)
		sink = made(r, verify_file(r->verify, sink, archive ? outer : NULL, archive), NULL);
	return sink;
}

struct tr_sink *repack_encoded(struct repack *r, struct tr_sink *sink, const struct tr_codec *codec)
{
	struct tr_error err;

	r->cli.packed = codec != NULL;
	if (sink && codec) {
		int level = r->codec_given && r->level != TR_REPACK_DEFAULT_LEVEL
				    ? r->level
				    : codec->level_default;
		sink = made(r, codec->encoder(sink, level, r->threads, &err), &err);
	}
	if (sink && r->verify)
		sink = made(r, verify_tee(r->verify, sink, codec), NULL);
	return sink;
}

/* The codec as the format wants it, where its own tools read it; NULL: they do not. */
static const struct tr_codec *usual(const struct tr_format *format, const struct tr_codec *codec)
{
	if (!format->containers)
		return codec->general ? codec : NULL;
	for (size_t i = 0; format->containers[i]; i++)
		if (strcmp(format->containers[i]->name, codec->name) == 0)
			return format->containers[i];
	return NULL;
}

/*
 * The codec without -z and without a name that selects one: the input's own container if it is
 * one for the format. A trace that comes from a stream gets the container that the format's tools
 * write. A compilation database does not inherit the compression of the build log that it is made
 * of, and a file x.json is not compressed, unlike its source x.json.zst.
 */
static const struct tr_codec *codec_by_default(const struct repack *r,
					       const struct tr_format *format,
					       const struct tr_trace_place *place)
{
	bool is_trace = place->format && !(place->format->flags & TR_FORMAT_STREAM);
	const struct tr_codec *codec = place->codec;

	if (!format->containers)
		return place->format == format && !r->plain ? codec : NULL;
	if (is_trace && !codec && place->format == format)
		return NULL;
	if (is_trace && codec && usual(format, codec))
		return usual(format, codec);
	return format->containers[0];
}

bool repack_codec(struct repack *r, const struct tr_format *format,
		  const struct tr_trace_place *place, const struct tr_codec **codec)
{
	*codec = r->codec_given ? r->codec
		 : r->named	? r->named
				: codec_by_default(r, format, place);
	if (!*codec)
		return true;
	if (usual(format, *codec)) {
		*codec = usual(format, *codec);
		return true;
	}
	if (r->foreign)
		return true;
	tr_cli_fail(&r->cli, "no tool for %s reads %s: -O foreign=yes if you mean it", format->name,
		    (*codec)->name);
	return false;
}
