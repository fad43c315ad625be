/*
 * For writers: does the segment's trailer count what was there? A segment whose
 * trailer is missing or miscounts was filtered by other means, or its producer
 * died: worth a note. All zero: no segment is open.
 */
#ifndef TR_RECORD_FRAMING_H
#define TR_RECORD_FRAMING_H

#include "record/record.h"

struct tr_framing {
	bool headed; /* it has a header, so its trailer has to be there and right */
	uint64_t records;
};

/* A header has come; the segment before has been ended. */
void tr_framing_begin(struct tr_framing *framing);

/*
 * Not for a record that was left out: whoever hears of that takes it out of the
 * trailer's count as well.
 */
void tr_framing_count(struct tr_framing *framing, const struct tr_record *record);

/* What a writer's put returned says that the record was left out. */
static inline bool tr_framing_lost(enum tr_status status, const struct tr_error *err)
{
	return status != TR_OK && err->severity == TR_DAMAGE;
}

/* The trailer, or NULL where another header or the end of the stream came. TR_WARN: a note. */
enum tr_status tr_framing_end(struct tr_framing *framing, const struct tr_record *trailer,
			      struct tr_error *err);

#endif
