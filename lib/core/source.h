/* SPDX-License-Identifier: MIT */
/*
 * Sources and sinks: interfaces to pull and to push bytes. File descriptors, decoders, encoders,
 * archive members and the read-ahead thread all have these interfaces, so they can be stacked.
 *
 *	file -> tr_source (decoder, member, read-ahead ...) -> tr_input
 *	tr_output -> tr_sink (encoder, member ...) -> file
 *
 * A source or sink is used by one thread at a time, except for interrupt.
 */
#ifndef TR_CORE_SOURCE_H
#define TR_CORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/error.h"
#include "core/text.h"

struct tr_source {
	/*
	 * Reads up to cap bytes into buf and returns their number: the bytes that are there now,
	 * without waiting to fill buf. 0 is the end. -1 is an error (err is filled): the bytes that
	 * could be decoded before it were returned by earlier calls, and no more follow.
	 */
	ssize_t (*read)(struct tr_source *source, char *buf, size_t cap, struct tr_error *err);
	/* Returns whether read would have to wait. NULL: unknown, which counts as true. */
	bool (*would_wait)(struct tr_source *source);
	void (*close)(struct tr_source *source); /* frees the source and all that it owns */
	/*
	 * Bytes taken from the file so far (compressed ones), for progress. NULL: the bytes that
	 * read returned.
	 */
	uint64_t (*raw_offset)(struct tr_source *source);
	/*
	 * The only function that another thread may call while read runs. That read, and every
	 * later one, then soon ends as at the end of the stream instead of waiting for bytes that
	 * are no longer needed. Passed down the stack as far as it is closed together with its top.
	 * NULL: not possible.
	 */
	void (*interrupt)(struct tr_source *source);
	/*
	 * Returns, without a copy, the bytes that read would return next, preceded by the last
	 * `back` bytes that it returned: see struct tr_file_view in file.h. Valid until the next
	 * call of any function here. Empty: read must be used. NULL: it must always be used.
	 */
	struct tr_text (*look)(struct tr_source *source, size_t back);
	/*
	 * Skips n bytes that look returned, so that read does not return them. False: not possible.
	 */
	bool (*pass)(struct tr_source *source, size_t n);
};

struct tr_sink {
	/* Writes all of data, or fails. */
	bool (*write)(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err);
	/* Makes the bytes written so far readable at the other end; does not make them durable. */
	bool (*flush)(struct tr_sink *sink, struct tr_error *err);
	/* Ends the stream (trailers, rename), and reports late errors. Call close afterwards. */
	bool (*finish)(struct tr_sink *sink, struct tr_error *err);
	/* Frees the sink. Without a finish before, incomplete output is discarded. */
	void (*close)(struct tr_sink *sink);
};

/* Reads fd in large blocks, and closes it at the end if `owned`. NULL: memory is exhausted. */
struct tr_source *tr_source_fd(int fd, bool owned);

/* Reads borrowed bytes. NULL: memory is exhausted. */
struct tr_source *tr_source_memory(struct tr_text bytes);

/*
 * Reads ahead on a thread of its own, two blocks at most. Takes ownership of inner, and also closes
 * it if this fails and NULL is returned.
 */
struct tr_source *tr_source_ahead(struct tr_source *inner);

#endif
