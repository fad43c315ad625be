/* SPDX-License-Identifier: MIT */
/*
 * The queue of records that are pending: read, and held back until their parent, their leave or
 * their environment is known.
 *
 *	add ------- appends an item: a text, usually the record's line, and the user's own struct
 *	hold ------ makes it pending on a key, such as the seq of its parent; a user that has no key
 *	            sets item->pending itself
 *	resolve --- takes all items that are pending on a key off that key, in their order
 *	stuck ----- at the end of input, finds an item whose key will not come, or an item of a cycle
 *	            (A is pending on B, and B on A)
 *	next ------ delivers the items in order, up to the first one that is still pending
 *
 * To deliver an item out of order, as soon as it is resolved, a user calls remove instead of next.
 * The items that are pending are bounded by their user, who looks at count and weight, or counts
 * them in its own way, and gives some up. Above spill_weight, all items that are neither pending
 * nor pinned move to a temporary file of max_spool bytes at most, and keep their place in the
 * order.
 *
 * After a failure (memory, or the temporary file) the queue can only be freed. Not thread safe.
 */
#ifndef TR_RECORD_PENDING_H
#define TR_RECORD_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "core/map.h"
#include "core/spool.h"
#include "core/text.h"

struct tr_pending_item {
	struct tr_text text; /* readers may look TR_INPUT_PAD bytes after it */
	void *data;	     /* the user's struct, of queue->data_size bytes */
	bool pending;	     /* set by hold; the user may set and clear it if there is no key */
	bool pinned;	     /* it stays in memory, because something points to it */
	size_t weight;	     /* its part of queue->weight */

	/* private */
	bool keyed, named, run;
	size_t room; /* for text, in memory */
	uint64_t key, name;
	struct tr_pending_item *previous, *next;
	struct tr_pending_item *sibling; /* the next of the same key; of the last: the first */
	char *replaced;			 /* owns text, if that was replaced */
	uint64_t begin, end;		 /* of a run of spilled items: offsets in the spool */
	max_align_t memory[];		 /* data, then text */
};

struct tr_pending {
	size_t data_size;
	size_t spill_weight; /* above this weight, items are spilled; 0: never */
	uint64_t max_spool;

	size_t count;  /* of all items, spilled ones included */
	size_t weight; /* of the items in memory */
	struct tr_pending_item *first, *last;

	/* private */
	size_t keyed;
	struct tr_id_map by_key, by_name;
	struct tr_pending_item *given;	/* the one that was delivered last */
	struct tr_pending_item *spare;	/* its memory is used again */
	struct tr_pending_item *reread; /* delivered items that were spilled */
	struct tr_pending_item *cursor; /* of stuck: those before it are pending on others here */
	bool searching;
	size_t spill_again; /* the weight from which the next attempt is worth its time */
	struct tr_spool *spool;
	struct tr_spool_window window;
};

#define TR_PENDING_INIT(type) \
	{ \
		.data_size = sizeof(type) \
	}

/*
 * Appends an item with a copy of the data. Its text has len bytes, which the caller fills: *room.
 * NULL: memory is exhausted.
 */
struct tr_pending_item *tr_pending_make(struct tr_pending *queue, const void *data, size_t len,
					size_t weight, char **room);

/* Like tr_pending_make, with a copy of text. */
struct tr_pending_item *tr_pending_add(struct tr_pending *queue, const void *data,
				       struct tr_text text, size_t weight);

/*
 * Appends an item that is not pending and that nothing points to; it may go straight to the
 * temporary file. False: err is filled.
 */
bool tr_pending_put(struct tr_pending *queue, const void *data, struct tr_text text, size_t weight,
		    struct tr_error *err);

/* Replaces the text of an item. False: memory is exhausted. */
bool tr_pending_replace(struct tr_pending *queue, struct tr_pending_item *item,
			struct tr_text text);

/* Gives the item a name, by which tr_pending_find finds it; of several the last. False: memory. */
bool tr_pending_name(struct tr_pending *queue, struct tr_pending_item *item, uint64_t name);
struct tr_pending_item *tr_pending_find(const struct tr_pending *queue, uint64_t name);

/* Makes the item pending on a key. False: memory is exhausted, and it is not pending. */
bool tr_pending_hold(struct tr_pending *queue, struct tr_pending_item *item, uint64_t key);

/*
 * Takes the items that are pending on the key off it. Returns the first; `sibling` leads to the
 * next one, in their order, until something is held again. They stay in the queue.
 */
struct tr_pending_item *tr_pending_resolve(struct tr_pending *queue, uint64_t key);

/* Takes one item off its key. */
void tr_pending_release(struct tr_pending *queue, struct tr_pending_item *item);

/*
 * When no more input comes: an item to give up next, which is pending on a name that is not in the
 * queue, or, if there is none, on one in a cycle. NULL: no item is pending on a key.
 */
struct tr_pending_item *tr_pending_stuck(struct tr_pending *queue, bool *cycle);

/*
 * Delivers the first item, which is valid until the next call. TR_END: there is none, or it is
 * pending. TR_FATAL: err is filled.
 */
enum tr_status tr_pending_next(struct tr_pending *queue, const struct tr_pending_item **item,
			       struct tr_error *err);

/* The data of the first item, which may be pending, until the next call. NULL: err is filled. */
const void *tr_pending_peek(struct tr_pending *queue, struct tr_error *err);

/* Takes an item out of the queue, which keeps no trace of it; the caller owns it. */
void tr_pending_remove(struct tr_pending *queue, struct tr_pending_item *item);

/* Appends an item that was removed from this queue, or from one whose data have the same type. */
void tr_pending_append(struct tr_pending *queue, struct tr_pending_item *item);

void tr_pending_free_item(struct tr_pending_item *item);

/* Spills all items that can be spilled, if they are heavy. False: err is filled. */
bool tr_pending_spill_all(struct tr_pending *queue, struct tr_error *err);
static inline bool tr_pending_spill(struct tr_pending *queue, struct tr_error *err)
{
	return queue->weight <= queue->spill_weight || tr_pending_spill_all(queue, err);
}

/* How large the temporary file is. */
static inline uint64_t tr_pending_spooled(const struct tr_pending *queue)
{
	return queue->spool ? tr_spool_size(queue->spool) : 0;
}

/* Frees all items. The queue can be used again. */
void tr_pending_free(struct tr_pending *queue);

#endif
