/* SPDX-License-Identifier: MIT */
/*
 * Finds the record to which an event's parent_id refers, and queues the records that are pending on
 * it.
 *
 * A parent_id refers to the nearest earlier event with that id in the same scope; else to the first
 * later one within a look-ahead that is bounded and depends only on the trace; else to none, and
 * the record is an orphan. A scope begins with each version line, and with creator and env lines
 * that follow an event.
 *
 * The order of records is kept: while one is pending, those after it are queued.
 */
#ifndef TR_FORMAT_KLOCWORK_PARENTS_H
#define TR_FORMAT_KLOCWORK_PARENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"
#include "record/pending.h"

/*
 * From an id to the last value given for it, in bounded memory: a trace of any length must not
 * grow the reader. Ids that count upwards together with their values (nearly all do) are runs;
 * the others are in a table of fixed size that drops the least recently used one.
 */
struct tr_klocwork_run;
struct tr_klocwork_entry;

struct tr_klocwork_ids {
	struct tr_klocwork_run *runs; /* by id and time: a new one is always after the last */
	size_t run_count, run_cap;
	struct tr_klocwork_entry *table; /* sets of WAYS entries; NULL: not needed yet */
	uint64_t clock;			 /* counts uses */
	uint64_t forgotten;		 /* entries that were last used up to here are free */
};

/* id is the text of a JSON value. False: memory is out. */
bool tr_klocwork_ids_put(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t value);
bool tr_klocwork_ids_put_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t value);

/* False: never put, forgotten, or fallen out. A find counts as a use. */
bool tr_klocwork_ids_find(struct tr_klocwork_ids *ids, struct tr_text id, uint64_t *value);
bool tr_klocwork_ids_find_number(struct tr_klocwork_ids *ids, uint64_t id, uint64_t *value);

/* Forgets all ids in constant time. */
void tr_klocwork_ids_forget(struct tr_klocwork_ids *ids);

void tr_klocwork_ids_free(struct tr_klocwork_ids *ids);

enum {
	TR_KLOCWORK_AHEAD = 256,	  /* records that are queued after a pending one */
	TR_KLOCWORK_AHEAD_BYTES = 1 << 20 /* and their bytes in the trace */
};

/* Positions in a record's line where fields may be inserted later. */
struct tr_klocwork_gaps {
	size_t parent, flagged;
};

/* A record in the queue; the text of its item is its line without LF. */
struct tr_klocwork_queued {
	uint64_t seq;
	uint64_t parent; /* seq, or TR_NO_POSITION */
	bool orphan;
	bool clear;	      /* neither it nor an ancestor is pending any more */
	size_t wanted_length; /* of the id that it is pending on, which follows the line */

	/* used by the reader */
	uint64_t source_line, source_offset;
	struct tr_klocwork_gaps gaps;

	/* used by the writer: the parent that the record names */
	uint64_t named; /* TR_NO_POSITION: none */
	bool by_seq;	/* named is its seq in the stream, because it is not written yet */
	bool relative;	/* the record's env-diff is against that parent's environment */
};

/* All zero before the first use. */
struct tr_klocwork_parents {
	struct tr_klocwork_ids ids; /* of this scope */
	bool events;		    /* the scope has some */
	uint64_t orphans;	    /* in the whole trace */
	struct tr_pending queue; /* of struct tr_klocwork_queued; the weight: bytes in the trace */
	struct tr_pending_item *blocker; /* an ancestor of the first; all between are clear */
};

struct tr_klocwork_parent {
	uint64_t seq; /* TR_NO_POSITION: none, or not yet */
	bool pending;
	bool orphan;
};

/* Finds the parent of an event with these keys of ids (klocwork.h; data NULL: absent). */
struct tr_klocwork_parent tr_klocwork_parents_find(struct tr_klocwork_parents *parents,
						   struct tr_text id, struct tr_text parent_id);

/* Adds the event as record seq, which is higher than all before. False: memory. */
bool tr_klocwork_parents_event(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
			       const struct tr_klocwork_parent *parent);

/* Begins a scope at a version line, or with `soft` at a creator or env line. */
void tr_klocwork_parents_scope(struct tr_klocwork_parents *parents, bool soft);

/* Makes all pending records orphans, because no more input comes, or none for now. */
void tr_klocwork_parents_settle(struct tr_klocwork_parents *parents);

/*
 * Queues a copy of a record and its line (no LF) of that weight. wanted: the key of the id that it
 * is pending on; data NULL: it is not pending. False: memory.
 */
bool tr_klocwork_parents_queue(struct tr_klocwork_parents *parents,
			       const struct tr_klocwork_queued *record, struct tr_text line,
			       size_t weight, struct tr_text wanted);

/* Lines have to be queued, because one is. */
static inline bool tr_klocwork_parents_busy(const struct tr_klocwork_parents *parents)
{
	return parents->queue.count > 0;
}

/*
 * Takes the first record out of the queue if it is to leave now, else NULL. It is valid until the
 * next call, and so is its line.
 */
const struct tr_klocwork_queued *tr_klocwork_parents_take(struct tr_klocwork_parents *parents,
							  struct tr_text *line);

void tr_klocwork_parents_free(struct tr_klocwork_parents *parents);

#endif
