/* SPDX-License-Identifier: MIT */
/*
 * One line of the log, split into its parts. Its meaning is not considered here, and its text,
 * which may hold anything, even another line of the log, is not examined.
 *
 *	line = [prefix] upid "," cpu "," sec "," nsec "!" tag [ "|" text / "[" index "]" text ]
 */
#ifndef TR_FORMAT_ETRACE_LINE_H
#define TR_FORMAT_ETRACE_LINE_H

#include "core/buffer.h"
#include "format/etrace/schema.h"

enum tr_etrace_line_type {
	TR_ETRACE_EVENT,   /* of a task: everything below is set */
	TR_ETRACE_INITCWD, /* text: the directory */
	TR_ETRACE_LOST,	   /* cpu; lost if has_lost */
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
	bool padded; /* a number has zeros in front */
	bool cut;    /* the last line, without an LF; set by the owner */
	bool has_lost;
	struct tr_text whole;  /* without its LF */
	struct tr_text prefix; /* usually "0: " */
	uint64_t upid, cpu, sec, nsec;
	struct tr_text tag;
	const struct tr_etrace_tag *known; /* the row of the tag; NULL: it is unknown */
	bool ended;			   /* "_end" follows the tag */
	uint64_t index;
	struct tr_text text;
	uint64_t lost;
	const char *reason;
	uint64_t number; /* in the source, from 1; set by the owner */
};

/*
 * The beginning of the last line, up to its seconds. Most lines begin as the one before them, and
 * that beginning need not be parsed again. All zero at first.
 */
struct tr_etrace_head {
	char text[64];
	size_t len;
	bool padded;
	uint64_t upid, cpu, sec;
	size_t prefix;
};

/*
 * Sets everything in line except number. whole has no LF and is followed by TR_INPUT_PAD readable
 * bytes; head may be NULL.
 */
void tr_etrace_line_read(struct tr_text whole, struct tr_etrace_head *head,
			 struct tr_etrace_line *line);

/* Reads text as decimal digits within 64 bits. Sets *padded if there are zeros in front. */
bool tr_etrace_number(struct tr_text text, uint64_t *number, bool *padded);

/*
 * Returns the end of the digits at p, which may be none; NULL: more than 64 bits. Readable bytes
 * follow end.
 */
const char *tr_etrace_digits(const char *p, const char *end, uint64_t *number);

/* Appends the digits of a number with many of them; callers use tr_etrace_put_number. */
void tr_etrace_put_any_number(int64_t number, struct tr_buffer *to);

/* Appends a number; most have one digit: descriptors, CPUs. */
static inline void tr_etrace_put_number(int64_t number, struct tr_buffer *to)
{
	if (number >= 0 && number <= 9)
		tr_buffer_put_byte(to, (char)('0' + number));
	else
		tr_etrace_put_any_number(number, to);
}

enum { TR_ETRACE_NANOSECONDS = 1000 * 1000 * 1000, TR_ETRACE_NANO_DIGITS = 9 };

/* Writes the nine digits of the nanoseconds. */
void tr_etrace_write_nanoseconds(uint64_t nsec, char *p);

#endif
