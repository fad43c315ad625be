/* SPDX-License-Identifier: MIT */
/* Compares our snappy decoder with libsnappy: any bytes as a block, and as the data of one. */

#include <snappy-c.h>
#include <stdlib.h>

#include "core/library.h"
#include "core/codec_private.h"
#include "fuzz.h"

enum { MOST = 16 << 20 };

struct libsnappy {
	__typeof__(snappy_compress) *compress;
	__typeof__(snappy_uncompress) *uncompress;
	__typeof__(snappy_max_compressed_length) *max_compressed_length;
};

/* A copy without spare bytes, so that a sanitizer reports every access beyond it. */
static char *room(size_t size)
{
	char *bytes = malloc(size ? size : 1);
	if (!bytes)
		abort();
	return bytes;
}

/* Our decoder accepts a block if libsnappy does. */
static void decode_both(const struct libsnappy *lib, struct tr_text packed)
{
	uint32_t size;
	bool whole = false;
	if (!tr_snappy_size(packed, &size) || size > MOST)
		return;
	char *ours = room(size), *theirs = room(size);
	size_t made = tr_snappy_decode(packed, ours, size, &whole), their_size = size;
	bool valid = lib->uncompress(packed.data, packed.len, theirs, &their_size) == SNAPPY_OK;
	if (valid != whole)
		fuzz_fail("a block is valid for both decoders or for neither");
	if (made > size || (whole && made != size))
		fuzz_fail("a block has the decoded size that it states");
	if (valid && memcmp(ours, theirs, size) != 0)
		fuzz_fail("both decoders make the same bytes");
	free(ours);
	free(theirs);
}

/* Our decoder gives back the bytes that libsnappy compressed. */
static void round_trip(const struct libsnappy *lib, struct tr_text plain)
{
	size_t len = lib->max_compressed_length(plain.len);
	uint32_t size;
	bool whole = false;
	char *packed = room(len), *back = room(plain.len);
	if (lib->compress(plain.data, plain.len, packed, &len) != SNAPPY_OK)
		fuzz_fail("libsnappy compresses");
	struct tr_text block = { packed, len };
	if (!tr_snappy_size(block, &size) || size != plain.len ||
	    tr_snappy_decode(block, back, size, &whole) != size || !whole ||
	    (size && memcmp(back, plain.data, size) != 0))
		fuzz_fail("what libsnappy packs, we unpack");
	free(packed);
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct tr_library_function symbols[] = {
		TR_LIBRARY_FUNCTION(struct libsnappy, compress, snappy_compress),
		TR_LIBRARY_FUNCTION(struct libsnappy, uncompress, snappy_uncompress),
		TR_LIBRARY_FUNCTION(struct libsnappy, max_compressed_length,
				    snappy_max_compressed_length),
		{ NULL, 0 },
	};
	struct libsnappy lib;
	if (!tr_library_load(TREC_LIBSNAPPY, symbols, &lib, NULL))
		fuzz_fail("libsnappy is there");
	struct tr_text bytes = { size ? (const char *)data : "", size };
	decode_both(&lib, bytes);
	round_trip(&lib, bytes);
	return 0;
}
