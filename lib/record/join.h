/* SPDX-License-Identifier: MIT */
/*
 * Puts the two halves of API calls together: an enter and its leave (same task
 * and seq) become one `call`, which stands where the leave stood. What needs no
 * partner passes through. Enters that never return come out at the end of
 * their segment, in their own order; leaves without an enter as they are.
 *
 *	tr_join_put(join, record);              every line of the stream
 *	while (tr_join_next(join, &record, &err) == TR_OK)
 *		… record …
 *	and once more with tr_join_put(join, NULL) at the end of the input.
 *
 * The call is the line of the enter, `->`, and the fields of the leave; built
 * where these are built, else text. Of two enters that look the same the
 * first comes out when the second comes.
 *
 * Memory: a copy of each live enter, as long as they are not too many: then the
 * oldest come out, alone. Work: that of copying the line.
 */
#ifndef TR_RECORD_JOIN_H
#define TR_RECORD_JOIN_H

#include "record/record.h"

/*
 * No trace has so many calls on the way, or so many bytes of them: these have lost
 * their leaves, and must not fill the memory of who waits for those.
 */
static inline bool tr_calls_are_lost(size_t count, size_t bytes)
{
	enum { MANY = 1 << 16, FEW = 64, MUCH = 64 << 20 };

	return count > MANY || (bytes > MUCH && count > FEW);
}

struct tr_join;

/* NULL: memory is out. */
struct tr_join *tr_join_new(void);

/* The next line of the stream, borrowed until tr_join_next has returned TR_END. NULL: no more. */
void tr_join_put(struct tr_join *join, struct tr_record *record);

/*
 * What is ready now: TR_OK, *record is good until the next call. TR_WARN: a
 * call could not be put together (err is filled), call again; said once, as a
 * flaw, that from here on the oldest come out alone. TR_END: put the next line.
 * TR_FATAL: memory.
 */
enum tr_status tr_join_next(struct tr_join *join, struct tr_record **record, struct tr_error *err);

void tr_join_free(struct tr_join *join);

/* True for a record of this kind of five letters: enter, leave. */
static inline bool tr_join_is_kind(const struct tr_record *record, const char *kind)
{
	return record->type == TR_RECORD && record->kind.len == 5 &&
	       memcmp(record->kind.data, kind, 5) == 0;
}

#endif
