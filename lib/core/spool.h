/* SPDX-License-Identifier: MIT */
/*
 * Bytes put aside: in memory as long as they are few (1 MiB), then in an
 * unlinked file in TMPDIR. For what needs a seek or has to know its size first.
 * Many small writes are as good as few large ones.
 */
#ifndef TR_CORE_SPOOL_H
#define TR_CORE_SPOOL_H

#include "core/buffer.h"
#include "core/error.h"

struct tr_spool;

/* max: bytes it may take (limits.max_spool). NULL: memory is out. */
struct tr_spool *tr_spool_new(uint64_t max);

/* Appends. False: err is filled, and nothing more can be written. */
bool tr_spool_write(struct tr_spool *spool, const char *data, size_t len, struct tr_error *err);

uint64_t tr_spool_size(const struct tr_spool *spool);

/*
 * Up to *len bytes from offset on: *data is set to them, into buf where they
 * have to be read first; they are good until the next write. *len is 0 at the
 * end and only there. False: err is filled.
 */
bool tr_spool_read(struct tr_spool *spool, uint64_t offset, char *buf, const char **data,
		   size_t *len, struct tr_error *err);

/* Appends the n bytes from offset on, which have to be there. False: err is filled. */
bool tr_spool_append(struct tr_spool *spool, uint64_t offset, size_t n, struct tr_buffer *to,
		     struct tr_error *err);

/*
 * For who goes through a spool from front to back, and looks at things of any
 * size. Zero it, also to begin with another spool (free bytes).
 */
struct tr_spool_window {
	struct tr_buffer bytes; /* that were read last */
	uint64_t at;		/* their offset */
};

/*
 * The n bytes from offset on, which have to be there, until the next call; readers
 * may look TR_INPUT_PAD bytes behind them. NULL: err is filled.
 */
const char *tr_spool_look(struct tr_spool *spool, struct tr_spool_window *window, uint64_t offset,
			  size_t n, struct tr_error *err);

void tr_spool_free(struct tr_spool *spool);

#endif
