/* SPDX-License-Identifier: MIT */
/*
 * The input window: a parser does no I/O; it looks at the bytes [pos, end) and skips.
 *
 *	while (tr_input_more(in, 1)) {
 *		... look at in->pos .. in->end ...
 *		tr_input_skip(in, n);
 *	}
 *
 * The window slides over a stream of any length in constant memory (256 KiB, and more only for a
 * larger record). TR_INPUT_PAD bytes after end are readable (with undefined content), so wide loads
 * need no checks. A pointer into the window is valid until the next tr_input_more. Not thread safe.
 */
#ifndef TR_CORE_INPUT_H
#define TR_CORE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/source.h"

/*
 * Limits on the memory and disk space that an input may consume. Data beyond a limit produce an
 * error; no size that the input states is allocated unchecked.
 */
struct tr_limits {
	uint64_t max_record; /* bytes of one record, as read and as written: --max-record */
	unsigned max_depth;  /* open brackets in one value: --max-depth */
	unsigned max_ratio;  /* decompressed bytes per compressed byte: --max-ratio; 0: unlimited */
	uint64_t max_spool;  /* bytes of an unlinked temporary file, for input that needs a seek */
};

#define TR_LIMITS_DEFAULT \
	{ \
		(uint64_t)256 << 20, 60, 1000, (uint64_t)64 << 30 \
	}

enum { TR_INPUT_PAD = 64 };

struct tr_codec;

struct tr_input {
	const char *pos, *end;	      /* the window; move pos only by tr_input_skip */
	uint64_t offset;	      /* of pos, in decoded bytes from the start of the stream */
	bool at_end;		      /* nothing follows end */
	bool damaged;		      /* the stream ended with an error: see tr_input_error */
	const struct tr_codec *codec; /* outermost compression that was removed, or NULL */
	bool ahead;		      /* the source is read on another thread */
	bool bidding;		      /* a want above limits.max_record fails without an error */
	struct tr_input_private *private;
};

/*
 * Creates a window over source and takes ownership of it. first_window is the size in bytes; 0: 256
 * KiB; tests pass 1. NULL: memory is exhausted, and source is closed.
 */
struct tr_input *tr_input_new(struct tr_source *source, const struct tr_limits *limits,
			      size_t first_window);

void tr_input_free(struct tr_input *in);

/*
 * Sets a function that is called before a read that would wait, so that a tool can flush its output
 * and input that is there is processed. May be NULL.
 */
void tr_input_on_wait(struct tr_input *in, void (*call)(void *context), void *context);

/*
 * Reads until the window has `want` bytes, and keeps those that are there. False: the stream ends
 * before (the rest stays in the window, at_end is set, and damaged if an error ended it); or want
 * is above limits.max_record or memory is exhausted (damaged is set without at_end, and a smaller
 * want may still succeed). Memory grows with the bytes that came, never with want. Reads only if
 * necessary, and no more often than necessary.
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
 * The bytes from pos on, without a copy, for a caller that skips most of them: see struct
 * tr_file_view in file.h. Valid until the next call of any function here but tr_input_skip. Empty:
 * they must be read into the window.
 */
struct tr_text tr_input_look(struct tr_input *in);

/* Skips n of the bytes that tr_input_look just returned. False: none was skipped. */
bool tr_input_pass(struct tr_input *in, size_t n);

/* Returns whether the window is empty and filling it would have to wait. */
bool tr_input_would_wait(const struct tr_input *in);

/*
 * Waits for up to this time. True: a read of more than the window would still have to wait. False:
 * it would not, or the source cannot know. Calls on_wait before it waits. For readers that look
 * ahead, because they must not hold back records that are complete.
 */
bool tr_input_idle(struct tr_input *in, unsigned milliseconds);

/* Interrupts the source (see struct tr_source). May be called on another thread. */
void tr_input_interrupt(struct tr_input *in);

/* Returns the number of bytes read from the file so far (compressed ones), for progress. */
uint64_t tr_input_raw_offset(const struct tr_input *in);

/* Fills err with the error that ended the stream; damaged is set. Its offset is set if known. */
void tr_input_error(const struct tr_input *in, struct tr_error *err);

/*
 * Finds the next line with its LF and leaves it in the window: skip line->len when done. TR_OK; the
 * last line may lack the LF (check its last byte). TR_END: nothing is left. TR_WARN: the line is
 * longer than limits.max_record, or would be with its control characters and invalid bytes escaped;
 * err is filled, the line is skipped, call again. TR_FATAL: memory is exhausted. After an error of
 * the stream the bytes before it are returned as a last line, then TR_END with damaged set. The
 * length found so far is remembered, so that no byte is searched twice.
 */
enum tr_status tr_input_line(struct tr_input *in, struct tr_text *line, struct tr_error *err);

#endif
