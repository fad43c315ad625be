/* SPDX-License-Identifier: MIT */
/*
 * Where bytes come from and where they go to: a pull and a push interface of
 * three functions each. File descriptors, decoders, encoders, archive members
 * and the read-ahead thread are all of these shapes, so they stack.
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
	 * Up to cap bytes into buf. Returns how many came: whatever is there
	 * now, never waiting to fill buf. 0 is the end. -1 is an error (err is
	 * filled); what was decodable before it has been returned by earlier
	 * calls, and after it nothing more comes.
	 */
	ssize_t (*read)(struct tr_source *source, char *buf, size_t cap, struct tr_error *err);
	/* True when read would have to wait; NULL: unknown, taken as yes. */
	bool (*would_wait)(struct tr_source *source);
	void (*close)(struct tr_source *source); /* frees source and what it owns */
	/*
	 * Bytes taken from the file itself so far (compressed ones), for
	 * progress. NULL: what read returned is what was taken.
	 */
	uint64_t (*raw_offset)(struct tr_source *source);
	/*
	 * The one function another thread may call while read runs: read ends
	 * soon (as at the end of the stream) instead of waiting for bytes that
	 * nobody wants any more, and so does every later one. Passed down the
	 * stack as far as it is closed with its top. NULL: cannot.
	 */
	void (*interrupt)(struct tr_source *source);
	/*
	 * What read would give next, and before it the last `back` bytes that it
	 * gave, where they lie: see file.h for what that means. Good until
	 * the next call of anything here. Empty: only read gives them. NULL: always.
	 */
	struct tr_text (*look)(struct tr_source *source, size_t back);
	/* Bytes that look showed and read shall not give any more: false where that cannot be. */
	bool (*pass)(struct tr_source *source, size_t n);
};

struct tr_sink {
	/* All of data or an error. */
	bool (*write)(struct tr_sink *sink, const char *data, size_t len, struct tr_error *err);
	/* Makes what was written so far readable at the other end (not: durable). */
	bool (*flush)(struct tr_sink *sink, struct tr_error *err);
	/* Ends the stream (trailers, rename). The only place of late errors. Then call close. */
	bool (*finish)(struct tr_sink *sink, struct tr_error *err);
	/* Frees. Without finish before: whatever was half written is discarded. */
	void (*close)(struct tr_sink *sink);
};

/* Reads fd with large reads; owns fd when `owned`. NULL when memory is out. */
struct tr_source *tr_source_fd(int fd, bool owned);

/* Reads borrowed bytes. NULL when memory is out. */
struct tr_source *tr_source_memory(struct tr_text bytes);

/*
 * Reads ahead of its consumer on a thread of its own, two blocks at most.
 * Owns inner (also closes it when this fails and NULL is returned).
 */
struct tr_source *tr_source_ahead(struct tr_source *inner);

#endif
