/* Writes lines of the log, and texts in the pieces in which the tracer prints them. */
#ifndef TR_FORMAT_ETRACE_PEN_H
#define TR_FORMAT_ETRACE_PEN_H

#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "format/etrace/clock.h"

struct tr_etrace_pen {
	struct tr_buffer *to;
	struct tr_etrace_moment time; /* of the next line: each is 1 ns after the one before */
	char head[4 + 4 * 21];	      /* "0: upid,cpu,sec,nsec!" of that line */
	size_t head_len, time_at, nsec_at;
};

void tr_etrace_pen_begin(struct tr_etrace_pen *pen, uint64_t upid, uint64_t cpu,
			 struct tr_etrace_moment time);

/* Raises the time of the next line by 1 ns. */
void tr_etrace_pen_step(struct tr_etrace_pen *pen);

/* The head, and what follows it: the beginning of a line, or all of it with its end. */
void tr_etrace_pen_head(struct tr_etrace_pen *pen, struct tr_text data);

/* `tag|text` */
void tr_etrace_pen_line(struct tr_etrace_pen *pen, struct tr_text tag, struct tr_text text);

/* The beginning of such a line, up to the bar; the caller ends it. */
void tr_etrace_pen_open(struct tr_etrace_pen *pen, struct tr_text tag);

/* A text whose size the event states. */
void tr_etrace_pen_string(struct tr_etrace_pen *pen, struct tr_text tag, struct tr_text text);

/* Argument number n. */
void tr_etrace_pen_argument(struct tr_etrace_pen *pen, uint64_t n, struct tr_text text);

void tr_etrace_pen_env(struct tr_etrace_pen *pen, struct tr_text text);

#endif
