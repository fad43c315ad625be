/* SPDX-License-Identifier: MIT */
/*
 * A spool: bytes that are stored in memory up to 1 MiB, and then in an unlinked file in TMPDIR, for
 * data that need a seek or whose size must be known first.
 *
 *	tr_spool_write -> tr_spool_read, tr_spool_append, tr_spool_look
 *
 * Many small writes are as fast as few large ones. Not thread safe.
 */
#ifndef TR_CORE_SPOOL_H
#define TR_CORE_SPOOL_H

#include "core/buffer.h"
#include "core/error.h"

struct tr_spool;

/* Creates a spool of at most max bytes (limits.max_spool). NULL: memory is exhausted. */
struct tr_spool *tr_spool_new(uint64_t max);

/* Appends data. False: err is filled, and nothing more can be written. */
bool tr_spool_write(struct tr_spool *spool, const char *data, size_t len, struct tr_error *err);

uint64_t tr_spool_size(const struct tr_spool *spool);

/*
 * Reads up to *len bytes from offset on and sets *data to them; they are copied to buf if they are
 * in the file. Valid until the next write. *len is 0 at the end and only there. False: err is
 * filled.
 */
bool tr_spool_read(struct tr_spool *spool, uint64_t offset, char *buf, const char **data,
		   size_t *len, struct tr_error *err);

/* Appends the n bytes from offset on, which must exist, to a buffer. False: err is filled. */
bool tr_spool_append(struct tr_spool *spool, uint64_t offset, size_t n, struct tr_buffer *to,
		     struct tr_error *err);

/*
 * A window for callers that read a spool from front to back in pieces of any size. Initialise it
 * with zeros before it is used with a spool; the caller frees `bytes`.
 */
struct tr_spool_window {
	struct tr_buffer bytes; /* the bytes that were read last */
	uint64_t at;		/* their offset */
	size_t ahead;		/* how many were read at once: more while pieces are in order */
};

/*
 * Returns the n bytes from offset on, which must exist, valid until the next call; TR_INPUT_PAD
 * bytes after them are readable. NULL: err is filled.
 */
const char *tr_spool_look(struct tr_spool *spool, struct tr_spool_window *window, uint64_t offset,
			  size_t n, struct tr_error *err);

void tr_spool_free(struct tr_spool *spool);

#endif
