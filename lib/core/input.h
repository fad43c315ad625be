/* SPDX-License-Identifier: MIT */
/*
 * The input window: parsers never read, they look at [pos, end) and skip.
 *
 *	while (tr_input_more(in, 1)) {
 *		... look at in->pos .. in->end ...
 *		tr_input_skip(in, n);
 *	}
 *
 * The window slides over a stream of any length in constant memory (256 KiB,
 * more only while one record is larger). TR_INPUT_PAD bytes behind end are
 * readable (their content means nothing), so wide loads need no care.
 * A pointer into the window is good until the next tr_input_more.
 * Not thread safe.
 */
#ifndef TR_CORE_INPUT_H
#define TR_CORE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/limits.h"
#include "core/source.h"

enum { TR_INPUT_PAD = 64 };

struct tr_codec;

struct tr_input {
	const char *pos, *end;	      /* the window; move pos only by tr_input_skip */
	uint64_t offset;	      /* of pos, in decoded bytes since the start of the stream */
	bool at_end;		      /* nothing follows end */
	bool damaged;		      /* the stream ended in an error: tr_input_error */
	const struct tr_codec *codec; /* outermost container that was taken off, or NULL */
	bool ahead;		      /* what is beneath is read on another thread */
	struct tr_input_private *private;
};

/*
 * A window over source, which it owns. first_window is 256 KiB where 0 is
 * given; tests give 1. NULL when memory is out (source is closed then too).
 */
struct tr_input *tr_input_new(struct tr_source *source, const struct tr_limits *limits,
			      size_t first_window);

void tr_input_free(struct tr_input *in);

/*
 * Called before a read that would wait, so that a tool can flush its output
 * first ("input that is there is processed"). May be NULL.
 */
void tr_input_on_wait(struct tr_input *in, void (*call)(void *context), void *context);

/*
 * Tries to have `want` bytes in the window; keeps what is there. False when
 * the stream ends before (what there is stays in the window, at_end is true;
 * damaged too if an error ended it), or want is above limits.max_record, or
 * memory is out (damaged without at_end: what follows is still there for a
 * smaller want). Memory grows with the bytes that came, never with want.
 * Reads only when it has to, and no more often than it has to.
 */
bool tr_input_more(struct tr_input *in, size_t want);

static inline size_t tr_input_available(const struct tr_input *in)
{
	return (size_t)(in->end - in->pos);
}

static inline void tr_input_skip(struct tr_input *in, size_t n)
{
	in->pos += n;
	in->offset += n;
}

/*
 * The bytes from pos on where they lie in the file, without a copy, for who passes
 * most of them by: see file.h for what that means. Good until the next call of
 * anything here but tr_input_skip. Empty: they have to come into the window.
 */
struct tr_text tr_input_look(struct tr_input *in);

/* Skips n of the bytes that tr_input_look just gave. False: none of them. */
bool tr_input_pass(struct tr_input *in, size_t n);

/* True when the window is empty and filling it would have to wait. */
bool tr_input_would_wait(const struct tr_input *in);

/*
 * True when nothing comes for so long: a read of more than the window holds
 * would still have to wait after that time. False as soon as it would not, and
 * where the source cannot tell. Calls on_wait before it waits. For readers that
 * look ahead: they must not keep back what is there.
 */
bool tr_input_idle(struct tr_input *in, unsigned milliseconds);

/* Passed down from a source's interrupt: see there. May be called on another thread. */
void tr_input_interrupt(struct tr_input *in);

/* Bytes read from the file itself so far (compressed ones): for progress. */
uint64_t tr_input_raw_offset(const struct tr_input *in);

/* Why the stream ended early. Only where damaged is set. The offset is set where one is known. */
void tr_input_error(const struct tr_input *in, struct tr_error *err);

/*
 * The next line with its LF, left in the window: skip line->len when done.
 * TR_OK; a last line without LF is TR_OK too (check its last byte).
 * TR_END: nothing is left. TR_WARN: the line is longer than limits.max_record, or
 * would be once its control characters and stray bytes are spelled as escapes;
 * err is filled, the line is skipped, call again. TR_FATAL: memory is out.
 * An error of the stream ends it: the bytes before are given as a last line,
 * then TR_END with damaged set.
 * Line lengths found so far are remembered: no byte is searched twice.
 */
enum tr_status tr_input_line(struct tr_input *in, struct tr_text *line, struct tr_error *err);

#endif
