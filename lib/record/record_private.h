/* What the files behind record.h share, for lib/record only. */
#ifndef TR_RECORD_RECORD_PRIVATE_H
#define TR_RECORD_RECORD_PRIVATE_H

#include "record/record.h"

/*
 * Appends a spelled cell in its canonical spelling. False: it is malformed
 * (err filled) or memory is out.
 */
bool tr_cell_respell(struct tr_text spelling, bool key, struct tr_arena *arena,
		     struct tr_buffer *to, struct tr_error *err);

#endif
