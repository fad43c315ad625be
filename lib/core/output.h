/* SPDX-License-Identifier: MIT */
/*
 * Buffered output (256 KiB blocks) on a sink. The public buffer lets writers
 * put text together in place:
 *
 *	char *to = tr_output_room(out, n);   ... write up to n bytes ...
 *	tr_output_used(out, written);
 *
 * Errors stick: after the first one nothing is written any more, and every
 * caller may go on until it looks at `failed` (once per record is enough)
 * or finishes. Not thread safe.
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
	bool failed;	    /* tr_output_error says why */
	bool line_buffered; /* set it with tr_output_line_buffered */
	struct tr_output_private *private;
};

/* Owns sink; NULL when memory is out (sink is closed then). */
struct tr_output *tr_output_new(struct tr_sink *sink);

/*
 * stdout: a sink on fd that is not owned. Pipes are asked for 1 MiB.
 * finish closes nothing but reports what is left to report.
 */
struct tr_sink *tr_sink_fd(int fd, struct tr_error *err);

/*
 * -o PATH. Regular files are written beside PATH and renamed over it by
 * finish, after an fsync; close without finish removes what was written. Special files (pipes,
 * devices, sockets) are written as they are. Keeps the mode of a file that is
 * replaced, else 0666 less umask. Symbolic links are followed.
 */
struct tr_sink *tr_sink_file(const char *path, struct tr_error *err);

/* A file that is not complete yet: it has a temporary name, or none where it is no regular file. */
struct tr_unfinished {
	int fd;		 /* -1: none, or closed */
	int dir;	 /* the directory of both names */
	char *temporary; /* NULL: it has got its name, or is written as it is */
	char *name;
	char *path; /* for messages */
};

enum { TR_FILE_GROUP = 32 };

/*
 * Files that are completed together: each is on the disk before it gets its name, and to wait for
 * many at once is much faster than for each. Zero it.
 */
struct tr_file_group {
	struct tr_unfinished list[TR_FILE_GROUP];
	size_t count;
	bool named_at_once; /* before they are on the disk: for new files that others wait for */
};

static inline bool tr_file_group_is_full(const struct tr_file_group *group)
{
	return group->count == TR_FILE_GROUP;
}

/* Completes all. TR_WARN: one could not be completed, and is removed; call again. TR_END. */
enum tr_status tr_file_group_complete(struct tr_file_group *group, struct tr_error *err);

/*
 * A file of this name in an open directory, which is borrowed. Replaces what has the name, links
 * too: they are not followed. path: the name for messages. group: completes the file; where it is
 * NULL or full, finish does, as for tr_sink_file.
 */
struct tr_sink *tr_sink_file_at(int dir, const char *name, const char *path,
				struct tr_file_group *group, struct tr_error *err);

/*
 * The unfinished file of a tr_sink_file or tr_sink_file_at, for signal handlers that unlink it;
 * NULL where there is none. It dies with the sink: copy it.
 */
const struct tr_unfinished *tr_sink_file_unfinished(const struct tr_sink *sink);

/* Flush after every record (a terminal, --line-buffered). */
void tr_output_line_buffered(struct tr_output *out, bool on);

char *tr_output_grow(struct tr_output *out, size_t n);

/*
 * Space for n bytes. Never NULL for n up to TR_OUTPUT_ROOM: after a failure
 * it is scratch space that goes nowhere. NULL for more when memory is out
 * (failed is set then).
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
 * Empties a buffer and lends it the free part of the output's, where there is
 * enough of it: what is put together there is put out without being copied. To
 * be done again whenever something was put out, by whomever.
 */
void tr_output_lend(struct tr_output *out, struct tr_buffer *b);

/* Any length; large data bypasses the buffer. */
void tr_output_put_large(struct tr_output *out, const char *data, size_t len);

static inline void tr_output_put(struct tr_output *out, const char *data, size_t len)
{
	if (len <= (size_t)(out->end - out->pos)) {
		if (data != out->pos) /* not what was lent */
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

/* Writes what is buffered and flushes the sinks below. False after any failure. */
bool tr_output_flush(struct tr_output *out);

/* Writers call this at the end of each record: flushes where line buffered. */
static inline void tr_output_record_end(struct tr_output *out)
{
	if (out->line_buffered)
		tr_output_flush(out);
}

/* Bytes put so far (before compression). */
uint64_t tr_output_count(const struct tr_output *out);

/* Flushes, finishes the sinks, frees. False: err is filled, nothing stands that looks whole. */
bool tr_output_finish(struct tr_output *out, struct tr_error *err);

/* Frees; what was half written to a file is removed. */
void tr_output_discard(struct tr_output *out);

/*
 * Text for terminals. Traces contain bytes that a terminal takes for commands, and marks that
 * change the order of what is shown; these are spelled \xHH.
 */

/*
 * The length of the character at p, which is not end, and whether a terminal shows it as a
 * character: no control byte or C1 control, no bidirectional mark, no byte that is not UTF-8.
 */
unsigned tr_terminal_character(const char *p, const char *end, bool *shown);

void tr_terminal_escape(const char *p, unsigned len, struct tr_buffer *to);

/*
 * Escapes what is written to inner, which it owns, but TAB, LF and the sequences that set colours.
 * NULL when memory is out; inner is closed then.
 */
struct tr_sink *tr_sink_terminal(struct tr_sink *inner);

#endif
