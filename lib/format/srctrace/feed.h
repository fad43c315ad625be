/* SPDX-License-Identifier: MIT */
/*
 * The bytes of source traces, wherever they are: the input itself, or the
 * Base64 lines between two markers of a console log. Traces come one after
 * the other; within one, it is a window like tr_input. Where the lines of
 * several traces are mixed in a log, each with a prefix of its own, what comes
 * of the others is decoded and kept until it is their turn.
 */
#ifndef TR_FORMAT_SRCTRACE_FEED_H
#define TR_FORMAT_SRCTRACE_FEED_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/input.h"

/* A trace in a log. */
struct tr_srctrace_channel {
	bool open;		 /* its end was not seen yet */
	struct tr_buffer prefix; /* what precedes the marker in each of its lines */
	struct tr_buffer bytes;	 /* decoded so far, from `at` on not used yet */
	size_t at, kept;	 /* bytes up to `kept` were decoded before it was its turn */
	uint64_t begin;		 /* the line of its first marker */
	struct tr_error trouble; /* why the trace ended early; TR_CAUSE_NONE: it did not */
};

enum { TR_SRCTRACE_CHANNELS = 64 }; /* traces whose lines may be mixed */

struct tr_srctrace_feed {
	struct tr_input *in;
	bool console; /* the input is a log */

	/* Console: in the order in which they began; the first is the trace that is
	 * read. */
	struct tr_srctrace_channel *channels[TR_SRCTRACE_CHANNELS];
	size_t count;
	uint64_t line;	   /* of the log, from 1: the one that comes next */
	uint64_t most;	   /* bytes that may be kept */
	uint64_t too_many; /* traces that were passed over; whoever reports this
			      clears it */
};

/* most: bytes that may be kept of traces whose lines are mixed with another's.
 */
void tr_srctrace_feed_init(struct tr_srctrace_feed *feed, struct tr_input *in, uint64_t most);
void tr_srctrace_feed_free(struct tr_srctrace_feed *feed);

/*
 * Steps over the rest of the trace to the next; the first one of input that is
 * no log is where the window is. TR_OK; TR_END: there is none; TR_FATAL.
 */
enum tr_status tr_srctrace_feed_begin(struct tr_srctrace_feed *feed, struct tr_error *err);

/* Tries to have `want` bytes of the trace; false where it ends before, or
 * memory is out. */
bool tr_srctrace_feed_more(struct tr_srctrace_feed *feed, size_t want);

/* The window: good until the next call of more. */
struct tr_text tr_srctrace_feed_window(const struct tr_srctrace_feed *feed);
void tr_srctrace_feed_skip(struct tr_srctrace_feed *feed, size_t n);

/* Why the trace ended early. False: it did not, or that was returned before. */
bool tr_srctrace_feed_trouble(struct tr_srctrace_feed *feed, struct tr_error *err);

/* The line of the log in which the window begins, for a record. */
uint64_t tr_srctrace_feed_line(const struct tr_srctrace_feed *feed);

/* Where the window begins, for a message: the offset, or the line of the log.
 */
void tr_srctrace_feed_place(const struct tr_srctrace_feed *feed, struct tr_error *err);

#endif
