/*
 * Blocks of lz4 by our own means: liblz4 gives nothing of one that is cut or
 * corrupt, and knows the frames from before 2013 no more.
 */
#ifndef TR_CORE_LZ4_SALVAGE_H
#define TR_CORE_LZ4_SALVAGE_H

#include "core/buffer.h"

enum { TR_LZ4_HISTORY = 64 << 10 }; /* how far back a copy reaches */

struct tr_lz4_salvage {
	struct tr_buffer made;
	size_t given;	/* bytes of made */
	char *history;	/* a ring of what was given before; NULL until one is needed */
	size_t len, at; /* of the history; where the next byte goes */
	bool linked;	/* the history is kept */
};

/* Blocks of the stream that begins now copy from those before, or do not. False: no memory. */
bool tr_lz4_salvage_begin(struct tr_lz4_salvage *s, bool linked);

/* What liblz4 gave. */
void tr_lz4_salvage_remember(struct tr_lz4_salvage *s, const char *data, size_t len);

/*
 * Decodes packed, up to `size` bytes and to the first thing that is cut or
 * makes no sense. *whole: there is no such thing. False: memory is out.
 */
bool tr_lz4_salvage_block(struct tr_lz4_salvage *s, struct tr_text packed, size_t size,
			  bool *whole);

/* The same for a block that is not compressed. */
bool tr_lz4_salvage_stored(struct tr_lz4_salvage *s, struct tr_text stored);

/* Up to cap bytes of what was decoded; 0 when all is given. */
size_t tr_lz4_salvage_give(struct tr_lz4_salvage *s, char *to, size_t cap);

void tr_lz4_salvage_free(struct tr_lz4_salvage *s);

#endif
