/*
 * Private to the srctrace format: GNATcoverage source traces, version 4, as
 * files and as Base64 in a console log. For readers: trace-formats(5).
 *
 * A trace is a header of 40 bytes (32 of magic, u32 version, u8 alignment, u8
 * endianness, u16 padding), information entries (u32 kind, u32 length, data)
 * up to one of kind 0, and unit entries up to the end: a header of 80 bytes,
 * the file name, and three buffers of bits. Data, names and buffers are each
 * padded to a multiple of the alignment, counted from their own length and
 * not from where they stand, so 40 need not be a multiple of it.
 * Counts and kinds have the header's endianness; fingerprints and bits are
 * bytes; the date is 64 bits of Unix seconds, little endian always.
 *
 * Source: the runtime's C files gnatcov_rts_c-traces-output* and the reader
 * (instrument-input_traces.adb) of GNATcoverage, which is public.
 */
#ifndef TR_FORMAT_SRCTRACE_SRCTRACE_H
#define TR_FORMAT_SRCTRACE_SRCTRACE_H

#include "format/format.h"

#define TR_SRCTRACE_MAGIC "GNATcov source trace file\0\0\0\0\0\0\0"
#define TR_SRCTRACE_BEGIN "== GNATcoverage source trace file =="
#define TR_SRCTRACE_END "== End =="

enum {
	TR_SRCTRACE_MAGIC_SIZE = 32,
	TR_SRCTRACE_VERSION = 4,
	TR_SRCTRACE_COLUMNS = 80, /* of a line in a console log */
};

/* Bits of evidence in the first bytes of a trace, as far as they are there; 0: it is none. */
int tr_srctrace_magic_bits(const char *p, size_t available);

int tr_srctrace_bid(struct tr_input *in);
int tr_srctrace_search(struct tr_input *in);

struct tr_reader *tr_srctrace_open(const struct tr_read_config *config, struct tr_input *in,
				   struct tr_error *err);
enum tr_status tr_srctrace_next(struct tr_reader *reader, struct tr_record **record,
				struct tr_error *err);
void tr_srctrace_close(struct tr_reader *reader);

struct tr_writer *tr_srctrace_create(const struct tr_write_config *config, struct tr_output *out,
				     struct tr_error *err);
void tr_srctrace_discard(struct tr_writer *writer);

#endif
