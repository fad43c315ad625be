/* SPDX-License-Identifier: MIT */
/*
 * Compression, detected by content.
 *
 *	window -> tr_codec_detect -> tr_codec_open -> window of the decoded bytes
 *	sink -> encoder of a struct tr_codec -> sink of the encoded bytes
 *
 * There is one const struct for each codec, listed in one const array (codec.c); each third-party
 * library is used by one codec file only.
 *
 * A decoder returns everything that can be decoded before a cut or corrupt place, then the error
 * with its offset in the compressed bytes. It accepts concatenated members and frames. The sizes
 * and magic numbers come from the manuals of the libraries, RFC 1952 (gzip), RFC 8878 (zstd) and
 * RFC 7932 (brotli). The codec snappy is the container of apitrace: "at", then chunks of u32le and
 * a raw snappy block.
 *
 * A decoder or encoder is used by one thread at a time.
 */
#ifndef TR_CORE_CODEC_H
#define TR_CORE_CODEC_H

#include "core/input.h"
#include "core/source.h"
#include "core/text.h"

enum { TR_CODEC_MORE = -1 };

struct tr_codec {
	const char *name;      /* gzip, zstd, … as for --codec */
	const char *extension; /* ".gz"; NULL if files have no extension of this codec */
	int level_min, level_max, level_default;
	bool general; /* has tools and a magic of its own, as gzip has, unlike snappy and brotli */
	/*
	 * Returns the bits of evidence in the first bytes of a stream, without consuming any. 0:
	 * not this codec. TR_CODEC_MORE: undecided until more bytes are there. NULL for a codec
	 * without a magic.
	 */
	int (*bid)(const char *data, size_t len);
	/* A complete stream of no data that is too short for the bid, or NULL. */
	const char *empty;
	/* Decodes inner and takes ownership of it. NULL: err is filled and inner is freed. */
	struct tr_source *(*decoder)(struct tr_input *inner, const struct tr_limits *limits,
				     struct tr_error *err);
	/* Encodes to inner and takes ownership of it. NULL: err is filled and inner is closed. */
	struct tr_sink *(*encoder)(struct tr_sink *inner, int level, unsigned threads,
				   struct tr_error *err);
	const char *library; /* for --version */
	/* Writes the version of the library; NULL if the library does not report it. */
	void (*version)(char *to, size_t size);
};

/* All codecs, NULL-terminated. "none" is not among them. */
extern const struct tr_codec *const tr_codecs[];

/* Codecs that some formats use as their containers. */
extern const struct tr_codec tr_codec_gzip;
extern const struct tr_codec tr_codec_brotli;
extern const struct tr_codec tr_codec_snappy;
/*
 * Not in tr_codecs, because it is written differently but read as zstd: frames of 2 MiB, followed
 * by a table of their positions.
 */
extern const struct tr_codec tr_codec_zstd_seekable;

/* True if path ends with extension and has a name before it; ".gz" alone does not count. */
static inline bool tr_path_ends(struct tr_text path, const char *extension)
{
	struct tr_text end = tr_text_from(extension);
	return path.len > end.len && memcmp(path.data + path.len - end.len, end.data, end.len) == 0;
}

const struct tr_codec *tr_codec_by_name(struct tr_text name);

/* Finds a codec by the end of a file name (".zst"). NULL: none. */
const struct tr_codec *tr_codec_by_extension(struct tr_text path);

/*
 * Returns the codec whose magic is at the start of the window, or NULL. Fills the window only as
 * far as needed, so that slow text is not held back. Brotli has no magic and is never returned: see
 * tr_codec_brotli_peek.
 */
const struct tr_codec *tr_codec_detect(struct tr_input *in);

/*
 * Decodes the start of the window as brotli, which has no magic, without consuming it. Returns the
 * number of bytes written to buf, at most cap, or 0 if the window is not brotli. Sets *certain if
 * so many bytes of prefix codes are valid that this cannot be chance; then the window is brotli
 * even if it is damaged and no bytes come out.
 */
size_t tr_codec_brotli_peek(struct tr_input *in, char *buf, size_t cap, bool *certain);

/*
 * Removes all layers of compression, at most 4. Takes ownership of in and returns the window of the
 * innermost layer, which owns the others. `threads`: the outermost layer is decoded on a thread of
 * its own. Sets `codec` of the result. NULL: err is filled and in is freed.
 */
struct tr_input *tr_codec_open(struct tr_input *in, const struct tr_limits *limits, bool threads,
			       struct tr_error *err);

/* Like tr_codec_open, with a given codec for the outermost layer. */
struct tr_input *tr_codec_open_as(struct tr_input *in, const struct tr_codec *codec,
				  const struct tr_limits *limits, bool threads,
				  struct tr_error *err);

#endif
