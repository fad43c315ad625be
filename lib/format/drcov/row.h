/* An entry of the BB table, binary or text. */
#ifndef TR_FORMAT_DRCOV_ROW_H
#define TR_FORMAT_DRCOV_ROW_H

#include <stdint.h>

#include "core/buffer.h"

struct tr_drcov_row {
	uint64_t start; /* 32 bits in a binary table */
	uint32_t size;	/* 16 bits in a binary table */
	uint32_t module;
};

/* From TR_DRCOV_BLOCK bytes, and back. */
struct tr_drcov_row tr_drcov_row_unpack(const char *p);
void tr_drcov_row_pack(const struct tr_drcov_row *row, char *p);

/* "module[  4]: 0x0000000000001090,   8", blanks and line end aside. False: it is none. */
bool tr_drcov_row_parse(struct tr_text line, struct tr_drcov_row *row);

/* As DynamoRIO spells it, with its line feed. digits: of an address, 8 or 16. */
void tr_drcov_row_write(const struct tr_drcov_row *row, unsigned digits, struct tr_buffer *to);

#endif
