/* SPDX-License-Identifier: MIT */
/*
 * Buffered output (blocks of 256 KiB), and the sinks at its end.
 *
 *	writer -> tr_output -> encoder -> tr_sink_file, tr_sink_append, tr_sink_fd or tr_sink_terminal
 *
 * The public buffer lets writers compose text in place:
 *
 *	char *to = tr_output_room(out, n);   ... write up to n bytes ...
 *	tr_output_used(out, written);
 *
 * Errors are kept: after the first one nothing more is written, and a caller may go on until it
 * checks `failed` (once for each record is enough) or finishes. Not thread safe.
 */
#ifndef TR_CORE_OUTPUT_H
#define TR_CORE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/source.h"
#include "core/text.h"

enum { TR_OUTPUT_ROOM = 64 << 10 };

struct tr_output {
	char *pos, *end;    /* free part of the buffer */
	bool failed;	    /* tr_output_finish reports the reason */
	bool line_buffered; /* set with tr_output_line_buffered */
	struct tr_output_private *private;
};

/* Takes ownership of sink. NULL: memory is exhausted, and sink is closed. */
struct tr_output *tr_output_new(struct tr_sink *sink);

/*
 * A sink for stdout: fd is borrowed. The buffer of a pipe is enlarged to 1 MiB. finish closes
 * nothing, but reports late errors.
 */
struct tr_sink *tr_sink_fd(int fd, struct tr_error *err);

/*
 * A sink for -o PATH. A regular file is written under a temporary name in the same directory;
 * finish syncs it and renames it to PATH, and close without finish removes it. Special files
 * (pipes, devices, sockets) are written directly. Keeps the mode of a file that is replaced,
 * otherwise uses 0666 less umask. Follows symbolic links.
 */
struct tr_sink *tr_sink_file(const char *path, struct tr_error *err);

/* A file that is not complete yet. It has a temporary name, or none if it is not a regular file. */
struct tr_unfinished {
	int fd;		 /* -1: none, or closed already */
	int dir;	 /* descriptor of the directory of both names */
	char *temporary; /* NULL: it has its final name, or is written directly */
	char *name;
	char *path; /* for messages */
};

enum { TR_FILE_GROUP = 32 };

/*
 * Files that are completed together: the content of each must be on the disk before it is renamed,
 * and to wait for many at once is much faster. Initialise it with zeros.
 */
struct tr_file_group {
	struct tr_unfinished list[TR_FILE_GROUP];
	size_t count;
	/* Rename before the content is on the disk: for new files that others wait for. */
	bool named_at_once;
};

static inline bool tr_file_group_is_full(const struct tr_file_group *group)
{
	return group->count == TR_FILE_GROUP;
}

/* Completes all files. TR_WARN: one failed and is removed, call again. TR_END: done. */
enum tr_status tr_file_group_complete(struct tr_file_group *group, struct tr_error *err);

/*
 * A sink for a file of this name in an open directory, which is borrowed. Replaces an existing file
 * or link, and does not follow links. path: the name for messages. group: completes the file; if it
 * is NULL or full, finish does, as for tr_sink_file.
 */
struct tr_sink *tr_sink_file_at(int dir, const char *name, const char *path,
				struct tr_file_group *group, struct tr_error *err);

/*
 * The unfinished file of a tr_sink_file or tr_sink_file_at, for signal handlers that unlink it;
 * NULL if there is none. It is freed with the sink, so copy it.
 */
const struct tr_unfinished *tr_sink_file_unfinished(const struct tr_sink *sink);

/* The lines by which a file that is added to is recognised; at most 64 bytes each. */
struct tr_append_format {
	struct tr_text begin; /* of the file, unless it is empty: others are not changed */
	struct tr_text last;  /* the beginning of the last line */
	struct tr_text cut;   /* lines to write after another last line, which a crash has left */
};

/*
 * A sink that adds to a regular file, which other processes add to at the same time. finish appends
 * all that was written, under a lock of the whole file (flock), or nothing: after a failed write
 * the file is as it was. It waits for the lock for lock_seconds. The file is created if it is
 * missing, and opened here: a relative path is used only once. NULL: err is filled.
 */
struct tr_sink *tr_sink_append(const char *path, const struct tr_append_format *format,
			       unsigned lock_seconds, struct tr_error *err);

/* Sets whether every record is flushed (for a terminal, or with --line-buffered). */
void tr_output_line_buffered(struct tr_output *out, bool on);

char *tr_output_grow(struct tr_output *out, size_t n);

/*
 * Returns space for n bytes. Never NULL for n up to TR_OUTPUT_ROOM: after a failure it is scratch
 * memory whose content is dropped. NULL for a larger n if memory is exhausted (failed is set then).
 */
static inline char *tr_output_room(struct tr_output *out, size_t n)
{
	return n <= (size_t)(out->end - out->pos) ? out->pos : tr_output_grow(out, n);
}

static inline void tr_output_used(struct tr_output *out, size_t n)
{
	out->pos += n;
}

/*
 * Empties a buffer and lends it the free part of the output, if that is large enough: text that is
 * composed there is written without a copy. Repeat it after every write to the output, and do not
 * empty the buffer in another way: it still begins where the output was.
 */
void tr_output_lend(struct tr_output *out, struct tr_buffer *b);

/* Writes data of any length; large data bypass the buffer. */
void tr_output_put_large(struct tr_output *out, const char *data, size_t len);

static inline void tr_output_put(struct tr_output *out, const char *data, size_t len)
{
	if (len <= (size_t)(out->end - out->pos)) {
		if (data != out->pos) /* unless it is in the lent part already */
			memcpy(out->pos, data, len);
		out->pos += len;
	} else {
		tr_output_put_large(out, data, len);
	}
}

static inline void tr_output_put_text(struct tr_output *out, struct tr_text t)
{
	if (t.len)
		tr_output_put(out, t.data, t.len);
}

static inline void tr_output_put_byte(struct tr_output *out, char c)
{
	tr_output_put(out, &c, 1);
}

#define tr_output_put_literal(out, literal) tr_output_put((out), "" literal, sizeof(literal) - 1)

/* Writes the buffer and flushes the sinks below. False: there was a failure, now or before. */
bool tr_output_flush(struct tr_output *out);

/* Called by writers at the end of each record: flushes if the output is line buffered. */
static inline void tr_output_record_end(struct tr_output *out)
{
	if (out->line_buffered)
		tr_output_flush(out);
}

/* Returns the number of bytes written so far (before compression). */
uint64_t tr_output_count(const struct tr_output *out);

/*
 * Flushes, finishes the sinks and frees the output. False: err is filled, and no file is left that
 * looks complete.
 */
bool tr_output_finish(struct tr_output *out, struct tr_error *err);

/* Frees the output and removes an incomplete file. */
void tr_output_discard(struct tr_output *out);

/*
 * Text for terminals. Traces contain bytes that a terminal takes for commands, and marks that
 * change the order of the displayed text; these are written as \xHH.
 */

/*
 * Returns the length of the character at p < end. *shown: a terminal displays it as a character: it
 * is not a control byte, a C1 control, a bidirectional mark, or invalid UTF-8.
 */
unsigned tr_terminal_character(const char *p, const char *end, bool *shown);

void tr_terminal_escape(const char *p, unsigned len, struct tr_buffer *to);

/*
 * A sink that writes to inner, which it owns, with everything escaped but TAB, LF and the sequences
 * that set colours. NULL: memory is exhausted, and inner is closed.
 */
struct tr_sink *tr_sink_terminal(struct tr_sink *inner);

#endif
