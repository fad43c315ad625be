/*
 * Lines of records that are finished, and what is to be said about them. One
 * line of the log can finish several events, and a record is given at a time.
 */
#ifndef TR_FORMAT_ETRACE_QUEUE_H
#define TR_FORMAT_ETRACE_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/error.h"
#include "record/columns.h"
#include "record/record.h"

struct tr_etrace_entry {
	size_t begin, len; /* in text, with LF; len 0: only a message */
	size_t columns[TR_COLUMNS +
		       1]; /* where they start, as struct tr_columns; [1] 0: not known */
	uint64_t source_line;
	enum {
		TR_ETRACE_FINE,
		TR_ETRACE_RAW,	   /* reason */
		TR_ETRACE_FLAGGED, /* reason: what it is; the flags stand in text */
		TR_ETRACE_AMBIGUOUS,
		TR_ETRACE_EVENTS_LOST,
		TR_ETRACE_CUT,
	} trouble;
	const char *reason;
	uint64_t number; /* upid, or how many were lost */
	size_t flags_begin, flags_len;
};

struct tr_etrace_queue {
	struct tr_buffer text;
	struct tr_etrace_entry *entries;
	size_t first, count, cap;
};

/* A new last entry, with what is appended to text until the next call. NULL: memory is out. */
struct tr_etrace_entry *tr_etrace_queue_add(struct tr_etrace_queue *queue, uint64_t source_line);

/* The message about an entry. */
void tr_etrace_entry_tell(const struct tr_etrace_queue *queue, const struct tr_etrace_entry *entry,
			  struct tr_error *err);

/* The record of an entry that is one. There are readable bytes behind it. False: err is filled. */
bool tr_etrace_entry_record(const struct tr_etrace_queue *queue,
			    const struct tr_etrace_entry *entry, struct tr_record *record,
			    struct tr_error *err);

/* Nothing is in it any more. */
void tr_etrace_queue_reset(struct tr_etrace_queue *queue);

void tr_etrace_queue_free(struct tr_etrace_queue *queue);

#endif
