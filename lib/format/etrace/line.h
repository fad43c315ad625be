/* SPDX-License-Identifier: MIT */
/*
 * The lines of a log. A line is split into its parts here; its meaning is not considered, and its
 * text, which may hold anything, even another line of the log, is not examined. The tables that
 * reader and writer both work from come with it: the tags of lines with their parameters, the kinds
 * of events with the fields that their records have, and the words for the flags of system calls.
 */
#ifndef TR_FORMAT_ETRACE_LINE_H
#define TR_FORMAT_ETRACE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "record/value.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

enum {
	TR_ETRACE_TAG_MAX = 16,
	TR_ETRACE_PIECE = 900, /* bytes of text in a line at most: longer texts come in parts */
	TR_ETRACE_STRINGS = 3, /* slots of an event for texts, and for numbers */
	TR_ETRACE_NUMBERS = 4,
};

/* The kinds of events; each event becomes one record. */
enum tr_etrace_type {
	TR_ETRACE_EXEC,
	TR_ETRACE_FORK,
	TR_ETRACE_EXIT,
	TR_ETRACE_COMM,
	TR_ETRACE_ENVSET,
	TR_ETRACE_OPEN, /* from here on records of kind sys */
	TR_ETRACE_CLOSE,
	TR_ETRACE_PIPE,
	TR_ETRACE_DUP,
	TR_ETRACE_RENAME,
	TR_ETRACE_LINK,
	TR_ETRACE_SYMLINK,
	TR_ETRACE_MOUNT,
	TR_ETRACE_UMOUNT,
	TR_ETRACE_TYPES,
};

/*
 * Some events are printed in two halves, at the entry and at the end of their system call. Lines
 * of the same task never come between the halves, except for a Comm, which another task may have
 * caused.
 */
enum tr_etrace_role {
	TR_ETRACE_ALONE,
	TR_ETRACE_FIRST,  /* the first half: more has to follow */
	TR_ETRACE_MAYBE,  /* something follows only if the call failed */
	TR_ETRACE_SECOND, /* the second half; it may come without the first */
	TR_ETRACE_FAILED, /* the call failed; as a second half */
};

enum tr_etrace_class {
	TR_ETRACE_BEGIN,  /* begins an event or its second half: has a type and a role */
	TR_ETRACE_STRING, /* a text of an event */
	TR_ETRACE_ARGUMENT,
	TR_ETRACE_END_OF_ARGS,
	TR_ETRACE_CONT,
	TR_ETRACE_CONT_END,
	TR_ETRACE_UPID,
	TR_ETRACE_ENV,
};

/* `name=number` after a tag that begins an event. */
struct tr_etrace_parameter {
	char bytes[TR_ETRACE_TAG_MAX]; /* of the name, for comparing them all at once */
	struct tr_text name;
	bool size;    /* it is the size of the text in that slot */
	uint8_t slot; /* of the text or the number */
};

struct tr_etrace_tag {
	char bytes[TR_ETRACE_TAG_MAX];
	struct tr_text name;
	enum tr_etrace_class class;
	enum tr_etrace_type type;
	enum tr_etrace_role role;
	uint8_t slot;	/* of a STRING */
	unsigned types; /* of a STRING: the events that have it, as bits */
	const struct tr_etrace_parameter *parameters;
	size_t parameter_count;
};

/* True if p, which is followed by TR_ETRACE_TAG_MAX readable bytes, begins with the first len. */
static inline bool tr_etrace_tag_begins(const char *p, const char bytes[TR_ETRACE_TAG_MAX],
					size_t len)
{
#if defined __SSE2__ && !defined TR_PORTABLE
	__m128i one = _mm_loadu_si128((const __m128i *)(const void *)bytes);
	__m128i other = _mm_loadu_si128((const __m128i *)(const void *)p);
	unsigned equal = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(one, other));
	unsigned all = (1u << len) - 1;
	return (equal & all) == all;
#else
	return memcmp(bytes, p, len) == 0;
#endif
}

/* A field's key, also as it is spelled in a record. */
struct tr_etrace_key {
	const char *name; /* NULL: the slot has no field of its own */
	char spelled[TR_ETRACE_TAG_MAX];
	uint8_t len;
};

/* The record that the events of a type become. */
struct tr_etrace_shape {
	char name[8]; /* the kind; of a sys record its name */
	uint8_t name_len;
	struct tr_text tags[TR_ETRACE_STRINGS]; /* of the texts in the slots */
	struct tr_etrace_key strings[TR_ETRACE_STRINGS], numbers[TR_ETRACE_NUMBERS];
	/* texts and numbers that every version of the tracer prints, as bits */
	uint8_t needed, always;
	uint8_t flags; /* the number that consists of flags, as a bit */

	/* for the writer: the line that begins the event, the same with flags, the second half */
	const struct tr_etrace_tag *begin, *begin_flags, *second, *failed;
};

extern const struct tr_etrace_shape tr_etrace_shapes[TR_ETRACE_TYPES];

/*
 * Flags of system calls are numbers in the log and words in records. The numbers are those of
 * x86-64; the log does not state its architecture.
 */
enum {
	TR_ETRACE_O_CREAT = 0x40,
	TR_ETRACE_O_TMPFILE = 0x400000, /* without O_DIRECTORY, which is part of its word */
	TR_ETRACE_O_CLOEXEC = 0x80000,
};

/* Appends the flags of such an event as words; a number that does not fit 32 bits as it is. */
void tr_etrace_flags_spell(enum tr_etrace_type type, int64_t number, struct tr_buffer *to);

/* Returns the number of a value; false: it has a word that is none of these flags. */
bool tr_etrace_flags_read(enum tr_etrace_type type, const struct tr_value *value, int64_t *number);

/*
 * One line of the log, split into its parts.
 *
 *	line = [prefix] upid "," cpu "," sec "," nsec "!" tag [ "|" text / "[" index "]" text ]
 */

/* A time of the log. */
struct tr_etrace_moment {
	uint64_t sec, nsec;
};

static inline bool tr_etrace_before(struct tr_etrace_moment a, struct tr_etrace_moment b)
{
	return a.sec != b.sec ? a.sec < b.sec : a.nsec < b.nsec;
}

static inline bool tr_etrace_same_time(struct tr_etrace_moment a, struct tr_etrace_moment b)
{
	return a.sec == b.sec && a.nsec == b.nsec;
}

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
	uint64_t upid, cpu;
	struct tr_etrace_moment time;
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
