/* A unit entry: where its parts are, and what in it has to be zero. */
#ifndef TR_FORMAT_SRCTRACE_UNIT_H
#define TR_FORMAT_SRCTRACE_UNIT_H

#include "format/srctrace/entry.h"

enum { TR_SRCTRACE_BUFFERS = 3 }; /* statements, decisions, MC/DC; fingerprints are three too */

struct tr_srctrace_unit {
	uint32_t name_size;
	uint32_t bits[TR_SRCTRACE_BUFFERS];
	unsigned char encoding; /* 0 is the only one there is */
	uint64_t size;		/* of the whole entry with its paddings */
	uint64_t name;		/* offsets from its beginning */
	uint64_t buffers[TR_SRCTRACE_BUFFERS];
};

/* Reads the header at p, of TR_SRCTRACE_UNIT bytes. */
void tr_srctrace_unit_measure(const char *p, const struct tr_srctrace_layout *layout,
			      struct tr_srctrace_unit *unit);

/* Bytes that the lists of its set bits take as text, or some more. entry: the whole of it. */
uint64_t tr_srctrace_unit_weight(const char *entry, const struct tr_srctrace_unit *unit);

/* Bytes that say nothing: padding, and the bits of a buffer's last byte that are not used. */
struct tr_srctrace_gap {
	uint64_t offset, size;
	unsigned char mask; /* of each byte */
	bool checked;	    /* gnatcov refuses a trace where it is not zero */
};

enum { TR_SRCTRACE_GAPS = 2 + 2 * TR_SRCTRACE_BUFFERS };

/* Returns how many there are. */
size_t tr_srctrace_unit_gaps(const struct tr_srctrace_unit *unit, unsigned align,
			     struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS]);

/* The one of an information entry with `size` bytes of data. */
struct tr_srctrace_gap tr_srctrace_info_gap(uint32_t size, unsigned align);

enum tr_srctrace_zeros {
	TR_SRCTRACE_ZERO,     /* all of them are */
	TR_SRCTRACE_NOT_ZERO, /* some are not, and nobody cares */
	TR_SRCTRACE_REFUSED,  /* some are not that gnatcov checks */
};

enum tr_srctrace_zeros tr_srctrace_gaps_look(const char *entry, const struct tr_srctrace_gap *gaps,
					     size_t count);

/* Makes them zero. */
void tr_srctrace_gaps_clear(char *entry, const struct tr_srctrace_gap *gaps, size_t count);

#endif
