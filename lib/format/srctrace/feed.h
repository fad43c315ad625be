/*
 * The bytes of source traces, wherever they stand: the input itself, or the
 * Base64 lines between two markers of a console log. Traces come one after
 * the other; within one, it is a window like tr_input.
 */
#ifndef TR_FORMAT_SRCTRACE_FEED_H
#define TR_FORMAT_SRCTRACE_FEED_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/input.h"

struct tr_srctrace_feed {
	struct tr_input *in;
	bool console; /* the input is a log */

	/* Console: the trace that was begun. */
	bool open;		 /* its end was not seen yet */
	struct tr_buffer prefix; /* what stands before the marker of each of its lines */
	struct tr_buffer bytes;	 /* decoded so far, from `at` on not used yet */
	size_t at;
	uint64_t line;	       /* of the log, from 1: the one that comes next */
	struct tr_error trouble; /* why the trace ended early; TR_CAUSE_NONE: it did not */
	uint64_t strangers;	 /* other traces' lines in between: they are passed over */
};

void tr_srctrace_feed_init(struct tr_srctrace_feed *feed, struct tr_input *in);
void tr_srctrace_feed_free(struct tr_srctrace_feed *feed);

/*
 * Steps over the rest of the trace to the next; the first one of input that is
 * no log is where the window is. TR_OK; TR_END: there is none; TR_FATAL.
 */
enum tr_status tr_srctrace_feed_begin(struct tr_srctrace_feed *feed, struct tr_error *err);

/* Tries to have `want` bytes of the trace; false where it ends before, or memory is out. */
bool tr_srctrace_feed_more(struct tr_srctrace_feed *feed, size_t want);

/* The window: good until the next call of more. */
struct tr_text tr_srctrace_feed_window(const struct tr_srctrace_feed *feed);
void tr_srctrace_feed_skip(struct tr_srctrace_feed *feed, size_t n);

/* Where the window begins, for a message: the offset, or the line of the log. */
void tr_srctrace_feed_place(const struct tr_srctrace_feed *feed, struct tr_error *err);

#endif
