/* SPDX-License-Identifier: MIT */
/*
 * The srctrace format: GNATcoverage source traces, versions 2 and 4, as files and as Base64 in a
 * console log. trace-formats(5) describes it for users.
 *
 *	bytes -> bid, search -> reader.c: a feed of traces; header, information, units -> records
 *	records -> writer.c: entries -> bytes, or lines of Base64
 *	records -> text.c: the text that gnatcov dump-src-trace prints
 *
 * A trace is a header of 40 bytes (32 of magic, u32 version, u8 alignment, u8
 * endianness, u16 padding), information entries (u32 kind, u32 length, data)
 * up to one of kind 0, and unit entries up to the end: a header of 80 bytes,
 * the file name, and three buffers of bits. Data, names and buffers are each
 * padded to a multiple of the alignment, counted from their own length and
 * not from their offset, so 40 need not be a multiple of it.
 * Counts and kinds have the header's endianness; fingerprints and bits are
 * bytes; the date is 64 bits of Unix seconds, little endian always.
 *
 * In version 2 the header of a unit has 64 bytes: its name is that of an Ada unit or of a file,
 * there is no fingerprint of annotations, and two bytes are the language and part of the unit. Old
 * releases also have a project name after the name, and its length after that of the name. The
 * version did not change when it was removed, so the bytes of the first unit have to show whether
 * it is there.
 *
 * Source: the runtime's C files gnatcov_rts_c-traces-output*, gnatcov_rts_c-traces.h and
 * traces_source.ads of several years, and the reader (instrument-input_traces.adb) of GNATcoverage,
 * which is public.
 */
#ifndef TR_FORMAT_SRCTRACE_SRCTRACE_H
#define TR_FORMAT_SRCTRACE_SRCTRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "core/wire.h"
#include "format/format.h"

#define TR_SRCTRACE_MAGIC "GNATcov source trace file\0\0\0\0\0\0\0"
#define TR_SRCTRACE_BEGIN "== GNATcoverage source trace file =="
#define TR_SRCTRACE_END "== End =="

enum {
	TR_SRCTRACE_MAGIC_SIZE = 32,
	TR_SRCTRACE_VERSION = 4,
	TR_SRCTRACE_OLD = 2,	  /* the other supported version */
	TR_SRCTRACE_COLUMNS = 80, /* of a line in a console log */
};

enum {
	TR_SRCTRACE_HEADER = 40, /* bytes of the trace's header */
	TR_SRCTRACE_INFO = 8,	 /* of an information entry's */
	TR_SRCTRACE_UNIT = 80,	 /* of a unit entry's */
	TR_SRCTRACE_OLD_UNIT = 64,
	TR_SRCTRACE_HASH = 20, /* of a fingerprint */
};

/* The alignment and byte order of a trace, and the form of its units. */
struct tr_srctrace_layout {
	unsigned align; /* 1, 2, 4, 8 or 16 */
	bool big;
	bool old;      /* version 2 */
	bool projects; /* its units have the name of a project */
};

/* Bytes of the header of a unit. */
static inline size_t tr_srctrace_unit_header(const struct tr_srctrace_layout *layout)
{
	return layout->old ? TR_SRCTRACE_OLD_UNIT : TR_SRCTRACE_UNIT;
}

/* The words for language and part of a unit of version 2. NULL: the number has none. */
const char *tr_srctrace_language(unsigned number);
const char *tr_srctrace_part(unsigned number);

enum tr_srctrace_info_kind {
	TR_SRCTRACE_INFO_END,
	TR_SRCTRACE_PROGRAM_NAME,
	TR_SRCTRACE_EXEC_DATE,
	TR_SRCTRACE_USER_DATA,
	TR_SRCTRACE_INFO_KINDS
};

/* The text of the name column; NULL: the kind has no name. */
const char *tr_srctrace_info_name(uint32_t kind);

/* Size with its padding; 64 bits, so that sums of lengths cannot overflow. */
static inline uint64_t tr_srctrace_padded(uint64_t size, unsigned align)
{
	return (size + align - 1) & ~(uint64_t)(align - 1);
}

static inline uint64_t tr_srctrace_bytes(uint32_t bits)
{
	return ((uint64_t)bits + 7) / 8;
}

enum { TR_SRCTRACE_BUFFERS = 3 }; /* statements, decisions, MC/DC; fingerprints are three too */

/* The fingerprints of a unit: those of tr_unit_hash_keys, of which version 2 lacks the last one. */
static inline int tr_srctrace_hashes(const struct tr_srctrace_layout *layout)
{
	return layout->old ? TR_SRCTRACE_BUFFERS - 1 : TR_SRCTRACE_BUFFERS;
}

struct tr_srctrace_unit {
	uint32_t name_size;
	uint32_t bits[TR_SRCTRACE_BUFFERS];
	uint32_t project_size;
	unsigned char encoding;	      /* 0 is the only one */
	unsigned char language, part; /* of version 2 */
	uint64_t size;		      /* of the whole entry with its paddings */
	uint64_t name, project;	      /* offsets from its beginning */
	uint64_t hashes;
	uint64_t buffers[TR_SRCTRACE_BUFFERS];
};

/*
 * Derives from the header of the first unit of a trace of version 2, of TR_SRCTRACE_OLD_UNIT bytes,
 * whether its units have projects. False: it has neither form.
 */
bool tr_srctrace_find_form(const char *p, struct tr_srctrace_layout *layout);

/* Reads the header at p, of tr_srctrace_unit_header bytes. */
void tr_srctrace_unit_measure(const char *p, const struct tr_srctrace_layout *layout,
			      struct tr_srctrace_unit *unit);

/* Bytes without a meaning: padding, and the unused bits of a buffer's last byte. */
struct tr_srctrace_gap {
	uint64_t offset, size;
	unsigned char mask; /* of each byte */
	bool checked;	    /* gnatcov refuses a trace where it is not zero */
};

enum { TR_SRCTRACE_GAPS = 3 + 2 * TR_SRCTRACE_BUFFERS };

/*
 * Finds the gaps of a complete entry of a unit or of information; returns their number.
 */
size_t tr_srctrace_gaps(const char *entry, bool unit, const struct tr_srctrace_layout *layout,
			struct tr_srctrace_gap gaps[TR_SRCTRACE_GAPS]);

/* Bits of evidence in the first bytes of a trace, which may be few; 0: not a trace. */
int tr_srctrace_magic_bits(const char *p, size_t available);

struct tr_reader *tr_srctrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err);

struct tr_writer *tr_srctrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err);

extern const struct tr_text_style tr_srctrace_styles[];

#endif
