/* SPDX-License-Identifier: MIT */
/*
 * The gnatcov format: binary execution traces of GNATcoverage and of the emulators that write for
 * it, version 1. trace-formats(5) describes it for users.
 *
 *	bytes -> bid -> reader.c: headers, information, special entries, blocks -> records
 *	records -> writer.c: sections and entries -> bytes
 *	records -> text.c: the text that gnatcov dump-trace prints
 *
 * A file is a sequence of sections, each a header of 20 bytes and its content:
 *
 *	INFO              entries of u32 kind, u32 length, data, zeros up to a
 *	                  multiple of 4; ends with kind 0
 *	FLAT, HISTORY     entries of executed blocks, to the end of the file
 *	or DECISION_MAP   or to the next header
 *
 *	header   "#QEMU-Traces", version, kind, bytes of an address, byte order
 *	         (0 little, 1 big: of the host that wrote it), ELF machine (big
 *	         endian always), 2 bytes of padding
 *	entry    address (u32 or u64), u16 size, u8 op, 1 or 5 bytes of padding
 *
 * An op of exactly 0x80 makes an entry special. Its size is then a number: 1, the address is the
 * load address of the kernel; 2, a shared object was loaded (a list of information follows); 3, a
 * shared object was unloaded.
 *
 * gnatcov itself reads INFO followed by FLAT or HISTORY, and a single DECISION_MAP. The emulators
 * append to a file, so a second run adds sections; without gnatcov they write no INFO. valgrind's
 * tool leaves garbage in the padding. All of this is read, with a flaw reported if gnatcov would
 * refuse it.
 *
 * Sources: GNATcoverage's user's guide, "Trace file contents"; its sources
 * qemu_traces.ads and traces_files.adb; its fork of QEMU (trace.c); each fact
 * was tested with files that gnatcov reads.
 */
#ifndef TR_FORMAT_GNATCOV_GNATCOV_H
#define TR_FORMAT_GNATCOV_GNATCOV_H

#include "core/date.h"
#include "format/format.h"

#define TR_GNATCOV_MAGIC "#QEMU-Traces"

enum {
	TR_GNATCOV_MAGIC_SIZE = 12,
	TR_GNATCOV_VERSION = 1,
	TR_GNATCOV_HEADER_SIZE = 20,
	TR_GNATCOV_INFO_SIZE = 8, /* of an information entry before its data */
	TR_GNATCOV_INFO_ALIGN = 4,
	TR_GNATCOV_DATE_SIZE = 8,
};

enum tr_gnatcov_kind {
	TR_GNATCOV_FLAT,
	TR_GNATCOV_HISTORY,
	TR_GNATCOV_INFO,
	TR_GNATCOV_DECISION_MAP,
	TR_GNATCOV_KINDS,
	TR_GNATCOV_CONSOLIDATED = 248, /* only in headers of the emulators */
};

enum tr_gnatcov_tag {
	TR_GNATCOV_END,
	TR_GNATCOV_EXEC_FILE_NAME,
	TR_GNATCOV_COVERAGE_OPTIONS,
	TR_GNATCOV_USER_DATA,
	TR_GNATCOV_DATE_TIME,
	TR_GNATCOV_KERNEL_FILE_NAME,
	TR_GNATCOV_EXEC_FILE_SIZE,
	TR_GNATCOV_EXEC_FILE_TIME_STAMP,
	TR_GNATCOV_EXEC_FILE_CRC32,
	TR_GNATCOV_COVERAGE_CONTEXT,
	TR_GNATCOV_EXEC_CODE_SIZE,
	TR_GNATCOV_TAGS,
};

enum tr_gnatcov_special {
	TR_GNATCOV_LOADADDR = 1,
	TR_GNATCOV_LOAD,
	TR_GNATCOV_UNLOAD,
};

struct tr_gnatcov_section {
	uint8_t kind, pc_size; /* pc_size of an INFO may be anything */
	bool big;
	uint16_t machine, pad; /* pad: its two bytes in file order, as one number */
};

/* The names of numbers; a table ends with a name that is NULL. */
struct tr_gnatcov_name {
	uint16_t number;
	const char *name;
};

extern const struct tr_gnatcov_name tr_gnatcov_kinds[]; /* of sections */
extern const struct tr_gnatcov_name tr_gnatcov_tags[];	/* kinds of information */
extern const struct tr_gnatcov_name tr_gnatcov_machines[];

/* Returns the name of a number, or NULL. */
const char *tr_gnatcov_name(const struct tr_gnatcov_name *names, uint32_t number);

/*
 * Reads DATE_TIME: eight bytes, two of which are the year. Its byte order is not documented: it is
 * that of the section, or the other one if the year is impossible (*swapped). False: it is no date.
 */
bool tr_gnatcov_date_read(struct tr_text data, bool big, struct tr_date *date, bool *swapped);

/* Writes the year, the only part of a date with a byte order. */
void tr_gnatcov_put_year(unsigned year, bool big, char data[2]);

struct tr_reader *tr_gnatcov_open(const struct tr_read_config *config, struct tr_input *in,
				  struct tr_error *err);

struct tr_writer *tr_gnatcov_create(const struct tr_write_config *config, struct tr_output *out,
				    struct tr_error *err);

/* The styles of dump-trace, dump-trace-raw and dump-trace-base. */
extern const struct tr_text_style tr_gnatcov_styles[];

#endif
