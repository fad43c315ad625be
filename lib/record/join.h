/* SPDX-License-Identifier: MIT */
/*
 * Joins the two halves of API calls: an enter and the leave with the same task and seq become one
 * `call`, at the place of the leave. Other records pass unchanged, and so does a leave without an
 * enter. Enters without a leave come at the end of their segment, in their order.
 *
 *	tr_join_put(join, record);		for each line of the stream
 *	while ((status = tr_join_next(join, &ready, &err)) != TR_END)
 *		...
 *	tr_join_put(join, NULL);		at the end of the input, and then the same loop
 *
 * The call has the line of the enter, `->`, and the fields of the leave. It has values if both
 * halves have values, and is text otherwise. An enter whose task and seq are those of a pending one
 * shows that the leave of the pending one was lost: that one is returned alone.
 *
 * A pending enter is copied, and is the only thing that takes memory. If there are too many, the
 * oldest ones are returned alone. Not thread safe.
 */
#ifndef TR_RECORD_JOIN_H
#define TR_RECORD_JOIN_H

#include <string.h>

#include "record/record.h"

struct tr_join;

/* Creates a join; the caller frees it with tr_join_free. NULL: memory is exhausted. */
struct tr_join *tr_join_new(void);

/*
 * Adds the next line of the stream, which is borrowed until tr_join_next returns TR_END, or NULL.
 */
void tr_join_put(struct tr_join *join, struct tr_record *record);

/*
 * Returns the next record. TR_OK: *record is valid until the next call. TR_WARN: a call cannot be
 * joined, and err has the reason, or (once) so many calls are pending that from now on the oldest
 * enters come alone; call again. TR_END: put the next line. TR_FATAL: memory is exhausted.
 */
enum tr_status tr_join_next(struct tr_join *join, struct tr_record **record, struct tr_error *err);

/* True if no enter is pending: then only enters and leaves have to be put. */
bool tr_join_is_idle(const struct tr_join *join);

void tr_join_free(struct tr_join *join);

/* True for a record of that kind, which has five letters: enter or leave. */
static inline bool tr_join_is_kind(const struct tr_record *record, const char *kind)
{
	return record->type == TR_RECORD && record->kind.len == 5 &&
	       memcmp(record->kind.data, kind, 5) == 0;
}

#endif
