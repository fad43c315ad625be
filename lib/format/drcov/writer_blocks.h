/* The tables of blocks and hits that are being written. They come after their counts. */
#ifndef TR_FORMAT_DRCOV_WRITER_BLOCKS_H
#define TR_FORMAT_DRCOV_WRITER_BLOCKS_H

#include "core/output.h"
#include "format/drcov/drcov.h"
#include "format/drcov/row.h"

struct tr_drcov_blocks {
	bool text, counted; /* as text; with hit counts */
	bool absolute;	    /* starts are addresses, as in the source */
	unsigned digits;    /* of an address */
	uint64_t count;
	struct tr_buffer table; /* entries or rows */
	struct tr_buffer hits;
	struct tr_buffer lines, hits_line; /* as the source spells them; empty: as usual */
};

void tr_drcov_blocks_begin(struct tr_drcov_blocks *blocks, unsigned digits);
void tr_drcov_blocks_free(struct tr_drcov_blocks *blocks);

/* spelled: the row of a text table as its source has it, or data NULL. False: memory is out. */
bool tr_drcov_blocks_add(struct tr_drcov_blocks *blocks, const struct tr_drcov_row *row,
			 uint64_t hits, struct tr_text spelled);

void tr_drcov_blocks_put(const struct tr_drcov_blocks *blocks, struct tr_output *out);

#endif
