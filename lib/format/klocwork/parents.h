/* SPDX-License-Identifier: MIT */
/*
 * Which record an event's parent_id refers to, and the queue of records that are pending on it.
 *
 * It refers to the nearest earlier event with that id in the same scope; else to the first later
 * one within a look-ahead that is bounded and depends only on the trace; else to none, and the
 * record is an orphan. A scope begins with each version line, and with creator and env lines that
 * follow an event.
 *
 * The order of records is kept: while one is pending, those after it are queued.
 */
#ifndef TR_FORMAT_KLOCWORK_PARENTS_H
#define TR_FORMAT_KLOCWORK_PARENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "format/klocwork/object.h"

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
	uint64_t clock;			 /* counts uses; entries used before `forgotten` are free */
	uint64_t forgotten;
};

#define TR_KLOCWORK_IDS_INIT \
	{ \
		NULL, 0, 0, NULL, 1, 0 \
	}

/* The hash of any id; not seeded, because sets are bounded. */
uint64_t tr_klocwork_id_hash(struct tr_text id);

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

/* The parent that a record to be written names. */
struct tr_klocwork_named {
	uint64_t parent; /* TR_NO_POSITION: none */
	bool by_seq;	 /* parent is its seq in the stream, because it is not written yet */
	bool relative;	 /* the record's env-diff is against that parent's environment */
};

/* A record in the queue; it may be pending on its parent. */
struct tr_klocwork_queued {
	uint64_t seq;
	uint64_t parent; /* seq, or TR_NO_POSITION */
	bool orphan;
	bool zero;     /* pending on the id 0, which may also mean no parent */
	bool clear;    /* neither it nor an ancestor is pending any more */
	size_t weight; /* its bytes in the trace */
	char *bytes;   /* the line without its LF, and the id that it is pending on */
	size_t length, wanted_length;

	/* used by the reader */
	uint64_t source_line, source_offset;
	struct tr_klocwork_gaps gaps;
	/* used by the writer */
	struct tr_klocwork_named named;
};

struct tr_klocwork_parents {
	struct tr_klocwork_ids ids;				/* of this scope */
	bool events;						/* the scope has some */
	uint64_t orphans;					/* in the whole trace */
	struct tr_klocwork_queued queue[TR_KLOCWORK_AHEAD + 2]; /* a ring */
	uint64_t wanted[TR_KLOCWORK_AHEAD + 2]; /* hash of the id it is pending on; 0: none */
	size_t first, count, bytes, pending;
	size_t blocker; /* the slot of an ancestor of the first; all between are clear */
};

void tr_klocwork_parents_init(struct tr_klocwork_parents *parents);
void tr_klocwork_parents_free(struct tr_klocwork_parents *parents);

struct tr_klocwork_parent {
	uint64_t seq; /* TR_NO_POSITION: none, or not yet */
	bool pending;
	bool orphan;
};

/* Finds the parent of an event with these keys of ids (object.h; data NULL: absent). */
struct tr_klocwork_parent tr_klocwork_parents_find(struct tr_klocwork_parents *parents,
						   struct tr_text id, struct tr_text parent_id);

/* Adds the event as record seq, which is higher than all before. False: memory. */
bool tr_klocwork_parents_event(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
			       const struct tr_klocwork_parent *parent);

/* Begins a scope at a version line, or with `soft` at a creator or env line. */
void tr_klocwork_parents_scope(struct tr_klocwork_parents *parents, bool soft);

/* Makes all pending records orphans, because no more input comes, or none for now. */
void tr_klocwork_parents_settle(struct tr_klocwork_parents *parents);

/* Queues a copy of a record's line (no LF). wanted: the key it is pending on. False: memory. */
bool tr_klocwork_parents_queue(struct tr_klocwork_parents *parents,
			       const struct tr_klocwork_queued *record, struct tr_text line,
			       struct tr_text wanted);

/* Lines have to be queued, because one is. */
static inline bool tr_klocwork_parents_busy(const struct tr_klocwork_parents *parents)
{
	return parents->count > 0;
}

/* The first of the queue if it is to leave now, else NULL. */
struct tr_klocwork_queued *tr_klocwork_parents_ready(struct tr_klocwork_parents *parents);

/* The i-th of the queue; NULL: after the last. */
struct tr_klocwork_queued *tr_klocwork_parents_at(struct tr_klocwork_parents *parents, size_t i);

/* Removes the first of the queue. */
void tr_klocwork_parents_drop(struct tr_klocwork_parents *parents);

/* Appends the first one's line with parent and flag in their places, and removes it. */
void tr_klocwork_parents_take(struct tr_klocwork_parents *parents, struct tr_buffer *to);

#endif
