/* LLVM's raw profiles: counters that mean nothing without the program they came from. */
#include <inttypes.h>
#include <string.h>

#include "format/format.h"

enum { MAGIC = 8, HEAD = 16 };

/* "lprofr" or "lprofR" (32 bits) between 0xff and 0x81, as a number of the target's byte order. */
static bool is_magic(const char *p, unsigned *bits, bool *big)
{
	static const char magics[4][MAGIC + 1] = {
		"\x81rforpl\xff", "\x81Rforpl\xff", "\xfflprofr\x81", "\xfflprofR\x81"
	};
	for (unsigned i = 0; i < 4; i++) {
		if (memcmp(p, magics[i], MAGIC) != 0)
			continue;
		*bits = i % 2 ? 32 : 64;
		*big = i >= 2;
		return true;
	}
	return false;
}

static int bid(struct tr_input *in)
{
	unsigned bits;
	bool big;
	return tr_input_more(in, MAGIC) && is_magic(in->pos, &bits, &big) ? 8 * MAGIC : 0;
}

static struct tr_reader *open_it(const struct tr_read_config *config, struct tr_input *in,
				 struct tr_error *err)
{
	enum { VERSION_MASK = 0xffffff }; /* flags stand in the byte above */
	unsigned bits = 0;
	bool big = false;
	uint64_t version = 0;
	(void)config;
	if (!tr_input_more(in, HEAD) || !is_magic(in->pos, &bits, &big)) {
		tr_error_set(err, TR_CAUSE_INPUT, "LLVM raw profile, cut in its head");
		return NULL;
	}
	for (unsigned i = 0; i < 8; i++)
		version = version << 8 |
			  (unsigned char)in->pos[MAGIC + (big ? i : 7 - i)];
	tr_error_set(err, TR_CAUSE_INPUT,
		     "LLVM raw profile, version %" PRIu64 ", %u bits, %s endian: recognised, not "
		     "read (see llvm-profdata)",
		     version & VERSION_MASK, bits, big ? "big" : "little");
	return NULL;
}

const struct tr_format tr_format_profraw = {
	.name = "profraw",
	.summary = "LLVM raw profile: recognised, not read",
	.exact = "-",
	.bid = bid,
	.open = open_it,
};
