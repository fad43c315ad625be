/* SPDX-License-Identifier: MIT */
/*
 * The drcov format, which DynamoRIO's drcov and many similar recorders write, and Lighthouse and
 * similar tools read. trace-formats(5) describes it for users.
 *
 *	bytes -> bid -> reader.c: head, modules, table, blocks, hits -> records
 *	records of any execution trace -> writer.c: list of modules, table of blocks -> bytes
 *
 *	DRCOV VERSION: 2
 *	DRCOV FLAVOR: drcov-64
 *	Module Table: version 2, count 2
 *	Columns: id, base, end, entry, path
 *	  0, 0x0000000000400000, 0x0000000000621000, 0x0000000000404030,  /bin/ls
 *	  ...
 *	BB Table: 2792 bbs
 *	<u32 start, u16 size, u16 module id, little endian> ...
 *
 * Older module tables are "Module Table: 2" without columns, and have rows of
 * id, size, path. The BB table is text where "module id, start, size:" follows
 * its line: "module[  4]: 0x0000000000001090,   8". start counts from the base
 * of the whole module in version 2, and of the segment in version 3. Module
 * id 65535 is code in no module; start is then the low half of its address. A third
 * party's "Hit Count Table: version 1, count N" and N u32 may follow.
 * A process that fails to exec dumps twice into one file: the second is a segment
 * whose header has stream=2, by which tr-repack keeps both in one file.
 *
 * Sources: DynamoRIO, ext/drcovlib/drcovlib.c and modules.c (versions 2 to 5 of
 * the table), its documentation page of drcovlib; Lighthouse's reader and its
 * issues; QEMU's contrib/plugins/drcov.c; the Frida scripts' hit counts.
 */
#ifndef TR_FORMAT_DRCOV_DRCOV_H
#define TR_FORMAT_DRCOV_DRCOV_H

#include "coverage/module_table.h"
#include "format/format.h"

enum {
	TR_DRCOV_NO_MODULE = 65535,
	TR_DRCOV_BLOCK = 8, /* bytes of an entry of the BB table */
	TR_DRCOV_HIT = 4,
};

/* An entry of the BB table, binary or text. */
struct tr_drcov_row {
	uint64_t start; /* 32 bits in a binary table */
	uint32_t size;	/* 16 bits in a binary table */
	uint32_t module;
};

/*
 * Parses "module[  4]: 0x0000000000001090,   8", with any blanks and line end. False: the line is
 * not a row.
 */
bool tr_drcov_row_parse(struct tr_text line, struct tr_drcov_row *row);

/* Writes a row as DynamoRIO does, with its line feed. digits: of an address, 8 or 16. */
void tr_drcov_row_write(const struct tr_drcov_row *row, unsigned digits, struct tr_buffer *to);

struct tr_reader *tr_drcov_open(const struct tr_read_config *config, struct tr_input *in,
				struct tr_error *err);

struct tr_writer *tr_drcov_create(const struct tr_write_config *config, struct tr_output *out,
				  struct tr_error *err);

#endif
