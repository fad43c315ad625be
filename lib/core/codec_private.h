/* SPDX-License-Identifier: MIT */
/*
 * What all decoders and all encoders have in common. A codec file supplies a
 * step function around its library; the loop, the limits, cut input and the
 * order "first the bytes, then the error" are here.
 */
#ifndef TR_CORE_CODEC_PRIVATE_H
#define TR_CORE_CODEC_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/codec.h"
#include "core/text.h"

extern const struct tr_codec tr_codec_xz;
extern const struct tr_codec tr_codec_zstd;
extern const struct tr_codec tr_codec_bzip2;
extern const struct tr_codec tr_codec_lz4;

/* What a bid has to say of a magic number at the very start. */
static inline int tr_codec_magic(struct tr_text start, struct tr_text magic)
{
	if (start.len < magic.len)
		return tr_text_starts(magic, start) ? TR_CODEC_MORE : 0;
	return tr_text_starts(start, magic) ? (int)(8 * magic.len) : 0;
}

/* Where a step writes to, and how far it got. */
struct tr_room {
	char *pos, *end;
};

static inline size_t tr_room_left(const struct tr_room *room)
{
	return (size_t)(room->end - room->pos);
}

struct tr_decoder_class {
	const char *name; /* for messages: the codec's */
	/*
	 * Decodes from in's window (skipping what it used) into room. The window
	 * is empty only at the end of the input.
	 * TR_OK: call again; when it neither skipped nor wrote, with a longer
	 * window, and where there is none the stream is cut. TR_END: the stream
	 * is whole and nothing follows. TR_FATAL: err is filled; what was put
	 * into room still counts.
	 */
	enum tr_status (*step)(void *state, struct tr_input *in, struct tr_room *room,
			       struct tr_error *err);
	void (*destroy)(void *state);
};

/*
 * Owns in and state. state NULL: the codec's set-up found memory out. NULL:
 * err is filled, both are freed.
 */
struct tr_source *tr_decoder_new(const struct tr_decoder_class *class, void *state,
				 struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err);

/* "NAME: WHAT (at byte N of the compressed data)": every decoder's complaint. */
void tr_decoder_error(struct tr_error *err, const struct tr_input *in, const char *name,
		      const char *what);

/*
 * What stands behind a whole member, as gzip's manual has it. TR_OK: another
 * one, by its bid (or what may be the start of one); TR_END: nothing, or zeros
 * to the end, which tapes pad with; TR_FATAL: garbage, err is filled.
 */
enum tr_status tr_decoder_behind(struct tr_input *in, const char *name,
				 int (*bid)(const char *data, size_t len), struct tr_error *err);

/*
 * The --max-ratio limit. `made` bytes came out of `taken`: true when that is
 * beyond the limit. The first 64 MiB may be as small as they like.
 */
bool tr_ratio_exceeded(const struct tr_limits *limits, uint64_t made, uint64_t taken);

enum tr_encode { TR_ENCODE_MORE, TR_ENCODE_FLUSH, TR_ENCODE_FINISH };

struct tr_encoder_class {
	/*
	 * Takes from [*data, *data + *len) and writes into room. TR_END: what was
	 * asked for is done (for MORE: the data is taken). TR_OK: call again with
	 * fresh room. TR_FATAL: err is filled.
	 */
	enum tr_status (*step)(void *state, const char **data, size_t *len, enum tr_encode what,
			       struct tr_room *room, struct tr_error *err);
	void (*destroy)(void *state);
};

/* Owns inner and state; otherwise as tr_decoder_new. */
struct tr_sink *tr_encoder_new(const struct tr_encoder_class *class, void *state,
			       struct tr_sink *inner, struct tr_error *err);

/*
 * Raw snappy blocks, out. Ours because libsnappy decodes no cut block, and takes
 * the long repetitions that pictures are full of 64 bytes at a time.
 * Source: format_description.txt of the snappy project.
 */

/* How many bytes the block makes, by its first ones; false: they are cut, or say nothing sane. */
bool tr_snappy_size(struct tr_text packed, uint32_t *size);

/*
 * Decodes packed into plain, which has room for the size bytes that it says it
 * makes, up to the first thing that is cut or makes no sense. Returns how many
 * came; *whole: there was no such thing. Bytes of plain behind those that came,
 * but within size, may be anything.
 */
size_t tr_snappy_decode(struct tr_text packed, char *plain, size_t size, bool *whole);

/*
 * Encoders that cut the data into blocks which know nothing of each other: so
 * that several can be compressed at the same time, and because some containers
 * want it so. The blocks, and so the bytes that come out, are the same for any
 * number of threads.
 */

struct tr_codec_block {
	struct tr_text data;
	uint64_t offset; /* of data in the stream */
	bool last;
};

struct tr_block_sizes {
	uint32_t data, packed;
};

struct tr_block_class {
	size_t size; /* bytes of data to a block; only flushed ones and the last have less */
	struct tr_text magic; /* in front of all */
	bool has_last; /* the last block ends the stream: there has to be one, if an empty one */
	bool has_any;  /* so does a stream of nothing have a block */
	/* What a thread needs to compress (NULL: nothing), or NULL: memory is out. */
	void *(*begin)(int level);
	void (*end)(void *worker);
	/* Appends the packed block. On several threads at once, each with its own worker. */
	bool (*pack)(void *worker, const struct tr_codec_block *block, struct tr_buffer *to);
	/* Appends what stands behind the last block. NULL: nothing. */
	void (*index)(const struct tr_block_sizes *list, size_t count, struct tr_buffer *to);
};

/* Owns inner. NULL: memory is out (inner is closed). threads: 0 and 1 are this one alone. */
struct tr_sink *tr_blocks_new(const struct tr_block_class *class, struct tr_sink *inner, int level,
			      unsigned threads, struct tr_error *err);

#endif
