/*
 * Which record an event's parent_id means, and the records that wait for it.
 *
 * The nearest event before with that id in the same scope; else the first one
 * behind, as far as a look-ahead goes that is bounded and depends on nothing
 * but the trace; else none: the record is an orphan. A scope begins with each
 * version line, and with creator and env lines that stand behind an event.
 *
 * Records leave in the order in which they came: while one waits, those
 * behind it queue.
 */
#ifndef TR_FORMAT_KLOCWORK_PARENTS_H
#define TR_FORMAT_KLOCWORK_PARENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buffer.h"
#include "core/text.h"
#include "format/klocwork/ids.h"
#include "format/klocwork/object.h"

enum {
	TR_KLOCWORK_AHEAD = 256,	  /* records that queue behind one that waits */
	TR_KLOCWORK_AHEAD_BYTES = 1 << 20 /* and their bytes in the trace */
};

/* The parent that a record to be written names. */
struct tr_klocwork_named {
	uint64_t parent; /* TR_NO_POSITION: none */
	bool by_seq;	 /* the number that the stream has for it: it is not written yet */
	bool tells;	 /* the record's difference is against that parent's environment */
};

/* A record that is finished, or may still get its parent. */
struct tr_klocwork_queued {
	uint64_t seq;
	uint64_t parent; /* seq, or TR_NO_POSITION */
	bool orphan;
	bool zero;     /* waits for the id 0, which may also be nobody's */
	bool clear;    /* neither it nor an ancestor waits any more */
	size_t weight; /* its bytes in the trace */
	char *bytes;   /* the line without its LF, and the id that it waits for */
	size_t length, wanted_length;

	/* for who reads */
	uint64_t source_line, source_offset;
	struct tr_klocwork_gaps gaps;
	/* for who writes */
	struct tr_klocwork_named named;
};

struct tr_klocwork_parents {
	struct tr_klocwork_ids ids;				/* of this scope */
	bool events;						/* there were some in this scope */
	uint64_t orphans;					/* in the whole trace */
	struct tr_klocwork_queued queue[TR_KLOCWORK_AHEAD + 2]; /* a ring */
	uint64_t wanted[TR_KLOCWORK_AHEAD + 2]; /* hash of what a queued one waits for; 0: not */
	size_t first, count, bytes, waiting;
	size_t blocker; /* the slot of an ancestor of the first: what is between waits for nobody */
};

void tr_klocwork_parents_init(struct tr_klocwork_parents *parents);
void tr_klocwork_parents_free(struct tr_klocwork_parents *parents);

struct tr_klocwork_parent {
	uint64_t seq; /* TR_NO_POSITION: none, or not yet */
	bool waits;
	bool orphan;
};

/* What is known when an event with these ids (keys, see id.h; data NULL: absent) comes. */
struct tr_klocwork_parent tr_klocwork_parents_find(struct tr_klocwork_parents *parents,
						   struct tr_text id, struct tr_text parent_id);

/* It comes as record seq, above all before. False: memory. */
bool tr_klocwork_parents_event(struct tr_klocwork_parents *parents, struct tr_text id, uint64_t seq,
			       const struct tr_klocwork_parent *parent);

/* A version line, or with `soft` a creator or env line, comes. */
void tr_klocwork_parents_scope(struct tr_klocwork_parents *parents, bool soft);

/* Nothing more comes, or nothing for now: who waits waits in vain. */
void tr_klocwork_parents_settle(struct tr_klocwork_parents *parents);

/* Queues a copy of a record's line (no LF). wanted: parent_id's key, where it waits. False: memory.
 */
bool tr_klocwork_parents_queue(struct tr_klocwork_parents *parents,
			       const struct tr_klocwork_queued *record, struct tr_text line,
			       struct tr_text wanted);

/* True when lines have to queue because one waits or queues already. */
static inline bool tr_klocwork_parents_busy(const struct tr_klocwork_parents *parents)
{
	return parents->count > 0;
}

/* The first of the queue when it is to leave now, else NULL. */
struct tr_klocwork_queued *tr_klocwork_parents_ready(struct tr_klocwork_parents *parents);

/* The i-th of the queue; NULL: there are not so many. */
struct tr_klocwork_queued *tr_klocwork_parents_at(struct tr_klocwork_parents *parents, size_t i);

/* Takes the first out of the queue. */
void tr_klocwork_parents_drop(struct tr_klocwork_parents *parents);

/* The same; before that, appends the line with parent and flag in their places, and LF. */
void tr_klocwork_parents_take(struct tr_klocwork_parents *parents, struct tr_buffer *to);

/* Appends a line with what is known put in its places, and LF. */
void tr_klocwork_line_finish(struct tr_text line, const struct tr_klocwork_gaps *gaps,
			     uint64_t parent, bool orphan, struct tr_buffer *to);

#endif
