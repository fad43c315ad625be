/* Writes lines of the log, and texts in the pieces in which the tracer prints them. */
#ifndef TR_FORMAT_ETRACE_PEN_H
#define TR_FORMAT_ETRACE_PEN_H

#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

struct tr_etrace_pen {
	struct tr_buffer *to;
	char head[4 + 4 * 21]; /* "0: upid,cpu,sec,nsec!": every line of an event has the same */
	size_t head_len;
};

void tr_etrace_pen_begin(struct tr_etrace_pen *pen, uint64_t upid, uint64_t cpu, uint64_t sec,
			 uint64_t nsec);

/* `tag|text` */
void tr_etrace_pen_line(const struct tr_etrace_pen *pen, struct tr_text tag, struct tr_text text);

/* The beginning of such a line, up to the bar; the caller ends it. */
void tr_etrace_pen_open(const struct tr_etrace_pen *pen, struct tr_text tag);

/* A text whose size the event states. */
void tr_etrace_pen_string(const struct tr_etrace_pen *pen, struct tr_text tag, struct tr_text text);

/* Argument number n. */
void tr_etrace_pen_argument(const struct tr_etrace_pen *pen, uint64_t n, struct tr_text text);

void tr_etrace_pen_env(const struct tr_etrace_pen *pen, struct tr_text text);

#endif
