/* SPDX-License-Identifier: MIT */
/*
 * Encoders that cut the data into blocks which know nothing of each other: so
 * that several can be compressed at the same time, and because some containers
 * want it so. The blocks, and so the bytes that come out, are the same for any
 * number of threads.
 */
#ifndef TR_CORE_CODEC_BLOCKS_H
#define TR_CORE_CODEC_BLOCKS_H

#include "core/buffer.h"
#include "core/codec.h"

struct tr_block {
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
	bool (*pack)(void *worker, const struct tr_block *block, struct tr_buffer *to);
	/* Appends what stands behind the last block. NULL: nothing. */
	void (*index)(const struct tr_block_sizes *list, size_t count, struct tr_buffer *to);
};

/* Owns inner. NULL: memory is out (inner is closed). threads: 0 and 1 are this one alone. */
struct tr_sink *tr_blocks_new(const struct tr_block_class *class, struct tr_sink *inner, int level,
			      unsigned threads, struct tr_error *err);

#endif
