/* SPDX-License-Identifier: MIT */
/*
 * Joins the two halves of API calls: an enter and its leave (of the same task and
 * seq) become one `call` at the place of the leave. Other records pass unchanged, and so do
 * leaves without an enter. Enters without a leave are given at the end of their segment, in
 * their order.
 *
 *	tr_join_put(join, record);              every line of the stream
 *	while (tr_join_next(join, &record, &err) == TR_OK)
 *		… record …
 *	and once more with tr_join_put(join, NULL) at the end of the input.
 *
 * The call is the line of the enter, `->`, and the fields of the leave; it has values if
 * both have, else text. If an enter has the same task and seq as a pending one, the pending
 * one is given alone.
 *
 * Memory: a copy of each pending enter. If they become too many, the oldest are given alone.
 */
#ifndef TR_RECORD_JOIN_H
#define TR_RECORD_JOIN_H

#include "record/record.h"

struct tr_join;

/* Creates a join; the caller frees it with tr_join_free. NULL: memory is exhausted. */
struct tr_join *tr_join_new(void);

/*
 * Adds the next line of the stream, which is borrowed until tr_join_next returns TR_END. NULL: the
 * end of the input.
 */
void tr_join_put(struct tr_join *join, struct tr_record *record);

/*
 * The next record that is ready. TR_OK: *record is valid until the next call. TR_WARN: a call
 * could not be joined (err is filled), call again; a flaw that is reported once: from here on
 * the oldest enters are given alone. TR_END: put the next line. TR_FATAL: memory.
 */
enum tr_status tr_join_next(struct tr_join *join, struct tr_record **record, struct tr_error *err);

/* True if nothing is pending, so that a record other than an enter or a leave need not be put. */
bool tr_join_is_idle(const struct tr_join *join);

void tr_join_free(struct tr_join *join);

/* True for a record of this kind of five letters: enter, leave. */
static inline bool tr_join_is_kind(const struct tr_record *record, const char *kind)
{
	return record->type == TR_RECORD && record->kind.len == 5 &&
	       memcmp(record->kind.data, kind, 5) == 0;
}

#endif
