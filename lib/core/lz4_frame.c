#include "core/lz4_frame.h"

#include "core/codec_stream.h"

enum {
	MAGIC = 0x184d2204,
	MAGIC_LEGACY = 0x184c2102,
	MAGIC_SKIPPABLE = 0x184d2a50,
	SKIPPABLES = 16, /* the lowest four bits are free */

	FLAGS_AT = 4,
	BLOCK_SIZE_AT = 5,
	INDEPENDENT = 0x20,
	BLOCK_SUMS = 0x10,
	CONTENT_SIZE = 0x08,
	CONTENT_SUM = 0x04,
	DICTIONARY = 0x01,
	LEAST_BLOCK_SIZE = 4, /* a code: 64 KiB; each further one is four times more */
};

enum tr_lz4_kind tr_lz4_kind(uint32_t magic)
{
	if (magic == MAGIC)
		return TR_LZ4_FRAME;
	if (magic == MAGIC_LEGACY)
		return TR_LZ4_LEGACY;
	return magic - MAGIC_SKIPPABLE < SKIPPABLES ? TR_LZ4_SKIPPABLE : TR_LZ4_NONE;
}

int tr_lz4_bid(const char *data, size_t len)
{
	struct tr_text start = { data, len };
	int bits = tr_codec_magic(start, TR_TEXT("\x04\x22\x4d\x18"));
	return bits ? bits : tr_codec_magic(start, TR_TEXT("\x02\x21\x4c\x18"));
}

/* A skippable frame may come; at the very start it is taken for zstd's. */
int tr_lz4_bid_next(const char *data, size_t len)
{
	if ((unsigned char)*data / SKIPPABLES != (MAGIC_SKIPPABLE & 0xff) / SKIPPABLES)
		return tr_lz4_bid(data, len);
	return tr_codec_magic((struct tr_text){ data + 1, len - 1 }, TR_TEXT("\x2a\x4d\x18"));
}

bool tr_lz4_frame(const char *data, struct tr_lz4_frame *frame)
{
	unsigned flags = (unsigned char)data[FLAGS_AT];
	unsigned size = (unsigned char)data[BLOCK_SIZE_AT] >> 4 & 7;
	*frame = (struct tr_lz4_frame){
		.header = TR_LZ4_HEADER_MIN + (flags & CONTENT_SIZE ? 2 * TR_LZ4_WORD : 0),
		.block_max = (size_t)1 << (8 + 2 * size),
		.linked = !(flags & INDEPENDENT),
		.block_sums = flags & BLOCK_SUMS,
		.content_sum = flags & CONTENT_SUM,
		.dictionary = flags & DICTIONARY,
	};
	return size >= LEAST_BLOCK_SIZE;
}
