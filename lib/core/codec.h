/* SPDX-License-Identifier: MIT */
/*
 * Compression, found by content. One const struct per codec in one const
 * array (codec.c); each third-party library is known to one codec file only.
 *
 * Decoders give everything that can be decoded before a cut or a corrupt
 * place, then the error with its offset in the compressed bytes. They take
 * concatenated members and frames. Facts on sizes and magic numbers: the
 * libraries' manuals; RFC 1952 (gzip), RFC 8878 (zstd), RFC 7932 (brotli);
 * for "at" snappy: apitrace's container, chunks u32le + raw snappy block.
 */
#ifndef TR_CORE_CODEC_H
#define TR_CORE_CODEC_H

#include "core/input.h"
#include "core/source.h"
#include "core/text.h"

enum { TR_CODEC_MORE = -1 };

struct tr_codec {
	const char *name;      /* gzip, zstd, … as in --codec */
	const char *extension; /* ".gz"; NULL where no file name says it */
	int level_min, level_max, level_default;
	bool general; /* has tools and a magic of its own (gzip, not snappy or brotli) */
	/*
	 * Bits of evidence in the first bytes of a stream; only looks. 0: no.
	 * TR_CODEC_MORE: so far it may be, with more bytes it can tell. NULL where
	 * there is no magic.
	 */
	int (*bid)(const char *data, size_t len);
	/* A whole stream of nothing, where it is too short for the bid; NULL: none is. */
	const char *empty;
	/* Decodes inner, which it owns. NULL: err is filled (inner is freed). */
	struct tr_source *(*decoder)(struct tr_input *inner, const struct tr_limits *limits,
				     struct tr_error *err);
	/* Encodes to inner, which it owns. NULL: err is filled (inner is closed). */
	struct tr_sink *(*encoder)(struct tr_sink *inner, int level, unsigned threads,
				   struct tr_error *err);
	const char *library;			/* for --version */
	void (*version)(char *to, size_t size); /* of the library; NULL where it does not say */
};

/* NULL-terminated; "none" is not in it. */
extern const struct tr_codec *const tr_codecs[];

/* By themselves, for formats that know some of them as their containers. */
extern const struct tr_codec tr_codec_gzip;
extern const struct tr_codec tr_codec_brotli;
extern const struct tr_codec tr_codec_snappy;
/*
 * Not in tr_codecs, for it reads what zstd reads, and zstd reads it: written in
 * frames of 2 MiB, and behind them a table that says where each is.
 */
extern const struct tr_codec tr_codec_zstd_seekable;

/* A name is more than its extension: ".gz" does not end in one. */
static inline bool tr_path_ends(struct tr_text path, const char *extension)
{
	struct tr_text end = tr_text_from(extension);
	return path.len > end.len && memcmp(path.data + path.len - end.len, end.data, end.len) == 0;
}

const struct tr_codec *tr_codec_by_name(struct tr_text name);

/* By the end of a file name (".zst"); NULL when none. */
const struct tr_codec *tr_codec_by_extension(struct tr_text path);

/*
 * The codec whose magic stands at the start of the window (fills it as far as
 * needed, and no further: slow text need not wait), or NULL. Never guesses
 * brotli, which has no magic: see tr_codec_brotli_peek.
 */
const struct tr_codec *tr_codec_detect(struct tr_input *in);

/*
 * What the window decodes to if it is brotli, which has no magic: up to cap bytes, 0 if it is not.
 * Sets *certain where it is brotli, even if it is damaged and nothing comes out: so many bytes of
 * prefix codes are valid that it cannot be chance. Only looks, at as much as that takes.
 */
size_t tr_codec_brotli_peek(struct tr_input *in, char *buf, size_t cap, bool *certain);

/*
 * Takes compression off, as many layers as there are (at most 4): returns the
 * window of the innermost one, which owns all below. `threads`: decode on a
 * thread of its own. NULL: err is filled, in is freed. Sets codec.
 */
struct tr_input *tr_codec_open(struct tr_input *in, const struct tr_limits *limits, bool threads,
			       struct tr_error *err);

/* Forces one codec; otherwise as tr_codec_open. */
struct tr_input *tr_codec_open_as(struct tr_input *in, const struct tr_codec *codec,
				  const struct tr_limits *limits, bool threads,
				  struct tr_error *err);

#endif
