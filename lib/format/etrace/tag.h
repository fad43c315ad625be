/* What tags there are, which arguments they take, and what text follows them. */
#ifndef TR_FORMAT_ETRACE_TAG_H
#define TR_FORMAT_ETRACE_TAG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

#if defined __SSE2__ && !defined TR_PORTABLE
#include <emmintrin.h>
#endif

enum { TR_ETRACE_TAG_MAX = 16 };

/* What becomes one record. */
enum tr_etrace_type {
	TR_ETRACE_EXEC,
	TR_ETRACE_FORK,
	TR_ETRACE_EXIT,
	TR_ETRACE_COMM,
	TR_ETRACE_ENVSET,
	TR_ETRACE_OPEN, /* from here on: sys */
	TR_ETRACE_CLOSE,
	TR_ETRACE_PIPE,
	TR_ETRACE_DUP,
	TR_ETRACE_RENAME,
	TR_ETRACE_LINK,
	TR_ETRACE_SYMLINK,
	TR_ETRACE_MOUNT,
	TR_ETRACE_UMOUNT,
};

/*
 * Some events are printed at the entry of their system call, the rest of them
 * at its end, with lines of the same task never in between but for a Comm, which
 * another task may have caused.
 */
enum tr_etrace_role {
	TR_ETRACE_ALONE,
	TR_ETRACE_FIRST,  /* a half: more has to follow */
	TR_ETRACE_MAYBE,  /* only if it failed something follows */
	TR_ETRACE_SECOND, /* that what follows; may come without the first */
	TR_ETRACE_FAILED,
};

enum tr_etrace_class {
	TR_ETRACE_BEGIN,  /* begins an event, or its second half: has a type and a role */
	TR_ETRACE_STRING, /* text of an event */
	TR_ETRACE_ARGUMENT,
	TR_ETRACE_END_OF_ARGS,
	TR_ETRACE_CONT,
	TR_ETRACE_CONT_END,
	TR_ETRACE_UPID,
	TR_ETRACE_ENV,
};

/* Bytes of text that a line holds at most: longer texts come in parts. */
enum { TR_ETRACE_PIECE = 900 };

/* Slots of an event; what is in them is render.c's knowledge. */
enum { TR_ETRACE_STRINGS = 3, TR_ETRACE_NUMBERS = 4 };

struct tr_etrace_parameter {
	char bytes[TR_ETRACE_TAG_MAX];
	struct tr_text name;
	bool size; /* of the text in that slot, else a number */
	uint8_t slot;
};

struct tr_etrace_tag {
	char bytes[TR_ETRACE_TAG_MAX]; /* those of the name, for comparing them all at once */
	struct tr_text name;
	enum tr_etrace_class class;
	enum tr_etrace_type type;
	enum tr_etrace_role role;
	uint8_t slot;	/* of a STRING */
	unsigned types; /* of a STRING: of which events, as bits */
	const struct tr_etrace_parameter *parameters;
	size_t parameter_count;
};

/* Whether p, behind which as many bytes as the longest tag has can be read, begins as that does. */
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

/*
 * NULL: there is no such tag; name is not empty, and TR_INPUT_PAD bytes behind it can be read.
 * ended: it is the tag of a STRING with "_end"
 * behind. */
const struct tr_etrace_tag *tr_etrace_tag_find(struct tr_text name, bool *ended);

/* The tag of the text in a slot of an event; NULL: there is none. */
const struct tr_etrace_tag *tr_etrace_tag_of(enum tr_etrace_type type, unsigned slot);

#endif
