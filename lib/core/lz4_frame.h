/* How lz4 streams are laid out, as far as one must know to cut them into blocks. */
#ifndef TR_CORE_LZ4_FRAME_H
#define TR_CORE_LZ4_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TR_LZ4_WORD = 4, /* magic numbers, sizes and checksums, the lowest byte first */
	TR_LZ4_HEADER_MIN = 7,
	/* of a frame from before 2013: only blocks, each of so much but the last */
	TR_LZ4_LEGACY_BLOCK = 8 << 20,
	TR_LZ4_LEGACY_PACKED = TR_LZ4_LEGACY_BLOCK + TR_LZ4_LEGACY_BLOCK / 255 + 16,
};

enum tr_lz4_kind { TR_LZ4_FRAME, TR_LZ4_LEGACY, TR_LZ4_SKIPPABLE, TR_LZ4_NONE };

/* Of a frame's magic number. */
enum tr_lz4_kind tr_lz4_kind(uint32_t magic);

/* Bids, as a codec's: for the first frame, and for what follows one. */
int tr_lz4_bid(const char *data, size_t len);
int tr_lz4_bid_next(const char *data, size_t len);

/* What a frame's header says. */
struct tr_lz4_frame {
	size_t header;	  /* bytes */
	size_t block_max; /* of a decoded block */
	bool linked;	  /* blocks copy from those before */
	bool block_sums;  /* each block has a checksum behind it */
	bool content_sum; /* the end has one */
	bool dictionary;  /* it cannot be decoded without one */
};

/* From TR_LZ4_HEADER_MIN bytes; liblz4 checks the rest. False: no such frame. */
bool tr_lz4_frame(const char *data, struct tr_lz4_frame *frame);

/* A block's first word. A size of 0 that is not stored is the end of the frame. */
struct tr_lz4_block {
	size_t size;
	bool stored; /* not compressed */
};

static inline uint32_t tr_lz4_word(const char *data)
{
	const unsigned char *p = (const unsigned char *)data;
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline struct tr_lz4_block tr_lz4_block(const char *data)
{
	const uint32_t stored = (uint32_t)1 << 31;
	uint32_t word = tr_lz4_word(data);
	return (struct tr_lz4_block){ .size = word & ~stored, .stored = word & stored };
}

#endif
