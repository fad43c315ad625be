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
#include "format/etrace/tag.h"

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
	const struct tr_etrace_tag *known; /* the row of the tag; NULL: there is none */
	bool ended;			   /* the tag has "_end" behind */
	uint64_t index;
	struct tr_text text;
	uint64_t lost;
	const char *reason;
	uint64_t number; /* in the source, from 1; set by the owner */
};

/*
 * What the last line began with, up to its seconds: most lines begin as the one before,
 * and need not be read again. All zero at first. Its text is copied.
 */
struct tr_etrace_head {
	char text[64];
	size_t len;
	bool padded;
	uint64_t upid, cpu, sec;
	size_t prefix;
};

/*
 * whole: without LF, and with TR_INPUT_PAD readable bytes behind it; head may be NULL. Everything
 * in line is set but number.
 */
void tr_etrace_line_read(struct tr_text whole, struct tr_etrace_head *head,
			 struct tr_etrace_line *line);

/* Decimal digits, all of text, within 64 bits. *padded is set where there is a zero in front. */
bool tr_etrace_number(struct tr_text text, uint64_t *number, bool *padded);

/*
 * Behind the digits that p begins with, which may be none; NULL: more than 64 bits. end has
 * readable bytes behind it.
 */
const char *tr_etrace_digits(const char *p, const char *end, uint64_t *number);

/* Appends the digits, with a minus where there is one. Use the next one. */
void tr_etrace_put_any_number(int64_t number, struct tr_buffer *to);

/* Most have one digit: descriptors, CPUs. */
static inline void tr_etrace_put_number(int64_t number, struct tr_buffer *to)
{
	if (number >= 0 && number <= 9)
		tr_buffer_put_byte(to, (char)('0' + number));
	else
		tr_etrace_put_any_number(number, to);
}

enum { TR_ETRACE_TIME_MAX = 30, TR_ETRACE_NANO_DIGITS = 9 };

/* The time as trec spells it, nine digits behind the point; returns what is behind it. */
char *tr_etrace_write_time(uint64_t sec, uint64_t nsec, char *p);

/* The nine digits. */
void tr_etrace_write_nanoseconds(uint64_t nsec, char *p);

#endif
