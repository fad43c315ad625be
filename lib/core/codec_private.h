/* SPDX-License-Identifier: MIT */
/*
 * Shared by all decoders and encoders. The file of a codec supplies a step function around its
 * library; the loop, the limits, the handling of cut input and the order "first the bytes, then the
 * error" are in codec.c.
 *
 *	window -> step of tr_decoder_class -> tr_source
 *	sink <- step of tr_encoder_class <- bytes
 *	sink <- pack of tr_block_class on several threads <- bytes
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

/* Returns the bid for a magic number at the start. */
static inline int tr_codec_magic(struct tr_text start, struct tr_text magic)
{
	if (start.len < magic.len)
		return tr_text_starts(magic, start) ? TR_CODEC_MORE : 0;
	return tr_text_starts(start, magic) ? (int)(8 * magic.len) : 0;
}

/* The memory that a step writes to; the step advances pos. */
struct tr_room {
	char *pos, *end;
};

static inline size_t tr_room_left(const struct tr_room *room)
{
	return (size_t)(room->end - room->pos);
}

struct tr_decoder_class {
	const char *name; /* name of the codec, for messages */
	/*
	 * Decodes from the window of in, which it skips as far as it used it, into room. The window
	 * is empty only at the end of the input. TR_OK: call again; if the step neither skipped nor
	 * wrote, with a longer window, and if there is none the stream is cut. TR_END: the stream
	 * is complete and nothing follows. TR_FATAL: err is filled; the bytes already in room are
	 * valid.
	 */
	enum tr_status (*step)(void *state, struct tr_input *in, struct tr_room *room,
			       struct tr_error *err);
	void (*destroy)(void *state);
};

/*
 * Takes ownership of in and state. state NULL: memory was exhausted when the codec was set up.
 * NULL: err is filled, in and state are freed.
 */
struct tr_source *tr_decoder_new(const struct tr_decoder_class *class, void *state,
				 struct tr_input *in, const struct tr_limits *limits,
				 struct tr_error *err);

/* Fills err with the message of every decoder, "NAME: WHAT (at byte N of the compressed data)". */
void tr_decoder_error(struct tr_error *err, const struct tr_input *in, const char *name,
		      const char *what);

/*
 * Examines the bytes after a complete member, as the manual of gzip describes. TR_OK: another
 * member, by its bid, or a possible start of one; TR_END: the end, or zeros up to the end, which
 * pad tapes; TR_FATAL: other data, err is filled.
 */
enum tr_status tr_decoder_behind(struct tr_input *in, const char *name,
				 int (*bid)(const char *data, size_t len), struct tr_error *err);

/*
 * Checks the limit of --max-ratio. True if `made` bytes are too many for `taken` bytes of input.
 * The first 64 MiB are always allowed.
 */
bool tr_ratio_exceeded(const struct tr_limits *limits, uint64_t made, uint64_t taken);

enum tr_encode { TR_ENCODE_MORE, TR_ENCODE_FLUSH, TR_ENCODE_FINISH };

struct tr_encoder_class {
	/*
	 * Consumes bytes from [*data, *data + *len) and writes into room. TR_END: the request is
	 * done (for MORE: the data are consumed). TR_OK: call again with fresh room. TR_FATAL: err
	 * is filled.
	 */
	enum tr_status (*step)(void *state, const char **data, size_t *len, enum tr_encode what,
			       struct tr_room *room, struct tr_error *err);
	void (*destroy)(void *state);
};

/* Takes ownership of inner and state; otherwise like tr_decoder_new. */
struct tr_sink *tr_encoder_new(const struct tr_encoder_class *class, void *state,
			       struct tr_sink *inner, struct tr_error *err);

/*
 * Decodes raw snappy blocks. This is our own code because libsnappy decodes no cut block, and
 * copies the long repetitions of pictures 64 bytes at a time. Source: format_description.txt of the
 * snappy project.
 */

/* Reads the size of the decoded block from its first bytes. False: they are cut, or invalid. */
bool tr_snappy_size(struct tr_text packed, uint32_t *size);

/*
 * Decodes packed into plain, which has room for size bytes, up to the first cut or invalid element.
 * Returns the number of decoded bytes; *whole: the block is complete and valid. The bytes of plain
 * after the decoded ones are undefined up to size.
 */
size_t tr_snappy_decode(struct tr_text packed, char *plain, size_t size, bool *whole);

/*
 * Encoders that divide the data into independent blocks: several blocks can be compressed at the
 * same time, and some containers require blocks. The blocks, and so the output, are the same for
 * any number of threads.
 */

struct tr_codec_block {
	struct tr_text data;
	uint64_t offset; /* offset of data in the stream */
	bool last;
};

struct tr_block_sizes {
	uint32_t data, packed;
};

struct tr_block_class {
	size_t size; /* bytes of data in a block; only flushed blocks and the last one have less */
	struct tr_text magic; /* bytes before all blocks */
	bool has_last;	      /*
			       * the last block ends the stream, so there must be one, even if it is empty
			       */
	bool has_any;	      /* a stream without data has a block too */
	bool only_full;	      /* a flush ends no block: short ones can have another meaning */
	/*
	 * Creates the state that a thread needs to compress (NULL: none is needed). NULL: memory is
	 * exhausted.
	 */
	void *(*begin)(int level);
	void (*end)(void *worker);
	/* Appends the packed block. Called on several threads at once, each with its own worker. */
	bool (*pack)(void *worker, const struct tr_codec_block *block, struct tr_buffer *to);
	/* Appends the data after the last block. NULL: there are none. */
	void (*index)(const struct tr_block_sizes *list, size_t count, struct tr_buffer *to);
};

/*
 * Takes ownership of inner. NULL: memory is exhausted and inner is closed. threads: 0 and 1 mean
 * that the caller's thread compresses.
 */
struct tr_sink *tr_blocks_new(const struct tr_block_class *class, struct tr_sink *inner, int level,
			      unsigned threads, struct tr_error *err);

#endif
