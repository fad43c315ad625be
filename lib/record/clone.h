/* Copies of records that outlive the reader's next call. */
#ifndef TR_RECORD_CLONE_H
#define TR_RECORD_CLONE_H

#include "record/record.h"

/*
 * A deep copy in one block of memory of just its size: free(3) gives it back.
 * A line is followed by as many readable bytes as readers of lines look ahead.
 * The copy has no arena: set one before its fields are split or parsed. NULL:
 * memory is out. *size: bytes that the block has.
 */
struct tr_record *tr_record_clone(const struct tr_record *record, size_t *size);

#endif
