/*
 * One line of the log, taken apart. Nothing is known here of what it means, and
 * text is never looked into: it may hold anything, a line of the log too.
 *
 *	line = [prefix] upid "," cpu "," sec "," nsec "!" tag [ "|" text / "[" index "]" text ]
 */
#ifndef TR_FORMAT_ETRACE_LINE_H
#define TR_FORMAT_ETRACE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"

enum tr_etrace_line_type {
	TR_ETRACE_EVENT,   /* of a task: everything below is set */
	TR_ETRACE_INITCWD, /* text: the directory */
	TR_ETRACE_LOST,	   /* cpu; lost, where has_lost */
	TR_ETRACE_NOISE,   /* reason */
};

enum tr_etrace_form {
	TR_ETRACE_BARE, /* nothing follows the tag */
	TR_ETRACE_BAR,
	TR_ETRACE_PART, /* index is set */
};

struct tr_etrace_line {
	enum tr_etrace_line_type type;
	enum tr_etrace_form form;
	bool padded; /* a number is not spelled in the one way: zeros in front */
	bool cut;    /* the last line, without an end; set by the owner */
	bool has_lost;
	struct tr_text whole;  /* without its LF */
	struct tr_text prefix; /* usually "0: " */
	uint64_t upid, cpu, sec, nsec;
	struct tr_text tag;
	uint64_t index;
	struct tr_text text;
	uint64_t lost;
	const char *reason;
	uint64_t number; /* in the source, from 1; set by the owner */
};

/* whole: without LF. Everything in line is set but cut and number. */
void tr_etrace_line_read(struct tr_text whole, struct tr_etrace_line *line);

/* Decimal digits, all of text, within 64 bits. *padded is set where there is a zero in front. */
bool tr_etrace_number(struct tr_text text, uint64_t *number, bool *padded);

/* Appends the digits, with a minus where there is one. */
void tr_etrace_put_number(int64_t number, struct tr_buffer *to);

/* Appends the time as trec spells it: nine digits behind the point. */
void tr_etrace_put_time(uint64_t sec, uint64_t nsec, struct tr_buffer *to);

#endif
